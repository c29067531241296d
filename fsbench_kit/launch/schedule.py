"""The order of a plan's runs, and of a campaign's launches."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.targets import Target
    from fsbench_kit.launch.workloads import Workload


Stage = Literal["precondition", "warm-up", "measured"]
"""What a run is for. Only measured runs are compared."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to make: a workload, a target and a purpose.

    Attributes
    ----------
    round
        The round of a measured run; ``None`` for others.
    seed
        Determines the run's data. Within a round, all targets get the same work.
    """

    stage: Stage
    round: int | None
    seed: int
    target: Target
    workload: Workload

    def is_within(self, rounds: int) -> bool:
        """Return whether the run belongs to the first `rounds` rounds."""
        return self.round is None or self.round <= rounds


def schedule(plan: Plan) -> tuple[PlannedRun, ...]:
    """Return all runs in the order in which to make them.

    Each round has every workload with repeats left on every target once, in a random order of its own. A drift of
    the machine thus affects all targets alike, and runs of one round can be compared as pairs. The order depends
    only on the seed. The rounds are preceded by the preconditioning of each target, in the order written, and by
    the warm-up rounds.
    """
    chance = random.Random(plan.seed)  # noqa: S311

    def one_round(stage: Stage, number: int) -> list[PlannedRun]:
        count = number if stage == "measured" else None
        runs = [
            PlannedRun(stage, count, plan.seed + number, target, workload)
            for target in plan.target
            for workload in plan.workloads(target)
            if stage != "measured" or number <= plan.repeats_of(workload)
        ]
        # Of all methods of Random, only random() is guaranteed to be reproducible in every Python version.
        return sorted(runs, key=lambda _: chance.random())

    measured = [one_round("measured", number) for number in range(1, plan.rounds + 1)]
    # Drawn last, so that warm-up rounds do not change the order of the measured ones.
    warm_up = [one_round("warm-up", plan.rounds + number) for number in range(1, plan.warm_up + 1)]
    precondition = [
        [PlannedRun("precondition", None, plan.seed, target, workload) for workload in plan.precondition]
        for target in plan.target
    ]
    return tuple(chain(*precondition, *warm_up, *measured))


def blocks(plan: Plan) -> Iterator[Plan]:
    """Yield the plans of a campaign's launches in order, without end.

    Each combination of the campaign's levels comes once before any is repeated, in a random order that depends
    only on the seed, and then again in reverse order, so that a steady drift over the blocks affects all levels
    alike. Blocks of one such pass make their runs in the same order.
    """
    chance = random.Random(plan.seed)  # noqa: S311
    levels = [dict(zip(plan.campaign, values, strict=True)) for values in product(*plan.campaign.values())]
    while True:
        turn = sorted(levels, key=lambda _: chance.random())
        for order in (turn, turn[::-1]):
            seed = int(chance.random() * 2**32)
            for own in order:
                campaign = {key: (level,) for key, level in own.items()}
                yield plan.model_copy(update={"seed": seed, "campaign": campaign})
