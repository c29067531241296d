"""A plan is tried before its launch, time left follows from what runs took, and a failure is told whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.launch import dry_run, launch, tools, try_plan
from fsbench_kit.launch.disks import Disk, disks
from fsbench_kit.launch.events import RunStarted
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Event, Plan

SMALL = {"tool": "smallfiles", "files": 5000, "size": "4k"}


@pytest.mark.slow
def test_wrong_options_are_found_and_nothing_is_kept(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    broken = {
        "tool": "command",
        "name": "broken",
        "command": ["sh", "-c", "(echo first; echo second) >&2; exit 3"],
    }
    trial = try_plan(make_plan(workload=[SMALL, broken], repeats=9), tmp_path)
    (failure,) = trial.failures
    assert failure.startswith("broken on here: ")
    assert "first; second" in failure
    assert (trial.tried, trial.estimates[0].partition(" ")[0]) == (2, "Time:")
    assert list((tmp_path / "raw_results" / "runs").iterdir()) == []


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
def test_bytes_are_estimated_from_what_was_seen(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    fio = {
        "tool": "fio",
        "rw": "write",
        "bs": "64k",
        "size": "8M",
        "runtime": 20,
        "time_based": True,
        "direct": True,
    }
    trial = try_plan(
        make_plan(
            target=[{"kind": "loop", "filesystem": "ext4", "size": "64M"}],
            workload=[{**fio, "options": {"rate": "1M"}}, {"tool": "command", "command": ["true"]}],
            repeats=3,
        ),
        tmp_path,
    )
    assert trial.failures == ()
    (said,) = (one for one in trial.estimates if one.startswith("Bytes: about "))
    assert 50 < float(said.split()[2]) < 90  # 3 runs of 20 s at 1 MiB/s
    assert "Bytes of true: known only afterwards." in trial.estimates


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
def test_mount_options_that_the_kernel_refuses_are_found(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    image = {"kind": "loop", "filesystem": "ext4", "size": "64M", "mount_options": ["noatime", "nosuchoption"]}
    trial = try_plan(make_plan(target=[image], workload=[{**SMALL, "files": 20}]), tmp_path)
    (failure,) = trial.failures
    assert failure.startswith("smallfiles on ext4-nosuchoption: cannot prepare the target: mount ")


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
def test_targets_are_made_once_on_small_images_and_aged_a_little(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    look = ["sh", "-c", f"echo $(findmnt -no UUID -T .) $(df --output=size . | tail -1) >> {seen}"]
    image = {"kind": "loop", "filesystem": "ext4", "size": "100G", "aged": {"fill": 0.8, "churn": 2}}
    small = {**SMALL, "before": [look]}
    trial = try_plan(make_plan(target=[image], workload=[small, {**small, "name": "b"}], budget={}), tmp_path)
    assert (trial.tried, trial.failures) == (2, ())
    assert trial.success == "All 2 combinations of a target and a workload work."
    assert replace(trial, tried=1).success == "The combination of a target and a workload works."
    (made,) = {tuple(line.split()) for line in seen.read_text(encoding="utf-8").splitlines()}
    assert int(made[1]) < 2**20  # KiB
    (time,) = (said for said in trial.estimates if said.startswith("Time: "))
    # Four runs, each on a filesystem to which 240 GiB are written; half a GiB was written here.
    least, unit = time.removeprefix("Time: at least ").split(",")[0].split()
    assert float(least) * {"min": 60, "h": 3600}[unit] > 600


def test_image_that_is_too_small_for_its_filesystem_is_told_before(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    if tools.isolation_problem() is not None or tools.find_program("mkfs.btrfs") is None:
        pytest.skip("needs root, and btrfs")
    image = {"kind": "loop", "filesystem": "btrfs", "size": ["60M", "200M"]}
    with pytest.raises(LaunchError) as refused:
        dry_run(make_plan(target=[image]), tmp_path)
    assert refused.value.what.startswith(
        'Target "btrfs-size60M" is not available: mkfs.btrfs refuses an image of 60 MiB: ERROR: '
    )
    assert "size200M" not in refused.value.what


@pytest.mark.slow
def test_time_left_follows_from_runs_of_the_same_kind(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    events: list[Event] = []
    slow = {"tool": "command", "name": "slow", "command": ["sleep", "2"]}
    launch(
        make_plan(workload=[slow, {**slow, "name": "fast", "command": ["true"]}]),
        root=tmp_path,
        progress=events.append,
    )
    started = [event for event in events if isinstance(event, RunStarted)]
    again = [event for event in started if event.round == 2 and event.workload == "slow"]
    assert [event.remaining is not None and event.remaining >= 2 for event in again] == [True]
    assert started[0].remaining is None


def test_dry_run_of_what_is_left(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    preview = dry_run(make_plan(repeats=3), tmp_path, made=["001-here-small", "002-here-small"])
    assert [step.title.partition(":")[0] for step in preview.steps] == ["run 3/3, round 3"]
    assert "Finished earlier and kept: 2 of 3 runs." in preview.notes


def test_caches_that_cannot_be_dropped_are_told(
    make_plan: Callable[..., Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Caches are kept, because dropping them needs root: reads may be served from memory."
    assert said not in dry_run(make_plan(drop_caches=True), tmp_path).notes or not tools.is_administrator()
    monkeypatch.setattr("fsbench_kit.launch.environment._DROP_CACHES", tmp_path / "none")
    assert said in dry_run(make_plan(drop_caches=True), tmp_path).notes
    assert said not in dry_run(make_plan(drop_caches=False), tmp_path).notes


def test_devices_say_what_they_hold_and_what_to_write(tmp_path: Path) -> None:
    used = Disk("/dev/x", tmp_path, 2**30, ("ext4",), "/dev/x is mounted on /")
    assert str(used).endswith("1 GiB  holds ext4\n  not usable: /dev/x is mounted on /")
    free = str(Disk("/dev/x", tmp_path, 2**30, (), None)).splitlines()
    assert free[1:] == [
        '  in the plan: kind = "device", device = "/dev/x"',
        "  this would destroy its data: fsbench launch PLAN --device /dev/x",
    ]
    assert all(disk.holds is None or isinstance(disk.holds, tuple) for disk in disks())
