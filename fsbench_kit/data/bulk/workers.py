"""Where chunks are read: in an executor, in processes of our own, or in this one."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from fsbench_kit.data.processes import processes
from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor, Future

T = TypeVar("T")

_AT_ONCE: Final = 64
"""So many chunks are handed out at once."""


class Each(Protocol):
    """Does something with each of many arguments, and yields the number of each with what came of it."""

    def __call__(self, work: Callable[..., T], of: Iterable[tuple[Any, ...]], /) -> Iterator[tuple[int, T]]:
        """Do it."""


@contextmanager
def reader(executor: Executor | None, chunks: int) -> Iterator[Each]:
    """Give what reads chunks: in an executor, in processes of our own, or, if there is but one, right here."""
    workers = min(chunks, len(os.sched_getaffinity(0)))
    with ExitStack() as stack:
        if executor is None and chunks > 1:
            executor = stack.enter_context(processes(workers, {"POLARS_MAX_THREADS": "1"}))
        yield _here if executor is None else partial(_elsewhere, executor)


def _here(work: Callable[..., T], of: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, T]]:
    for number, arguments in enumerate(of):
        yield number, work(*arguments)


def _elsewhere(
    executor: Executor, work: Callable[..., T], of: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[int, T]]:
    """Have an executor do it; what waits there is bounded, because it is held in memory."""
    waiting = iter(enumerate(of))
    running: dict[Future[T], int] = {}
    try:
        while True:
            for number, arguments in islice(waiting, _AT_ONCE - len(running)):
                running[executor.submit(work, *arguments)] = number
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    except BrokenExecutor as error:
        raise InputError(
            "a process that read was killed",
            hint="Is there enough memory? Give the same command again: it continues where it stopped.",
        ) from error
