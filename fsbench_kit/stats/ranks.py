"""Exact p values of rank statistics, including ties, and their null distributions.

Scipy's ``mannwhitneyu(method="exact")`` ignores ties, and its permutation test has 184,756 cases for ten runs
against ten. Printed figures are rounded, so that ties are common here, and the distributions are built for the
actual ties. All statistics are doubled, so that a tie counts 1 instead of a half.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fsbench_kit.stats import special
from fsbench_kit.stats.ratio import paired_logs
from fsbench_kit.stats.result import Floats
from fsbench_kit.stats.values import DECIMALS, by_size, runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray


EXACT_UP_TO: Final = 100
"""The number of runs in both groups, or of pairs, beyond which the normal limit replaces the exact distribution.
The limit is then right to three digits, while the exact distribution takes seconds."""


def mann_whitney_p(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the two-sided p value of the Mann-Whitney test, exact for the actual ties.

    Parameters
    ----------
    a, b
        Shapes ``(..., n_a)`` and ``(..., n_b)``; the leading axes broadcast.

    Returns
    -------
    ndarray
        Twice the smaller tail, at most 1, one for each cell; nan if a group of a cell is empty.

    Raises
    ------
    ValueError
        If a group has no runs at all, or a value is not positive and finite.

    Notes
    -----
    Lehmann, E. L. (1975), *Nonparametrics*: the distribution of the statistic over all ways to assign the observed
    values to the two groups.

    Examples
    --------
    >>> p = mann_whitney_p([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    >>> round(float(p), 3)  # 2 of the 20 orders are as far apart
    0.1
    """
    side_a, side_b = runs(a, "a", at_least=1), runs(b, "b", at_least=1)
    cells = np.broadcast_shapes(side_a.values.shape[:-1], side_b.values.shape[:-1])
    p = np.full(int(np.prod(cells)), np.nan)
    for chosen, (dense_a, dense_b) in by_size(side_a, side_b):
        if dense_a.size and dense_b.size:
            p[chosen] = _mann_whitney_p(dense_a, dense_b)
    return p.reshape(cells)[()]


def _mann_whitney_p(a: Floats, b: Floats) -> Floats:
    statistic = 2 * (b[:, :, None] > a[:, None, :]).sum(axis=(1, 2)) + (b[:, :, None] == a[:, None, :]).sum(
        axis=(1, 2)
    )
    steps = np.diff(np.sort(np.concatenate([a, b], axis=1), axis=1), axis=1) > 0
    return _two_sided(statistic, steps, lambda step: mann_whitney_null(a.shape[1], _group_sizes(step)))


