"""Explains how each part of a file was read, which helps with unusual logs."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from fsbench_kit.documents import read_document
from fsbench_kit.documents.encoding import decode
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Bin, Block, Diagnostic, Measurement, Record, Run, Setting
from fsbench_kit.model.units import scale, scales, units_of

LARGEST: Final = 2**25
"""The maximum size of a file that can be explained, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a file, and what was read from it.

    Attributes
    ----------
    first, last
        Its lines.
    text
        The text of the part, or its first line. Control characters are shown as pictures.
    run
        The number of the run that it is in, or ``None`` outside of all runs.
    became
        What was read from it, one item each, in words.
    nothing
        Otherwise, why nothing was read from it.
    """

    first: int
    last: int
    text: str
    run: int | None
    became: tuple[str, ...] = ()
    nothing: str | None = None


def explain(data: bytes, source: str) -> Iterator[Stretch]:
    """Yield the stretches of a file in order, given its unpacked bytes."""
    records = list(read_document(data, source))
    text = decode(data, source)
    if text is None or not text.chars:
        diagnostics = tuple(_diagnostic(record) for record in records if isinstance(record, Diagnostic))
        yield Stretch(first=1, last=1, text="", run=None, became=diagnostics)
        return
    yield from _Explanation(text, records).stretches()


_LONGEST: Final = 88
"""The length from which on a line is explained piece by piece."""


@dataclass(frozen=True, slots=True)
class _Finding:
    """An item read from a part of the text."""

    start: int
    end: int
    words: str
    opens: bool = False


class _Explanation:
    """Matches what was read from a file with its lines."""

    def __init__(self, text: Text, records: Sequence[Record]) -> None:
        self._text = text
        self._lines = text.chars.split("\n")
        self._starts = [0]
        for chars in self._lines:
            self._starts.append(self._starts[-1] + len(chars) + 1)
        self._runs = [record for record in records if isinstance(record, Run)]
        self._spans = [(text.position(run.start), text.position(run.end)) for run in self._runs]
        self._reported: set[int] = set()
        self._findings: dict[int, list[_Finding]] = defaultdict(list)
        for line, finding in self._find(records):
            self._findings[line].append(finding)

    def stretches(self) -> Iterator[Stretch]:
        """Yield the stretches; adjacent lines from which nothing was read are combined."""
        for kind, group in groupby(range(1, len(self._lines) + 1), self._kind):
            lines = list(group)
            if kind == "read":
                for line in lines:
                    yield from self._pieces(line)
            else:
                yield self._nothing(lines[0], lines[-1], is_reported=kind == "reported")

    def _kind(self, line: int) -> Literal["read", "reported", "left"]:
        if line in self._findings:
            return "read"
        return "reported" if line in self._reported else "left"

    def _nothing(self, first: int, last: int, *, is_reported: bool) -> Stretch:
        begin, end = self._starts[first - 1], self._starts[last]
        if is_reported:
            why = "part of what is reported above"
        else:
            why = "nothing taken" if re.search(r"\d", self._text.chars[begin:end]) else "no figure"
        return Stretch(
            first=first,
            last=last,
            text=_shown(self._lines[first - 1]),
            run=self._run_at(begin),
            nothing=why if first == last else f"{last - first + 1} lines: {why}",
        )

    def _run_at(self, position: int) -> int | None:
        return next((n for n, (start, end) in enumerate(self._spans, 1) if start <= position < end), None)

    def _pieces(self, line: int) -> Iterator[Stretch]:
        """Yield the pieces of a line: a short line as a whole, a long one split after figures."""
        begin, stop = self._starts[line - 1], self._starts[line] - 1
        findings = sorted(self._findings[line], key=lambda finding: finding.start)
        piece: list[_Finding] = []
        is_long = stop - begin > _LONGEST
        for finding in findings:
            read = max((other.end for other in piece), default=begin)
            is_full = is_long and read > begin and finding.end - begin > _LONGEST
            if piece and (is_full or (finding.opens and finding.start > begin)):
                end = finding.start if finding.opens else read
                yield self._piece(line, begin, end, piece)
                begin, piece = end, []
            piece.append(finding)
        yield self._piece(line, begin, stop, piece)

    def _piece(self, line: int, begin: int, end: int, piece: Iterable[_Finding]) -> Stretch:
        return Stretch(
            first=line,
            last=line,
            text=_shown(self._text.chars[begin:end]),
            run=self._run_at(begin) or self._run_at(end - 1),
            became=tuple(finding.words for finding in piece),
        )

    # What the records say, and where

    def _find(self, records: Iterable[Record]) -> Iterator[tuple[int, _Finding]]:
        number = 0
        for record in records:
            match record:
                case Run():
                    number += 1
                    yield from self._of_run(number, record)
                case Block():
                    words = f"series of run {number}: {record.operation} {record.metric}"
                    for line, rows in Counter(line for line in record.lines if line is not None).items():
                        yield line, self._at_line(line, f"{words}, {rows} value{'s' * (rows > 1)}")
                case Diagnostic():
                    yield self._of_diagnostic(record)

    def _of_run(self, number: int, run: Run) -> Iterator[tuple[int, _Finding]]:
        start, end = self._spans[number - 1]
        last = bisect_right(self._starts, max(start, end - 1))
        lines = f"line {run.line}" if last == run.line else f"lines {run.line} to {last}"
        of = " ".join(filter(None, (run.tool, run.tool_version)))
        words = f"run {number}: {of}, read as {run.format}, {lines}, {run.status}"
        yield bisect_right(self._starts, start), _Finding(start, start, words, opens=True)
        for item in run.measurements:
            if item.line is not None:
                yield item.line, self._of_figure(item)
        for setting in run.settings:
            if setting.line is not None:
                yield setting.line, self._at_line(setting.line, _setting(setting))
        for (line, words), bins in Counter((item.line, _bin(item)) for item in run.bins).items():
            if line is not None:
                yield line, self._at_line(line, f"{bins} bin{'s' * (bins > 1)} of {words}")

    def _of_figure(self, item: Measurement) -> _Finding:
        if item.start is not None:
            start = self._text.position(item.start)
        else:  # where its text shows on the line
            begin = self._starts[(item.line or 1) - 1]
            start = max(begin, self._text.chars.find(item.text, begin, self._starts[item.line or 1]))
        return _Finding(start, start + len(item.text), _figure(item))

    def _of_diagnostic(self, item: Diagnostic) -> tuple[int, _Finding]:
        words = _diagnostic(item)
        if item.start is None:
            return item.line or 1, self._at_line(item.line or 1, words)
        start = self._text.position(item.start)
        end = start if item.end is None else self._text.position(item.end)
        line = bisect_right(self._starts, start)
        if item.code in _OF_TEXT:
            self._reported.update(range(line + 1, bisect_right(self._starts, max(start, end - 1)) + 1))
        return line, _Finding(start, min(end, self._starts[line] - 1) if item.code in _OF_TEXT else start, words)

    def _at_line(self, line: int, words: str) -> _Finding:
        start = self._starts[min(line, len(self._lines)) - 1]
        return _Finding(start, start, words)


_OF_TEXT: Final = {"UNREAD_FIGURE", "OTHER_TEXT", "PROGRESS", "NOT_FILEIO", "INTERIM_REPORT"}
"""Diagnostics that describe a stretch of text; the others are about a run."""


def _figure(item: Measurement) -> str:
    statistic = "" if item.statistic == "value" else f" {item.statistic}"
    sizes = "".join(
        f" {letter}{size}"
        for letter, size in (("bs=", item.block_size), ("size=", item.file_size), ("threads=", item.threads))
        if size is not None
    )
    second = "" if item.primary else ", a second printing"
    return f"{_of(item)}{item.operation} {item.metric}{statistic} = {_amount(item)}{sizes}{second}"


def _amount(item: Measurement) -> str:
    unit, factor = _scale(item)

    def number(value: float | None, unknown: str, digits: int = 12) -> str:
        return unknown if value is None else f"{value / factor:.{digits}g}"

    # The bounds of a rounded figure are half a digit away from it.
    digits = max(_BOUND_DIGITS, sum(map(str.isdigit, item.text)) + 1)

    if item.state == "missing":
        return f"missing ({item.text})"
    if item.low is None and item.high is None:
        interval = ""
    elif item.low == item.high:
        interval = " exactly"
    else:
        interval = f" [{', '.join(number(end, '…', digits) for end in (item.low, item.high))}]"
    value = "censored" if item.value is None else number(item.value, "")
    return f"{value} {unit}".rstrip() + interval


_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_BOUND_DIGITS: Final = 6


def _scale(item: Measurement) -> tuple[str, float]:
    """Return the unit in which a figure looks as printed, or else a readable one."""
    value = next((value for value in (item.value, item.low, item.high) if value), 0.0)
    printed = _NUMBER.search(item.text)
    number = float(printed[0]) if printed else 0.0
    for unit, factor in (*scales(item.unit), *units_of(item.unit)):
        if number and math.isclose(value / factor, number, rel_tol=1e-9):
            return unit, factor
    return scale(value, item.unit)


def _setting(item: Setting) -> str:
    return f"setting {_of(item)}{item.key} = {_shown(item.value)} ({item.origin})"


def _bin(item: Bin) -> str:
    return f"{_of(item)}{item.operation} {item.metric}"


def _of(item: Measurement | Setting | Bin) -> str:
    """Name the part of a run, if the record is about one."""
    words = " ".join(filter(None, (item.scope if item.scope != "all" else None, item.part)))
    return f"{words}: " if words else ""


def _diagnostic(item: Diagnostic) -> str:
    return f"{item.severity}: {item.message} [{item.code}]"


def _shown(chars: str) -> str:
    """Make white space and control characters visible and harmless."""
    return "".join(_picture(char) for char in chars.strip())


def _picture(char: str) -> str:
    if char.isprintable():
        return char
    if char in "\t\N{NO-BREAK SPACE}":
        return " "
    return chr(0x2400 + ord(char)) if ord(char) < 0x20 else f"\\u{ord(char):04x}"
