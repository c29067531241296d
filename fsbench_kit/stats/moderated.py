"""Variances moderated over cells: two or three runs say little about their noise, but many such cells together do.

Each cell's variance is shrunk towards a common one, the more so the fewer its runs and the more alike the cells
are. Intervals become shorter (with two runs per group, by up to two thirds) and have the stated coverage on
average. The price is that the noisiest cells get intervals that are too short; `Caveat.NOISIER_THAN_MOST` marks
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.stats import special
from fsbench_kit.stats.ratio import paired_logs
from fsbench_kit.stats.result import Bools, Caveat, Floats, RatioEstimate
from fsbench_kit.stats.student import ratio_by_t
from fsbench_kit.stats.values import runs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fsbench_kit.stats.values import Runs

MIN_CELLS: Final = 12
"""The fewest cells with a spread to borrow from."""

MIN_DF: Final = 60
"""The fewest degrees of freedom of all cells together: with fewer, the common variance was measured to be too
uncertain. Thirty cells of two runs per group have this many, or sixty of two pairs."""

NOISIER: Final = 2.0
"""A cell is noisier than most if its standard deviation exceeds the common one by this factor."""


@dataclass(frozen=True, slots=True)
class Prior:
    """The common variance of the cells, and its weight in degrees of freedom: inf if all cells are alike.

    Examples
    --------
    >>> a = Prior(variance=0.0025, df=8.0)
    >>> float(np.sqrt(a.variance))  # a CV of about 5 %
    0.05
    """

    variance: float
    df: float


def variance_prior(variance: Floats, df: Floats) -> Prior | None:
    """Fit a scaled F distribution to the variances of cells.

    Parameters
    ----------
    variance, df
        The variance and degrees of freedom of each cell, shape ``(cells,)``. Cells without spread, which is below
        the printed resolution, or without degrees of freedom are left out.

    Returns
    -------
    Prior or None
        ``None`` if fewer than `MIN_CELLS` cells take part, or they have fewer than `MIN_DF` degrees of freedom.

    Notes
    -----
    Smyth, G. K. (2004), Stat. Appl. Genet. Mol. Biol. 3, article 3, section 6.2: moments of log variances.

    Examples
    --------
    >>> variance = 0.0025 * np.array([0.2, 0.5, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0] * 2)
    >>> prior = variance_prior(variance, np.full(16, 4.0))
    >>> print(f"{prior.variance:.4f}")
    0.0032
    """
    taken = (variance > 0) & (df > 0)
    if taken.sum() < MIN_CELLS or df[taken].sum() < MIN_DF:
        return None
    half_df = df[taken] / 2
    logs = np.log(variance[taken]) - special.psi(half_df) + np.log(half_df)
    excess = float(logs.var(ddof=1) - special.polygamma(1, half_df).mean())
    if excess <= 0:
        return Prior(float(np.average(variance[taken], weights=half_df)), np.inf)
    half = _inverse_trigamma(excess)
    return Prior(float(np.exp(logs.mean() + special.psi(half) - np.log(half))), 2 * half)


def moderated_log(a: Runs, b: Runs, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the ratio of geometric means of two independent groups in many cells, with moderated variances.

    Parameters
    ----------
    a, b
        As in `welch_log`, for cells of one kind: with fewer than `MIN_CELLS` of them, or `MIN_DF` degrees of
        freedom in total, there is no interval. The groups of a cell are assumed to be equally noisy. For few runs
        against many this was measured to cover only 70 to 80 %, so that such intervals are not given.
    confidence
        Confidence level of the interval.

    Returns
    -------
    RatioEstimate
        The ratio B/A. A cell without spread also gets an interval, based on the other cells, with a caveat.

    Raises
    ------
    ValueError
        If there are fewer than two runs in a group, or a value has no logarithm.

    Notes
    -----
    Smyth (2004), as in `variance_prior`. For the coverage over cells with different noise, and in the noisiest of
    them, see ``docs/coverage.md``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a, b = np.exp(0.03 * rng.standard_normal((2, 16, 3)))
    >>> found = moderated_log(a, 2 * b)  # sixteen cells, each with three runs of either group
    >>> bool((found.low > 1).all())
    True
    """
    logs_a, logs_b = runs(a, "a", at_least=2).log(), runs(b, "b", at_least=2).log()
    n_a, n_b = logs_a.n, logs_b.n
    still = logs_a.without_spread & logs_b.without_spread
    df = n_a + n_b - 2.0
    squares = logs_a.variance() * (n_a - 1) + logs_b.variance() * (n_b - 1)
    too_few, unequal = np.minimum(n_a, n_b) < 2, n_a != n_b
    spread = _moderate(np.where(still, 0.0, squares) / np.where(too_few | unequal, np.nan, df), df)
    return ratio_by_t(
        log_ratio=logs_b.mean() - logs_a.mean(),
        standard_error=np.sqrt(spread.variance * (n_a + n_b) / np.maximum(n_a * n_b, 1)),
        df=spread.df,
        confidence=confidence,
        estimand="ratio of geometric means",
        method="moderated t on logs",
        n_a=n_a,
        n_b=n_b,
        too_few=too_few,
        caveats=spread.caveats | {Caveat.UNEQUAL_SIZES: unequal, Caveat.NO_SPREAD: still & ~too_few},
    )


