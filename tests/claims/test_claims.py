"""Claims are held against the figures; what is expected was computed by hand from the printed logs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.claims import RELATIONS
from fsbench_kit.data.assembly import assemble
from fsbench_kit.model.errors import InputError, RequestError
from tests.analysis.made import START, rates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fsbench_kit.data.log import Log


@pytest.fixture(scope="session")
def audited(audit: pl.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["study"], row["claim"]): row for row in audit.iter_rows(named=True)}


@pytest.fixture(scope="session")
def claims(audited: dict[tuple[str, str], dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return them by their own names, of which few are in several studies."""
    return {claim: row for (_, claim), row in audited.items()}


VERDICTS = {
    ("fileserver-debian-2006", "earlier-comparisons"): ("not judged", None, None, "none"),
    ("fileserver-debian-2006", "two-other-studies"): ("not judged", None, None, "none"),
    ("fileserver-debian-2006", "minutes-a-sequence"): ("figures agree", None, "reproduces", "means of runs"),
    ("fileserver-debian-2006", "ext3-least-capacity"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "ext3-capacity"): ("figures agree", None, "reproduces", "means of runs"),
    ("fileserver-debian-2006", "others-keep-the-capacity"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "residual-capacity-same"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "residual-capacity"): ("figures agree", None, "reproduces", "means of runs"),
    ("fileserver-debian-2006", "capacity-choice"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "ext3-longest-mkfs"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "mkfs-2-seconds"): ("contradicted", "the contrary", None, "means of runs"),
    ("fileserver-debian-2006", "reiserfs-mount-5-to-15"): (
        "figures agree",
        "as said",
        "within rounding",
        "means of runs",
    ),
    ("fileserver-debian-2006", "reiserfs-umount-2"): ("no data", None, None, "none"),
    ("fileserver-debian-2006", "mkfs-cpu"): ("figures agree", None, "within rounding", "means of runs"),
    ("fileserver-debian-2006", "mount-cpu"): ("figures agree", None, "within rounding", "means of runs"),
    ("fileserver-debian-2006", "umount-cpu-2"): ("figures agree", "as said", "reproduces", "means of runs"),
    ("fileserver-debian-2006", "quick-mkfs-and-mount"): ("no data", None, None, "none"),
    ("fileserver-debian-2006", "iso-copy"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "iso-recopy"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "iso-removal-100"): ("figures agree", "as said", "reproduces", "means of runs"),
    ("fileserver-debian-2006", "iso-copy-cpu"): ("figures agree", None, "within rounding", "means of runs"),
    ("fileserver-debian-2006", "iso-recopy-cpu"): ("figures agree", None, "within rounding", "means of runs"),
    ("fileserver-debian-2006", "iso-removal-cpu"): ("figures agree", None, "reproduces", "means of runs"),
    ("fileserver-debian-2006", "iso-removal-cpu-others"): ("figures agree", None, "reproduces", "means of runs"),
    ("fileserver-debian-2006", "jfs-least-cpu-iso"): ("undecided", "undecided", None, "means of runs"),
    ("fileserver-debian-2006", "jfs-5-to-10-less"): ("undecided", "undecided", None, "means of runs"),
    ("fileserver-debian-2006", "iso-page-faults"): ("undecided", None, "reproduces", "means of runs"),
    ("fileserver-debian-2006", "iso-choice"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "tree-copy"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "tree-recopy"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "tree-recopy-ext3"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "ext3-tree-removal-2"): ("figures agree", "as said", "reproduces", "means of runs"),
    ("fileserver-debian-2006", "tree-copy-cpu"): ("figures agree", None, "within rounding", "means of runs"),
    ("fileserver-debian-2006", "tree-recopy-cpu"): ("figures agree", None, "within rounding", "means of runs"),
    ("fileserver-debian-2006", "tree-removal-cpu"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "jfs-least-cpu-tree"): ("undecided", "undecided", None, "means of runs"),
    ("fileserver-debian-2006", "tree-page-faults"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "tree-page-faults-5-to-20"): ("not judged", None, None, "none"),
    ("fileserver-debian-2006", "tree-choice"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "reiserfs-many-small-files"): ("not judged", None, None, "none"),
    ("fileserver-debian-2006", "jfs-slowest-tree"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "listing"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "search"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "listing-cpu-equal"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "listing-cpu-xfs"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "search-cpu-xfs"): ("figures agree", "as said", "reproduces", "means of runs"),
    ("fileserver-debian-2006", "reiserfs-most-cpu-listing"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "listing-page-faults-3"): (
        "figures agree",
        "as said",
        "reproduces",
        "means of runs",
    ),
    ("fileserver-debian-2006", "two-classes"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "jfs-least-cpu"): ("undecided", "undecided", None, "means of runs"),
    ("fileserver-debian-2006", "reiserfs-most-page-faults"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "xfs-whole-capacity"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "xfs-quickest-mkfs-mount-umount"): (
        "contradicted",
        "the contrary",
        None,
        "means of runs",
    ),
    ("fileserver-debian-2006", "xfs-quickest-large-file"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "xfs-second-tree"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "xfs-not-lightest"): ("figures agree", "as said", None, "means of runs"),
    ("fileserver-debian-2006", "xfs-for-small-servers"): ("not judged", None, None, "none"),
    ("fio-nvme-2021", "zfs-incredibly-slower"): ("not comparable", "as said", None, "single figures"),
    ("fio-nvme-2021", "same-disk"): ("contradicted", "the contrary", None, "stated by the log"),
    ("fio-nvme-2021", "fio-version"): ("not judged", None, None, "none"),
    ("fio-nvme-2021", "jobs-64"): ("supported", "as said", None, "stated by the log"),
    ("fio-nvme-2021", "runtime-300"): ("figures agree", None, "reproduces", "single figures"),
    ("fio-nvme-2021", "block-4k"): ("no data", None, None, "none"),
    ("fio-nvme-2021", "engine-sync"): ("no data", None, None, "none"),
    ("fio-nvme-2021", "xfs-189k"): ("figures agree", None, "reproduces", "single figures"),
    ("fio-nvme-2021", "zfs-28.3k"): ("figures agree", None, "reproduces", "single figures"),
    ("fio-nvme-2021", "zfs-85-percent-fewer"): ("not comparable", "as said", "reproduces", "single figures"),
    ("fio-nvme-2021", "zfs-throughput-accordingly"): ("not comparable", "as said", "reproduces", "single figures"),
    ("fio-nvme-2021", "other-kernels"): ("not judged", None, None, "none"),
    ("iozone-ssd-2015", "file-2-gib"): ("supported", "as said", None, "stated by the log"),
    ("iozone-ssd-2015", "o-direct-throughout"): ("contradicted", "the contrary", None, "stated by the log"),
    ("iozone-ssd-2015", "rewrite-above-write-ext4"): ("figures agree", "as said", None, "within-run only"),
    ("iozone-ssd-2015", "rewrite-above-write-btrfs"): ("figures agree", "as said", None, "within-run only"),
    ("iozone-ssd-2015", "rewrite-above-write-zfs"): ("contradicted", "the contrary", None, "within-run only"),
    ("iozone-ssd-2015", "reread-above-read"): ("contradicted", "the contrary", None, "within-run only"),
    ("iozone-ssd-2015", "backward-below-forward"): ("figures agree", "as said", None, "within-run only"),
    ("iozone-ssd-2015", "fwrite-small-transfers"): ("not judged", None, None, "none"),
    ("iozone-ssd-2015", "frewrite-above-fwrite"): ("contradicted", "the contrary", None, "within-run only"),
    ("iozone-ssd-2015", "fread-small-transfers"): ("not judged", None, None, "none"),
    ("iozone-ssd-2015", "cache-disks-seeks"): ("not judged", None, None, "none"),
    ("iozone-ssd-2015", "record-rewrite-levels"): ("not judged", None, None, "none"),
    ("iozone-ssd-2015", "zfs-lower-cpu"): ("not comparable", "as said", None, "single figures"),
    ("iozone-ssd-2015", "ext4-wins-all-but-record-rewrite"): (
        "contradicted",
        "the contrary",
        None,
        "single figures",
    ),
    ("iozone-ssd-2015", "ext4-far-ahead"): ("not comparable", "as said", "reproduces", "single figures"),
    ("iozone-ssd-2015", "record-rewrite-excepted"): ("not comparable", "as said", None, "single figures"),
    ("raid1-hdd-2020", "bonnie-beyond-memory"): ("contradicted", "the contrary", None, "stated by the log"),
    ("raid1-hdd-2020", "memory-64"): ("no data", None, None, "none"),
    ("raid1-hdd-2020", "caching-is-small"): ("not judged", None, None, "none"),
    ("raid1-hdd-2020", "reads-70-percent-16k"): ("no data", None, None, "none"),
    ("raid1-hdd-2020", "reads-70-percent-128k"): ("supported", "as said", None, "stated by the log"),
    ("raid1-hdd-2020", "direct-io-16k"): ("no data", None, None, "none"),
    ("raid1-hdd-2020", "direct-io-128k"): ("contradicted", "the contrary", None, "stated by the log"),
    ("raid1-hdd-2020", "jobs-8-16k"): ("no data", None, None, "none"),
    ("raid1-hdd-2020", "jobs-8-128k"): ("supported", "as said", None, "stated by the log"),
    ("raid1-hdd-2020", "size-1g-128k"): ("contradicted", "the contrary", None, "stated by the log"),
    ("raid1-hdd-2020", "data-128-gb"): ("supported", "as said", None, "stated by the log"),
    ("raid1-hdd-2020", "files-100000"): ("supported", "as said", None, "stated by the log"),
    ("raid1-hdd-2020", "limit-600-s-128k"): ("supported", "as said", None, "stated by the log"),
    ("raid1-hdd-2020", "engine-libaio-128k"): ("supported", "as said", None, "stated by the log"),
    ("raid1-hdd-2020", "disk-bytes"): ("not judged", None, None, "none"),
    ("fio-nvme-2021", "random-writes"): ("no data", None, None, "none"),
    ("fio-nvme-2021", "size-10g"): ("no data", None, None, "none"),
    ("fio-nvme-2021", "kernel-4.15"): ("no data", None, None, "none"),
    ("iozone-ssd-2015", "records-from-32-kb"): ("supported", "as said", None, "stated by the log"),
    ("iozone-ssd-2015", "records-to-16-mb"): ("supported", "as said", None, "stated by the log"),
    ("sysbench-rhel72", "limit-180-s"): ("figures agree", None, "reproduces", "single figures"),
    ("sysbench-rhel72", "direct-io"): ("supported", "as said", None, "stated by the log"),
    ("sysbench-rhel72", "faster-mysql"): ("not judged", None, None, "none"),
    ("sysbench-rhel72", "same-host"): ("contradicted", "the contrary", None, "stated by the log"),
    ("sysbench-rhel72", "same-disk"): ("contradicted", "the contrary", None, "stated by the log"),
    ("sysbench-rhel72", "files-16"): ("supported", "as said", None, "stated by the log"),
    ("sysbench-rhel72", "total-2g"): ("supported", "as said", None, "stated by the log"),
    ("sysbench-rhel72", "block-16k"): ("supported", "as said", None, "stated by the log"),
    ("sysbench-rhel72", "threads-4"): ("supported", "as said", None, "stated by the log"),
    ("sysbench-rhel72", "seqwr-twice"): ("direction only", "as said", "understated", "single figures"),
    ("sysbench-rhel72", "seqrd-20"): ("not comparable", "as said", "reproduces", "single figures"),
    ("sysbench-rhel72", "rndwr-0.7"): ("not comparable", "as said", "reproduces", "single figures"),
    ("sysbench-rhel72", "rndrd-4"): ("not comparable", "as said", "reproduces", "single figures"),
    ("fileserver-debian-2006", "eleven-tasks-three-times"): ("not judged", None, None, "none"),
    ("fileserver-debian-2006", "files-of-the-tasks"): ("not judged", None, None, "none"),
    ("fileserver-debian-2006", "machine"): ("not judged", None, None, "none"),
    ("fileserver-debian-2006", "other-set-ups"): ("not judged", None, None, "none"),
    ("fileserver-debian-2006", "xfs-fair-compromise"): ("not judged", None, None, "none"),
    ("fio-nvme-2021", "disk-8-tb"): ("not judged", None, None, "none"),
    ("fio-nvme-2021", "pool-and-volume"): ("not judged", None, None, "none"),
    ("fio-nvme-2021", "two-processors"): ("not judged", None, None, "none"),
    ("iozone-ssd-2015", "all-tests"): ("not judged", None, None, "none"),
    ("iozone-ssd-2015", "random-mix-threads"): ("not judged", None, None, "none"),
    ("iozone-ssd-2015", "stride-4k-200k"): ("not judged", None, None, "none"),
    ("iozone-ssd-2015", "stride-bottleneck"): ("not judged", None, None, "none"),
    ("raid1-hdd-2020", "kernel-4.18"): ("not judged", None, None, "none"),
    ("raid1-hdd-2020", "two-disks-each"): ("not judged", None, None, "none"),
    ("raid1-hdd-2020", "disk-model"): ("not judged", None, None, "none"),
    ("raid1-hdd-2020", "zfs-0.8.3"): ("not judged", None, None, "none"),
    ("raid1-hdd-2020", "block-16k"): ("no data", None, None, "none"),
    ("raid1-hdd-2020", "block-128k"): ("supported", "as said", None, "stated by the log"),
    ("raid1-hdd-2020", "small-file-sizes"): ("supported", "as said", None, "stated by the log"),
    ("sysbench-rhel72", "limits"): ("not judged", None, None, "none"),
}
"""Computed by hand from the printed figures, as the comments in `study.toml` and the tests below say."""


