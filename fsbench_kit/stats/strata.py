"""Runs in a few strata: specific hosts, launches, kernels or versions.

With five or more hosts, the spread between them shows what a further one would give (`blocked_log`). Two to four
say next to nothing about that, but the groups can be compared within each of them, and the answer holds for these
hosts. The same goes for a setting with a few values that occur in both groups, however unevenly: within a stratum
it does not differ. Strata that disagree by more than chance have no common ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats import special
from fsbench_kit.stats.result import Bools, Caveat, Floats, Ints, RatioEstimate
from fsbench_kit.stats.student import ratio_by_t
from fsbench_kit.stats.values import Sample, paired, runs

if TYPE_CHECKING:
    from fsbench_kit.stats.values import Runs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strata:
    """The ratio within strata.

    Attributes
    ----------
    overall
        The estimate over all strata together.
    ratios
        The ratio of each stratum, shape ``(..., strata)``; nan if the stratum does not have both groups.
    p_disagree
        The p value of "all strata have one ratio"; nan if fewer than two have both groups, or runs have no spread.

    Examples
    --------
    >>> found = stratified_log([[100.0, 102.0], [50.0, 51.0]], [[200.0, 206.0], [148.0, 151.0]])
    >>> bool(found.p_disagree < 0.05)  # hosts differ in the ratio
    True
    """

    overall: RatioEstimate
    ratios: Floats
    p_disagree: Floats


def stratified_log(a: Runs, b: Runs, confidence: float = 0.95) -> Strata:
    """Estimate the ratio of geometric means of two groups within strata.

    Parameters
    ----------
    a, b
        Shapes ``(..., strata, n_a)`` and ``(..., strata, n_b)``; ``a[..., i, :]`` and ``b[..., i, :]`` belong to
        one stratum. A stratum without runs of both groups only contributes to the estimate of the noise.
    confidence
        Confidence level of the interval.

    Raises
    ------
    ValueError
        If a value has no logarithm.

    Notes
    -----
    The mean of the strata's log ratios, each weighted by ``n_a n_b / (n_a + n_b)``. The spread is pooled within
    strata and groups, each of which costs one degree of freedom. This is the coefficient of the group in a linear
    model with strata as fixed effects, except that the spread does not include the disagreement between strata,
    for which there is the F test of the interaction.

    Examples
    --------
    >>> found = stratified_log([[100.0, 102.0], [50.0, 51.0]], [[200.0, 206.0], [98.0, 101.0]])
    >>> found.ratios.round(2).tolist(), round(float(found.overall.estimate), 2)
    ([2.01, 1.97], 1.99)
    """
    logs_a, logs_b = runs(a, "a", at_least=1).log(), runs(b, "b", at_least=1).log()
    n_a, n_b = logs_a.n.astype(np.float64), logs_b.n.astype(np.float64)
    with np.errstate(invalid="ignore"):
        weights = np.where((n_a > 0) & (n_b > 0), n_a * n_b / (n_a + n_b), 0.0)
        ratios = logs_b.mean() - logs_a.mean()
    squares = sum(_squares(logs).sum(axis=-1) for logs in (logs_a, logs_b))
    cells = (n_a > 0).sum(axis=-1) + (n_b > 0).sum(axis=-1)
    return _over_strata(
        ratios,
        weights,
        squares,
        n_a.sum(axis=-1) + n_b.sum(axis=-1) - cells,
        confidence,
        estimand="ratio of geometric means within strata",
        method="t within strata on logs",
        n_a=logs_a.n.sum(axis=-1),
        n_b=logs_b.n.sum(axis=-1),
        n_pairs=None,
    )


def stratified_paired_log(a: Runs, b: Runs, confidence: float = 0.95) -> Strata:
    """Estimate the geometric mean of paired ratios within strata: rounds within hosts.

    Parameters
    ----------
    a, b
        Both of shape ``(..., strata, n)``; ``a[..., i, j]`` and ``b[..., i, j]`` belong to one round of one
        stratum.
    confidence
        Confidence level of the interval.

    Raises
    ------
    ValueError
        If the groups have different numbers of rounds, or a value has no logarithm.

    Notes
    -----
    As `stratified_log`, for differences: the weight of a stratum is its number of rounds.

    Examples
    --------
    >>> found = stratified_paired_log([[100.0, 110.0], [50.0, 60.0]], [[200.0, 222.0], [98.0, 121.0]])
    >>> found.ratios.round(2).tolist()
    [2.01, 1.99]
    """
    pairs = paired(runs(a, "a", at_least=1).log(), runs(b, "b", at_least=1).log(), "rounds")
    n = pairs.n.astype(np.float64)
    return _over_strata(
        pairs.mean(),
        n,
        _squares(pairs).sum(axis=-1),
        n.sum(axis=-1) - (n > 0).sum(axis=-1),
        confidence,
        estimand="geometric mean of paired ratios within strata",
        method="paired t within strata on logs",
        n_a=pairs.n.sum(axis=-1),
        n_b=pairs.n.sum(axis=-1),
        n_pairs=pairs.n.sum(axis=-1),
    )


def _squares(logs: Sample) -> Floats:
    """Return the sum of squares around each stratum's own mean; 0 for a stratum without runs or without spread."""
    apart = np.where(logs.present, logs.values - np.where(logs.n > 0, logs.mean(), 0.0)[..., None], 0.0)
    squares: Floats = np.where(logs.without_spread, 0.0, np.square(apart).sum(axis=-1))
    return squares


def _over_strata(
    ratios: Floats,
    weights: Floats,
    squares: Floats,
    df: Floats,
    confidence: float,
    *,
    estimand: str,
    method: str,
    n_a: Ints,
    n_b: Ints,
    n_pairs: Ints | None,
) -> Strata:
    given: Bools = weights > 0
    known = np.where(given, ratios, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = weights.sum(axis=-1)
        mean = (weights * known).sum(axis=-1) / whole
        variance = squares / df
        between = (weights * np.square(known - mean[..., None])).sum(axis=-1)
        strata = given.sum(axis=-1)
        f = between / (strata - 1) / variance
        overall = ratio_by_t(
            log_ratio=mean,
            standard_error=np.sqrt(variance / whole),
            df=df,
            confidence=confidence,
            estimand=estimand,
            method=method,
            n_a=n_a,
            n_b=n_b,
            n_pairs=n_pairs,
            too_few=(df < 1) | (strata < 1),
            caveats={Caveat.NO_SPREAD: (squares == 0) & (df > 0)},
        )
        p = np.where((strata > 1) & (variance > 0), special.fdtrc(strata - 1, df, f), np.nan)
    return Strata(overall=overall, ratios=np.where(given, np.exp(known), np.nan), p_disagree=p[()])
