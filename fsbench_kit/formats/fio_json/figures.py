"""Adds what a report holds to a run, and keeps account of which of its numbers were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.formats.builder import RunBuilder
from fsbench_kit.formats.lexer import Printed
from fsbench_kit.model.records import Diagnostic
from fsbench_kit.model.units import quantity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsbench_kit.formats.builder import Bounds, Place
    from fsbench_kit.formats.fio_json.contents import Report
    from fsbench_kit.formats.loose_json import Object
    from fsbench_kit.formats.text import Text
    from fsbench_kit.model.units import Quantity, Rounding


class Figures:
    """The figures of one report.

    Attributes
    ----------
    run
        Where they are collected.
    contradictions
        What was found to be wrong while they were read.
    """

    def __init__(self, text: Text, report: Report) -> None:
        self.text, self.report = text, report
        self.run = RunBuilder(text)
        self.contradictions: list[Diagnostic] = []
        document = report.document
        self._texts, self._positions, self._is_read = document.texts, document.positions, document.is_read
        self._places = np.array(document.positions, np.intp)

    def add(
        self,
        place: Place,
        block: Object,
        key: str,
        metric: str,
        statistic: str = "value",
        *,
        unit: str = "",
        whole: Rounding = "exact",
        rounding: Rounding | None = None,
        bounds: Bounds | None = None,
        samples: int | None = None,
        primary: bool = True,
    ) -> None:
        """Add the figure that a block has under a key, if there is one.

        Unless `rounding` says how it was shortened, one with a fraction was rounded, and a whole one is as `whole`
        says.
        What is no number is left, to be named with the numbers that were not read.
        """
        number = block.get(key)
        if type(number) is not int:
            return
        text = self._texts[number]
        if rounding is None:
            rounding = "nearest" if _has_fraction(text) else whole
        try:
            self.run.add(
                place,
                metric,
                Printed(text, self._positions[number]),
                statistic,
                unit=unit,
                rounding=rounding,
                bounds=bounds,
                samples=samples,
                primary=primary,
            )
        except ValueError:
            return
        self._is_read[number] = True

    def amount(self, block: Object, key: str, unit: str, whole: Rounding = "exact") -> Quantity | None:
        """Return the figure that a block has under a key, if there is one, as `add` understands it."""
        text = self.report.text(block.get(key))
        try:
            return quantity(text, unit, rounding="nearest" if _has_fraction(text) else whole)
        except ValueError:
            return None

    def printed(self, number: int) -> Printed:
        """Return how and where a number is printed."""
        return Printed(self._texts[number], self._positions[number])

    def places(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where numbers are printed."""
        return self._places[numbers]

    def mark(self, numbers: NDArray[np.intp]) -> None:
        """Take numbers for read."""
        np.frombuffer(self._is_read, np.uint8)[numbers] = True

    def contradict(self, code: str, message: str, number: int, excerpt: str | None = None) -> None:
        """Say that a number cannot be right."""
        self.contradictions.append(self.diagnostic(code, message, self.printed(number).position, excerpt))

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


def _has_fraction(number: str) -> bool:
    """Whether a number is printed with a fraction or an exponent."""
    return "." in number or "e" in number or "E" in number
