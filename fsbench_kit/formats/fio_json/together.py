"""Reads many documents together, of which some are alike: they differ in nothing but their numbers.

What stands where is worked out for the first of these (see `alike` and `kinds`). All figures of all documents are
then read as columns. Whatever is out of the ordinary in a document makes it one for
`fsbench_kit.formats.fio_json.parse`.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit.formats.clean import CleanLogs
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_json.alike import kind_of, printed
from fsbench_kit.formats.fio_json.reader import IDENTITY, ended_at, leftovers
from fsbench_kit.formats.fio_json.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.formats.fio_json.alike import Printed
    from fsbench_kit.formats.fio_json.kinds import Kind
    from fsbench_kit.formats.fio_json.reader import Reader


def together(texts: Sequence[str] | Mapping[int, str], which: Iterable[int]) -> tuple[CleanLogs, list[int]]:
    """Read those of some texts, by their indexes, that are nothing but a document as fio printed it.

    Returns
    -------
    tuple
        The documents, and the indexes of the texts that are left over.
    """
    given = list(which)
    found = [(document, kind) for document in printed(texts, given) if (kind := kind_of(document)) is not None]
    collected = _Collected(found)
    return collected.logs(), sorted({*given} - {document.at for document, _ in found} | {*collected.left})


_LARGEST: Final = 2**63 - 1
"""Larger sizes are kept by no frame, which the reading of a single log says."""


class _Collected:
    """What was read of documents, each of its kind."""

    def __init__(self, found: list[tuple[Printed, Kind]]) -> None:
        logs = [kind.log(document.numbers, document.cut) for document, kind in found]
        self._sheet = Sheet(logs)
        is_odd = self._sheet.is_odd() | np.array(
            [kind.is_odd(log) for (_, kind), log in zip(found, logs, strict=True)], bool
        )
        places = self._sheet.places
        sizes = [max((size for size in place if isinstance(size, int)), default=0) for place in places]
        is_too_large = np.array([size > _LARGEST for size in sizes], bool)
        for figures in (self._sheet.rows, self._sheet.distributions):
            is_odd[figures.log[is_too_large[figures.place]]] = True
        self._places = pl.DataFrame(
            [[None] * len(place) if large else place for place, large in zip(places, is_too_large, strict=True)],
            schema=_PLACE,
            orient="row",
        )
        self._is_kept = ~is_odd
        self._at = np.array([document.at for document, _ in found], np.int64)
        self._kept = [(number, *found[number], logs[number]) for number in np.flatnonzero(self._is_kept).tolist()]
        self.left = self._at[is_odd].tolist()

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

    def _runs(self) -> pl.DataFrame:
        rows = self._sheet.rows
        are_runtimes = np.array([known.metric == "runtime" for known in self._sheet.whats], bool)[rows.what]
        durations = np.full(len(self._at), -1.0)
        np.maximum.at(durations, rows.log[are_runtimes], rows.value[are_runtimes])
        made = []
        for number, document, kind, log in self._kept:
            facts, content = kind.reader.facts(), kind.reader.report.content
            identity = [
                word
                for key in IDENTITY
                if isinstance(place := content.get(key), int)
                for word in (key, log.numbers[place])
            ]
            duration = durations[number] if durations[number] >= 0 else None
            made.append(
                (document.at, document.end, ended_at(document.time), duration, identity or None, *facts.values())
            )
        names = ("log", "end", "ended_at", "duration", "identity", "tool_version", "status")
        own = pl.DataFrame(made, schema={name: _RUN[name] for name in names}, orient="row")
        same = {"tool": TOOL.name, "start": 0, "line": 1}
        return own.select(
            (pl.col(name) if name in names else pl.lit(same.get(name))).cast(kind).alias(name)
            for name, kind in _RUN.items()
        )

    def _settings(self) -> pl.DataFrame:
        """Return the settings, of which logs of one kind have the same, or others in a few ways."""
        rows: list[tuple[Any, ...]] = []
        known: dict[int, range] = {}
        of_logs = []
        for _, _, kind, log in self._kept:
            items = kind.settings(log)
            if id(items) not in known:
                known[id(items)] = range(len(rows), len(rows) + len(items))
                rows += [tuple(getattr(item, name) for name in _SETTING) for item in items]
            of_logs.append(known[id(items)])
        picks = np.fromiter(chain.from_iterable(of_logs), np.int64)
        logs = np.repeat(self._at[self._is_kept], list(map(len, of_logs)))
        return pl.DataFrame([pl.Series("log", logs), *pl.DataFrame(rows, schema=_SETTING, orient="row")[picks]])

    def _measurements(self) -> pl.DataFrame:
        rows, sheet = self._sheet.rows, self._sheet
        if self.left:
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
        if self.left:
            known = known.of(np.flatnonzero(self._is_kept[known.log]))
        metrics = pl.Series("metric", sheet.metrics, dtype=pl.String)
        return pl.DataFrame(
            [
                pl.Series("log", self._at[known.log]),
                *self._places.select("operation", "scope", "part")[known.place],
                metrics.gather(known.metric),
                *(pl.Series(name, getattr(known, name), nan_to_null=True) for name in ("low", "high", "share")),
                pl.Series("count", known.number).replace(-1, None),
                pl.Series("line", known.line),
            ]
        )

    def _series(self) -> pl.DataFrame:
        points = [
            (document.at, block.part, block.operation, block.metric, block.statistic, time, value)
            for _, document, kind, _ in self._kept
            for block in kind.reader.figures.run.series
            for time, value in zip(block.times, block.values, strict=True)
        ]
        return pl.DataFrame(points, schema=_POINT, orient="row")

    def _diagnostics(self) -> pl.DataFrame:
        """Return what is said, of all of a document but for what cross-checks find."""
        said: list[list[tuple[Any, ...]]] = [[] for _ in self._at]
        spans = {number: (document.at, 0, document.end) for number, document, *_ in self._kept}
        for number, _, kind, _ in self._kept:
            remarks = kind.reader.remarks()
            said[number] += (
                (*spans[number], each.code, each.message, each.line, each.excerpt) for each in remarks
            )
        for number, *wrong in self._sheet.wrong:
            if number in spans:
                said[number].append((*spans[number], *wrong))
        for numbers, reader in self._alike():
            for finding in reader.checks(self._sheet.columns_of(np.array(numbers))):
                rows = np.flatnonzero(np.broadcast_to(finding.fails, len(numbers))).tolist()
                for row, found in zip(rows, finding.of(rows), strict=True):
                    said[numbers[row]].append((self._at[numbers[row]], None, None, finding.code, *found))
        for number, _, kind, log in self._kept:
            said[number] += ((*spans[number], "UNREAD_FIGURE", *lost) for lost in leftovers(kind.unread(log)))
        return pl.DataFrame(list(chain.from_iterable(said)), schema=_DIAGNOSTIC, orient="row")

    def _alike(self) -> Iterator[tuple[list[int], Reader]]:
        """Yield the numbers of documents that have figures of the same, with the reader of one of them."""
        of_readers: dict[Reader, list[int]] = defaultdict(list)
        for number, _, kind, _ in self._kept:
            of_readers[kind.reader].append(number)
        alike: dict[Hashable, list[Reader]] = defaultdict(list)
        for reader in of_readers:
            alike[reader.kind].append(reader)
        for readers in alike.values():
            yield [number for reader in readers for number in of_readers[reader]], readers[0]


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
    **dict.fromkeys(("log", "start", "end"), pl.Int64),
    **dict.fromkeys(("code", "message"), pl.String),
    "line": pl.Int64,
    "excerpt": pl.String,
}
