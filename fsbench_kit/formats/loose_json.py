"""Reads JSON as far as it goes, and remembers where each number stands.

Copies of JSON break off, and have lines in them that another program wrote to the same terminal. Up to the first
place at which a text cannot be JSON, what it says is certain: a number is kept when the comma or bracket after it
has been seen, and nothing is guessed about what is missing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

Object = dict[str, Any]


MOST_DIGITS: Final = 18
"""The counters of programs cannot hold a number that has more."""


@dataclass(slots=True, eq=False)
class Counts:
    """An object that stands between two positions, and holds nothing but counts by whole numbers, as columns.

    Attributes
    ----------
    starts
        Where each count is printed.
    step
        How many lines there are from one to the next; 0 where that is not known.
    numbers
        Which numbers of the document they are, where they are among these.
    is_whole
        Whether these are all numbers of the object.
    is_read
        Whether each count found its place.
    """

    start: int
    end: int
    names: NDArray[np.int64]
    counts: NDArray[np.int64]
    starts: NDArray[np.intp]
    step: int = 0
    numbers: NDArray[np.intp] | None = None
    is_whole: bool = True
    is_read: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        """Take none for read."""
        self.is_read = np.zeros(len(self.names), bool)


@dataclass(slots=True)
class Document:
    """A decoded object, as far as it goes, in which each number is its own ordinal.

    Attributes
    ----------
    start, end
        Where in the text it stands.
    content
        What it holds. Whole numbers (`bool` apart) are ordinals of its numbers.
    chars
        The text.
    starts, ends
        Where each number begins and ends.
    is_read
        Whether each number found its place, as a byte.
    is_whole
        Whether the object was closed.
    repeated
        Numbers that stand under a key a second time, and differ from the first one, which counts.
    strange
        From where to where other programs' lines stand in it.
    bins
        The objects in it that are held as columns, whose numbers are not among the others.
    """

    start: int
    end: int
    content: Object
    chars: str
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    is_read: bytearray = field(default_factory=bytearray)
    is_whole: bool = False
    repeated: list[int] = field(default_factory=list)
    strange: list[tuple[int, int]] = field(default_factory=list)
    bins: list[Counts] = field(default_factory=list)

    def number(self, number: int) -> str:
        """Return a number as it is printed."""
        return self.chars[self.starts[number] : self.ends[number]]


def is_number(value: object) -> TypeGuard[int]:
    """Whether a value of a document is a number."""
    return type(value) is int


_TOKEN: Final = re.compile(
    r'(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[\s,}\]])|NaN|-?Infinity|-?nan|-?inf)"
    r"|(?P<word>true|false|null)"
    r"|(?P<sign>[{}\[\]:,])"
)
_SPACE: Final = re.compile(r"\s*")
_STRANGE: Final = re.compile(
    r"(?:fio\b|Jobs: |[Ww]arning|WARNING|\[ *\d+\.\d+\]|[\w.-]{1,60}@[^\n]{0,200}?[$#] )[^\n]*(?=\n)"
)
"""A line that fio, the kernel or a shell wrote between the lines of a document."""

_DEEPEST: Final = 24
"""Levels of a document; those of fio are 8 deep."""


def decode(chars: str, start: int, first: int = 0) -> Document:
    """Decode the object that begins at a position; its numbers count from `first`.

    Of a key that is repeated the first number counts, and the last of anything else.
    """
    return _Decoder(chars, start, first).decode()


class _Held(NamedTuple):
    """A number that waits for what follows it."""

    text: str
    position: int


class _Decoder:
    """Where the decoding of one object has come to."""

    def __init__(self, chars: str, start: int, first: int) -> None:
        self.chars = chars
        self.first = first
        self.position = start + 1
        self.decoded = Document(start, start + 1, {}, chars)
        self.open: list[Object | list[Any]] = [self.decoded.content]
        self.keys: list[str | None] = [None]
        self.held: list[Any] = []  # the value that waits for what follows it

    def decode(self) -> Document:
        expected = "key"
        while expected:
            self.position = _SPACE.match(self.chars, self.position).end()  # type: ignore[union-attr]
            match = _TOKEN.match(self.chars, self.position)
            following = self._take(match, expected) if match is not None else ""
            if match is not None and following:
                self.position = match.end()
                expected = following
            elif not self._skip_strange_line():
                break
            if not self.open:
                self.decoded.is_whole = True
                self.decoded.end = self.position
                break
        return self.decoded

    def _take(self, match: re.Match[str], expected: str) -> str:
        """Take a token, and return what is expected after it, or nothing where it does not belong."""
        sign = match["sign"]
        inside = self.open[-1]
        if expected == "key" and match["string"]:
            self.keys[-1] = _unquoted(match["string"])
            return "colon"
        if expected == "colon" and sign == ":":
            return "value"
        if expected in {"value", "item"} and sign in {"{", "["} and len(self.open) < _DEEPEST:
            return self._enter({} if sign == "{" else [])
        if expected in {"value", "item"} and sign is None:
            self.held = [self._scalar(match)]
            return "comma"
        if expected == "comma" and sign == ",":
            self._keep(match.end())
            return "key" if isinstance(inside, dict) else "item"
        if expected in {"comma", "key", "item"} and sign == ("}" if isinstance(inside, dict) else "]"):
            self._keep(match.end())
            self.open.pop()
            self.keys.pop()
            return "comma"
        return ""

    def _enter(self, container: Object | list[Any]) -> str:
        inside, key = self.open[-1], self.keys[-1]
        if isinstance(inside, list):
            inside.append(container)
        elif key in inside:
            return ""  # two blocks cannot share a name: lines are missing between them
        else:
            inside[key or ""] = container
        self.open.append(container)
        self.keys.append(None)
        return "key" if isinstance(container, dict) else "item"

    def _scalar(self, match: re.Match[str]) -> Any:
        if match["number"]:
            return _Held(match["number"], match.start())
        if match["string"]:
            return _unquoted(match["string"])
        return {"true": True, "false": False, "null": None}[match["word"]]

    def _keep(self, end: int) -> None:
        """Keep the value that was held, now that it is known to be complete."""
        self.decoded.end = end
        if not self.held:
            return
        value = self.held.pop()
        inside, key = self.open[-1], self.keys[-1] or ""
        if isinstance(value, _Held):
            value = self._number(value)
        if isinstance(inside, list):
            inside.append(value)
            return
        first = inside.get(key)
        if is_number(first) and is_number(value):
            self.decoded.is_read[value - self.first] = True
            if self.decoded.number(value - self.first) != self.decoded.number(first - self.first):
                self.decoded.repeated.append(value)
        else:
            inside[key] = value

    def _number(self, held: _Held) -> int:
        self.decoded.starts.append(held.position)
        self.decoded.ends.append(held.position + len(held.text))
        self.decoded.is_read.append(False)
        return self.first + len(self.decoded.starts) - 1

    def _skip_strange_line(self) -> bool:
        match = _STRANGE.match(self.chars, self.position)
        begins_line = not self.chars[self.chars.rfind("\n", 0, self.position) + 1 : self.position].strip()
        if match is None or not begins_line:
            return False
        self.decoded.strange.append(match.span())
        self.position = match.end()
        return True


def _unquoted(string: str) -> str:
    """Return what a string says, as it stands if its escapes are not those of JSON."""
    if "\\" in string:
        try:
            return str(json.loads(string, strict=False))
        except ValueError:
            pass
    return string[1:-1]
