"""Logs that are represented by their numbers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.clean.numbers import DATE, Indexes, Numbers
from fsbench_kit.formats.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fsbench_kit.formats.clean.examples import Example
    from fsbench_kit.formats.clean.lines import Layout


class Log(NamedTuple):
    """A log.

    Attributes
    ----------
    at
        The index of its text; below 0 for remembered examples.
    raw, chars
        The text as it is, and with plain blanks instead of no-break spaces.
    dates
        The dates in it, which differ between runs.
    kind
        The text between its numbers, without the blanks before numbers.
    first
        The start of its numbers in the column of all numbers.
    layout
        Its common and optional lines; ``None`` if all lines are common.
    example
        Its example, if it was read as one before.
    """

    at: int
    raw: str
    chars: str
    dates: list[str]
    kind: str
    first: int
    layout: Layout | None = None
    example: Example | None = None

    @property
    def dateless(self) -> str:
        """The text without its dates."""
        return re.sub(DATE, lambda date: "~" * len(date[0]), self.chars) if self.dates else self.chars

    def head(self, number: int | None) -> str:
        """Return the line that shows the unit of a number, or nothing if the unit is the same in all logs."""
        if self.layout is None or number is None:
            return ""
        return self.layout.heads[self.layout.numbers[number]]

    def line_of(self, line: int | None) -> int | None:
        """Return the index of a line among the common lines; ``None`` for others."""
        if self.layout is None or line is None:
            return line
        place = bisect_left(self.layout.lines, line)
        return place if self.layout.lines[place : place + 1] == (line,) else None

    def labels(self, numbers: Numbers) -> list[int]:
        """Return codes for the labels of its bins on optional lines."""
        return [] if self.layout is None else numbers.codes[self.first + self.layout.labels].tolist()

    @property
    def text(self) -> Text:
        """The log as a `Text` with known positions in the file."""
        return Text(self.raw).replaced(self.chars)

    def byte(self, position: int) -> int:
        """Return the byte offset of a character in the file, where a no-break space has two bytes."""
        return position + (0 if self.raw is self.chars else self.raw.count(HARD_BLANK, 0, position))

    @property
    def span(self) -> tuple[int, int]:
        """The first and last byte of the log in the file, without surrounding blanks."""
        start, end = len(self.chars) - len(self.chars.lstrip()), len(self.chars.rstrip())
        return (start, end) if self.raw is self.chars else (self.byte(start), self.byte(end))


HARD_BLANK: Final = "\N{NO-BREAK SPACE}"
"""Takes the place of a blank in logs from web pages, and is read as one in documents."""


def loaded(texts: Sequence[str]) -> tuple[list[Log], Numbers, list[int]]:
    """Return the texts that are ASCII except for no-break spaces, their numbers, and the indices of the others."""
    plain = [text if text.isascii() else text.replace(HARD_BLANK, " ") for text in texts]
    ats = [at for at, chars in enumerate(plain) if chars.isascii()]
    numbers = Numbers([plain[at] for at in ats])
    others = zip(ats, numbers.dates, numbers.kinds, numbers.first, strict=False)
    logs = [Log(at, texts[at], plain[at], dates, kind, first) for at, dates, kind, first in others]
    return logs, numbers, [at for at, chars in enumerate(plain) if not chars.isascii()]


def places(logs: Sequence[Log]) -> Indexes:
    """Return the positions of the numbers on common lines in the column of all numbers."""
    first: Indexes = np.array([[log.first] for log in logs], dtype=np.int64)
    if logs[0].layout is None:
        return np.add(first, np.arange(logs[0].kind.count("\0")))
    return np.add(first, np.stack([log.layout.kept for log in logs if log.layout is not None]))


@lru_cache(maxsize=2**12)
def units(kind: str) -> tuple[str, ...]:
    """Return the unit after each number of a kind, or nothing."""
    found = (UNIT.match(f"\0{piece}") for piece in kind.split("\0")[1:])
    return tuple(match[0][1:] if match is not None else "" for match in found)


UNIT: Final = re.compile(r"\0(?:[mu]?s|[kmg])(?!\w)")
"""A unit directly after a number, in a text whose numbers are replaced by ``\\0``."""


def by_place(logs: Iterable[Log], numbers: Numbers, mark: str) -> Iterator[list[Log]]:
    """Group logs by where in their lines numbers with their units end, ignoring lines that contain a mark."""
    kinds: dict[str, list[Log]] = defaultdict(list)
    for log in logs:
        kinds[log.kind].append(log)
    alike: dict[bytes, list[Log]] = defaultdict(list)
    for kind, of_kind in kinds.items():
        before = kind.split("\0")[:-1]
        lines = [mark in line for line in kind.split("\n") for _ in range(line.count("\0"))]
        begins_line = np.array(["\n" in piece for piece in before])
        widths = (
            np.array([len(piece) - piece.rfind("\n") - 1 for piece in before]) + numbers.widths[places(of_kind)]
        )
        ends = np.cumsum(widths, axis=1)
        first_of_line = np.maximum.accumulate(np.where(begins_line, np.arange(len(before)), 0))
        ends += widths[:, first_of_line] - ends[:, first_of_line] + np.array(list(map(len, units(kind))))
        for log, row in zip(of_kind, ends[:, ~np.array(lines)], strict=True):
            alike[row.tobytes()].append(log)
    yield from alike.values()
