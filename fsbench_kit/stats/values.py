"""What may enter: positive finite values, enough of them, and a confidence between 0 and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fsbench_kit.stats.result import Bools, Floats

DECIMALS: Final = 12
"""Logarithms that agree to so many decimals are equal: no tool prints as finely, and floating point blurs less."""


def runs(values: ArrayLike, side: str, *, at_least: int) -> Floats:
    """Return runs as an array, after a check that they are enough and have logarithms.

    Parameters
    ----------
    values
        Shape ``(..., n)``, in any unit.
    side
        What to call them in a message.
    at_least
        The smallest n that will do.

    Raises
    ------
    ValueError
        If they are too few, or as `positive`.
    """
    array = positive(values, side)
    n = array.shape[-1] if array.ndim else 0
    if n < at_least:
        found = f"has {n} runs" if array.ndim else "is a single number"
        raise ValueError(f"{side} {found}; this method needs at least {at_least} runs along the last axis")
    return array


def positive(values: ArrayLike, name: str) -> Floats:
    """Return values of any shape as an array, after a check that they have logarithms.

    Raises
    ------
    ValueError
        If a value is zero, negative, infinite or nan. Whoever calls decides first why such a value is there;
        a small constant added to a zero would invent a ratio.
    """
    array = np.asarray(values, dtype=np.float64)
    unusable = ~(np.isfinite(array) & (array > 0))
    if unusable.any():
        first = tuple(int(i) for i in np.argwhere(unusable)[0])
        raise ValueError(
            f"{name} holds {unusable.sum()} values without a logarithm, the first is {array[first]} at {first}; "
            "decide first why it is there"
        )
    return array


def without_spread(logs: Floats) -> Bools:
    """Tell for which cells all values are equal, give or take what floating point adds."""
    still: Bools = np.ptp(logs, axis=-1) < 10.0**-DECIMALS
    return still


def checked_confidence(confidence: float) -> float:
    """Return a confidence, after a check that it lies between 0 and 1.

    Raises
    ------
    ValueError
        If it does not: 95 for 95 % is the usual slip.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1; write 0.95 for 95 %")
    return confidence
