"""Shares work between this process and an executor."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


def shared(
    executor: Executor,
    at_once: Callable[[], int],
    work: Callable[..., T],
    of: Iterable[tuple[Any, ...]],
    *,
    is_here_too: bool = True,
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
    is_here_too
        Whether this process takes calls as well: it need not wait for processes to start.
    """
    waiting = iter(enumerate(of))
    running: dict[Future[T], int] = {}
    while True:
        # This process takes its own call first, so that the last two are not both queued elsewhere.
        own = next(waiting, None) if is_here_too else None
        for number, arguments in islice(waiting, max(at_once() - len(running), 0)):
            running[executor.submit(work, *arguments)] = number
        if own is not None:
            yield own[0], work(*own[1])
        elif not running:
            return
        timeout = None if own is None else 0
        for future in wait(running, timeout, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), future.result()
