"""Reads many documents together, of which some are printed alike: they differ in nothing but their numbers.

What stands where is worked out for the first of these. It depends on some of its numbers (`Report.consulted`, and
which are 0), in which the others have to be its like. All figures of all documents are then read as columns.
Whatever is out of the ordinary in a document makes it one for `fsbench_kit.formats.fio_json.parse`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.formats.clean import CleanLogs
from fsbench_kit.formats.findings import diagnostics
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_json.columns import Ints, Log, picker
from fsbench_kit.formats.fio_json.contents import Report
from fsbench_kit.formats.fio_json.reader import (
    IDENTITY,
    NO_FIGURES,
    Reader,
    Unread,
    ended_at,
    key_of,
    leftovers,
    unread_counts,
)
from fsbench_kit.formats.fio_json.sheet import Sheet
from fsbench_kit.formats.json_text import Cut, decode_cut, without_bins
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from fsbench_kit.model.records import Setting

_NUMBER: Final = re.compile(r'" : ([0-9.]+)')
_NO_NUMBER: Final = re.compile(r"\.(?![0-9]+(?:\0|\Z))|(?<![0-9])\.")
"""A point among numbers that makes one of them none."""
_PERCENTILES: Final = '"percentile" : {'
_TIME: Final = re.compile(r'"time" : "([^"\n]*)"')
_HEAD: Final = 400
"""So early in a document fio names its time."""
_SIGNS_OF_MORE: Final = ("\\", "&", "<", "\r", '"" : ', "bonnie", "iozone", "sysbench")
"""Escapes, a key without a name, and the names of other tools."""


class _Document(NamedTuple):
    """A document without its bins: its numbers, and what stands between them, in turns.

    Attributes
    ----------
    at
        Its index among all texts.
    heights
        How many lines all bins have before each.
    """

    at: int
    cut: Cut
    end: int
    time: str
    pieces: list[str]
    heights: Ints

    @property
    def numbers(self) -> list[str]:
        """Its numbers."""
        return self.pieces[1::2]


def together(texts: Sequence[str], which: Iterable[int]) -> tuple[CleanLogs, list[int]]:
    """Read those of some texts, by their indexes, that are nothing but a document as fio printed it.

    Returns
    -------
    tuple
        The documents, and the indexes of the texts that are left over.
    """
    left: list[int] = []
    alike: dict[str, list[_Document]] = defaultdict(list)
    for at in which:
        document = _document(at, texts[at])
        if document is None:
            left.append(at)
        else:
            alike["\0".join(document.pieces[::2])].append(document)
    found: list[tuple[_Document, _Kind]] = []
    for documents in alike.values():
        kinds: list[_Kind] = []
        for document in documents:
            kind = next((each for each in kinds if each.is_of(document)), None) or _Kind.of(document)
            if kind is None:
                left.append(document.at)
                continue
            if kind not in kinds:
                kinds.append(kind)
            found.append((document, kind))
    found.sort(key=lambda each: each[0].at)
    collected = _Collected(found)
    return collected.logs(), sorted([*left, *collected.left])


def _document(at: int, chars: str) -> _Document | None:
    end = chars.find("\n}") + 2
    if not chars.startswith("{\n") or end < 2 or chars[end:].strip():
        return None
    cut = without_bins(chars, 0, end) or Cut(chars[:end], [], np.zeros(0, np.intp), np.zeros(1, np.intp))
    rest = cut.chars
    if any(sign in rest for sign in _SIGNS_OF_MORE) or rest.count("fio ") > rest.count('"fio version"'):
        return None
    heights = np.cumsum([0, *(chars.count("\n", bins.start, bins.end) for bins in cut.bins)])
    time = _TIME.search(rest, 0, _HEAD)
    if time is not None:
        rest = f"{rest[: time.start(1)]}{rest[time.end(1) :]}"
    pieces = _NUMBER.split(_with_names_as_numbers(rest))
    if _NO_NUMBER.search("\0".join(pieces[1::2])):
        return None
    return _Document(at, cut, end, time[1] if time is not None else "", pieces, heights)


def _with_names_as_numbers(chars: str) -> str:
    """Return a document in which the name of each percentile is a number, too: it has an empty name before it."""
    pieces: list[str] = []
    position = 0
    while (start := chars.find(_PERCENTILES, position)) >= 0:
        start += len(_PERCENTILES)
        end = chars.find("}", start)
        between = chars[start : chars.find('"', start, end) + 1]
        pieces += chars[position:start], chars[start:end].replace(between, f'{between}" : ') if between else ""
        position = end
    return "".join([*pieces, chars[position:]])


class _Kind:
    """What stands where in documents that are printed alike, by the first of them.

    Their numbers are those of the pieces between which all is the same, and behind these the others of the first.
    """

    def __init__(self, first: _Document, reader: Reader, of_numbers: list[int], others: list[str]) -> None:
        report, figures = reader.report, reader.figures
        document = report.document
        self.reader, self._others = reader, others
        self._numbers = picker(of_numbers)
        self._names = picker(
            [of_numbers[number] - 1 for latencies in figures.latencies for _, number in latencies.percentiles]
        )
        starts = np.array(document.starts, np.intp)
        self._lines, self._bins_before = reader.text.lines(starts), np.searchsorted(first.cut.places, starts)
        self._bin_lines = reader.text.lines(first.cut.places)
        consulted = sorted(report.consulted)
        self._consulted = picker(consulted)
        self._conditions = [(picker(numbers), answer) for numbers, answer in report.conditions.items()]
        read = {row.number for row in figures.rows} | {bucket.number for bucket in figures.buckets}
        read |= {number for latencies in figures.latencies for _, number in latencies.percentiles}
        unread = np.flatnonzero(np.frombuffer(document.is_read, bool) == 0).tolist()
        self._keys = {number: key_of(document, document.starts[number]) for number in unread if number not in read}
        self._unread_numbers = [number for number, key in self._keys.items() if key not in NO_FIGURES]
        self._unread = picker(self._unread_numbers)
        self._of_settings = picker(sorted(reader.numbers_of_settings))
        self._settings: dict[Sequence[str], list[Setting]] = {}
        self._first = self._consulted(self._numbers(first.numbers + others))

    @classmethod
    def of(cls, first: _Document) -> _Kind | None:
        """Return the kind of a document, unless there is more to it than its numbers tell."""
        document = decode_cut(first.cut)
        if document is None or document.end != len(first.cut.chars):
            return None
        report = Report(document)
        if not report.is_of_fio:
            return None
        reader = Reader(Text(first.cut.chars), report)
        are_names = [not piece for piece in first.pieces[2::2]]
        values = [place for place, is_name in enumerate(are_names) if not is_name]
        starts = [match.start(1) for match in _NUMBER.finditer(first.cut.chars)]
        at = dict(zip(starts, values, strict=True))
        numbers = first.numbers
        others: list[str] = []
        of_numbers = []
        for number, start in enumerate(document.starts):
            text = document.number(number)
            place = at.pop(start, None)
            if place is None or numbers[place] != text:
                place = len(numbers) + len(others)
                others.append(text)
            of_numbers.append(place)
        names = [(name, of_numbers[n] - 1) for each in reader.figures.latencies for name, n in each.percentiles]
        are_all = not at and all(place < len(numbers) and numbers[place] == name for name, place in names)
        are_all &= len(reader.figures.bins) == len(first.cut.bins)
        has_figures = reader.figures.rows or reader.failures
        return cls(first, reader, of_numbers, others) if are_all and has_figures else None

    def numbers(self, document: _Document) -> Sequence[str]:
        """Return the numbers of a document, as its decoder would find them."""
        return self._numbers(document.numbers + self._others)

    def is_of(self, document: _Document) -> bool:
        """Whether a document that differs in its numbers alone is of this kind."""
        numbers = self.numbers(document)
        return self._consulted(numbers) == self._first and all(
            bool("".join(pick(numbers)).strip("0.")) == answer for pick, answer in self._conditions
        )

    def is_odd(self, numbers: Sequence[str]) -> bool:
        """Whether statistics may be over single requests."""
        return any(
            numbers[samples].strip("0") and (requests is None or numbers[requests] == numbers[samples])
            for samples, requests in self.reader.figures.sampled
        )

    def unread(self, log: Log) -> list[list[Unread]]:
        """Return the numbers of a log for which there is no place, by where they stand, and on which lines."""
        found = [unread_counts(bins, lines) for bins, lines in zip(log.bins, log.bin_lines, strict=True)]
        texts = self._unread(log.numbers)
        if "".join(texts).strip("0."):
            found += (
                [(int(log.lines[number]), self._keys[number], text)]
                for number, text in zip(self._unread_numbers, texts, strict=True)
                if text.strip("0.")
            )
        return sorted(each for each in found if each)

    def settings(self, numbers: Sequence[str]) -> list[Setting]:
        """Return the settings of a document."""
        own = self._of_settings(numbers)
        if own not in self._settings:
            self._settings[own] = self.reader.settings(self.reader.report.like(numbers))
        return self._settings[own]

    def log(self, document: _Document) -> Log:
        """Return the report of a document."""
        heights = document.heights
        return Log(
            self.reader.figures,
            self.numbers(document),
            self._lines + heights[self._bins_before],
            self._names(document.numbers),
            document.cut.bins,
            [
                line + height + bins.step * np.arange(1, len(bins.names) + 1)
                for line, height, bins in zip(self._bin_lines, heights.tolist(), document.cut.bins, strict=False)
            ],
        )


_LARGEST: Final = 2**63 - 1
"""Larger sizes are kept by no frame, which the reading of a single log says."""
_MANY: Final = 4
"""So many reports are checked faster as columns than one by one."""


class _Collected:
    """What was read of documents, each of its kind."""

    def __init__(self, found: list[tuple[_Document, _Kind]]) -> None:
        self._documents = [document for document, _ in found]
        self._kinds = [kind for _, kind in found]
        self._sheet = Sheet([kind.log(document) for document, kind in found])
        is_odd = self._sheet.is_odd()
        for number, (kind, log) in enumerate(zip(self._kinds, self._sheet.logs, strict=True)):
            is_odd[number] |= kind.is_odd(log.numbers)
        sizes = [max((size for size in place if isinstance(size, int)), default=0) for place in self._sheet.places]
        is_too_large = np.array([size > _LARGEST for size in sizes], np.bool_)
        for figures in (self._sheet.rows, self._sheet.distributions):
            is_odd[figures.log[is_too_large[figures.place]]] = True
        self._places = pl.DataFrame(
            [
                [None] * len(place) if large else place
                for place, large in zip(self._sheet.places, is_too_large, strict=True)
            ],
            schema=_PLACE,
            orient="row",
        )
        self._kept = np.flatnonzero(~is_odd)
        self._is_kept = ~is_odd
        self.left = [self._documents[number].at for number in np.flatnonzero(is_odd).tolist()]
        self._at = np.array([document.at for document in self._documents], np.int64)

    def logs(self) -> CleanLogs:
        """Return the frames."""
        return CleanLogs(
            self._runs(),
            self._settings(),
            self._measurements(),
            self._distributions(),
            self._series(),
            self._diagnostics(),
        )

    def _each(self) -> Iterator[tuple[int, _Document, Reader]]:
        for number in self._kept.tolist():
            yield number, self._documents[number], self._kinds[number].reader

    def _runs(self) -> pl.DataFrame:
        rows = self._sheet.rows
        are_runtimes = np.array([known.metric == "runtime" for known in self._sheet.whats], bool)[rows.what]
        durations = np.full(len(self._documents), -1.0)
        np.maximum.at(durations, rows.log[are_runtimes], rows.value[are_runtimes])
        made = []
        for number, document, reader in self._each():
            report = reader.report
            numbers = self._sheet.logs[number].numbers
            identity = [
                word
                for key in IDENTITY
                if isinstance(place := report.content.get(key), int)
                for word in (key, numbers[place])
            ]
            made.append(
                {
                    "log": document.at,
                    "tool": TOOL.name,
                    "start": 0,
                    "end": document.end,
                    "line": 1,
                    "ended_at": ended_at(document.time),
                    "duration": durations[number] if durations[number] >= 0 else None,
                    "identity": identity or None,
                    **reader.facts(),
                }
            )
        return pl.DataFrame(made, schema=_RUN)

    def _settings(self) -> pl.DataFrame:
        given = [
            (document.at, item.scope, item.part, item.key, item.value, item.origin, item.line)
            for number, document, _ in self._each()
            for item in self._kinds[number].settings(self._sheet.logs[number].numbers)
        ]
        return pl.DataFrame(given, schema=_SETTING, orient="row")

    def _measurements(self) -> pl.DataFrame:
        rows, sheet = self._sheet.rows, self._sheet
        rows = rows.of(np.flatnonzero(self._is_kept[rows.log]))
        whats = pl.DataFrame(
            [[getattr(each, name) for name in _WHAT] for each in sheet.whats], schema=_WHAT, orient="row"
        )
        return pl.DataFrame(
            [
                pl.Series("log", self._at[rows.log]),
                *self._places[rows.place],
                *whats[rows.what],
                *(pl.Series(name, getattr(rows, name), nan_to_null=True) for name in ("value", "low", "high")),
                pl.Series("samples", rows.samples).replace(-1, None),
                rows.text.alias("text"),
                pl.Series("line", rows.line),
            ]
        )

    def _distributions(self) -> pl.DataFrame:
        known, sheet = self._sheet.distributions, self._sheet
        kept = np.flatnonzero(self._is_kept[known.log])
        metrics = pl.Series("metric", sheet.metrics, dtype=pl.String)
        return pl.DataFrame(
            [
                pl.Series("log", self._at[known.log[kept]]),
                *self._places.select("operation", "scope", "part")[known.place[kept]],
                metrics.gather(known.metric[kept]),
                *(
                    pl.Series(name, getattr(known, name)[kept], nan_to_null=True)
                    for name in ("low", "high", "share")
                ),
                pl.Series("count", known.number[kept]).replace(-1, None),
                pl.Series("line", known.line[kept]),
            ]
        )

    def _series(self) -> pl.DataFrame:
        points = [
            (document.at, block.part, block.operation, block.metric, block.statistic, time, value)
            for _, document, reader in self._each()
            for block in reader.figures.run.series
            for time, value in zip(block.times, block.values, strict=True)
        ]
        return pl.DataFrame(points, schema=_POINT, orient="row")

    def _diagnostics(self) -> pl.DataFrame:
        said: list[list[Diagnostic]] = [[] for _ in self._documents]
        for number, document, reader in self._each():
            said[number] += (self._of_all(item, document) for item in reader.remarks())
        for wrong in self._sheet.wrong:
            item = Diagnostic(code=wrong.code, message=wrong.message, line=wrong.line, excerpt=wrong.excerpt)
            said[wrong.log].append(self._of_all(item, self._documents[wrong.log]))
        self._check(said)
        for number, document, _ in self._each():
            for message, line, excerpt in leftovers(self._kinds[number].unread(self._sheet.logs[number])):
                item = Diagnostic(code="UNREAD_FIGURE", message=message, line=line, excerpt=excerpt)
                said[number].append(self._of_all(item, document))
        rows = [
            (document.at, item.code, item.message, item.line, item.start, item.end, item.excerpt)
            for number, document, _ in self._each()
            for item in said[number]
        ]
        return pl.DataFrame(rows, schema=_DIAGNOSTIC, orient="row")

    def _of_all(self, item: Diagnostic, document: _Document) -> Diagnostic:
        """Return a diagnostic that is about all of a document."""
        return Diagnostic(
            code=item.code, message=item.message, line=item.line, start=0, end=document.end, excerpt=item.excerpt
        )

    def _check(self, said: list[list[Diagnostic]]) -> None:
        """Add what cross-checks find; documents that have figures of the same are checked together."""
        of_readers: dict[Reader, list[int]] = defaultdict(list)
        for number, _, reader in self._each():
            of_readers[reader].append(number)
        alike: dict[Hashable, list[int]] = defaultdict(list)
        for reader, numbers in of_readers.items():
            alike[reader.kind] += numbers
        for numbers in alike.values():
            reader = self._kinds[numbers[0]].reader
            if len(numbers) < _MANY:
                for number in numbers:
                    rows = zip(self._sheet.figures_of(number), self._sheet.agreeing(number), strict=True)
                    checked = [row.measurement() for row, is_agreeing in rows if not is_agreeing]
                    said[number] += diagnostics(reader.checks(checked))
                continue
            for finding in reader.checks(self._sheet.columns_of(np.array(numbers))):
                failing = np.flatnonzero(np.broadcast_to(finding.fails, len(numbers))).tolist()
                for row, (message, line, excerpt) in zip(failing, finding.of(failing), strict=True):
                    said[numbers[row]].append(
                        Diagnostic(code=finding.code, message=message, line=line, excerpt=excerpt)
                    )


_RUN: Final[dict[str, Any]] = {
    "log": pl.Int64,
    **dict.fromkeys(("tool", "tool_version", "filesystem", "host"), pl.String),
    **dict.fromkeys(("start", "end", "line"), pl.Int64),
    **dict.fromkeys(("started_at", "ended_at"), pl.Datetime("us")),
    "duration": pl.Float64,
    "status": pl.String,
    "exit_code": pl.Int64,
    "identity": pl.List(pl.String),
}
_SETTING: Final[dict[str, Any]] = {
    "log": pl.Int64,
    **dict.fromkeys(("scope", "part", "key", "value", "origin"), pl.String),
    "line": pl.Int64,
}
_PLACE: Final[dict[str, Any]] = {
    **dict.fromkeys(("operation", "scope", "part"), pl.String),
    **dict.fromkeys(("block_size", "file_size", "threads"), pl.Int64),
}
_WHAT: Final[dict[str, Any]] = {
    **dict.fromkeys(("metric", "statistic", "unit", "state"), pl.String),
    "primary": pl.Boolean,
}
_POINT: Final[dict[str, Any]] = {
    "log": pl.Int64,
    **dict.fromkeys(("part", "operation", "metric", "statistic"), pl.String),
    **dict.fromkeys(("time", "value"), pl.Float64),
}
_DIAGNOSTIC: Final[dict[str, Any]] = {
    "log": pl.Int64,
    **dict.fromkeys(("code", "message"), pl.String),
    **dict.fromkeys(("line", "start", "end"), pl.Int64),
    "excerpt": pl.String,
}
