"""Decodes JSON as far as possible, while keeping track of where each number is printed.

Copies of JSON may be cut off, or contain lines that another program wrote to the same terminal. Up to the first
position at which a text cannot be JSON, its contents are certain: a number is kept once the comma or bracket after
it has been seen, and missing text is never guessed.
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
"""The maximum number of digits that fit in the counters of programs."""


@dataclass(slots=True, eq=False)
class Counts:
    """An object that consists of nothing but integer keys and integer counts, as columns.

    Attributes
    ----------
    starts
        The position of each count.
    step
        The number of lines from one count to the next; 0 if it is unknown.
    numbers
        The ordinals of the counts, if they are numbers of the document.
    is_whole
        Whether these are all the numbers of the object.
    is_read
        Whether each count has been used.
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
        """Mark all counts as unused."""
        self.is_read = np.zeros(len(self.names), bool)


@dataclass(slots=True)
class Document:
    """A decoded object, possibly incomplete, in which each number is replaced by its ordinal.

    Attributes
    ----------
    start, end
        Its position in the text.
    content
        Its content. Integers (not `bool`) are the ordinals of its numbers.
    chars
        The text.
    starts, ends
        The start and end of each number.
    is_read
        Whether each number has been used, as a byte.
    is_whole
        Whether the object was closed.
    repeated
        Numbers with a duplicate key that differ from the first one, which takes precedence.
    strange
        The start and end of lines of other programs in it.
    bins
        The objects that are stored as columns, whose numbers are not among the others.
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
        """Return a number as printed."""
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
"""A line that fio, the kernel or a shell printed between the lines of a document."""

_DEEPEST: Final = 24
"""The maximum nesting depth of a document; fio's are 8 deep."""


def decode(chars: str, start: int, first: int = 0) -> Document:
    """Decode the object that begins at a position; its numbers are counted from `first`.

    Of numbers with the same key the first one is kept, of other values the last.
    """
    return _Decoder(chars, start, first).decode()


class _Held(NamedTuple):
    """A number that is kept once the next token is known."""

    text: str
    position: int


class _Decoder:
    """The state of decoding one object."""

    def __init__(self, chars: str, start: int, first: int) -> None:
        self.chars = chars
        self.first = first
        self.position = start + 1
        self.decoded = Document(start, start + 1, {}, chars)
        self.open: list[Object | list[Any]] = [self.decoded.content]
        self.keys: list[str | None] = [None]
        self.held: list[Any] = []  # the value that is kept once the next token is known

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
        """Process a token, and return what is expected next, or "" if the token is not allowed here."""
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
            return ""  # two blocks with one name: lines between them are missing
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
        """Store the pending value, which is now known to be complete."""
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
    """Return the content of a string, unchanged if its escapes are not valid JSON."""
    if "\\" in string:
        try:
            return str(json.loads(string, strict=False))
        except ValueError:
            pass
    return string[1:-1]
