"""Findings of cross-checks, in the figures of one run or of many runs with the same layout at once.

A check is written once for both cases. It takes a `fsbench_kit.model.records.Run` in whose measurements `value`,
`low`, `high` and `text` are single values for one run, or columns for many runs, and yields a `Finding` for each
possible problem::

    def checks(run):
        work, rate = ...  # measurements
        too_slow = (work.low > rate.high * 10) & (rate.low > 0)
        words = work.text, rate.text
        yield Finding(too_slow, "FIGURES_DISAGREE", "{} in 10 s are not {} per second.", words, rate)

Checks use ``&``, ``|`` and comparisons, which work in both cases, and `either` instead of ``if``. An end that is
``None`` is unknown in all of the runs; if it is unknown in some, it is NaN there. For a run that is read alone,
`diagnostics` reports the findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Measurement


class Finding(NamedTuple):
    """A possible problem with some figures, and the runs that have it.

    Attributes
    ----------
    fails
        Whether there is a problem; a column over many runs.
    code, message
        The code and message of the diagnostic; `words` replace the braces in the message.
    words
        Values of one run, or columns, or named tuples of either.
    at
        The measurement that the diagnostic points to.
    beside
        The measurement that contradicts it; without one, the phrase that contains `at` is shown.
    """

    fails: Any
    code: str
    message: str
    words: tuple[Any, ...]
    at: Measurement
    beside: Measurement | None = None

    def of(self, rows: Sequence[int]) -> Iterator[tuple[str, int | None, str | None]]:
        """Yield the message, line and excerpt for each of the given runs."""
        messages: Iterable[str] = repeat(self.message, len(rows))
        if self.words:
            messages = map(self.message.format, *(_column(word, rows) for word in self.words))
        excerpts: Iterable[str | None] = repeat(None, len(rows))
        if self.beside is not None:
            excerpts = map("{} … {}".format, _column(self.at.text, rows), _column(self.beside.text, rows))
        return zip(messages, _column(self.at.line, rows), excerpts, strict=True)


def diagnostics(findings: Iterable[Finding], text: Text | None = None) -> Iterator[Diagnostic]:
    """Yield the problems of a run that is read alone; `text` is its source, from which phrases are excerpted."""
    for finding in findings:
        if not finding.fails:
            continue
        ((message, line, excerpt),) = finding.of((0,))
        start = end = None
        if finding.beside is None and finding.at.phrase is not None and text is not None:
            start, end = finding.at.phrase
            first, last = text.position(start), text.position(end)
            excerpt, line = text.excerpt(first, last), text.line(first)
        yield Diagnostic(code=finding.code, message=message, line=line, start=start, end=end, excerpt=excerpt)


def whole(text: Any) -> Any:
    """Return a setting as an integer, or ``None`` if it is not one; a column for columns."""
    if isinstance(text, str):
        return int(text) if text.isdecimal() else None
    return np.array(list(map(int, text)))


def number(text: Any) -> Any:
    """Return a printed number; a column for columns."""
    return float(text) if isinstance(text, str) else np.array(list(map(float, text)))


def either(flags: Any, one: Any, other: Any) -> Any:
    """Return the first value where a flag is set, otherwise the second; a column for columns."""
    return (one if flags else other) if isinstance(flags, _FLAG) else np.where(flags, one, other)


_FLAG = (bool, np.bool_)


class TextColumn(Sequence[str]):
    """Some of many texts, given by their indexes; texts are created on access."""

    def __init__(self, texts: pl.Series, indexes: NDArray[np.intp]) -> None:
        self._texts, self._indexes = texts, indexes

    def __len__(self) -> int:
        return len(self._indexes)

    def __getitem__(self, row: Any) -> Any:
        return self._texts[int(self._indexes[row])]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts[self._indexes].to_list())  # one by one takes far longer

    def of(self, rows: Sequence[int]) -> list[str]:
        """Return the texts of the given rows."""
        return list(TextColumn(self._texts, self._indexes[np.asarray(rows)]))


def unequal(one: Any, other: Any) -> Any:
    """Whether two texts differ; a column for columns."""
    if isinstance(one, str):
        return one != other
    return np.array([text != again for text, again in zip(one, other, strict=True)])


def least(values: Iterable[Any]) -> Any:
    """Return the smallest value; a column for columns."""
    return reduce(np.minimum, known) if _are_columns(known := list(values)) else min(known)


def greatest(values: Iterable[Any]) -> Any:
    """Return the largest value; a column for columns."""
    return reduce(np.maximum, known) if _are_columns(known := list(values)) else max(known)


def _are_columns(values: Iterable[Any]) -> bool:
    return any(isinstance(value, np.ndarray) for value in values)


def _column(word: Any, rows: Sequence[int]) -> Iterable[Any]:
    """Return the values for the given runs."""
    if isinstance(word, np.ndarray):
        return word[rows].tolist()  # type: ignore[no-any-return]
    if isinstance(word, pl.Series):
        word = word.to_list()
    if isinstance(word, TextColumn):
        return word.of(rows)
    if isinstance(word, list):
        return [word[row] for row in rows]
    if isinstance(word, tuple):
        return map(type(word), *(_column(part, rows) for part in word))
    return repeat(word, len(rows))
