"""What the kernel says against a run's devices fails it, and options that a mount does not show are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.launch import launch, tools
from fsbench_kit.launch.kernel_log import KernelLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Plan

KMSG = Path("/dev/kmsg")
needs_root = pytest.mark.skipif(not tools.is_administrator(), reason="needs root")


@pytest.mark.root
@needs_root
def test_only_errors_of_the_devices_at_hand_count() -> None:
    log = KernelLog()
    for line in ("<3>fsbench test (fsbtest0): I/O error", "<6>fsbtest0: hello", "<3>fsbtest00: I/O error"):
        KMSG.write_text(line, encoding="ascii")
    assert log.errors(["fsbtest0", "fsbtest1"]) == ["fsbench test (fsbtest0): I/O error"]
    assert KernelLog().errors(["fsbtest0"]) == []


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
