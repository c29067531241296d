"""Processes that work for this one, and end with it."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Final


@contextmanager
def processes(workers: int, environment: Mapping[str, str] | None = None) -> Iterator[ProcessPoolExecutor]:
    """Give processes to work in. They end with this one, and at once where this block fails or is interrupted.

    They have an environment before they import anything that reads it.
    """
    # Polars has interrupted waits go on (SA_RESTART), and then Ctrl-C would be noticed when the work is done.
    signal.siginterrupt(signal.SIGINT, True)
    with ProcessPoolExecutor(
        workers, mp_context=_Context(), initializer=_begin, initargs=(environment or {},)
    ) as pool:
        try:
            yield pool
        except BaseException:
            # What is under way can take minutes; who stops it does not want to wait for it.
            for process in multiprocessing.active_children():
                process.terminate()
            raise


class _Process(SpawnProcess):
    """A process that does not import the script that is running, which without a guard would begin again there."""

    def start(self) -> None:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = script


class _Context(SpawnContext):
    """Starts processes anew, because forked ones inherit locks and sockets that others hold."""

    Process = _Process


def _begin(environment: Mapping[str, str]) -> None:
    """Leave interrupts to the parent, and have the kernel end this process when the parent ends."""
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
