"""A log's text, which remembers where in its file each character stands."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EXCERPT_LENGTH = 120


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
    encoding
        How the file encodes it, which decides the byte offsets.
    first_byte
        Offset of the first character in the file: the length of a byte order mark, or 0.
    """

    def __init__(
        self, chars: str, source: str = "<text>", *, encoding: str = "utf-8", first_byte: int = 0
    ) -> None:
        self.chars = chars
        self.source = source
        self._file = _File(chars, encoding, first_byte)
        self._stretches = [_Stretch(0, 0), _Stretch(len(chars), len(chars))]

    def line(self, position: int) -> int:
        """Return the number of the line of the file in which a position stands, counted from 1."""
        return self._file.line(self._origin(position))

    def byte(self, position: int) -> int:
        """Return the offset in the file of the character at a position."""
        return self._file.byte(self._origin(position))

    def excerpt(self, start: int, end: int) -> str:
        """Return the text between two positions on one line, shortened in its middle if it is long.

        Control characters, which could drive the terminal that shows it, are replaced.
        """
        words = " ".join(self.chars[start:end].split())
        words = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words)
        if len(words) <= EXCERPT_LENGTH:
            return words
        half = EXCERPT_LENGTH // 2
        return f"{words[:half]} … {words[-half:]}"

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

    def _origin(self, position: int) -> int:
        stretch = self._stretches[self._at(position)]
        return stretch.origin + (position - stretch.start if stretch.kept else 0)


class _File:
    """Where the lines of a file begin."""

    def __init__(self, chars: str, encoding: str, first_byte: int) -> None:
        self._chars = chars
        self._encoding = encoding
        self._starts, self._bytes = [0], [first_byte]
        # str.splitlines also splits at form feeds and the like, which editors do not count as lines.
        for line in chars.split("\n")[:-1]:
            self._starts.append(self._starts[-1] + len(line) + 1)
            self._bytes.append(self._bytes[-1] + len(f"{line}\n".encode(encoding)))

    def line(self, position: int) -> int:
        return bisect_right(self._starts, position)

    def byte(self, position: int) -> int:
        index = bisect_right(self._starts, position) - 1
        head = self._chars[self._starts[index] : position]
        return self._bytes[index] + len(head.encode(self._encoding))
