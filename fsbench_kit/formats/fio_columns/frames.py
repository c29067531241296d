"""Reads many reports together, using that most differ in nothing but their numbers.

The structure is determined from the first report of each kind (see `alike`). Then all figures of all reports are
read as columns. Irregular reports are left to the format's `parse`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import numpy as np
import polars as pl

from fsbench_kit.formats.clean import CleanLogs
from fsbench_kit.formats.fio_columns.columns import ints
from fsbench_kit.formats.fio_columns.numbers import Numbers
from fsbench_kit.formats.fio_columns.sheet import Sheet
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.model.schema import LARGEST, SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from fsbench_kit.formats.findings import Finding
    from fsbench_kit.formats.fio_columns.alike import Alike
    from fsbench_kit.formats.fio_columns.columns import Log
    from fsbench_kit.formats.fio_columns.figures import Figures
    from fsbench_kit.formats.fio_columns.numbers import Bools, Ints
    from fsbench_kit.model.records import Diagnostic, Measurement, Setting


@dataclass(frozen=True, slots=True)
class Printed:
    """A text that may be a report and nothing else.

    Attributes
    ----------
    at
        Its index among all texts.
    end
        The end of the report in the text.
    ended_at
        The time at which it was printed, if it shows it.
    """

    at: int
    end: int
    ended_at: datetime | None


P = TypeVar("P", bound=Printed)


class Kind(ABC, Generic[P]):
    """Reports that differ in nothing but their numbers.

    Attributes
    ----------
    figures
        Their figures.
    facts
        Version and status.
    checked
        What `checks` depends on, apart from the figures themselves.
    conditions
        Groups of numbers that determine which figures exist, and whether any number of each is not 0.
    """

    figures: Figures
    facts: tuple[str | None, str]
    checked: Hashable
    conditions: Sequence[tuple[Ints, bool]]

    def are_of(self, _: Sequence[P], numbers: Numbers, firsts: Ints) -> Bools:
        """Return whether reports that differ in their numbers alone are of this kind."""
        are_of = np.ones(len(firsts), bool)
        for places, answer in self.conditions:
            are_of &= numbers.is_any[firsts[:, None] + places].any(axis=1) == answer
        return are_of

    @abstractmethod
    def log(self, report: P, first: int) -> Log:
        """Return a report, given the index of its first number."""

    @abstractmethod
    def are_odd(self, numbers: Numbers, firsts: Ints) -> Bools:
        """Return whether reports have to be read separately."""

    @abstractmethod
    def settings(self, numbers: Numbers, firsts: Ints) -> Iterable[list[Setting]]:
        """Return the settings of reports; those that have the same share one list."""

    @abstractmethod
    def checks(self, measurements: Sequence[Measurement]) -> Iterator[Finding]:
        """Check columns of figures of several reports against each other."""

    @abstractmethod
    def remarks(self, report: P) -> Iterable[Diagnostic]:
        """Return the diagnostics of a report that do not depend on its figures."""

    def identities(self, _: Numbers, firsts: Ints) -> Sequence[str | None]:
        """Return what identifies each run: alternating keys and values, separated by blanks."""
        return [None] * len(firsts)

    def leftovers(self, _numbers: Numbers, _logs: Sequence[Log]) -> Iterable[tuple[int, tuple[str, int, str]]]:
        """Return messages on unknown numbers, with their lines and excerpts, and the index of the log of each."""
        return ()


def read(
    reports: Iterable[tuple[P, str]], kinds: Alike[P], given: Iterable[int]
) -> tuple[CleanLogs | None, list[int]]:
    """Read the reports that are of a kind; return their logs, or ``None``, and the indices of the others.

    With each report comes its text, without what does not belong to its layout.
    """
    every: list[P] = []

    def texts() -> Iterator[str]:
        for report, chars in reports:
            every.append(report)
            yield chars

    numbers = Numbers(texts())
    found = [
        (report, kind, kind.log(report, first))
        for report, kind, first in zip(every, kinds.kinds_of(every, numbers), numbers.first, strict=False)
        if kind is not None
    ]
    if not found:
        return None, list(given)
    collected = _Collected(found, numbers)
    return collected.logs(), sorted({*given} - {report.at for report, *_ in found} | {*collected.left})


class _Collected:
    """The contents of reports, each of its kind."""

    def __init__(self, found: list[tuple[Any, Kind[Any], Log]], numbers: Numbers) -> None:
        self._found, self._numbers = found, numbers
        self._firsts = ints(log.first for *_, log in found)
        self._sheet = Sheet([log for *_, log in found], numbers)
        is_odd = self._sheet.is_odd()
        for kind, which in self._by_kind(range(len(found))):
            is_odd[which] |= kind.are_odd(numbers, self._firsts[which])
        places = self._sheet.places
        sizes = [max((size for size in place if isinstance(size, int)), default=0) for place in places]
        is_too_large = np.array([size > LARGEST for size in sizes], bool)  # and is reported when read separately
        for figures in (self._sheet.rows, self._sheet.distributions) if is_too_large.any() else ():
            is_odd[figures.log[is_too_large[figures.place]]] = True
        self._places = pl.DataFrame(
            [[None] * len(place) if large else place for place, large in zip(places, is_too_large, strict=True)],
            schema=_PLACE,
            orient="row",
        )
        self._is_kept = ~is_odd
        self._at = ints(report.at for report, *_ in found)
        self._kept: list[int] = np.flatnonzero(self._is_kept).tolist()
        self._kinds = list(self._by_kind(self._kept))
        self.left = self._at[is_odd].tolist()

    def _by_kind(self, numbers: Iterable[int]) -> Iterable[tuple[Kind[Any], list[int]]]:
        """Return each kind, and the numbers of its reports among the given ones."""
        of_kinds: dict[int, tuple[Kind[Any], list[int]]] = {}
        for number in numbers:
            kind = self._found[number][1]
            of_kinds.setdefault(id(kind), (kind, []))[1].append(number)
        return of_kinds.values()

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
        known = [duration if duration >= 0 else None for duration in durations.tolist()]
        identities: dict[int, str | None] = {}
        for kind, which in self._kinds:
            own = kind.identities(self._numbers, self._firsts[which])
            identities |= zip(which, own, strict=True)
        made = [
            (report.at, report.end, report.ended_at, known[number], identities[number], *kind.facts)
            for number in self._kept
            for report, kind, _ in [self._found[number]]
        ]
        names = ("log", "end", "ended_at", "duration", "identity", "tool_version", "status")
        runs = _frame(made, {name: _RUN[name] for name in names} | {"identity": pl.String})
        same = {"tool": TOOL.name, "start": 0, "line": 1}
        runs = runs.with_columns(pl.col("identity").str.split(" "))
        return pl.DataFrame(
            [
                runs[name] if name in names else pl.Series(name, [same.get(name)] * runs.height, dtype=kind)
                for name, kind in _RUN.items()
            ]
        )

    def _settings(self) -> pl.DataFrame:
        """Return the settings, which are the same, or vary little, for logs of one kind."""
        rows: list[tuple[Any, ...]] = []
        known: dict[int, range] = {}
        of_logs: dict[int, range] = {}
        for kind, which in self._kinds:
            for number, items in zip(which, kind.settings(self._numbers, self._firsts[which]), strict=True):
                if id(items) not in known:
                    known[id(items)] = range(len(rows), len(rows) + len(items))
                    rows += [tuple(getattr(item, name) for name in _SETTING) for item in items]
                of_logs[number] = known[id(items)]
        in_order = [of_logs[number] for number in self._kept]
        picks = np.fromiter(chain.from_iterable(in_order), np.int64)
        logs = np.repeat(self._at[self._is_kept], list(map(len, in_order)))
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
                _known("samples", rows.samples),
                sheet.texts(rows.at),
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
                _known("count", known.number),
                pl.Series("line", known.line),
            ]
        )

    def _series(self) -> pl.DataFrame:
        points = [
            (report.at, block.part, block.operation, block.metric, block.statistic, time, value)
            for report, kind, _ in map(self._found.__getitem__, self._kept)
            for block in kind.figures.run.series
            for time, value in zip(block.times, block.values, strict=True)
        ]
        return _frame(points, _POINT)

    def _diagnostics(self) -> pl.DataFrame:
        """Return the diagnostics of all reports, including those of cross-checks."""
        diagnostics: list[list[tuple[Any, ...]]] = [[] for _ in self._at]
        ats = self._at.tolist()
        spans = {}
        for number in self._kept:
            report, kind, _ = self._found[number]
            spans[number] = report.at, 0, report.end
            diagnostics[number] += (
                (report.at, each.start, each.end, each.code, each.message, each.line, each.excerpt)
                for each in kind.remarks(report)
            )
        for number, *wrong in self._sheet.wrong:
            if number in spans:
                diagnostics[number].append((*spans[number], *wrong))
        for numbers, kind in self._alike():
            for finding in kind.checks(self._sheet.columns_of(np.array(numbers))):
                fails = finding.fails
                if not np.any(fails):
                    continue
                rows = np.flatnonzero(np.broadcast_to(fails, len(numbers))).tolist()
                for row, found in zip(rows, finding.of(rows), strict=True):
                    diagnostics[numbers[row]].append((ats[numbers[row]], None, None, finding.code, *found))
        for kind, numbers in self._kinds:
            for index, lost in kind.leftovers(self._numbers, [self._found[number][2] for number in numbers]):
                diagnostics[numbers[index]].append((*spans[numbers[index]], "UNREAD_FIGURE", *lost))
        return _frame(chain.from_iterable(diagnostics), _DIAGNOSTIC)

    def _alike(self) -> Iterator[tuple[list[int], Kind[Any]]]:
        """Yield the numbers of reports with the same figures, and the kind of one of them."""
        alike: dict[Hashable, tuple[list[int], Kind[Any]]] = {}
        for kind, numbers in self._kinds:
            alike.setdefault(kind.checked, ([], kind))[0].extend(numbers)
        yield from alike.values()


def _known(name: str, numbers: Ints) -> pl.Series:
    """Return integers as a series, with null for those below 0."""
    column = pl.Series(name, numbers)
    is_known = numbers >= 0
    return column if is_known.all() else column.zip_with(pl.Series(is_known), pl.Series([None], dtype=pl.Int64))


def _frame(rows: Iterable[Sequence[Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Return rows as a frame, built by column, which is far faster for many rows."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pl.DataFrame(
        [pl.Series(name, column, schema[name]) for name, column in zip(schema, columns, strict=True)]
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
    **dict.fromkeys(("part", "key", "value"), pl.String),
    **{name: SCHEMAS["settings"][name] for name in ("scope", "origin")},
    "line": pl.Int64,
}
_PLACE: Final[dict[str, Any]] = {
    "operation": pl.String,
    "scope": SCHEMAS["measurements"]["scope"],
    "part": pl.String,
    **dict.fromkeys(("block_size", "file_size", "threads"), pl.Int64),
}
_WHAT: Final[dict[str, Any]] = {
    **dict.fromkeys(("metric", "statistic", "unit"), pl.String),
    "state": SCHEMAS["measurements"]["state"],
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
