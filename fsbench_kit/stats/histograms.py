"""Quantiles of figures that are only known as counts in bins, merged over jobs or runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.stats.result import Floats, Ints
from fsbench_kit.stats.values import figures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts in bins, in ascending order; see `merged`.

    Attributes
    ----------
    low, high
        The ends of each bin. They are equal if a bin holds a single value; the last bin may have no upper end.
    count
        The number of figures in each bin, none of them 0.

    Examples
    --------
    >>> merged([0, 10], [10, 20], [5, 1]).total
    6
    """

    low: Floats
    high: Floats
    count: Ints

    @property
    def total(self) -> int:
        """The total number of figures."""
        return int(self.count.sum())


@dataclass(frozen=True, slots=True)
class BinnedQuantile:
    """A quantile known to within a bin: the middle of the bin, and its ends as certain bounds.

    Examples
    --------
    >>> found = binned_quantile(merged([0, 10], [10, 20], [5, 1]), 0.99)
    >>> found.low, found.value, found.high
    (10.0, 15.0, 20.0)
    """

    value: float
    low: float
    high: float


_MOST: Final = 2**53
"""The largest integer up to which floats are exact."""


def merged(low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Histogram:
    """Merge the bins of any number of histograms into one.

    Parameters
    ----------
    low, high, count
        The bins of all histograms, one after another, shape ``(n,)``; equal bins are added up. An upper end of inf
        or nan means that the bin has none.

    Raises
    ------
    ValueError
        If all bins are empty, a count is negative or not whole, the counts add up to more than 2^53, an end is out
        of order, or two bins overlap partially. In the latter case the histograms are of different kinds and
        cannot be merged without guessing.

    Examples
    --------
    >>> histogram = merged([0, 10, 0], [10, 20, 10], [5, 1, 2])  # two of three bins are equal
    >>> histogram.count.tolist()
    [7, 1]
    """
    lows, highs = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    counts = figures(count, "count", at_least=1).values
    highs = np.where(np.isnan(highs), np.inf, highs)
    if not (lows.shape == highs.shape == counts.shape == (counts.size,)):
        raise ValueError("low, high and count of bins must be lists of the same length")
    if (counts < 0).any() or (counts != counts.round()).any():
        raise ValueError("the count of a bin must be a whole number, at least 0")
    if not (np.isfinite(lows) & (lows <= highs)).all():
        raise ValueError("a bin has a finite lower end, and an upper end that is not below it")
    filled = counts > 0
    if not filled.any():
        raise ValueError("all bins are empty")
    bins, place = np.unique(np.stack([lows, highs], axis=-1)[filled], axis=0, return_inverse=True)
    if counts[filled].sum() > _MOST:
        raise ValueError(f"the bins hold {counts[filled].sum():.3g} figures, more than can be counted exactly")
    added = np.bincount(place.reshape(-1), weights=counts[filled]).astype(np.int64)
    overlapping = np.flatnonzero(bins[1:, 0] < bins[:-1, 1])
    if overlapping.size:
        first, second = bins[overlapping[0]], bins[overlapping[0] + 1]
        raise ValueError(f"bins overlap: {first[0]:g} to {first[1]:g}, and {second[0]:g} to {second[1]:g}")
    return Histogram(low=bins[:, 0], high=bins[:, 1], count=added)


def binned_quantile(histogram: Histogram, q: float) -> BinnedQuantile:
    """Return a quantile of the figures: the bin of the first figure with a share of at least q at or below it.

    fio computes percentiles from its bins by the same rule.

    Raises
    ------
    ValueError
        If q is not above 0 and at most 1.

    Examples
    --------
    >>> binned_quantile(merged([0, 10], [10, 20], [99, 1]), 0.99)
    BinnedQuantile(value=5.0, low=0.0, high=10.0)
    """
    if not 0 < q <= 1:
        raise ValueError(f"a quantile of {q} is not above 0 and at most 1; write 0.99 for 99 %")
    least = q * histogram.total
    bin_ = _bin_of(histogram, np.ceil(least - 1e-9 * max(1.0, least)))  # 0.99 * 100 is 99 despite rounding
    low, high = float(histogram.low[bin_]), float(histogram.high[bin_])
    return BinnedQuantile(value=(low + high) / 2, low=low, high=high)


def _bin_of(histogram: Histogram, rank: float) -> int:
    """Return the bin of a figure by its rank, counted from 1 in ascending order."""
    return int(np.searchsorted(np.cumsum(histogram.count), rank))
