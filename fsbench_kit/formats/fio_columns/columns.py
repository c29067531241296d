"""Converts all numbers of many reports to values at once, according to how each is printed."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats.blocks import blocks
from fsbench_kit.formats.fio_columns.numbers import Bools, Floats, Ints, Numbers
from fsbench_kit.model.units import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from fsbench_kit.formats.fio_columns.figures import Figures, Print
    from fsbench_kit.formats.loose_json import Counts

T = TypeVar("T", bound=np.generic)


class Log(NamedTuple):
    """A report, which shares `figures` and `shape` with others of the same layout.

    Attributes
    ----------
    first
        The index of its first number among those of all logs.
    lines
        The lines of its numbers.
    bins, bin_lines
        Its bins, and the lines of the counts of each.
    """

    figures: Figures
    shape: Shape
    first: int
    lines: Ints
    bins: Sequence[Counts]
    bin_lines: Sequence[Ints]


class Coded(NamedTuple):
    """A column of things of which many are the same, as their indices."""

    things: list[Any]
    which: Ints

    @classmethod
    def of(cls, things: Iterable[Hashable]) -> Coded:
        """Return the things as a column; most that are the same are one object, and known without hashing it."""
        every = list(things)
        known = Numbered()
        numbers = {
            key: known.number(thing) for key, thing in dict(zip(map(id, every), every, strict=True)).items()
        }
        return cls(known.items, ints(map(numbers.__getitem__, map(id, every))))


class Shape:
    """The figures of reports with the same layout, as columns of the fields of `Figures`.

    Parameters
    ----------
    figures
        The figures of these reports.
    places
        The index of each number that `figures` counts among all numbers of a report, if there are others.
    """

    def __init__(self, figures: Figures, places: Ints | None = None) -> None:
        rows, latencies, buckets = figures.rows, figures.latencies, figures.buckets

        def at(numbers: Iterable[int | None]) -> Ints:
            known = ints(_NOTHING if number is None else number for number in numbers)
            return known if places is None else np.append(places, _NOTHING)[known]

        of_each = [row.gate for row in rows] + [each.gate for each in latencies]
        gates = Coded.of(of_each)
        self.row_gates, self.latency_gates = gates.which[: len(rows)], gates.which[len(rows) :]
        self.gates = ints(len(gate) if gate else 1 for gate in gates.things)
        self.gated = at(chain.from_iterable(gate or (None,) for gate in gates.things))
        self.rows = at(row.number for row in rows)
        self.samples = at(row.samples for row in rows)
        self.orders = ints(row.order for row in rows) << ORDER
        self.means = ints(
            chain.from_iterable((row, each.mean) for row, each in enumerate(rows) if each.mean is not None)
        )
        self.row_places = Coded.of(row.place for row in rows)
        self.row_prints = Coded.of(row.printed for row in rows)
        self.row_whats = Coded([each.what for each in self.row_prints.things], self.row_prints.which)
        self.percentiles = at(number for each in latencies for _, number in each.percentiles)
        self.latency_of = np.repeat(np.arange(len(latencies)), [len(each.percentiles) for each in latencies])
        self.percentile_names = Coded.of(name for each in latencies for name, _ in each.percentiles)
        self.requests = at(each.requests for each in latencies)
        self.latency_places = Coded.of(each.place for each in latencies)
        self.latency_metrics = Coded.of(each.metric for each in latencies)
        self.latency_orders = ints(each.order for each in latencies)
        self.latency_bins = ints(_NOTHING if each.bins is None else each.bins for each in latencies)
        self.are_old = np.full(len(latencies), figures.is_old)
        self.buckets = at(each.number for each in buckets)
        self.bucket_places = Coded.of(each.place for each in buckets)
        self.bucket_metrics = Coded.of(each.metric for each in buckets)
        self.bucket_orders = ints(each.order for each in buckets)
        self.bucket_lows, self.bucket_highs = (
            np.array([getattr(each, end) for each in buckets], np.float64) for end in ("low", "high")
        )
        self.with_zeros = np.array([each.with_zeros for each in buckets], bool)


_NOTHING: Final = -1
"""Takes the place of an index if there is nothing."""


ORDER: Final = 32
"""The number of bits by which ranks of figures and latencies are shifted, to make room for percentiles."""


_ORDERS: Final = 50
"""The number of bits of all ranks of a log."""


def ints(values: Iterable[int]) -> Ints:
    """Return integers as a column."""
    return np.array(list(values), np.int64)


def in_order(log: Ints, order: Ints) -> NDArray[np.intp]:
    """Return the indices that sort rows by log and, within a log, by rank."""
    return np.argsort((log << _ORDERS) + order, kind="stable")


class Rows(NamedTuple):
    """Measurements as columns; unknown values are NaN, unknown samples -1.

    Attributes
    ----------
    log, order
        The log of each, and its rank among that log's figures.
    place, what
        Its place, and which figure it is, as numbers of a `Numbered`.
    at
        The index of its number; or, if it is computed and an integer, ``~`` of this.
    """

    log: Ints
    order: Ints
    place: Ints
    what: Ints
    value: Floats
    low: Floats
    high: Floats
    samples: Ints
    at: Ints
    line: Ints

    def of(self, index: Any) -> Rows:
        """Return some of the rows."""
        return Rows._make(column[index] for column in self)

    @classmethod
    def merged(cls, several: list[Rows], are_there: Sequence[Bools]) -> tuple[Rows, NDArray[np.intp]]:
        """Return the rows of several that are there, sorted by log and rank, and the index of each among all.

        The list is emptied, so that columns can be let go one by one.
        """
        index = in_order(joined([each.log for each in several]), joined([each.order for each in several]))
        index = index[np.concatenate(are_there)[index]]
        columns = list(zip(*several, strict=True))[::-1]
        several.clear()
        return cls._make(np.concatenate(columns.pop())[index] for _ in cls._fields), index


class Numbered:
    """Assigns numbers to things that many rows share."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._of_columns: dict[int, tuple[Coded, Ints]] = {}

    def number(self, item: Hashable) -> int:
        """Return the number of a thing."""
        return self._numbers.setdefault(item, len(self._numbers))

    def numbers(self, column: Coded) -> Ints:
        """Return the numbers of a column of things, most of which was given before."""
        known = self._of_columns.get(id(column.things))
        if known is None:
            known = column, ints(map(self.number, column.things))[column.which]
            self._of_columns[id(column.things)] = known
        return known[1]

    @property
    def items(self) -> list[Any]:
        """The things, in the order of their numbers."""
        return list(self._numbers)


