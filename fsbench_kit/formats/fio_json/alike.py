"""Sorts documents by what stands in them between their numbers, which is all that many have in common.

What is between the numbers is the layout of a document. Documents of one layout that have the same numbers in
their strings (a block size, a job's name) are of one kind if they also agree in what decides which figures there
are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fsbench_kit.formats.fio_json.columns import picker
from fsbench_kit.formats.fio_json.contents import Report
from fsbench_kit.formats.fio_json.kinds import Kind
from fsbench_kit.formats.fio_json.reader import Reader
from fsbench_kit.formats.json_text import Cut, cuts, decode_cut, taken_out
from fsbench_kit.formats.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.formats.fio_json.kinds import Numbers

_TIME: Final = re.compile(r'"time" : "([^"\n]*)"')
_HEAD: Final = 400
"""So early in a document fio names its time."""
_NUMBER: Final = re.compile(r"[0-9.]+")
_DIGITS: Final = b"0123456789"
_BLANK: Final = bytes(code if code in b"0123456789." else ord(" ") for code in range(2**8))
_SIGNS_OF_MORE: Final = ("\\", "&", "<", "\r", '"" : ', "bonnie", "iozone", "sysbench")
"""Escapes, a key without a name, and the names of other tools."""


class Printed(NamedTuple):
    """A document without its bins, and what is in its place.

    Attributes
    ----------
    at
        Its index among all texts.
    end
        Where it ends in its text.
    cut
        What is left of it, and its bins.
    chars, time
        The same without the time at which it was printed, and that.
    numbers
        All numbers, also those in its strings.
    layout
        What stands between their digits.
    """

    at: int
    end: int
    cut: Cut
    chars: str
    time: str
    numbers: Numbers
    layout: bytes


def printed(texts: Sequence[str] | Mapping[int, str], which: Iterable[int]) -> Iterator[Printed]:
    """Yield those of some texts, by their indexes, that may be nothing but a document."""
    ends = {
        at: chars.find("\n}") + 2 for at in which if (chars := texts[at]).startswith("{\n") and chars.isascii()
    }
    whole = [at for at, end in ends.items() if end > 1 and not texts[at][end:].strip()]
    taken = {at: found for at in whole if (found := taken_out(texts[at], 0, ends[at])) is not None}
    known = dict(zip(taken, cuts(list(taken.values())), strict=True)) if taken else {}
    stays = np.zeros(1, np.intp)
    for at in whole:
        cut = known.get(at) or Cut(texts[at][: ends[at]], [], stays[:0], stays, stays)
        chars = cut.chars
        time = _TIME.search(chars, 0, _HEAD)
        if time is not None:
            chars = f"{chars[: time.start(1)]}{'_' * len(time[1])}{chars[time.end(1) :]}"
        data = chars.encode()
        numbers = data.translate(_BLANK).decode().split()
        layout = data.translate(None, _DIGITS)
        yield Printed(at, ends[at], cut, chars, time[1] if time is not None else "", numbers, layout)


def kind_of(document: Printed) -> Kind | None:
    """Return the kind of a document, unless there is more to it than its numbers tell."""
    return _known(document.layout).kind_of(document)


_MOST_LAYOUTS: Final = 32
_MOST_KINDS: Final = 64
"""So many are remembered, also for the documents that are read later on."""
_MOST_FAILURES: Final = 8
"""So many documents of a layout are tried that turn out to be of no kind."""


@lru_cache(maxsize=_MOST_LAYOUTS)
def _known(_: bytes) -> _Layout:
    return _Layout()


class _Layout:
    """What stands between the numbers of documents."""

    def __init__(self) -> None:
        self._tries = _MOST_FAILURES
        self._pieces: list[str] = []
        self._in_strings: Callable[[Numbers], Numbers] = picker(())
        self._kinds: dict[tuple[str, ...], list[Kind]] = {}

    def kind_of(self, document: Printed) -> Kind | None:
        """Return the kind of a document that may be of this layout."""
        if not self._has(document):
            return self._learn(document)
        kinds = self._kinds.get(tuple(self._in_strings(document.numbers)), [])
        return next((kind for kind in kinds if kind.is_of(document.numbers)), None) or self._learn(document)

    def _has(self, document: Printed) -> bool:
        """Whether the numbers of a document stand where those of the others stand."""
        if 2 * len(document.numbers) + 1 != len(self._pieces):
            return False
        self._pieces[1::2] = document.numbers
        return "".join(self._pieces) == document.chars

    def _learn(self, first: Printed) -> Kind | None:
        """Return the kind of a document that is the first one of it."""
        if self._tries and (found := _read(first)) is not None:
            kind, in_strings = found
            if sum(map(len, self._kinds.values())) == _MOST_KINDS:
                self._kinds.clear()
            if not self._kinds:
                self._pieces = re.split("([0-9.]+)", first.chars)
                self._in_strings = picker(in_strings)
            if self._has(first):
                self._kinds.setdefault(tuple(self._in_strings(first.numbers)), []).append(kind)
                return kind
        self._tries = max(self._tries - 1, 0)
        return None


def _read(first: Printed) -> tuple[Kind, list[int]] | None:
    """Return the kind of a document, and which of its numbers stand in strings."""
    chars = first.chars
    if any(sign in chars for sign in _SIGNS_OF_MORE) or chars.count("fio ") > chars.count('"fio version"'):
        return None
    document = decode_cut(first.cut)
    if document is None or document.end != len(first.cut.chars):
        return None
    report = Report(document)
    if not report.is_of_fio:
        return None
    reader = Reader(Text(first.cut.chars), report)
    at = {match.start(): place for place, match in enumerate(_NUMBER.finditer(chars))}
    places = [at.get(start, -1) for start in document.starts]
    names = {
        places[number] - 1: name
        for latencies in reader.figures.latencies
        for name, number in latencies.percentiles
    }
    has_all = -1 not in places and all(
        first.numbers[place] == document.number(number) for number, place in enumerate(places)
    )
    has_all &= all(first.numbers[place] == name for place, name in names.items())
    if not has_all or len(reader.figures.bins) != len(first.cut.bins):
        return None
    in_strings = sorted({*at.values()} - {*places} - {*names})
    return Kind(reader, places, list(names), first.cut.places, first.numbers), in_strings
