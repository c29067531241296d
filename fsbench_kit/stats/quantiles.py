"""Quantiles of one group, with intervals from order statistics, which assume no shape of the distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats import special
from fsbench_kit.stats.result import Caveat, Estimate, caveats_that_apply
from fsbench_kit.stats.values import by_size, checked_confidence, figures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def quantile_interval(values: ArrayLike, q: float, confidence: float = 0.95) -> Estimate:
    """Estimate a quantile, with the two sample values that bound it.

    Parameters
    ----------
    values
        Shape ``(..., n)``, of any sign.
    q
        Between 0 and 1: 0.5 for the median.
    confidence
        The minimum confidence level. The binomial distribution only allows certain levels; the estimate states the
        one that was achieved.

    Returns
    -------
    Estimate
        Linear between the two values nearest to the quantile (type 7). If there are too few values for an end, it
        is infinite, with a caveat.

    Raises
    ------
    ValueError
        If there are no values, one is not finite, or q or confidence is not between 0 and 1.

    Notes
    -----
    David, H. A. and Nagaraja, H. N. (2003), *Order Statistics*, section 7.1, with equal tails. The interval is
    closed, so that ties can only raise its coverage. Values must be independent: for the I/Os of one run, whose
    slow ones come in bursts, a nominal 95 % was measured to cover 52 % at p90 and 36 % at p99. Take one quantile
    per run and compare runs.

    Examples
    --------
    >>> found = quantile_interval(np.arange(1.0, 100.0), 0.9)
    >>> print(f"{found.estimate:.0f} [{found.low:.0f}, {found.high:.0f}]")
    89 [83, 96]
    """
    sample = figures(values, "values", at_least=1)
    cells = sample.values.shape[:-1]
    estimate, low, high, achieved = (np.full(int(np.prod(cells)), np.nan) for _ in range(4))
    for chosen, (dense,) in by_size(sample):
        n = dense.shape[-1]
        if n == 0:
            continue
        first, last = quantile_ranks(n, q, confidence)
        ends = np.pad(np.sort(dense, axis=-1), ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
        estimate[chosen] = np.quantile(dense, q, axis=-1)
        low[chosen], high[chosen] = ends[:, first], ends[:, last]
        achieved[chosen] = rank_confidence(n, q, first, last)
    low, high = low.reshape(cells)[()], high.reshape(cells)[()]
    return Estimate(
        estimate=estimate.reshape(cells)[()],
        low=low,
        high=high,
        confidence=achieved.reshape(cells)[()],
        estimand="median" if q == 0.5 else f"quantile {q:g}",
        method="order statistics",
        n=sample.n,
        caveats=caveats_that_apply(
            cells, {Caveat.TOO_FEW: sample.n == 0, Caveat.OPEN_END: np.isinf(low) | np.isinf(high)}
        ),
    )


def quantile_ranks(n: int, q: float, confidence: float = 0.95) -> tuple[int, int]:
    """Return the ranks, counted from 1 in ascending order, of the values that bound a quantile with equal tails.

    Ranks 0 and n + 1 stand for an open end.

    Raises
    ------
    ValueError
        If q or confidence is not between 0 and 1.

    Examples
    --------
    >>> quantile_ranks(10, 0.5)
    (2, 9)
    """
    from scipy.stats import binom  # noqa: PLC0415  # takes a second to import and is rarely needed

    tail = (1 - checked_confidence(confidence)) / 2
    blur = 1e-12  # a tail that is met exactly counts as met
    distribution = binom(n, _checked_quantile(q))
    return int(distribution.ppf(tail + blur)), int(distribution.ppf(1 - tail - blur)) + 1


def rank_confidence(n: int, q: float, first: int, last: int) -> float:
    """Return the probability that the values of two ranks bound a quantile.

    Raises
    ------
    ValueError
        If the ranks are not ``0 <= first < last <= n + 1``, or q is not between 0 and 1.

    Examples
    --------
    >>> rank_confidence(10, 0.5, 2, 9)
    0.978515625
    """
    if not 0 <= first < last <= n + 1:
        raise ValueError(f"ranks {first} and {last} of {n} values are not in order")
    below = special.bdtr(first - 1, n, _checked_quantile(q)) if first > 0 else 0.0
    return float(special.bdtr(min(last - 1, n), n, q) - below)


def _checked_quantile(q: float) -> float:
    if not 0 < q < 1:
        raise ValueError(f"a quantile of {q} is not between 0 and 1; write 0.99 for 99 %")
    return q