class Group(NamedTuple):
    """Logs with the same layout, and therefore with the same figures and shape.

    Attributes
    ----------
    firsts
        The index of each log's first number.
    lines
        The lines of the numbers of each log.
    """

    figures: Figures
    shape: Shape
    logs: list[Log]
    firsts: Ints
    lines: Ints


class Logs:
    """Logs grouped by shape, so that what they share is computed once.

    Attributes
    ----------
    groups
        The groups of logs with the same layout.
    numbers
        The index of each log among those that were given.
    """

    def __init__(self, logs: Sequence[Log]) -> None:
        alike: dict[int, list[int]] = {}
        for number, log in enumerate(logs):
            alike.setdefault(id(log.shape), []).append(number)
        of_groups = [[logs[number] for number in numbers] for numbers in alike.values()]
        self.groups = [
            Group(
                each[0].figures,
                each[0].shape,
                each,
                ints(log.first for log in each),
                np.array([log.lines for log in each]),
            )
            for each in of_groups
        ]
        self.numbers = ints(chain.from_iterable(alike.values()))
        self._places = np.argsort(self.numbers)
        self._sizes = [len(group.logs) for group in self.groups]

    def column(self, of_shape: Callable[[Shape], NDArray[T]]) -> NDArray[T]:
        """Return a column over all logs of a property of their shapes."""
        return joined([of_shape(group.shape)[None].repeat(len(group.logs), 0).ravel() for group in self.groups])

    def coded(self, of_shape: Callable[[Shape], Coded], known: Numbered) -> Ints:
        """Return a column of things over all logs, as their numbers."""
        return self.column(lambda shape: known.numbers(of_shape(shape)))

    def lines(self, of_shape: Callable[[Shape], Ints]) -> Ints:
        """Return the lines of some of the numbers of all logs."""
        return joined([group.lines[:, of_shape(group.shape)].ravel() for group in self.groups])

    def sizes(self, of_shape: Callable[[Shape], Any]) -> Ints:
        """Return the length of a column in each log."""
        return np.repeat(ints(len(of_shape(group.shape)) for group in self.groups), self._sizes)

    def starts(self, of_shape: Callable[[Shape], Any]) -> Ints:
        """Return the start of each log's part of a column over all logs."""
        sizes = self.sizes(of_shape)
        starts: Ints = np.cumsum(sizes) - sizes
        return starts

    def starts_of(self, numbers: int | Ints, of_shape: Callable[[Shape], Any]) -> Ints:
        """Return these starts for some logs, given their indices among all logs."""
        return self.starts(of_shape)[self._places[numbers]]

    def given(self, of_shape: Callable[[Shape], Any]) -> Ints:
        """Return, for each entry of a column over all logs, the index of its log."""
        return np.repeat(self.numbers, self.sizes(of_shape))


