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

    from fsbench_kit.formats.fio_columns.figures import Figures, Gate, Print
    from fsbench_kit.formats.loose_json import Counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Log(NamedTuple):
    """A report, of which others that are printed alike may have the same `figures`.

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
    numbers: Sequence[str]
    lines: Ints
    names: Sequence[str]
    bins: Sequence[Counts]
    bin_lines: Sequence[Ints]


class Shape:
    """Where the figures of reports stand that are printed alike, as columns of what `Figures` has."""

    def __init__(self, figures: Figures) -> None:
        rows, latencies, buckets = figures.rows, figures.latencies, figures.buckets
        counted = [row.samples for row in rows] + [each.requests for each in latencies]
        known = list(dict.fromkeys(number for number in counted if number is not None))
        index: dict[int | None, int] = {number: place for place, number in enumerate(known)}
        self.counted = len(index) + 1  # the last one is of what is not counted
        known_gates = [row.gate for row in rows] + [each.gate for each in latencies]
        gates = list(dict.fromkeys(gate for gate in known_gates if gate is not None))
        gate_of: dict[Gate | None, int] = {gate: place for place, gate in enumerate(gates)} | {None: len(gates)}
        self.gates = [len(gate) for gate in gates] + [1]  # the last one is open
        self.row_gates, self.latency_gates = (
            ints(gate_of[each.gate] for each in some) for some in (rows, latencies)
        )
        self.rows = ints(row.number for row in rows)
        self.samples = ints(index.get(row.samples, len(index)) for row in rows)
        self.orders = ints(row.order for row in rows) << ORDER
        self.means = [(row, each.mean) for row, each in enumerate(rows) if each.mean is not None]
        self.percentiles = ints(number for each in latencies for _, number in each.percentiles)
        self.latency_of = np.repeat(np.arange(len(latencies)), [len(each.percentiles) for each in latencies])
        self.requests = ints(index.get(each.requests, len(index)) for each in latencies)
        self.buckets = ints(each.number for each in buckets)
        self.row_texts, self.percentile_texts, self.bucket_texts, self.counted_texts, self.gate_texts = map(
            picker,
            (
                self.rows.tolist(),
                self.percentiles.tolist(),
                self.buckets.tolist(),
                known,
                list(chain.from_iterable(gates)),
            ),
        )


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


def by_shape(logs: Sequence[Log], column: Callable[[Figures], Ints]) -> Ints:
    """Return a column over all logs that those share which are printed alike."""
    known = {id(figures): column(figures) for figures in {id(log.figures): log.figures for log in logs}.values()}
    return joined(known[id(log.figures)] for log in logs)


def joined(columns: Iterable[Ints]) -> Ints:
    """Return columns under each other."""
    return np.concatenate([np.zeros(0, np.int64), *columns])


class Told(NamedTuple):
    """What figures of logs depend on, by `Shape`.

    Attributes
    ----------
    counts, counts_of
        Of how many values statistics are taken, -1 where that is not told; and where those of each log begin.
    gates, gates_of
        Whether a gate is open, and where those of each log begin.
    """

    counts: Ints
    counts_of: Ints
    gates: Bools
    gates_of: Ints

    def is_there(self, logs: Sequence[Log], gates: Callable[[Shape], Ints]) -> Bools:
        """Return of what has gates whether it is there."""
        sizes = [len(gates(log.figures.shape)) for log in logs]
        return self.gates[by_shape(logs, lambda own: gates(own.shape)) + np.repeat(self.gates_of, sizes)]

    def samples(self, logs: Sequence[Log], counted: Callable[[Shape], Ints]) -> Ints:
        """Return of what is taken over some values over how many."""
        sizes = [len(counted(log.figures.shape)) for log in logs]
        return self.counts[by_shape(logs, lambda own: counted(own.shape)) + np.repeat(self.counts_of, sizes)]


def told(logs: Sequence[Log]) -> Told:
    """Return what figures of logs depend on."""
    shapes = [log.figures.shape for log in logs]
    counts = chain.from_iterable(
        (*shape.counted_texts(log.numbers), None) for shape, log in zip(shapes, logs, strict=True)
    )
    counts_of = np.cumsum([0, *(shape.counted for shape in shapes)])[:-1]
    texts = chain.from_iterable(
        (*shape.gate_texts(log.numbers), "1") for shape, log in zip(shapes, logs, strict=True)
    )
    is_any = np.array([bool(text.strip("-0.")) for text in texts], bool)
    sizes = list(chain.from_iterable(shape.gates for shape in shapes))
    gates = np.logical_or.reduceat(is_any, np.cumsum([0, *sizes])[:-1]) if sizes else is_any
    gates_of = np.cumsum([0, *(len(shape.gates) for shape in shapes)])[:-1]
    return Told(whole_numbers(list(counts)), counts_of, gates, gates_of)


def whole_numbers(texts: Sequence[str | None]) -> Ints:
    """Return numbers as far as fio's own counters could hold them, and else -1."""
    return ints(int(text) if text and text.isdecimal() and len(text) <= MOST_DIGITS else -1 for text in texts)


