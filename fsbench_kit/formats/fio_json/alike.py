"""Reads many texts together that consist of nothing but a document as printed by fio."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.formats import fio_columns
from fsbench_kit.formats.fio_columns import NUMBER, Alike, Data, IsRead, Learned, lots
from fsbench_kit.formats.fio_json.contents import Report
from fsbench_kit.formats.fio_json.kinds import DocumentKind, Printed
from fsbench_kit.formats.fio_json.reader import JsonReader, ended_at
from fsbench_kit.formats.json_text import BINS_KEY, Cut, cuts, decode_cut, taken_out
from fsbench_kit.formats.text import Text
from fsbench_kit.model.units import MOST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.formats.clean import CleanLogs

_TIME: Final = re.compile(rb'"time" ?: "([ \w:+-]{0,64})"')
_HEAD: Final = 400
"""The maximum distance of the time from the beginning of a document."""
_FIRST_BINS: Final = 2**13
"""The maximum distance of the first bins from the beginning: fio prints bins for all jobs or for none."""
_PLAIN: Final = re.compile(rf"(?!.*[0-9]{{{MOST_DIGITS},}})[ -~\t\n]*", re.DOTALL)
"""Text that cannot need repair."""
_SIGNS_OF_MORE: Final = ("\\", "&", "<", "\r", '"" : ', '"": ', "bonnie", "iozone", "sysbench")
"""Escapes, a key without a name, and the names of other tools."""


def together(
    texts: Mapping[int, bytes], which: Iterable[int], is_read: IsRead | None = None
) -> tuple[CleanLogs | None, list[int]]:
    """Read the texts, given by index, that consist of nothing but a document as printed by fio.

    Documents with any irregularity are left to `fsbench_kit.formats.fio_json.parse`. A text need not be there
    before `which` yields its index. `is_read` is called for each document as soon as its text is not needed any
    more.

    Returns
    -------
    tuple
        The documents, or ``None``, and the indices of the texts that were not read.
    """
    given: list[int] = []

    def noted() -> Iterator[int]:
        for at in which:
            given.append(at)
            yield at

    return fio_columns.read(_lots(texts, noted()), _KINDS, given, is_read)


def _lots(texts: Mapping[int, bytes], which: Iterable[int]) -> Iterator[list[tuple[Printed, Data]]]:
    """Return lots of the texts, given by index, that may consist of nothing but a document.

    With each comes its text without its bins.
    """

    def printed(lot: Sequence[tuple[int, bytes, int]]) -> list[tuple[Printed, Data]]:
        made = []
        for (at, data, end), cut in zip(lot, _without_bins([(data, end) for _, data, end in lot]), strict=True):
            time = _TIME.search(cut.data, 0, _HEAD)
            ended = ended_at(time[1].decode("ascii")) if time is not None else None
            hidden = slice(*time.span(1)) if time is not None else slice(0, 0)
            made.append((Printed(at, end, ended, hidden, cut.bins, cut.heights, data), cut.data))
        return made

    whole = ((at, data, end) for at in which if (end := _end(data := texts[at])) is not None)
    return map(printed, lots(whole, lambda item: item[2]))


def _end(data: bytes) -> int | None:
    """Return the end of the document that a text may consist of."""
    end = data.rfind(b"\n}") + 2
    return end if end > 1 and data.startswith(b"{\n") and data.isascii() and not data[end:].strip() else None


def _without_bins(documents: Iterable[tuple[bytes, int]]) -> Iterator[Cut]:
    """Yield documents, each given as a text and its end, without their bins."""
    each = [
        (data, end, taken_out(data, end) if data.find(BINS_KEY, 0, _FIRST_BINS) >= 0 else None)
        for data, end in documents
    ]
    taken = [found for *_, found in each if found is not None]
    known = cuts(taken) if taken else iter(())
    stays = np.zeros(1, np.intp)
    for data, end, found in each:
        cut = next(known) if found is not None else None
        yield cut or Cut(memoryview(data)[:end], [], stays[:0], stays, stays)


def _learned(first: Printed) -> Learned | None:
    """Return the kind of a document, and which of its numbers are inside strings."""
    cut = next(_without_bins([(first.data, first.end)]))
    whole = str(cut.data, "ascii")
    time = first.hidden
    chars = f"{whole[: time.start]}{'_' * (time.stop - time.start)}{whole[time.stop :]}"
    if not _PLAIN.fullmatch(whole):
        return None
    if any(sign in chars for sign in _SIGNS_OF_MORE) or chars.count("fio ") > chars.count('"fio version"'):
        return None
    document = decode_cut(cut)
    if document is None or document.end != len(whole):
        return None
    report = Report(document)
    if not report.is_of_fio:
        return None
    reader = JsonReader(Text(whole), report)
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


_KINDS: Final = Alike("fio_json", _learned)
