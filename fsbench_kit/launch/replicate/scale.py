"""How much smaller than the published study a replication is."""

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
    """What one run of a replication may use.

    Attributes
    ----------
    space
        The bytes that its files hold at most.
    written
        The bytes that it is sure to write at most, for those that no time ends.
    seconds
        How long it runs, for those that a time ends.
    files
        How many files it has at most, where their number is what makes it smaller.
    memory
        The memory that it has, where its files are to be larger than that: they shrink with it.
    repeats
        How often it is made on each filesystem.

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
"""Name -> what one run may use."""


def limits_of(scale: str | Limits) -> Limits:
    """Return the limits of a scale's name.

    Raises
    ------
    RequestError
        If there is no such scale.
    """
    if isinstance(scale, Limits):
        return scale
    if scale not in SCALES:
        raise RequestError(f"there is no scale {scale!r}", hint=f"Scales: {', '.join(SCALES)}.")
    return SCALES[scale]


def shrunk(table: PlanTable, limits: Limits) -> PlanTable:
    """Return a workload that keeps within limits: its amounts made smaller by one factor, in whole units.

    Where files get smaller and the study's runs had a time to end at, the new ones go on for their time, where the
    tool can do that: else they would be over at once.

    Raises
    ------
    RequestError
        If its tool's runs cannot be made smaller.
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
    for _ in range(_TRIES):  # what is rounded to whole units may be a little too much still
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
"""Bytes of which sizes are whole numbers: a block, and iozone's smallest record."""


def _room(table: PlanTable, limits: Limits) -> float:
    """Return how many times as much as a workload takes the limits allow."""
    workload = WORKLOADS[table["tool"]].model_validate(table)
    return min(
        limits.space / (workload.space or 1),
        limits.written / (workload.least_written or 1),
        limits.files / workload.most_files if _counts(workload) else math.inf,
    )


def _counts(workload: Workload) -> bool:
    """Whether a number of its files is what makes a workload smaller."""
    return workload.scale is not None and not all(amount.in_bytes for amount in workload.scale.amounts.values())