def figures(logs: Sequence[Log], known: Told, places: Numbered, whats: Numbered) -> tuple[Rows, Bools, Bools]:
    """Return the figures of logs but for their percentiles.

    Beside them, which are there and are numbers that can be held, and which of the others are not merely 0.
    """
    hows = Numbered()
    shapes = [log.figures.shape for log in logs]
    sizes = [len(shape.rows) for shape in shapes]
    which = by_shape(logs, lambda own: ints(hows.number(row.printed) for row in own.rows))
    prints: list[Print] = hows.items
    texts = chain.from_iterable(shape.row_texts(log.numbers) for shape, log in zip(shapes, logs, strict=True))
    text = pl.Series(list(texts), dtype=pl.String)
    value, low, high = amounts(text, prints, which)
    is_there = known.is_there(logs, lambda shape: shape.row_gates)
    are_known = is_there & ~np.isnan(value)
    are_strange = ~are_known & (is_there | (value != 0))
    for column in (value, low, high):
        column[~is_there] = np.nan
    starts = np.cumsum([0, *sizes])[:-1]
    means = ints(
        start + row for start, shape in zip(starts, shapes, strict=True) for pair in shape.means for row in pair
    )
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
        by_shape(logs, lambda own: own.shape.orders),
        by_shape(logs, lambda own: ints(places.number(row.place) for row in own.rows)),
        of_print[which],
        value,
        low,
        high,
        known.samples(logs, lambda shape: shape.samples),
        text,
        joined(each.lines[shape.rows] for shape, each in zip(shapes, logs, strict=True)),
    )
    return rows, are_known, are_strange


# Numbers as columns


class Amounts(NamedTuple):
    """Figures: their values, and the least and largest true values that print like this."""

    value: Floats
    low: Floats
    high: Floats


def amounts(text: pl.Series, prints: Sequence[Print], which: Ints) -> Amounts:
    """Return the values and bounds of numbers, of which each is printed in one of some ways; NaN where it is none.

    This is `fsbench_kit.model.units.amount` for columns. As there, a figure is the float that is nearest to the
    true quotient: whole numbers below 2^53 are multiplied, and divided once.
    """
    written, point = pl.col("text"), pl.col("text").str.find(".", literal=True)
    known = text.to_frame("text").select(
        digits=written.str.replace(".", "", literal=True).cast(pl.UInt64, strict=False).fill_null(2**53),
        decimals=(written.str.len_bytes() - 1 - point).fill_null(0).cast(pl.Int64),
        has_fraction=point.is_not_null(),
    )
    digits, decimals, has_fraction = (column.to_numpy() for column in known)
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
        value[index], low[index], high[index] = _amount(text[index], prints[which[index]])
    for rule in {each.rule for each in prints if each.rule is not None}:
        ruled = np.flatnonzero(np.array([each.rule == rule for each in prints])[which])
        low[ruled], high[ruled] = rule(digits[ruled].astype(np.int64))
        value[ruled[np.isnan(low[ruled] + high[ruled])]] = np.nan
    return Amounts(value, low, high)


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
