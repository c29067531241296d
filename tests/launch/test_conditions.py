"""What is recorded around a run, and the conditions that follow, which are told and read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import Plan, environment, launch, tools

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 2**20


def test_a_look_sees_processors_that_are_busy(tmp_path: Path) -> None:
    spin = "print('on', flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        # Of its own processor it gets at least a part, also where others want that.
        assert environment.quiet(tmp_path)["busy"] > 0.5 / (os.cpu_count() or 1)
        other.kill()


def test_bytes_that_programs_ask_for_are_counted() -> None:
    before = environment.machine_state(Path("/"))["asked"]
    subprocess.run(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=9"], check=True, capture_output=True)
    after = environment.machine_state(Path("/"))["asked"]
    for key in ("read_bytes", "written_bytes"):
        assert 9 * MIB <= after[key] - before[key] < 10 * MIB


@pytest.mark.root
@pytest.mark.skipif(not tools.is_administrator(), reason="only root can drop caches")
def test_code_that_is_read_for_a_program_is_counted() -> None:
    assert environment.settle(drop_caches=True) == "dropped"
    before = environment.machine_state(Path("/"))
    subprocess.run(["git", "--version"], check=True, capture_output=True)  # 4 MB of code, of which it needs a part
    after = environment.machine_state(Path("/"))
    moved = after["disks"]["read_bytes"] - before["disks"]["read_bytes"]
    assert 100_000 < after["fetched"] - before["fetched"] <= moved


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
        assert record["settings"]["device_written"].isdecimal()
    told = [warning for warning in result.warnings if warning.startswith("random on here: The run ")]
    assert len(told) == 2  # of the first run, and not of the second
    assert "CACHED_RUN" in fsb.read(result.folder).diagnostics["code"]
