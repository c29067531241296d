"""Reads many texts together that consist of nothing but a document as printed by fio."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.formats import fio_columns
from fsbench_kit.formats.fio_columns import NUMBER, Alike, Learned, lots
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
    return fio_columns.read(_lots(texts, given), _KINDS, given)


def _lots(texts: Sequence[str] | Mapping[int, str], which: Iterable[int]) -> Iterator[list[tuple[Printed, str]]]:
    """Return lots of the texts, given by index, that may consist of nothing but a document.

    With each come its characters without its bins and the time.
    """

    def printed(lot: Sequence[tuple[int, str, int]]) -> list[tuple[Printed, str]]:
        made = []
        for (at, _, end), cut in zip(lot, _without_bins([(chars, end) for _, chars, end in lot]), strict=True):
            time, chars = _without_time(cut.chars)
            ended = ended_at(time) if time is not None else None
            text = partial(texts.__getitem__, at)
            made.append((Printed(at, end, ended, cut.bins, cut.heights, text), chars))
        return made

    whole = ((at, chars, end) for at in which if (end := _end(chars := texts[at])) is not None)
    return map(printed, lots(whole, lambda item: item[2]))


def _end(chars: str) -> int | None:
    """Return the end of the document that a text may consist of."""
    end = chars.rfind("\n}") + 2
    return end if end > 1 and chars.startswith("{\n") and chars.isascii() and not chars[end:].strip() else None


def _without_bins(documents: Iterable[tuple[str, int]]) -> Iterator[Cut]:
    """Yield documents, each given as a text and its end, without their bins."""
    each = [(chars, end, taken_out(chars, 0, end)) for chars, end in documents]
    taken = [found for *_, found in each if found is not None]
    known = cuts(taken) if taken else iter(())
    stays = np.zeros(1, np.intp)
    for chars, end, found in each:
        cut = next(known) if found is not None else None
        yield cut or Cut(chars[:end], [], stays[:0], stays, stays)


def _without_time(chars: str) -> tuple[str | None, str]:
    """Return the time that a document shows, and its characters with others in place of it."""
    time = _TIME.search(chars, 0, _HEAD)
    if time is None:
        return None, chars
    return time[1], f"{chars[: time.start(1)]}{'_' * len(time[1])}{chars[time.end(1) :]}"


def _learned(first: Printed) -> Learned | None:
    """Return the kind of a document, and which of its numbers are inside strings."""
    cut = next(_without_bins([(first.text(), first.end)]))
    _, chars = _without_time(cut.chars)
    if not _PLAIN.fullmatch(cut.chars):
        return None
    if any(sign in chars for sign in _SIGNS_OF_MORE) or chars.count("fio ") > chars.count('"fio version"'):
        return None
    document = decode_cut(cut)
    if document is None or document.end != len(cut.chars):
        return None
    report = Report(document)
    if not report.is_of_fio:
        return None
    reader = JsonReader(Text(cut.chars), report)
    found = list(NUMBER.finditer(chars))
    starts = [match.start() for match in found]
    at = {start: place for place, start in enumerate(starts)}
    places = [at.get(start, -1) for start in document.starts]
    has_all = -1 not in places and all(
        found[place][0] == document.number(number) for number, place in enumerate(places)
    )
    if not has_all or len(reader.figures.bins) != len(cut.bins):
        return None
    in_strings = {*range(len(found))} - {*places}
    kind = DocumentKind(reader, starts, places, cut.places)
    return Learned(kind, sorted(in_strings.union(kind.same)))


_KINDS: Final = Alike(_learned)
