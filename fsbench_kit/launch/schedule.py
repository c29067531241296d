"""The order in which a plan's runs are made, and that of the launches of a campaign."""

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
"""What a run is for. Only those that are measured are compared."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to make: which workload on which target, and what for.

    Attributes
    ----------
    round
        The round of a run that is measured; ``None`` for others.
    seed
        Decides its data. All targets get the same work within a round.
    """

    stage: Stage
    round: int | None
    seed: int
    target: Target
    workload: Workload

    def is_within(self, rounds: int) -> bool:
        """Whether it is made where there are so many rounds."""
        return self.round is None or self.round <= rounds


def schedule(plan: Plan) -> tuple[PlannedRun, ...]:
    """Return all runs in the order in which they are to be made.

    Each round has every workload on every target once, as long as it has repeats left, in a random order of its
    own: then a drift of the machine hits all targets alike, and runs of one round can be compared as pairs. The
    order depends on the seed alone.
    Before the rounds come the preconditioning of each target, in the order in which it is written, and the rounds
    that warm up.
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
        # Of all methods of Random, only random() is promised to give the same in every version of Python.
        return sorted(runs, key=lambda _: chance.random())

    measured = [one_round("measured", number) for number in range(1, plan.rounds + 1)]
    # Drawn last, so that warming up does not change the order of what is measured.
    warm_up = [one_round("warm-up", plan.rounds + number) for number in range(1, plan.warm_up + 1)]
    precondition = [
        [PlannedRun("precondition", None, plan.seed, target, workload) for workload in plan.precondition]
        for target in plan.target
    ]
    return tuple(chain(*precondition, *warm_up, *measured))


def blocks(plan: Plan) -> Iterator[Plan]:
    """Yield the plans of a campaign's launches in the order in which they are to be made, without an end.

    Each combination of the campaign's levels comes once before any comes again, in a random order that depends on
    the seed alone, and then in the reverse order: a steady drift over the blocks hits all levels alike. Blocks of
    one such turn make their runs in the same order.
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
