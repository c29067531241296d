"""Converts all numbers of many reports to values at once, according to how each is printed."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats.loose_json import MOST_DIGITS, Counts
from fsbench_kit.model.units import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.formats.fio_columns.figures import Figures, Print

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Log(NamedTuple):
    """A report, which shares `figures` and `shape` with others of the same layout.

    Attributes
    ----------
    numbers, lines
        Its numbers as printed, and their lines.
    bins, bin_lines
        Its bins, and the lines of the counts of each.
    """

    figures: Figures
    shape: Shape
    numbers: Sequence[str]
    lines: Ints
    bins: Sequence[Counts]
    bin_lines: Sequence[Ints]


class Shape:
    """The positions of figures in reports with the same layout, as columns of the fields of `Figures`.

    Parameters
    ----------
    figures
        The figures of these reports.
    """

    def __init__(self, figures: Figures) -> None:
        rows, latencies, buckets = figures.rows, figures.latencies, figures.buckets

        def at(numbers: Iterable[int | None]) -> Ints:
            return ints(_NOTHING if number is None else number for number in numbers)

        of_each = [row.gate for row in rows] + [each.gate for each in latencies]
        gates = {gate: number for number, gate in enumerate(dict.fromkeys(of_each))}
        which = ints(gates[gate] for gate in of_each)
        self.row_gates, self.latency_gates = which[: len(rows)], which[len(rows) :]
        self.gates = ints(len(gate) if gate else 1 for gate in gates)
        self.gated = at(chain.from_iterable(gate or (None,) for gate in gates))
        self.rows = at(row.number for row in rows)
        self.samples = at(row.samples for row in rows)
        self.orders = ints(row.order for row in rows) << ORDER
        self.means = ints(
            chain.from_iterable((row, each.mean) for row, each in enumerate(rows) if each.mean is not None)
        )
        self.percentiles = at(number for each in latencies for _, number in each.percentiles)
        self.latency_of = np.repeat(np.arange(len(latencies)), [len(each.percentiles) for each in latencies])
        self.requests = at(each.requests for each in latencies)
        self.buckets = at(each.number for each in buckets)


_NOTHING: Final = -1
"""Takes the place of an ordinal if there is no number."""


ORDER: Final = 32
"""The number of bits by which ranks of figures and latencies are shifted, to make room for percentiles."""


_ORDERS: Final = 50
"""The number of bits of all ranks of a log."""


def ints(values: Iterable[int]) -> Ints:
    """Return integers as a column."""
    return np.array(list(values), np.int64)


def picker(numbers: Sequence[int]) -> Callable[[Sequence[str]], Sequence[str]]:
    """Return a function that selects the numbers with the given ordinals."""
    if len(numbers) == 1:
        (number,) = numbers
        return lambda every: (every[number],)
    return itemgetter(*numbers) if numbers else lambda _: ()


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
    """

    log: Ints
    order: Ints
    place: Ints
    what: Ints
    value: Floats
    low: Floats
    high: Floats
    samples: Ints
    text: pl.Series
    line: Ints

    def of(self, index: Any) -> Rows:
        """Return some of the rows."""
        return Rows._make(column[index] for column in self)

    @classmethod
    def merged(cls, several: Sequence[Rows]) -> Rows:
        """Return the rows of several, sorted by log and rank."""
        columns: Iterator[Sequence[Any]] = zip(*several, strict=True)
        rows = cls._make(
            pl.concat(parts) if isinstance(parts[0], pl.Series) else np.concatenate(parts) for parts in columns
        )
        return rows.of(in_order(rows.log, rows.order))


