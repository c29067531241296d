"""Makes values of all numbers of many reports at once, each by the way in which it is printed."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats.loose_json import MOST_DIGITS
from fsbench_kit.model.units import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.formats.fio_columns.figures import Figures, Print
    from fsbench_kit.formats.loose_json import Counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Log(NamedTuple):
    """A report, of which others that are printed alike may have the same `figures` and `shape`.

    Attributes
    ----------
    numbers, lines
        Its numbers as they are printed, and on which lines.
    names
        The names of all its percentiles.
    bins, bin_lines
        Its bins, and on which lines each has its counts.
    """

    figures: Figures
    shape: Shape
    numbers: Sequence[str]
    lines: Ints
    names: tuple[str, ...]
    bins: Sequence[Counts]
    bin_lines: Sequence[Ints]


class Shape:
    """Where the figures of reports stand that are printed alike, as columns of what `Figures` has.

    Parameters
    ----------
    figures
        What they have.
    places
        Where among a report's numbers those stand that the figures name, if these are not all of them.
    """

    def __init__(self, figures: Figures, places: Ints | None = None) -> None:
        rows, latencies, buckets = figures.rows, figures.latencies, figures.buckets

        def at(numbers: Iterable[int | None]) -> Ints:
            known = ints(_NOTHING if number is None else number for number in numbers)
            return known if places is None else np.where(known < 0, known, places[known])

        self.every = ints(()) if places is None else places
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
"""What stands for a number in the place of none."""


ORDER: Final = 32
"""By so many bits the order of figures and latencies is moved, to make room for that of percentiles."""


_ORDERS: Final = 50
"""So many bits all orders of a log have."""


def ints(values: Iterable[int]) -> Ints:
    """Return whole numbers as a column."""
    return np.array(list(values), np.int64)


def picker(numbers: Sequence[int]) -> Callable[[Sequence[str]], Sequence[str]]:
    """Return what takes some of the numbers out of all."""
    if len(numbers) == 1:
        (number,) = numbers
        return lambda every: (every[number],)
    return itemgetter(*numbers) if numbers else lambda _: ()


def in_order(log: Ints, order: Ints) -> NDArray[np.intp]:
    """Return the indexes of rows by their logs and, in each, by their order."""
    return np.argsort((log << _ORDERS) + order, kind="stable")


class Rows(NamedTuple):
    """Measurements as columns; unknown is NaN, of samples -1.

    Attributes
    ----------
    log, order
        Of which log each is, and where it stands among its figures.
    place, what
        What it is of, and which figure, by the numbers that these have in `Numbered`.
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

    def merged(self, other: Rows) -> Rows:
        """Return these and other rows, in the order of the logs and of their figures."""
        pairs: Iterator[tuple[Any, Any]] = zip(self, other, strict=True)
        both = (pl.concat(pair) if isinstance(pair[0], pl.Series) else np.concatenate(pair) for pair in pairs)
        rows = Rows._make(both)
        return rows.of(in_order(rows.log, rows.order))


