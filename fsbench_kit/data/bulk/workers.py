"""Runs work on chunks: in an executor, or in this process and others that it starts."""

from __future__ import annotations

import os
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fsbench_kit.data.processes import processes
from fsbench_kit.data.sharing import ended_processes_reported, shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

T = TypeVar("T")

_AT_ONCE: Final = 64
"""The number of chunks handed to a given executor at once."""


@contextmanager
def workers_of(executor: Executor | None, jobs: int | None) -> Iterator[Workers]:
    """Yield workers: those of an executor, or some processes, of which this one is one."""
    others = (jobs or len(os.sched_getaffinity(0))) - 1
    if executor is not None:
        yield Workers(executor, others=0)
    elif others:
        with processes(others, {"POLARS_MAX_THREADS": "1"}) as own:
            yield Workers(own, others=others)
    else:
        yield Workers(None, others=0)


class Workers:
    """Calls functions for each of many arguments.

    Parameters
    ----------
    executor
        Where they are called; if it is ``None``, in this process.
    others
        The number of its processes, if they are this process's own, which then takes calls as well.
    """

    def __init__(self, executor: Executor | None, *, others: int) -> None:
        self._executor = executor
        self._others = others
        self._starting: list[Future[None]] = []

    def prepare(self, others: int) -> None:
        """Start up to so many processes, if there may be as many. When all are busy, the pool starts others."""
        with suppress(BrokenExecutor):  # which the first call reports
            while self._executor is not None and len(self._starting) < min(self._others, others):
                self._starting.append(self._executor.submit(_start))

    @property
    def idle(self) -> Executor | None:
        """The executor of this process's own processes if none of them is worthwhile so far."""
        return self._executor if self._others and not self._starting else None

    def __call__(
        self, work: Callable[..., T], of: Iterable[tuple[Any, ...]], *, here: Callable[..., T] | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield the number and result of each call as it finishes; this process may call another function."""
        here = here or work
        if self._executor is None:
            for number, arguments in enumerate(of):
                yield number, here(*arguments)
            return
        with ended_processes_reported("Do the same again to continue where it stopped."):
            yield from shared(self._executor, self._at_once, work, of, here=here if self._others else None)

    def _at_once(self) -> int:
        """Return how many calls the executor can have at once: of its own processes, those that start have one."""
        return sum(1 + start.done() for start in self._starting) if self._others else _AT_ONCE

    def end(self) -> None:
        """End this process's own processes, which need memory."""
        if self._executor is not None and self._others:
            self._executor.shutdown()


def _start() -> None:
    """Do nothing. The process that is told to call this imports everything that reads logs."""
