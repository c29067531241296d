"""Finds the line of each key in a TOML file, which `tomllib` does not report."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

KeyPath = tuple[str | int, ...]
"""Keys from the outermost in, with indices of list entries: ``("target", 0, "size")``."""

_QUOTED: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?P<basic>(?:\\.|[^"\\\n])*)"|\'(?P<literal>[^\'\n]*)\'|#[^\n]*',
    re.DOTALL,
)
_KEY_FOLLOWS: Final = re.compile(r"[ \t]*[.=\]]")
_DEEPEST: Final = 6  # deeper keys are not distinguished
_MARK: Final = re.compile(r"[\w-]+|[.=,\[\]{}\n]")


def lines_of_keys(text: str) -> dict[KeyPath, int]:
    r"""Return the line of each key, table and list entry in valid TOML.

    >>> lines_of_keys('id = "x"\n[[target]]\nsize = 1')
    {('id',): 1, ('target',): 2, ('target', 0): 2, ('target', 0, 'size'): 3}
    """
    return _Scan().over(_without_texts(text))


def _without_texts(text: str) -> str:
    """Blank out strings and comments but keep line ends; quoted keys lose their quotes."""

    def blank(found: re.Match[str]) -> str:
        inside = found["basic"] or found["literal"]
        if inside and _KEY_FOLLOWS.match(text, found.end()):
            return " " + re.sub(r"[^\w-]", "_", inside) + " "
        return "\n" * found[0].count("\n")

    return _QUOTED.sub(blank, text)


class _Scan:
    """Reads tokens one by one and records the lines of keys."""

    def __init__(self) -> None:
        self._lines: dict[KeyPath, int] = {}
        self._line = 1
        self._header: KeyPath = ()
        self._entries: Counter[KeyPath] = Counter()
        self._open: list[tuple[str, KeyPath]] = []  # open brackets, and the path inside each
        self._words: list[str] = []
        self._value: KeyPath | None = None  # the key whose value comes next

    def over(self, text: str) -> dict[KeyPath, int]:
        for mark in _MARK.findall(text):
            self._read(mark)
            self._line += mark == "\n"
        return self._lines

    def _read(self, mark: str) -> None:
        match mark:
            case "=":
                self._value = (*self._inside, *self._words)
                self._note(self._value)
            case "{" | "[":
                if mark == "[" and not self._open and self._value is None:
                    self._open.append(("header", ()))
                elif self._open and self._open[-1][0] == "header":
                    self._open[-1] = ("header of an entry", ())
                else:
                    place = self._inside if self._value is None else self._value
                    self._open.append((mark, (*place, 0) if mark == "[" else place))
                    self._note(place)
                self._value = None
            case "]" | "}" if self._open:
                kind, _ = self._open.pop()
                if kind.startswith("header") and self._words:
                    self._enter(is_entry=kind == "header of an entry")
            case ",":
                self._value = None
                if self._open and self._open[-1][0] == "[":
                    *path, number = self._open[-1][1]
                    self._open[-1] = ("[", (*path, int(number) + 1))
            case "\n" if not self._open:
                self._value = None
        if mark != ".":
            self._words = [*self._words, mark][:_DEEPEST] if re.match(r"[\w-]", mark) else []

    @property
    def _inside(self) -> KeyPath:
        """The path that a key at this point belongs to."""
        return self._open[-1][1] if self._open else self._header

    def _enter(self, *, is_entry: bool) -> None:
        path: KeyPath = ()
        for word in self._words[:-1]:
            path = (*path, word)
            if path in self._entries:
                path = (*path, self._entries[path] - 1)
        path = (*path, self._words[-1])
        self._note(path)
        if is_entry:
            self._entries[path] += 1
            path = (*path, self._entries[path] - 1)
            self._note(path)
        self._header = path

    def _note(self, path: KeyPath) -> None:
        for length in range(1, min(len(path), _DEEPEST) + 1):
            self._lines.setdefault(path[:length], self._line)
