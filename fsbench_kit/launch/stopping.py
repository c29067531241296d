"""How many rounds a launch makes: what a fixed number can show, and rules by which a launch decides itself.

A rule looks at how wide the intervals of the ratios are, never at p: to stop when p is small enough finds a
difference in a quarter of all launches in which there is none.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

ENOUGH: Final = 6
"""The fewest repeats that need no caution: a signed-rank test of five pairs cannot get below p = 2 / 2**5."""

PILOT: Final = 5
"""The rounds after which a rule looks for the first time."""

_HALF_WIDTHS: Final = {2: 8.985, 3: 2.484, 4: 1.591, 5: 1.242, 10: 0.715}
"""Repeats -> how far a 95 % interval of paired t reaches to either side, t / sqrt(n), in standard deviations."""

_TOLERANCE: Final = 1e-9
"""What rounding of floating point adds to a number of rounds at most."""

_RULE: Final = r"^(half-width|stein) (0\.0*[1-9]\d*|[1-9]\d*(?:\.\d+)?) ?%$"

Until = Annotated[
    str,
    Field(pattern=_RULE, description='"half-width N %" or "stein N %"', examples=["half-width 5 %"]),
]
"""A rule, as a plan says it."""


def caution(repeats: int) -> str | None:
    """Say what so few repeats can show, and what not; ``None`` where they are enough.

    >>> caution(1)
    '1 repeat cannot show a difference: a single run has no interval. Plan 6 repeats or more.'
    """
    if repeats >= ENOUGH:
        return None
    if repeats == 1:
        return f"1 repeat cannot show a difference: a single run has no interval. Plan {ENOUGH} repeats or more."
    few, many = (f"{5 * _HALF_WIDTHS[n]:.2g} %" for n in (repeats, 10))
    return (
        f"{repeats} repeats show only large differences: where ratios vary by 5 % from round to round, "
        f"a 95 % interval reaches {few} to either side, and {many} with 10 repeats. "
        f"No rank test gets below p = 0.05 with fewer than {ENOUGH}."
    )


@dataclass(frozen=True, slots=True)
class Precision:
    """How precise the comparisons are after some rounds.

    Attributes
    ----------
    half_width
        How far the widest 95 % interval reaches to either side, on log scale; ``None`` where there is none yet.
    widest
        What it is an interval of.
    intervals, without
        How many figures have an interval, and how many have none (a bound, a zero, a single run).
    """

    half_width: float | None
    widest: str | None
    intervals: int
    without: int

    def __str__(self) -> str:
        if self.half_width is None:
            return "no ratio has an interval"
        others = f"; {self.without} ratios have none" if self.without else ""
        reach = f"{100 * math.expm1(self.half_width):.2g} %"
        return f"the widest of {self.intervals} intervals reaches {reach} to either side ({self.widest}){others}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that decides how many rounds are made, within the plan's repeats.

    Attributes
    ----------
    text
        As the plan says it.
    two_stages
        Whether it looks once, after the pilot, and fixes the number then (Stein 1945). Otherwise it looks after
        each round, and ends the launch when all intervals are narrow enough.
    width
        How far an interval may reach to either side, on log scale.
    """

    text: str
    two_stages: bool
    width: float

    @classmethod
    def read(cls, text: str) -> Rule:
        """Read what a plan says.

        >>> Rule.read("stein 5 %").two_stages
        True
        """
        kind, percent = re.fullmatch(_RULE, text).groups()  # type: ignore[union-attr]  # the plan was checked
        return cls(text, two_stages=kind == "stein", width=math.log1p(float(percent) / 100))

    def decide(self, precision: Precision, rounds: int, most: int) -> tuple[int, str | None]:
        """Return how many rounds there are to be, and a sentence where that is settled now.

        Parameters
        ----------
        precision
            After `rounds` rounds, at which the rule looks.
        most
            The plan's repeats.
        """
        seen = f"After {rounds} rounds {precision}"
        if precision.half_width is not None and self.two_stages:
            # An interval of n rounds reaches t * s / sqrt(n); t and s are the pilot's.
            times = (precision.half_width / self.width) ** 2
            wanted = max(rounds, math.ceil(rounds * times - _TOLERANCE))
            beyond = f", more than the plan's {most}" if wanted > most else ""
            return min(wanted, most), f'{seen}. The rule "{self.text}" takes {wanted} rounds{beyond}.'
        if precision.half_width is not None and precision.half_width <= self.width:
            return rounds, f'{seen}. That is enough for the rule "{self.text}".'
        if rounds == most or self.two_stages:
            return most, f'{seen}. The rule "{self.text}" could not end the launch before {most} rounds.'
        return most, None
