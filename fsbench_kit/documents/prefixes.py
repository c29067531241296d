"""Removes prefixes from the lines of a log: quotation marks of mails, timestamps, host names, comment signs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from fsbench_kit.formats import sniff
from fsbench_kit.formats.text import Edit

_LINES: Final = 3
"""The number of consecutive lines that must have a prefix."""

_TIME: Final = (
    r"\[?(?:(?:\d{4}-\d\d-\d\d[T\x20])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:\x20?(?:Z|UTC|[+-]\d\d:?\d\d))?"
    r"|[A-Z][a-z]{2}\x20[\x20\d]\d\x20\d\d:\d\d:\d\d)\]?"
)
_SPEAKER: Final = (
    r"\x20(?:\S{1,80}\x20[\w./-]{1,80}(?:\[\d{1,9}\])?:|std(?:out|err)\x20[FP]\b|"
    r"(?:DEBUG|INFO|WARN|WARNING|ERROR)\b(?:\x20?\|\x20\[std(?:out|err)\]|:?))"
)
_END: Final = r"(?:\x20|$)"


class _Prefix(NamedTuple):
    """A kind of prefix: its form, whether it is the same on all lines, and whether it cannot be anything else.

    A text that contains none of its `signs` is not searched for it.
    """

    signs: tuple[str, ...]
    pattern: str
    is_same: bool = False
    is_unmistakable: bool = False


_PREFIXES: Final = (
    # The > of a quotation, but not of a wrapped ">=64=0.0%".
    _Prefix((">",), r"(?:>(?!=)[ \t]?){1,9}", is_unmistakable=True),
    # journalctl, kubectl logs --timestamps, container runtimes, CI services
    _Prefix((":",), rf"{_TIME}(?:{_SPEAKER})?{_END}", is_unmistakable=True),
    # kubectl logs --prefix, docker compose
    _Prefix(("]",), rf"\[[A-Za-z][\w./@\x20-]{{0,200}}\]{_END}", is_same=True),
    _Prefix(("|",), rf"[A-Za-z][\w.-]{{0,80}}\x20{{0,40}}\|{_END}", is_same=True),
    # pdsh, and programs that name the source of each line
    _Prefix(
        (":",), rf"(?!fio:|WARNING:|FATAL:|ERROR:)[\w.'-]{{1,80}}(?:\x20[\w.-]{{1,80}})?:{_END}", is_same=True
    ),
    # Comments, quotations with a bar, lines of a patch
    _Prefix(("#", "//", "*"), rf"(?:\#{{1,9}}|//|\*){_END}"),
    _Prefix(("|",), r"\|(?![^\n]*\|[ \t]*$)(?![ \t]*\d+\.\d+th=)\x20?"),
    _Prefix(("+",), r"\+(?!\+)"),
    _Prefix(("-",), r"-(?![-\d])\x20?"),
)


# A search for a fixed beginning, here a line break, is fast; ^ is tried at every character. Most logs are done
# after this.
_LINE: Final = r"\n[ \t]*+[\w\[>|#/*+.'-][^\n]*+"
_MAY_HAVE_PREFIXES: Final = re.compile(f"{_LINE}(?:{_LINE})++")


@lru_cache(maxsize=1)
def _stretches(chars: str) -> list[tuple[int, int]]:
    """Return the stretches whose lines begin as those with prefixes do, and not as lines of JSON."""
    first = chars.find("\n")
    spans = (match.span() for match in _MAY_HAVE_PREFIXES.finditer(chars))
    return [(start if start > first else 0, end) for start, end in spans]


def _finder(prefix: _Prefix) -> Callable[[str], Iterator[Edit]]:
    """Return a function that finds prefixes of one kind before the lines of logs."""
    other = r"(?P=prefix)" if prefix.is_same else f"(?:{prefix.pattern})"
    block = re.compile(
        rf"^[ \t]*+(?P<prefix>{prefix.pattern})[^\n]*\n(?:[ \t]*+{other}[^\n]*(?:\n|\Z)){{{_LINES - 1},}}",
        re.MULTILINE,
    )
    sign = re.compile(rf"\n[ \t]*+(?P<prefix>{prefix.pattern})[^\n]*\n[ \t]*+{other}", re.MULTILINE)
    line = re.compile(rf"^[ \t]*+(?P<prefix>{prefix.pattern})", re.MULTILINE)

    def find(chars: str) -> Iterator[Edit]:
        if not any(one in chars for one in prefix.signs):
            return
        found = [
            match
            for span in _stretches(chars)
            if sign.search(chars, *span)
            for match in block.finditer(chars, *span)
        ]
        blocks = [match for match in found if _is_log(prefix, line.sub("", match[0]))]
        if not blocks:
            return
        if prefix.is_same or prefix.is_unmistakable:
            # Remove it from other lines, too: unrelated lines can come between blocks.
            prefixes = {match["prefix"] for match in blocks}
            stretches = [(0, len(chars))]
        else:
            prefixes = set()
            stretches = [match.span() for match in blocks]
        for start, end in stretches:
            for match in line.finditer(chars, start, end):
                if not prefix.is_same or match["prefix"] in prefixes:
                    yield Edit(*match.span("prefix"), "")

    return find


def _is_log(prefix: _Prefix, bare: str) -> bool:
    """Whether lines without their prefixes are a log.

    fio may print the name of a job before several lines in a row, but then the remaining lines begin alike.
    """
    first_words = {line.split(None, 1)[0] for line in bare.split("\n") if line.strip()}
    return (prefix.is_unmistakable or len(first_words) >= _LINES) and bool(sniff(bare))


PREFIXES: Final = tuple(_finder(prefix) for prefix in _PREFIXES)
"""A function for each kind of prefix that finds it; a log can have several, one after the other."""
