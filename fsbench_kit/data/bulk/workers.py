"""Where chunks are read: in an executor, or in this process and others of our own."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from fsbench_kit.data.processes import processes
from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")

_AT_ONCE: Final = 64
"""So many chunks are handed out at once."""


class Each(Protocol):
    """Does something with each of many arguments, and yields the number of each with what came of it."""

    def __call__(self, work: Callable[..., T], of: Iterable[tuple[Any, ...]], /) -> Iterator[tuple[int, T]]:
        """Do it."""


@contextmanager
def reader(executor: Executor | None, chunks: int) -> Iterator[Each]:
    """Give what reads chunks: an executor, or a process for each processor, of which this is one."""
    others = min(chunks, len(os.sched_getaffinity(0))) - 1
    if executor is not None:
        yield partial(_elsewhere, executor, _AT_ONCE)
    elif others:
        with processes(others, {"POLARS_MAX_THREADS": "1"}) as own:
            yield partial(_elsewhere, own, 2 * others, is_here_too=True)
    else:
        yield _here


def _here(work: Callable[..., T], of: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, T]]:
    for number, arguments in enumerate(of):
        yield number, work(*arguments)


def _elsewhere(
    executor: Executor,
    at_once: int,
    work: Callable[..., T],
    of: Iterable[tuple[Any, ...]],
    *,
    is_here_too: bool = False,
) -> Iterator[tuple[int, T]]:
    """Have an executor do it, and this process too if so; what waits there is bounded, because it is in memory."""
    waiting = iter(enumerate(of))
    running: dict[Future[T], int] = {}
    try:
        while True:
            # First its own: of two chunks one is done here, and not both elsewhere, one after the other.
            own = next(waiting, None) if is_here_too else None
            for number, arguments in islice(waiting, at_once - len(running)):
                running[executor.submit(work, *arguments)] = number
            if own is not None:
                yield own[0], work(*own[1])
            elif not running:
                return
            timeout = None if own is None else 0
            for future in wait(running, timeout, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    except BrokenExecutor as error:
        raise InputError(
            "a process that was to read ended",
            hint="Is there enough memory? Do the same again: it continues where it stopped.",
        ) from error