class Numbered:
    """Assigns numbers to things that many rows share."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, item: Hashable) -> int:
        """Return the number of a thing."""
        return self._numbers.setdefault(item, len(self._numbers))

    @property
    def items(self) -> list[Any]:
        """The things, in the order of their numbers."""
        return list(self._numbers)


class Group(NamedTuple):
    """Logs with the same layout, and therefore with the same figures and shape."""

    figures: Figures
    shape: Shape
    logs: list[Log]


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
        self.groups = [
            Group(logs[first].figures, logs[first].shape, [logs[number] for number in (first, *others)])
            for first, *others in alike.values()
        ]
        self.numbers = ints(chain.from_iterable(alike.values()))
        self._places = np.argsort(self.numbers)
        self._sizes = [len(group.logs) for group in self.groups]

    def by_figures(self, column: Callable[[Figures], Ints]) -> Ints:
        """Return a column over all logs of a property of their figures."""
        return joined(np.tile(column(group.figures), len(group.logs)) for group in self.groups)

    def by_shape(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return a column over all logs of a property of their shapes."""
        return joined(np.tile(column(group.shape), len(group.logs)) for group in self.groups)

    def lines(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return the lines of some of the numbers of all logs."""
        return joined(
            np.array([log.lines for log in group.logs])[:, column(group.shape)].ravel() for group in self.groups
        )

    def sizes(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return the length of a column in each log."""
        return np.repeat(ints(len(column(group.shape)) for group in self.groups), self._sizes)

    def starts(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return the start of each log's part of a column over all logs."""
        sizes = self.sizes(column)
        starts: Ints = np.cumsum(sizes) - sizes
        return starts

    def starts_of(self, numbers: int | Ints, column: Callable[[Shape], Ints]) -> Ints:
        """Return these starts for some logs, given their indices among all logs."""
        return self.starts(column)[self._places[numbers]]

    def given(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return, for each entry of a column over all logs, the index of its log."""
        return np.repeat(self.numbers, self.sizes(column))


def joined(columns: Iterable[Ints]) -> Ints:
    """Return the concatenation of columns."""
    return np.concatenate([np.zeros(0, np.int64), *columns])


class Amounts(NamedTuple):
    """Figures: their values, and the smallest and largest true values that are printed like this."""

    value: Floats
    low: Floats
    high: Floats


class Values:
    """All numbers of logs, concatenated, and a last one that represents a missing number.

    Attributes
    ----------
    text
        As printed.
    counts
        As integers; -1 if they are not integers or exceed fio's own counters.
    is_any
        Whether each is not 0; true for the missing number.
    """

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        each = [log.numbers for group in logs.groups for log in group.logs]
        self._starts = np.cumsum([0, *map(len, each)])
        words = " ".join([*chain.from_iterable(each), _NONE]).encode()
        self.text = pl.Series("text", [words.decode()]).str.split(" ").explode()
        lengths = self.text.str.len_bytes().to_numpy().astype(np.int64)
        ends = np.cumsum(lengths + 1) - 1
        found = np.frombuffer(words, np.uint8)
        points = np.flatnonzero(found == _POINT)
        of_points = np.searchsorted(ends, points)
        number_of_points = np.bincount(of_points, minlength=len(lengths))
        digits = lengths - number_of_points
        is_none = (number_of_points > 1) | (digits < 1) | (digits > MOST_DIGITS)
        others = np.flatnonzero((found - _ZERO > _NINE - _ZERO) & (found != _POINT) & (found != _BLANK))
        is_none[np.searchsorted(ends, others)] = True
        self._has_fraction = number_of_points > 0
        self._decimals = np.zeros(len(lengths), np.int64)
        self._decimals[of_points] = ends[of_points] - 1 - points
        self._is_odd = digits > _MOST_PRINTED
        self._is_odd[of_points] |= (self._decimals[of_points] == 0) | (points == (ends - lengths)[of_points])
        are_none = np.flatnonzero(is_none)
        texts = self.text.gather(are_none).to_list()
        if texts:
            known = words.split(b" ")
            for number in are_none.tolist():
                known[number] = b"0"
            words = b" ".join(known)
        self._digits = np.fromstring(words.translate(None, b"."), np.int64, sep=" ")
        self.is_any = self._digits > 0
        self.is_any[are_none] = [bool(text.strip("-0.")) for text in texts]
        is_none[-1] = True
        self._digits[is_none] = _NO_DIGITS
        self.counts = np.where(self._has_fraction | is_none, -1, self._digits)

    def at(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return the positions of numbers among all, given their ordinals by the shapes of logs."""
        places = self._logs.by_shape(column)
        starts = np.repeat(self._starts[:-1], self._logs.sizes(column))
        found: Ints = np.where(places < 0, self._starts[-1], places + starts)
        return found

    @property
    def odd_logs(self) -> Ints:
        """The indices of logs with a number that has a point at an end, or more digits than fio prints."""
        of = np.searchsorted(self._starts, np.flatnonzero(self._is_odd), "right") - 1
        return self._logs.numbers[of]

    def are_there(self, gates: Callable[[Shape], Ints]) -> Bools:
        """Return whether gated items exist."""
        logs = self._logs
        sizes = logs.by_shape(lambda shape: shape.gates)
        is_any = self.is_any[self.at(lambda shape: shape.gated)]
        is_open = np.logical_or.reduceat(is_any, np.cumsum(sizes) - sizes) if len(sizes) else is_any
        firsts = np.repeat(logs.starts(lambda shape: shape.gates), logs.sizes(gates))
        are_there: Bools = is_open[logs.by_shape(gates) + firsts]
        return are_there

    def amounts(self, at: Ints, prints: Sequence[Print], which: Ints) -> Amounts:
        """Return the values and bounds of numbers, given how each is printed; NaN if it is not a number.

        This is `fsbench_kit.model.units.amount` for columns. As there, a figure is the float nearest to the true
        quotient: integers below 2^53 are multiplied, and divided once.
        """
        digits, decimals, has_fraction = self._digits[at], self._decimals[at], self._has_fraction[at]
        whole = digits.astype(np.float64)

        def of_prints(values: Iterable[float]) -> Floats:
            return np.array(list(values), np.float64)[which]

        factor = of_prints(each.factor for each in prints)
        odd = of_prints(each.factor // (each.factor & -each.factor) for each in prints)
        is_exact = ((2 * whole + 2) * odd < 2**53) & (decimals <= _MOST_PLACES)
        divisor = of_prints(each.divisor for each in prints) * _POWERS[np.minimum(decimals, _MOST_PLACES)]
        below, above = (
            np.where(
                has_fraction,
                of_prints(reach[each.rounding] for each in prints),
                of_prints(reach[each.whole] for each in prints),
            )
            for reach in (_BELOW, _ABOVE)
        )
        value = whole * factor / divisor
        low = np.maximum(2 * whole - below, 0) * factor / (2 * divisor)
        high = (2 * whole + above) * factor / (2 * divisor)
        for index in np.flatnonzero(~is_exact).tolist():
            value[index], low[index], high[index] = _amount(self.text[int(at[index])], prints[which[index]])
        for rule in {each.rule for each in prints if each.rule is not None}:
            ruled = np.flatnonzero(np.array([each.rule == rule for each in prints])[which])
            low[ruled], high[ruled] = rule(digits[ruled].astype(np.int64))
            value[ruled[np.isnan(low[ruled] + high[ruled])]] = np.nan
        return Amounts(value, low, high)


def figures(logs: Logs, values: Values, places: Numbered, whats: Numbered) -> tuple[Rows, Bools, Bools]:
    """Return the figures of logs, except for their percentiles.

    Also return which exist and are usable numbers, and which of the others are not merely 0.
    """
    hows = Numbered()
    which = logs.by_figures(lambda own: ints(hows.number(row.printed) for row in own.rows))
    prints: list[Print] = hows.items
    at = values.at(lambda shape: shape.rows)
    value, low, high = values.amounts(at, prints, which)
    is_there = values.are_there(lambda shape: shape.row_gates)
    are_known = is_there & ~np.isnan(value)
    are_strange = ~are_known & (is_there | (value != 0))
    for column in (value, low, high):
        column[~is_there] = np.nan
    starts = np.repeat(logs.starts(lambda shape: shape.rows), logs.sizes(lambda shape: shape.means))
    means = logs.by_shape(lambda shape: shape.means) + starts
    shares, of = means[::2], means[1::2]
    is_known = ~np.isnan(low[of])
    shares, of = shares[is_known], of[is_known]
    if len(shares):
        made = logs.groups[0].figures.shares(
            *(Amounts(value[some], low[some], high[some]) for some in (shares, of))
        )
        low[shares], high[shares] = made.low, made.high
    of_print = ints(whats.number(each.what) for each in prints)
    rows = Rows(
        logs.given(lambda shape: shape.rows),
        logs.by_shape(lambda shape: shape.orders),
        logs.by_figures(lambda own: ints(places.number(row.place) for row in own.rows)),
        of_print[which],
        value,
        low,
        high,
        values.counts[values.at(lambda shape: shape.samples)],
        values.text.gather(at),
        logs.lines(lambda shape: shape.rows),
    )
    return rows, are_known, are_strange


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
_MOST_PRINTED: Final = 30
_POWERS: Final = 10.0 ** np.arange(_MOST_PLACES + 1)
_NONE: Final = "1"
"""The text of the missing number, which must not be 0 so that items without a gate exist."""
_NO_DIGITS: Final = 2**53
"""The digits of numbers that have to be examined one by one."""
_BLANK, _POINT, _ZERO, _NINE = b" .09"
