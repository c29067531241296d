"""Runs work on chunks: in an executor, or in this process and others that it starts."""

from __future__ import annotations

import os
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from fsbench_kit.data.processes import processes
from fsbench_kit.data.sharing import shared
from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")

_AT_ONCE: Final = 64
"""The number of chunks handed to a given executor at once."""


class Each(Protocol):
    """A function that calls another for each of many arguments, and yields the number and result of each."""

    def __call__(self, work: Callable[..., T], of: Iterable[tuple[Any, ...]], /) -> Iterator[tuple[int, T]]:
        """Yield the number and result of each call as it finishes."""


@contextmanager
def reader(executor: Executor | None, jobs: int | None, chunks: int) -> Iterator[Each]:
    """Yield a function that works on chunks: in an executor, or in some processes, of which this one is one."""
    others = min(chunks, jobs or len(os.sched_getaffinity(0))) - 1
    if executor is not None:
        yield partial(_elsewhere, executor, _AT_ONCE, is_here_too=False)
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
    is_here_too: bool,
) -> Iterator[tuple[int, T]]:
    try:
        yield from shared(executor, at_once, work, of, is_here_too=is_here_too)
    except BrokenExecutor as error:
        raise InputError(
            "a process ended unexpectedly while it was reading",
            hint="Is there enough memory? Do the same again to continue where it stopped.",
        ) from error
