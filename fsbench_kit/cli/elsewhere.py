"""Executors on other hosts, for commands whose work need not be done on this one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fsbench_kit.model.errors import RequestError, needs_extra

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor
    from pathlib import Path


@contextmanager
def elsewhere(hosts: Path | None, scheduler: str | None) -> Iterator[Executor | None]:
    """Yield an executor on the hosts in a file or on a scheduler's workers, or ``None`` if neither is given."""
    if hosts is not None and scheduler is not None:
        raise RequestError("--ssh and --scheduler cannot be combined", hint="Leave out --ssh or --scheduler.")
    if hosts is not None:
        from fsbench_kit.data.ssh import AnyOf, connected, read_hosts

        with connected(read_hosts(hosts)) as executors, AnyOf(executors) as executor:
            yield executor
    elif scheduler is not None:
        with needs_extra("cluster", "--scheduler"):
            from fsbench_kit.data.dask import client_of

        with client_of(scheduler) as client:
            yield client.get_executor(pure=False)
    else:
        yield None
