"""Executors that run calls on the hosts of a Dask scheduler's workers."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from distributed import CancelledError, Client
from distributed.scheduler import KilledWorker

from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_LOOK: Final = 2.0
"""The number of seconds without an answer after which to check that the worker still exists."""


@contextmanager
def client_of(scheduler: str) -> Iterator[Any]:
    """Yield a client of a scheduler.

    Raises
    ------
    InputError
        If the scheduler does not answer.
    """
    try:
        client: Any = Client(scheduler, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InputError(f"the scheduler does not answer: {error}", file=scheduler) from None
    with client:
        yield client


class HostOfWorkers(Executor):
    """Runs calls on one host, one after the other, in any of its workers.

    If there is no worker, or the one that runs a call ends, the call raises `BrokenExecutor`. In the latter case
    it is unknown whether the call was completed.
    """

    def __init__(self, client: Any, host: str) -> None:
        self.host = host
        self._client = client
        self._calls = ThreadPoolExecutor(1)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call a function of this package in a worker on the host."""
        return self._calls.submit(self._call, fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the pending calls; the workers keep running."""
        self._calls.shutdown(wait, cancel_futures=cancel_futures)

    def _call(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        there = hosts_of(self._client).get(self.host)
        if not there:
            raise BrokenExecutor("there are no workers")
        future = self._client.submit(fn, *args, **kwargs, workers=there[:1], pure=False, retries=0)
        while True:
            try:
                result: T = future.result(timeout=_LOOK)
            except (KilledWorker, CancelledError, OSError) as error:
                if isinstance(error, TimeoutError) and there[0] in hosts_of(self._client).get(self.host, ()):
                    continue
                future.cancel()
                raise BrokenExecutor("the worker is gone") from error
            else:
                return result


def hosts_of(client: Any) -> dict[str, list[str]]:
    """Return the addresses of a scheduler's workers, by host."""
    found: dict[str, list[str]] = {}
    for address, worker in client.scheduler_info(n_workers=-1)["workers"].items():
        found.setdefault(worker["host"], []).append(address)
    return found
