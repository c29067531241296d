"""Puts together what was read of reports: as columns over all of them, or as the records of one."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.fio_columns import columns
from fsbench_kit.formats.fio_columns.columns import ORDER, Bools, Floats, Ints, Numbered, ints
from fsbench_kit.formats.fio_columns.figures import printed
from fsbench_kit.formats.fio_columns.percentiles import percentiles
from fsbench_kit.model.records import Bins, Distributions, Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.formats.fio_columns.columns import Log
    from fsbench_kit.formats.fio_columns.percentiles import Wrong
    from fsbench_kit.model.records import Measurement, Place, What

_SHARE: Final = printed("", "group_share", unit="%")
"""How shares of a distribution are printed, too."""


class Distribution(NamedTuple):
    """Bins and shares as columns, in the order of the logs; unknown is NaN, of numbers -1."""

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
    """What was read of some reports.

    Attributes
    ----------
    rows
        Their measurements.
    distributions
        Their bins.
    wrong
        What is wrong with single numbers.
    """

    def __init__(self, logs: Sequence[Log]) -> None:
        self.logs = logs
        self._places, self._whats, self._metrics = Numbered(), Numbered(), Numbered()
        self._values = values = columns.Values(logs)
        self.figures, self._is_known, self._is_strange = columns.figures(logs, values, self._places, self._whats)
        self._latencies = percentiles(logs, values, self._places, self._whats, self._metrics)
        self._starts = np.cumsum([0, *(len(log.figures.rows) for log in logs)])
        self._starts_of_percentiles = np.cumsum([0, *(len(log.names) for log in logs)])
        self.rows = self.figures.of(np.flatnonzero(self._is_known)).merged(self._latencies.rows)
        self._buckets = self._read_buckets()
        self.distributions = self._distributions()

    @property
    def places(self) -> list[Place]:
        """What measurements are of, by its number."""
        return self._places.items

    @property
    def whats(self) -> list[What]:
        """Which figures measurements are, by their numbers."""
        return self._whats.items

    @property
    def metrics(self) -> list[str]:
        """The metrics of bins, by their numbers."""
        return self._metrics.items

    @property
    def wrong(self) -> list[Wrong]:
        """What is wrong with single numbers."""
        return self._latencies.wrong

    def _read_buckets(self) -> tuple[Ints, Distribution]:
        """Return which of all shares were read, and these."""
        logs = self.logs
        at = self._values.at(logs, lambda shape: shape.buckets)
        share, _, _ = self._values.amounts(at, [_SHARE], np.zeros(len(at), np.int64))
        with_zeros = columns.by_figures(logs, lambda own: ints(item.with_zeros for item in own.buckets))
        is_read = ~np.isnan(share) & ((with_zeros > 0) | (share != 0))
        kept = np.flatnonzero(is_read)
        log = np.repeat(np.arange(len(logs)), [len(log.figures.buckets) for log in logs])

        def of_each(column: Any) -> Ints:
            return columns.by_figures(logs, lambda own: ints(map(column, own.buckets)))[kept]

        def ends(column: Any) -> Floats:
            known = columns.by_figures(logs, lambda own: np.array(list(map(column, own.buckets)), float))
            return known.astype(float)[kept]

        lines = columns.joined(log.lines[log.shape.buckets] for log in logs)
        return is_read, Distribution(
            log[kept],
            of_each(lambda item: item.order),
            of_each(lambda item: self._places.number(item.place)),
            of_each(lambda item: self._metrics.number(item.metric)),
            ends(lambda item: item.low),
            ends(lambda item: item.high),
            np.full(len(kept), -1),
            share[kept],
            lines[kept],
        )

    def _distributions(self) -> Distribution:
        bins, latencies = self._latencies.bins, self._latencies.latencies
        own = Distribution(
            latencies.log[bins.of],
            latencies.order[bins.of],
            latencies.place[bins.of],
            latencies.metric[bins.of],
            bins.low,
            bins.high,
            bins.number,
            np.full(len(bins.of), np.nan),
            bins.line,
        )
        _, shares = self._buckets
        both = Distribution._make(np.concatenate(pair) for pair in zip(own, shares, strict=True))
        order = columns.in_order(both.log, both.order)
        return both.of(order)

    # Of one log

    def figures_of(self, log: int) -> list[Figure]:
        """Return the measurements of a log as rows."""
        start, end = np.searchsorted(self.rows.log, [log, log + 1])
        rows = self.rows.of(slice(start, end))
        places, whats = self.places, self.whats
        return [
            Figure(
                places[place], whats[known], value, low, high, samples if samples >= 0 else None, text, line, None
            )
            for place, known, value, low, high, samples, text, line in zip(
                rows.place.tolist(),
                rows.what.tolist(),
                *map(_or_none, (rows.value, rows.low, rows.high)),
                rows.samples.tolist(),
                rows.text.to_list(),
                rows.line.tolist(),
                strict=True,
            )
        ]

    def agreeing(self, log: int) -> list[bool]:
        """Return which of these are percentiles that agree with each other, and so with all there is."""
        start, end = np.searchsorted(self.rows.log, [log, log + 1])
        latencies = self._latencies.latencies
        agree = latencies.order[(latencies.log == log) & ~self._latencies.disagree]
        is_agreeing: list[bool] = np.isin(self.rows.order[start:end] >> ORDER, agree).tolist()
        return is_agreeing

    def bins_of(self, log: int) -> Distributions:
        """Return the bins of a log."""
        start, end = np.searchsorted(self.distributions.log, [log, log + 1])
        own = self.distributions.of(slice(start, end))
        edges = [*np.flatnonzero(np.diff(own.order, prepend=-1)).tolist(), len(own.order)]
        made = []
        for first, last in pairwise(edges):
            place, part = self.places[own.place[first]], slice(first, last)
            has_counts = own.number[first] >= 0
            made.append(
                Bins(
                    operation=place.operation,
                    metric=self.metrics[own.metric[first]],
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
        """Return which numbers of a log found their place."""
        own = self.logs[log]
        shape = own.shape
        starts = np.cumsum([0, *(len(each.figures.buckets) for each in self.logs)])
        is_read, _ = self._buckets
        percentiles_read = self._latencies.is_read
        bins = [each.numbers[each.is_read] for each in own.bins if each.numbers is not None]
        return np.concatenate(
            [
                shape.rows[self._is_known[self._starts[log] : self._starts[log + 1]]],
                shape.percentiles[
                    percentiles_read[self._starts_of_percentiles[log] : self._starts_of_percentiles[log + 1]]
                ],
                shape.buckets[is_read[starts[log] : starts[log + 1]]],
                *bins,
            ]
        )

    # Of many logs

    def is_odd(self) -> Bools:
        """Return in which logs there is anything that is better read alone."""
        odd = np.zeros(len(self.logs), bool)
        latencies = self._latencies
        odd[latencies.latencies.log[latencies.disagree]] = True
        odd[self.figures.log[self._is_strange]] = True
        sizes = [len(log.shape.every) for log in self.logs]
        is_cut = self._values.is_cut[self._values.at(self.logs, lambda shape: shape.every)]
        odd[np.repeat(np.arange(len(odd)), sizes)[is_cut]] = True
        odd[np.bincount(self.rows.log, minlength=len(odd)) == 0] = True
        unread = np.flatnonzero(~latencies.is_read)
        if len(unread):
            of_log = np.repeat(np.arange(len(self.logs)), [len(log.names) for log in self.logs])
            at = self._values.at(self.logs, lambda shape: shape.percentiles)[unread]
            odd[of_log[unread][(self._values.text.gather(at).str.strip_chars("0") != "").to_numpy()]] = True
        return odd

    def columns_of(self, logs: Ints) -> list[Measurement]:
        """Return the measurements of logs that are printed alike, but for percentiles, as columns."""
        figures, whats, places = self.figures, self.whats, self.places
        number = len(self.logs[logs[0]].figures.rows)
        index = (self._starts[logs][:, None] + np.arange(number)).T
        value, low, high = (column[index] for column in (figures.value, figures.low, figures.high))
        texts = figures.text.gather(index.ravel()).to_list()
        lines = figures.line[index]
        many = len(logs)
        made = []
        for row, first in enumerate(index[:, 0].tolist()):
            of_one: tuple[Any, ...] = (
                *(places[figures.place[first]], whats[figures.what[first]]),
                *(value[row], low[row], high[row]),
                *(None, texts[many * row : many * (row + 1)], lines[row], None),
            )
            made.append(Figure._make(of_one).measurement())
        return made


def _or_none(column: Floats) -> list[float | None]:
    known: list[float | None] = column.tolist()
    for index in np.flatnonzero(np.isnan(column)).tolist():
        known[index] = None
    return known
