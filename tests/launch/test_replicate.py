"""Plans from published logs: what is expected was read in the logs; and what a replication shows."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import fsbench_kit as fsb
from benchmarks.designs import two_filesystems
from fsbench_kit import tables
from fsbench_kit.data.assembly import assemble
from fsbench_kit.launch import launch, read_plan
from fsbench_kit.launch.replicate import (
    SCALES,
    Limits,
    caveats,
    departures,
    differences,
    effects_of_scale,
    expected_seconds,
    left_out,
    reason_not_to_run,
    recorded,
    replication,
    replications,
    reproduced,
    side_by_side,
    space_by_scale,
)
from fsbench_kit.launch.tuning.memory import problem
from fsbench_kit.launch.workloads.filetree.__main__ import sizes
from fsbench_kit.model.errors import RequestError
from tests.analysis.made import figure, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.data.log import Log
    from fsbench_kit.launch import Plan

MIB, GIB = 2**20, 2**30
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="loop images need root")


@pytest.fixture(scope="module")
def sysbench(published: Path) -> Dataset:
    return fsb.read(published / "sysbench-rhel72")


@pytest.fixture(scope="module")
def nvme(published: Path) -> Dataset:
    return fsb.read(published / "fio-nvme-2021")


def _workloads(plan: Plan) -> list[dict[str, Any]]:
    own = {"optional", "varied", "tuning", "before", "after", "hosts"}
    return [
        {k: v for k, v in table.model_dump(exclude_none=True).items() if k not in own} for table in plan.workload
    ]


def test_the_sysbench_study_as_its_logs_say_it_ran(sysbench: Dataset) -> None:
    # --file-num=16 --file-block-size=16384 --file-total-size=2G --num-threads=4 --max-requests=100000000
    # --max-time=180 --file-extra-flags=direct; "calling fsync() each 100 requests"; "at the end of test, Enabled"
    again = replication(sysbench)
    assert [table["file_test_mode"] for table in _workloads(again.plan)] == ["seqwr", "seqrd", "rndwr", "rndrd"]
    for table in _workloads(again.plan):
        assert table == {
            "name": table["file_test_mode"],
            "tool": "sysbench",
            "file_test_mode": table["file_test_mode"],
            "file_total_size": 2 * GIB,
            "file_num": 16,
            "file_block_size": 16384,
            "file_io_mode": "sync",
            "file_extra_flags": "direct",
            "file_fsync_freq": 100,
            "file_fsync_end": True,
            "threads": 4,
            "time": 180,
            "events": 100_000_000,
        }
    assert [(target.kind, target.name) for target in again.plan.target] == [("loop", "xfs"), ("loop", "ext4")]


def test_the_nvme_study_as_its_command_and_its_pool_say(nvme: Dataset) -> None:
    # --size=10G -group_reporting --time_based --runtime=300 --bs=4k --numjobs=64 --rw=randwrite --ioengine=sync
    again = replication(nvme)
    assert _workloads(again.plan) == [
        {
            "name": "randwrite",
            "tool": "fio",
            "rw": "randwrite",
            "bs": 4096,
            "size": 10 * GIB,
            "ioengine": "sync",
            "numjobs": 64,
            "runtime": 300.0,
            "time_based": True,
            "options": {"group_reporting": True},
        }
    ]
    # zpool create -o ashift=13 -o autoreplace=on; zfs create -o atime=off -o compression=lz4 -o dnodesize=auto ...
    pool = again.plan.target[1].model_dump()
    assert pool["pool_options"] == ("ashift=13", "autoreplace=on")
    assert set(pool["dataset_options"]) == {
        "atime=off",
        "compression=lz4",
        "dnodesize=auto",
        "primarycache=metadata",
        "recordsize=131072",
        "xattr=sa",
        "acltype=posixacl",
    }
    assert any(change.startswith("Known only from the command in the article") for change in again.changes)
    laid_out = {image.model_dump()["allocation"] for image in replication(nvme, scale="laptop").plan.target}
    assert laid_out == {"written"}  # by the launch, since fio writes into the blank


def test_times_of_access_are_kept_on_no_filesystem_or_on_all(nvme: Dataset) -> None:
    """zfs had atime=off, and nothing tells the mount options of xfs."""
    again = replication(nvme)
    assert again.plan.target[0].model_dump()["mount_options"] == "noatime"
    assert (
        "No filesystem records access times (noatime); in the study this holds for all but xfs." in again.changes
    )


def test_a_scale_makes_files_and_times_smaller_and_nothing_else(sysbench: Dataset) -> None:
    whole, small = replication(sysbench), replication(sysbench, scale=Limits(space=128 * MIB, seconds=2))
    for a, b in zip(_workloads(whole.plan), _workloads(small.plan), strict=True):
        assert {key: (a[key], b[key]) for key in a if a[key] != b[key]} == {
            "file_total_size": (2 * GIB, 128 * MIB),
            "time": (180, 2),
        }
    assert "All files together: 128 MiB instead of 2 GiB." in small.changes
    assert "Each run: 2 s instead of 180 s." in small.changes
    assert not any("instead of" in change for change in whole.changes)


def test_long_runs_get_a_longer_timeout(sysbench: Dataset) -> None:
    longer = pl.when(key="time_limit").then(pl.lit("600.5")).otherwise("value").alias("value")
    again = replication(replace(sysbench, settings=sysbench.settings.with_columns(longer)))
    assert {table["time"] for table in _workloads(again.plan)} == {600}
    assert again.plan.timeout == 1200
    assert "Each run: 600 s instead of 600.5 s." in again.changes


def test_no_scale_goes_below_a_block_for_each_file_and_a_second(sysbench: Dataset) -> None:
    for table in _workloads(replication(sysbench, scale=Limits(space=1, seconds=1e-9)).plan):
        assert (table["file_total_size"], table["time"]) == (16 * 16384, 1)


def test_directories_stand_in_for_images(sysbench: Dataset) -> None:
    again = replication(sysbench, directories=["a", "b"])
    assert [target.model_dump()["directory"] for target in again.plan.target] == ["a", "b"]
    assert not any("image" in change for change in again.changes)


@pytest.mark.parametrize(
    ("study", "options", "message"),
    [
        ("sysbench-rhel72", {"scale": "week"}, "there is no scale 'week'"),
        ("", {}, "cannot run 5 studies again as one: "),
    ],
)
def test_what_cannot_be_run_again(published: Path, study: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        replication(fsb.read(published / study), **options)  # type: ignore[arg-type]


def test_the_raid1_study_as_its_logs_say(published: Path) -> None:
    """bonnie++'s CSV says 126G and 16 (thousand files); its table has the tests by the character.

    fio's own command lines say --direct=0 --bs=128k --size=16G; those for 16k are the article's. The small files'
    logs say 100,000 files of 4 and 128 KiB, which the article calls KB.
    """
    again = replication(fsb.read(published / "raid1-hdd-2020"))
    bonnie, small_blocks, large_blocks, small_files, larger_files = _workloads(again.plan)
    assert (bonnie["size"], bonnie["files"], bonnie["fast"]) == (126 * GIB, 16384, False)
    assert bonnie["char_size"] == 3 * MIB  # bonnie++'s own, which takes 200 s on a machine that does 30 KiB/s
    told = ("name", "rw", "bs", "size", "numjobs", "rwmixread", "direct", "runtime")
    assert [[table[key] for key in told] for table in (small_blocks, large_blocks)] == [
        ["randrw-16k", "randrw", 16384, GIB, 8, 70, True, 600],
        ["randrw-128k", "randrw", 131072, 16 * GIB, 8, 70, False, 600],
    ]
    assert [(table["files"], table["size"]) for table in (small_files, larger_files)] == [
        (100_000, 4096),
        (100_000, 131_072),
    ]
    assert "Each filesystem is on a single image, not on a RAID as in the study." in again.changes


def test_the_iozone_study_with_one_flag_for_all(published: Path) -> None:
    """``./iozone -Ra -I -+u -y 32k -q 16m -g 2G -n 2G`` on Linux; on FreeBSD, for zfs, without -I."""
    again = replication(fsb.read(published / "iozone-ssd-2015"))
    (table,) = _workloads(again.plan)
    assert (table["mode"], table["direct"], table["cpu_use"], table["excel_report"]) == ("auto", True, True, True)
    assert (table["minimum_record_size"], table["maximum_record_size"]) == (32 * 1024, 16 * MIB)
    assert (table["minimum_file_size"], table["maximum_file_size"]) == (2 * GIB, 2 * GIB)
    assert len(table["tests"]) == 8
    repaired = (
        "The study ran iozone on zfs with direct = false; the replication has direct = true on all filesystems."
    )
    assert repaired in again.changes
    ext4, btrfs, _ = (target.model_dump() for target in again.plan.target)
    assert ext4["mount_options"] == "noatime,data=ordered"
    assert btrfs["mount_options"] == "ssd,nodatacow,noatime,compress=no,ssd_spread"
    assert btrfs["mkfs_options"] == ("-m", "single", "-n", "4096")
    assert "btrfs is mounted without discard, space_cache, unlike in the study." in again.changes


def test_the_file_server_study_as_its_article_says(published: Path) -> None:
    """One file of 700 MB; 7500 files in 900 directories, 1.9 GB, of 10 KB to 5 MB."""
    again = replication(fsb.read(published / "fileserver-debian-2006"))
    (table,) = _workloads(again.plan)
    assert (table["large_file"], table["files"], table["directories"]) == (700_000_000, 7500, 900)
    assert (table["smallest"], table["largest"], table["total"]) == (10_000, 5_000_000, 1_900_000_000)
    lengths = sizes(7500, 10_000, 5_000_000, 1_900_000_000)
    assert sum(lengths) == pytest.approx(1_900_000_000, rel=1e-3)
    assert (min(lengths) >= 10_000, max(lengths) <= 5_000_000, len(lengths)) == (True, True, 7500)
    assert [target.name for target in again.plan.target if target.optional] == ["ext3", "reiserfs", "jfs", "xfs"]


def test_a_tool_that_no_plan_can_run_blocks_no_other(sysbench: Dataset) -> None:
    first = sysbench.runs["run_id"][0]
    unknown = pl.when(run_id=first).then(pl.lit("dbench")).otherwise("tool").alias("tool")
    again = replication(replace(sysbench, runs=sysbench.runs.with_columns(unknown)))
    assert "Runs of dbench cannot be planned from their logs." in again.changes
    assert [table["file_test_mode"] for table in _workloads(again.plan)] == ["seqwr", "seqrd", "rndwr", "rndrd"]
    alone = sysbench.runs.filter(run_id=first).with_columns(tool=pl.lit("dbench"))
    with pytest.raises(RequestError, match="none of these runs can be repeated"):
        replication(replace(sysbench, runs=alone))


def _named(dataset: Dataset, key: str, value: str) -> Dataset:
    changed = pl.when(key=key).then(pl.lit(value)).otherwise("value").alias("value")
    return replace(dataset, settings=dataset.settings.with_columns(changed))


def test_a_setting_that_no_plan_can_have_blocks_no_other_run(sysbench: Dataset, nvme: Dataset) -> None:
    """Logs of others have ranges of block sizes, and 0 requests for any number of them."""
    with pytest.raises(RequestError) as caught:
        replication(_named(nvme, "block_size", "512-65536"))
    assert "one of its settings is '512-65536', but a plan needs a single number" in str(caught.value)
    with pytest.raises(RequestError) as caught:
        replication(_named(sysbench, "threads", "0"))
    assert "a plan cannot express its threads (Input should be greater than" in str(caught.value)
    (first, *_) = _workloads(replication(_named(sysbench, "request_limit", "0")).plan)
    assert "events" not in first


def test_logs_without_a_study_are_run_again_in_directories(published: Path, tmp_path: Path) -> None:
    log = next((published / "sysbench-rhel72").glob("*.txt"))
    data = fsb.read(log.read_bytes())
    with pytest.raises(RequestError, match="it is not known which filesystems these runs were made on"):
        replication(data)
    again = replication(data, directories=[str(tmp_path)], name="my-logs")
    assert (again.study, again.plan.id) == ("my-logs", "my-logs-again")
    assert reproduced(side_by_side(data, data)).is_empty()
    assert tables.reproduced_findings(reproduced(side_by_side(data, data))) == [tables.NO_RATIO]


@pytest.mark.parametrize("study", ["raid1-hdd-2020", "iozone-ssd-2015", "fileserver-debian-2006"])
def test_a_scale_keeps_each_run_within_its_limits(published: Path, study: str) -> None:
    dataset = fsb.read(published / study)
    for name in ("minutes", "laptop"):
        for workload in replication(dataset, scale=name).plan.workload:
            assert (workload.space or 0) <= SCALES[name].space
            assert workload.stated_seconds <= SCALES[name].seconds


def test_barriers_are_left_as_they_are_on_both_filesystems(sysbench: Dataset) -> None:
    # rw,noatime,nodiratime,seclabel,attr2,nobarrier,inode64,noquota and ...,nobarrier,data=ordered
    again = replication(sysbench)
    assert [target.model_dump()["mount_options"] for target in again.plan.target] == [
        "noatime",
        "noatime,data=ordered",
    ]
    assert "xfs is mounted without nobarrier, unlike in the study." in again.changes
    assert "ext4 is mounted without nobarrier, unlike in the study." in again.changes


def test_a_setting_that_nobody_tells_cannot_be_run_again(sysbench: Dataset) -> None:
    from dataclasses import replace

    without = replace(sysbench, settings=sysbench.settings.filter(pl.col("key") != "files"))
    with pytest.raises(RequestError, match="neither the log nor the article states a run's files"):
        replication(without)


def test_a_tool_that_is_missing_is_named(nvme: Dataset, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsbench_kit.launch.tools.find_program", lambda _name: None)
    plan = replication(nvme, directories=["."]).plan
    assert reason_not_to_run("directories", plan, root) == "fio is not installed (Debian: fio)."


def test_a_directory_that_is_missing_is_named(nvme: Dataset, root: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    plan = replication(nvme, scale="minutes", directories=["nowhere"]).plan
    reason = reason_not_to_run("directories", plan, root)
    assert reason is not None
    assert "nowhere is not a directory" in reason


def test_nothing_is_run_where_the_recording_is_asked_for(sysbench: Dataset, root: Path) -> None:
    plan = replication(sysbench).plan
    assert reason_not_to_run("recorded", plan, root) == 'the parameter where is "recorded".'
    with pytest.raises(RequestError, match="where cannot be 'image'"):
        reason_not_to_run("image", plan, root)


def test_a_study_without_a_recorded_replication_is_an_error_that_says_what_to_do(root: Path) -> None:
    with pytest.raises(RequestError, match="no replication of another comes with the kit") as caught:
        recorded("another", root)
    assert 'where = "images"' in str(caught.value)


STUDIES = ("sysbench-rhel72", "fio-nvme-2021", "raid1-hdd-2020", "iozone-ssd-2015", "fileserver-debian-2006")


def _workload_in(plan: Path) -> dict[str, Any]:
    """Return the first workload of a recorded plan as it stands there: it may be recorded anew at any time."""
    table: dict[str, Any] = tomllib.loads(plan.read_text())["workload"][0]
    return table


def test_what_was_recorded_is_described_by_its_own_plan(nvme: Dataset, root: Path) -> None:
    """The study's command says --size=10G --runtime=300."""
    plan = root / recorded("fio-nvme-2021", root) / "plan.toml"
    now = _workload_in(plan)
    said = departures(nvme, read_plan(plan))
    assert f"The file of each job: {now['size'] // MIB} MiB instead of 10 GiB." in said
    assert f"Each run: {now['runtime']:g} s instead of 300 s." in said