def test_every_claim_of_the_articles_is_audited(audited: dict[tuple[str, str], dict[str, Any]]) -> None:
    answers = ("verdict", "direction", "size", "evidence")
    assert {name: tuple(row[part] for part in answers) for name, row in audited.items()} == VERDICTS


def test_every_claim_says_where_it_stands(audited: dict[tuple[str, str], dict[str, Any]]) -> None:
    assert all(row["place"] for row in audited.values())


def test_the_figure_that_belongs_in_the_place_of_the_stated_one(claims: dict[str, dict[str, Any]]) -> None:
    assert claims["seqwr-twice"]["computed"] == pytest.approx(842.88 / 348.48, abs=2e-4)
    assert claims["seqrd-20"]["computed"] / 2**20 == pytest.approx(887.34 - 864.70, abs=0.011)
    row = claims["zfs-85-percent-fewer"]
    assert row["computed"] == pytest.approx(1 - 28.3 / 189)
    assert row["computed_low"] == pytest.approx(1 - 28.35 / 188.5)
    assert row["computed_high"] == pytest.approx(1 - 28.25 / 189.5)
    # ln(189 / 28.3) / (1.96 sqrt 2) = 0.685 as a log-sd; sqrt(exp(s^2) - 1) = 0.774
    assert row["break_even_cv"] == pytest.approx(0.774, abs=1e-3)
    # The weakest of means of three: ln(99.82 / 92.77) / (1.96 sqrt 2) = 0.02643, times sqrt 3
    assert claims["ext3-least-capacity"]["break_even_cv"] == pytest.approx(0.0458, abs=5e-5)
    assert "If runs vary by 5 % (CV)" in claims["ext3-least-capacity"]["footnotes"][1]


def test_groups_and_tasks_are_added_up_as_the_author_does(claims: dict[str, dict[str, Any]]) -> None:
    assert claims["umount-cpu-2"]["computed"] == pytest.approx((37 + 45) / (14 + 27))
    assert claims["iso-removal-100"]["computed"] == pytest.approx((2.5 + 1.5) / (0.02 + 0.02))
    assert claims["ext3-tree-removal-2"]["computed"] == pytest.approx(22 / ((8.2 + 12.5 + 10.5) / 3))
    reiserfs = (2.2, 2.3, 41.8, 43.9, 1.5, 172.1, 136.9, 8.2, 1.4, 0.8, 0.4)
    assert claims["minutes-a-sequence"]["computed"] == pytest.approx(sum(reiserfs))
    sums = [found["words"] for found in claims["iso-choice"]["comparisons"]]
    assert sums[0].startswith(
        "sum of copy large file, recopy large file and remove large files: jfs 74.5 s against ext3 78 s"
    )


def test_the_cells_that_contradict_are_named(claims: dict[str, dict[str, Any]]) -> None:
    cells = [text.split(":")[0] for text in claims["ext4-wins-all-but-record-rewrite"]["contradicting"]]
    assert cells == [
        *(f"write, {size} KiB" for size in (32, 64, 128, 256)),
        *(f"{operation}, 128 KiB" for operation in ("random read", "backward read", "stride read")),
    ]
    assert (claims["reread-above-read"]["cells_right"], claims["reread-above-read"]["cells"]) == (14, 30)
    assert claims["xfs-quickest-mkfs-mount-umount"]["not_computable"] == ["umount"] * 3
    ahead = {name: claims[f"rewrite-above-write-{name}"]["cells_right"] for name in ("ext4", "btrfs", "zfs")}
    assert ahead == {"ext4": 9, "btrfs": 6, "zfs": 4}


def test_confounders_stand_beside_the_verdict(claims: dict[str, dict[str, Any]]) -> None:
    assert claims["seqwr-twice"]["confounders"] == ["host differs: host01 against host02."]
    assert claims["zfs-85-percent-fewer"]["confounders"] == ["disks differs: nvme6n1 against nvme7n1."]
    assert claims["ext4-wins-all-but-record-rewrite"]["confounders"] == [
        "log_device differs: not known against sdb2.",
        "tool_build differs: linux-AMD64 against freebsd.",
        "direct differs: true against false.",
    ]


REASONS = {
    "seqwr-twice": (
        "seqwr, write, 16 KiB: xfs 843 MiB/s against ext4 348 MiB/s, 2.42 times "
        "(stated: 2, taken as 1.75 to 2.25; the effect is larger than that)."
    ),
    "zfs-85-percent-fewer": (
        "write, 4 KiB: zfs 28.3 k IOPS against xfs 189 k IOPS, 85.0 % less (stated: 85 %); "
        "but the groups differ in more than the claim speaks of."
    ),
    "xfs-189k": "write, 4 KiB: xfs 189 k IOPS (stated: 189k); but it rests on single runs.",
    "reiserfs-umount-2": "No elapsed time is printed for umount.",
    "mkfs-2-seconds": "2 of 3 figures agree; 1 does not (mkfs: reiserfs 2.2 s).",
    "umount-cpu-2": (
        "umount: mean of ext3 and xfs 41 % against mean of reiserfs and jfs 20.5 %, 2 times "
        "(stated: about 2, taken as 1.5 to 2.5); but only means are printed."
    ),
    "o-direct-throughout": "Direct I/O: yes on ext4 and btrfs, no on zfs (stated: yes).",
    "bonnie-beyond-memory": "bonnie++: the file size is 126 GiB on all (stated: 128 GB).",
    "direct-io-16k": "fio, 16 KiB: no log states direct I/O (stated: yes).",
    "other-kernels": "No run on such a kernel is printed.",
    "residual-capacity": (
        "Both figures agree, for example capacity residual: jfs -0.02 %; but only means are printed."
    ),
}


