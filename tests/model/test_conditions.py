"""Conditions that can spoil a run's figures are found by what was recorded around it."""

from __future__ import annotations

from typing import Any

import pytest

from fsbench_kit.data.launched import RunCondition
from fsbench_kit.model.conditions import CONDITIONS, Surroundings, conditions

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
    return list(conditions(Surroundings(before=before, after=after, **facts)))


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
    assert not loaded or "21 % busy" in said[0][1]


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
            ["The run read 116 MiB, but only 89 MiB reached the device"],
        ),
        (counters(0, 116 * MIB), counters(0, 0), ["The run wrote 116 MiB, but only 0 B reached the device"]),
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


@pytest.mark.parametrize(("data", "said"), [(16 * GIB - 1, ["CACHED_RUN"]), (16 * GIB, [])])
def test_data_of_twice_the_memory_do_not_fit_into_caches(data: int, said: list[str]) -> None:
    after = moment(asked=counters(GIB, 0))
    assert [code for code, _ in found(moment(), after, memory=8 * GIB, data=data)] == said


def test_every_condition_is_known_to_those_who_read_its_record() -> None:
    for code, condition in CONDITIONS.items():
        diagnostic = RunCondition(code=code, message="Seen.").diagnostic
        assert (diagnostic.code, diagnostic.severity) == (code, condition.severity)
