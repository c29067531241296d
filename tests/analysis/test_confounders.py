"""What the published logs give away against their own comparisons, found without being told.

What is expected stands in the texts of the logs, and was read there by eye.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.log import Log
from fsbench_kit.model.records import Diagnostic, Run
from tests.analysis.made import figure

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset


@pytest.fixture(scope="module")
def data(published: Path) -> Dataset:
    return fsb.read(published)


@pytest.fixture(scope="module")
def comparison(data: Dataset) -> pl.DataFrame:
    return fsb.compare(data)


def _said(data: Dataset, study: str, code: str) -> dict[str, list[str]]:
    """Return the messages of a code, by the names of the logs."""
    found = data.diagnostics.filter(pl.col("source").str.contains(f"/{study}/"), code=code)
    said: dict[str, list[str]] = {}
    for source, message in found.select("source", "message").rows():
        said.setdefault(Path(source).stem, []).append(message)
    return said


def test_every_pair_of_the_sysbench_study_ran_on_two_hosts(published: Path, comparison: pl.DataFrame) -> None:
    for pattern in ("seqwr", "seqrd", "rndwr", "rndrd"):
        hosts = [
            (published / "sysbench-rhel72" / f"{pattern}-{filesystem}.txt").read_text().split("@")[1].split()[0]
            for filesystem in ("ext4", "xfs")
        ]
        assert hosts[0] != hosts[1]
        rows = comparison.filter(study="sysbench-rhel72", pattern=pattern)
        assert rows.height > 0
        assert rows["footnotes"].list.contains(f"host differs: {hosts[0]} against {hosts[1]}.").all()


def test_the_thread_that_did_nothing(data: Dataset, comparison: pl.DataFrame) -> None:
    # rndwr on XFS: 523.4992 s of event time in 4 threads x 180.0709 s
    assert list(_said(data, "sysbench-rhel72", "IDLE_THREAD")) == ["rndwr-xfs"]
    noted = comparison.filter(
        pl.col("footnotes").list.eval(pl.element().str.contains("^xfs: One of 4 threads")).list.any()
    )
    assert set(noted.select("study", "pattern").rows()) == {("sysbench-rhel72", "rndwr")}


def test_the_claim_about_random_writes_names_that_thread(published: Path) -> None:
    claims = fsb.audit(published / "sysbench-rhel72")
    notes = claims.filter(claim="rndwr-0.7")["footnotes"].item().to_list()
    assert any(note.startswith("xfs: One of 4 threads made requests for at most 14.9 s") for note in notes)


def test_the_stated_128_kib_command_is_not_the_one_that_ran(data: Dataset) -> None:
    # the article: --direct=1 --size=1G; the logs: --direct=0 --size=16G
    said = _said(data, "raid1-hdd-2020", "SETTINGS_DISAGREE")
    assert said == {
        f"fio-randrw-128k-{filesystem}": [
            "direct is false according to the command that ran, but true according to the article.",
            "file_size is 17179869184 according to the command that ran, but 1073741824 according to the article.",
        ]
        for filesystem in ("ext4", "xfs", "zfs")
    }


def test_data_and_memory_of_the_raid_study(comparison: pl.DataFrame) -> None:
    # Memory is 64 GB. fio at 128 KiB: 8 files of 16 GiB without direct I/O, and bonnie++: 126G, are twice that.
    # fio at 16 KiB went past the cache. 100,000 small files are 0.4 or 13 GB.
    rows = comparison.filter(study="raid1-hdd-2020").with_columns(
        cached=pl.col("reasons").list.contains("CACHED"),
        synced=pl.col("operation").str.contains("sync|delete") | (pl.col("metric") == "elapsed_with_sync"),
    )
    assert set(rows.filter(tool="smallfiles", synced=False)["cached"]) == {True}
    assert set(rows.filter(tool="smallfiles", synced=True)["cached"]) == {False}
    assert set(rows.filter(pl.col("tool") != "smallfiles")["cached"]) == {False}


def test_each_filesystem_of_the_raid_study_had_disks_of_its_own(comparison: pl.DataFrame) -> None:
    # mkfs.ext4 /dev/md0; mkfs.xfs /dev/md1; zpool create ... mirror ata-HGST_... ata-HGST_...
    rows = comparison.filter(study="raid1-hdd-2020")
    for level, disks in {
        "xfs": "md1",
        "zfs": "ata-HGST_HTE541010A9E680_J540001MJGTEXC ata-HGST_HTE541010A9E680_J5400013JZ6NAC",
    }.items():
        sides = rows.filter(level=level)
        assert sides["footnotes"].list.contains(f"disks differs: md0 against {disks}.").all()


def test_the_stated_command_of_the_nvme_study_is_not_that_of_zfs(data: Dataset) -> None:
    # the command: --name=xfs-fio; the logs begin with "xfs-fio:" and "zfs-fio:"
    assert _said(data, "fio-nvme-2021", "SETTINGS_DISAGREE") == {
        "fio-randwrite-zfs": ["job_name is zfs-fio in the log, but xfs-fio in the article."]
    }


@pytest.mark.parametrize("start", [4, None])
def test_a_run_that_contradicts_itself_taints_no_other_of_its_file(start: int | None) -> None:
    runs = [
        Run(tool="fio", start=8 * place, end=8 * place + 8, line=place + 1, filesystem=name, measurements=(iops,))
        for place, (name, iops) in enumerate([("xfs", figure(110)), ("ext4", figure(100)), ("btrfs", figure(90))])
    ]
    doubt = Diagnostic(code="FIGURES_DISAGREE", message="IOPS and bandwidth disagree.", line=1, start=start)
    data = assemble([Log(source="all", data=b"a" * 24, records=[*runs, doubt], study="s")])
    found = dict(fsb.compare(data).select("level", "reasons").rows())
    assert "IN_DOUBT" in found["xfs"]
    assert "IN_DOUBT" not in found["btrfs"]
