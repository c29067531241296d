"""Adds up the rows of a log in pieces, using a constant amount of memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Final

import numpy as np

from fsbench_kit.formats.fio_log.histograms import rank_of
from fsbench_kit.formats.fio_log.rows import Piece
from fsbench_kit.formats.fio_log.strict import Column

LINES_NAMED: Final = 5
"""The maximum number of unread lines that are reported one by one."""

_BIN_BITS: Final = 6
_BINS: Final = (64 - _BIN_BITS) << _BIN_BITS
HELD: Final = 2**24
"""The number of requests whose values are held in memory; longer logs are read twice."""
_AT_ONCE: Final = 2**20
_FALL: Final = 100
"""The number of ms that times must go back to indicate the rows of another job or run."""


@dataclass(slots=True)
class Total:
    """Sums over the rows of one direction, which are either windows or single requests.

    Attributes
    ----------
    squares
        The sum of squared deviations from the mean.
    largest
        The maximum of the column of the windows' largest values, if present.
    counts
        The number of values in each of fio's bins; zero unless requested.
    """

    rows: int = 0
    sum: int = 0
    squares: float = 0.0
    smallest: int = 0
    greatest: int = 0
    largest: int | None = None
    bytes: int = 0
    smallest_block: int = 0
    largest_block: int = 0
    counts: Column = field(default_factory=lambda: np.zeros(_BINS, np.int64))

    def add(self, values: Column, sizes: Column, largest: Column | None, *, binned: bool) -> None:
        """Add rows: their values, their block sizes, and the largest values of their windows."""
        rows, total, before = len(values), int(values.sum()), self.rows
        self.squares += rows * float(values.var())
        if before:
            self.squares += (self.sum / before - total / rows) ** 2 * before * rows / (before + rows)
        self.rows += rows
        self.sum += total
        self.bytes += int(sizes.sum())
        self.smallest = min(int(values.min()), self.smallest) if before else int(values.min())
        self.greatest = max(int(values.max()), self.greatest)
        self.smallest_block = min(int(sizes.min()), self.smallest_block) if before else int(sizes.min())
        self.largest_block = max(int(sizes.max()), self.largest_block)
        if largest is not None:
            self.largest = max(int(largest.max()), self.largest or 0)
        if binned:
            self.counts += np.bincount(_bin(values), minlength=_BINS)

    def statistics(self) -> Iterator[tuple[str, float]]:
        """Yield the names and values of the statistics over all rows."""
        yield "mean", self.sum / self.rows
        yield "min", self.smallest
        yield "max", self.greatest
        if self.rows > 1:
            yield "stdev", sqrt(self.squares / (self.rows - 1))

    def bins(self) -> Iterator[tuple[int, int, int]]:
        """Yield the lower end, the upper end and the count of each bin that is not empty."""
        found = np.flatnonzero(self.counts)
        for index, count in zip(found.tolist(), self.counts[found].tolist(), strict=True):
            yield (*_bounds(index), count)


@dataclass(slots=True)
class Totals:
    """Sums over the rows of a log.

    Attributes
    ----------
    totals
        Sums by direction and by whether rows are windows.
    falls
        How often times go back.
    unread, first_unread
        The number of lines that are not rows, and the first of them: number and text.
    ends
        Whether the last line is terminated.
    held
        The values of binned requests by direction; ``None`` if there are more than `HELD`.
    """

    totals: dict[tuple[int, bool], Total] = field(default_factory=lambda: defaultdict(Total))
    falls: int = 0
    unread: int = 0
    first_unread: list[tuple[int, str]] = field(default_factory=list)
    ends: bool = True
    held: list[tuple[int, Column]] | None = field(default_factory=list)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(total.rows for total in self.totals.values())


def add_up(pieces: Iterable[Piece], *, binned: bool) -> Totals:
    """Add up the rows of a log and, if requested, count those of single requests in fio's bins."""
    found = Totals()
    before: int | None = None
    for piece in pieces:
        found.unread += len(piece.unread)
        found.first_unread += piece.unread[: LINES_NAMED - len(found.first_unread)]
        found.ends = piece.ends
        times, sizes = piece.columns["time"], piece.columns["block_size"]
        if not len(times):
            continue
        found.falls += int((np.diff(times, prepend=times[0] if before is None else before) < -_FALL).sum())
        before = int(times[-1])
        largest = piece.columns.get("largest")
        for direction, windowed, chosen in piece.groups():
            values, is_binned = piece.columns["value"][chosen], binned and not windowed
            total = found.totals[direction, windowed]
            total.add(values, sizes[chosen], None if largest is None else largest[chosen], binned=is_binned)
            if is_binned and found.held is not None:
                found.held.append((direction, _narrow(values)))
        if found.rows > HELD:
            found.held = None
    return found


def requests(pieces: Iterable[Piece]) -> Iterator[tuple[int, Column]]:
    """Yield the values of single requests, with their direction."""
    for piece in pieces:
        for direction, windowed, chosen in piece.groups():
            if not windowed:
                yield direction, piece.columns["value"][chosen]


def _narrow(values: Column) -> Column:
    return values.astype(np.uint32) if int(values.max()) < 2**32 else values


class Percentiles:
    """Computes exact percentiles of values that are added in parts; only values in the relevant bins are sorted.

    `counts` is the number of values in each bin.
    """

    def __init__(self, counts: Column, percentiles: Sequence[float]) -> None:
        self._ranks = [rank_of(percentile, int(counts.sum())) for percentile in percentiles]
        self._bins = np.searchsorted(np.cumsum(counts), self._ranks)
        self._is_wanted = np.zeros(len(counts), bool)
        self._is_wanted[self._bins] = True
        self._others_below = np.cumsum(np.where(self._is_wanted, 0, counts))
        self._parts: list[tuple[Column, Column]] = []

    def add(self, values: Column) -> None:
        """Add some of the values."""
        values = values.astype(np.int64)
        self._parts.append(np.unique(values[self._is_wanted[_bin(values)]], return_counts=True))
        if sum(len(values) for values, _ in self._parts) > _AT_ONCE:
            self._parts = [self._merged()]

    def _merged(self) -> tuple[Column, Column]:
        """Return the distinct values in the relevant bins, and how often each occurs."""
        values, counts = map(np.concatenate, zip(*self._parts, strict=True))
        unique, places = np.unique(values, return_inverse=True)
        return unique, np.bincount(places, counts).astype(np.int64)

    def values(self) -> list[int]:
        """Return the percentiles: for each, the smallest value that has its rank or a higher one."""
        values, counts = self._merged()
        places = np.searchsorted(np.cumsum(counts), self._ranks - self._others_below[self._bins])
        found: list[int] = values[places].tolist()
        return found


def _bin(values: Column) -> Column:
    """Return the index of fio's bin for each value: 64 bins per octave."""
    # The exponent of a float is the bit length of the number, as long as no bits are lost.
    shifts = np.maximum(np.frexp(values.astype(np.float64))[1] - (_BIN_BITS + 1), 0).astype(np.int64)
    indices: Column = (shifts << _BIN_BITS) + (values >> shifts)
    return indices


def _bounds(index: int) -> tuple[int, int]:
    """Return the smallest value of a bin and that of the next bin, or the same twice for a single number."""
    shift = max(index >> _BIN_BITS, 1) - 1
    low = (index - (shift << _BIN_BITS)) << shift
    return low, low + (1 << shift) if shift else low
