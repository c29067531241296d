"""Finds and kills the processes of a launch, wherever they are.

Neither parents nor sessions identify them: fio's jobs start sessions of their own, and orphans change their
parent. A launch therefore sets a mark in its environment, which all its processes inherit.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

MARK: Final = "FSBENCH_LAUNCH"
"""The environment variable that holds a launch's mark."""

_PASSES: Final = 20
_PAUSE: Final = 0.05  # seconds


def end_marked(mark: str) -> None:
    """Kill all processes that carry a mark, except this one."""
    for _ in range(_PASSES):  # one may have started another in the meantime
        if not [number for number in psutil.pids() if number != os.getpid() and _end_if_marked(number, mark)]:
            return
        time.sleep(_PAUSE)


def _end_if_marked(number: int, mark: str) -> bool:
    """Kill a process that carries a mark; return whether it did carry it, or soon may."""
    with suppress(OSError):  # it has ended, or belongs to another user
        process = os.pidfd_open(number)  # from here on, the number cannot come to mean another process
        try:
            environment = _environment(number)
            if f"{MARK}={mark}".encode() in environment.split(b"\0"):
                signal.pidfd_send_signal(process, signal.SIGKILL)
                return True
            return not environment and _is_young(number)
        finally:
            os.close(process)
    return False


def _environment(number: int) -> bytes:
    return Path(f"/proc/{number}/environ").read_bytes()


def _is_young(number: int) -> bool:
    """Return whether a process has just started; while its program is loading, its environment is empty."""
    with suppress(psutil.Error):
        process = psutil.Process(number)
        return process.status() != psutil.STATUS_ZOMBIE and time.time() - process.create_time() < _LOADING
    return False


_LOADING: Final = 1.0  # seconds, which is also how long _PASSES take