def test_the_place_of_a_replication_is_named(root: Path) -> None:
    folder = root / recorded("fio-nvme-2021", root)
    runs = fsb.read(folder)
    told = json.loads(next(folder.glob("001-*/run.json")).read_text())
    day, own = told["started_at"][:10], told["settings"]
    machine = f"{own['cpus']} × {own['cpu']}, {int(own['memory']) / GIB:.1f} GiB of memory, Linux {own['kernel']}"
    place = tables.replication_place(runs, here=False)
    assert place == f"Recorded on {day} on the host {told['host']} ({machine})."
    assert tables.replication_place(runs, here=True) == f"Run on this machine on {day}."
    nothing = runs.filter(pl.lit(value=False))
    assert tables.replication_place(nothing, here=False) == "Recorded."


def test_the_time_of_a_replication_is_that_of_the_recorded_one(published: Path, root: Path) -> None:
    folder = root / recorded("sysbench-rhel72", root)
    runs, plan = fsb.read(folder).runs, read_plan(folder / "plan.toml")
    lasted = (runs["ended_at"].max() - runs["started_at"].min()).total_seconds()  # type: ignore[operator]
    assert expected_seconds("sysbench-rhel72", plan, root) == pytest.approx(lasted, rel=0.1)
    whole = replication(fsb.read(published / "sysbench-rhel72"), scale="article").plan
    assert expected_seconds("sysbench-rhel72", whole, root) > 48 * 180  # type: ignore[operator]
    assert expected_seconds("unknown", plan, root) is None