@pytest.mark.parametrize("claim", REASONS)
def test_a_verdict_is_followed_by_its_reason(claims: dict[str, dict[str, Any]], claim: str) -> None:
    assert claims[claim]["reason"] == REASONS[claim]


def test_every_reason_is_one_sentence_without_words_of_the_code(claims: dict[str, dict[str, Any]]) -> None:
    for row in claims.values():
        assert row["reason"].endswith(".")
        assert ". " not in row["reason"]
        assert "_" not in row["reason"]


def test_footnotes_name_what_chance_could_do(claims: dict[str, dict[str, Any]]) -> None:
    # ln(842.88 / 348.48) / (1.96 sqrt 2) = 0.319; sqrt(exp(0.319^2) - 1) = 0.327
    assert claims["seqwr-twice"]["footnotes"] == [
        "host differs: host01 against host02.",
        "mount_options: attr2,inode64,noquota,seclabel against seclabel, which come with the filesystem.",
        "Each group has one run: if runs vary by 33 % (CV), chance alone can set two equal filesystems this far "
        "apart.",
    ]
    # of three runs each: ln 2 / (1.96 sqrt 2) = 0.2501, as a cv 0.2541, times sqrt 3
    assert claims["umount-cpu-2"]["footnotes"] == [
        "Only means of several runs are printed, so nobody knows how much the runs varied.",
        "If runs vary by 44 % (CV), chance alone can set two equal filesystems this far apart.",
    ]


def test_bounds_decide_where_they_can(claims: dict[str, dict[str, Any]]) -> None:
    # 5843 and 1991 against ranges over the other three
    assert (claims["tree-page-faults"]["cells_right"], claims["tree-page-faults"]["cells"]) == (3, 3)
    assert "against ext3 1,400 to 1,490" in claims["tree-page-faults"]["reason"]
    # JFS has less CPU in 10 of the pairs that are printed, more in 2; all else are ranges or equal
    assert claims["jfs-least-cpu"]["cells_right"] == 10
    assert len(claims["jfs-least-cpu"]["contradicting"]) == 2


def test_each_comparison_of_a_claim_is_kept(claims: dict[str, dict[str, Any]]) -> None:
    row = claims["reiserfs-mount-5-to-15"]
    assert (row["stated_low"], row["stated_high"]) == (5, 15)
    assert sorted(found["computed"] for found in row["comparisons"]) == pytest.approx([4.6, 11.5, 11.5])
    assert max(found["high"] for found in row["comparisons"]) == pytest.approx(2.35 / 0.15)
    assert (claims["mkfs-2-seconds"]["stated_low"], claims["mkfs-2-seconds"]["stated_high"]) == (None, 2)


FORMS = ("over =", "groups =", 'share = "most"', "band =", "unjudged =", '"about ', '"> ', " to ")


def test_the_manual_has_an_example_of_each_form_that_the_figures_agree_with(root: Path, tmp_path: Path) -> None:
    """As its text says; that of the kernel stands in the study's description alone."""
    (block,) = re.findall("```toml\n(.*?)```", _section(root, "One of each form"), re.DOTALL)
    found = {*re.findall(r'relation = "(\w+)"', block), *re.findall(r'# or "(\w+)"', block)}
    assert found >= set(RELATIONS)
    assert all(form in block for form in FORMS)
    study = root / "raw_results" / "published" / "fileserver-debian-2006"
    head = (study / "study.toml").read_text(encoding="utf-8").partition("[[claim]]")[0]
    (tmp_path / "tasks.csv").write_bytes((study / "tasks.csv").read_bytes())
    (tmp_path / "study.toml").write_text(head + block, encoding="utf-8")
    verdicts = dict(fsb.audit(tmp_path).select("claim", "verdict").rows())
    assert verdicts.pop("how-it-was-made") == "no data"
    assert verdicts.pop("beyond-the-figures") == "not judged"
    assert set(verdicts.values()) == {"figures agree"}, verdicts


def _section(root: Path, heading: str) -> str:
    return (
        (root / "docs" / "claims.md")
        .read_text(encoding="utf-8")
        .partition(f"## {heading}")[2]
        .partition("\n## ")[0]
    )


# ---- studies made for the purpose

LOG = """task,filesystems,metric,value,low,high,unit,qualifier
mkfs,a,elapsed,{a},,,s,
mkfs,b,elapsed,{b},,,s,
"""
STUDY = """[study]
id = "made"
title = "Made"

[[log]]
file = "tasks.csv"
tool = "filetree"

[[claim]]
id = "c"
says = "a takes what is said of b"
metric = "elapsed"
of = {{ filesystem = "a" }}
{claim}
"""


def _audit(folder: Path, claim: str, a: str = "2.0", b: str = "4.0") -> dict[str, Any]:
    (folder / "tasks.csv").write_text(LOG.format(a=a, b=b), encoding="utf-8")
    (folder / "study.toml").write_text(STUDY.format(claim=claim), encoding="utf-8")
    return fsb.audit(folder).row(0, named=True)


@pytest.mark.parametrize(
    ("claim", "direction", "size"),
    [
        ('relation = "ratio"\nsize = "0.5"', "as said", "reproduces"),
        ('relation = "ratio"\nsize = "0.6"', "as said", "understated"),  # half is further from 1 than 0.6
        ('relation = "ratio"\nsize = "0.4"', "as said", "overstated"),
        ('relation = "ratio"\nsize = "2"', "the contrary", None),
        ('relation = "ratio"\nsize = "0.5"\nband = ["0.501", "0.6"]', "as said", "within rounding"),
        ('relation = "ratio"\nsize = "< 0.6"', "as said", "reproduces"),
        ('relation = "ratio"\nsize = "0.1 to 0.4"', "as said", "overstated"),
        ('relation = "difference"\nsize = "-2 s"', "as said", "reproduces"),
        ('relation = "difference"\nsize = "-1 s"', "as said", "understated"),
        ('relation = "difference"\nsize = "2 s"', "the contrary", None),
        ('relation = "percent_less"\nsize = "50 %"', "as said", "reproduces"),
        ('relation = "percent_less"\nsize = "40 %"', "as said", "understated"),
        ('relation = "percent_less"\nsize = "about 60 %"', "as said", "overstated"),  # 55 to 65 %
        ('relation = "percent_more"\nsize = "50 %"', "the contrary", None),
        ('relation = "less"', "as said", None),
        ('relation = "greater"', "the contrary", None),
        ('relation = "equal"', "the contrary", None),
        ('relation = "equal"\nsize = "120 %"', "as said", None),
        ('relation = "rank"\nsize = "1"', "as said", None),
        ('relation = "rank"\nsize = "2"', "the contrary", None),
        ('relation = "value"\nsize = "2 s"', None, "reproduces"),
        ('relation = "value"\nsize = "3 s"', None, "overstated"),
        ('relation = "value"\nsize = "1 s"', None, "understated"),
        ('relation = "value"\nsize = "about 0.03 min"', None, "reproduces"),  # 1.5 s up to 2.1 s
        ('relation = "at_most"\nsize = "2 s"', "as said", None),
        ('relation = "at_most"\nsize = "1.99 s"', "undecided", None),
        ('relation = "at_least"\nsize = "2.1 s"', "the contrary", None),
        ('relation = "less"\nwhere = { operation = "mount" }', None, None),
    ],
)
def test_relations(tmp_path: Path, claim: str, direction: str | None, size: str | None) -> None:
    row = _audit(tmp_path, claim)
    assert (row["direction"], row["size"]) == (direction, size)


def test_more_by_a_share(tmp_path: Path) -> None:
    row = _audit(tmp_path, 'relation = "percent_more"\nsize = "50 %"', a="6.0")
    assert (row["direction"], row["size"]) == ("as said", "reproduces")


TASKS = ("mkfs", "mount", "umount", "list_tree", "find_in_tree")


def _audit_logs(folder: Path, claim: str, *logs: tuple[str, list[str], str], study: str = STUDY) -> dict[str, Any]:
    """Audit a claim over logs: the name of each, its rows, and what its entry says besides."""
    before, _, after = study.format(claim=claim).partition("[[log]]")
    entries = ""
    for name, rows, facts in logs:
        (folder / name).write_text("\n".join([LOG.splitlines()[0], *rows, ""]), encoding="utf-8")
        entries += f'[[log]]\nfile = "{name}"\ntool = "filetree"\n{facts}\n\n'
    text = f"{before}{entries}[[claim]]{after.partition('[[claim]]')[2]}"
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return fsb.audit(folder).row(0, named=True)


