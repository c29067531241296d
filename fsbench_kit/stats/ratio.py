"""Ratios of geometric means, by Student's t on logarithms.

Benchmark figures are positive and their noise is proportional, so means and spreads are taken of logarithms;
a difference of mean logarithms is the logarithm of the ratio of geometric means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import stdtr, stdtrit

from fsbench_kit.stats.result import Caveat, RatioEstimate, caveats_that_apply
from fsbench_kit.stats.values import checked_confidence, runs, without_spread

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fsbench_kit.stats.result import Bools, Floats

MANY: Final = 5
"""From how many runs on the other side two runs are called lopsided: see `welch_log`."""


def welch_log(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the ratio of geometric means of two independent sides, by Welch's t on logarithms.

    Parameters
    ----------
    a, b
        Runs of either side, shapes ``(..., n_a)`` and ``(..., n_b)``, n of at least 2, in the same unit. The
        leading axes are cells and broadcast: one baseline ``(n_a,)`` goes with many ``(cells, n_b)``.
    confidence
        Of the interval.

    Returns
    -------
    RatioEstimate
        Of B/A. A cell in which neither side has any spread gets no interval (nan): identical prints say that
        the noise is below the print's resolution, not that there is none. If one side has none, the interval
        rests on the other side's spread alone, and says so.

    Raises
    ------
    ValueError
        If there are fewer than two runs on a side, or a value has no logarithm.

    Notes
    -----
    Welch, B. L. (1947), Biometrika 34, 28-35, with Satterthwaite's degrees of freedom.

    Measured coverage at nominal 95 % (``benchmarks/coverage.py``, 4,000 repetitions, error 0.3 points) for
    2, 3, 5, 10, 30 runs a side: lognormal 98, 97, 96, 95, 96; one side six times as noisy 94, 94, 94, 95, 96.
    It fails where a slow mode shows on one side only, in a fifth of the runs: 82, 60, 68, 88, 94, because few runs
    do not see the mode; and where each run takes half of its deviation from the run before: 94, 85, 76, 74, 75,
    which only a random order of running mends. Two runs against 3, 4, 5, 10, 30: 97, 95, 93, 90, 87, hence
    `Caveat.LOPSIDED`.
    """
    log_a = np.log(runs(a, "a", at_least=2))
    log_b = np.log(runs(b, "b", at_least=2))
    n_a, n_b = log_a.shape[-1], log_b.shape[-1]
    still_a, still_b = without_spread(log_a), without_spread(log_b)
    share_a = np.where(still_a, 0.0, log_a.var(axis=-1, ddof=1) / n_a)
    share_b = np.where(still_b, 0.0, log_b.var(axis=-1, ddof=1) / n_b)
    with np.errstate(invalid="ignore"):  # 0/0 where neither side has spread
        df = (share_a + share_b) ** 2 / (share_a**2 / (n_a - 1) + share_b**2 / (n_b - 1))
    return t_estimate(
        log_ratio=log_b.mean(axis=-1) - log_a.mean(axis=-1),
        standard_error=np.sqrt(share_a + share_b),
        df=df,
        confidence=confidence,
        estimand="ratio of geometric means",
        method="Welch t on logs",
        n_a=n_a,
        n_b=n_b,
        caveats={
            Caveat.TWO_RUNS: min(n_a, n_b) == 2,
            Caveat.LOPSIDED: min(n_a, n_b) == 2 and max(n_a, n_b) >= MANY,
            Caveat.NO_SPREAD: still_a | still_b,
        },
    )


def paired_log(a: ArrayLike, b: ArrayLike, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the geometric mean of the ratios of paired runs, by Student's t on their logarithms.

    Runs of one round share what the round had in common (a drifting disk, a neighbour's load), and a pair's
    ratio is free of it. Pairs pay off where rounds differ; where they do not, they cost 5 % of width at ten pairs.

    Parameters
    ----------
    a, b
        Runs of either side, both of shape ``(..., n)``, n of at least 2; ``a[..., i]`` and ``b[..., i]`` are of
        one round. The leading axes broadcast.
    confidence
        Of the interval.

    Returns
    -------
    RatioEstimate
        Of B/A. A cell whose pairs all have the same ratio gets no interval (nan), for the reason given
        in `welch_log`.

    Raises
    ------
    ValueError
        If the sides are not equally long, there are fewer than two pairs, or a value has no logarithm.

    Notes
    -----
    "Student" (1908), Biometrika 6, 1-25.

    Measured coverage at nominal 95 %, as in `welch_log`, for 2, 3, 5, 10, 30 pairs: rounds that differ by twice
    the noise 95, 96, 95, 95, 95; a drift of 10 % with random order inside rounds 95, 95, 95, 96, 95, at three
    quarters of the width of Welch's interval in random order; a slow mode on both sides 93, 98, 99, 96, 95.
    """
    ratios = paired_ratios(a, b, at_least=2)
    n = ratios.shape[-1]
    still = without_spread(ratios)
    return t_estimate(
        log_ratio=ratios.mean(axis=-1),
        standard_error=np.where(still, 0.0, ratios.std(axis=-1, ddof=1) / np.sqrt(n)),
        df=n - 1,
        confidence=confidence,
        estimand="geometric mean of paired ratios",
        method="paired t on logs",
        n_a=n,
        n_b=n,
        n_pairs=n,
        caveats={Caveat.TWO_PAIRS: n == 2, Caveat.NO_SPREAD: still},
    )


def paired_ratios(a: ArrayLike, b: ArrayLike, *, at_least: int) -> Floats:
    """Return the logarithms of the ratios B/A of paired runs, shape ``(..., n)``.

    Raises
    ------
    ValueError
        As `paired_log`.
    """
    values_a, values_b = runs(a, "a", at_least=at_least), runs(b, "b", at_least=at_least)
    if values_a.shape[-1] != values_b.shape[-1]:
        raise ValueError(f"{values_a.shape[-1]} runs cannot be paired with {values_b.shape[-1]}")
    return np.log(values_b) - np.log(values_a)


def t_estimate(
    *,
    log_ratio: Floats,
    standard_error: Floats,
    df: Floats | float,
    confidence: float,
    estimand: str,
    method: str,
    n_a: int,
    n_b: int,
    n_pairs: int | None = None,
    caveats: dict[Caveat, Bools | bool],
) -> RatioEstimate:
    """Turn a log ratio, its standard error and its degrees of freedom into an estimate with an interval.

    A standard error of 0 gives an interval and a p value of nan.
    """
    unknown = standard_error == 0
    standard_error = np.where(unknown, np.nan, standard_error)[()]
    df = np.where(unknown, np.nan, df)[()]
    half_width = stdtrit(df, (1 + checked_confidence(confidence)) / 2) * standard_error
    return RatioEstimate(
        estimate=np.exp(log_ratio),
        low=np.exp(log_ratio - half_width),
        high=np.exp(log_ratio + half_width),
        confidence=confidence,
        estimand=estimand,
        method=method,
        p=2 * stdtr(df, -np.abs(log_ratio / standard_error)),
        standard_error=standard_error,
        df=df,
        n_a=n_a,
        n_b=n_b,
        n_pairs=n_pairs,
        caveats=caveats_that_apply(np.shape(log_ratio), caveats),
    )