class Numbered:
    """Things that many rows share, by numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, item: Hashable) -> int:
        """Return the number of a thing."""
        return self._numbers.setdefault(item, len(self._numbers))

    @property
    def items(self) -> list[Any]:
        """The things, in the order of their numbers."""
        return list(self._numbers)


def by_figures(logs: Sequence[Log], column: Callable[[Figures], Ints]) -> Ints:
    """Return a column over all logs that those share which have the same figures."""
    known = {id(figures): column(figures) for figures in {id(log.figures): log.figures for log in logs}.values()}
    return joined(known[id(log.figures)] for log in logs)


def by_shape(logs: Sequence[Log], column: Callable[[Shape], Ints]) -> Ints:
    """Return a column over all logs that those share which are of one shape."""
    return joined(column(log.shape) for log in logs)


def joined(columns: Iterable[Ints]) -> Ints:
    """Return columns under each other."""
    return np.concatenate([np.zeros(0, np.int64), *columns])


class Amounts(NamedTuple):
    """Figures: their values, and the least and largest true values that print like this."""

    value: Floats
    low: Floats
    high: Floats


class Values:
    """All numbers of logs, one behind the other, and a last one for what is none.

    Attributes
    ----------
    starts
        Where those of each log begin, and where the last one ends.
    text
        As printed.
    counts
        As far as fio's own counters could hold them, and else -1.
    is_any
        Whether each is not 0.
    is_cut
        Whether each has a point at its beginning or its end.
    """

    def __init__(self, logs: Sequence[Log]) -> None:
        sizes = [len(log.numbers) for log in logs]
        self.starts = np.cumsum([0, *sizes])
        numbers = chain.from_iterable(log.numbers for log in logs)
        self.text = pl.Series("text", [*numbers, None], dtype=pl.String)
        written, point = pl.col("text"), pl.col("text").str.find(".", literal=True)
        known = self.text.to_frame().select(
            digits=written.str.replace(".", "", literal=True).cast(pl.UInt64, strict=False),
            decimals=written.str.len_bytes().cast(pl.Int64) - 1 - point,
            is_cut=(point == 0) | (point == written.str.len_bytes() - 1),
        )
        self.is_cut = known["is_cut"].fill_null(value=False).to_numpy()
        self._has_fraction = known["decimals"].is_not_null().to_numpy()
        self._decimals = known["decimals"].fill_null(0).to_numpy()
        digits = known["digits"]
        self._digits = digits.fill_null(2**53).to_numpy()
        are_none = digits.is_null().to_numpy()
        is_no_count = self._has_fraction | (self._digits >= _MOST) | are_none
        self.counts = np.where(is_no_count, 0, self._digits).astype(np.int64) - is_no_count
        self.is_any = self._digits > 0
        for number in np.flatnonzero(are_none[:-1]).tolist():
            self.is_any[number] = bool(self.text[number].strip("-0."))

    def at(self, logs: Sequence[Log], column: Callable[[Shape], Ints]) -> Ints:
        """Return where numbers stand of which the shapes of logs tell their places in these."""
        places = by_shape(logs, column)
        starts = np.repeat(self.starts[:-1], [len(column(log.shape)) for log in logs])
        found: Ints = np.where(places < 0, self.starts[-1], places + starts)
        return found

    def are_there(self, logs: Sequence[Log], gates: Callable[[Shape], Ints]) -> Bools:
        """Return of what has gates whether it is there."""
        sizes = joined(log.shape.gates for log in logs)
        ends = np.cumsum(sizes)
        is_any = self.is_any[self.at(logs, lambda shape: shape.gated)]
        is_open = np.logical_or.reduceat(is_any, ends - sizes) if len(sizes) else is_any
        firsts = np.cumsum([0, *(len(log.shape.gates) for log in logs)])[:-1]
        are_there: Bools = is_open[
            by_shape(logs, gates) + np.repeat(firsts, [len(gates(log.shape)) for log in logs])
        ]
        return are_there

    def amounts(self, at: Ints, prints: Sequence[Print], which: Ints) -> Amounts:
        """Return the values and bounds of some numbers, each printed in one of some ways; NaN where it is none.

        This is `fsbench_kit.model.units.amount` for columns. As there, a figure is the float that is nearest to
        the true quotient: whole numbers below 2^53 are multiplied, and divided once.
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


def figures(logs: Sequence[Log], values: Values, places: Numbered, whats: Numbered) -> tuple[Rows, Bools, Bools]:
    """Return the figures of logs but for their percentiles.

    Beside them, which are there and are numbers that can be held, and which of the others are not merely 0.
    """
    hows = Numbered()
    sizes = [len(log.shape.rows) for log in logs]
    which = by_figures(logs, lambda own: ints(hows.number(row.printed) for row in own.rows))
    prints: list[Print] = hows.items
    at = values.at(logs, lambda shape: shape.rows)
    value, low, high = values.amounts(at, prints, which)
    is_there = values.are_there(logs, lambda shape: shape.row_gates)
    are_known = is_there & ~np.isnan(value)
    are_strange = ~are_known & (is_there | (value != 0))
    for column in (value, low, high):
        column[~is_there] = np.nan
    starts = np.repeat(np.cumsum([0, *sizes])[:-1], [len(log.shape.means) for log in logs])
    means = by_shape(logs, lambda shape: shape.means) + starts
    shares, of = means[::2], means[1::2]
    is_known = ~np.isnan(low[of])
    shares, of = shares[is_known], of[is_known]
    if len(shares):
        made = logs[0].figures.shares(*(Amounts(value[some], low[some], high[some]) for some in (shares, of)))
        low[shares], high[shares] = made.low, made.high
    log = np.repeat(np.arange(len(logs)), sizes)
    of_print = ints(whats.number(each.what) for each in prints)
    rows = Rows(
        log,
        by_shape(logs, lambda shape: shape.orders),
        by_figures(logs, lambda own: ints(places.number(row.place) for row in own.rows)),
        of_print[which],
        value,
        low,
        high,
        values.counts[values.at(logs, lambda shape: shape.samples)],
        values.text.gather(at),
        joined(log.lines[log.shape.rows] for log in logs),
    )
    return rows, are_known, are_strange


def _amount(text: str, how: Print) -> tuple[float | None, ...]:
    """Return the value and bounds of a number that is long, has an exponent, or is none."""
    has_fraction = any(sign in text for sign in ".eE")
    try:
        value, _, low, high = quantity(text, how.unit, rounding=how.rounding if has_fraction else how.whole)
    except ValueError:
        return np.nan, np.nan, np.nan
    return value, low, high


_BELOW: Final[Mapping[str, int]] = {"nearest": 1, "down": 0, "up": 2, "exact": 0}
_ABOVE: Final[Mapping[str, int]] = {"nearest": 1, "down": 2, "up": 0, "exact": 0}
"""How far the true values reach below and above a print, in halves of its last place."""
_MOST_PLACES: Final = 12
_POWERS: Final = 10.0 ** np.arange(_MOST_PLACES + 1)
_MOST: Final = 10**MOST_DIGITS
