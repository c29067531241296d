"""Adds what a report holds to a run, and keeps account of which of its numbers were read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.builder import RunBuilder
from fsbench_kit.model.records import Bins, Diagnostic, Distributions, Figure, Measurements, What, what
from fsbench_kit.model.units import amount, exact_factor, quantity
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from fsbench_kit.formats.builder import Bounds
    from fsbench_kit.formats.fio_json.contents import Report
    from fsbench_kit.formats.loose_json import Object
    from fsbench_kit.formats.text import Text
    from fsbench_kit.model.records import Measurement, Place
    from fsbench_kit.model.units import Quantity, Rounding


class Print(NamedTuple):
    """How fio prints a figure.

    Attributes
    ----------
    key
        Under which key.
    what
        Which figure it is.
    unit, factor, divisor
        Its unit, and which fraction that is of the base unit.
    whole, rounding
        How it was shortened if it is printed as a whole number, and if it has a fraction.
    """

    key: str
    what: What
    unit: str
    factor: int
    divisor: int
    whole: Rounding
    rounding: Rounding


def printed(
    key: str,
    metric: str,
    statistic: str = "value",
    *,
    unit: str = "",
    whole: Rounding = "exact",
    rounding: Rounding | None = None,
    primary: bool = True,
) -> Print:
    """Say how fio prints a figure: unless `rounding` says so, one with a fraction was rounded."""
    known = what(metric, statistic, METRICS[metric].unit, "measured", primary)
    return Print(key, known, unit, *exact_factor(unit), rounding or whole, rounding or "nearest")


class Figures:
    """The figures of one report.

    Attributes
    ----------
    run
        Where its settings and series are collected.
    contradictions
        What was found to be wrong while they were read.
    may_be_of_requests
        Whether some statistics are over as many samples as there were requests.
    """

    def __init__(self, text: Text, report: Report) -> None:
        self.text, self.report = text, report
        self.run = RunBuilder(text)
        self.contradictions: list[Diagnostic] = []
        self.may_be_of_requests = False
        self._rows: list[_Row] = []
        self._agreeing: set[int] = set()
        self._distributions: list[_Distribution] = []
        self._shares: list[tuple[float | None, float | None, float, int]] = []
        document = report.document
        self._chars, self._starts, self._ends = document.chars, document.starts, document.ends
        self._is_read = document.is_read

    def add(self, place: Place, block: Object, prints: Iterable[Print], samples: int | None = None) -> None:
        """Add the figures that a block has.

        What is no number is left, to be named with the numbers that were not read.
        """
        chars, starts, ends, is_read = self._chars, self._starts, self._ends, self._is_read
        for key, known, unit, factor, divisor, whole, rounding in prints:
            number = block.get(key)
            if type(number) is not int:
                continue
            position = starts[number]
            text = chars[position : ends[number]]
            if text.isdecimal() and len(text) <= _PLAIN:
                value, low, high = amount(int(text), factor, divisor, whole)
            else:
                digits, _, fraction = text.partition(".")
                if digits.isdecimal() and fraction.isdecimal() and len(text) <= _PLAIN:
                    parts = divisor * _POWERS[len(fraction)]
                    value, low, high = amount(int(digits + fraction), factor, parts, rounding)
                else:
                    how = rounding if _has_fraction(text) else whole
                    try:
                        value, _, low, high = quantity(text, unit, rounding=how)
                    except ValueError:
                        continue
            self._rows.append((place, known, value, low, high, samples, text, position))
            is_read[number] = True

    def add_bounded(self, place: Place, known: What, number: int, span: Span) -> None:
        """Add a figure whose value and bounds its print alone does not tell."""
        position = self._starts[number]
        self._rows.append((place, known, *span, None, self._chars[position : self._ends[number]], position))
        self._is_read[number] = True

    def add_found(self, place: Place, known: What, text: str, position: int, span: Span) -> None:
        """Add a figure that others tell, the first of which is printed at a position."""
        self._rows.append((place, known, *span, None, text, position))

    def take_for_agreeing(self, number: int) -> None:
        """Leave the figures from a number on out of cross-checks: they agree, and none has to do with others."""
        self._agreeing.update(range(number, len(self._rows)))

    @property
    def number(self) -> int:
        """How many figures were added."""
        return len(self._rows)

    def add_bins(
        self,
        place: Place,
        metric: str,
        columns: _Columns,
    ) -> None:
        """Add the bins of a distribution: their bounds, and how many values each holds."""
        self._distributions.append((place, metric, columns))

    def add_shares(
        self, place: Place, metric: str, block: Object, bounds: Mapping[str, Bounds], *, with_zeros: bool = True
    ) -> None:
        """Add the shares that a block has of a distribution, by the names of its bins."""
        first = len(self._shares)
        for label, number in block.items():
            if type(number) is not int or label not in bounds:
                continue
            position = self._starts[number]
            text = self._chars[position : self._ends[number]]
            try:
                share = quantity(text, "%").value
            except ValueError:
                continue  # it is named with the numbers that were not read
            if with_zeros or share:
                self._shares.append((*bounds[label], share, position))
                self._is_read[number] = True
        if len(self._shares) > first:
            self._distributions.append((place, metric, slice(first, len(self._shares))))

    @property
    def bins(self) -> Distributions:
        """The bins that were added."""
        shares = np.array(self._shares, float).reshape(-1, 4).T  # which makes None NaN
        lows, highs, values = shares[:3]
        lines = self.text.lines(shares[3].astype(np.intp))
        made = []
        for (operation, scope, part, *_), metric, columns in self._distributions:
            known: dict[str, Any]
            if isinstance(columns, slice):
                known = {
                    "lows": lows[columns],
                    "highs": highs[columns],
                    "shares": values[columns],
                    "lines": lines[columns],
                }
            else:
                known = dict(zip(("lows", "highs", "lines", "counts"), columns, strict=True))
                known["lines"] = self.text.lines(known["lines"])
            made.append(Bins(operation=operation, metric=metric, scope=scope, part=part, **known))
        return Distributions(made)

    def columns(self) -> Measurements:
        """Return the figures that were added."""
        if not self._rows:
            return Measurements()
        *columns, positions = zip(*self._rows, strict=True)
        places = np.array(positions, np.intp)
        return Measurements((*columns, self.text.lines(places).tolist(), self.text.bytes(places).tolist()))

    @cached_property
    def _checked(self) -> list[int]:
        return [number for number in range(len(self._rows)) if number not in self._agreeing]

    @cached_property
    def measurements(self) -> list[Measurement]:
        """The figures that cross-checks are about."""
        rows = [self._rows[number] for number in self._checked]
        lines = self.text.lines(np.array([row[-1] for row in rows], np.intp)).tolist()
        return [Figure(*row[:-1], line, None).measurement() for row, line in zip(rows, lines, strict=True)]

    @property
    def kind(self) -> Hashable:
        """What the `measurements` are of, and which have open ends."""
        rows = [self._rows[number] for number in self._checked]
        is_open = [index for index, row in enumerate(rows) if None in row[2:5]]
        return tuple([row[0] for row in rows]), tuple([id(row[1]) for row in rows]), tuple(is_open)

    def values(self, metric: str) -> list[float]:
        """Return the figures of a metric."""
        return [row[2] for row in self._rows if row[1].metric == metric and row[2] is not None]

    def amend(self, numbers: Iterable[int], *, metric: str, factor: float) -> None:
        """Change what some of the `measurements` are of, and by what their unit is larger."""
        self.__dict__.pop("measurements", None)
        for number in numbers:
            place, known, value, low, high, *others = self._rows[self._checked[number]]
            ends = (end if end is None else end * factor for end in (value, low, high))
            known = what(metric, known.statistic, known.unit, known.state, known.primary)
            self._rows[self._checked[number]] = place, known, *ends, *others  # type: ignore[assignment]

    def drop(self, numbers: Iterable[int]) -> None:
        """Forget some of the `measurements`; those behind them get other numbers."""
        self.__dict__.pop("measurements", None)
        dropped = {self._checked[number] for number in numbers}
        kept = [number for number in range(len(self._rows)) if number not in dropped]
        self._agreeing = {index for index, number in enumerate(kept) if number in self._agreeing}
        self._rows = [self._rows[number] for number in kept]
        del self._checked

    def amount(self, block: Object, key: str, unit: str, whole: Rounding = "exact") -> Quantity | None:
        """Return the figure that a block has under a key, if there is one, as `add` understands it."""
        text = self.report.text(block.get(key))
        try:
            return quantity(text, unit, rounding="nearest" if _has_fraction(text) else whole)
        except ValueError:
            return None

    def contradict(self, code: str, message: str, position: int, excerpt: str | None = None) -> None:
        """Say that what is printed at a position cannot be right."""
        self.contradictions.append(self.diagnostic(code, message, position, excerpt))

    def diagnostic(self, code: str, message: str, position: int, excerpt: str | None = None) -> Diagnostic:
        """Say something about the document."""
        start, end = self._span
        line = self.text.line(position)
        return Diagnostic(code=code, message=message, line=line, start=start, end=end, excerpt=excerpt)

    @cached_property
    def _span(self) -> tuple[int, int]:
        """From which byte of the file to which one the document stands."""
        document = self.report.document
        return self.text.byte(document.start), self.text.byte(document.end)


def together(several: Sequence[Figures]) -> list[Measurement]:
    """Return the measurements of reports that are of one kind, each as columns; `line` are positions."""
    rows = [[figures._rows[number] for number in figures._checked] for figures in several]
    made = []
    for of_one in zip(*rows, strict=True):
        places, kinds, *columns, _, texts, positions = zip(*of_one, strict=True)
        ends = [None if column[0] is None else np.array(column, float) for column in columns]
        made.append(Figure._make((places[0], kinds[0], *ends, None, list(texts), positions, None)).measurement())
    return made


Span = tuple[float | None, float | None, float | None]
"""A value and its bounds."""
_Row = tuple["Place", What, float | None, float | None, float | None, int | None, str, int]
"""A `fsbench_kit.model.records.Figure`, with its position for its line and start."""

_Columns = tuple["NDArray[np.float64]", "NDArray[np.float64]", "NDArray[np.intp]", "NDArray[np.int64]"]
"""Lower and upper bounds of bins, where their counts are printed, and these."""
_Distribution = tuple["Place", str, slice | _Columns]
"""What bins are of, and their columns, or where they are among the shares."""

_PLAIN: Final = 15
"""A number that is no longer is read as a whole one, and divided."""
_POWERS: Final = [10**digits for digits in range(_PLAIN)]


def _has_fraction(number: str) -> bool:
    """Whether a number is printed with a fraction or an exponent."""
    return "." in number or "e" in number or "E" in number
