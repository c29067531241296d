"""Finds logs in any file: decodes it, cuts out each log with its command, and passes it to its format."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import BinaryIO, Final, NamedTuple

import numpy as np

from fsbench_kit.documents.attribution import with_command
from fsbench_kit.documents.commands import commands
from fsbench_kit.documents.encoding import Content, as_text, decode, encoding_of
from fsbench_kit.documents.repair import Repair, repair
from fsbench_kit.documents.search import around_logs
from fsbench_kit.documents.segments import Segment, segments
from fsbench_kit.formats import FORMATS, known_logs, name
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Record, Run
from fsbench_kit.model.vocabulary import DIAGNOSTICS

__all__ = ["NO_BREAK", "Content", "Contents", "read_document", "read_file"]

WHOLE: Final = 2**22
"""Files up to this size, in bytes, are searched as a whole."""

MOST: Final = 2**27
"""The maximum number of bytes that is kept around the logs of a file."""


class Contents:
    """The parts of a file's content that were kept, indexed by their offsets in the file.

    Examples
    --------
    >>> contents = Contents()
    >>> contents.add(0, b"READ: bw=")
    >>> contents.add(4096, b"WRITE: bw=")
    >>> contents[4096:4101]
    b'WRITE'
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._bytes: list[bytes] = []

    def add(self, start: int, data: bytes) -> None:
        """Append bytes that begin at the offset `start` of the file. Offsets must be added in ascending order."""
        self._starts.append(start)
        self._bytes.append(data)

    def __getitem__(self, part: slice) -> bytes:
        """Return the bytes between two offsets of the file."""
        index = bisect_right(self._starts, part.start) - 1
        first = self._starts[index]
        return self._bytes[index][part.start - first : part.stop - first]


def read_file(file: BinaryIO, source: str) -> tuple[Contents, list[Record]]:
    """Return the records of the logs in a file, which may be compressed, and the bytes that contain them.

    Notes
    -----
    For files larger than `WHOLE`, only the surroundings of logs are kept in memory and parsed.

    Examples
    --------
    >>> from pathlib import Path
    >>> with Path("raw_results/published/sysbench-rhel72/rndrd-xfs.txt").open("rb") as file:
    ...     contents, (run, repaired) = read_file(file, "rndrd-xfs.txt")
    >>> run.tool, contents[run.start : run.start + 14], repaired.code
    ('sysbench', b'[root@host02 m', 'REPAIRED_SPACES')
    """
    content, contents = Content(file), Contents()
    head = content.read(WHOLE + 1)
    encoding = encoding_of(head)
    if len(head) <= WHOLE or encoding is None:
        contents.add(0, head)
        return contents, [*content.diagnostics, *read_document(head, source)]
    records: list[Record] = []
    kept = 0
    for stretch in around_logs(chain([head], content), encoding, MOST):
        text = as_text(stretch.chars, source, encoding, stretch.byte, stretch.line)
        data = stretch.chars.encode(encoding.name, encoding.errors)
        contents.add(stretch.byte, data)
        records += (record for record in _records(text) if getattr(record, "code", None) != "NO_LOG")
        kept += len(data)
    if not kept:
        records.append(_no_log())
    elif kept > MOST:
        message = f"More than {MOST} bytes of text surround the logs; what follows was not read. Split the file."
        records.append(Diagnostic(code="TOO_LARGE", message=message))
    elif kept < content.size:
        message = (
            f"{kept} bytes around logs were read closely; no log was found in the other {content.size - kept}."
        )
        records.append(Diagnostic(code="LEFT_OUT", message=message))
    return contents, [*content.diagnostics, *records]


def read_document(data: bytes, source: str) -> Iterator[Record]:
    """Yield the runs of the logs in an uncompressed file, and diagnostics about the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> log = Path("raw_results/published/sysbench-rhel72/rndrd-xfs.txt")
    >>> run = next(read_document(log.read_bytes(), log.name))
    >>> run.tool, run.measurements[0].text, run.measurements[0].line
    ('sysbench', '164839', 45)
    """
    if not data.strip():
        yield Diagnostic(code="EMPTY", message="The file is empty.")
        return
    decoded = decode(data, source)
    if decoded is None:
        yield Diagnostic(code="NOT_TEXT", message="The file contains binary data, not a log.")
        return
    yield from _records(decoded)


def _undamaged(text: Text) -> list[Record] | None:
    """Return the records of a text if a format recognizes it as nothing but undamaged logs, otherwise ``None``."""
    for log_format in FORMATS:
        read = getattr(log_format, "undamaged", None)
        records = read(text) if read is not None else None
        if records is not None:
            own = name(log_format)
            return [replace(each, format=own) if isinstance(each, Run) else each for each in records]
    return None


def _records(decoded: Text) -> Iterator[Record]:
    records = _undamaged(decoded)
    if records is not None:
        yield from records
        return
    text, repairs = repair(decoded)
    given = list(commands(text))
    found = list(segments(text, given))
    all_runs: list[Run] = []
    for segment in found:
        all_runs += segment.runs
        repairs += segment.repairs
        for record in segment.records:
            match record:
                case Run():
                    log_format = name(segment.log_format)
                    run, left_out = with_command(record, given, all_runs, text)
                    yield replace(run, format=log_format)
                    yield from left_out
                case Diagnostic(code="UNREAD_FIGURE"):
                    yield _beside(record, segment, text)
                case _:
                    yield record
    yield from _said(repairs, all_runs, text)
    if not found:
        yield _no_log()


