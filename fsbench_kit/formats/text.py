"""The text of a log, in which the position of each character in the file is known."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

EXCERPT_LENGTH = 120


class Edit(NamedTuple):
    """Replacement of the characters from `start` up to `end`."""

    start: int
    end: int
    chars: str


class _Stretches(NamedTuple):
    """Consecutive stretches of a text: their starts, and the corresponding characters of the file.

    Characters inserted by an edit, which are not `kept` (0), all correspond to the start of the text that they
    replace. The last stretch is empty, and starts at the end of the text.
    """

    starts: list[int]
    origins: list[int]
    kept: list[int]

    def add(self, start: int, origin: int, kept: int) -> None:
        self.starts.append(start)
        self.origins.append(origin)
        self.kept.append(kept)

    def part(self, start: int, end: int) -> _Stretches:
        """Return the part between two positions, without its end."""
        starts, origins, kept = self
        if start >= end:
            return _Stretches([], [], [])
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1)
        return _Stretches(
            [0, *(each - start for each in starts[first + 1 : last])],
            [origins[first] + (start - starts[first]) * kept[first], *origins[first + 1 : last]],
            kept[first:last],
        )

    def edited(self, edits: Sequence[Edit], end: int) -> _Stretches:
        """Return the stretches after edits, without their end; there can be many edits."""
        of_edits = np.array([(edit.start, edit.end, len(edit.chars)) for edit in edits], np.intp).reshape(-1, 3)
        cut_from, cut_to, lengths = of_edits.T
        starts, origins, kept = map(np.array, self)
        # What stays lies between the edits, and moves by what those before it have added.
        first, last = np.append(0, cut_to), np.append(cut_from, end)
        moves = np.append(0, np.cumsum(lengths - (cut_to - cut_from)))
        stays = np.flatnonzero(first < last)
        of_starts = np.searchsorted(first, starts, "right") - 1
        inside = np.flatnonzero((first[of_starts] < starts) & (starts < last[of_starts]))
        edges = np.concatenate([first[stays], starts[inside], cut_from])
        after = np.concatenate([stays, of_starts[inside], np.arange(len(edits))])  # the number of edits before
        of = np.searchsorted(starts, edges, "right") - 1
        of[len(stays) : len(stays) + len(inside)] = inside  # some start where others do
        are_kept = np.repeat([1, 0], [len(stays) + len(inside), len(edits)])
        order = np.lexsort((edges, after))
        return _Stretches(
            (edges + moves[after])[order].tolist(),
            (origins[of] + (edges - starts[of]) * kept[of])[order].tolist(),
            (kept[of] * are_kept)[order].tolist(),
        )


class Text:
    """The decoded text of a file, a part of it, or its text after repair.

    Positions are indices into `chars`; lines and bytes are those of the file, regardless of cuts and edits.

    Parameters
    ----------
    chars
        The text of the file.
    source
        The name of the file, for messages.
    encoding, errors
        The encoding and error handler of the file, which determine byte offsets.
    first_byte, first_line
        The byte offset and line number of the first character, if the text is not the beginning of the file.
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
        self._stretches = _Stretches([0, len(chars)], [0, len(chars)], [1, 1])

    def line(self, position: int) -> int:
        """Return the line number of a position in the file, counted from 1."""
        return self._file.line(self._origin(position))

    def lines(self, positions: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the line numbers of positions; far faster than repeated calls of `line`."""
        return self._file.lines(self._origins(positions))

    def byte(self, position: int) -> int:
        """Return the byte offset of a position in the file."""
        return self._file.byte(self._origin(position))

    def bytes(self, positions: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the byte offsets of positions; far faster than repeated calls of `byte`."""
        return self._file.bytes(self._origins(positions))

    def position(self, byte: int) -> int:
        """Return the position of the character at a byte offset of the file; the inverse of `byte`.

        For a character that was left out, this is where the next one stands.
        """
        starts, origins, kept = self._stretches
        origin = self._file.character(byte)
        index = bisect_right(origins, origin) - 1
        if index < 0:
            return 0
        end = starts[min(index + 1, len(starts) - 1)]  # of the stretch; what follows it was left out
        return min(starts[index] + (origin - origins[index]) * kept[index], end)

    def excerpt(self, start: int, end: int) -> str:
        """Return the text between two positions on one line, with its middle elided if it is long.

        Control characters, which could affect a terminal, are replaced.
        """
        return shortened(self.chars[start:end])

    def cut(self, start: int, end: int) -> Text:
        """Return the part between two positions."""
        return self._derived(self.chars[start:end], self._stretches.part(start, end), self._origin(end))

    def edited(self, edits: Iterable[Edit]) -> Text:
        """Return the text with some of its characters replaced.

        The edits must be in ascending order, and must not overlap.
        """
        given = list(edits)
        chars: list[str] = []
        position = 0
        for start, end, replacement in given:
            if start < position:
                raise ValueError("edits overlap, or are not in the order of the text")
            chars += self.chars[position:start], replacement
            position = end
        chars.append(self.chars[position:])
        stretches = self._stretches.edited(given, len(self.chars))
        return self._derived("".join(chars), stretches, self._stretches.origins[-1])

    def replaced(self, chars: str) -> Text:
        """Return the text with each character replaced by another one."""
        if len(chars) != len(self.chars):
            raise ValueError("each character takes the place of one")
        derived = self.cut(0, len(chars))
        derived.chars = chars
        return derived

    def _derived(self, chars: str, stretches: _Stretches, end: int) -> Text:
        derived = object.__new__(Text)
        derived.chars = chars
        derived.source = self.source
        derived._file = self._file
        derived._stretches = stretches
        stretches.add(len(chars), end, 1)
        return derived

    def _origins(self, positions: NDArray[np.intp]) -> NDArray[np.intp]:
        if len(self._stretches.starts) == 2 and self._stretches.kept[0]:
            return positions + self._stretches.origins[0]
        starts, origins, kept = self._arrays
        index = np.searchsorted(starts, positions, "right") - 1
        return origins[index] + (positions - starts[index]) * kept[index]

    @cached_property
    def _arrays(self) -> tuple[NDArray[np.intp], ...]:
        return tuple(map(np.array, self._stretches))

    def _origin(self, position: int) -> int:
        starts, origins, kept = self._stretches
        index = bisect_right(starts, position) - 1
        return origins[index] + (position - starts[index]) * kept[index]


def shortened(chars: str) -> str:
    """Return a text on one line, like `Text.excerpt`."""
    half = EXCERPT_LENGTH // 2
    first = chars.split(None, half)  # this many words are longer than the excerpt
    last = chars.rsplit(None, half) if len(first) > half else []
    words = " ".join((*first[:half], *last[1:]) if len(last) > half else first)
    if len(words) > EXCERPT_LENGTH:
        words = f"{words[:half]} … {words[-half:]}"
    if words.isprintable():
        return words
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words)


