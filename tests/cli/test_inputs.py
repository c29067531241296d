"""Logs that several processes read for a command."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_for

FSBENCH = Path(sys.executable).with_name("fsbench")


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_plainly(tmp_path: Path) -> None:
    """Also a process that is still importing what it needs."""
    (logs := tmp_path / "logs").mkdir()
    for number in range(4000):
        (logs / f"{number}.txt").write_text(f"real\t{number // 60}m{number % 60}.5s\nuser\t0m0.2s\nsys\t0m0.1s\n")
    command = [FSBENCH, "read", "logs", "--jobs", "3"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **streams) as process:  # type: ignore[call-overload]
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        started = wait_for(lambda: len(found := children.read_text().split()) > 1 and found)  # one keeps resources
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said) == (
        130,
        "Interrupted. Nothing was written; run the same command to start again.\n",
    )
    wait_for(lambda: not any(Path(f"/proc/{child}/exe").exists() for child in started))