def _audit_tasks(
    folder: Path, claim: str, pairs: list[tuple[float, float]], *, runs: Sequence[str] = ("ab",)
) -> dict[str, Any]:
    """Audit a claim over the times that a and b took for several tasks, in a run of both or several of some."""
    logs = [
        (
            f"{number}.csv",
            [
                f"{task},{name},elapsed,{seconds + number / 1000:.6f},,,s,"
                for task, pair in zip(TASKS, pairs, strict=False)
                for name, seconds in zip("ab", pair, strict=True)
                if name in names
            ],
            "",
        )
        for number, names in enumerate(runs)
    ]
    where = ", ".join(f'"{task}"' for task in TASKS[: len(pairs)])
    return _audit_logs(folder, f"{claim}\nwhere = {{ operation = [{where}] }}", *logs)


GAPS = [(6.0, 2.0), (3.0, 2.0)]  # a takes three times as long as b, and 1.5 times: the gap doubles


def _audit_threads(published: Path, folder: Path, claim: str, threads: dict[str, int]) -> dict[str, Any]:
    """Audit a claim over logs of sysbench, each with a number of threads."""
    entries = ""
    for name, number in threads.items():
        log = (published / "sysbench-rhel72" / f"{name}.txt").read_text(encoding="utf-8")
        assert "Number of threads: 4\n" in log
        log = log.replace("Number of threads: 4\n", f"Number of threads: {number}\n")
        (folder / f"{name}.txt").write_text(log.partition("\n")[2], encoding="utf-8")
        entries += f'[[log]]\nfile = "{name}.txt"\ntool = "sysbench"\nfilesystem = "{name.partition("-")[2]}"\n'
    (folder / "study.toml").write_text(
        f'[study]\nid = "s"\ntitle = "S"\n{entries}[[claim]]\nid = "c"\nsays = "So"\n{claim}\n',
        encoding="utf-8",
    )
    return fsb.audit(folder).row(0, named=True)


@pytest.mark.parametrize(
    ("threads", "cells", "direction"),
    [
        ({"rndrd-ext4": 4, "rndrd-xfs": 4, "rndwr-ext4": 8, "rndwr-xfs": 8}, 2, "as said"),
        ({"rndrd-ext4": 4, "rndrd-xfs": 4, "seqrd-ext4": 8}, 1, "as said"),  # which is set beside no other
        ({"rndrd-ext4": 4, "rndrd-xfs": 8, "rndwr-ext4": 8, "rndwr-xfs": 8}, 2, "the contrary"),
    ],
)
def test_a_setting_is_one_where_filesystems_have_it_alike_in_each_pattern(
    published: Path, tmp_path: Path, threads: dict[str, int], cells: int, direction: str
) -> None:
    row = _audit_threads(published, tmp_path, 'relation = "setting"\nsetting = "threads"', threads)
    assert (row["cells"], row["direction"]) == (cells, direction)


def _audit_sizes(published: Path, folder: Path, where: str) -> dict[str, Any]:
    """Audit the sum of iozone's reading and writing on two filesystems, in cells of ten record sizes."""
    entries = ""
    for name in ("btrfs", "ext4"):
        log = (published / "iozone-ssd-2015" / f"iozone-{name}.txt").read_text(encoding="utf-8")
        (folder / f"{name}.txt").write_text(log, encoding="utf-8")
        entries += f'[[log]]\nfile = "{name}.txt"\ntool = "iozone"\nfilesystem = "{name}"\n'
    claim = f"""relation = "greater"
metric = "bandwidth"
of = {{ filesystem = "btrfs" }}
than = {{ filesystem = "ext4" }}
where = {{ operation = ["read", "write"]{where} }}
over = "sum"
"""
    (folder / "study.toml").write_text(
        f'[study]\nid = "s"\ntitle = "S"\n{entries}[[claim]]\nid = "c"\nsays = "So"\n{claim}', encoding="utf-8"
    )
    return fsb.audit(folder).row(0, named=True)


def test_a_sum_of_operations_has_a_cell_for_each_size(published: Path, tmp_path: Path) -> None:
    row = _audit_sizes(published, tmp_path, "")
    assert (row["cells"], row["verdict"] == "no data") == (10, False)
    words = [found["words"] for found in row["comparisons"]]
    assert "sum of read and write, 64 KiB: btrfs 634 MiB/s against ext4 589 MiB/s" in words


def test_a_sum_of_operations_at_one_size_names_it(published: Path, tmp_path: Path) -> None:
    row = _audit_sizes(published, tmp_path, ", block_size = 32768")
    words = [found["words"] for found in row["comparisons"]]
    assert words == ["sum of read and write, 32 KiB: btrfs 381 MiB/s against ext4 498 MiB/s"]


def test_a_remark_on_the_second_of_two_logs_that_a_claim_adds_up_is_said(published: Path, tmp_path: Path) -> None:
    claim = """relation = "value"
metric = "bandwidth"
of = { filesystem = ["ext4", "xfs"] }
groups = "sum"
size = "1 MB/s"
"""
    row = _audit_threads(published, tmp_path, claim, {"rndwr-ext4": 4, "rndwr-xfs": 4})
    assert row["computed"] is not None
    assert "One of 4 threads" in "\n".join(row["footnotes"])


@pytest.mark.parametrize(
    ("number", "name"), [(2, "mkfs and mount"), (4, "mkfs, mount, umount and list tree"), (5, "5")]
)
def test_up_to_four_of_what_is_added_up_are_named(tmp_path: Path, number: int, name: str) -> None:
    row = _audit_tasks(tmp_path, 'relation = "less"\nover = "sum"', [(1.0, 2.0)] * number)
    assert row["comparisons"][0]["words"].startswith(f"sum of {name}: ")


def test_figures_of_different_work_are_not_said_to_be_missing(published: Path, tmp_path: Path) -> None:
    """Also where one of them did more: what both did does not set them apart."""
    claim = 'metric = "bandwidth"\nrelation = "ratio"\nsize = "2"\nof = { filesystem = "xfs" }'
    found = _audit_threads(
        published,
        tmp_path,
        f'{claim}\nthan = {{ filesystem = "ext4" }}\nwhere = {{ operation = "read" }}',
        {"rndrd-ext4": 4, "seqrd-ext4": 4, "rndrd-xfs": 16},
    )
    assert (found["verdict"], found["reason"]) == (
        "no data",
        "No bandwidth of the same work is printed for read: the groups differ in threads (4 against 16).",
    )


@pytest.mark.parametrize(("size", "found"), [("2", "reproduces"), ("3", "overstated"), ("1.4", "understated")])
def test_a_gap_that_doubles_is_a_ratio_of_ratios(tmp_path: Path, size: str, found: str) -> None:
    row = _audit_tasks(tmp_path, f'relation = "ratio"\nsize = "{size}"\nover = "ratio"', GAPS)
    assert (row["size"], row["computed"]) == (found, pytest.approx(2, rel=1e-3))
    assert "a 2 against b 1, 2 times" in row["comparisons"][0]["words"]


def test_a_ratio_of_ratios_of_runs_has_their_interval(tmp_path: Path) -> None:
    row = _audit_tasks(tmp_path, 'relation = "greater"\nover = "ratio"', GAPS, runs=["a", "b"] * 3)
    assert (row["evidence"], row["direction"]) == ("replicated", "as said")
    assert row["computed_low"] < 2 < row["computed_high"]


