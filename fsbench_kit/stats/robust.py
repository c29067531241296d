"""Ratios that a single odd run cannot move: Hodges-Lehmann estimates on logarithms, with exact intervals."""

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
"""Runs per group below which no two-sided 95 % interval exists: three against three reach 90 %."""

MIN_PAIRS: Final = 6
"""Pairs below which no two-sided 95 % interval exists: five reach 93.75 %."""


def hodges_lehmann_log(a: Runs, b: Runs, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the shift in ratio between two independent groups, by Hodges and Lehmann, with its interval.

    The estimate is the median of all ratios of a run of B to a run of A; the interval holds the ratios that the
    Mann-Whitney test would not reject.

    Parameters
    ----------
    a, b
        Runs of either group, shapes ``(..., n_a)`` and ``(..., n_b)``, n of at least 4, in the same unit. The
        leading axes are cells and broadcast.
    confidence
        At least this; the rank statistic allows only certain levels, and ``confidence`` of the result is the
        lowest of them that will do (4 against 4: 97.1 %).

    Returns
    -------
    RatioEstimate
        Of B/A. Without ties the interval excludes 1 exactly where `fsbench_kit.stats.mann_whitney_p` is at most
        1 - ``confidence``. It is closed, so ties can only raise its coverage; the test is exact for them, and
        either can then be the stricter. Where rounding leaves no spread, the interval is narrower than the print
        can tell, and says so.

    Raises
    ------
    ValueError
        If a group has fewer than four runs, a value has no logarithm, or no interval reaches the confidence.

    Notes
    -----
    Hodges, J. L. and Lehmann, E. L. (1963), Ann. Math. Stat. 34, 598-611; the interval as in
    Lehmann, E. L. (1975), *Nonparametrics*.

    The interval is exact where one group is the other times a constant; with one group six times as noisy, 30 runs
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
            places = _sorted((dense_b[:, :, None] - dense_a[:, None, :]).reshape(len(chosen), -1))
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
    """Estimate the ratio of paired runs, by the median of Walsh averages with its signed-rank interval.

    Parameters
    ----------
    a, b
        Runs of either group, both of shape ``(..., n)``, n of at least 6; ``a[..., i]`` and ``b[..., i]`` are of
        one round. The leading axes broadcast.
    confidence
        At least this, as in `hodges_lehmann_log` (6 pairs: 96.9 %).

    Returns
    -------
    RatioEstimate
        Of B/A. Without ties the interval excludes 1 exactly where `fsbench_kit.stats.signed_rank_p` is at most
        1 - ``confidence``. It is closed, so ties can only raise its coverage; the test is exact for them, and
        either can then be the stricter. Where rounding leaves no spread, the interval is narrower than the print
        can tell, and says so.

    Raises
    ------
    ValueError
        If the groups are not equally long, there are fewer than six pairs, a value has no logarithm, or no
        interval reaches the confidence.

    Notes
    -----
    Hodges and Lehmann (1963), as above; the interval is Tukey's, as in Lehmann (1975).

    The interval is exact where log ratios are symmetric about their median, as those of groups with equal shapes
    are.

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
"""From so many contrasts on they are counted and not sorted: 512 runs of each group have as many."""

_LeftOut: TypeAlias = tuple[int, float]
"""How many contrasts an interval leaves out at either end, counting the end itself, and what that achieves."""

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
    """Read it off the distribution of twice the statistic, whose odd places are empty without ties."""
    tail = 2 * np.cumsum(null[::2])
    outside = int((tail <= 1 - checked_confidence(confidence) + 1e-12).sum())
    return outside, 1 - float(tail[max(outside, 1) - 1])


def _by_normal_limit(contrasts: int, variance: float, confidence: float) -> _LeftOut:
    sd, middle = variance**0.5, (contrasts - 1) / 2
    outside = max(0, 1 + int(np.floor(middle + sd * special.ndtri((1 - checked_confidence(confidence)) / 2))))
    return outside, 1 - 2 * float(special.ndtr((max(outside, 1) - 1 - middle) / sd))


_Places: TypeAlias = Callable[[int], "Floats"]
"""Gives the least contrast of each cell, the next one, ..., by its place from 0 on."""


def _sorted(contrasts: Floats) -> _Places:
    ordered = np.sort(contrasts, axis=-1)
    return lambda place: ordered[:, place]


def _counted(up_to: Sequence[Callable[[float], int]]) -> _Places:
    """Halve the way to each contrast, given how many lie below a value: so many would not fit into memory."""

    def at(place: int, counted: Callable[[float], int]) -> float:
        low, high = -_FAR, _FAR
        while high - low > 10.0**-DECIMALS:
            middle = (low + high) / 2
            low, high = (low, middle) if counted(middle) > place else (middle, high)
        return high

    return lambda place: np.array([at(place, counted) for counted in up_to])


_FAR: Final = 2 * float(np.log(np.finfo(np.float64).max))
"""No contrast of logarithms lies further from 0."""


def _ratios_up_to(a: Floats, b: Floats, limit: float) -> int:
    return int(np.searchsorted(b, a + limit, side="right").sum())


def _averages_up_to(ratios: Floats, limit: float) -> int:
    """Count averages of two pairs, of which each pair is one with itself."""
    both_ways = np.searchsorted(ratios, 2 * limit - ratios, side="right").sum()
    return int(both_ways + np.searchsorted(ratios, limit, side="right")) // 2


def _invert(places: _Places, contrasts: int, left_out: _LeftOut) -> Floats:
    """Return estimate, low, high and the achieved confidence of the interval that a rank test leaves.

    Parameters
    ----------
    places
        The logarithms of ratios, whose number above the hypothesis is the statistic.
    contrasts
        How many a cell has.
    left_out
        What the interval leaves out; nothing, where there is none.

    Returns
    -------
    ndarray
        Shape ``(4, cells)``; nan where there is none.
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
