"""Groups reports by the text between their numbers, which is all that many of them have in common.

The text between the numbers is the layout of a report. Reports with the same layout and the same numbers in their
strings (a block size, the name of a job) are of one kind if they also agree in what determines which figures
exist.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple

from fsbench_kit.formats.fio_columns.columns import picker
from fsbench_kit.formats.fio_columns.frames import Kind, Numbers, P

if TYPE_CHECKING:
    from collections.abc import Callable


NUMBER: Final = re.compile(r"[0-9.]+")
_DIGITS: Final = b"0123456789"
_BLANK: Final = bytes(code if code in b"0123456789." else ord(" ") for code in range(2**8))

_MOST_LAYOUTS: Final = 32
_MOST_KINDS: Final = 64
"""The maximum number of kinds that are remembered, including for reports that are read later."""
_MOST_FAILURES: Final = 8
"""The maximum number of reports without a kind that are tried for each layout."""


def numbers_of(chars: str) -> tuple[list[str], bytes]:
    """Return the numbers in an ASCII text, including those in strings, and the text without digits.

    >>> numbers_of('{"bw_mean" : 12.50, "p99" : 7}')
    (['12.50', '99', '7'], b'{"bw_mean" : ., "p" : }')
    """
    data = chars.encode()
    return data.translate(_BLANK).decode().split(), data.translate(None, _DIGITS)


class Learned(NamedTuple):
    """What the first report of a kind shows: the kind, and which of its numbers are the same in all reports."""

    kind: Kind[Any]
    same: list[int]


class Alike(Generic[P]):
    """The kinds of reports of a format.

    Parameters
    ----------
    learn
        A function that returns what can be learned from the first report of a kind, or ``None`` if its numbers do
        not determine everything.
    """

    def __init__(self, learn: Callable[[P], Learned | None]) -> None:
        self._layout = lru_cache(maxsize=_MOST_LAYOUTS)(lambda _: _Layout(learn))

    def kind_of(self, report: P) -> Kind[P] | None:
        """Return the kind of a report, or ``None``."""
        return self._layout(report.layout).kind_of(report)


class _Layout(Generic[P]):
    """The text between the numbers of reports."""

    def __init__(self, learn: Callable[[P], Learned | None]) -> None:
        self._learn = learn
        self._tries = _MOST_FAILURES
        self._pieces: list[str] = []
        self._same: Callable[[Numbers], Numbers] = picker(())
        self._kinds: dict[tuple[str, ...], list[Kind[P]]] = {}

    def kind_of(self, report: P) -> Kind[P] | None:
        """Return the kind of a report that may have this layout, or ``None``."""
        if not self._has(report):
            return self._first(report)
        kinds = self._kinds.get(tuple(self._same(report.numbers)), [])
        return next((kind for kind in kinds if kind.is_of(report)), None) or self._first(report)

    def _has(self, report: P) -> bool:
        """Whether the numbers of a report are in the same places as those of the others."""
        if 2 * len(report.numbers) + 1 != len(self._pieces):
            return False
        self._pieces[1::2] = report.numbers
        return "".join(self._pieces) == report.chars

    def _first(self, report: P) -> Kind[P] | None:
        """Return the kind of the first report of that kind."""
        if self._tries and (learned := self._learn(report)) is not None:
            if sum(map(len, self._kinds.values())) == _MOST_KINDS:
                self._kinds.clear()
            if not self._kinds:
                self._pieces = re.split(f"({NUMBER.pattern})", report.chars)
                self._same = picker(learned.same)
            if self._has(report):
                self._kinds.setdefault(tuple(self._same(report.numbers)), []).append(learned.kind)
                return learned.kind
        self._tries = max(self._tries - 1, 0)
        return None