def test_a_ratio_is_of_two(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one list of two values"):
        _audit_tasks(tmp_path, 'relation = "greater"\nover = "ratio"', [*GAPS, (1.0, 1.0)])


@pytest.mark.parametrize(
    ("relation", "low", "high", "said"),
    [
        ("greater", 5.0, None, "a at least 5 s against b 4 s"),
        ("less", None, 3.0, "a at most 3 s against b 4 s"),
        ("less", 1.0, 3.0, "a 1 s to 3 s against b 4 s"),
    ],
)
def test_bounds_are_shown_as_bounds_and_decide(
    tmp_path: Path, relation: str, low: float | None, high: float | None, said: str
) -> None:
    _audit(tmp_path, f'relation = "{relation}"')
    own = fsb.read(tmp_path)
    of_a = pl.col("run_id").is_in(own.runs.filter(filesystem="a")["run_id"].implode())
    bound = {"value": None, "low": low, "high": high, "state": "censored"}
    measurements = own.measurements.with_columns(
        pl.when(of_a).then(pl.lit(end, own.measurements.schema[name])).otherwise(name).alias(name)
        for name, end in bound.items()
    )
    row = fsb.audit(tmp_path, runs=replace(own, measurements=measurements)).row(0, named=True)
    assert row["direction"] == "as said"
    assert said in row["reason"]


Bound = tuple[float | None, float | None]


def _audit_bounds(folder: Path, claim: str, a: Sequence[Bound], b: Sequence[Bound]) -> dict[str, Any]:
    """Audit a claim over runs of which only bounds are known."""
    _audit_runs(folder, claim, [(2.0, 4.0)] * len(a))
    own = fsb.read(folder)
    measurements = own.measurements
    for name, bounds in (("a", a), ("b", b)):
        for number, (low, high) in enumerate(bounds):
            its = own.runs.filter(pl.col("source").str.ends_with(f"{name}{number}.csv"))["run_id"].item()
            known = {"value": None, "low": low, "high": high, "state": "censored"}
            measurements = measurements.with_columns(
                pl.when(run_id=its).then(pl.lit(end, measurements.schema[key])).otherwise(key).alias(key)
                for key, end in known.items()
            )
    return fsb.audit(folder, runs=replace(own, measurements=measurements)).row(0, named=True)


@pytest.mark.parametrize(
    ("claim", "a", "b", "direction"),
    [
        ('relation = "less"', (1.0, 2.0), (10.0, 20.0), "as said"),
        ('relation = "greater"', (1.0, 2.0), (10.0, 20.0), "the contrary"),
        ('relation = "greater"', (10.0, 20.0), (1.0, 2.0), "as said"),
        ('relation = "less"', (1.0, 2.0), (2.0, 3.0), "undecided"),  # both may be 2
        ('relation = "less"', (None, 2.0), (3.0, None), "as said"),
        ('relation = "less"', (None, 2.0), (None, 3.0), "undecided"),
        ('relation = "rank"\nsize = "1"', (1.0, 2.0), (10.0, 20.0), "as said"),
        ('relation = "ratio"\nsize = "0.1"', (1.0, 2.0), (10.0, 20.0), "as said"),
        ('relation = "equal"', (1.0, 2.0), (1.0, 2.0), "undecided"),
        ('relation = "equal"', (1.0, 2.0), (10.0, 20.0), "the contrary"),
        ('relation = "equal"', (2.0, None), (2.0, None), "undecided"),
        ('relation = "equal"\nsize = "5 %"', (2.0, None), (2.0, None), "undecided"),
        ('relation = "equal"\nsize = "5 %"', (1.0, 2.0), (1.0, 2.0), "undecided"),  # a ratio of 0.5 to 2
        ('relation = "equal"\nsize = "110 %"', (1.0, 2.0), (1.0, 2.0), "as said"),
        ('relation = "equal"\nsize = "110 %"', (1.0, 2.0), (None, 2.0), "undecided"),
        ('relation = "equal"\nsize = "5 %"', (1.0, 2.0), (10.0, 20.0), "the contrary"),
    ],
)
def test_bounds_of_both_figures_decide_where_they_can(
    tmp_path: Path, claim: str, a: Bound, b: Bound, direction: str
) -> None:
    assert _audit_bounds(tmp_path, claim, [a], [b])["direction"] == direction


@pytest.mark.parametrize("claim", ['relation = "less"', 'relation = "equal"', 'relation = "equal"\nsize = "5 %"'])
def test_bounds_of_two_runs_decide_nothing(tmp_path: Path, claim: str) -> None:
    """As little as two runs do of which the figures are known."""
    row = _audit_bounds(tmp_path, claim, [(1.0, 2.0)] * 2, [(10.0, 20.0)] * 2)
    assert (row["direction"], row["evidence"]) == ("undecided", "replicated")


@pytest.mark.parametrize("claim", ['relation = "less"', 'relation = "equal"', 'relation = "equal"\nsize = "5 %"'])
def test_bounds_to_unlike_sides_are_no_figure(tmp_path: Path, claim: str) -> None:
    row = _audit_bounds(tmp_path, claim, [(2.0, None), (None, 3.0)], [(2.0, None), (None, 3.0)])
    assert row["verdict"] == "no data"


def test_a_size_that_is_missed_to_either_side_is_mixed(tmp_path: Path) -> None:
    row = _audit_tasks(tmp_path, 'relation = "ratio"\nsize = "0.5"', [(1.0, 4.0), (3.0, 4.0)])
    assert [found["size"] for found in row["comparisons"]] == ["understated", "overstated"]
    assert (row["direction"], row["size"], row["verdict"]) == ("as said", "mixed", "direction only")


SUM = 'relation = "value"\nsize = "5.2 s"\nwhere = { operation = ["mkfs", "mount"] }\nover = "sum"'


def _audit_sum(folder: Path, *logs: tuple[int | None, str]) -> dict[str, Any]:
    """Audit a sum of two tasks over logs, each with its round and its lines."""
    return _audit_logs(
        folder,
        SUM,
        *(
            (f"{number}.csv", lines.splitlines(), f"round = {of_round}" if of_round else "")
            for number, (of_round, lines) in enumerate(logs)
        ),
    )


def test_a_sum_is_of_the_figures_of_a_round(tmp_path: Path) -> None:
    figures = {1: ("mkfs,a,elapsed,2.0", "mount,a,elapsed,3.0"), 2: ("mkfs,a,elapsed,2.2", "mount,a,elapsed,3.2")}
    row = _audit_sum(tmp_path, *((number, f"{line},,,s,") for number, lines in figures.items() for line in lines))
    assert (row["computed"], row["evidence"]) == (pytest.approx((2.0 + 3.0 + 2.2 + 3.2) / 2), "replicated")


def test_a_sum_has_each_of_its_figures_once(tmp_path: Path) -> None:
    row = _audit_sum(tmp_path, (None, "mkfs,a,elapsed,2.0,,,s,"), (None, "mkfs,a,elapsed,3.2,,,s,"))
    assert (row["verdict"], row["computed"]) == ("no data", None)


def test_a_sum_with_a_bound_is_one(tmp_path: Path) -> None:
    row = _audit_sum(
        tmp_path, (None, "mkfs,a,elapsed,2.0,,,s,\nmount,a b,elapsed,,1.0,3.0,s,range over filesystems")
    )
    assert row["computed"] is None
    # from 1.95 + 0.95 up to 2.05 + 3.05
    assert (row["computed_low"], row["computed_high"]) == (pytest.approx(2.9), pytest.approx(5.1))


LESS, MORE, EQUAL = (2.0, 4.0), (4.0, 2.0), (3.0, 3.0)


@pytest.mark.parametrize(
    ("pairs", "direction"),
    [
        ([LESS] * 3 + [MORE] * 2, "as said"),
        ([LESS, MORE], "the contrary"),
        ([LESS] * 2 + [MORE] * 2, "the contrary"),
        ([LESS] * 2 + [EQUAL] * 2, "undecided"),
    ],
)
def test_most_is_more_than_half(tmp_path: Path, pairs: list[tuple[float, float]], direction: str) -> None:
    assert _audit_tasks(tmp_path, 'relation = "less"\nshare = "most"', pairs)["direction"] == direction
    assert _audit_tasks(tmp_path, 'relation = "less"', pairs)["direction"] != "as said"


def test_what_is_left_open_is_not_right(tmp_path: Path) -> None:
    for share in ("all", "most"):
        row = _audit_tasks(tmp_path, f'relation = "less"\nshare = "{share}"', [EQUAL] * 5)
        assert (row["verdict"], row["cells_right"]) == ("undecided", 0)


# Of a ratio of r, chance takes a deviation of logarithms of ln r / (1.96 sqrt 2): 0.2501 for 2, 0.0658 for 1.2;
# as coefficients of variation sqrt(exp(s^2) - 1) = 0.2541 and 0.0659.
@pytest.mark.parametrize(
    ("claim", "pairs", "cv"),
    [
        ('relation = "less"', [(2.0, 4.0), (5.0, 6.0)], 0.0659),  # the weaker of those that hold
        (
            'relation = "less"\nshare = "most"',
            [(2.0, 4.0), (2.0, 4.0), (6.0, 5.0)],
            0.2541,
        ),  # and not what does not
        ('relation = "ratio"\nsize = "0.5"', [(2.0, 4.0), (5.0, 6.0)], 0.0659),  # also where its size is another
    ],
)
def test_a_claim_is_as_strong_as_its_weakest_ratio(
    tmp_path: Path, claim: str, pairs: list[tuple[float, float]], cv: float
) -> None:
    assert _audit_tasks(tmp_path, claim, pairs)["break_even_cv"] == pytest.approx(cv, abs=1e-4)


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.0285, "vary by 1 %"), (1.0277, "vary by less than 1 %")]
)  # 0.01 * 1.96 sqrt 2 = 0.0277 = ln 1.0281
def test_noise_of_less_than_a_percent_is_told_as_such(tmp_path: Path, ratio: float, said: str) -> None:
    assert any(said in note for note in _audit_tasks(tmp_path, 'relation = "less"', [(1.0, ratio)])["footnotes"])


@pytest.mark.parametrize(
    ("runs", "evidence"),
    [(["ab"], "single figures"), (["ab", "a"], "single figures"), (["ab", "ab"], "replicated")],
)
def test_two_runs_of_each_side_are_replicated(tmp_path: Path, runs: list[str], evidence: str) -> None:
    row = _audit_tasks(tmp_path, 'relation = "less"', [LESS], runs=runs)
    assert row["evidence"] == evidence


def test_a_claim_is_replicated_where_each_of_its_figures_is(tmp_path: Path) -> None:
    """One task has two runs of each filesystem, and the other one only."""
    logs = [
        (
            f"{name}{number}.csv",
            [f"{task},{name},elapsed,{seconds + number / 10:.3f},,,s," for task in tasks],
            "",
        )
        for number, tasks in enumerate((("mkfs", "mount"), ("mkfs",)))
        for name, seconds in (("a", 2.0), ("b", 4.0))
    ]
    row = _audit_logs(tmp_path, 'relation = "less"', *logs)
    assert (row["cells"], row["evidence"]) == (2, "single figures")


@pytest.mark.parametrize(("pairs", "place"), [([LESS], "place 1"), ([EQUAL], "place 1 to 2")])
def test_a_place_that_is_open_is_told_by_both_its_ends(
    tmp_path: Path, pairs: list[tuple[float, float]], place: str
) -> None:
    reason = _audit_tasks(tmp_path, 'relation = "rank"\nsize = "1"', pairs)["reason"]
    assert f", {place} (" in reason


