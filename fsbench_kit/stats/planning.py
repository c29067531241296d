"""How many runs a group needs, before any is made: for a given width, for an effect, or for equivalence.

Two independent groups with equally many, equally noisy runs are planned with Student's t on logarithms; pairs are
planned with the t of their ratios. The noise is an assumption, to be taken from a pilot or from earlier runs of
the workload. `log_sd` is the standard deviation of logarithms between runs or, for pairs, of the logarithms of
ratios between pairs; up to 10 %, the coefficient of variation (0.05 for 5 %) is just as good.

The runs are later judged with Welch's t, which is slightly wider with few runs: for a planned power of 80 %, it
was measured to reach 73 to 96 % with three runs, 78 % with four, and at least 80 % from six on (20,000
repetitions).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats import special
from fsbench_kit.stats.values import checked_confidence, checked_log

if TYPE_CHECKING:
    from collections.abc import Callable


def runs_for_width(log_sd: float, factor: float, confidence: float = 0.95, *, pairs: bool = False) -> int:
    """Return the runs per group for an interval that typically reaches from ratio / factor to ratio * factor.

    Parameters
    ----------
    log_sd
        Standard deviation of logarithms between runs.
    factor
        Above 1: 1.05 for 5 % to either side.
    confidence
        Confidence level of the interval.
    pairs
        Whether runs are paired; the spread is then that of their ratios.

    Raises
    ------
    ValueError
        If the spread is not positive, the factor not above 1, or the confidence not between 0 and 1.

    Examples
    --------
    >>> runs_for_width(0.05, 1.05)
    10
    """
    width, quantile = checked_log(factor, "factor"), (1 + checked_confidence(confidence)) / 2
    return _fewest(
        lambda n: bool(special.stdtrit(_df(n, pairs), quantile) * _standard_error(log_sd, n, pairs) <= width)
    )


def runs_for_effect(
    log_sd: float, ratio: float, power: float = 0.8, confidence: float = 0.95, *, pairs: bool = False
) -> int:
    """Return the runs per group needed to show that a true ratio differs from 1.

    Parameters
    ----------
    log_sd
        Standard deviation of logarithms between runs.
    ratio
        The true ratio, above 1; its inverse needs as many runs.
    power
        The probability of showing it.
    confidence
        Confidence level of the interval that has to exclude 1.
    pairs
        As in `runs_for_width`.

    Raises
    ------
    ValueError
        If the spread is not positive, the ratio not above 1, or power or confidence not between 0 and 1.

    Examples
    --------
    >>> runs_for_effect(0.05, 1.10)
    6
    """
    wanted = checked_confidence(power)
    return _fewest(lambda n: power_of_effect(log_sd, ratio, n, confidence, pairs=pairs) >= wanted)


def runs_for_equivalence(log_sd: float, margin: float, power: float = 0.8, *, pairs: bool = False) -> int:
    """Return the runs per group needed to show that two truly equal groups are equal within a margin.

    Parameters
    ----------
    log_sd
        Standard deviation of logarithms between runs.
    margin
        As in `equivalent`, above 1.
    power
        The probability of showing it, in a test of size 5 %.
    pairs
        As in `runs_for_width`.

    Raises
    ------
    ValueError
        If the spread is not positive, the margin not above 1, or the power not between 0 and 1.

    Notes
    -----
    Both one-sided tests must succeed; the power is bounded from below by adding up the misses of both.

    Examples
    --------
    >>> runs_for_equivalence(0.05, 1.05)
    19
    """
    wanted = checked_confidence(power)
    return _fewest(lambda n: power_of_equivalence(log_sd, margin, n, pairs=pairs) >= wanted)


def power_of_effect(
    log_sd: float, ratio: float, runs: int, confidence: float = 0.95, *, pairs: bool = False
) -> float:
    """Return the probability that a given number of runs per group shows that a true ratio differs from 1.

    Parameters
    ----------
    log_sd, ratio, confidence, pairs
        As in `runs_for_effect`.
    runs
        Runs per group, at least 2.

    Raises
    ------
    ValueError
        If the spread is not positive, the ratio not above 1, the confidence not between 0 and 1, or there are
        fewer than two runs.

    Examples
    --------
    >>> round(power_of_effect(0.05, 1.10, 6), 2)
    0.84
    """
    return _exceeds(checked_log(ratio, "ratio"), log_sd, (1 + checked_confidence(confidence)) / 2, runs, pairs)


def power_of_equivalence(log_sd: float, margin: float, runs: int, *, pairs: bool = False) -> float:
    """Return a lower bound on the probability of showing two truly equal groups to be equal within a margin.

    Parameters
    ----------
    log_sd, margin, pairs
        As in `runs_for_equivalence`.
    runs
        Runs per group, at least 2.

    Raises
    ------
    ValueError
        If the spread is not positive, the margin not above 1, or there are fewer than two runs.

    Examples
    --------
    >>> round(power_of_equivalence(0.05, 1.05, 19), 2)
    0.81
    """
    return max(0.0, 2 * _exceeds(checked_log(margin), log_sd, 0.95, runs, pairs) - 1)


def _exceeds(shift: float, log_sd: float, quantile: float, n: int, pairs: bool) -> float:
    """Return how often a t statistic exceeds its quantile under a true shift, with n runs per group."""
    noncentrality, df = shift / _standard_error(log_sd, n, pairs), _df(n, pairs)
    if noncentrality > _CERTAIN:
        return 1.0
    return float(1 - special.nctdtr(df, noncentrality, special.stdtrit(df, quantile)))


_CERTAIN = 30
"""A noncentrality above which the power is 1; the distribution function is unreliable that far out."""


def _df(n: int, pairs: bool) -> int:
    return n - 1 if pairs else 2 * n - 2


def _standard_error(log_sd: float, n: int, pairs: bool) -> float:
    if not log_sd > 0:
        raise ValueError(f"a spread of {log_sd} between runs is not positive")
    if n < 2:
        raise ValueError(f"{n} runs per group have no spread between them; plan at least two")
    return log_sd * float(np.sqrt((1 if pairs else 2) / n))


def _fewest(enough: Callable[[int], bool]) -> int:
    """Return the smallest sufficient number of runs, at least two, assuming that more runs suffice too."""
    most = 2
    while not enough(most):
        most *= 2
    return bisect_left(range(most + 1), True, lo=2, key=enough)
