"""Changes in the level of a series, caused by a cache that fills up, a throttled device or a warm-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from fsbench_kit.stats.result import Floats, Ints
from fsbench_kit.stats.values import checked_confidence, figures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


SHORTEST: Final = 5
"""The fewest figures in a segment: a shorter dip is not a new level."""

PENALTY: Final = 4.0
"""The reduction in squared deviations that a change must bring: this times ln n, in units of the long-run
variance."""

MOST_ALIKE: Final = 0.95
"""The largest lag-1 correlation that is accounted for."""


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """A series divided into segments of constant level.

    Attributes
    ----------
    starts
        The index of the first figure of each segment. The first is 0; each further one marks a change.
    means
        The mean of each segment.

    Examples
    --------
    >>> cut = levels([100.0, 101.0, 99.0, 100.0, 102.0, 98.0] * 3)
    >>> cut.starts.size  # a single stretch: the level does not change
    1
    """

    starts: Ints
    means: Floats


def levels(series: ArrayLike, *, independent: bool = False) -> Levels:
    """Divide a series into segments of constant level.

    Parameters
    ----------
    series
        Figures at equal intervals, shape ``(n,)``, with n of at least 10.
    independent
        Whether the figures are uncorrelated, as those of separate runs are.

    Returns
    -------
    Levels
        A single segment if there is no visible change.

    Raises
    ------
    ValueError
        If there are too few figures, one is absent or not finite, or there is more than one axis.

    Notes
    -----
    Optimal partitioning with pruning: Killick, R., Fearnhead, P. and Eckley, I. A. (2012), JASA 107, 1590-1598,
    for the mean under squared error. Correlation between neighbours makes changes look larger than they are, so
    the penalty is in units of the long-run variance. The penalty of Barrett, E. et al. (2017), OOPSLA, article 52,
    which is 15 ln n in units of the plain variance, was measured to find a change in at least 88 % of constant
    series with a correlation of 0.9. Here, this happens in at most 8 % up to a correlation of 0.6, and in 10 to 18
    % at 0.9 (``docs/coverage.md``).

    Examples
    --------
    >>> cut = levels([100.0, 101.0, 99.0, 100.0, 102.0, 98.0] * 3 + [50.0, 51.0, 49.0, 50.0, 52.0, 48.0] * 3)
    >>> cut.starts.tolist(), cut.means.round().tolist()
    ([0, 18], [100.0, 50.0])
    """
    sample = figures(series, "series", at_least=2 * SHORTEST)
    if sample.values.ndim != 1 or not sample.present.all():
        raise ValueError("levels must form one series without gaps")
    values = sample.values
    noise = _noise(values, independent=independent)
    penalty = PENALTY * np.log(values.size) * noise
    starts = np.array([0] if noise == 0 else _cut(_without_dips(values, penalty), penalty))
    return Levels(starts, np.add.reduceat(values, starts) / np.diff([*starts, values.size]))


def reach(series: ArrayLike, cut: Levels, confidence: float = 0.95, *, independent: bool = False) -> Ints:
    """Return the first and last index at which each change of a series may lie, shape ``(changes, 2)``.

    Parameters
    ----------
    series, independent
        As for `levels`.
    cut
        The result of `levels` for the same series.
    confidence
        Confidence level of each pair of indices.

    Notes
    -----
    The indices between the neighbouring changes that a likelihood ratio test does not reject: Hansen, B. E.
    (2000), Econometrica 68, 575-603. The critical value is the one for small steps; large ones are covered more
    often than stated. The noise is that of `levels`.

    Examples
    --------
    >>> series = [100.0, 101.0, 99.0, 100.0, 102.0, 98.0] * 3 + [97.0, 98.0, 96.0, 97.0, 99.0, 95.0] * 3
    >>> cut = levels(series)
    >>> cut.starts.tolist(), reach(series, cut).tolist()
    ([0, 17], [[15, 21]])
    """
    values = figures(series, "series", at_least=2 * SHORTEST).values
    most = -2 * np.log(1 - np.sqrt(checked_confidence(confidence))) * _noise(values, independent=independent)
    ends = [*cut.starts, values.size]
    found = [_places(values[a:b], most) + a for a, b in zip(ends, ends[2:], strict=False)]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _places(values: Floats, most: float) -> Ints:
    """Return the first and last index of a step whose squared deviations exceed the minimum by at most `most`."""
    n = values.size
    before = np.arange(1, n)
    sums = np.cumsum(values - values.mean())[:-1]
    gain = sums**2 * (1 / before + 1 / (n - before))
    near: Ints = before[gain >= gain.max() - most][[0, -1]]
    return near


def _without_dips(values: Floats, penalty: float) -> Floats:
    """Return a series in which outliers too few to form a segment are replaced by the median around them.

    A figure is an outlier if it is so far from this median that, were all but one of the shortest segment at its
    value, the segment would be worth a change.
    """
    typical = _median_about(values)
    far = np.abs(values - typical) > np.sqrt(SHORTEST * penalty) / (SHORTEST - 1)
    return np.where(far, typical, values)


def _median_about(values: Floats) -> Floats:
    """Return the median around each figure, over a window of which a shortest segment is the majority."""
    windows = sliding_window_view(values, 2 * SHORTEST - 1)
    return np.pad(np.median(windows, axis=-1), SHORTEST - 1, mode="edge")


def _noise(values: Floats, *, independent: bool) -> float:
    """Return the long-run variance under an AR(1) model.

    Differences of figures one and two places apart have variances of 2 s^2 (1 - r) and 2 s^2 (1 - r^2); only the
    few taken across a change of level are affected by it. The long-run variance is s^2 (1 + r) / (1 - r).
    """
    one, two = (_variance_of_differences(values, lag) for lag in (1, 2))
    if one == 0 or independent:
        return one / 2
    r = min(max(two / one - 1, 0.0), MOST_ALIKE)
    return one / 2 * (1 + r) / (1 - r) ** 2


def _variance_of_differences(values: Floats, lag: int) -> float:
    """Return the variance of differences, estimated from the smaller squares, or from all if those are 0."""
    squares = np.sort(np.square(values[lag:] - values[:-lag]))
    return float(squares[: int(0.9 * squares.size)].mean() / _SMALLER_SQUARES or squares.mean())


_SMALLER_SQUARES: Final = 0.6230
"""The mean square of a standard normal variable, given that it is among the 90 % closest to 0."""


def _cut(values: Floats, penalty: float) -> list[int]:
    """Return the starts of the segments that minimise the squared deviations plus penalties."""
    n = values.size
    centred = values - values.mean()
    sums, squares = (np.concatenate([[0.0], np.cumsum(x)]) for x in (centred, centred**2))
    cost = np.full(n + 1, np.inf)  # [figures so far]
    cost[0] = -penalty
    start = np.zeros(n + 1, dtype=np.int64)
    candidates = np.array([0])
    for end in range(SHORTEST, n + 1):
        length = end - candidates
        deviations = squares[end] - squares[candidates] - (sums[end] - sums[candidates]) ** 2 / length
        totals = cost[candidates] + deviations
        best = int(totals.argmin())
        cost[end], start[end] = totals[best] + penalty, candidates[best]
        candidates = np.append(candidates[totals <= cost[end]], end - SHORTEST + 1)
    starts = [int(start[n])]
    while starts[-1] > 0:
        starts.append(int(start[starts[-1]]))
    return starts[::-1]
