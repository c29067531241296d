"""What cross-checks find: in the figures of one run, or of many runs that are printed alike at once.

A check is written once for both. It takes a `fsbench_kit.model.records.Run` in whose measurements `value`, `low`,
`high` and `text` are those of one run, or columns over many runs, and yields a `Finding` for each thing that can
be wrong::

    def checks(run):
        work, rate = ...  # measurements
        too_slow = (work.low > rate.high * 10) & (rate.low > 0)
        words = work.text, rate.text
        yield Finding(too_slow, "FIGURES_DISAGREE", "{} in 10 s are not {} per second.", words, rate)

So it computes with ``&``, ``|`` and comparisons, which do for both, and has `either` in place of ``if``. An end
that is ``None`` is so in all of the runs; one that is not known of some is NaN in these. Where a run is read
alone, `diagnostics` says what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Measurement


class Finding(NamedTuple):
    """What can be wrong with some figures, and in which runs it is.

    Attributes
    ----------
    fails
        Whether it is wrong; a column over many runs.
    code, message
        What a diagnostic says; `words` take the places of the braces in the message.
    words
        Of one run, or columns, or named tuples of them.
    at
        The measurement at whose print the diagnostic points.
    beside
        The one that it contradicts. Where there is none, the phrase is shown in which `at` is printed.
    """

    fails: Any
    code: str
    message: str
    words: tuple[Any, ...]
    at: Measurement
    beside: Measurement | None = None

    def of(self, rows: Sequence[int]) -> Iterator[tuple[str, int | None, str | None]]:
        """Yield the message, line and excerpt for each of some runs."""
        messages: Iterable[str] = repeat(self.message, len(rows))
        if self.words:
            messages = map(self.message.format, *(_column(word, rows) for word in self.words))
        excerpts: Iterable[str | None] = repeat(None, len(rows))
        if self.beside is not None:
            excerpts = map("{} … {}".format, _column(self.at.text, rows), _column(self.beside.text, rows))
        return zip(messages, _column(self.at.line, rows), excerpts, strict=True)


def diagnostics(findings: Iterable[Finding], text: Text | None = None) -> Iterator[Diagnostic]:
    """Yield what is wrong with a run that is read alone; `text` is what it was read from, to show its phrases."""
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
    """Return the number that a setting is, or ``None`` where it is none; a column for columns."""
    if isinstance(text, str):
        return int(text) if text.isdecimal() else None
    return np.array(list(map(int, text)))


def number(text: Any) -> Any:
    """Return the number that a print is; a column for columns."""
    return float(text) if isinstance(text, str) else np.array(list(map(float, text)))


def either(flags: Any, one: Any, other: Any) -> Any:
    """Return the one where a flag is set, and else the other; a column for columns."""
    return (one if flags else other) if isinstance(flags, _FLAG) else np.where(flags, one, other)


_FLAG = (bool, np.bool_)


class TextColumn(Sequence[str]):
    """One of several columns of texts that stand row by row; a text is made where it is asked for."""

    def __init__(self, texts: pl.Series, column: int, width: int) -> None:
        self._texts, self._column, self._width = texts, column, width

    def __len__(self) -> int:
        return len(self._texts) // self._width

    def __getitem__(self, row: Any) -> Any:
        return self._texts[self._column + self._width * row]

    def of(self, rows: Sequence[int]) -> list[str]:
        """Return the texts in some rows."""
        return self._texts[self._column + self._width * np.asarray(rows)].to_list()


def unequal(one: Any, other: Any) -> Any:
    """Whether two texts differ; a column for columns."""
    if isinstance(one, str):
        return one != other
    return np.array([text != again for text, again in zip(one, other, strict=True)])


def least(values: Iterable[Any]) -> Any:
    """Return the least of some values; a column for columns."""
    return reduce(np.minimum, known) if _are_columns(known := list(values)) else min(known)


def greatest(values: Iterable[Any]) -> Any:
    """Return the greatest of some values; a column for columns."""
    return reduce(np.maximum, known) if _are_columns(known := list(values)) else max(known)


def _are_columns(values: Iterable[Any]) -> bool:
    return any(isinstance(value, np.ndarray) for value in values)


def _column(word: Any, rows: Sequence[int]) -> Iterable[Any]:
    """Return what stands in the rows of some runs."""
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
