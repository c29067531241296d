"""Ratios of medians: of typical runs, where runs are bimodal, and a mean lies between their modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.stats import special
from fsbench_kit.stats.result import Caveat
from fsbench_kit.stats.student import ratio_by_t
from fsbench_kit.stats.values import by_size, runs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fsbench_kit.stats.result import Floats, RatioEstimate
    from fsbench_kit.stats.values import Sample

MIN_FOR_MEDIAN: Final = 6
"""Runs per group below which the interval was measured to cover as little as 80 to 90 %."""


def median_ratio(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the ratio of medians of two independent groups.

    Parameters
    ----------
    a, b
        As in `welch_log`, with at least `MIN_FOR_MEDIAN` runs in each group.
    confidence
        Of the interval.

    Returns
    -------
    RatioEstimate
        Of B/A.

    Raises
    ------
    ValueError
        If a group has too few runs, or a value is not positive and finite.

    Notes
    -----
    Price, R. M. and Bonett, D. G. (2002), J. Stat. Comput. Simul. 72, 119-124, for the standard error: the
    distance of the logarithms of two order statistics, in units of what a normal distribution has between them;
    Bonett and Price (2020), J. Educ. Behav. Stat. 45, 750-770, for the ratio. The interval is of the normal
    distribution.
    """
    side_a, side_b = (runs(side, name, at_least=MIN_FOR_MEDIAN) for side, name in ((a, "a"), (b, "b")))
    (median_a, error_a), (median_b, error_b) = _log_median(side_a), _log_median(side_b)
    still = side_a.log().without_spread | side_b.log().without_spread
    too_few = np.minimum(side_a.n, side_b.n) < MIN_FOR_MEDIAN
    return ratio_by_t(
        log_ratio=median_b - median_a,
        standard_error=np.hypot(error_a, error_b),
        df=np.inf,
        confidence=confidence,
        estimand="ratio of medians",
        method="Price-Bonett",
        n_a=side_a.n,
        n_b=side_b.n,
        too_few=too_few,
        caveats={Caveat.NO_SPREAD: still & ~too_few},
    )


def _log_median(side: Sample) -> tuple[Floats, Floats]:
    """Return the logarithm of each cell's median and its standard error; nan where runs are too few."""
    cells = side.values.shape[:-1]
    median, error = (np.full(int(np.prod(cells)), np.nan) for _ in range(2))
    for chosen, (dense,) in by_size(side):
        n = dense.shape[-1]
        if n == 0:
            continue
        ordered = np.sort(dense, axis=-1)
        median[chosen] = np.log(np.median(ordered, axis=-1))
        if n >= MIN_FOR_MEDIAN:
            rank = max(1, round(n / 2 - np.sqrt(n)))
            between = 2 * special.ndtri(1 - special.bdtr(rank - 1, n, 0.5))
            error[chosen] = np.log(ordered[:, n - rank] / ordered[:, rank - 1]) / between
    return median.reshape(cells), error.reshape(cells)
