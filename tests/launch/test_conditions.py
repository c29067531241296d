"""Conditions that can spoil a run's figures are found by what was recorded around it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import Plan, environment, launch, tools
from fsbench_kit.launch.conditions import conditions
from fsbench_kit.model.vocabulary import DIAGNOSTICS

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 2**20
GIB = 2**30


def counters(read: int, written: int) -> dict[str, int]:
    return {"read_bytes": read, "written_bytes": written}


def moment(**changes: object) -> dict[str, Any]:
    """What is recorded of a machine that does nothing, with one image on one disk."""
    return {
        "quiet": {"seconds": 0.5, "busy": 0.05, "devices": {"loop0": counters(0, 0), "vda": counters(0, 0)}},
        "free_bytes": 10 * GIB,
        "size_bytes": 100 * GIB,
        "devices": {"loop0": counters(0, 0), "vda": counters(0, 0)},
        "disks": counters(0, 0),
        "asked": counters(0, 0),
        "fetched": 0,
        "mount": "64 43 7:0 / /mount rw,relatime - xfs /dev/loop0 rw",
        **changes,
    }


def found(before: dict[str, Any], after: dict[str, Any], **known: int | None) -> list[tuple[str, str]]:
    facts: dict[str, Any] = {"memory": 8 * GIB, "data": GIB, "free_at_first": None, **known}
    return list(conditions(before, after, **facts))


def test_nothing_is_said_of_a_quiet_machine() -> None:
    assert found(moment(), moment(), free_at_first=10 * GIB) == []


@pytest.mark.parametrize(
    ("filesystem", "said"), [("fuse.zfs", True), ("fuse", True), ("fuseblk", False), ("virtiofs", False)]
)
def test_filesystem_that_is_not_told_of_a_sync(filesystem: str, said: bool) -> None:
    mount = f"66 43 0:40 / /target/mount rw,relatime - {filesystem} pool rw,user_id=0"
    codes = [code for code, _ in found(moment(mount=mount), moment())]
    assert codes == ["SYNC_NOT_PASSED_ON"] * said


@pytest.mark.parametrize(("busy", "loaded"), [(0.2, False), (0.21, True)])
def test_loaded_machine(busy: float, loaded: bool) -> None:
    quiet = {"seconds": 0.5, "busy": busy, "devices": {}}
    said = found(moment(quiet=quiet), moment())
    assert [code for code, _ in said] == ["MACHINE_LOADED"] * loaded
    assert not loaded or "21% busy" in said[0][1]


@pytest.mark.parametrize(("moved", "shared"), [(MIB // 2, False), (MIB // 2 + 512, True)])
def test_device_that_others_use_before_the_run(moved: int, shared: bool) -> None:
    quiet = {"seconds": 0.5, "busy": 0.0, "devices": {"vda": counters(moved - 512, 512)}}
    assert [code for code, _ in found(moment(quiet=quiet), moment())] == ["DEVICE_SHARED"] * shared


@pytest.mark.parametrize(("disk", "shared"), [(166 * MIB, False), (167 * MIB, True)])
def test_disk_that_moves_more_than_its_image(disk: int, shared: bool) -> None:
    after = moment(devices={"loop0": counters(40 * MIB, 60 * MIB), "vda": counters(0, disk)})
    assert [code for code, _ in found(moment(), after)] == ["DEVICE_SHARED"] * shared


@pytest.mark.parametrize(
    ("fetched", "shared"),
    [
        (40 * MIB, True),  # all of it from the image
        (99 * MIB, True),
        (100 * MIB, False),  # 60 MiB of them were the programs' code
        (None, True),
    ],
)
def test_code_of_programs_is_not_moved_by_others(fetched: int | None, shared: bool) -> None:
    devices = {"loop0": counters(40 * MIB, 60 * MIB), "vda": counters(0, 226 * MIB)}
    start = moment(fetched=None if fetched is None else 0)
    assert [code for code, _ in found(start, moment(devices=devices, fetched=fetched))] == [
        "DEVICE_SHARED"
    ] * shared


def test_disk_without_an_image_is_not_judged_by_what_it_moves() -> None:
    after = moment(devices={"vda": counters(0, 10**12)}, disks=counters(0, 10**12))
    assert found(moment(devices={"vda": counters(0, 0)}), after) == []


@pytest.mark.parametrize(
    ("asked", "reached", "said"),
    [
        (counters(116 * MIB, 0), counters(90 * MIB, 0), []),
        (
            counters(116 * MIB, 0),
            counters(89 * MIB, 0),
            ["The run read 116 MiB, of which 89 MiB reached the device"],
        ),
        (counters(0, 116 * MIB), counters(0, 0), ["The run wrote 116 MiB, of which 0 B reached the device"]),
        (counters(16 * MIB, 16 * MIB), counters(0, 0), []),  # no more than a program and its log
        (counters(GIB, 0), None, []),
        (None, counters(0, 0), []),
    ],
)
def test_work_that_does_not_reach_the_device(
    asked: dict[str, int] | None, reached: dict[str, int] | None, said: list[str]
) -> None:
    start = {"disks": reached and counters(0, 0), "asked": asked and counters(0, 0)}
    sentences = found(moment(**start), moment(disks=reached, asked=asked))
    assert [code for code, _ in sentences] == ["CACHED_RUN"] * len(said)
    assert [sentence.startswith(begin) for (_, sentence), begin in zip(sentences, said, strict=True)] == [
        True for _ in said
    ]


@pytest.mark.parametrize("known", [{"data": 16 * GIB}, {"data": None}, {"memory": None}])
def test_data_beyond_twice_the_memory_are_not_said_to_be_cached(known: dict[str, int | None]) -> None:
    assert found(moment(), moment(asked=counters(GIB, 0)), **known) == []


@pytest.mark.parametrize(("first", "changed"), [(11 * GIB, False), (11 * GIB + 1, True), (9 * GIB - 1, True)])
def test_free_space_that_changes(first: int, changed: bool) -> None:
    assert [code for code, _ in found(moment(), moment(), free_at_first=first)] == ["SPACE_CHANGED"] * changed


# ---- what is recorded


def test_a_look_sees_processors_that_are_busy(tmp_path: Path) -> None:
    spin = "print('on', flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        # Of its own processor it gets at least a part, also where others want that.
        assert environment.quiet(tmp_path)["busy"] > 0.5 / (os.cpu_count() or 1)
        other.kill()


def test_bytes_that_programs_ask_for_are_counted() -> None:
    before = environment.state(Path("/"))["asked"]
    subprocess.run(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=9"], check=True, capture_output=True)
    after = environment.state(Path("/"))["asked"]
    for key in ("read_bytes", "written_bytes"):
        assert 9 * MIB <= after[key] - before[key] < 10 * MIB


@pytest.mark.root
@pytest.mark.skipif(not tools.is_administrator(), reason="only root can drop caches")
def test_code_that_is_read_for_a_program_is_counted() -> None:
    assert environment.settle(drop_caches=True) == "dropped"
    before = environment.state(Path("/"))
    subprocess.run(["git", "--version"], check=True, capture_output=True)  # 4 MB of code, of which it needs a part
    after = environment.state(Path("/"))
    moved = after["disks"]["read_bytes"] - before["disks"]["read_bytes"]
    assert 100_000 < after["fetched"] - before["fetched"] <= moved


@pytest.mark.parametrize(("data", "said"), [(16 * GIB - 1, ["CACHED_RUN"]), (16 * GIB, [])])
def test_data_of_twice_the_memory_do_not_fit_into_caches(data: int, said: list[str]) -> None:
    after = moment(asked=counters(GIB, 0))
    assert [code for code, _ in found(moment(), after, memory=8 * GIB, data=data)] == said


def test_conditions_of_a_run_are_recorded_told_once_and_read(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    """A program that writes to memory what it says to have written to the disk."""
    fake_fio("dd if=/dev/zero of=/dev/null bs=1M count=200 2>/dev/null; report")
    result = launch(make_plan(workload=[fio], repeats=2), root=tmp_path)
    for run in result.runs:
        record = json.loads((run / "run.json").read_text(encoding="utf-8"))
        if record["environment"]["before"]["disks"] is None:
            pytest.skip("the temporary directory lies on no disk")
        codes = [condition["code"] for condition in record["conditions"]]
        assert codes.count("CACHED_RUN") == 2  # 200 MiB each were read and written
        assert set(codes) <= DIAGNOSTICS.keys()
        assert record["settings"]["device_written"].isdecimal()
    told = [warning for warning in result.warnings if warning.startswith("random on here: The run ")]
    assert len(told) == 2  # of the first run, and not of the second
    assert "CACHED_RUN" in fsb.read(result.folder).diagnostics["code"]
