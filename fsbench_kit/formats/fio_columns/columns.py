"""Makes values of all numbers of many reports at once, each by the way in which it is printed."""

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
    """A report, of which others that are printed alike may have the same `figures` and `shape`.

    Attributes
    ----------
    numbers, lines
        Its numbers as they are printed, and on which lines.
    bins, bin_lines
        Its bins, and on which lines each has its counts.
    """

    figures: Figures
    shape: Shape
    numbers: Sequence[str]
    lines: Ints
    bins: Sequence[Counts]
    bin_lines: Sequence[Ints]


class Shape:
    """Where the figures of reports stand that are printed alike, as columns of what `Figures` has.

    Parameters
    ----------
    figures
        What they have.
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

    @classmethod
    def merged(cls, several: Sequence[Rows]) -> Rows:
        """Return rows in the order of the logs and of their figures."""
        columns: Iterator[Sequence[Any]] = zip(*several, strict=True)
        rows = cls._make(
            pl.concat(parts) if isinstance(parts[0], pl.Series) else np.concatenate(parts) for parts in columns
        )
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


class Group(NamedTuple):
    """Logs that are printed alike, and so have the same figures and shape."""

    figures: Figures
    shape: Shape
    logs: list[Log]


class Logs:
    """Logs, sorted so that those of one shape stand together: what they share is worked out once.

    Attributes
    ----------
    groups
        Those that are printed alike.
    numbers
        Which one each of them is of all that were given.
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
        """Return a column over all logs of what their figures tell."""
        return joined(np.tile(column(group.figures), len(group.logs)) for group in self.groups)

    def by_shape(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return a column over all logs of what their shapes tell."""
        return joined(np.tile(column(group.shape), len(group.logs)) for group in self.groups)

    def lines(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return on which lines some of the numbers of all logs stand."""
        return joined(
            np.array([log.lines for log in group.logs])[:, column(group.shape)].ravel() for group in self.groups
        )

    def sizes(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return how many of something each log has."""
        return np.repeat(ints(len(column(group.shape)) for group in self.groups), self._sizes)

    def starts(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return where those of each log begin among all of them."""
        sizes = self.sizes(column)
        starts: Ints = np.cumsum(sizes) - sizes
        return starts

    def starts_of(self, numbers: int | Ints, column: Callable[[Shape], Ints]) -> Ints:
        """Return the same for some logs, by their numbers among those that were given."""
        return self.starts(column)[self._places[numbers]]

    def given(self, column: Callable[[Shape], Ints]) -> Ints:
        """Return of each of something which log it is of, by its number among those that were given."""
        return np.repeat(self.numbers, self.sizes(column))


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
    text
        As printed.
    counts
        As far as fio's own counters could hold them, and else -1.
    is_any
        Whether each is not 0; what is none counts as that.
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
        """Return where numbers stand of which the shapes of logs tell their places in these."""
        places = self._logs.by_shape(column)
        starts = np.repeat(self._starts[:-1], self._logs.sizes(column))
        found: Ints = np.where(places < 0, self._starts[-1], places + starts)
        return found

    @property
    def odd_logs(self) -> Ints:
        """Those logs, by their numbers, with one that has a point at an end, or more digits than fio prints."""
        of = np.searchsorted(self._starts, np.flatnonzero(self._is_odd), "right") - 1
        return self._logs.numbers[of]

    def are_there(self, gates: Callable[[Shape], Ints]) -> Bools:
        """Return of what has gates whether it is there."""
        logs = self._logs
        sizes = logs.by_shape(lambda shape: shape.gates)
        is_any = self.is_any[self.at(lambda shape: shape.gated)]
        is_open = np.logical_or.reduceat(is_any, np.cumsum(sizes) - sizes) if len(sizes) else is_any
        firsts = np.repeat(logs.starts(lambda shape: shape.gates), logs.sizes(gates))
        are_there: Bools = is_open[logs.by_shape(gates) + firsts]
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


def figures(logs: Logs, values: Values, places: Numbered, whats: Numbered) -> tuple[Rows, Bools, Bools]:
    """Return the figures of logs but for their percentiles.

    Beside them, which are there and are numbers that can be held, and which of the others are not merely 0.
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
_MOST_PRINTED: Final = 30
_POWERS: Final = 10.0 ** np.arange(_MOST_PLACES + 1)
_NONE: Final = "1"
"""What is printed for no number: that there is one depends on none."""
_NO_DIGITS: Final = 2**53
"""What stands for the digits of a number that is to be looked at by itself."""
_BLANK, _POINT, _ZERO, _NINE = b" .09"
