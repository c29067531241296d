"""The order in which a plan's runs are made."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.targets import Target
    from fsbench_kit.launch.workloads import Workload


@dataclass(frozen=True, slots=True)
class Cell:
    """One run to make: which round, and which workload on which target."""

    round: int
    target: Target
    workload: Workload


def schedule(plan: Plan) -> tuple[Cell, ...]:
    """Return all runs in the order in which they are to be made.

    Each round has every workload on every target once, in a random order of its own: then a drift of the machine
    hits all targets alike, and runs of one round can be compared as pairs. The order depends on the seed alone.
    """
    chance = random.Random(plan.seed)  # noqa: S311
    order = []
    for number in range(1, plan.repeats + 1):
        cells = [Cell(number, target, workload) for target in plan.target for workload in plan.workload]
        # Of all methods of Random, only random() is promised to give the same in every version of Python.
        order += sorted(cells, key=lambda _: chance.random())
    return tuple(order)
