"""What stands where in documents that are alike but for their numbers, by the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.formats.fio_json.columns import Log, picker
from fsbench_kit.formats.fio_json.reader import NO_FIGURES, Unread, key_of, unread_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsbench_kit.formats.fio_json.reader import Reader
    from fsbench_kit.formats.json_text import Cut
    from fsbench_kit.model.records import Setting

Numbers = Sequence[str]
"""All numbers of a document as they are printed, also those in its strings."""


class Kind:
    """Documents of one kind.

    Parameters
    ----------
    reader
        Of the first of them.
    places
        Which numbers of the text are those of the document.
    names
        Which are the names of percentiles.
    bins
        Where its bins stood.
    first
        Its numbers.
    """

    def __init__(
        self, reader: Reader, places: list[int], names: list[int], bins: NDArray[np.intp], first: Numbers
    ) -> None:
        self.reader = reader
        report, figures = reader.report, reader.figures
        document = report.document
        self._numbers, self._names = picker(places), picker(names)
        starts = np.array(document.starts, np.intp)
        self._lines, self._bins_before = reader.text.lines(starts), np.searchsorted(bins, starts)
        self._bin_lines = reader.text.lines(bins).tolist()
        self._consulted = picker([places[number] for number in sorted(report.consulted)])
        self._first = self._consulted(first)
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

    def is_of(self, numbers: Numbers) -> bool:
        """Whether a document that differs in its numbers alone is of this kind."""
        return self._consulted(numbers) == self._first and all(
            bool("".join(pick(numbers)).strip("0.")) == answer for pick, answer in self._conditions
        )

    def log(self, numbers: Numbers, cut: Cut) -> Log:
        """Return the report of a document."""
        return Log(
            self.reader.figures,
            self._numbers(numbers),
            self._lines + cut.heights[self._bins_before],
            self._names(numbers),
            cut.bins,
            [
                line + height + bins.step * np.arange(1, len(bins.names) + 1)
                for line, height, bins in zip(self._bin_lines, cut.heights.tolist(), cut.bins, strict=False)
            ],
        )

    def is_odd(self, log: Log) -> bool:
        """Whether a number is none, or statistics may be over single requests."""
        numbers = log.numbers
        spaced = f" {' '.join(numbers)} "
        return (
            " ." in spaced
            or ". " in spaced
            or any(
                numbers[samples].strip("0") and (requests is None or numbers[requests] == numbers[samples])
                for samples, requests in self.reader.figures.sampled
            )
        )

    def unread(self, log: Log) -> list[list[Unread]]:
        """Return the numbers of a log for which there is no place, by where they stand, and on which lines."""
        found = [unread_counts(bins, lines) for bins, lines in zip(log.bins, log.bin_lines, strict=True)]
        texts = self._unread(log.numbers)
        if "".join(texts).strip("0."):
            found += (
                [(int(log.lines[number]), key, text)]
                for (number, key), text in zip(self._keys.items(), texts, strict=True)
                if text.strip("0.")
            )
        return sorted(each for each in found if each)

    def settings(self, log: Log) -> list[Setting]:
        """Return the settings of a log."""
        own = self._of_settings(log.numbers)
        if own not in self._settings:
            self._settings[own] = self.reader.settings(self.reader.report.like(log.numbers))
        return self._settings[own]