def joined(columns: Sequence[NDArray[T]]) -> NDArray[T]:
    """Return the concatenation of columns; without any, an empty column of integers."""
    return np.concatenate(columns) if columns else np.zeros(0, np.int64)


class Amounts(NamedTuple):
    """Figures: their values, and the smallest and largest true values that are printed like this."""

    value: Floats
    low: Floats
    high: Floats


class Values:
    """The numbers of logs, by what the shapes of the logs say of them."""

    def __init__(self, logs: Logs, numbers: Numbers) -> None:
        self._logs, self._numbers = logs, numbers

    def at(self, of_shape: Callable[[Shape], Ints]) -> Ints:
        """Return the indices of numbers among all, given those by the shapes of logs."""
        missing = len(self._numbers.digits) - 1
        return joined(
            [
                np.where(places < 0, missing, group.firsts[:, None] + places).ravel()
                for group in self._logs.groups
                for places in [of_shape(group.shape)]
            ]
        )

    def counts(self, at: Ints) -> Ints:
        """Return numbers as integers; see `Numbers.counts`."""
        counts: Ints = self._numbers.counts[at]
        return counts

    def texts(self, at: Ints) -> pl.Series:
        """Return numbers as printed, or as computed; see `Rows.at`."""
        are_printed = at >= 0
        if are_printed.all():
            return self._numbers.texts(at)
        texts = self._numbers.texts(at[are_printed]).append(pl.Series(~at[~are_printed]).cast(pl.String))
        order = np.argsort(~are_printed, kind="stable")  # printed ones first, as in these texts
        return texts[np.argsort(order)]

    def are_there(self, gates: Callable[[Shape], Ints]) -> Bools:
        """Return whether gated items exist."""
        logs = self._logs
        firsts = np.repeat(logs.starts(lambda shape: shape.gates), logs.sizes(gates))
        are_there: Bools = self._are_open[logs.column(gates) + firsts]
        return are_there

    @cached_property
    def _are_open(self) -> Bools:
        """Whether any number of each gate is not 0."""
        sizes = self._logs.column(lambda shape: shape.gates)
        is_any = self._numbers.is_any[self.at(lambda shape: shape.gated)]
        are_open: Bools = np.logical_or.reduceat(is_any, np.cumsum(sizes) - sizes) if len(sizes) else is_any
        return are_open

    def amounts(self, at: Ints, prints: Sequence[Print], which: Ints) -> Amounts:
        """Return the values and bounds of numbers, given how each is printed; NaN if it is not a number.

        This is `fsbench_kit.model.units.amount` for columns. As there, a figure is the float nearest to the true
        quotient: integers below 2^53 are multiplied, and divided once.
        """
        scales = np.array([_scale(each) for each in prints], np.float64).reshape(-1, 7).T
        columns = np.empty((3, len(at)))
        for some in blocks(len(at)):
            for column, found in zip(columns, self._amounts(at[some], prints, scales, which[some]), strict=True):
                column[some] = found
        return Amounts(*columns)

    def _amounts(self, at: Ints, prints: Sequence[Print], scales: Floats, which: Ints) -> Amounts:
        digits, decimals = self._numbers.digits[at], self._numbers.decimals[at]
        has_fraction = decimals > 0
        whole = digits.astype(np.float64)
        factor, odd, divisor, *reach = (column[which] for column in scales)
        is_exact = ((2 * whole + 2) * odd < 2**53) & (decimals <= _MOST_PLACES)
        divisor *= _POWERS[np.minimum(decimals, _MOST_PLACES)]
        below, above = (np.where(has_fraction, *ends) for ends in (reach[:2], reach[2:]))
        value = whole * factor / divisor
        low = np.maximum(2 * whole - below, 0) * factor / (2 * divisor)
        high = (2 * whole + above) * factor / (2 * divisor)
        for index in np.flatnonzero(~is_exact).tolist():
            value[index], low[index], high[index] = _amount(self._numbers.text(at[index]), prints[which[index]])
        for rule in {each.rule for each in prints if each.rule is not None}:
            ruled = np.flatnonzero(np.array([each.rule == rule for each in prints])[which])
            low[ruled], high[ruled] = rule(digits[ruled])
            value[ruled[np.isnan(low[ruled] + high[ruled])]] = np.nan
        return Amounts(value, low, high)