# Welch on logarithms, by hand: ln of the ratios of the pairs below, t of 8 degrees of freedom
TEN = [(10.0, 1.0), (12.5, 1.3), (8.6, 0.8), (11.9, 0.95), (9.2, 1.1)]


def test_repeated_runs_are_judged_by_their_interval(tmp_path: Path) -> None:
    row = _audit_runs(tmp_path, 'relation = "ratio"\nsize = "about 10"', TEN)  # 5 to 15
    assert row["evidence"] == "replicated"
    assert (row["direction"], row["size"], row["verdict"]) == ("as said", "reproduces", "supported")
    assert 5 < row["computed_low"] < 9.5
    assert 10.5 < row["computed_high"] < 15
    assert _audit_runs(tmp_path, 'relation = "ratio"\nsize = "> 5"', TEN)["verdict"] == "supported"
    assert _audit_runs(tmp_path, 'relation = "ratio"\nsize = "2"', TEN)["size"] == "understated"
    assert _audit_runs(tmp_path, 'relation = "less"', TEN)["verdict"] == "contradicted"


@pytest.mark.parametrize("size", ["10", "11", "> 10", "10 to 12"])
def test_a_size_that_the_interval_only_allows_is_not_supported(tmp_path: Path, size: str) -> None:
    """Also where the estimate has it: more runs could still tell that it is another."""
    row = _audit_runs(tmp_path, f'relation = "ratio"\nsize = "{size}"', TEN)
    assert (row["direction"], row["size"], row["verdict"]) == ("as said", "within the interval", "direction only")
    assert (row["cells_right"], row["contradicting"]) == (0, [])
    assert "the interval allows that, and other sizes" in row["reason"]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ('"at_least"\nsize = "8.6 s"', "supported"),
        ('"at_least"\nsize = "8.7 s"', "undecided"),  # of five runs, one is less
        ('"at_least"\nsize = "13 s"', "contradicted"),
        ('"at_most"\nsize = "12 s"', "undecided"),
        ('"at_most"\nsize = "12.5 s"', "supported"),
    ],
)
def test_a_limit_is_kept_by_each_run(tmp_path: Path, claim: str, verdict: str) -> None:
    row = _audit_runs(tmp_path, f"relation = {claim}", TEN)
    assert (row["verdict"], row["evidence"]) == (verdict, "replicated")


@pytest.mark.parametrize(("b", "direction"), [("2.1", "as said"), ("2.0", "undecided"), ("1.9", "the contrary")])
def test_neighbouring_prints_differ_and_equal_ones_tell_nothing(tmp_path: Path, b: str, direction: str) -> None:
    """What prints as 2.0 and as 2.1 can both be 2.05 at most; rounding turns no order round."""
    assert _audit(tmp_path, 'relation = "less"', a="2.0", b=b)["direction"] == direction


def test_a_group_is_not_compared_with_itself(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='"of" and "than" are one group'):
        _audit(tmp_path, 'relation = "less"\nthan = { filesystem = "a" }')


def test_tasks_of_the_same_runs_are_replicated_where_there_are_several(tmp_path: Path) -> None:
    claim = 'relation = "less"\nmetric = "elapsed"\nof = { operation = "mkfs" }\nthan = { operation = "mount" }'
    logs = [
        (
            f"{number}.csv",
            [f"mkfs,a,elapsed,{2 + number / 100},,,s,", f"mount,a,elapsed,{3 + number / 70},,,s,"],
            "",
        )
        for number in range(5)
    ]
    for several, evidence, verdict in ((5, "replicated", "supported"), (1, "within-run only", "figures agree")):
        folder = tmp_path / str(several)
        folder.mkdir()
        text = 'metric = "elapsed"\nof = {{ filesystem = "a" }}\n{claim}'
        assert text in STUDY
        row = _audit_logs(folder, claim, *logs[:several], study=STUDY.replace(text, "{claim}"))
        assert (row["evidence"], row["verdict"]) == (evidence, verdict)


@pytest.mark.parametrize(
    "pairs",
    [
        [(2.0, 2.1), (2.2, 2.25)],  # ordered means, and no more
        [(2.0, 4.0), (2.01, 4.03)],  # an interval without 1, of two runs
        [(2.0, 2.02), (2.001, 2.023), (1.999, 2.018), (2.0005, 2.0202), (1.9993, 2.0196)],  # apart by 1 %: equal
    ],
)
def test_what_the_comparison_does_not_decide_is_undecided(
    tmp_path: Path, pairs: list[tuple[float, float]]
) -> None:
    row = _audit_runs(tmp_path, 'relation = "less"', pairs)
    assert (row["verdict"], row["evidence"]) == ("undecided", "replicated")


# each five runs of a and b. The 95 % intervals of Welch's t on logarithms, by SciPy's ttest_ind: 0.777 to 1.23,
# 0.997 to 1.001, 0.907 to 0.910; of the first two runs of the second, 0.993 to 1.005.
NOISY = [(100.0, 103.0), (130.0, 95.0), (80.0, 120.0), (95.0, 90.0), (110.0, 115.0)]
ALIKE = [(100.0, 100.3), (100.2, 100.1), (99.9, 100.2), (100.1, 99.9), (100.0, 100.1)]
APART = [(100.0, 110.3), (100.2, 110.1), (99.9, 110.2), (100.1, 109.9), (100.0, 110.1)]


@pytest.mark.parametrize(
    ("size", "pairs", "verdict"),
    [
        ("", ALIKE, "supported"),
        ("5 %", ALIKE, "supported"),
        ("0.01 %", ALIKE, "undecided"),  # which lies inside the interval
        ("", ALIKE[:2], "undecided"),
        ("5 %", ALIKE[:2], "undecided"),
        ("", NOISY, "undecided"),
        ("5 %", NOISY, "undecided"),
        ("15 %", NOISY, "undecided"),
        ("40 %", NOISY, "supported"),
        ("", APART, "contradicted"),
        ("5 %", APART, "contradicted"),
        ("15 %", APART, "supported"),
    ],
)
def test_repeated_runs_are_equal_where_all_of_the_interval_is(
    tmp_path: Path, size: str, pairs: list[tuple[float, float]], verdict: str
) -> None:
    claim = 'relation = "equal"' + (f'\nsize = "{size}"' if size else "")
    assert _audit_runs(tmp_path, claim, pairs)["verdict"] == verdict


def test_runs_that_are_equal_and_of_other_hosts_are_not_comparable(tmp_path: Path) -> None:
    for pairs, direction in ((ALIKE, "as said"), (NOISY, "undecided"), (APART, "the contrary")):
        row = _audit_runs(tmp_path, 'relation = "equal"\nsize = "5 %"', pairs, hosts=True)
        assert (row["direction"], row["confounders"]) == (direction, ["host differs: of-a against of-b."])


def test_an_interval_with_1_in_it_decides_nothing_where_nothing_is_comparable_either(tmp_path: Path) -> None:
    pairs = [(2.0, 2.5), (4.0, 3.6), (2.1, 2.4)]  # a takes less on the whole, but by far not always
    row = _audit_runs(tmp_path, 'relation = "less"', pairs, hosts=True)
    assert row["confounders"] == ["host differs: of-a against of-b."]
    assert (row["verdict"], row["direction"]) == ("undecided", "undecided")


@pytest.mark.parametrize("size", ["2", "50"])
def test_a_size_of_repeated_runs_of_other_hosts_is_not_shown_to_be_another(tmp_path: Path, size: str) -> None:
    row = _audit_runs(tmp_path, f'relation = "ratio"\nsize = "{size}"', TEN, hosts=True)
    assert row["size"] in ("understated", "overstated")
    assert (row["verdict"], row["confounders"]) == ("not comparable", ["host differs: of-a against of-b."])


@pytest.mark.parametrize(("sound", "verdict"), [(2, "contradicted"), (1, "in doubt")])
def test_most_cells_contradict_where_most_of_all_are_sound(tmp_path: Path, sound: int, verdict: str) -> None:
    """Of three tasks two say the contrary, each in a log of its own, and one of these may contradict itself."""
    logs = []
    for number, (task, a) in enumerate(zip(TASKS[:3], (4.0, 4.0, 2.0), strict=True)):
        twice = [f"{task},b,elapsed,9.0,,,s,"] if number == 1 and sound == 1 else []
        logs.append((f"{task}.csv", [f"{task},a,elapsed,{a},,,s,", f"{task},b,elapsed,3.0,,,s,", *twice], ""))
    where = ", ".join(f'"{task}"' for task in TASKS[:3])
    claim = f'relation = "less"\nshare = "most"\nwhere = {{ operation = [{where}] }}'
    row = _audit_logs(tmp_path, claim, *logs)
    assert (row["verdict"], row["direction"], row["cells_right"]) == (verdict, "the contrary", 1)


def test_what_a_run_could_not_measure_takes_no_part(tmp_path: Path) -> None:
    """The sixth run of each has no figure: without it, they are ten times apart."""
    claim = 'relation = "ratio"\nsize = "about 10"'
    _audit_runs(tmp_path, claim, [*TEN, (1.0, 50.0)])
    own = fsb.read(tmp_path)
    sixth = pl.col("run_id").is_in(own.runs.filter(pl.col("source").str.contains("5.csv"))["run_id"].to_list())
    missing = own.measurements.with_columns(
        *(pl.when(~sixth).then(name).alias(name) for name in ("value", "low", "high")),
        state=pl.when(sixth).then(pl.lit("missing")).otherwise("state").cast(own.measurements.schema["state"]),
    )
    row = fsb.audit(tmp_path, runs=replace(own, measurements=missing)).row(0, named=True)
    assert (row["direction"], row["size"], row["verdict"]) == ("as said", "reproduces", "supported")


