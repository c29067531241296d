"""How much memory a run of a replication has: the same share of its files as in the study.

A machine of today holds in its memory what kept a server's disk busy for hours. So the page cache would serve what
the study read from its disks, and a run of a minute would never reach them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fsbench_kit.analysis.facts import capacity
from fsbench_kit.analysis.settings import effective

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.launch.workloads import Workload

SHARE: Final = 1 / 4
"""Of the files of a run, where nothing tells the memory of the study's machine."""
_MIB: Final = 2**20
LEAST: Final = 128 * _MIB
"""Programs themselves need some memory, and more where they run as 64 jobs: below this they might be killed."""


def memory_of(dataset: Dataset) -> int | None:
    """Return the least memory of a dataset's machines."""
    told = effective(dataset.settings).filter(key="memory")["value"].unique()
    return min((size for text in told if (size := capacity(text)) is not None), default=None)


def memory_share(workload: Workload, memory: int | None) -> float | None:
    """Return the share of its files that memory is to hold at most.

    Parameters
    ----------
    workload
        As it ran in the study.
    memory
        What is known of the study's machine.

    Returns
    -------
    float | None
        ``None`` for direct I/O, and where all files fitted into the memory of the study too.
    """
    if not workload.space or workload.is_direct:
        return None
    share = SHARE if memory is None else memory / workload.space
    return share if share < 1 else None


def memory_limit(workload: Workload, share: float) -> int | None:
    """Return the memory for a run, in whole MiB; ``None`` where that is too little for programs to live in."""
    limit = int((workload.space or 0) * share) // _MIB * _MIB
    return limit if limit >= LEAST else None
