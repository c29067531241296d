"""Logs of which only the numbers are looked at."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.clean.numbers import Indexes, Numbers, without_dates
from fsbench_kit.formats.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.formats.clean.lines import Layout


class Log(NamedTuple):
    """A log.

    Attributes
    ----------
    at
        Which of the texts it is.
    raw, chars
        As it is, and with plain blanks for hard ones.
    dates
        Those that are printed in it.
    kind
        What stands between its numbers, without the blanks before a number.
    first
        Where its numbers begin in their column.
    layout
        Which of its lines are there in all logs of its kind; ``None`` where all of them are.
    """

    at: int
    raw: str
    chars: str
    dates: list[str]
    kind: str
    first: int
    layout: Layout | None = None

    def head(self, number: int | None) -> str:
        """Return the line that tells the unit of a number, or nothing where it is the same in all logs."""
        if self.layout is None or number is None:
            return ""
        return self.layout.heads[self.layout.numbers[number]]

    def line_of(self, line: int | None) -> int | None:
        """Return which of the lines that have to be there one is; ``None`` for others."""
        if self.layout is None or line is None:
            return line
        place = bisect_left(self.layout.lines, line)
        return place if self.layout.lines[place : place + 1] == (line,) else None

    @property
    def numbers(self) -> Indexes:
        """Which numbers stand on the lines that have to be there."""
        kept = range(self.kind.count("\0")) if self.layout is None else self.layout.kept
        return self.first + np.array(kept, dtype=np.int64)

    @property
    def text(self) -> Text:
        """It as a text of which the places in the file are known."""
        return Text(self.raw).replaced(self.chars)

    def byte(self, position: int) -> int:
        """Return the offset of a character in the file, where a hard blank is two bytes."""
        return position + (0 if self.raw is self.chars else self.raw.count(HARD_BLANK, 0, position))

    @property
    def span(self) -> tuple[int, int]:
        """From where to where it stands in the file, without the blanks around it."""
        return self.byte(len(self.chars) - len(self.chars.lstrip())), self.byte(len(self.chars.rstrip()))


HARD_BLANK: Final = "\N{NO-BREAK SPACE}"
"""What web pages have for a blank; where documents are read, it is one."""


def loaded(texts: Sequence[str]) -> tuple[list[Log], Numbers, list[int]]:
    """Return those texts that are of ASCII but for hard blanks, their numbers, and the indexes of the others."""
    plain = [text if text.isascii() else text.replace(HARD_BLANK, " ") for text in texts]
    ats = [at for at, chars in enumerate(plain) if chars.isascii()]
    dateless, dates = zip(*(without_dates(plain[at]) for at in ats), strict=True) if ats else ((), ())
    numbers = Numbers(dateless)
    logs = [
        Log(at, texts[at], plain[at], *others)
        for at, *others in zip(ats, dates, numbers.kinds, numbers.first, strict=False)
    ]
    return logs, numbers, [at for at, chars in enumerate(plain) if not chars.isascii()]


@lru_cache(maxsize=2**12)
def units(kind: str) -> tuple[str, ...]:
    """Return the unit behind each number of a kind, or nothing."""
    found = (UNIT.match(f"\0{piece}") for piece in kind.split("\0")[1:])
    return tuple(match[0][1:] if match is not None else "" for match in found)


UNIT: Final = re.compile(r"\0(?:[mu]?s|[kmg])(?!\w)")
"""A unit right behind a number, where numbers are left out, and a ``\\0`` stands in the place of each."""
_UNIT_IN_PLACE: Final = re.compile(r"(?<=\d)(?:[mu]?s|[kmg])(?!\w)")
_DIGITS: Final = dict.fromkeys(map(ord, "0123456789"), " ")


def in_places(chars: str) -> str:
    """Return a text in which a figure of any length and unit that ends at a place is the same."""
    return _UNIT_IN_PLACE.sub(lambda unit: f"{'~':>{len(unit[0])}}", without_dates(chars)[0]).translate(_DIGITS)