LAST_CODE: Final = 127


def codes(chars: str) -> NDArray[np.uint8]:
    """Return the characters of a text as numbers: their ASCII codes, and `LAST_CODE` for all others."""
    if chars.isascii():
        return np.frombuffer(chars.encode("ascii"), np.uint8)
    wide = np.frombuffer(chars.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.minimum(wide, LAST_CODE).astype(np.uint8)


class _File:
    """The line starts and byte offsets of a file.

    All ASCII characters have the same number of bytes.
    """

    def __init__(self, chars: str, encoding: str, errors: str, first_byte: int, first_line: int) -> None:
        self._chars = chars
        self._encoding, self._errors = encoding, errors
        self._width = len("a".encode(encoding))
        self._lines_before = first_line - 1
        self._first_byte = first_byte

    def line(self, character: int) -> int:
        return self._lines_before + 1 + bisect_left(self._line_ends[0], character)

    def lines(self, characters: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.searchsorted(self._line_ends[1], characters) + (self._lines_before + 1)

    @cached_property
    def _line_ends(self) -> tuple[list[int], NDArray[np.intp]]:
        # str.splitlines also splits at form feeds etc., which editors do not count as line breaks.
        ends = np.cumsum(np.fromiter(map(len, self._chars.split("\n")), np.intp) + 1)[:-1] - 1
        return ends.tolist(), ends

    def byte(self, character: int) -> int:
        (beyond, surplus), _ = self._beyond_ascii
        return self._first_byte + character * self._width + surplus[bisect_left(beyond, character)]

    def bytes(self, characters: NDArray[np.intp]) -> NDArray[np.intp]:
        _, (beyond, surplus) = self._beyond_ascii
        return characters * self._width + (surplus[np.searchsorted(beyond, characters)] + self._first_byte)

    def character(self, byte: int) -> int:
        (beyond, surplus), _ = self._beyond_ascii
        within = byte - self._first_byte
        index = bisect_right(range(len(beyond)), within, key=lambda at: beyond[at] * self._width + surplus[at])
        least = beyond[index - 1] if index else 0
        return min(max((within - surplus[index]) // self._width, least), len(self._chars))

    @cached_property
    def _beyond_ascii(self) -> tuple[tuple[list[int], list[int]], tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """The positions of non-ASCII characters, and the cumulative number of extra bytes before each."""
        if self._chars.isascii():
            return ([], [0]), (np.zeros(0, np.intp), np.zeros(1, np.intp))
        wide = np.frombuffer(self._chars.encode("utf-32-le", "surrogatepass"), np.uint32)
        beyond = np.flatnonzero(wide > LAST_CODE)
        distinct, which = np.unique(wide[beyond], return_inverse=True)
        sizes = [len(chr(code).encode(self._encoding, self._errors)) for code in distinct]
        surplus = np.cumsum([0, *(np.array(sizes, np.intp) - self._width)[which]])
        return (beyond.tolist(), surplus.tolist()), (beyond, surplus)
