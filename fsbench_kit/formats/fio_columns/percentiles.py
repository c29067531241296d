"""Reads the percentiles and bins of the latencies of many reports at once, and checks them against each other.

fio prints a percentile as the middle of its bin; other values are reported. Percentiles are also computed from the
bins, as second prints if they are printed, too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.fio import LAST_BIN, bin_widths
from fsbench_kit.formats.fio_columns.columns import (
    ORDER,
    Known,
    Logs,
    Numbered,
    Rows,
    Shape,
    Values,
    ints,
    joined,
)
from fsbench_kit.formats.fio_columns.numbers import Bools, Floats, Ints
from fsbench_kit.model.records import What, what

if TYPE_CHECKING:
    from collections.abc import Iterator


_RANKS: Final = np.array([1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99])
"""The percentiles that fio prints by default."""


class Wrong(NamedTuple):
    """A problem with a number of a log."""

    log: int
    code: str
    message: str
    line: int
    excerpt: str | None = None


class BinColumns(NamedTuple):
    """Bins as columns: the latencies of each, its bounds, its count, and its line."""

    of: Ints
    low: Floats
    high: Floats
    number: Ints
    line: Ints


class Percentiles(NamedTuple):
    """What is known of the percentiles of latencies.

    Attributes
    ----------
    latencies
        The latencies of all logs.
    wrong
        Problems with single numbers.
    is_read
        Whether each printed percentile was understood.
    disagree
        Whether percentiles of latencies do not ascend, or differ from those computed from bins.
    """

    latencies: LatencyColumns
    wrong: list[Wrong]
    is_read: Bools
    disagree: Bools


def percentiles(logs: Logs, values: Values, known: Known) -> tuple[Percentiles, BinColumns, list[Rows]]:
    """Read the percentiles and bins of logs; return what is known of them, the bins, and the percentiles."""
    latencies = LatencyColumns(
        logs.given(_latencies),
        values.counts(values.at(lambda shape: shape.requests)),
        logs.column(lambda shape: shape.are_old),
        values.are_there(_latencies),
        logs.coded(lambda shape: shape.latency_places, known.places),
        logs.coded(lambda shape: shape.latency_metrics, known.metrics),
        logs.column(lambda shape: shape.latency_orders),
    )
    printed = _printed(logs, values, latencies, known.names)
    bins, found, wrong_bins = _bins(logs, latencies, known.places)
    made = _made(found, printed, latencies, known.names)
    rows = _rows(printed, latencies, known, np.arange(len(printed.of)))
    rows_made = _rows(made, latencies, known, len(printed.of) + np.arange(len(made.of)))
    wrong = sorted([*_strange(printed, values, latencies, known.names), *wrong_bins], key=lambda item: item[0])
    read = Percentiles(
        latencies,
        [item for _, item in wrong],
        printed.value >= 0,
        _disagree(printed, made, len(latencies.log)),
    )
    return read, bins, [rows, rows_made]


def _latencies(shape: Shape) -> Ints:
    return shape.latency_gates


class LatencyColumns(NamedTuple):
    """Latencies as columns; `are_there` is whether they exist, `is_old` whether they are from fio 2.x."""

    log: Ints
    requests: Ints
    is_old: Bools
    are_there: Bools
    place: Ints
    metric: Ints
    order: Ints

    @property
    def per_second(self) -> Floats:
        """The number of clock ticks in a second."""
        return np.where(self.is_old, 1e6, 1e9)


class _Values(NamedTuple):
    """Percentiles as columns: their latencies, names as numbers, ranks (0 for none), values, prints and lines.

    Values that fio cannot print are not possible; texts that are not values are below 0. Prints are as `Rows.at`.
    """

    of: Ints
    name: Ints
    rank: Floats
    value: Ints
    is_possible: Bools
    is_primary: Bools
    at: Ints
    line: Ints


def _printed(logs: Logs, values: Values, known: LatencyColumns, known_names: Numbered) -> _Values:
    def percentiles(shape: Shape) -> Ints:
        return shape.percentiles

    of = logs.column(lambda shape: shape.latency_of)
    of += np.repeat(logs.starts(_latencies), logs.sizes(percentiles))
    name = logs.coded(lambda shape: shape.percentile_names, known_names)
    names = known_names.items
    rank = np.where(known.are_there[of], np.array(list(map(_rank, names)), float)[name], 0)
    at = values.at(percentiles)
    value = np.where(rank > 0, values.counts(at), -1)
    widths = bin_widths(value)
    is_possible = (value >= 0) & ((value % widths == widths // 2) | known.is_old[of])
    is_primary = np.ones(len(of), bool)
    return _Values(of, name, rank, value, is_possible, is_primary, at, logs.lines(percentiles))


@lru_cache(maxsize=2**14)
def _rank(text: str) -> float:
    """Return the rank in a percentile's key; old versions pad their list of percentiles with 0.00."""
    rank = float(text) if re.fullmatch(r"\d{1,3}(\.\d{1,9})?", text) else 0.0
    return rank if rank <= 100 else 0.0


