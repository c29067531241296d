"""Reads documents that differ in nothing but their numbers, using what is known from the first of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.formats import fio_columns
from fsbench_kit.formats.fio_columns import Log, Shape, ints
from fsbench_kit.formats.fio_json.reader import (
    IDENTITY,
    NO_FIGURES,
    JsonReader,
    Unread,
    key_of,
    leftovers,
    unread_counts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fsbench_kit.formats.findings import Finding
    from fsbench_kit.formats.fio_columns import Bools, Ints, Numbers
    from fsbench_kit.formats.loose_json import Counts
    from fsbench_kit.model.records import Diagnostic, Measurement, Setting


@dataclass(frozen=True, slots=True)
class Printed(fio_columns.Printed):
    """A text that may be a document.

    Attributes
    ----------
    bins
        Its bins.
    heights
        The lines of the bins that were removed before the first, and with each.
    data
        The text.
    """

    bins: list[Counts]
    heights: NDArray[np.intp]
    data: bytes


class DocumentKind(fio_columns.Kind[Printed]):
    """Documents of one kind.

    Parameters
    ----------
    reader
        The reader of the first document.
    starts
        The positions of all numbers in the text of the first document.
    places
        The indices of the document's numbers among these.
    cut_at
        The positions in this text where bins were removed.
    """

    def __init__(
        self, reader: JsonReader, starts: Sequence[int], places: Sequence[int], cut_at: NDArray[np.intp]
    ) -> None:
        self._reader = reader
        report, figures = reader.report, reader.figures
        self._places = ints(places)
        self.figures, self.facts, self.checked = figures, reader.facts(), reader.kind
        self.shape = Shape(figures, self._places)
        self._remarks = list(reader.remarks())
        self._identity = [
            (key, places[number]) for key in IDENTITY if isinstance(number := report.content.get(key), int)
        ]
        document = report.document
        self._lines, self._bins_before = reader.text.lines(ints(starts)), np.searchsorted(cut_at, starts)
        self._bin_lines = reader.text.lines(cut_at).tolist()
        self._line_ends = reader.text.chars.count("\n")
        self.conditions = [(self._places[list(numbers)], answer) for numbers, answer in report.conditions.items()]
        read = {row.number for row in figures.rows} | {bucket.number for bucket in figures.buckets}
        read |= {number for latencies in figures.latencies for _, number in latencies.percentiles}
        unread = [number for number, is_read in enumerate(document.is_read) if not is_read and number not in read]
        keys = {places[number]: key_of(document, document.starts[number]) for number in unread}
        self._keys = {place: key for place, key in keys.items() if key not in NO_FIGURES}
        self._unread = ints(self._keys)
        samples, requests = ([pair[at] for pair in figures.sampled] for at in (0, 1))
        self._has_no_requests = np.array([number is None for number in requests], bool)
        self._sampled = [self._places[[number or 0 for number in each]] for each in (samples, requests)]
        self._of_settings = self._places[sorted(reader.numbers_of_settings)]
        self._settings: dict[bytes, list[Setting]] = {}

    @property
    def same(self) -> list[int]:
        """The numbers that are the same in all documents of this kind."""
        same: list[int] = self._places[sorted(self._reader.report.consulted)].tolist()
        return same

    def log(self, report: Printed, first: int) -> Log:
        """Return a document, given the index of its first number."""
        return Log(
            self.figures,
            self.shape,
            first,
            self._lines + report.heights[self._bins_before] if report.bins else self._lines,
            report.bins,
            [
                line + height + bins.step * np.arange(1, len(bins.names) + 1)
                for line, height, bins in zip(self._bin_lines, report.heights.tolist(), report.bins, strict=False)
            ],
        )

    def line_ends(self, report: Printed) -> int:
        """Return how many line ends a document has."""
        return self._line_ends + int(report.heights[-1])

    def are_odd(self, numbers: Numbers, firsts: Ints) -> Bools:
        """Return whether statistics may be over single requests."""
        samples, requests = (firsts[:, None] + places for places in self._sampled)
        are_alike = self._has_no_requests | (numbers.counts[samples] == numbers.counts[requests])
        are_odd: Bools = (numbers.is_any[samples] & are_alike).any(axis=1)
        return are_odd

    def identities(self, numbers: Numbers, firsts: Ints) -> list[str | None]:
        """Return what identifies each run: alternating keys and values, separated by blanks."""
        return [
            " ".join(f"{key} {numbers.text(first + place)}" for key, place in self._identity) or None
            for first in firsts.tolist()
        ]

    def remarks(self, report: Printed) -> Iterator[Diagnostic]:
        """Yield the diagnostics of a document that do not depend on its figures."""
        return (replace(each, start=0, end=report.end) for each in self._remarks)

    def checks(self, measurements: Sequence[Measurement]) -> Iterator[Finding]:
        """Check columns of figures of several documents against each other."""
        return self._reader.checks(measurements)

    def leftovers(self, numbers: Numbers, logs: Sequence[Log]) -> Iterator[tuple[int, tuple[str, int, str]]]:
        """Return messages on unknown numbers, with their lines and excerpts, and the index of the log of each."""
        is_any = numbers.is_any[ints(log.first for log in logs)[:, None] + self._unread]
        for index, (log, has_any) in enumerate(zip(logs, is_any.any(axis=1).tolist(), strict=True)):
            found: list[list[Unread]] = list(map(unread_counts, log.bins, log.bin_lines))
            if has_any:
                found += (
                    [(int(log.lines[place]), self._keys[place], numbers.text(log.first + place))]
                    for place in self._unread[is_any[index]].tolist()
                )
            for message in leftovers(sorted(each for each in found if each)):
                yield index, message

    def settings(self, numbers: Numbers, firsts: Ints) -> Iterator[list[Setting]]:
        """Return the settings of documents; those that have the same share one list."""
        for first, exact in zip(firsts, numbers.exact(firsts[:, None] + self._of_settings), strict=True):
            own = exact.tobytes()
            if own not in self._settings:
                text = partial(self._text, numbers, first)
                self._settings[own] = self._reader.settings(self._reader.report.like(text))
            yield self._settings[own]

    def _text(self, numbers: Numbers, first: int, number: int) -> str:
        """Return a number of a document as printed."""
        return numbers.text(first + self._places[number])
