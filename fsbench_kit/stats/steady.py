"""Steady state by SNIA's Performance Test Specification: a gate, not an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from fsbench_kit.stats.result import Bools, Floats, Ints
from fsbench_kit.stats.values import figures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


WINDOW: Final = 5
"""The number of most recent rounds that are examined."""

MOST_RANGE: Final = 0.20
"""The largest range of a steady window, as a share of its mean."""

MOST_SLOPE: Final = 0.10
"""The largest rise or fall of a fitted line over a steady window, as a share of its mean."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SteadyState:
    """Whether the last window is steady, and when the first steady one was complete.

    Attributes
    ----------
    steady
        Whether the last window is steady.
    range, slope
        The last window's range, and the rise of its fitted line, as shares of its mean.
    since
        The number of figures when a window was first steady; 0 if none has been.

    Examples
    --------
    >>> found = steady_state([100.0, 101.0, 99.0, 150.0, 100.0])
    >>> bool(found.steady), round(float(found.range), 2)
    (False, 0.46)
    """

    steady: Bools
    range: Floats
    slope: Floats
    since: Ints


def steady_state(rounds: ArrayLike) -> SteadyState:
    """Return whether the last five rounds are steady: range within 20 % of their mean, fitted slope within 10 %.

    Parameters
    ----------
    rounds
        One figure per round, or means of equal stretches of a run, in order of time; shape ``(..., n)``, with n of
        at least `WINDOW`.

    Raises
    ------
    ValueError
        If there are too few rounds, or one is absent, not positive or not finite.

    Notes
    -----
    SNIA (2020), Solid State Storage Performance Test Specification 2.0.2, definition of steady state.

    Examples
    --------
    >>> print(steady_state([300, 180, 100, 95, 92, 90, 88]).steady)
    False
    """
    sample = figures(rounds, "rounds", at_least=WINDOW)
    if not sample.present.all() or (sample.values <= 0).any():
        raise ValueError("steady state needs a figure above 0 in every round")
    windows = sliding_window_view(sample.values, WINDOW, axis=-1)
    mean = windows.mean(axis=-1)
    spread = np.ptp(windows, axis=-1) / mean
    x = np.arange(WINDOW) - (WINDOW - 1) / 2
    slope = (windows @ x) / (x @ x) * (WINDOW - 1) / mean
    blur = 1e-12  # a range of exactly 20 % is steady
    steady = (spread <= MOST_RANGE + blur) & (np.abs(slope) <= MOST_SLOPE + blur)
    return SteadyState(
        steady=steady[..., -1],
        range=spread[..., -1],
        slope=slope[..., -1],
        since=np.where(steady.any(axis=-1), steady.argmax(axis=-1) + WINDOW, 0)[()],
    )