def _no_log() -> Diagnostic:
    """Report that a file has no log. There is no excerpt: the file may be private and named by mistake."""
    return Diagnostic(code="NO_LOG", message=f"No log of {known_logs()} was found in it.")


def _beside(diagnostic: Diagnostic, segment: Segment, text: Text) -> Diagnostic:
    """Decide whether a figure that was not read belongs to a log, or to other text beside the logs.

    Text that adjoins a log without an empty line between them may be a damaged part of it, as may text with more
    digits than letters; headings are neither. If all logs are of tests other than fileio, no figure is lost.
    """
    start, end, runs = diagnostic.start, diagnostic.end, segment.runs
    other = replace(diagnostic, code="OTHER_TEXT", message="This text contains a figure but is not part of a log.")
    if not runs and any(isinstance(other, Diagnostic) and other.code == "NOT_FILEIO" for other in segment.records):
        return other
    if start is None or end is None or not runs or any(run.start < end and start < run.end for run in runs):
        return diagnostic
    before = max((run.end for run in runs if run.end <= start), default=None)
    after = min((run.start for run in runs if run.start >= end), default=None)
    touches = (before is not None and not _has_empty_line(text, before, start)) or (
        after is not None and not _has_empty_line(text, end, after)
    )
    chars = text.chars[text.position(start) : text.position(end)]
    if all(map(_is_heading, chars.splitlines())):
        return other
    is_figures = sum(map(str.isdigit, chars)) > sum(map(str.isalpha, chars))
    return diagnostic if touches or is_figures else other


_TITLE: Final = re.compile(
    r"[\W_]*(?:\d{1,3}[.):/]|(?:test|run|case|round|pass|step|part|phase|benchmark|results?|starting|running)\b)|[#=*-]{2,}\s",
    re.IGNORECASE,
)
"""How a heading begins: with a symbol, a number, or a word such as “test”."""
_RESULT: Final = re.compile(
    r"(?<![\d.])\d+\.\d+(?![\d.])|(?<![\d.:/-])\d{5,}"
    r"|\d\s*(?:%|[kmgt]?i?b(?:it)?/s|[kmg]?\s*iops|[mun]?s(?:ec)?\b|/\s*s)|(?:bw|iops|lat)\w*\s*[=:]",
    re.IGNORECASE,
)
"""Numbers that do not occur in headings: fractions, large numbers, and numbers with the unit of a rate or time."""


def _is_heading(line: str) -> bool:
    """Whether a line announces what follows, so that its numbers are not results.

    >>> _is_heading("Test 3: 4k random read, 2 threads"), _is_heading("Test 3: 4k random read, 512 MB/s")
    (True, False)
    """
    return not re.search(r"\d", line) or bool(_TITLE.match(line) and not _RESULT.search(line))


def _has_empty_line(text: Text, start: int, end: int) -> bool:
    return text.chars.count("\n", text.position(start), text.position(end)) > 1


def _said(repairs: Sequence[Repair], runs: Sequence[Run], text: Text) -> Iterator[Diagnostic]:
    """Report each kind of repair that was made inside logs; repairs of other text are not reported."""
    places: dict[str, list[int]] = {}
    for each in repairs:
        places.setdefault(each.code, []).extend(each.starts(runs))
    for code, starts in places.items():
        if starts:
            first = min(starts)
            line = text.line(text.position(first))
            yield Diagnostic(code=code, message=_message(code, len(starts)), line=line, start=first)


def _message(code: str, places: int) -> str:
    return f"{DIAGNOSTICS[code][1]} Places: {places}, the first of them here."


NO_BREAK: Final = "\N{NO-BREAK SPACE}".encode()
"""Takes the place of a plain space in logs from web pages; formats read it as one."""


class Spaces(NamedTuple):
    """Where there are no-break spaces: columns with the index of each file, and what is reported of it."""

    number: list[int]
    code: list[str]
    message: list[str]
    line: list[int]
    start: list[int]


def no_break_spaces(contents: Sequence[bytes], spans: Sequence[tuple[int, int]]) -> Spaces:
    """Return the diagnostics of files whose logs have no-break spaces and need no other repair.

    Parameters
    ----------
    contents
        The contents of the files, which must be ASCII except for these spaces.
    spans
        The first and last byte offset of the log in each file. Adjacent spaces count.
    """
    # As many characters as a space has bytes precede the first content and follow the last one.
    joined = np.frombuffer(b"\n".join([b"\n", *contents, b"\n"]), np.uint8)
    edges = np.cumsum([len(NO_BREAK), *(len(data) + 1 for data in contents)])[:-1]
    signs = joined == NO_BREAK[0]
    before, after = signs[: -len(NO_BREAK)], signs[len(NO_BREAK) :]
    begins, ends = (len(NO_BREAK) + np.flatnonzero(at) for at in (after > before, before > after))
    first_chars, last_chars = (np.array(spans, dtype=np.int64).reshape(-1, 2) + edges[:, None]).T
    firsts = np.searchsorted(ends, first_chars)
    places = np.searchsorted(begins, last_chars, "right") - firsts
    numbers = np.flatnonzero(places).tolist()
    starts = (begins[firsts[numbers]] - edges[numbers]).tolist()
    lines = [1 + contents[number].count(b"\n", 0, start) for number, start in zip(numbers, starts, strict=True)]
    code = "REPAIRED_SPACES"
    messages = [_message(code, count) for count in places[numbers].tolist()]
    return Spaces(numbers, [code] * len(numbers), messages, lines, starts)
