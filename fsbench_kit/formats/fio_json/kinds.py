"""Reads documents that differ in nothing but their numbers, using what is known from the first of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.formats import fio_columns
from fsbench_kit.formats.fio_columns import Log, picker
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

    from fsbench_kit.formats.findings import Finding
    from fsbench_kit.formats.json_text import Cut
    from fsbench_kit.model.records import Diagnostic, Measurement, Setting


@dataclass(frozen=True, slots=True)
class Printed(fio_columns.Printed):
    """A text that may be a document; `chars` are its characters without its bins and the time.

    Attributes
    ----------
    cut
        The text without bins, and the bins.
    """

    cut: Cut


class DocumentKind(fio_columns.Kind[Printed]):
    """Documents of one kind.

    Parameters
    ----------
    reader
        The reader of the first document.
    places
        The positions of the document's numbers among those of the text.
    first
        The first document.
    """

    def __init__(self, reader: JsonReader, places: list[int], first: Printed) -> None:
        self._reader = reader
        report, figures = reader.report, reader.figures
        self.figures, self.facts, self.checked = figures, reader.facts(), reader.kind
        self._remarks = list(reader.remarks())
        self._identity = [(key, number) for key in IDENTITY if isinstance(number := report.content.get(key), int)]
        bins = first.cut.places
        document = report.document
        starts = np.array(document.starts, np.intp)
        self._numbers = picker(places)
        self._lines, self._bins_before = reader.text.lines(starts), np.searchsorted(bins, starts)
        self._bin_lines = reader.text.lines(bins).tolist()
        self._consulted = picker([places[number] for number in sorted(report.consulted)])
        self._first = self._consulted(first.numbers)
        self._conditions = [
            (picker([places[number] for number in numbers]), answer)
            for numbers, answer in report.conditions.items()
        ]
        read = {row.number for row in figures.rows} | {bucket.number for bucket in figures.buckets}
        read |= {number for latencies in figures.latencies for _, number in latencies.percentiles}
        unread = [number for number, is_read in enumerate(document.is_read) if not is_read and number not in read]
        keys = {number: key_of(document, document.starts[number]) for number in unread}
        self._keys = {number: key for number, key in keys.items() if key not in NO_FIGURES}
        self._unread = picker(list(self._keys))
        self._of_settings = picker(sorted(reader.numbers_of_settings))
        self._settings: dict[Sequence[str], list[Setting]] = {}

    def is_of(self, report: Printed) -> bool:
        """Whether a document that differs in its numbers alone is of this kind."""
        numbers = report.numbers
        return self._consulted(numbers) == self._first and all(
            bool("".join(pick(numbers)).strip("0.")) == answer for pick, answer in self._conditions
        )

    def log(self, report: Printed) -> Log:
        """Return the numbers of a document."""
        cut = report.cut
        return Log(
            self.figures,
            self.figures.shape,
            self._numbers(report.numbers),
            self._lines + cut.heights[self._bins_before] if cut.bins else self._lines,
            cut.bins,
            [
                line + height + bins.step * np.arange(1, len(bins.names) + 1)
                for line, height, bins in zip(self._bin_lines, cut.heights.tolist(), cut.bins, strict=False)
            ],
        )

    def is_odd(self, log: Log) -> bool:
        """Whether statistics may be over single requests."""
        numbers = log.numbers
        return any(
            numbers[samples].strip("0") and (requests is None or numbers[requests] == numbers[samples])
            for samples, requests in self._reader.figures.sampled
        )

    def identity(self, log: Log) -> str | None:
        """Return what identifies a run: alternating keys and values, separated by blanks."""
        return " ".join(f"{key} {log.numbers[number]}" for key, number in self._identity) or None

    def remarks(self, report: Printed) -> Iterator[Diagnostic]:
        """Yield the diagnostics of a document that do not depend on its figures."""
        return (replace(each, start=0, end=report.end) for each in self._remarks)

    def checks(self, measurements: Sequence[Measurement]) -> Iterator[Finding]:
        """Check columns of figures of several documents against each other."""
        return self._reader.checks(measurements)

    def leftovers(self, log: Log) -> Iterator[tuple[str, int, str]]:
        """Return messages on unknown numbers, with their lines and excerpts."""
        found: list[list[Unread]] = list(map(unread_counts, log.bins, log.bin_lines))
        texts = self._unread(log.numbers)
        if "".join(texts).strip("0."):
            found += (
                [(int(log.lines[number]), key, text)]
                for (number, key), text in zip(self._keys.items(), texts, strict=True)
                if text.strip("0.")
            )
        return leftovers(sorted(each for each in found if each))

    def settings(self, log: Log) -> list[Setting]:
        """Return the settings of a log."""
        own = self._of_settings(log.numbers)
        if own not in self._settings:
            self._settings[own] = self._reader.settings(self._reader.report.like(log.numbers))
        return self._settings[own]
