"""Finds logs inside anything: decodes a file, cuts out each log with its command, hands on to its format."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import BinaryIO, Final

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
"""A file of at most so many bytes is read closely from its first to its last."""

MOST: Final = 2**27
"""So many bytes around logs are kept of a file, and no more."""


class Contents:
    """The bytes of a file that were kept, by where they stand in it.

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
        """Add bytes that stand in the file from `start` on, behind those that were added before."""
        self._starts.append(start)
        self._bytes.append(data)

    def __getitem__(self, part: slice) -> bytes:
        """Return the bytes from one offset in the file up to another."""
        index = bisect_right(self._starts, part.start) - 1
        first = self._starts[index]
        return self._bytes[index][part.start - first : part.stop - first]


def read_file(file: BinaryIO, source: str) -> tuple[Contents, list[Record]]:
    """Return what the logs in a file say, which may be packed, and the bytes in which they stand.

    Notes
    -----
    Of a file that is larger than `WHOLE`, only what stands around the logs is held in memory and read closely.

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
        message = f"More than {MOST} bytes of it stand around logs; what follows was not read. Split the file."
        records.append(Diagnostic(code="TOO_LARGE", message=message))
    elif kept < content.size:
        message = (
            f"{kept} bytes around logs were read closely; no log was found in the other {content.size - kept}."
        )
        records.append(Diagnostic(code="LEFT_OUT", message=message))
    return contents, [*content.diagnostics, *records]


def read_document(data: bytes, source: str) -> Iterator[Record]:
    """Yield the runs of the logs in an unpacked file, and what is to be said about the file.

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
        yield Diagnostic(code="NOT_TEXT", message="The file holds binary data, not a log.")
        return
    yield from _records(decoded)


def _undamaged(text: Text) -> list[Record] | None:
    """Return what a text says, if a format sees that it is only its logs, and else ``None``."""
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
    """Say that a file is no log, without an excerpt: it may hold a secret, and have been named by mistake."""
    return Diagnostic(code="NO_LOG", message=f"No log of {known_logs()} was found in it.")


def _beside(diagnostic: Diagnostic, segment: Segment, text: Text) -> Diagnostic:
    """Tell an unread part of a log from other text that stands beside the logs.

    What touches a log, without an empty line between them, may be a part of it that was damaged; so may what is
    made of more digits than letters. A heading is neither. Logs of another test alone have no figures to lose.
    """
    start, end, runs = diagnostic.start, diagnostic.end, segment.runs
    other = replace(diagnostic, code="OTHER_TEXT", message="This text holds a figure and is no part of a log.")
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
"""How a heading begins: with a sign, its number, or what it is of."""
_RESULT: Final = re.compile(
    r"(?<![\d.])\d+\.\d+(?![\d.])|(?<![\d.:/-])\d{5,}"
    r"|\d\s*(?:%|[kmgt]?i?b(?:it)?/s|[kmg]?\s*iops|[mun]?s(?:ec)?\b|/\s*s)|(?:bw|iops|lat)\w*\s*[=:]",
    re.IGNORECASE,
)
"""What is no number of a heading: a fraction, a large number, one with the unit of a rate or a time."""


def _is_heading(line: str) -> bool:
    """Whether a line says what comes next, and its numbers are no results.

    >>> _is_heading("Test 3: 4k random read, 2 threads"), _is_heading("Test 3: 4k random read, 512 MB/s")
    (True, False)
    """
    return not re.search(r"\d", line) or bool(_TITLE.match(line) and not _RESULT.search(line))


def _has_empty_line(text: Text, start: int, end: int) -> bool:
    return text.chars.count("\n", text.position(start), text.position(end)) > 1


def _said(repairs: Sequence[Repair], runs: Sequence[Run], text: Text) -> Iterator[Diagnostic]:
    """Say for each kind of repair where it was made in the logs; what stands beside them does not matter."""
    places: dict[str, list[int]] = {}
    for each in repairs:
        places.setdefault(each.code, []).extend(each.starts(runs))
    for code, starts in places.items():
        if starts:
            first = min(starts)
            yield _repaired(code, len(starts), text.line(text.position(first)), first)


def _repaired(code: str, places: int, line: int, start: int) -> Diagnostic:
    message = f"{DIAGNOSTICS[code][1]} Places: {places}, the first of them here."
    return Diagnostic(code=code, message=message, line=line, start=start)


NO_BREAK: Final = "\N{NO-BREAK SPACE}".encode()
"""What stands for a plain space in logs of web pages; formats read it as one."""


def no_break_spaces(
    contents: Sequence[bytes], spans: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, Diagnostic]]:
    """Say where no-break spaces stand in logs that need no other repair; of many files in one go.

    Parameters
    ----------
    contents
        Those of the files, in which nothing else is beyond ASCII.
    spans
        Between which of its bytes the log of each file stands. Spaces that touch it count.

    Yields
    ------
    tuple
        Which of the files it is, and what is to be said of it.
    """
    edges = np.cumsum([0, *(len(data) + 1 for data in contents)])
    signs = np.flatnonzero(np.frombuffer(b"\n".join([*contents, b""]), np.uint8) == NO_BREAK[0])
    is_first = np.diff(signs, prepend=-len(NO_BREAK) - 1) != len(NO_BREAK)  # spaces in a row are one place
    begins, ends = signs[is_first], signs[np.roll(is_first, -1)] + len(NO_BREAK)
    of = np.searchsorted(edges, begins, "right") - 1
    starts_of, ends_of = (np.array(spans, dtype=np.int64).reshape(-1, 2) + edges[:-1, None]).T
    touches = (ends >= starts_of[of]) & (begins <= ends_of[of])
    which, firsts, places = np.unique(of[touches], return_index=True, return_counts=True)
    starts = (begins[touches][firsts] - edges[which]).tolist()
    for number, start, count in zip(which.tolist(), starts, places.tolist(), strict=True):
        yield number, _repaired("REPAIRED_SPACES", count, 1 + contents[number].count(b"\n", 0, start), start)
