"""Reads reports of one run in several formats: ``--output-format=normal,terse,json+``.

Whatever their order on the command line, fio prints the header of its normal report first, then the lines of its
terse report, the JSON document, and only then the normal report. The lines and the document are cut out of the
text, and each of the three is read together with those of the same format from other texts.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.formats import clean, fio_json, fio_terse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fsbench_kit.formats.clean import CleanLogs

_DOCUMENT: Final = "\n{\n"
_DOCUMENT_END: Final = "\n}\n"
_DOCUMENT_BYTES: Final = _DOCUMENT.encode()
_TERSE_BEFORE: Final = re.compile(r"(?:(?<=\n)|\A)(?:[2-5];fio-[^\n]*\n)+\Z")
_MOST_TERSE: Final = 2**16
_HEADERS: Final = (": (g=", "\nfio-", "\nStarting ")


class _Pieces(NamedTuple):
    """A text that was cut: the ranges of its terse lines and its document, and the text around them."""

    chars: str
    terse: slice
    document: slice
    around: str


def may_hold(data: bytes) -> bool:
    """Whether a text may contain a JSON document between other lines."""
    return b"{" in data and _DOCUMENT_BYTES in data  # a single character is found far faster


def read(texts: Sequence[str]) -> tuple[list[CleanLogs], list[int]]:
    """Read the texts that consist of nothing but reports of one run in several formats.

    Returns
    -------
    tuple
        The logs of each format, and the indices of the texts that were not read.
    """
    cut = {at: found for at, chars in enumerate(texts) if (found := _cut(chars)) is not None}
    around = {at: found.around for at, found in cut.items() if found.around.strip()}
    normal, left = clean.read([around.get(at, "") for at in range(len(texts))])
    documents = {at: found.chars[found.document].encode("utf-8") for at, found in cut.items()}
    lines = {at: own.encode("utf-8") for at, found in cut.items() if (own := found.chars[found.terse])}
    json, no_json = fio_json.together(documents, documents)
    terse, no_terse = fio_terse.together(lines, lines)
    lost = {*range(len(texts))} - cut.keys() | {*left} & around.keys() | {*no_json, *no_terse}
    holes = {at: (found.chars, found.terse.start, found.document.stop) for at, found in cut.items()}
    before_json = {at: (found.chars, 0, found.document.start) for at, found in cut.items()}
    before_terse = {at: (found.chars, 0, found.terse.start) for at, found in cut.items()}
    read_as = [(normal, holes), (json, before_json), (terse, before_terse)]
    return [_in_text(logs, lost, cut_out) for logs, cut_out in read_as if logs is not None], sorted(lost)


def _cut(chars: str) -> _Pieces | None:
    """Cut a text, if it contains one document between other lines, and no command line."""
    start = chars.find(_DOCUMENT) + 1
    end = chars.find(_DOCUMENT_END, start) + len(_DOCUMENT_END)
    if start < 1 or end <= start or chars.find(_DOCUMENT, end - 1) >= 0:
        return None
    found = _TERSE_BEFORE.search(chars, max(start - _MOST_TERSE, 0), start)
    first = found.start() if found is not None else start
    around = chars[:first] + chars[end:]
    has_header = any(chars.find(sign, end) >= 0 for sign in _HEADERS)  # that of another run
    if has_header or ";fio-" in around or "fio " in around:
        return None
    return _Pieces(chars, slice(first, start), slice(start, end), around)


def _in_text(logs: CleanLogs, lost: Iterable[int], holes: dict[int, tuple[str, int, int]]) -> CleanLogs:
    """Return logs without those of some texts, with positions as they were before parts were cut out."""
    begins, lengths, lines, heights = np.zeros((4, 1 + max(holes, default=0)), np.int64)
    for at, (chars, begin, end) in holes.items():
        begins[at], lengths[at] = begin, end - begin
        lines[at], heights[at] = 1 + chars.count("\n", 0, begin), chars.count("\n", begin, end)
    gone = pl.Series(sorted(lost), dtype=pl.Int64)
    frames = {}
    for key, frame in vars(logs).items():
        kept = frame.filter(~pl.col("log").is_in(gone.implode()))
        log = kept["log"].to_numpy()
        # An end at the beginning of the part that was cut out is not moved.
        moves = (("line", lines, heights), ("start", begins, lengths), ("end", begins + 1, lengths))
        frames[key] = kept.with_columns(
            pl.when(pl.col(column) >= pl.Series(first[log]))
            .then(pl.col(column) + pl.Series(by[log]))
            .otherwise(column)
            .alias(column)
            for column, first, by in moves
            if column in kept.columns
        )
    return replace(logs, **frames)
