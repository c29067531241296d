"""How much memory a replicated run gets: the same proportion to its files as in the study.

Modern machines can hold in memory what once kept a server's disk busy for hours. Without a limit, the page cache
would serve what the study read from its disks, and a run of a minute would never reach them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fsbench_kit.analysis.facts import capacity
from fsbench_kit.analysis.settings import effective

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.launch.workloads import Workload

SHARE: Final = 1 / 4
"""Memory as a share of a run's files, if the memory of the study's machine is not known."""
_MIB: Final = 2**20
LEAST: Final = 128 * _MIB
"""The least memory in which programs can run. Some run as 64 jobs, which might be killed below this."""


def memory_of(dataset: Dataset) -> int | None:
    """Return the smallest memory of a dataset's machines."""
    stated = effective(dataset.settings).filter(key="memory")["value"].unique()
    return min((size for text in stated if (size := capacity(text)) is not None), default=None)


def memory_share(workload: Workload, memory: int | None) -> float | None:
    """Return the largest share of a workload's files that may fit into memory.

    Parameters
    ----------
    workload
        The workload as run in the study.
    memory
        The memory of the study's machine, if known.

    Returns
    -------
    float | None
        ``None`` for direct I/O, and if all files fitted into memory in the study too.
    """
    if not workload.space or workload.is_direct:
        return None
    share = SHARE if memory is None else memory / workload.space
    return share if share < 1 else None


def memory_limit(workload: Workload, share: float) -> int | None:
    """Return the memory limit of a run in whole MiB, or ``None`` if programs need more than that."""
    limit = int((workload.space or 0) * share) // _MIB * _MIB
    return limit if limit >= LEAST else None
