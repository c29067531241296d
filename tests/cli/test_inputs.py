"""Logs that several processes read for a command."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.waiting import wait_for

FSBENCH = Path(sys.executable).with_name("fsbench")


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.1, 0.4])
def test_ctrl_c_ends_all_processes_plainly(tmp_path: Path, delay: float) -> None:
    """Whether a process is just started, imports what it needs, or reads."""
    (logs := tmp_path / "logs").mkdir()
    for number in range(20_000):
        elapsed = f"{number // 60}m{number % 60}.500s"
        (logs / f"{number}.txt").write_text(f"real\t{elapsed}\nuser\t0m0.250s\nsys\t0m0.100s\n")
    command = [FSBENCH, "read", "logs", "--jobs", "3"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **streams) as process:  # type: ignore[call-overload]
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        started = wait_for(lambda: len(found := children.read_text().split()) > 1 and found)  # one keeps resources
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (
        130,
        "Interrupted. Nothing was written; run the same command to start again.\n",
    )
    wait_for(lambda: not any(Path(f"/proc/{child}/exe").exists() for child in started))
