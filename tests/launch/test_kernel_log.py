"""What the kernel says against a run's devices fails it, and options that a mount does not show are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.launch import launch, tools
from fsbench_kit.launch.environment import Device
from fsbench_kit.launch.kernel_log import KernelLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Plan

KMSG = Path("/dev/kmsg")
needs_root = pytest.mark.skipif(not tools.is_administrator(), reason="needs root")


@pytest.mark.root
@needs_root
def test_errors_of_a_partition_are_also_those_of_its_disk_and_what_that_is_attached_to(tmp_path: Path) -> None:
    partition = tmp_path / "ata7fsb" / "block" / "fsbtest0" / "fsbtest0p1"
    partition.mkdir(parents=True)
    (partition / "partition").write_text("1\n", encoding="ascii")
    log = KernelLog()
    own = [
        "I/O error, dev fsbtest0, sector 8",
        "fsbench test (fsbtest0p1): I/O error",
        "ata7fsb.00: failed command: READ DMA",
    ]
    other = "fsbtest00: I/O error"
    for line in (*(f"<3>{text}" for text in own), f"<2>{other}", "<3>loop7: I/O error", "<6>fsbtest0: hello"):
        KMSG.write_text(line, encoding="ascii")
    found = log.errors([Device("fsbtest0p1", partition, None)])
    assert found is not None
    assert (found.own, other in found.others, "loop7: I/O error" in found.others) == (own, True, False)
    later = KernelLog().errors([])
    assert later is not None
    assert later.own == []


@pytest.mark.root
@needs_root
def test_limit_of_a_control_group_is_no_error_of_the_machine() -> None:
    log = KernelLog()
    killed = "Killed process 4242 (fsbtest) total-vm:208824kB, anon-rss:25984kB"
    for line in (f"<3>Memory cgroup out of memory: {killed}", f"<3>Out of memory: {killed}"):
        KMSG.write_text(f"{line}\n", encoding="ascii")
    found = log.errors([])
    assert found is not None
    assert [line for line in found.others if "fsbtest" in line] == [f"Out of memory: {killed}"]


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
def test_real_error_of_the_device_fails_a_run_whose_program_saw_none(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    """The image loses its end in the middle of the run, and what is written afterwards reaches no disk.

    The file is written again after the loss: until then, any other process's ``sync`` can save what is in memory.
    """
    script = (
        "write() { dd if=/dev/urandom of=file bs=1M count=30 conv=notrunc; sync file; }\n"
        "write; device=$(findmnt -no SOURCE -T .)\n"
        "truncate --size 1M $(losetup --noheadings --output BACK-FILE $device); losetup --set-capacity $device\n"
        "write; exit 0"
    )
    image = {"kind": "loop", "filesystem": "ext4", "size": "64M"}
    work = {"tool": "command", "command": ["sh", "-c", script]}
    result = launch(make_plan(target=[image], workload=[work], repeats=1), root=tmp_path)
    (run,) = result.runs
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    own = record["environment"]["after"]["kernel_errors"]["own"]
    assert own
    assert all("loop" in line for line in own)
    assert "the kernel reports errors: " in result.failures[run]
    assert (run / "samples.csv").is_file()


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
def test_run_during_which_a_device_had_errors_is_failed(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    image = {"kind": "loop", "filesystem": "ext4", "size": "64M"}
    # The error names the image's own loop device, so that no other launch on this machine takes it for its own.
    script = 'echo "<3>fsbench test ($(basename $(findmnt -no SOURCE -T .))): made by a test" > /dev/kmsg'
    command = {"tool": "command", "command": ["sh", "-c", script]}
    result = launch(make_plan(target=[image], workload=[command], repeats=1), root=tmp_path)
    (failure,) = result.failures.values()
    assert failure.startswith("the kernel reports errors: fsbench test (loop")
    record = json.loads((result.runs[0] / "run.json").read_text(encoding="utf-8"))
    machine = record["environment"]["before"]["machine"]
    assert machine["kernel_command_line"] == Path("/proc/cmdline").read_text(encoding="utf-8").strip()
    assert set(record["environment"]["before"]["devices"]) == set(machine["devices"])


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
@pytest.mark.skipif(tools.find_program("mkfs.btrfs") is None, reason="needs btrfs")
def test_option_that_is_lost_silently_is_told(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    options = "compress=zstd:3,nodatacow"
    image = {"kind": "loop", "filesystem": "btrfs", "size": "256M", "mount_options": options}
    small = {"tool": "smallfiles", "files": 20, "size": "4k"}
    result = launch(make_plan(target=[image], workload=[small], repeats=1), root=tmp_path)
    assert any(
        "The mount does not show compress=zstd:3, which the plan asks for" in said for said in result.warnings
    )
