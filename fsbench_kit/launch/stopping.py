"""How many rounds a launch makes: what a fixed number can show, and rules that let a launch decide by itself.

A rule looks at the width of the ratios' intervals, never at p: stopping once p is small enough finds a difference
in a quarter of all launches where there is none.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

ENOUGH: Final = 6
"""The fewest repeats without a caution: a signed-rank test of five pairs cannot get below p = 2 / 2**5."""

PILOT: Final = 5
"""The number of rounds after which a rule looks for the first time."""

_HALF_WIDTHS: Final = {2: 8.985, 3: 2.484, 4: 1.591, 5: 1.242, 10: 0.715}
"""Repeats -> the half-width t / sqrt(n) of a 95 % paired-t interval, in standard deviations."""

_TOLERANCE: Final = 1e-9
"""The largest floating-point error in a number of rounds."""

_RULE: Final = r"^(half-width|stein) (0\.0*[1-9]\d*|[1-9]\d*(?:\.\d+)?) ?%$"

Until = Annotated[
    str,
    Field(pattern=_RULE, description='"half-width N %" or "stein N %"', examples=["half-width 5 %"]),
]
"""A stopping rule, as written in a plan."""


def caution(repeats: int) -> str | None:
    """Return what this few repeats can and cannot show, or ``None`` if they are enough.

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
        The reach of the widest 95 % interval to either side, on log scale; ``None`` if there is no interval yet.
    widest
        The figure that the widest interval belongs to.
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
    """A rule that decides how many rounds to make, up to the plan's repeats.

    Attributes
    ----------
    text
        The rule as written in the plan.
    two_stages
        Whether it looks only once, after the pilot, and then fixes the number (Stein 1945). Otherwise it looks
        after each round, and ends the launch when all intervals are narrow enough.
    width
        How far an interval may reach to either side, on log scale.
    """

    text: str
    two_stages: bool
    width: float

    @classmethod
    def read(cls, text: str) -> Rule:
        """Parse the rule in a plan.

        >>> Rule.read("stein 5 %").two_stages
        True
        """
        kind, percent = re.fullmatch(_RULE, text).groups()  # type: ignore[union-attr]  # the plan was checked
        return cls(text, two_stages=kind == "stein", width=math.log1p(float(percent) / 100))

    def decide(self, precision: Precision, rounds: int, most: int) -> tuple[int, str | None]:
        """Return the number of rounds to make, and a sentence if that number is now settled.

        Parameters
        ----------
        precision
            The precision after `rounds` rounds.
        most
            The plan's repeats.
        """
        seen = f"After {rounds} rounds {precision}"
        if precision.half_width is not None and self.two_stages:
            # The interval of n rounds reaches t * s / sqrt(n), with t and s from the pilot.
            times = (precision.half_width / self.width) ** 2
            wanted = max(rounds, math.ceil(rounds * times - _TOLERANCE))
            beyond = f", more than the plan's {most}" if wanted > most else ""
            return min(wanted, most), f'{seen}. The rule "{self.text}" takes {wanted} rounds{beyond}.'
        if precision.half_width is not None and precision.half_width <= self.width:
            return rounds, f'{seen}. That is enough for the rule "{self.text}".'
        if rounds == most or self.two_stages:
            return most, f'{seen}. The rule "{self.text}" could not end the launch before {most} rounds.'
        return most, None
