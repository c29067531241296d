"""Ratios that a single outlier cannot move: Hodges-Lehmann estimates on logarithms, with exact intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from fsbench_kit.stats import special
from fsbench_kit.stats.ranks import EXACT_UP_TO, mann_whitney_null, signed_rank_null
from fsbench_kit.stats.ratio import paired_logs
from fsbench_kit.stats.result import Caveat, Floats, RatioEstimate, caveats_that_apply
from fsbench_kit.stats.student import over_cells
from fsbench_kit.stats.values import DECIMALS, by_size, checked_confidence, runs

if TYPE_CHECKING:
    from fsbench_kit.stats.values import Runs

MIN_RUNS: Final = 4
"""With fewer runs per group, no two-sided 95 % interval exists: three against three reach 90 %."""

MIN_PAIRS: Final = 6
"""With fewer pairs, no two-sided 95 % interval exists: five reach 93.75 %."""


def hodges_lehmann_log(a: Runs, b: Runs, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the ratio between two independent groups with the Hodges-Lehmann estimator.

    The estimate is the median of all ratios of a run of B to a run of A; the interval consists of the ratios that
    the Mann-Whitney test does not reject.

    Parameters
    ----------
    a, b
        The runs of each group in the same unit, shapes ``(..., n_a)`` and ``(..., n_b)``, with n of at least 4.
        Leading axes are cells and broadcast.
    confidence
        The minimum confidence level. The rank statistic only allows certain levels; the result states the lowest
        sufficient one as ``confidence`` (4 against 4: 97.1 %).

    Returns
    -------
    RatioEstimate
        The ratio B/A. Without ties, the interval excludes 1 exactly if `fsbench_kit.stats.mann_whitney_p` is at
        most 1 - ``confidence``. With ties, the closed interval can only gain coverage and the test is exact, so
        that either can be stricter. If rounding leaves no spread, the interval is narrower than the printed digits
        justify, with a caveat.

    Raises
    ------
    ValueError
        If a group has fewer than four runs, a value has no logarithm, or no interval reaches the confidence.

    Notes
    -----
    Hodges, J. L. and Lehmann, E. L. (1963), Ann. Math. Stat. 34, 598-611; the interval as in
    Lehmann, E. L. (1975), *Nonparametrics*.

    The interval is exact if one group is the other times a constant. With one group six times as noisy, 30 runs
    were measured to cover 91 % (``docs/coverage.md``).

    Examples
    --------
    >>> found = hodges_lehmann_log([99.0, 100.0, 101.0, 102.0, 400.0], [198.0, 200.0, 201.0, 203.0, 204.0])
    >>> print(f"{found.estimate:.2f}")  # the outlier of 400 does little
    1.99
    """
    logs_a, logs_b = runs(a, "a", at_least=MIN_RUNS).log(), runs(b, "b", at_least=MIN_RUNS).log()
    _check_reach(_of_two_samples(logs_a.values.shape[-1], logs_b.values.shape[-1], confidence), confidence)
    n_a, n_b = logs_a.n, logs_b.n
    cells = np.broadcast_shapes(n_a.shape, n_b.shape)
    found = np.full((4, int(np.prod(cells))), np.nan)
    for chosen, (dense_a, dense_b) in by_size(logs_a, logs_b):
        size_a, size_b = dense_a.shape[1], dense_b.shape[1]
        left_out = _of_two_samples(size_a, size_b, confidence) if min(size_a, size_b) >= MIN_RUNS else _NO_INTERVAL
        if size_a * size_b > _MANY:
            each = zip(np.sort(dense_a), np.sort(dense_b), strict=True)
            places = _counted([partial(_ratios_up_to, *of_cell) for of_cell in each])
        else:
            ratios = dense_b[:, :, None] - dense_a[:, None, :]
            places = _sorted(ratios.reshape(len(ratios), -1))
        found[:, chosen] = _invert(places, size_a * size_b, left_out)
    estimate, low, high, achieved = found.reshape(4, *cells)
    unknown = np.isnan(achieved)
    return RatioEstimate(
        estimate=estimate[()],
        low=low[()],
        high=high[()],
        confidence=achieved[()],
        estimand="median of the ratios of all runs of B to all runs of A",
        method="Hodges-Lehmann on logs",
        n_a=over_cells(n_a, cells),
        n_b=over_cells(n_b, cells),
        caveats=caveats_that_apply(
            cells,
            {
                Caveat.TOO_FEW: unknown,
                Caveat.NO_SPREAD: (logs_a.without_spread | logs_b.without_spread) & ~unknown,
            },
        ),
    )