@pytest.mark.parametrize("relation", ["less", "greater"])
def test_a_figure_that_stands_twice_is_in_doubt(tmp_path: Path, relation: str) -> None:
    """Whether a claim agrees with it or not."""
    _audit(tmp_path, f'relation = "{relation}"')
    twice = LOG.format(a="2.0", b="4.0") + "mkfs,a,elapsed,3.0,,,s,\n"
    (tmp_path / "tasks.csv").write_text(twice, encoding="utf-8")
    row = fsb.audit(tmp_path).row(0, named=True)
    assert row["verdict"] == "in doubt"
    assert "appears twice: 2.0 on line 2, and 3.0." in row["footnotes"][0]


def test_runs_that_failed_are_counted_and_no_figures_that_are_missing(tmp_path: Path) -> None:
    _audit_runs(tmp_path, 'relation = "ratio"\nsize = "> 5"', TEN)
    own = fsb.read(tmp_path)
    of_a = pl.col("source").str.contains("a[0-9]")
    failed = {
        "one": pl.col("source").str.contains("a0"),
        "all": of_a,
    }
    said = {}
    for name, which in failed.items():
        status = pl.when(which).then(pl.lit("failed")).otherwise(pl.lit("ok")).cast(own.runs.schema["status"])
        changed = replace(own, runs=own.runs.with_columns(status=status))
        said[name] = fsb.audit(tmp_path, runs=changed).row(0, named=True)
    assert said["one"]["verdict"] == "supported"
    assert "1 failed or partial run of a was left out." in said["one"]["footnotes"]
    assert said["all"]["verdict"] == "no data"
    assert said["all"]["reason"] == (
        "No elapsed time that counts is printed for a against b: runs failed or are incomplete."
    )
    assert said["all"]["footnotes"] == ["5 failed or partial runs of a were left out."]


def test_warm_up_runs_take_no_part(tmp_path: Path) -> None:
    claim, folders = 'relation = "ratio"\nsize = "10"', [tmp_path / "five", tmp_path / "six"]
    for folder, pairs in zip(folders, (TEN, [*TEN, (1.0, 50.0)]), strict=True):
        folder.mkdir()
        _audit_runs(folder, claim, pairs)
    five, six = (fsb.audit(folder).row(0, named=True) for folder in folders)
    own = fsb.read(folders[1])
    sixth = pl.col("source").str.contains("5.csv", literal=True)
    stage = pl.when(sixth).then(pl.lit("warm-up")).otherwise(pl.lit("measured")).cast(own.runs.schema["stage"])
    warm = replace(own, runs=own.runs.with_columns(stage=stage))
    row = fsb.audit(folders[1], runs=warm).row(0, named=True)
    assert row == five
    assert row["comparisons"] != six["comparisons"]


def _audit_runs(
    folder: Path, claim: str, pairs: Sequence[tuple[float, float]], *, hosts: bool = False
) -> dict[str, Any]:
    """Audit a claim over runs of their own for a and b, on one host or on a host each."""
    logs = [
        (
            f"{name}{number}.csv",
            [f"mkfs,{name},elapsed,{seconds:.3f},,,s,"],
            f'host = "of-{name}"' if hosts else "",
        )
        for number, pair in enumerate(pairs)
        for name, seconds in zip("ab", pair, strict=True)
    ]
    return _audit_logs(folder, claim, *logs)


@pytest.mark.parametrize(
    ("claim", "a", "found"),
    [
        # what rounds to the stated digits, from its lower end up to its upper one
        ('relation = "ratio"\nsize = "0.5"', "1.8", "reproduces"),  # 0.45
        ('relation = "ratio"\nsize = "0.5"', "1.799", "understated"),
        ('relation = "ratio"\nsize = "0.5"', "2.199", "reproduces"),
        ('relation = "ratio"\nsize = "0.5"', "2.2", "within rounding"),  # 0.55 is 0.6, and a little less is 0.5
        ('relation = "ratio"\nsize = "0.5"', "2.20001", "overstated"),
        ('relation = "ratio"\nsize = "0.5"\nband = ["0.4", "0.5"]', "2.0", "within rounding"),
        ('relation = "ratio"\nsize = "0.5"\nband = ["0.5", "0.6"]', "2.0", "reproduces"),
        ('relation = "ratio"\nsize = "0.4 to 0.5"', "2.0", "reproduces"),
        # about 40 is within half a unit of its first digit
        ('relation = "percent_less"\nsize = "about 40 %"', "2.24", "reproduces"),
        ('relation = "percent_less"\nsize = "about 40 %"', "2.16", "understated"),
        # limits hold where they are met
        ('relation = "at_most"\nsize = "2 s"', "2.0", "as said"),
        ('relation = "at_least"\nsize = "2 s"', "2.0", "as said"),
        ('relation = "at_most"\nsize = "2 s"', "2.01", "the contrary"),
        ('relation = "at_least"\nsize = "2 s"', "1.99", "the contrary"),
    ],
)
def test_ends_of_what_is_said(tmp_path: Path, claim: str, a: str, found: str) -> None:
    row = _audit_tasks(tmp_path, claim, [(float(a), 4.0)])
    assert found == (row["size"] or row["direction"])


def test_a_figure_that_is_greater_by_that_share_of_this_one(tmp_path: Path) -> None:
    # 4 is 85 % more than 2.162, which is 46 % less than 4
    row = _audit(tmp_path, 'relation = "percent_less"\nsize = "85 %"', a="2.162")
    assert row["size"] == "overstated"
    assert "The other figure is 85 % more than the one, so the one is not 85 % less." in row["footnotes"]


@pytest.mark.parametrize("relation", ["less", "greater"])
def test_equal_prints_decide_nothing(tmp_path: Path, relation: str) -> None:
    assert _audit(tmp_path, f'relation = "{relation}"', b="2.0")["direction"] == "undecided"


