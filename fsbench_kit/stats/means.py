"""Ratios of arithmetic means: of the total work or the total time of many runs, rather than of a typical run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats.result import Caveat
from fsbench_kit.stats.student import ratio_by_t, welch_df
from fsbench_kit.stats.values import Sample, paired, runs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fsbench_kit.stats.result import RatioEstimate


def mean_ratio(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the ratio of arithmetic means of two independent groups.

    Parameters
    ----------
    a, b
        As in `welch_log`, whose rules for cells, for equal values and for absent ones hold here too.
    confidence
        Of the interval.

    Returns
    -------
    RatioEstimate
        Of B/A.

    Raises
    ------
    ValueError
        If there are fewer than two runs in a group, or a value is not positive and finite.

    Notes
    -----
    Bonett, D. G. and Price, R. M. (2020), J. Educ. Behav. Stat. 45, 750-770: the difference of the logarithms of
    the means, with variances by the delta method and Satterthwaite's degrees of freedom. It holds and fails
    where `welch_log` does (``docs/coverage.md``); for noise of a few percent the two agree.
    """
    side_a, side_b = runs(a, "a", at_least=2), runs(b, "b", at_least=2)
    n_a, n_b = side_a.n, side_b.n
    mean_a, mean_b = side_a.mean(), side_b.mean()
    still_a, still_b = side_a.log().without_spread, side_b.log().without_spread
    share_a = np.where(still_a, 0.0, side_a.variance() / (n_a * mean_a**2))
    share_b = np.where(still_b, 0.0, side_b.variance() / (n_b * mean_b**2))
    fewest = np.minimum(n_a, n_b)
    return ratio_by_t(
        log_ratio=np.log(mean_b / mean_a),
        standard_error=np.sqrt(share_a + share_b),
        df=welch_df(share_a, share_b, n_a, n_b),
        confidence=confidence,
        estimand="ratio of arithmetic means",
        method="Bonett-Price",
        n_a=n_a,
        n_b=n_b,
        too_few=fewest < 2,
        caveats={Caveat.TWO_RUNS: fewest == 2, Caveat.NO_SPREAD: (still_a | still_b) & (fewest > 1)},
    )


def paired_mean_ratio(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the ratio of arithmetic means of paired runs.

    Parameters
    ----------
    a, b
        As in `paired_log`.
    confidence
        Of the interval.

    Returns
    -------
    RatioEstimate
        Of B/A; only runs with a partner take part.

    Raises
    ------
    ValueError
        If the groups are not equally long, there are fewer than two pairs, or a value is not positive and finite.

    Notes
    -----
    Bonett and Price (2020), as in `mean_ratio`: the delta method's variance, with the covariance of the pairs, is
    that of the differences of both groups' runs in units of their mean.
    """
    side_a, side_b = runs(a, "a", at_least=2), runs(b, "b", at_least=2)
    both = paired(side_a, side_b).present
    mean_a, mean_b = Sample(side_a.values, both).mean(), Sample(side_b.values, both).mean()
    relative = Sample(side_b.values / mean_b[..., None] - side_a.values / mean_a[..., None], both)
    n = relative.n
    still = relative.without_spread
    return ratio_by_t(
        log_ratio=np.log(mean_b / mean_a),
        standard_error=np.where(still, 0.0, np.sqrt(relative.variance() / n)),
        df=n - 1.0,
        confidence=confidence,
        estimand="ratio of arithmetic means of paired runs",
        method="paired Bonett-Price",
        n_a=n,
        n_b=n,
        n_pairs=n,
        too_few=n < 2,
        caveats={Caveat.TWO_PAIRS: n == 2, Caveat.NO_SPREAD: still & (n > 1)},
    )
