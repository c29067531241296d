"""Two stages: a pilot tells how many runs a wanted width takes, and the interval of all runs still holds.

Looking at a p value after each run until it is below 5 % gives 25 % false alarms (measured, up to 30 runs).
Stein's rule looks once, at the spread of a pilot alone, and keeps both the confidence and the width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from fsbench_kit.stats.result import Caveat
from fsbench_kit.stats.student import ratio_by_t
from fsbench_kit.stats.values import Sample, checked_confidence, checked_log, runs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fsbench_kit.stats.result import Floats, Ints, RatioEstimate


def stein_runs(pilot_a: ArrayLike, pilot_b: ArrayLike, factor: float, confidence: float = 0.95) -> Ints:
    """Return the runs per group, the pilot's among them, for an interval within ratio / factor and ratio * factor.

    Parameters
    ----------
    pilot_a, pilot_b
        The first runs of either group, shapes ``(..., n)``, as many on both; five are a good choice.
    factor
        Above 1: 1.05 for 5 % to either side, at most.
    confidence
        Of the interval.

    Returns
    -------
    ndarray of int
        Of the shape of the cells, at least the pilot's n.

    Raises
    ------
    ValueError
        If the pilots are not equally long or shorter than two runs, a run is absent or has no logarithm, or the
        factor is not above 1.

    Notes
    -----
    Stein, C. (1945), Ann. Math. Stat. 16, 243-258, with the pooled variance of two groups.

    Examples
    --------
    >>> print(stein_runs([100, 105, 98, 103, 101], [150, 149, 158, 155, 147], 1.02))
    22
    """
    width = checked_log(factor)
    logs_a, logs_b = (runs(side, "a pilot", at_least=2).log() for side in (pilot_a, pilot_b))
    variance, n = _pilot_variance(logs_a, logs_b)
    quantile = stdtrit(2 * n - 2, (1 + checked_confidence(confidence)) / 2)
    needed: Ints = np.maximum(np.ceil(2 * variance * (quantile / width) ** 2), n).astype(np.int64)[()]
    return needed


def stein_log(a: ArrayLike, b: ArrayLike, pilot: int, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the ratio of geometric means after both stages.

    Parameters
    ----------
    a, b
        All runs of either group in their order, as in `welch_log`; the first `pilot` of each are the pilot.
    pilot
        Runs per group of the pilot.
    confidence
        Of the interval.

    Returns
    -------
    RatioEstimate
        Of B/A; its spread is the pilot's alone, as the number of further runs hangs on it.

    Raises
    ------
    ValueError
        If a group is shorter than the pilot, the pilot is shorter than two runs or has an absent one, or a value
        has no logarithm.

    Notes
    -----
    Stein (1945), as in `stein_runs`. Both groups are taken to be equally noisy.
    """
    logs_a, logs_b = (runs(side, name, at_least=max(pilot, 2)).log() for side, name in ((a, "a"), (b, "b")))
    variance, n = _pilot_variance(_first(logs_a, pilot), _first(logs_b, pilot))
    n_a, n_b = logs_a.n, logs_b.n
    return ratio_by_t(
        log_ratio=logs_b.mean() - logs_a.mean(),
        standard_error=np.sqrt(variance * (1 / n_a + 1 / n_b)),
        df=2 * n - 2,
        confidence=confidence,
        estimand="ratio of geometric means",
        method="Stein's two stages on logs",
        n_a=n_a,
        n_b=n_b,
        caveats={Caveat.NO_SPREAD: variance == 0, Caveat.TWO_RUNS: n == 2},
    )


def _first(logs: Sample, n: int) -> Sample:
    return Sample(logs.values[..., :n], logs.present[..., :n])


def _pilot_variance(logs_a: Sample, logs_b: Sample) -> tuple[Floats, int]:
    """Return the pooled variance of the logarithms of two pilots, and how many runs each has."""
    n = logs_a.values.shape[-1]
    if logs_b.values.shape[-1] != n or n < 2 or not (logs_a.present.all() and logs_b.present.all()):
        raise ValueError("a pilot has equally many runs in both groups, two at least, and none of them is absent")
    variance = (logs_a.variance() + logs_b.variance()) / 2
    return np.where(logs_a.without_spread & logs_b.without_spread, 0.0, variance), n