def test_the_space_grows_with_the_scale(nvme: Dataset) -> None:
    """64 files of 10 GiB fill 0.6 of an image at most."""
    assert space_by_scale(nvme)["article"] == pytest.approx(64 * 10 * GIB / 0.6, rel=1e-5)
    assert list(space_by_scale(nvme)) == ["minutes", "laptop", "article"]


def test_an_image_has_inodes_for_all_files(published: Path) -> None:
    """mkfs.ext4 makes one for each 16 KiB: 100,000 small files need more than their bytes do."""
    image, *_ = replication(fsb.read(published / "raid1-hdd-2020"), scale="laptop").plan.target
    assert image.model_dump()["size"] / 16384 > 100_000


def test_memory_is_as_small_beside_the_files_as_in_the_study(
    published: Path, nvme: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 GB for bonnie++'s 126 GiB and the 8 x 16 GiB of fio; small files fitted, and the other fio was direct."""
    monkeypatch.setattr("fsbench_kit.launch.tuning.memory.problem", lambda: None)
    raid1 = fsb.read(published / "raid1-hdd-2020")
    again = replication(raid1, scale=Limits(space=2 * GIB))
    limits = {one.name: one.tuning.memory_limit for one in again.plan.workload if one.tuning.memory_limit}
    assert limits == {
        name: int(2 * GIB * 64e9 / (size * GIB)) // MIB * MIB
        for name, size in (("bonnie", 126), ("randrw-128k", 128))
    }
    told = "a run has 968 MiB of memory, page cache included: its files are 2.1 times as large, as in the study."
    assert f"bonnie: {told}" in again.changes
    (pool,) = (target.model_dump() for target in again.plan.target if target.kind == "zfs")
    assert pool["arc_size"] == min(limits.values()) // 4 // MIB * MIB
    smaller = replication(raid1, scale=Limits(memory=GIB)).plan.workload[0].model_dump()
    assert smaller["size"] == pytest.approx(126 * GIB * GIB / 64e9, rel=1e-3)
    untold = replication(nvme, scale=Limits(space=2 * GIB))
    assert untold.plan.workload[0].tuning.memory_limit == GIB / 2
    assert any(change.endswith("the study's memory is not known.") for change in untold.changes)
    (tasks,) = replication(fsb.read(published / "fileserver-debian-2006")).plan.workload  # on "512 MB PC100"
    assert tasks.tuning.memory_limit == 512_000_000 // MIB * MIB
    kept = "the memory of a run is not limited, so caches may hold its files: "
    for study, begin in (
        (raid1, f"bonnie: {kept}in the study's proportion, "),
        (nvme, f"{kept.capitalize()}with a quarter of its files, "),
    ):
        minutes = replication(study, scale="minutes")
        assert all(workload.tuning.memory_limit is None for workload in minutes.plan.workload)
        (said,) = (change for change in minutes.changes if change.startswith(begin))
        size = 128 * 64e9 / (126 * GIB) if study is raid1 else 128 / 4
        assert said == f"{begin}it would have {size:.3g} MiB, and programs need 128 MiB."


def test_what_the_scale_may_have_made_is_said(
    published: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = fsb.read(published / "raid1-hdd-2020"), fsb.read(root / recorded("raid1-hdd-2020", root))
    small = Limits(space=GIB, seconds=7)
    said = effects_of_scale(theirs, replication(theirs, scale=small).plan, ours)
    assert any(one.startswith("Runs of 7 s instead of 600 s end before") for one in said)
    assert "of these files, as they could in the study" in next(one for one in said if "smallfiles-4k" in one)
    monkeypatch.setattr("fsbench_kit.launch.tuning.memory.problem", lambda: "the kernel has none")
    again = replication(theirs, scale=small)
    assert (
        again.changes[-1]
        == "The memory of a run is not limited, so caches may hold its files: the kernel has none."
    )
    unlimited = effects_of_scale(theirs, again.plan, ours)
    bonnie = next(one for one in unlimited if one.startswith("bonnie: 1 GiB of files, and "))
    assert "in the study 126 GiB, and 59.6 GiB of memory" in bonnie
    if not problem():
        assert not any(one.startswith(("bonnie", "randrw")) for one in said)


# ---- beside each other


FOUR_AND_TWELVE = {"n_baseline": 4, "n_candidate": 12, "n_pairs": None}
FIVE = {"n_baseline": 5, "n_candidate": 5}


@pytest.mark.parametrize(
    ("theirs", "ours", "direction", "size"),
    [
        ({}, {"ratio": (2.0, 1.8, 2.5)}, "same", "inside"),
        ({"ratio": (2.505, 2.495, 2.515)}, {"ratio": (2.0, 1.8, 2.5)}, "same", "inside"),  # as its rounding allows
        ({}, {"ratio": (2.0, 0.7, 5.5), "verdict": "inconclusive"}, "open", "inside"),
        # one more pair beside five rounds varies sqrt(6) times as much as their mean: 2 * 1.1 ** 2.449 is 2.526
        ({"ratio": (2.53, 2.52, 2.54)}, {"ratio": (2.0, 1.8, 2.2), "n_pairs": 5}, "same", "inside"),
        ({"ratio": (2.54, 2.53, 2.55)}, {"ratio": (2.0, 1.8, 2.2), "n_pairs": 5}, "same", "outside"),
        # one more mean of three pairs only sqrt(1 + 5/3) times as much: 2 * 1.1 ** 1.633 is 2.337
        (
            {"ratio": (2.53, 2.52, 2.54), "averaged_over_baseline": 3, "averaged_over_candidate": 3},
            {"ratio": (2.0, 1.8, 2.2), "n_pairs": 5},
            "same",
            "outside",
        ),
        # rounds count, and not the runs in them
        (
            {"ratio": (2.54, 2.53, 2.55)},
            {"ratio": (2.0, 1.8, 2.2), "n_pairs": 5, "n_baseline": 20, "n_candidate": 20},
            "same",
            "outside",
        ),
        # four runs and twelve are as many as six pairs: 2 * 1.1 ** sqrt(7) is 2.574
        ({"ratio": (2.57, 2.56, 2.58)}, {"ratio": (2.0, 1.8, 2.2), **FOUR_AND_TWELVE}, "same", "inside"),
        ({"ratio": (2.59, 2.58, 2.60)}, {"ratio": (2.0, 1.8, 2.2), **FOUR_AND_TWELVE}, "same", "outside"),
        # as many pairs as the five in the study vary sqrt(2) times as much as their mean: 1.723 to 2.289
        ({"ratio": (2.4, 2.39, 2.41), **FIVE}, {"ratio": (2.0, 1.8, 2.2), "n_pairs": 5}, "same", "outside"),
        (
            {"ratio": (2.4, 2.39, 2.41), **FIVE, "ci_low": 2.25, "ci_high": 2.55},
            {"ratio": (2.0, 1.8, 2.2), "n_pairs": 5},
            "same",
            "inside",
        ),
        (
            {"ratio": (1.6, 1.59, 1.61), **FIVE, "ci_low": 1.45, "ci_high": 1.75},
            {"ratio": (2.0, 1.8, 2.2), "n_pairs": 5},
            "same",
            "inside",
        ),
        ({"ratio": (2.42, None, None)}, {"ratio": (2.0, 1.8, 2.2)}, "same", None),  # nothing tells its rounding
        ({"ratio": (1.05, 1.0, 1.1)}, {"ratio": (2.0, 1.8, 2.2)}, "open", "outside"),  # it may be none
        ({"ratio": (1.0, 0.9, 1.04)}, {"ratio": (1.0, 0.99, 1.01), "verdict": "equivalent"}, "open", "inside"),
        ({}, {"ratio": (None, None, None), "rounding_low": 3.0, "verdict": "better"}, "same", None),
        ({}, {"ratio": (None, None, None), "rounding_high": 0.3, "verdict": "worse"}, "opposite", None),
        ({}, {"ratio": (0.8, 0.7, 0.9), "verdict": "worse"}, "opposite", "outside"),
        ({}, {"ratio": (1.0, 0.99, 1.01), "verdict": "equivalent"}, "no difference", "outside"),
        ({"ratio": (1.01, 1.0, 1.02)}, {"ratio": (1.0, 0.99, 1.01), "verdict": "equivalent"}, "same", "inside"),
        ({"ratio": (1.1, 0.6, 1.7)}, {"ratio": (2.0, 1.8, 2.2)}, "open", "inside"),  # the study has no direction
        ({}, {"ratio": (2.0, 1.8, 2.2), "verdict": "not comparable"}, "not comparable", "inside"),
        ({}, {"ratio": (1.1, None, None), "verdict": "single runs"}, "open", None),
    ],
)
def test_what_may_be_said_of_two_ratios(
    sysbench: Dataset,
    comparison: Callable[..., pl.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
    *,
    theirs: dict[str, Any],
    ours: dict[str, Any],
    direction: str,
    size: str | None,
) -> None:
    ratio, low, high = theirs.pop("ratio", (2.42, 2.41, 2.43))
    single = {"ratio": ratio, "rounding_low": low, "rounding_high": high, "n_baseline": 1, "n_candidate": 1}
    here = (
        {"verdict": "better", "file_size": 1}
        | ours
        | dict(zip(("ratio", "ci_low", "ci_high"), ours["ratio"], strict=True))
    )
    compared = iter([comparison({**single, "ci_low": None, "ci_high": None, **theirs}), comparison(here)])
    monkeypatch.setattr("fsbench_kit.launch.replicate.comparison.compare", lambda *_, **__: next(compared))
    found = side_by_side(sysbench, sysbench)
    assert found.select("published_ratio", "ratio", "direction", "size").rows() == [
        (ratio, ours["ratio"][0], direction, size)
    ]


@pytest.mark.parametrize("rounds", [True, False])
@pytest.mark.parametrize("n", [3, 8])
def test_one_more_pair_of_runs_lies_inside_as_often_as_said(n: int, rounds: bool) -> None:
    rng = np.random.default_rng(6)
    theirs, ours = (rng.lognormal(5, 0.2, (2, 2000, runs)) * [[[1.0]], [[1.7]]] for runs in (1, n))
    found = side_by_side(two_filesystems(*theirs), two_filesystems(*ours, rounds=rounds))
    assert (found["size"] == "inside").mean() == pytest.approx(0.95, abs=0.02)  # four errors


def _of_sizes(filesystem: str, iops: dict[int, float], *, count: int = 3, **facts: Any) -> list[Log]:
    """Runs with a figure for each size of files."""
    made = [
        [figure(value + run / 10, 0.05, file_size=size, **facts) for size, value in iops.items()]
        for run in range(count)
    ]
    return runs(filesystem, made)


def _beside(theirs: Sequence[list[Log]], ours: Sequence[list[Log]], **options: Any) -> pl.DataFrame:
    published, replicated = (assemble([log for logs in each for log in logs]) for each in (theirs, ours))
    return side_by_side(published, replicated, **options)


ONE_SIZE = [_of_sizes("ext4", {GIB: 100}), _of_sizes("xfs", {GIB: 200})]


def test_figures_of_several_sizes_of_files_belong_together_in_their_order() -> None:
    theirs = [_of_sizes("ext4", {2 * GIB: 100, GIB: 100}), _of_sizes("xfs", {2 * GIB: 300, GIB: 200})]
    ours = [_of_sizes("ext4", {MIB: 100, 2 * MIB: 100}), _of_sizes("xfs", {MIB: 200, 2 * MIB: 300})]
    found = _beside(theirs, ours)
    assert found.height == 2
    for row in found.rows(named=True):
        assert row["ratio"] == pytest.approx(row["published_ratio"])
        assert row["ratio"] == pytest.approx(3 if row["file_size"] == 2 * GIB else 2, rel=0.01)


def test_of_an_effect_the_metric_that_was_run_again_stands_for_it() -> None:
    both = [
        runs(
            name,
            [
                [figure(rate + run), figure(8 / (rate + run), metric="latency", statistic="mean")]
                for run in range(3)
            ],
        )
        for name, rate in (("ext4", 100), ("xfs", 200))
    ]
    ours = [
        runs(name, [figure(8 / (rate + run), metric="latency", statistic="mean") for run in range(3)])
        for name, rate in (("ext4", 100), ("xfs", 200))
    ]
    found = _beside(both, ours)
    assert found.height == 2
    assert found.filter("stands_for_effect").select("metric", "direction").rows() == [("latency", "same")]


def test_without_the_baseline_another_filesystem_that_was_run_again_is_it() -> None:
    others = [_of_sizes("xfs", {GIB: 200}), _of_sizes("btrfs", {GIB: 300})]
    found = _beside([*ONE_SIZE, others[1]], others)
    assert found.filter(level="btrfs").select("baseline", "direction").rows() == [("xfs", "same")]


def test_why_a_published_ratio_has_no_counterpart() -> None:
    ext4, xfs = ONE_SIZE
    failed = [replace(log, records=[replace(log.records[0], status="failed")]) for log in xfs]
    of_blocks = [_of_sizes(name, {GIB: 100}, block_size=4096) for name in ("ext4", "xfs")]
    theirs = [_of_sizes(name, {GIB: rate}, block_size=8192) for name, rate in (("ext4", 100), ("xfs", 200))]
    for published, replicated, options, note in (
        (ONE_SIZE, [ext4], {}, "xfs was not run again."),
        (ONE_SIZE, [ext4, failed], {}, "xfs was not run again."),
        (ONE_SIZE, [ext4], {"left_out": {"xfs": "No XFS here."}}, "No XFS here."),
        (theirs, of_blocks, {}, "The replication has no such figure."),
    ):
        found = _beside(published, replicated, **options)
        assert found.select("direction", "notes").rows() == [("not run", [note])]


def test_what_has_no_ratio_cannot_be_replicated() -> None:
    theirs = [_of_sizes("ext4", {GIB: 100, 2 * GIB: 100}), _of_sizes("xfs", {GIB: 200, 2 * GIB: -0.1})]
    found = _beside(theirs, ONE_SIZE)
    assert found["file_size"].to_list() == [GIB]


def test_a_ratio_without_an_interval_has_no_size_that_could_be_replicated() -> None:
    found = _beside(ONE_SIZE, ONE_SIZE)
    assert reproduced(found).select("same", "size").row(0) == (1, 1)
    assert reproduced(found.with_columns(size=pl.lit(None, pl.String))).select("same", "size").row(0) == (1, 0)


def test_effects_of_single_runs_are_run_again_and_cannot_be_judged(sysbench: Dataset) -> None:
    """Throughput, mean and 95th percentile of latency, in four modes, and each filesystem on a host of its own."""
    found = side_by_side(sysbench, sysbench)
    counts = reproduced(found)
    assert found.height > 12
    assert counts.select("effects", "run", "not comparable", "size").row(0) == (12, 12, 12, 0)
    assert tables.reproduced_findings(counts) == [
        "All 12 published effects were run again, and none can be judged: 12 cannot be compared."
    ]


def test_one_filesystem_at_hand_gives_no_ratio(sysbench: Dataset) -> None:
    found = side_by_side(sysbench, sysbench.filter(pl.col("filesystem") == "xfs"))
    assert set(found["direction"]) == {"not run"}
    assert found["notes"].unique().to_list() == [["ext4 was not run again."]]
    shown = tables.replication_table(found)
    assert "ext4 was not run again." in shown.footnotes
    assert tables.reproduced_findings(reproduced(found)) == ["None of 12 published effects was run again."]


@pytest.mark.parametrize("study", STUDIES)
def test_the_recorded_replication_has_the_runs_of_its_plan(root: Path, study: str) -> None:
    folder = root / recorded(study, root)
    ours, plan = fsb.read(folder), read_plan(folder / "plan.toml")
    assert set(ours.runs["status"]) == {"ok"}
    assert set(ours.runs["origin"]) == {"recorded"}
    each = ours.runs.group_by("target", "workload").len()
    assert set(each["len"]) == {plan.repeats}
    assert plan.repeats >= 6
    assert set(each["workload"]) == {workload.name for workload in plan.workload}


def test_the_summary_is_the_count_of_its_rows(published: Path, root: Path) -> None:
    """The same counts, from the comparisons of both and nothing else, for the study with a verdict on its own."""
    found = replications(published, replicated=root / "raw_results" / "replicated")
    counts = reproduced(found)
    assert set(counts["study"]) == set(STUDIES)
    name = "fio-nvme-2021"
    ours = fsb.compare(fsb.read(root / recorded(name, root)), baseline="xfs", metrics=["iops"])
    theirs = fsb.compare(fsb.read(published / name), baseline="xfs", metrics=["iops"])
    row = found.filter(study=name, metric="iops").row(0, named=True)
    verdict = {"better": 1, "worse": -1, "equivalent": 0}.get(ours["verdict"][0])
    published_verdict = 1 if theirs["ratio"][0] > 1 else -1
    assert (
        row["direction"]
        == {None: row["direction"], published_verdict: "same", -published_verdict: "opposite", 0: "no difference"}[
            verdict
        ]
    )
    for row in counts.iter_rows(named=True):
        assert row["judged"] == row["same"] + row["opposite"] + row["no difference"]
        assert row["run"] == row["judged"] + row["open"] + row["not comparable"]
        assert row["size"] <= row["same"]
    shown = tables.reproduced_table(counts).frame()
    assert shown.filter(study="all")["published effects"][0] == str(counts["effects"].sum())


def test_the_published_ratio_is_that_of_the_logs(published: Path, root: Path) -> None:
    found = side_by_side(
        fsb.read(published / "sysbench-rhel72"), fsb.read(root / recorded("sysbench-rhel72", root))
    )
    row = found.filter(pattern="seqwr", metric="bandwidth").row(0, named=True)
    assert row["published_ratio"] == pytest.approx(842.88 / 348.48, abs=5e-5)
    assert row["published_low"] < 842.88 / 348.48 < row["published_high"]
    assert "host differs: host02 against host01." in row["published_notes"]


def test_what_was_different_is_named_with_both_values(published: Path, root: Path) -> None:
    # "sysbench 0.5", "2Gb total file size", Red Hat Enterprise Linux 7.2, host01 and host02
    told = differences(fsb.read(published / "sysbench-rhel72"), fsb.read(root / recorded("sysbench-rhel72", root)))
    published_values = {row["setting"]: row["published"] for row in told.iter_rows(named=True)}
    assert published_values["tool_version"] == "0.5"
    assert published_values["host"] == "host01 | host02"
    assert "block_size" not in published_values
    assert "threads" not in published_values
    now = _workload_in(root / recorded("sysbench-rhel72", root) / "plan.toml")
    shown = tables.differences_table(told).groups[0].rows
    smaller = ("total size", "all", "2 GiB", f"{now['file_total_size'] // MIB} MiB") in shown
    assert smaller == (now["file_total_size"] < 2 * GIB)


def test_zfs_fuse_is_named_as_what_it_is(root: Path) -> None:
    (caveat,) = caveats(fsb.read(root / recorded("fio-nvme-2021", root)))
    assert caveat.startswith("The replication's zfs is zfs-fuse")
    assert caveats(fsb.read(root / recorded("sysbench-rhel72", root))) == []


# ---- for real


@pytest.mark.root
@pytest.mark.slow
@needs_root
@pytest.mark.parametrize(
    ("study", "repeats", "programs"),
    [
        ("sysbench-rhel72", 2, ("sysbench", "mkfs.xfs")),
        ("fio-nvme-2021", 2, ("fio", "mkfs.xfs", "zfs-fuse")),
        ("raid1-hdd-2020", 1, ("fio", "bonnie++", "mkfs.xfs", "zfs-fuse")),  # many runs: once each takes a minute
        ("iozone-ssd-2015", 2, ("iozone", "mkfs.btrfs", "zfs-fuse")),
        ("fileserver-debian-2006", 2, ("mkfs.xfs", "mkfs.ext3")),
    ],
)
def test_a_study_is_run_again(
    published: Path, tmp_path: Path, study: str, repeats: int, programs: tuple[str, ...]
) -> None:
    for program in programs:
        if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            pytest.skip(f"{program} is not installed")
    theirs = fsb.read(published / study)
    small = Limits(space=16 * MIB, written=256 * MIB, seconds=1)
    again = replication(theirs, scale=small, repeats=repeats)
    assert reason_not_to_run("images", again.plan, tmp_path) is None
    result = launch(again.plan, root=tmp_path)
    assert (result.failures, result.stopped) == ({}, None)
    replicated = fsb.read(result.folder)
    assert not replicated.diagnostics.filter(pl.col("source").str.ends_with("notes.txt")).height
    found = side_by_side(theirs, replicated, left_out=left_out(theirs, result.folder))
    run = found.filter(pl.col("direction") != "not run")
    assert set(run["tool"]) == set(theirs.runs["tool"])
    for row in run.iter_rows(named=True):
        for name, n in ((row["baseline"], row["n_baseline"]), (row["level"], row["n_candidate"])):
            told = repeats - _withheld(result.folder, row["tool"], name, row["operation"], row["metric"])
            assert n == (told or repeats), row  # where no run tells, there is no ratio of these two
            assert told or row["ratio"] is None, row
    lacking = {"jfs", "reiserfs"} & set(theirs.runs["filesystem"])
    assert lacking == set(found.filter(direction="not run")["level"]) & lacking
    for name in lacking:
        why = f"{name} was not run: the kernel has no {name}."
        assert found.filter(level=name)["notes"].unique().to_list() == [[why]]


_CPU_IN_CSV = {
    "write_char": 10,
    "write": 12,
    "rewrite": 14,
    "read_char": 16,
    "read": 18,
    "seek": 20,
    "sequential_create": 27,
    "sequential_stat": 29,
    "sequential_delete": 31,
    "random_create": 33,
    "random_stat": 35,
    "random_delete": 37,
}
"""Where the processor's share of a phase stands in a line of bonnie++ 1.98: ``+++`` where it was too quick."""


def _withheld(folder: Path, tool: str, filesystem: str, operation: str, metric: str) -> int:
    """Count the runs of which bonnie++ does not tell the processor's share. It leaves a bound of a rate."""
    if (tool, metric) != ("bonnie++", "cpu"):
        return 0
    logs = [path.read_text() for path in folder.glob(f"*-{filesystem}-bonnie/stdout.txt")]
    return sum(log.strip().splitlines()[-1].split(",")[_CPU_IN_CSV[operation]] == "+++" for log in logs)
