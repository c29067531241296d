"""Plans from published logs: what is expected was read in the logs; and what a replication shows."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit import tables
from fsbench_kit.launch import launch, read_plan
from fsbench_kit.launch.replicate import (
    caveats,
    departures,
    differences,
    reason_not_to_run,
    recorded,
    replication,
    side_by_side,
)
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.data.dataset import Dataset
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
    own = {"optional"}
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


def test_a_scale_makes_files_and_times_smaller_and_nothing_else(sysbench: Dataset) -> None:
    whole, small = replication(sysbench), replication(sysbench, file_scale=1 / 16, time_scale=1 / 90)
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
    for table in _workloads(replication(sysbench, file_scale=1e-9, time_scale=1e-9).plan):
        assert (table["file_total_size"], table["time"]) == (16 * 16384, 1)


def test_directories_stand_in_for_images(sysbench: Dataset) -> None:
    again = replication(sysbench, directories=["a", "b"])
    assert [target.model_dump()["directory"] for target in again.plan.target] == ["a", "b"]
    assert not any("image" in change for change in again.changes)


@pytest.mark.parametrize(
    ("study", "options", "message"),
    [
        ("sysbench-rhel72", {"file_scale": 0.0}, "file_scale is 0"),
        ("sysbench-rhel72", {"time_scale": 1.5}, "time_scale is 1.5"),
        ("iozone-ssd-2015", {}, "cannot run iozone again"),
        ("", {}, "cannot run 5 studies again as one"),
    ],
)
def test_what_cannot_be_run_again(published: Path, study: str, options: dict[str, float], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        replication(fsb.read(published / study), **options)  # type: ignore[arg-type]


def test_a_setting_that_nobody_tells_cannot_be_run_again(sysbench: Dataset) -> None:
    from dataclasses import replace

    without = replace(sysbench, settings=sysbench.settings.filter(pl.col("key") != "files"))
    with pytest.raises(RequestError, match="neither the log nor the article tells a run's files"):
        replication(without)


def test_a_tool_that_is_missing_is_named(nvme: Dataset, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsbench_kit.launch.tools.find_program", lambda _name: None)
    plan = replication(nvme, directories=["."]).plan
    assert reason_not_to_run("directories", plan, root) == "fio is not installed (Debian: fio)."


def test_a_directory_that_is_missing_is_named(nvme: Dataset, root: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    plan = replication(nvme, file_scale=0.001, directories=["nowhere"]).plan
    reason = reason_not_to_run("directories", plan, root)
    assert reason is not None
    assert "nowhere is not a directory" in reason


def test_nothing_is_run_where_the_recording_is_asked_for(sysbench: Dataset, root: Path) -> None:
    plan = replication(sysbench).plan
    assert reason_not_to_run("recorded", plan, root) == 'the parameter where is "recorded".'
    with pytest.raises(RequestError, match="where cannot be 'image'"):
        reason_not_to_run("image", plan, root)


def test_a_study_without_a_recorded_replication_is_an_error_that_says_what_to_do(root: Path) -> None:
    with pytest.raises(RequestError, match="no replication of iozone-ssd-2015 comes with the kit") as caught:
        recorded("iozone-ssd-2015", root)
    assert 'where = "images"' in str(caught.value)


@pytest.mark.parametrize(
    ("study", "sizes", "times", "image"),
    [
        # fio --size=10m --runtime=2, fallocate --length 1118830592; the article: --size=10G --runtime=300
        ("fio-nvme-2021", "The file of each job: 10 MiB instead of 10 GiB.", "2 s instead of 300 s", "1.04 GiB"),
        # sysbench --file-total-size=134217728 --time=1, fallocate --length 536870912; the logs: 2Gb, 180 s
        ("sysbench-rhel72", "All files together: 128 MiB instead of 2 GiB.", "1 s instead of 180 s", "512 MiB"),
    ],
)
def test_what_was_recorded_is_described_by_its_own_plan(
    published: Path, root: Path, *, study: str, sizes: str, times: str, image: str
) -> None:
    said = departures(fsb.read(published / study), read_plan(root / recorded(study, root) / "plan.toml"))
    assert [sentence for sentence in said if "article" not in sentence][:3] == [
        sizes,
        f"Each run: {times}.",
        f"Each filesystem is on an image of {image}, made afresh for each run.",
    ]


def test_the_place_of_a_replication_is_named(root: Path) -> None:
    runs = fsb.read(root / recorded("fio-nvme-2021", root))
    assert (
        tables.replication_place(runs, here=False)
        == "Not run on this machine: recorded on the host vm on 2026-11-22."
    )
    assert tables.replication_place(runs, here=True) == "Run on this machine on 2026-11-22."
    nothing = runs.filter(pl.lit(value=False))
    assert tables.replication_place(nothing, here=False) == "Not run on this machine: recorded."


# ---- beside each other


@pytest.mark.parametrize(
    ("published_ratio", "ours", "finding"),
    [
        (2.42, (2.0, 1.8, 2.5), "inside"),
        (2.505, (2.0, 1.8, 2.5), "inside"),  # as its rounding allows
        (2.42, (2.0, 0.7, 5.5), "inside, as 1"),
        # one more pair of five rounds varies sqrt(6) times as much as their mean: 2 * 1.1 ** 2.449 is 2.526
        (2.53, (2.0, 1.8, 2.2), "inside"),
        (2.54, (2.0, 1.8, 2.2), "same direction"),
        (0.15, (0.01, 0.009, 0.011), "same direction"),
        (2.42, (0.8, 0.7, 0.9), "other direction"),
        (2.42, (1.1, 0.9, 1.3), "open"),
        (2.42, (1.1, None, None), "no interval"),
    ],
)
def test_what_may_be_said_of_two_ratios(
    sysbench: Dataset,
    comparison: Callable[..., pl.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
    *,
    published_ratio: float,
    ours: tuple[float, float | None, float | None],
    finding: str,
) -> None:
    theirs = {
        "ratio": published_ratio,
        "rounding_low": published_ratio - 0.01,
        "rounding_high": published_ratio + 0.01,
    }
    here = dict(zip(("ratio", "ci_low", "ci_high"), ours, strict=True))
    compared = iter(
        [comparison({**theirs, "ci_low": None, "ci_high": None}), comparison({**here, "file_size": 1})]
    )
    monkeypatch.setattr("fsbench_kit.launch.replicate.comparison.compare", lambda *_, **__: next(compared))
    found = side_by_side(sysbench, sysbench)
    assert found.select("published_ratio", "ratio", "finding").rows() == [(published_ratio, ours[0], finding)]


def test_one_filesystem_at_hand_gives_no_ratio(sysbench: Dataset) -> None:
    found = side_by_side(sysbench, sysbench.filter(pl.col("filesystem") == "xfs"))
    assert found.is_empty()
    assert tables.replication_summary(found).startswith(
        "No ratio is known from both the study and its replication."
    )
    assert tables.replication_table(found).caption == "No ratio is known from both the study and its replication."


@pytest.mark.parametrize("study", ["sysbench-rhel72", "fio-nvme-2021"])
def test_the_recorded_replication_has_the_cells_of_the_study(published: Path, root: Path, study: str) -> None:
    theirs, ours = fsb.read(published / study), fsb.read(root / recorded(study, root))
    found = side_by_side(theirs, ours, metrics=["bandwidth"])
    patterns = theirs.settings.filter(pl.col("key") == "pattern")["value"].unique()
    assert set(found["pattern"]) == set(patterns)
    assert found["ci_low"].null_count() == 0
    assert set(ours.runs["status"]) == {"ok"}
    assert set(ours.runs["origin"]) == {"recorded"}
    assert "This neither confirms nor refutes them" in tables.replication_summary(found)


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
    assert published_values["total_size"] == str(2 * GIB)
    assert published_values["host"] == "host01 | host02"
    assert "block_size" not in published_values
    assert "threads" not in published_values
    shown = tables.differences_table(told)
    assert ("total size", "all", "2 GiB", "128 MiB") in shown.groups[0].rows


def test_zfs_fuse_is_named_as_what_it_is(root: Path) -> None:
    (caveat,) = caveats(fsb.read(root / recorded("fio-nvme-2021", root)))
    assert caveat.startswith("The replication's zfs is zfs-fuse")
    assert caveats(fsb.read(root / recorded("sysbench-rhel72", root))) == []


# ---- for real


@pytest.mark.root
@pytest.mark.slow
@needs_root
@pytest.mark.parametrize(
    ("study", "scales", "programs"),
    [
        ("sysbench-rhel72", (1 / 128, 1 / 180), ("sysbench", "mkfs.xfs")),
        ("fio-nvme-2021", (1 / 10240, 1 / 300), ("fio", "mkfs.xfs", "zfs-fuse")),
    ],
)
def test_a_study_is_run_again(
    published: Path, tmp_path: Path, study: str, scales: tuple[float, float], programs: tuple[str, ...]
) -> None:
    for program in programs:
        if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            pytest.skip(f"{program} is not installed")
    theirs = fsb.read(published / study)
    again = replication(theirs, file_scale=scales[0], time_scale=scales[1], repeats=2)
    assert reason_not_to_run("images", again.plan, tmp_path) is None
    result = launch(again.plan, root=tmp_path)
    assert (result.failures, result.stopped) == ({}, None)
    found = side_by_side(theirs, fsb.read(result.folder), metrics=["bandwidth"])
    assert found.height == len(again.plan.workload)
    assert set(found["n_candidate"]) == {2}
    assert found["ci_low"].null_count() == 0
