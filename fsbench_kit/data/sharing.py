"""Shares work between this process and an executor."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


def shared(
    executor: Executor,
    at_once: Callable[[], int],
    work: Callable[..., T],
    of: Iterable[tuple[Any, ...]],
    *,
    here: Callable[..., T] | None,
) -> Iterator[tuple[int, T]]:
    """Call a function for each of many arguments, and yield the number and result of each call as it finishes.

    Parameters
    ----------
    executor
        Where the function is called.
    at_once
        A function that returns how many calls it can have at once; the queue is bounded because it is in memory.
    work, of
        The function, and its arguments.
    here
        What this process calls instead, without waiting for processes to start; ``None`` if it takes no calls.
        When no others are left, it takes back those that have not begun.
    """
    waiting = iter(enumerate(of))
    running: dict[Future[T], tuple[int, tuple[Any, ...]]] = {}
    while True:
        # This process takes its own call first, so that the last two are not both queued elsewhere.
        own = next(waiting, None) if here is not None else None
        for number, arguments in islice(waiting, max(at_once() - len(running), 0)):
            running[executor.submit(work, *arguments)] = number, arguments
        if own is None and here is not None:
            cancelled = next((future for future in reversed(running) if future.cancel()), None)
            own = None if cancelled is None else running.pop(cancelled)
        if own is not None and here is not None:
            yield own[0], here(*own[1])
        elif not running:
            return
        timeout = None if own is None else 0
        for future in wait(running, timeout, return_when=FIRST_COMPLETED).done:
            yield running.pop(future)[0], future.result()


@contextmanager
def ended_processes_reported(hint: str) -> Iterator[None]:
    """Report a reading process that has ended, with a hint what to do.

    Raises
    ------
    InputError
        If one has, such as one that was killed for want of memory.
    """
    try:
        yield
    except BrokenExecutor as error:
        raise InputError(
            "a process ended unexpectedly while it was reading", hint=f"Is there enough memory? {hint}"
        ) from error
