"""Reads JSON as far as it goes, and remembers where each number stands.

Copies of JSON break off, and have lines in them that another program wrote to the same terminal. Up to the first
place at which a text cannot be JSON, what it says is certain: a number is kept when the comma or bracket after it
has been seen, and nothing is guessed about what is missing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

Object = dict[str, Any]


@dataclass(slots=True, eq=False)
class Number:
    """A number of a document: its text, where that stands, and whether it found its place."""

    text: str
    position: int
    is_read: bool = False


@dataclass(slots=True)
class Decoded:
    """An object, as far as it goes.

    Attributes
    ----------
    start, end
        Where in the text it stands.
    is_whole
        Whether it was closed.
    repeated
        Numbers that stand under a key a second time, and differ from the first one, which counts.
    strange
        From where to where other programs' lines stand in it.
    """

    start: int
    end: int
    content: Object
    numbers: list[Number] = field(default_factory=list)
    is_whole: bool = False
    repeated: list[Number] = field(default_factory=list)
    strange: list[tuple[int, int]] = field(default_factory=list)


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


def decode(chars: str, start: int) -> Decoded:
    """Decode the object that begins at a position.

    Numbers of the result are of `Number`; of a key that is repeated the first number counts, and the last of
    anything else.
    """
    return _Decoder(chars, start).decode()


class _Decoder:
    """Where the decoding of one object has come to."""

    def __init__(self, chars: str, start: int) -> None:
        self.chars = chars
        self.position = start + 1
        self.decoded = Decoded(start, start + 1, {})
        self.open: list[Object | list[Any]] = [self.decoded.content]
        self.keys: list[str | None] = [None]
        self.held: list[Any] = []  # the value that waits for what follows it

    def decode(self) -> Decoded:
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
            return Number(match["number"], match.start())
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
        if isinstance(value, Number):
            self.decoded.numbers.append(value)
        if isinstance(inside, list):
            inside.append(value)
            return
        first = inside.get(key)
        if isinstance(first, Number) and isinstance(value, Number):
            value.is_read = True
            if value.text != first.text:
                self.decoded.repeated.append(value)
        else:
            inside[key] = value

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
