"""Scales: how much smaller a replication is than the published study."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from fsbench_kit.launch.workloads import WORKLOADS, Workload
from fsbench_kit.model.errors import RequestError

PlanTable = dict[str, Any]
"""A table of a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits for one run of a replication.

    Attributes
    ----------
    space
        The most bytes that its files may hold.
    written
        The most bytes that it is sure to write, for runs without a time limit.
    seconds
        The run time, for runs with a time limit.
    files
        The largest number of files, for workloads that shrink by this number.
    memory
        The run's memory. Files that must be larger than memory are sized in proportion to it.
    repeats
        How many times to repeat it on each filesystem.

    Examples
    --------
    >>> Limits(seconds=10, repeats=5).space
    inf
    """

    space: float = math.inf
    written: float = math.inf
    seconds: float = math.inf
    files: float = math.inf
    memory: float = math.inf
    repeats: int = 6


SCALES: Final = {
    "minutes": Limits(space=2**27, written=2**29, seconds=1, repeats=3),
    "laptop": Limits(space=2**31, written=5 * 2**30, seconds=5, files=10_000, memory=2**29),
    "article": Limits(),
}
"""Name -> limits for one run."""


def limits_of(scale: str | Limits) -> Limits:
    """Return the limits of a named scale.

    Raises
    ------
    RequestError
        If the scale does not exist.
    """
    if isinstance(scale, Limits):
        return scale
    if scale not in SCALES:
        raise RequestError(f"there is no scale {scale!r}", hint=f"Scales: {', '.join(SCALES)}.")
    return SCALES[scale]


def shrunk(table: PlanTable, limits: Limits) -> PlanTable:
    """Return a workload within the limits: all its amounts are reduced by one factor, in whole units.

    If files shrink and the study's runs had a time limit, the new ones keep running until theirs, if the tool
    supports that; otherwise they would end at once.

    Raises
    ------
    RequestError
        If runs of its tool cannot be reduced.
    """
    scale = WORKLOADS[table["tool"]].scale
    if scale is None:
        raise RequestError(f"runs of {table['tool']} cannot be planned from their logs")
    smaller = dict(table)
    if scale.time in table:
        smaller[scale.time] = max(1, round(min(table[scale.time], limits.seconds)))
    share = min(1.0, _room(smaller, limits))
    if share == 1:
        return smaller
    for _ in range(_TRIES):  # rounding to whole units may still exceed a limit
        for key, amount in scale.amounts.items():
            if key in table:
                unit = math.prod(table.get(part, 1) if isinstance(part, str) else part for part in amount.whole)
                unit = math.lcm(unit, _WHOLE) if amount.in_bytes else unit
                smaller[key] = max(unit, math.floor(table[key] * share / unit) * unit)
        if (room := _room(smaller, limits)) >= 1:
            break
        share *= room
    if scale.loops is not None and scale.time in table:
        smaller[scale.loops] = True
    return smaller


_TRIES: Final = 3
_WHOLE: Final = 4096
"""The unit of sizes in bytes: a block, and iozone's smallest record."""


def _room(table: PlanTable, limits: Limits) -> float:
    """Return the factor by which a workload may grow until it reaches a limit."""
    workload = WORKLOADS[table["tool"]].model_validate(table)
    return min(
        limits.space / (workload.space or 1),
        limits.written / (workload.least_written or 1),
        limits.files / workload.most_files if _counts(workload) else math.inf,
    )


def _counts(workload: Workload) -> bool:
    """Return whether a workload shrinks by its number of files."""
    return workload.scale is not None and not all(amount.in_bytes for amount in workload.scale.amounts.values())