def _strange(
    printed: _Values, values: Values, known: LatencyColumns, names: Numbered
) -> Iterator[tuple[tuple[int, int], Wrong]]:
    """Yield the problems of values that fio cannot print."""
    for index in np.flatnonzero((printed.value >= 0) & ~printed.is_possible).tolist():
        (text,), of = values.texts(printed.at[[index]]), int(printed.of[index])
        message = f"fio cannot print {text} as p{printed.rank[index]:g}."
        excerpt = f"{names.items[printed.name[index]]}: {text}"
        yield (of, 0), Wrong(int(known.log[of]), "UNREAD_FIGURE", message, int(printed.line[index]), excerpt)


class _Found(NamedTuple):
    """The bins of latencies that account for all requests, sorted by latencies and value."""

    of: Ints
    value: Ints
    number: Ints
    line: Ints


def _bins(
    logs: Logs, known: LatencyColumns, places: Numbered
) -> tuple[BinColumns, _Found, list[tuple[tuple[int, int], Wrong]]]:
    """Read the bins of all latencies; return them, those that yield percentiles, and their problems."""
    which = logs.column(lambda shape: shape.latency_bins)
    each = [log for group in logs.groups for log in group.logs]
    numbers = np.flatnonzero((which >= 0) & known.are_there)
    starts = np.cumsum([0, *(len(log.bins) for log in each)])[:-1]
    at = (which + np.repeat(starts, logs.sizes(_latencies)))[numbers].tolist()
    all_bins = list(chain.from_iterable(log.bins for log in each))
    all_lines = list(chain.from_iterable(log.bin_lines for log in each))
    given = [all_bins[number] for number in at]
    sizes = ints(len(bins.names) for bins in given)
    of = np.repeat(numbers, sizes)
    names, counts, lines = (
        joined(columns)
        for columns in (
            [bins.names for bins in given],
            [bins.counts for bins in given],
            [all_lines[number] for number in at],
        )
    )
    widths = bin_widths(names)
    requests = known.requests[of]
    are_bins = (names % widths == widths // 2) | known.is_old[of]
    are_bins &= (requests < 0) | (counts <= requests)  # others are reported with the numbers that were not read
    for bins, is_read in zip(given, np.split(are_bins, np.cumsum(sizes)[:-1]), strict=False):
        bins.is_read = is_read
    kept = are_bins & (counts > 0)
    if not kept.all():
        of, names, counts, lines, widths = (column[kept] for column in (of, names, counts, lines, widths))
    low = names - names % widths
    per_second = known.per_second[of]
    high = (low + np.where(widths > 1, widths, 0)) / per_second
    high[names >= LAST_BIN] = np.nan
    bins_read = BinColumns(of, low / per_second, high, counts, lines)
    totals = np.zeros(len(known.log), np.int64)
    np.add.at(totals, of, counts)
    wrong = []
    expected = known.requests[numbers]
    for index in np.flatnonzero((expected >= 0) & (expected != totals[numbers]) & (totals[numbers] > 0)).tolist():
        number, bins = int(numbers[index]), given[index]
        if bins.is_whole and bins.is_read.all():
            operation = places.items[known.place[number]].operation
            message = f"The bins count {totals[number]} requests of {operation}, but N is {expected[index]}."
            line = int(lines[np.searchsorted(of, number)])
            wrong.append(((number, 1), Wrong(int(known.log[number]), "FIGURES_DISAGREE", message, line)))
    is_all = totals == known.requests
    if not is_all[numbers].all():
        of, names, counts, lines = (column[is_all[of]] for column in (of, names, counts, lines))
    rises = (np.diff(names) >= 0) | (np.diff(of) > 0)
    if not rises.all():
        order = np.lexsort((names, of))
        of, names, counts, lines = (column[order] for column in (of, names, counts, lines))
    return bins_read, _Found(of, names, counts, lines), wrong


def _made(found: _Found, printed: _Values, known: LatencyColumns, names: Numbered) -> _Values:
    """Return percentiles computed from bins: those that are printed or, if none are, fio's defaults."""
    has_bins, has_ranks = (np.zeros(len(known.log), bool) for _ in range(2))
    has_bins[found.of] = True
    has_ranks[printed.of[printed.rank > 0]] = True
    wanted = np.flatnonzero((printed.rank > 0) & has_bins[printed.of])
    of, rank = printed.of[wanted], printed.rank[wanted]
    if (np.diff(rank)[np.diff(of) == 0] <= 0).any():  # of a rank that is printed twice, the last one counts
        last = dict(zip(zip(of.tolist(), rank.tolist(), strict=True), wanted.tolist(), strict=True))
        wanted = ints(last.values())
        of, rank = printed.of[wanted], printed.rank[wanted]
    is_primary = ~printed.is_possible[wanted]
    bare = np.flatnonzero(has_bins & ~has_ranks)
    of = np.concatenate([of, np.repeat(bare, len(_RANKS))])
    rank = np.concatenate([rank, np.tile(_RANKS, len(bare))])
    usual = ints(names.number(f"{each:f}") for each in _RANKS.tolist())
    name = np.concatenate([printed.name[wanted], np.tile(usual, len(bare))])
    is_primary = np.concatenate([is_primary, np.ones(len(bare) * len(_RANKS), bool)])
    ends = np.cumsum(found.number)
    first = np.searchsorted(found.of, of)
    before = ends[first] - found.number[first]
    reached = _reached(rank, known.requests[of]) + before
    at = np.searchsorted(ends, reached)
    value, line = found.value[at], found.line[at]
    return _Values(of, name, rank, value, np.ones(len(of), bool), is_primary, ~value, line)


def _reached(ranks: Floats, totals: Ints) -> Ints:
    """Return the rank of each percentile among its requests, computed like in fio: rounded up."""
    shares = ranks * totals / 100
    reached = np.ceil(shares).astype(np.int64)
    for index in np.flatnonzero(np.abs(shares - np.rint(shares)) <= _UNSURE * shares).tolist():
        share, of = float(ranks[index]).as_integer_ratio()
        reached[index] = -(-share * int(totals[index]) // (100 * of))  # rounded up, in integers
    return reached


_UNSURE: Final = 1e-14


def _rows(values: _Values, latencies: LatencyColumns, known: Known, order: Ints) -> Rows:
    """Return percentiles as measurements; `order` is the rank of each within its log."""
    if not values.is_possible.all():
        kept = np.flatnonzero(values.is_possible)
        values = _Values._make(column[kept] for column in values)
        order = order[kept]
    of, value = values.of, values.value
    widths = bin_widths(value)
    start = value - value % widths
    per_second = latencies.per_second[of]
    is_open = value >= LAST_BIN
    high = np.where(is_open, np.nan, (start + np.where(widths > 1, widths, 0)) / per_second)
    metrics, names = known.metrics.items, known.names.items
    codes = ((latencies.metric[of] * len(names) + values.name) * 2 + is_open) * 2 + values.is_primary
    whats = np.zeros(len(metrics) * len(names) * 4, np.int64)
    for code in np.flatnonzero(np.bincount(codes)).tolist():
        metric, name = divmod(code >> 2, len(names))
        of_code = _what(metrics[metric], _rank(names[name]), is_open=bool(code & 2), is_primary=bool(code & 1))
        whats[code] = known.whats.number(of_code)
    return Rows(
        latencies.log[of],
        (latencies.order[of] << ORDER) + order,
        latencies.place[of],
        whats[codes],
        np.where(is_open, np.nan, value / per_second),
        start / per_second,
        high,
        np.full(len(of), -1),
        values.at,
        values.line,
    )


def _what(metric: str, rank: float, *, is_open: bool, is_primary: bool) -> What:
    return what(metric, f"p{rank:g}", "s", "censored" if is_open else "measured", is_primary)


def _disagree(printed: _Values, made: _Values, number: int) -> Bools:
    """Return whether percentiles do not ascend with their ranks, or differ from those computed from bins."""
    wrong = np.zeros(number, bool)
    for values in (printed, made):
        kept = np.flatnonzero(values.is_possible)
        of, rank, value = values.of[kept], values.rank[kept], values.value[kept]
        falls = (np.diff(rank) <= 0) | (np.diff(value) < 0)
        wrong[of[1:][falls & (np.diff(of) == 0)]] = True
    if not len(made.of):
        return wrong
    kept = np.flatnonzero(printed.is_possible)
    ranks = np.unique(np.concatenate([printed.rank, made.rank]))
    own, again = (each.of * len(ranks) + np.searchsorted(ranks, each.rank) for each in (printed, made))
    order = np.argsort(again)
    at = order[np.searchsorted(again[order], own[kept]).clip(max=len(order) - 1)]
    differs = (again[at] == own[kept]) & (made.value[at] != printed.value[kept])
    wrong[printed.of[kept[differs]]] = True
    return wrong
