"""The processes of a launch are found by their mark and ended, wherever they have gone."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

from fsbench_kit.launch import processes
from fsbench_kit.launch.processes import MARK, end_marked

if TYPE_CHECKING:
    import pytest


def test_a_process_whose_program_is_being_loaded_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it executes another program, the kernel shows no environment; it cannot be held there by a test."""
    with subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: "loading"}) as left:
        shown = processes._environment
        empty = iter([True])
        monkeypatch.setattr(
            processes,
            "_environment",
            lambda number: b"" if number == left.pid and next(empty, False) else shown(number),
        )
        end_marked("loading")
        assert left.wait(timeout=5) == -9


def test_a_young_process_without_environment_is_left_alone_and_not_waited_for_long() -> None:
    with subprocess.Popen(["sleep", "600"], env={}) as other:
        start = time.monotonic()
        end_marked("nobody")
        assert other.poll() is None
        assert time.monotonic() - start < 5
        other.kill()
