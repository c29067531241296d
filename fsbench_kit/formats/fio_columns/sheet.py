"""Combines the contents of reports, as columns over all of them or as the records of one."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.fio_columns import columns
from fsbench_kit.formats.fio_columns.columns import ORDER, Known, Log, Rows, Shape
from fsbench_kit.formats.fio_columns.figures import printed
from fsbench_kit.formats.fio_columns.numbers import Bools, Floats, Ints, Numbers
from fsbench_kit.formats.fio_columns.percentiles import BinColumns, Wrong, percentiles
from fsbench_kit.model.records import Bins, Distributions, Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHARE: Final = printed("", "group_share", unit="%")
"""How shares of a distribution are printed; it is the same as for group shares."""


class Distribution(NamedTuple):
    """Bins and shares as columns, sorted by log; unknown values are NaN, unknown counts -1."""

    log: Ints
    order: Ints
    place: Ints
    metric: Ints
    low: Floats
    high: Floats
    number: Ints
    share: Floats
    line: Ints

    def of(self, index: Any) -> Distribution:
        """Return some of the bins."""
        return Distribution._make(column[index] for column in self)


class Sheet:
    """The contents of reports.

    Parameters
    ----------
    logs
        The reports.
    numbers
        The numbers of all of them.
    known
        What was seen in other sheets.

    Attributes
    ----------
    values
        Their numbers.
    rows
        Their measurements.
    distributions
        Their bins.
    wrong
        Problems with single numbers.
    """

    def __init__(self, logs: Sequence[Log], numbers: Numbers, known: Known) -> None:
        self.logs, self._numbers, self._known = logs, numbers, known
        self._sorted = columns.Logs(logs)
        self.values = columns.Values(self._sorted, numbers)
        self._buckets = self._read_buckets()
        bins = self._read_rows()
        self.distributions = self._distributions(bins)

    @property
    def wrong(self) -> list[Wrong]:
        """Problems with single numbers."""
        return self._latencies.wrong

    def _read_rows(self) -> BinColumns:
        """Read the measurements; return the bins of latencies."""
        figures, self._is_known, is_strange = columns.figures(self._sorted, self.values, self._known)
        self._strange = figures.log[is_strange]
        self._latencies, bins, of_latencies = percentiles(self._sorted, self.values, self._known)
        are_there = [self._is_known, *(np.ones(len(each.log), bool) for each in of_latencies)]
        number, several = len(figures.log), [figures, *of_latencies]
        del figures, of_latencies  # each column is let go when it is merged
        self.rows, index = Rows.merged(several, are_there)
        are_figures = index < number
        self._rows_of_figures = np.full(number, -1)
        self._rows_of_figures[index[are_figures]] = np.flatnonzero(are_figures)
        return bins

    def _read_buckets(self) -> tuple[Bools, Distribution]:
        """Return which of all shares were read, and these shares."""
        logs = self._sorted
        at = self.values.at(_buckets)
        share, _, _ = self.values.amounts(at, [_SHARE], np.zeros(len(at), np.int64))

        is_read = ~np.isnan(share) & (logs.column(lambda shape: shape.with_zeros) | (share != 0))
        read = Distribution(
            logs.given(_buckets),
            logs.column(lambda shape: shape.bucket_orders),
            logs.coded(lambda shape: shape.bucket_places, self._known.places),
            logs.coded(lambda shape: shape.bucket_metrics, self._known.metrics),
            logs.column(lambda shape: shape.bucket_lows),
            logs.column(lambda shape: shape.bucket_highs),
            np.full(len(share), -1),
            share,
            logs.lines(_buckets),
        )
        return is_read, read.of(np.flatnonzero(is_read))

    def _distributions(self, bins: BinColumns) -> Distribution:
        """Return all bins and shares; bins can be many, so that each column is only held while it is needed."""
        latencies, (_, shares) = self._latencies.latencies, self._buckets
        log, order = latencies.log, latencies.order
        of_latencies = (column[bins.of] for column in (log, order, latencies.place, latencies.metric))
        own = chain(of_latencies, (bins.low, bins.high, bins.number, np.full(len(bins.of), np.nan), bins.line))
        index = columns.in_order(
            np.concatenate([log[bins.of], shares.log]), np.concatenate([order[bins.of], shares.order])
        )
        return Distribution._make(np.concatenate(pair)[index] for pair in zip(own, shares, strict=True))

    # One log

    def figures_of(self, log: int) -> list[Figure]:
        """Return the measurements of a log as rows."""
        start, end = np.searchsorted(self.rows.log, [log, log + 1])
        rows = self.rows.of(slice(start, end))
        places, whats = self._known.places.items, self._known.whats.items
        return [
            Figure(
                places[place], whats[known], value, low, high, samples if samples >= 0 else None, text, line, None
            )
            for place, known, value, low, high, samples, text, line in zip(
                rows.place.tolist(),
                rows.what.tolist(),
                *map(_or_none, (rows.value, rows.low, rows.high)),
                rows.samples.tolist(),
                self.values.texts(rows.at).to_list(),
                rows.line.tolist(),
                strict=True,
            )
        ]

    def agreeing(self, log: int) -> list[bool]:
        """Return which of these are percentiles that agree with each other and with the bins."""
        start, end = np.searchsorted(self.rows.log, [log, log + 1])
        latencies = self._latencies.latencies
        agree = latencies.order[(latencies.log == log) & ~self._latencies.disagree]
        is_agreeing: list[bool] = np.isin(self.rows.order[start:end] >> ORDER, agree).tolist()
        return is_agreeing

    def bins_of(self, log: int) -> Distributions:
        """Return the bins of a log."""
        start, end = np.searchsorted(self.distributions.log, [log, log + 1])
        own = self.distributions.of(slice(start, end))
        places, metrics = self._known.places.items, self._known.metrics.items
        edges = [*np.flatnonzero(np.diff(own.order, prepend=-1)).tolist(), len(own.order)]
        made = []
        for first, last in pairwise(edges):
            place, part = places[own.place[first]], slice(first, last)
            has_counts = own.number[first] >= 0
            made.append(
                Bins(
                    operation=place.operation,
                    metric=metrics[own.metric[first]],
                    scope=place.scope,
                    part=place.part,
                    lows=own.low[part],
                    highs=own.high[part],
                    lines=own.line[part],
                    counts=own.number[part] if has_counts else None,
                    shares=None if has_counts else own.share[part],
                )
            )
        return Distributions(made)

    def read_numbers(self, log: int) -> Ints:
        """Return the ordinals of the numbers of a log that were read."""
        own = self.logs[log]
        read = [each.numbers[each.is_read] for each in own.bins if each.numbers is not None]
        is_read_bucket, _ = self._buckets
        for column, is_read in (
            (_figures, self._is_known),
            (_percentiles, self._latencies.is_read),
            (_buckets, is_read_bucket),
        ):
            numbers, start = column(own.shape), int(self._sorted.starts_of(log, column))
            read.append(numbers[is_read[start : start + len(numbers)]])
        return np.concatenate(read)

    # Many logs

    def longest(self, metric: str) -> Floats:
        """Return the largest value of a metric in each log, or -1."""
        are_of = np.array([known.metric == metric for known in self._known.whats.items], bool)[self.rows.what]
        longest = np.full(len(self.logs), -1.0)
        np.maximum.at(longest, self.rows.log[are_of], self.rows.value[are_of])
        return longest

    def is_odd(self) -> Bools:
        """Return which logs have to be read separately."""
        odd = np.zeros(len(self.logs), bool)
        latencies = self._latencies
        odd[latencies.latencies.log[latencies.disagree]] = True
        odd[self._strange] = True
        odd[np.bincount(self.rows.log, minlength=len(odd)) == 0] = True
        unread = np.flatnonzero(~latencies.is_read)
        is_any = self._numbers.is_any[self.values.at(_percentiles)[unread]]
        odd[self._sorted.given(_percentiles)[unread][is_any]] = True
        return odd

    def rows_of_figures(self, logs: Ints) -> Ints:
        """Return the rows of all figures of logs with the same layout, except for percentiles; -1 for none."""
        number = len(self.logs[logs[0]].figures.rows)
        starts = self._sorted.starts_of(logs, _figures)
        rows: Ints = self._rows_of_figures[(starts[:, None] + np.arange(number)).T]
        return rows


def _figures(shape: Shape) -> Ints:
    return shape.rows


def _percentiles(shape: Shape) -> Ints:
    return shape.percentiles


def _buckets(shape: Shape) -> Ints:
    return shape.buckets


def _or_none(column: Floats) -> list[float | None]:
    known: list[float | None] = column.tolist()
    for index in np.flatnonzero(np.isnan(column)).tolist():
        known[index] = None
    return known
