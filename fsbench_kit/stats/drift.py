"""Drift: whether the runs of a group became faster or slower in the course of a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats.result import Caveat, Estimate, caveats_that_apply
from fsbench_kit.stats.student import half_width_by_t, over_cells
from fsbench_kit.stats.values import runs

if TYPE_CHECKING:
    from fsbench_kit.stats.values import Runs


def drift(values: Runs, confidence: float = 0.99) -> Estimate:
    """Estimate the ratio of the last run to the first, from a straight line through the logarithms.

    An interval that excludes 1 shows a drift. It does no harm if runs of both groups alternated in random order;
    if all of A ran before all of B, it is part of their ratio.

    Parameters
    ----------
    values
        Runs in the order of execution, shape ``(..., n)``, with n of at least 4. A masked run keeps its place in
        the order.
    confidence
        Confidence level of the interval; 99 % by default, because many cells are tested for a rare condition.

    Raises
    ------
    ValueError
        If there are fewer than four runs, or a value has no logarithm.

    Notes
    -----
    Least squares with Student's t of n - 2 degrees; Draper, N. R. and Smith, H. (1998), *Applied Regression
    Analysis*, chapter 1.

    Examples
    --------
    >>> found = drift([100.0, 95.0, 91.0, 86.0, 82.0, 78.0])
    >>> print(f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]")
    0.78 [0.77, 0.79]
    """
    logs = runs(values, "values", at_least=MIN_RUNS).log()
    n, present = logs.n, logs.present
    places = np.arange(logs.values.shape[-1], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if logs.is_complete:
            x = places - places.mean()
        else:
            x = places - (places * present).sum(axis=-1, keepdims=True) / n[..., None]
        y = logs.values - logs.mean()[..., None]
        sxx = logs.total(np.square(x))
        slope = logs.total(x * y) / sxx
        y -= slope[..., None] * x
        residual = logs.total(np.square(y, out=y)) / (n - 2.0)
    span = np.ptp(places) if logs.is_complete else np.ptp(np.where(present, places, places.mean()), axis=-1)
    still, too_few = logs.without_spread, n < MIN_RUNS
    error = np.where(still | too_few, np.nan, span * np.sqrt(np.maximum(residual, 0) / sxx))
    half_width = half_width_by_t(error, n - 2.0, confidence)
    return Estimate(
        estimate=np.exp(slope * span)[()],
        low=np.exp(slope * span - half_width)[()],
        high=np.exp(slope * span + half_width)[()],
        confidence=np.where(np.isnan(half_width), np.nan, confidence)[()],
        estimand="ratio of the last run to the first",
        method="least squares on logs",
        n=over_cells(n, np.shape(slope)),
        caveats=caveats_that_apply(np.shape(slope), {Caveat.TOO_FEW: too_few, Caveat.NO_SPREAD: still & ~too_few}),
    )


MIN_RUNS = 4
"""With fewer runs, a line fits too well to show anything."""