def signed_rank_p(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the two-sided p value of the signed-rank test on log ratios of pairs, exact for the actual ties.

    Pairs of equal runs are ranked with the others but count for neither group (Pratt's rule). Under this rule, the
    test inverts to the interval of Walsh averages.

    Parameters
    ----------
    a, b
        Both of shape ``(..., n)``; the leading axes broadcast.

    Returns
    -------
    ndarray
        Twice the smaller tail, at most 1, one for each cell; nan if a cell has no pairs.

    Raises
    ------
    ValueError
        If the groups have different lengths, or a value has no logarithm.

    Notes
    -----
    Pratt, J. W. (1959), JASA 54, 655-667.

    Examples
    --------
    >>> p = signed_rank_p([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0])
    >>> round(float(p), 3)  # 2 of the 16 choices of signs
    0.125
    """
    ratios = paired_logs(a, b, at_least=1)
    cells = ratios.values.shape[:-1]
    p = np.full(int(np.prod(cells)), np.nan)
    for chosen, (dense,) in by_size(ratios):
        if dense.size:
            p[chosen] = _signed_rank_p(np.round(dense, DECIMALS))
    return p.reshape(cells)[()]


def _signed_rank_p(ratios: Floats) -> Floats:
    from scipy.stats import rankdata  # noqa: PLC0415  # takes a second to import and is rarely needed

    ranks = np.where(ratios == 0, 0, 2 * rankdata(np.abs(ratios), axis=-1)).astype(np.int64)
    statistic = np.where(ratios > 0, ranks, 0).sum(axis=-1)
    return _two_sided(statistic, np.sort(ranks, axis=-1), lambda row: signed_rank_null(tuple(row.tolist())))


def mann_whitney_null(n_a: int, groups: tuple[int, ...]) -> Floats:
    """Return the distribution of twice the Mann-Whitney statistic if both groups are alike.

    Parameters
    ----------
    n_a
        The number of values in group A.
    groups
        The sizes of the groups of tied values, over both groups together and in ascending order of the value:
        ``(1,) * (n_a + n_b)`` without ties.

    Returns
    -------
    ndarray
        The probability of 0, 1, ..., 2 n_a n_b.
    """
    n = sum(groups)
    n_b = n - n_a
    top = 2 * n_a * n_b
    if n > EXACT_UP_TO:
        ties = sum(t**3 - t for t in groups)
        return _normal_limit(top, n_a * n_b / 3 * (n + 1 - ties / (n * (n - 1))))
    return _all_ways_to_deal(n_a, groups)


def _normal_limit(top: int, variance: float) -> Floats:
    """Return the probabilities of 0 to `top` under a normal distribution centred between them."""
    ends = np.arange(top + 2.0)
    ends -= 0.5 + top / 2
    ends /= variance**0.5
    limit: Floats = np.diff(special.ndtr(ends, out=ends))  # in place: thousands of pairs have millions of sums
    return limit


@lru_cache(maxsize=64)
def _all_ways_to_deal(n_a: int, groups: tuple[int, ...]) -> Floats:
    n = sum(groups)
    n_b = n - n_a
    top = 2 * n_a * n_b
    few = min(n_a, n_b)
    ends = np.cumsum(groups)
    ranks = np.repeat(2 * ends - groups + 1, groups)  # doubled, and equal for tied values
    if few == n_a:
        ranks = 2 * (n + 1) - ranks  # reversed, because group A's fall as group B's and the statistic rise
    least = few * (few + 1)
    ways = np.zeros((few + 1, least + top + 1))  # [values assigned to the smaller group, sum of their ranks]
    ways[0, 0] = 1
    for place, rank in enumerate(ranks.tolist()):
        dealt = slice(max(0, few - n + place), min(place, few - 1) + 1)  # counts that the rest can still complete
        ways[1:][dealt, rank:] += ways[dealt, :-rank]
    null: Floats = ways[few, least:] / special.comb(n, few)
    return null


def signed_rank_null(doubled_ranks: tuple[int, ...]) -> Floats:
    """Return the distribution of twice the signed-rank statistic if both signs are equally likely.

    Parameters
    ----------
    doubled_ranks
        Twice the ranks of the absolute log ratios: ``(2, 4, ..., 2 * n)`` without ties.

    Returns
    -------
    ndarray
        The probability of 0, 1, ..., the sum of the doubled ranks.
    """
    if len(doubled_ranks) > EXACT_UP_TO:
        return _normal_limit(sum(doubled_ranks), sum(rank**2 for rank in doubled_ranks) / 4)
    return _all_signs(doubled_ranks)


@lru_cache(maxsize=64)
def _all_signs(doubled_ranks: tuple[int, ...]) -> Floats:
    chance = np.zeros(sum(doubled_ranks) + 1)
    chance[0] = 1
    for rank in doubled_ranks:
        chance = (chance + np.roll(chance, rank)) / 2  # what wraps around is still 0
    return chance


def _two_sided(
    statistic: NDArray[np.int64], patterns: NDArray[Any], null: Callable[[NDArray[Any]], Floats]
) -> Floats:
    """Return the two-sided p value of each cell, building the distribution once per pattern of ties."""
    flat = np.reshape(statistic, -1)
    p = np.empty(flat.size)
    distinct, which = np.unique(patterns.reshape(flat.size, -1), axis=0, return_inverse=True)
    for number, pattern in enumerate(distinct):
        chance = null(pattern)
        here = which.reshape(-1) == number
        lower = np.cumsum(chance)[flat[here]]
        upper = np.cumsum(chance[::-1])[chance.size - 1 - flat[here]]
        p[here] = 2 * np.minimum(lower, upper)
    return np.minimum(p, 1).reshape(statistic.shape)[()]


def _group_sizes(steps: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the sizes of groups of tied values, given where in sorted order the value increases."""
    ends = np.concatenate([[0], np.flatnonzero(steps) + 1, [steps.size + 1]])
    return tuple(np.diff(ends).tolist())


def few_alternations_p(n_a: int, n_b: int, alternations: int) -> float:
    """Return the probability of this few alternations between two groups, or fewer, in a random order.

    Parameters
    ----------
    n_a, n_b
        The number of runs per group, at least one.
    alternations
        The number of uninterrupted stretches of one group, counted over both: 2 if one group came first.

    Notes
    -----
    Wald, A. and Wolfowitz, J. (1940), Ann. Math. Statist. 11, 147-162; exact up to `EXACT_UP_TO` runs, and the
    normal limit beyond.

    Examples
    --------
    >>> few_alternations_p(2, 2, 2)
    0.3333333333333333
    """
    n = n_a + n_b
    if n > EXACT_UP_TO:
        twice = 2 * n_a * n_b
        variance = twice * (twice - n) / (n**2 * (n - 1))
        return float(special.ndtr((alternations + 0.5 - 1 - twice / n) / variance**0.5))
    orders = 0
    for count in range(2, alternations + 1):
        half, odd = divmod(count, 2)
        if odd:
            orders += comb(n_a - 1, half) * comb(n_b - 1, half - 1) + comb(n_a - 1, half - 1) * comb(n_b - 1, half)
        else:
            orders += 2 * comb(n_a - 1, half - 1) * comb(n_b - 1, half - 1)
    return orders / comb(n, n_a)
