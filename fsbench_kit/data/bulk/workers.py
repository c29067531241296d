"""Runs work on chunks: in an executor, or in this process and others that it starts."""

from __future__ import annotations

import os
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fsbench_kit.data.processes import processes
from fsbench_kit.data.sharing import shared
from fsbench_kit.model.errors import InputError

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
        yield Workers(executor, _AT_ONCE, others=0)
    elif others:
        with processes(others, {"POLARS_MAX_THREADS": "1"}) as own:
            yield Workers(own, 2 * others, others=others)
    else:
        yield Workers(None, 0, others=0)


class Workers:
    """Calls functions for each of many arguments.

    Parameters
    ----------
    executor
        Where they are called; if it is ``None``, in this process.
    at_once
        The number of calls handed to the executor at once.
    others
        The number of its processes, if they are this process's own, which then takes calls as well.
    """

    def __init__(self, executor: Executor | None, at_once: int, *, others: int) -> None:
        self._executor = executor
        self._at_once = at_once
        self._others = others
        self._starting: list[Future[None]] = []

    def prepare(self, calls: int) -> None:
        """Start as many processes as there will be calls, because a process takes a second to start."""
        with suppress(BrokenExecutor):  # which the first call reports
            while self._executor is not None and len(self._starting) < min(self._others, calls - 1):
                self._starting.append(self._executor.submit(_start))

    def __call__(self, work: Callable[..., T], of: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, T]]:
        """Yield the number and result of each call as it finishes."""
        if self._executor is None:
            for number, arguments in enumerate(of):
                yield number, work(*arguments)
            return
        try:
            is_here_too = self._others > 0
            yield from shared(
                self._executor, self._at_once, work, of, is_here_too=is_here_too, is_ready=self._is_ready
            )
        except BrokenExecutor as error:
            raise InputError(
                "a process ended unexpectedly while it was reading",
                hint="Is there enough memory? Do the same again to continue where it stopped.",
            ) from error

    def _is_ready(self) -> bool:
        """Whether a process has started; before that, this one can have read a few chunks."""
        return not self._starting or any(start.done() for start in self._starting)

    def end(self) -> None:
        """End this process's own processes, which need memory."""
        if self._executor is not None and self._others:
            self._executor.shutdown()


def _start() -> None:
    """Do nothing. The process that is told to call this imports everything that reads logs."""