def signed_rank_log(a: Runs, b: Runs, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the ratio of paired runs by the median of Walsh averages, with its signed-rank interval.

    Parameters
    ----------
    a, b
        The runs of each group, both of shape ``(..., n)``, with n of at least 6; ``a[..., i]`` and ``b[..., i]``
        belong to one round. Leading axes broadcast.
    confidence
        The minimum confidence level, as in `hodges_lehmann_log` (6 pairs: 96.9 %).

    Returns
    -------
    RatioEstimate
        The ratio B/A. Without ties, the interval excludes 1 exactly if `fsbench_kit.stats.signed_rank_p` is at
        most 1 - ``confidence``. With ties, the closed interval can only gain coverage and the test is exact, so
        that either can be stricter. If rounding leaves no spread, the interval is narrower than the printed digits
        justify, with a caveat.

    Raises
    ------
    ValueError
        If the groups have different lengths, there are fewer than six pairs, a value has no logarithm, or no
        interval reaches the confidence level.

    Notes
    -----
    Hodges and Lehmann (1963), as above; the interval is Tukey's, as in Lehmann (1975).

    The interval is exact if log ratios are symmetric about their median, as they are for groups of equal shape.

    Examples
    --------
    >>> a, b = [99.0, 100.0, 101.0, 102.0, 103.0, 104.0], [198.0, 201.0, 201.0, 203.0, 207.0, 900.0]
    >>> print(f"{signed_rank_log(a, b).estimate:.2f}")  # the outlier of 900 does little
    2.00
    """
    ratios = paired_logs(a, b, at_least=MIN_PAIRS)
    _check_reach(_of_pairs(ratios.values.shape[-1], confidence), confidence)
    n = ratios.n
    found = np.full((4, n.size), np.nan)
    for chosen, (dense,) in by_size(ratios):
        pairs = dense.shape[1]
        left_out = _of_pairs(pairs, confidence) if pairs >= MIN_PAIRS else _NO_INTERVAL
        averages = pairs * (pairs + 1) // 2
        if averages > _MANY:
            places = _counted([partial(_averages_up_to, of_cell) for of_cell in np.sort(dense)])
        else:
            first, second = np.triu_indices(pairs)
            places = _sorted((dense[:, first] + dense[:, second]) / 2)
        found[:, chosen] = _invert(places, averages, left_out)
    estimate, low, high, achieved = found.reshape(4, *n.shape)
    unknown = np.isnan(achieved)
    return RatioEstimate(
        estimate=estimate[()],
        low=low[()],
        high=high[()],
        confidence=achieved[()],
        estimand="pseudo-median of paired ratios",
        method="signed rank on logs",
        n_a=n,
        n_b=n,
        n_pairs=n,
        caveats=caveats_that_apply(
            n.shape, {Caveat.TOO_FEW: unknown, Caveat.NO_SPREAD: ratios.without_spread & ~unknown}
        ),
    )


_MANY: Final = 2**18
"""The number of contrasts from which they are counted instead of sorted: that of 512 runs per group."""

_LeftOut: TypeAlias = tuple[int, float]
"""How many contrasts an interval leaves out at each end, counting the end itself, and the level that this
achieves."""

_NO_INTERVAL: Final[_LeftOut] = (0, 0.0)


def _of_two_samples(n_a: int, n_b: int, confidence: float) -> _LeftOut:
    contrasts, n = n_a * n_b, n_a + n_b
    if n > EXACT_UP_TO:
        return _by_normal_limit(contrasts, contrasts * (n + 1) / 12, confidence)
    return _exactly(mann_whitney_null(n_a, (1,) * n), confidence)


def _of_pairs(n: int, confidence: float) -> _LeftOut:
    if n > EXACT_UP_TO:
        return _by_normal_limit(n * (n + 1) // 2, n * (n + 1) * (2 * n + 1) / 24, confidence)
    return _exactly(signed_rank_null(tuple(range(2, 2 * n + 1, 2))), confidence)


def _exactly(null: Floats, confidence: float) -> _LeftOut:
    """Read the cut-off from the distribution of twice the statistic, whose odd places are empty without ties."""
    tail = 2 * np.cumsum(null[::2])
    outside = int((tail <= 1 - checked_confidence(confidence) + 1e-12).sum())
    return outside, 1 - float(tail[max(outside, 1) - 1])


def _by_normal_limit(contrasts: int, variance: float, confidence: float) -> _LeftOut:
    sd, middle = variance**0.5, (contrasts - 1) / 2
    outside = max(0, 1 + int(np.floor(middle + sd * special.ndtri((1 - checked_confidence(confidence)) / 2))))
    return outside, 1 - 2 * float(special.ndtr((max(outside, 1) - 1 - middle) / sd))


_Places: TypeAlias = Callable[[int], "Floats"]
"""Returns the k-th smallest contrast of each cell, with k counted from 0."""


def _sorted(contrasts: Floats) -> _Places:
    contrasts.sort(axis=-1)
    return lambda place: contrasts[:, place]


def _counted(up_to: Sequence[Callable[[float], int]]) -> _Places:
    """Find each contrast by bisection, from counts below a value, because all of them would fill the memory."""

    def at(place: int, counted: Callable[[float], int]) -> float:
        low, high = -_FAR, _FAR
        while high - low > 10.0**-DECIMALS:
            middle = (low + high) / 2
            low, high = (low, middle) if counted(middle) > place else (middle, high)
        return high

    return lambda place: np.array([at(place, counted) for counted in up_to])


_FAR: Final = 2 * float(np.log(np.finfo(np.float64).max))
"""The largest possible absolute contrast of logarithms."""


def _ratios_up_to(a: Floats, b: Floats, limit: float) -> int:
    return int(np.searchsorted(b, a + limit, side="right").sum())


def _averages_up_to(ratios: Floats, limit: float) -> int:
    """Count the averages of two pairs, including that of each pair with itself."""
    both_ways = np.searchsorted(ratios, 2 * limit - ratios, side="right").sum()
    return int(both_ways + np.searchsorted(ratios, limit, side="right")) // 2


def _invert(places: _Places, contrasts: int, left_out: _LeftOut) -> Floats:
    """Return the estimate, low and high end, and achieved confidence of the interval from inverting a rank test.

    Parameters
    ----------
    places
        Returns the logarithms of ratios by rank; the test statistic is the number of them above the hypothesis.
    contrasts
        The number of contrasts per cell.
    left_out
        What the interval leaves out; if nothing, there is no interval.

    Returns
    -------
    ndarray
        Shape ``(4, cells)``; nan if there is no interval.
    """
    if not contrasts:
        return np.full((4, 1), np.nan)
    middle = contrasts - 1
    estimate = np.exp((places(middle // 2) + places(-(-middle // 2))) / 2)
    outside, achieved = left_out
    if not outside:
        return np.stack([estimate, *np.full((3, estimate.size), np.nan)])
    ends = (np.exp(places(place)) for place in (outside - 1, contrasts - outside))
    return np.stack([estimate, *ends, np.full(estimate.size, achieved)])


def _check_reach(left_out: _LeftOut, confidence: float) -> None:
    outside, widest = left_out
    if outside == 0:
        raise ValueError(
            f"so few runs give no interval of {100 * confidence:.3f} %; the widest has {100 * widest:.3f} %"
        )
