"""Worker processes that end with this process."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any, Final


@contextmanager
def processes(
    workers: int, environment: Mapping[str, str] | None = None, begin: Callable[[], None] | None = None
) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of worker processes. They end with this one, or at once if the block fails or is interrupted.

    The environment is set before they import anything that reads it; then they call a function, if one is given.
    """
    # Polars restarts interrupted waits (SA_RESTART), so Ctrl-C would only be noticed once the work is done.
    signal.siginterrupt(signal.SIGINT, True)
    context = _Context()
    with ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin, initargs=(environment or {}, begin)
    ) as pool:
        try:
            yield pool
        except BaseException:
            # The current work can take minutes, which is too long to wait for after an interruption.
            for process in context.started:
                if process.is_alive():
                    process.terminate()
            raise


class _Process(SpawnProcess):
    """A process that ignores interrupts from its beginning.

    It does not import the running script, which would run again there without a guard.
    """

    def start(self) -> None:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            with _interrupts_held():
                super().start()
        finally:
            sys.modules["__main__"] = script


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back interrupts until the end of this context; processes started in it never get them.

    A block of a signal is inherited. It is not enough for this process, where other threads can take the signal:
    an exception in the middle would leave a process that nobody knows of.
    """
    held: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()  # the one that signal handlers run in
    handler = signal.signal(signal.SIGINT, lambda number, _: held.append(number)) if is_main else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
    if held:
        signal.raise_signal(signal.SIGINT)


class _Context(SpawnContext):
    """Spawns processes, because forked ones inherit locks and sockets that others hold."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[_Process] = []

    def Process(self, *given: Any, **named: Any) -> _Process:  # type: ignore[override]  # noqa: N802  # of the base
        """Return a process, and keep it."""
        self.started.append(process := _Process(*given, **named))
        return process


def _begin(environment: Mapping[str, str], begin: Callable[[], None] | None) -> None:
    """Set the environment, and let the kernel end this process when the parent ends."""
    os.environ.update(environment)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if begin is not None:
        begin()


_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
