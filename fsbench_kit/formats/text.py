"""A log's text, which remembers where in its file each character stands."""

from __future__ import annotations

from bisect import bisect_right
from codecs import lookup
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

EXCERPT_LENGTH = 120

_NEWLINE: Final = ord("\n")
_STEP: Final = 1024
"""So many characters lie between two whose offsets are kept."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Other characters for those from `start` up to `end`."""

    start: int
    end: int
    chars: str


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Characters from `start` on, which stand in the file from its character `origin` on.

    Characters of an edit (`kept` is false) all stand where the text stood that they replace.
    """

    start: int
    origin: int
    kept: bool = True


class Text:
    """Decoded text of a file, or a piece of it, or what it was before it was mangled.

    All positions are indices into `chars`; lines and bytes are those of the file, whatever was cut or edited.

    Parameters
    ----------
    chars
        The text of the file.
    source
        The file's name, for messages.
    encoding, errors
        How the file encodes it, and what was no text, which decides the byte offsets.
    first_byte, first_line
        Offset and line of the first character in the file, where something stands before it.
    """

    def __init__(
        self,
        chars: str,
        source: str = "<text>",
        *,
        encoding: str = "utf-8",
        errors: str = "strict",
        first_byte: int = 0,
        first_line: int = 1,
    ) -> None:
        self.chars = chars
        self.source = source
        self._file = _File(chars, encoding, errors, first_byte, first_line)
        self._stretches = [_Stretch(0, 0), _Stretch(len(chars), len(chars))]

    def line(self, position: int) -> int:
        """Return the number of the line of the file in which a position stands, counted from 1."""
        return self._file.line(self._origin(position))

    def lines(self, positions: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the lines on which positions stand: the same as `line`, far faster."""
        return self._file.lines(self._origins(positions))

    def byte(self, position: int) -> int:
        """Return the offset in the file of the character at a position."""
        return self._file.byte(self._origin(position))

    def bytes(self, positions: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the offsets of the characters at positions: the same as `byte`, far faster."""
        return self._file.bytes(self._origins(positions))

    def position(self, byte: int) -> int:
        """Return where the character stands that the file has at an offset; the inverse of `byte`."""
        origin = self._file.character(byte)
        index = bisect_right(self._stretches, origin, key=lambda stretch: stretch.origin) - 1
        if index < 0:
            return 0
        stretch = self._stretches[index]
        return min(stretch.start + (origin - stretch.origin if stretch.kept else 0), len(self.chars))

    def excerpt(self, start: int, end: int) -> str:
        """Return the text between two positions on one line, shortened in its middle if it is long.

        Control characters, which could drive the terminal that shows it, are replaced.
        """
        words = " ".join(self.chars[start:end].split())
        if len(words) > EXCERPT_LENGTH:
            half = EXCERPT_LENGTH // 2
            words = f"{words[:half]} … {words[-half:]}"
        if words.isprintable():
            return words
        return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words)

    def cut(self, start: int, end: int) -> Text:
        """Return the piece between two positions."""
        return self._derived(self.chars[start:end], list(self._between(start, end, -start)), self._origin(end))

    def edited(self, edits: Iterable[Edit]) -> Text:
        """Return the text with some of its characters replaced.

        Parameters
        ----------
        edits
            In the order of the text, none of them reaching into another.
        """
        chars: list[str] = []
        stretches: list[_Stretch] = []
        length = position = 0
        for edit in edits:
            if edit.start < position:
                raise ValueError("edits overlap, or are not in the order of the text")
            stretches += self._between(position, edit.start, length - position)
            length += edit.start - position
            stretches.append(_Stretch(length, self._origin(edit.start), kept=False))
            length += len(edit.chars)
            chars += self.chars[position : edit.start], edit.chars
            position = edit.end
        stretches += self._between(position, len(self.chars), length - position)
        chars.append(self.chars[position:])
        return self._derived("".join(chars), stretches, self._origin(len(self.chars)))

    def replaced(self, chars: str) -> Text:
        """Return the text with as many other characters, each in the place of one."""
        if len(chars) != len(self.chars):
            raise ValueError("each character takes the place of one")
        return self._derived(chars, self._stretches[:-1], self._stretches[-1].origin)

    def _derived(self, chars: str, stretches: list[_Stretch], end: int) -> Text:
        derived = object.__new__(Text)
        derived.chars = chars
        derived.source = self.source
        derived._file = self._file
        derived._stretches = [*stretches, _Stretch(len(chars), end)]
        return derived

    def _between(self, start: int, end: int, shift: int) -> Iterator[_Stretch]:
        """Yield the stretches between two positions, as they stand after a shift."""
        if start >= end:
            return
        first = self._at(start)
        last = bisect_right(self._stretches, end - 1, key=lambda stretch: stretch.start)
        for stretch in self._stretches[first:last]:
            skipped = max(0, start - stretch.start)
            origin = stretch.origin + (skipped if stretch.kept else 0)
            yield _Stretch(stretch.start + skipped + shift, origin, stretch.kept)

    def _at(self, position: int) -> int:
        return bisect_right(self._stretches, position, key=lambda stretch: stretch.start) - 1

    def _origins(self, positions: NDArray[np.intp]) -> NDArray[np.intp]:
        first, *others = self._stretches
        if len(others) == 1 and first.kept:
            return positions + (first.origin - first.start)
        return np.array([self._origin(position) for position in positions.tolist()], np.intp)

    def _origin(self, position: int) -> int:
        stretch = self._stretches[self._at(position)]
        return stretch.origin + (position - stretch.start if stretch.kept else 0)


LAST_CODE: Final = 127


def codes(chars: str) -> NDArray[np.uint8]:
    """Return the characters of a text as numbers: their ASCII codes, and `LAST_CODE` for all others."""
    if chars.isascii():
        return np.frombuffer(chars.encode("ascii"), np.uint8)
    wide = np.frombuffer(chars.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.minimum(wide, LAST_CODE).astype(np.uint8)


_LIKE_ASCII: Final = {"ascii", "utf-8", "iso8859-1", "cp1252"}
"""Encodings in which ASCII characters are a byte each."""


class _File:
    """Where the lines of a file begin, and which bytes its characters are."""

    def __init__(self, chars: str, encoding: str, errors: str, first_byte: int, first_line: int) -> None:
        self._chars = chars
        self._encoding, self._errors = encoding, errors
        # str.splitlines also splits at form feeds and the like, which editors do not count as lines.
        self._ends = np.flatnonzero(codes(chars) == _NEWLINE)
        self._line_starts = [0, *(self._ends + 1).tolist()]
        self._lines_before = first_line - 1
        self._first_byte = first_byte
        self._is_ascii = chars.isascii() and lookup(encoding).name in _LIKE_ASCII

    @cached_property
    def _bytes(self) -> list[int]:
        found = [self._first_byte]
        for start in range(0, len(self._chars), _STEP):
            found.append(found[-1] + self._length(start, start + _STEP))
        return found

    def line(self, character: int) -> int:
        return self._lines_before + bisect_right(self._line_starts, character)

    def lines(self, characters: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.searchsorted(self._ends, characters) + (self._lines_before + 1)

    def bytes(self, characters: NDArray[np.intp]) -> NDArray[np.intp]:
        if self._is_ascii:
            return characters + self._first_byte
        return np.array(list(map(self.byte, characters.tolist())), np.intp)

    def byte(self, character: int) -> int:
        if self._is_ascii:
            return self._first_byte + character
        step, rest = divmod(character, _STEP)
        return self._bytes[step] + self._length(character - rest, character)

    def character(self, byte: int) -> int:
        if self._is_ascii:
            return min(max(byte - self._first_byte, 0), len(self._chars))
        step = min(bisect_right(self._bytes, byte) - 1, len(self._chars) // _STEP)
        candidates = range(step * _STEP, min((step + 1) * _STEP, len(self._chars) + 1))
        return candidates.start + max(bisect_right(candidates, byte, key=self.byte) - 1, 0)

    def _length(self, start: int, end: int) -> int:
        return len(self._chars[start:end].encode(self._encoding, self._errors))