def moderated_paired_log(a: Runs, b: Runs, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the geometric mean of the ratios of paired runs in many cells, with moderated variances.

    Parameters
    ----------
    a, b
        As in `paired_log`, for as many cells of one kind as `moderated_log` needs.
    confidence
        Confidence level of the interval.

    Returns
    -------
    RatioEstimate
        The ratio B/A, as in `moderated_log`.

    Raises
    ------
    ValueError
        If the groups have different lengths, there are fewer than two pairs, or a value has no logarithm.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a, b = np.exp(0.03 * rng.standard_normal((2, 30, 3)))
    >>> found = moderated_paired_log(a, 2 * b)  # thirty cells, each with three rounds
    >>> bool((found.low > 1).all())
    True
    """
    ratios = paired_logs(a, b, at_least=2)
    n, still = ratios.n, ratios.without_spread
    spread = _moderate(np.where(still & (n > 1), 0.0, ratios.variance()), n - 1.0)
    return ratio_by_t(
        log_ratio=ratios.mean(),
        standard_error=np.sqrt(spread.variance / np.maximum(n, 1)),
        df=spread.df,
        confidence=confidence,
        estimand="geometric mean of paired ratios",
        method="moderated paired t on logs",
        n_a=n,
        n_b=n,
        n_pairs=n,
        too_few=n < 2,
        caveats=spread.caveats | {Caveat.NO_SPREAD: still & (n > 1)},
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """The moderated variance of each cell, and its degrees of freedom."""

    variance: Floats
    df: Floats
    caveats: dict[Caveat, Bools | bool]


def _moderate(variance: Floats, degrees: ArrayLike) -> _Spread:
    df = np.asarray(degrees, dtype=np.float64)
    prior = variance_prior(np.ravel(variance), np.ravel(df))
    if prior is None:
        return _Spread(np.full_like(variance, np.nan), df, {Caveat.TOO_FEW_CELLS: True})
    if np.isinf(prior.df):
        moderated, total = np.where(np.isnan(variance), np.nan, prior.variance), np.full_like(variance, np.inf)
    else:
        total = df + prior.df
        moderated = (df * variance + prior.df * prior.variance) / total
    noisy = variance > NOISIER**2 * prior.variance
    return _Spread(moderated, total, {Caveat.SPREAD_BORROWED: True, Caveat.NOISIER_THAN_MOST: noisy})


def _inverse_trigamma(value: float) -> float:
    """Return the x > 0 at which the trigamma function, between 1/x and 1/x + 1/x**2, has a given value."""
    from scipy.optimize import brentq  # noqa: PLC0415  # takes a fifth of a second to import, and few need it

    return float(brentq(lambda x: special.polygamma(1, x) - value, 1 / value, 1 / value + 1))
