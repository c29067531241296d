"""Ratios that a single odd run cannot move: Hodges-Lehmann estimates on logarithms, with exact intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.stats.ranks import mann_whitney_null, signed_rank_null
from fsbench_kit.stats.ratio import paired_logs
from fsbench_kit.stats.result import Caveat, RatioEstimate, caveats_that_apply
from fsbench_kit.stats.student import over_cells
from fsbench_kit.stats.values import by_size, checked_confidence, runs

if TYPE_CHECKING:
    from fsbench_kit.stats.result import Floats
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
    _check_reach(_without_ties(logs_a.values.shape[-1], logs_b.values.shape[-1]), confidence)
    n_a, n_b = logs_a.n, logs_b.n
    cells = np.broadcast_shapes(n_a.shape, n_b.shape)
    found = np.full((4, int(np.prod(cells))), np.nan)
    for chosen, (dense_a, dense_b) in by_size(logs_a, logs_b):
        few = min(dense_a.shape[1], dense_b.shape[1])
        null = _without_ties(dense_a.shape[1], dense_b.shape[1]) if few >= MIN_RUNS else None
        ratios = (dense_b[:, :, None] - dense_a[:, None, :]).reshape(len(chosen), -1)
        found[:, chosen] = _invert(ratios, null, confidence)
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


def _without_ties(n_a: int, n_b: int) -> Floats:
    return mann_whitney_null(n_a, (1,) * (n_a + n_b))


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
    _check_reach(_signs(ratios.values.shape[-1]), confidence)
    n = ratios.n
    found = np.full((4, n.size), np.nan)
    for chosen, (dense,) in by_size(ratios):
        pairs = dense.shape[1]
        first, second = np.triu_indices(pairs)
        null = _signs(pairs) if pairs >= MIN_PAIRS else None
        at_once = max(1, _MOST_AVERAGES // max(1, first.size))
        parts = (dense[start : start + at_once] for start in range(0, len(dense) or 1, at_once))
        averages = ((part[:, first] + part[:, second]) / 2 for part in parts)
        found[:, chosen] = np.concatenate([_invert(each, null, confidence) for each in averages], axis=1)
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


_MOST_AVERAGES: Final = 2**23
"""So many averages of two pairs are in memory at a time: five thousand pairs have more in a single cell."""


def _signs(n: int) -> Floats:
    return signed_rank_null(tuple(range(2, 2 * n + 1, 2)))


def _invert(contrasts: Floats, null: Floats | None, confidence: float) -> Floats:
    """Return estimate, low, high and the achieved confidence of the interval that a rank test leaves.

    Parameters
    ----------
    contrasts
        Logarithms of ratios, shape ``(cells, m)``: the statistic counts those above the hypothesis.
    null
        The distribution of twice the statistic, shape ``(2 m + 1,)``, without ties; ``None`` for no interval.

    Returns
    -------
    ndarray
        Shape ``(4, cells)``; nan where there is none.
    """
    found = np.full((4, len(contrasts)), np.nan)
    if contrasts.size:
        ordered = np.sort(contrasts, axis=-1)
        middle = ordered.shape[1] - 1
        found[0] = np.exp((ordered[:, middle // 2] + ordered[:, -(-middle // 2)]) / 2)
        outside, achieved = (0, 0.0) if null is None else _outside(null, confidence)
        if outside:
            found[1:] = (
                np.exp(ordered[:, outside - 1]),
                np.exp(ordered[:, -outside]),
                np.full(len(ordered), achieved),
            )
    return found


def _outside(null: Floats, confidence: float) -> tuple[int, float]:
    """Return how many contrasts to leave out at either end, counting the end itself, and what that achieves."""
    tail = 2 * np.cumsum(null[::2])  # two-sided; without ties the odd places are empty
    outside = int((tail <= 1 - checked_confidence(confidence) + 1e-12).sum())
    return outside, 1 - float(tail[max(outside, 1) - 1])


def _check_reach(null: Floats, confidence: float) -> None:
    outside, widest = _outside(null, confidence)
    if outside == 0:
        raise ValueError(f"so few runs give no interval of {confidence:.3%}; the widest has {widest:.3%}")