class Known(NamedTuple):
    """What rows refer to by number, and the prints and names by which it is read. Several lots can share it."""

    places: Numbered
    whats: Numbered
    metrics: Numbered
    prints: Numbered
    names: Numbered

    @classmethod
    def new(cls) -> Known:
        """Return what is known before anything is read: nothing."""
        return cls._make(Numbered() for _ in cls._fields)


def figures(logs: Logs, values: Values, known: Known) -> tuple[Rows, Bools, Bools]:
    """Return the figures of logs, except for their percentiles.

    Also return which exist and are usable numbers, and which of the others are not merely 0.
    """
    which = logs.coded(lambda shape: shape.row_prints, known.prints)
    prints: list[Print] = known.prints.items
    at = values.at(lambda shape: shape.rows)
    value, low, high = values.amounts(at, prints, which)
    is_there = values.are_there(lambda shape: shape.row_gates)
    are_known = is_there & ~np.isnan(value)
    are_strange = ~are_known & (is_there | (value != 0))
    for column in (value, low, high):
        column[~is_there] = np.nan
    starts = np.repeat(logs.starts(lambda shape: shape.rows), logs.sizes(lambda shape: shape.means))
    means = logs.column(lambda shape: shape.means) + starts
    shares, of = means[::2], means[1::2]
    is_known = ~np.isnan(low[of])
    shares, of = shares[is_known], of[is_known]
    if len(shares):
        made = logs.groups[0].figures.shares(
            *(Amounts(value[some], low[some], high[some]) for some in (shares, of))
        )
        low[shares], high[shares] = made.low, made.high
    rows = Rows(
        logs.given(lambda shape: shape.rows),
        logs.column(lambda shape: shape.orders),
        logs.coded(lambda shape: shape.row_places, known.places),
        logs.coded(lambda shape: shape.row_whats, known.whats),
        value,
        low,
        high,
        values.counts(values.at(lambda shape: shape.samples)),
        at,
        logs.lines(lambda shape: shape.rows),
    )
    return rows, are_known, are_strange


def _scale(how: Print) -> tuple[float, ...]:
    """Return the factor of a print, its odd part, the divisor, and how far true values are below and above it.

    The distances are in halves of the last digit, each first for prints with a fraction.
    """
    ends = (reach[rounding] for reach in (_BELOW, _ABOVE) for rounding in (how.rounding, how.whole))
    return how.factor, how.factor // (how.factor & -how.factor), how.divisor, *ends


def _amount(text: str, how: Print) -> tuple[float | None, ...]:
    """Return the value and bounds of a number that is long, has an exponent, or is not a number."""
    has_fraction = any(sign in text for sign in ".eE")
    try:
        value, _, low, high = quantity(text, how.unit, rounding=how.rounding if has_fraction else how.whole)
    except ValueError:
        return np.nan, np.nan, np.nan
    return value, low, high


_BELOW: Final[Mapping[str, int]] = {"nearest": 1, "down": 0, "up": 2, "exact": 0}
_ABOVE: Final[Mapping[str, int]] = {"nearest": 1, "down": 2, "up": 0, "exact": 0}
"""The distance of the true values below and above a print, in halves of its last digit."""
_MOST_PLACES: Final = 12
_POWERS: Final = 10.0 ** np.arange(_MOST_PLACES + 1)
