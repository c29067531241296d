"""Adds what a report holds to a run, and keeps account of which of its numbers were read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.builder import RunBuilder
from fsbench_kit.formats.lexer import Printed
from fsbench_kit.model.records import Bins, Diagnostic, Distributions, Measurements, What, what
from fsbench_kit.model.units import amount, exact_factor, quantity
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fsbench_kit.formats.builder import Bounds, Column
    from fsbench_kit.formats.fio_json.contents import Report
    from fsbench_kit.formats.loose_json import Object
    from fsbench_kit.formats.text import Text
    from fsbench_kit.model.records import Place
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
    """

    def __init__(self, text: Text, report: Report) -> None:
        self.text, self.report = text, report
        self.run = RunBuilder(text)
        self.contradictions: list[Diagnostic] = []
        self._rows: list[_Row] = []
        self._bins: list[Bins] = []
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
            digits, _, fraction = text.partition(".")
            if text.isdecimal() and len(text) <= _PLAIN:
                value, low, high = amount(int(text), factor, divisor, whole)
            elif fraction.isdecimal() and digits.isdecimal() and len(text) <= _PLAIN:
                value, low, high = amount(int(digits + fraction), factor, divisor * 10 ** len(fraction), rounding)
            else:
                try:
                    value, _, low, high = quantity(text, unit, rounding=rounding if _has_fraction(text) else whole)
                except ValueError:
                    continue
            self._rows.append((place, known, value, low, high, samples, text, position))
            is_read[number] = True

    def add_bounded(self, place: Place, known: What, number: int, value: float | None, bounds: Bounds) -> None:
        """Add a figure whose bounds its print alone does not tell."""
        text = Printed(self.report.document.number(number), self._starts[number])
        self.add_found(place, known, text, value, bounds)
        self._is_read[number] = True

    def add_found(self, place: Place, known: What, text: Printed, value: float | None, bounds: Bounds) -> None:
        """Add a figure that others tell."""
        self._rows.append((place, known, value, *bounds, None, *text))

    def add_bins(
        self,
        place: Place,
        metric: str,
        lows: Column[float | None],
        highs: Column[float | None],
        positions: Column[int],
        *,
        counts: NDArray[np.int64] | None = None,
        shares: Sequence[float] | None = None,
    ) -> None:
        """Add the bins of a distribution; see `fsbench_kit.model.records.Bins`."""
        self._bins.append(
            Bins(
                operation=place.operation,
                metric=metric,
                scope=place.scope,
                part=place.part,
                lows=np.asarray(lows, float),  # which makes None NaN
                highs=np.asarray(highs, float),
                counts=counts,
                shares=np.asarray(shares, float) if shares is not None else None,
                lines=self.text.lines(np.asarray(positions, np.intp)),
            )
        )

    @property
    def bins(self) -> Distributions:
        """The bins that were added."""
        return Distributions(self._bins)

    @property
    def measurements(self) -> Measurements:
        """The figures that were added."""
        if not self._rows:
            return Measurements()
        *columns, positions = zip(*self._rows, strict=True)
        places = np.array(positions, np.intp)
        return Measurements((*columns, self.text.lines(places).tolist(), self.text.bytes(places).tolist()))

    def amend(self, numbers: Iterable[int], *, metric: str, factor: float) -> None:
        """Change what figures are of, and by what their unit is larger; see `RunBuilder.amend`."""
        for number in numbers:
            place, known, value, low, high, *others = self._rows[number]
            ends = (end if end is None else end * factor for end in (value, low, high))
            known = what(metric, known.statistic, known.unit, known.state, known.primary)
            self._rows[number] = place, known, *ends, *others  # type: ignore[assignment]

    def drop(self, numbers: Iterable[int]) -> None:
        """Forget figures; those behind them get other numbers."""
        dropped = set(numbers)
        self._rows = [row for number, row in enumerate(self._rows) if number not in dropped]

    def amount(self, block: Object, key: str, unit: str, whole: Rounding = "exact") -> Quantity | None:
        """Return the figure that a block has under a key, if there is one, as `add` understands it."""
        text = self.report.text(block.get(key))
        try:
            return quantity(text, unit, rounding="nearest" if _has_fraction(text) else whole)
        except ValueError:
            return None

    def places(self, numbers: Iterable[int]) -> list[int]:
        """Return where numbers are printed."""
        return [self._starts[number] for number in numbers]

    def contradict(self, code: str, message: str, position: int, excerpt: str | None = None) -> None:
        """Say that what is printed at a position cannot be right."""
        self.contradictions.append(self.diagnostic(code, message, position, excerpt))

    def diagnostic(self, code: str, message: str, position: int, excerpt: str | None = None) -> Diagnostic:
        """Say something about the document."""
        document = self.report.document
        return Diagnostic(
            code=code,
            message=message,
            line=self.text.line(position),
            start=self.text.byte(document.start),
            end=self.text.byte(document.end),
            excerpt=excerpt,
        )


_Row = tuple["Place", What, float | None, float | None, float | None, int | None, str, int]
"""A `fsbench_kit.model.records.Figure`, with its position for its line and start."""

_PLAIN: Final = 15
"""A number that is no longer is read as a whole one, and divided."""


def _has_fraction(number: str) -> bool:
    """Whether a number is printed with a fraction or an exponent."""
    return "." in number or "e" in number or "E" in number