def test_a_share_of_the_other_base(tmp_path: Path) -> None:
    # 0.6 is 85 % less than 4; 3.4 is 85 % of 4, and 15 % less than it
    assert _audit(tmp_path, 'relation = "percent_less"\nsize = "85 %"', a="0.6")["size"] == "reproduces"
    row = _audit(tmp_path, 'relation = "percent_less"\nsize = "85 %"', a="3.4")
    assert row["size"] == "overstated"
    assert "The one figure is 85 % of the other, not 85 % less." in row["footnotes"]


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ('relation = "ratio"', r'study.toml:10: claim "c": the relation "ratio" needs "size"'),
        (
            'relation = "twice"',
            r'study.toml:10: claim "c": there is no relation "twice"\nRelations are: value, at_most',
        ),
        ('relation = "setting"', r'study.toml:10: claim "c": the relation "setting" needs "setting"'),
        ('relation = "equal"\nsize = "-5 %"', r"study.toml:10: .* nothing is within -5 %"),
        ('relation = "less"\nunit = "s"', "unit"),
        ('relation = "ratio"\nsize = "two"', r"study.toml:10: claim \"c\": cannot read the size 'two'"),
        ('relation = "ratio"\nsize = "2 s"', r"study.toml:10: .* the size '2 s' is of the wrong kind"),
        ('relation = "value"\nsize = "494 MiB/s"', r"study.toml:10: .* wrong kind: it needs a unit of time"),
        ('relation = "value"\nsize = "2"', r"study.toml:10: .* needs a unit of time"),
        ('relation = "ratio"\nsize = "2"\nband = ["3", "1"]', r"study.toml:10: .* runs from 3 down to 1"),
        ('relation = "ratio"\nsize = "3 to 1"', r"study.toml:10: .* the size '3 to 1' runs downwards"),
        ('relation = "less"\nwhere = { operation = "mkfss" }', r"study.toml:10: .* 'mkfss'\nDid you mean mkfs"),
        (
            'relation = "less"\nthan = { filesystem = "xsf" }',
            r"study.toml:10: .* filesystem 'xsf'\nThe choices are: a, b",
        ),
        ('relation = "less"\nunjudged = "who knows"', r'study.toml:10: .* either a "relation", or "unjudged"'),
        ('relation = "less"\nwhere = { colour = "red" }', r"study.toml:10: .* figures have no column 'colour'"),
    ],
)
def test_a_claim_with_a_mistake(tmp_path: Path, claim: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _audit(tmp_path, claim)


def test_a_filesystem_that_the_study_describes_is_not_mistyped(tmp_path: Path) -> None:
    """Nothing of it is printed."""
    study = STUDY.replace("[[log]]", '[filesystems.zfs]\nmount_options = "rw"\n\n[[log]]')
    (tmp_path / "tasks.csv").write_text(LOG.format(a="1", b="2"), encoding="utf-8")
    claim = 'relation = "less"\nthan = {{ filesystem = "zfs" }}'.replace("{{", "{").replace("}}", "}")
    (tmp_path / "study.toml").write_text(study.format(claim=claim), encoding="utf-8")
    assert fsb.audit(tmp_path)["verdict"].to_list() == ["no data"]


@pytest.mark.parametrize(("said", "written"), [("true", "yes"), ("yes", "yes"), ("On", "On")])
def test_what_only_the_description_says_is_said_to_be_so(tmp_path: Path, said: str, written: str) -> None:
    claim = f'relation = "setting"\nsetting = "direct"\nsize = "{said}"'
    study = STUDY.replace('metric = "elapsed"\n', "").replace(
        'tool = "filetree"\n', 'tool = "filetree"\nsettings = {{ direct = "true" }}\n'
    )
    (tmp_path / "tasks.csv").write_text(LOG.format(a="1", b="2"), encoding="utf-8")
    (tmp_path / "study.toml").write_text(study.format(claim=claim), encoding="utf-8")
    (row,) = fsb.audit(tmp_path).rows(named=True)
    assert row["verdict"] == "no data"
    assert row["reason"] == f"a: direct I/O: yes on a by the study's description alone (stated: {written})."


def test_a_mistyped_metric_is_the_files_mistake(tmp_path: Path) -> None:
    study = STUDY.replace('"elapsed"', '"elapsde"')
    (tmp_path / "tasks.csv").write_text(LOG.format(a="1", b="2"), encoding="utf-8")
    (tmp_path / "study.toml").write_text(study.format(claim='relation = "less"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"study.toml:10: .* no metric 'elapsde'\nDid you mean elapsed"):
        fsb.audit(tmp_path)


def test_a_mistake_in_a_claim_does_not_keep_the_logs_from_being_read(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        _audit(tmp_path, 'relation = "twice"')
    assert fsb.read(tmp_path).measurements.height == 2


def test_studies_without_claims(root: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no study here makes a claim"):
        fsb.audit(root / "raw_results" / "recorded")
    with pytest.raises(InputError, match="there is no study"):
        fsb.audit(tmp_path)


def test_claims_are_judged_on_other_runs_than_the_studys(published: Path) -> None:
    """With the names of its filesystems exchanged, the study's own runs say the contrary of its article."""
    folder = published / "fio-nvme-2021"
    own = fsb.read(folder)
    exchanged = pl.col("filesystem").replace({"xfs": "zfs", "zfs": "xfs"})
    other = replace(own, runs=own.runs.with_columns(exchanged))
    judged = {
        name: {row["claim"]: row for row in fsb.audit(folder, runs=runs).iter_rows(named=True)}
        for name, runs in {"own": own, "other": other, "one": own.filter(pl.col("filesystem") == "xfs")}.items()
    }
    slower = next(claim for claim, row in judged["own"].items() if "slower than XFS" in row["says"])
    assert [judged[name][slower]["direction"] for name in judged] == ["as said", "the contrary", None]
    assert judged["one"][slower]["verdict"] == "not judged"
    assert judged["one"][slower]["reason"] == "These runs have no figure with filesystem 'zfs'."
    of_the_study = {row["reason"] for row in judged["other"].values() if row["direction"] is None}
    assert "It is about how the study was made." in of_the_study


# ---- repeated runs whose verdict the comparison withholds

OF_RATES = """[study]
id = "made"
title = "Made"

[[claim]]
id = "c"
says = "xfs is faster, or slower"
metric = "iops"
of = {{ filesystem = "xfs" }}
than = {{ filesystem = "ext4" }}
relation = "{relation}"
"""
NOISE = [1.0, 1.012, 0.991, 1.006, 0.985, 1.003, 1.009, 0.994, 1.001, 0.998, 1.004, 0.99]


def _one_after_the_other() -> list[Log]:
    logs = rates([1000 * x for x in NOISE[:6]], [1200 * x for x in NOISE[6:]])
    return [replace(log, started_at=START + timedelta(minutes=2 * n), ended_at=None) for n, log in enumerate(logs)]


def _on_its_way() -> list[Log]:
    rising = [(1200 + 60 * number) * x for number, x in enumerate(NOISE)]
    return rates([1000 * x for x in reversed(NOISE)], rising, rounds=True)


def _on_two_hosts() -> list[Log]:
    logs = []
    for host, ratio in (("one", 1.1), ("other", 1.9)):
        of_host = rates([1000 * x for x in NOISE[:6]], [1000 * ratio * x for x in NOISE[6:]], rounds=True)
        logs += [
            replace(log, host=host, source=host + log.source, data=host.encode() + log.data) for log in of_host
        ]
    return logs


@pytest.mark.parametrize("relation", ["greater", "less"])
@pytest.mark.parametrize(
    ("logs", "code", "said"),
    [
        (_one_after_the_other, "BLOCKED_ORDER", "drift cannot be told apart from the effect"),
        (_on_its_way, "NON_STEADY", "The ratio of the groups drifts from round to round"),
        (_on_two_hosts, "STRATA_DISAGREE", "1.10 (host one), 1.90 (host other)"),
    ],
)
def test_what_withholds_a_verdict_withholds_that_on_a_claim(
    tmp_path: Path, *, logs: Callable[[], list[Log]], code: str, said: str, relation: str
) -> None:
    """Whether the figures of repeated runs agree with it or contradict it."""
    own = assemble(logs())
    (compared,) = fsb.compare(own, metrics=["iops"]).rows(named=True)
    assert compared["reasons"] == [code]
    assert not compared["ci_low"] <= 1 <= compared["ci_high"]
    (tmp_path / "study.toml").write_text(OF_RATES.format(relation=relation), encoding="utf-8")
    row = fsb.audit(tmp_path, runs=own).row(0, named=True)
    direction = {"greater": "as said", "less": "the contrary"}[relation]
    assert (row["verdict"], row["direction"], row["evidence"]) == ("not comparable", direction, "replicated")
    assert said in " ".join(row["confounders"])
    assert said in " ".join(row["footnotes"])


def test_a_claim_has_the_notes_of_its_comparison(tmp_path: Path) -> None:
    own = assemble(rates([1000 * x for x in NOISE[:2]], [1200 * x for x in NOISE[6:8]]))
    (compared,) = fsb.compare(own, metrics=["iops"]).rows(named=True)
    (tmp_path / "study.toml").write_text(OF_RATES.format(relation="greater"), encoding="utf-8")
    row = fsb.audit(tmp_path, runs=own).row(0, named=True)
    assert "A group has only two runs: the spread between runs is hardly known." in compared["footnotes"]
    assert row["footnotes"] == compared["footnotes"]
    assert row["reason"].endswith("; but two runs of each group are too few for a verdict.")


def _of_two_workloads(folder: Path, claim: str, runs: int, name: str) -> dict[str, Any]:
    """Audit a claim over logs of fio that read, and others that write: each has a pattern of its own."""
    for number in range(runs):
        for filesystem, speeds in (
            ("ext4", {"read": 1400, "write": 2700}),
            ("xfs", {"read": 3700, "write": 4500}),
        ):
            for operation, rate in speeds.items():
                iops = round(rate * (1 + number / 500))
                figures = {
                    "io_bytes": 40960 * iops,
                    "bw_bytes": 4096 * iops,
                    "iops": float(iops),
                    "runtime": 10_000,
                }
                job = {"jobname": "j", "groupid": 0, "error": 0, "job options": {"rw": operation, "bs": "4k"}}
                log = {
                    "fio version": "fio-3.33",
                    "jobs": [{**job, operation: {**figures, "total_ios": 10 * iops}}],
                }
                path = folder / f"{filesystem}_{operation}_{number}.json"
                path.write_text(json.dumps(log), encoding="utf-8")
    (folder / "study.toml").write_text(
        f'[study]\nid = "s"\ntitle = "S"\nnames = "{name}"\n[[claim]]\nid = "c"\nsays = "So"\nmetric = "iops"\n'
        f'of = {{ filesystem = "xfs" }}\nthan = {{ filesystem = "ext4" }}\n'
        f'where = {{ operation = ["read", "write"] }}\n{claim}',
        encoding="utf-8",
    )
    return fsb.audit(folder).row(0, named=True)


@pytest.mark.parametrize(("runs", "evidence"), [(1, "single figures"), (5, "replicated")])
@pytest.mark.parametrize(("over", "size"), [("sum", "2.00"), ("ratio", "1.6")])  # 8200 / 4100, .822 / .519
def test_workloads_can_be_taken_together(
    tmp_path: Path, *, over: str, size: str, runs: int, evidence: str
) -> None:
    """As authors do who add up the figures of several logs."""
    claim = f'relation = "ratio"\nover = "{over}"\nsize = "{size}"'
    row = _of_two_workloads(tmp_path, claim, runs, "{filesystem}_{}_{round}.json")
    assert (row["size"], row["evidence"]) == ("reproduces", evidence)


def test_what_is_missing_from_a_sum_is_named(tmp_path: Path) -> None:
    row = _audit_tasks(tmp_path, 'relation = "less"\nover = "sum"', [LESS, EQUAL])
    assert row["verdict"] != "no data"
    (study,) = tmp_path.glob("study.toml")
    text = study.read_text(encoding="utf-8").replace(f'"{TASKS[1]}"', f'"{TASKS[1]}", "umount"')
    study.write_text(text, encoding="utf-8")
    assert fsb.audit(tmp_path)["reason"].to_list() == ["No elapsed time is printed for umount."]


def test_figures_that_cannot_be_taken_together_are_not_said_to_be_missing(tmp_path: Path) -> None:
    claim = 'relation = "ratio"\nover = "sum"\nsize = "2"'
    row = _of_two_workloads(tmp_path, claim, 2, "{filesystem}_{}_{}.json")  # nobody knows which belong together
    assert (row["verdict"], row["reason"]) == (
        "no data",
        "IOPS for read and write is printed, but cannot be taken together: no run or round has all of it.",
    )
