"""Reads many texts together that consist of nothing but a document as printed by fio."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.formats import fio_columns
from fsbench_kit.formats.fio_columns import NUMBER, Alike, Learned
from fsbench_kit.formats.fio_json.contents import Report
from fsbench_kit.formats.fio_json.kinds import DocumentKind, Printed
from fsbench_kit.formats.fio_json.reader import JsonReader, ended_at
from fsbench_kit.formats.json_text import Cut, cuts, decode_cut, taken_out
from fsbench_kit.formats.text import Text
from fsbench_kit.model.units import MOST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.formats.clean import CleanLogs

_TIME: Final = re.compile(r'"time" ?: "([ \w:+-]{0,64})"', re.ASCII)
_HEAD: Final = 400
"""The maximum distance of the time from the beginning of a document."""
_PLAIN: Final = re.compile(rf"(?!.*[0-9]{{{MOST_DIGITS},}})[ -~\t\n]*", re.DOTALL)
"""Text that cannot need repair."""
_SIGNS_OF_MORE: Final = ("\\", "&", "<", "\r", '"" : ', '"": ', "bonnie", "iozone", "sysbench")
"""Escapes, a key without a name, and the names of other tools."""


def together(texts: Sequence[str] | Mapping[int, str], which: Iterable[int]) -> tuple[CleanLogs | None, list[int]]:
    """Read the texts, given by index, that consist of nothing but a document as printed by fio.

    Documents with any irregularity are left to `fsbench_kit.formats.fio_json.parse`.

    Returns
    -------
    tuple
        The documents, or ``None``, and the indices of the texts that were not read.
    """
    given = list(which)
    return fio_columns.read(_printed(texts, given), _KINDS, given)


def _printed(texts: Sequence[str] | Mapping[int, str], which: Iterable[int]) -> Iterator[Printed]:
    """Yield the texts, given by index, that may consist of nothing but a document."""
    ends = {
        at: chars.rfind("\n}") + 2 for at in which if (chars := texts[at]).startswith("{\n") and chars.isascii()
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
        ended = ended_at(time[1]) if time is not None else None
        yield Printed(at, ends[at], ended, chars, cut)


def _learned(first: Printed) -> Learned | None:
    """Return the kind of a document, and which of its numbers are inside strings."""
    chars = first.chars
    if not _PLAIN.fullmatch(first.cut.chars):
        return None
    if any(sign in chars for sign in _SIGNS_OF_MORE) or chars.count("fio ") > chars.count('"fio version"'):
        return None
    document = decode_cut(first.cut)
    if document is None or document.end != len(first.cut.chars):
        return None
    report = Report(document)
    if not report.is_of_fio:
        return None
    reader = JsonReader(Text(first.cut.chars), report)
    found = list(NUMBER.finditer(chars))
    starts = [match.start() for match in found]
    at = {start: place for place, start in enumerate(starts)}
    places = [at.get(start, -1) for start in document.starts]
    has_all = -1 not in places and all(
        found[place][0] == document.number(number) for number, place in enumerate(places)
    )
    if not has_all or len(reader.figures.bins) != len(first.cut.bins):
        return None
    in_strings = {*range(len(found))} - {*places}
    kind = DocumentKind(reader, starts, places, first)
    return Learned(kind, sorted(in_strings.union(kind.same)))


_KINDS: Final = Alike(_learned)
