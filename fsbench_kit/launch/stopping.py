"""How many rounds a launch makes, and what so many can show."""

from __future__ import annotations

from typing import Final

ENOUGH: Final = 6
"""The fewest repeats that need no caution: a signed-rank test of five pairs cannot get below p = 2 / 2**5."""

_HALF_WIDTHS: Final = {2: 8.985, 3: 2.484, 4: 1.591, 5: 1.242, 10: 0.715}
"""Repeats -> how far a 95 % interval of paired t reaches to either side, t / sqrt(n), in standard deviations."""


def caution(repeats: int) -> str | None:
    """Say what so few repeats can show, and what not; ``None`` where they are enough.

    >>> caution(1)
    '1 repeat shows no difference: single runs get a ratio and no interval. Plan 6 repeats or more.'
    """
    if repeats >= ENOUGH:
        return None
    if repeats == 1:
        return f"1 repeat shows no difference: single runs get a ratio and no interval. Plan {ENOUGH} repeats or more."
    few, many = (f"{5 * _HALF_WIDTHS[n]:.2g} %" for n in (repeats, 10))
    return (
        f"{repeats} repeats show large differences only: where ratios vary by 5 % from round to round, "
        f"a 95 % interval reaches {few} to either side, and {many} with 10 repeats. "
        f"No rank test gets below p = 0.05 with fewer than {ENOUGH}."
    )
