"""Reads many reports together, using that most differ in nothing but their numbers.

The structure is determined from the first report of each kind (see `alike`). Then all figures of all reports are
read as columns. Irregular reports are left to the format's `parse`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit.formats.blocks import BLOCK, blocks
from fsbench_kit.formats.checks import MeasurementWithReach, reach_of
from fsbench_kit.formats.clean import CleanLogs
from fsbench_kit.formats.findings import TextColumn
from fsbench_kit.formats.fio_columns.columns import Known, ints
from fsbench_kit.formats.fio_columns.contents import Contents, Remark, Run, contents_of, too_large
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.model.rows import rows_of
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fsbench_kit.formats.fio_columns.alike import Alike
    from fsbench_kit.formats.fio_columns.kind import Kind, P
    from fsbench_kit.formats.fio_columns.numbers import Data, Ints
    from fsbench_kit.model.records import Measurement


def read(
    lots: Iterable[Sequence[tuple[P, Data]]],
    kinds: Alike[P],
    given: Iterable[int],
    is_read: IsRead | None = None,
) -> tuple[CleanLogs | None, list[int]]:
    """Read the reports that are of a kind; return their logs, or ``None``, and the indices of the others.

    Reports come in lots, each report with its text; each lot is let go before the next one is made. `given` has
    the indices of all texts once all lots are made.
    """
    known = Known.new()
    found, are_read = [], set[int]()
    for contents in map(partial(contents_of, kinds=kinds, known=known), lots):
        if contents is None or not contents.reports:
            continue
        found.append(contents)
        for report in contents.reports:
            are_read.add(report.run.log)
            if is_read is not None:
                is_read(report.run.log, report.run.end, report.line_ends)
    return _Collected(kinds.name, found, known).logs() if found else None, sorted({*given} - are_read)


IsRead = Callable[[int, int, int], None]
"""Is called with the index of a text that was read, the end of its report, and how many line ends are before it.

The text is not needed any more.
"""


class _Collected:
    """The contents of all lots of a format as frames."""

    def __init__(self, name: str, lots: Sequence[Contents], known: Known) -> None:
        self._name, self._lots, self._known = name, lots, known
        self._reports = [report for lot in lots for report in lot.reports]
        places = known.places.items
        are_too_large = zip(places, too_large(places), strict=True)  # and in no report that is read here
        self._places = pl.DataFrame(
            [[None] * len(place) if large else place for place, large in are_too_large],
            schema=_PLACE,
            orient="row",
        )

    def logs(self) -> CleanLogs:
        """Return the frames."""
        measurements = self._measurements()
        return CleanLogs(
            self._runs(),
            self._settings(),
            measurements,
            self._distributions(),
            self._series(),
            self._diagnostics(measurements),
        )

    def _runs(self) -> pl.DataFrame:
        runs = _frame(
            [report.run for report in self._reports],
            {name: _RUN[name] for name in Run._fields} | {"identity": pl.String},
        )
        same = {"tool": TOOL.name, "format": self._name, "start": 0, "line": 1}
        runs = runs.with_columns_seq(pl.col("identity").str.split(" "))
        return pl.DataFrame(
            [
                runs[name] if name in runs.columns else pl.Series(name, [same.get(name)] * runs.height, dtype=kind)
                for name, kind in _RUN.items()
            ]
        )

    def _settings(self) -> pl.DataFrame:
        """Return the settings, which are the same, or vary little, for logs of one kind."""
        rows: list[tuple[Any, ...]] = []
        known: dict[int, range] = {}
        for report in self._reports:
            items = report.settings
            if id(items) not in known:
                known[id(items)] = range(len(rows), len(rows) + len(items))
                rows += [tuple(getattr(item, name) for name in _SETTING) for item in items]
        of_logs = [known[id(report.settings)] for report in self._reports]
        picks = np.fromiter(chain.from_iterable(of_logs), np.int64)
        logs = np.repeat(ints(report.run.log for report in self._reports), list(map(len, of_logs)))
        return pl.DataFrame(
            [pl.Series("log", logs), *rows_of(pl.DataFrame(rows, schema=_SETTING, orient="row"), picks)]
        )

    def _measurements(self) -> pl.DataFrame:
        known = self._known.whats.items
        whats = pl.DataFrame(
            [[getattr(each, name) for name in _WHAT] for each in known], schema=_WHAT, orient="row"
        )
        columns = _Columns([lot.measurements for lot in self._lots])
        return pl.DataFrame(
            [
                columns.integers("log"),
                *rows_of(self._places, columns.of("place")),
                *rows_of(whats, columns.of("what")),
                *map(columns.floats, ("value", "low", "high")),
                columns.counts("samples"),
                columns.words("text"),
                columns.integers("line"),
            ]
        )

    def _distributions(self) -> pl.DataFrame:
        metrics = pl.Series("metric", self._known.metrics.items, dtype=pl.String)
        columns = _Columns([lot.bins for lot in self._lots])
        return pl.DataFrame(
            [
                columns.integers("log"),
                *rows_of(self._places[["operation", "scope", "part"]], columns.of("place")),
                metrics.gather(columns.of("metric")),
                *map(columns.floats, ("low", "high", "share")),
                columns.counts("number").alias("count"),
                columns.integers("line"),
            ]
        )

    def _series(self) -> pl.DataFrame:
        points = [
            (report.run.log, block.part, block.operation, block.metric, block.statistic, time, value)
            for report in self._reports
            for block in report.kind.figures.run.series
            for time, value in zip(block.times, block.values, strict=True)
        ]
        return _frame(points, _POINT)

    def _diagnostics(self, measurements: pl.DataFrame) -> pl.DataFrame:
        """Return the diagnostics of all reports, including those of cross-checks of their measurements."""
        diagnostics = [[*report.remarks] for report in self._reports]
        for kind, numbers, rows in self._alike():
            for finding in kind.checks(_figures(kind, measurements, rows)):
                fails = finding.fails
                if not np.count_nonzero(fails):
                    continue
                failing = np.flatnonzero(np.broadcast_to(fails, len(numbers))).tolist()
                for row, found in zip(failing, finding.of(failing), strict=True):
                    log = self._reports[numbers[row]].run.log
                    diagnostics[numbers[row]].append(Remark(log, None, None, finding.code, *found))
        every = chain.from_iterable(
            (*found, *report.leftovers) for found, report in zip(diagnostics, self._reports, strict=True)
        )
        return _frame(every, _DIAGNOSTIC)

    def _alike(self) -> Iterator[tuple[Kind[Any], list[int], Ints]]:
        """Yield reports with the same figures: the kind of one, their numbers, and the rows of each figure."""
        of_kinds: dict[int, tuple[Kind[Any], list[int], list[Ints]]] = {}
        first, start = 0, 0
        for lot in self._lots:
            for kind, which, rows in lot.rows_of_figures:
                _, numbers, several = of_kinds.setdefault(id(kind), (kind, [], []))
                numbers += (first + number for number in which)
                several.append(np.where(rows < 0, -1, start + rows))
            first, start = first + len(lot.reports), start + lot.height
        alike: dict[Hashable, tuple[Kind[Any], list[int], list[Ints]]] = {}
        for kind, which, rows_of_kind in of_kinds.values():
            _, numbers, several = alike.setdefault(kind.checked, (kind, [], []))
            numbers += which
            several += rows_of_kind
        for kind, numbers, several in alike.values():
            yield kind, numbers, np.concatenate(several, axis=1)


def _figures(kind: Kind[Any], measurements: pl.DataFrame, rows: Ints) -> list[Measurement]:
    """Return the figures of reports of a kind as columns, given the rows of each; -1 where it is missing."""
    are_missing = rows < 0
    value, low, high, line = (measurements[name].to_numpy()[rows] for name in ("value", "low", "high", "line"))
    for column in (value, low, high):
        column[are_missing] = np.nan
    lowest, highest = np.empty((2, *rows.shape))
    for some in blocks(len(rows), BLOCK // rows.shape[1] or 1):
        lowest[some], highest[some] = reach_of(value[some], low[some], high[some])
    texts = [TextColumn(measurements["text"], own) for own in rows]
    columns = zip(value, low, high, texts, line, zip(lowest, highest, strict=True), strict=True)
    return [
        MeasurementWithReach(**fields, **dict(zip(_COLUMNS, own, strict=True)))
        for fields, own in zip(kind.figures.fields, columns, strict=True)
    ]


_COLUMNS: Final = ("value", "low", "high", "text", "line", "reach")


class _Columns:
    """Columns of all lots. Each is made when it is needed, and taken from the lots, so that none is held twice."""

    def __init__(self, lots: Sequence[dict[str, Any]]) -> None:
        self._lots = lots

    def of(self, name: str) -> NDArray[Any]:
        """Return a column."""
        return np.concatenate([lot.pop(name) for lot in self._lots])

    def integers(self, name: str) -> pl.Series:
        """Return a column of integers."""
        return pl.Series(name, self.of(name).astype(np.int64, copy=False))

    def words(self, name: str) -> pl.Series:
        """Return a column of texts."""
        words: pl.Series = pl.concat([lot.pop(name) for lot in self._lots], rechunk=True)
        return words.alias(name)

    def floats(self, name: str) -> pl.Series:
        """Return a column of numbers, with null for NaN."""
        return pl.Series(name, self.of(name), nan_to_null=True)

    def counts(self, name: str) -> pl.Series:
        """Return a column of integers, with null for those below 0."""
        numbers = self.of(name)
        column, is_known = pl.Series(name, numbers), numbers >= 0
        if is_known.all():
            return column
        return column.zip_with(pl.Series(is_known), pl.Series([None], dtype=pl.Int64))


def _frame(rows: Iterable[Sequence[Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Return rows as a frame, built by column, which is far faster for many rows."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pl.DataFrame(
        [pl.Series(name, column, schema[name]) for name, column in zip(schema, columns, strict=True)]
    )


_RUN: Final[dict[str, Any]] = {
    "log": pl.Int64,
    **dict.fromkeys(("tool", "tool_version", "format", "filesystem", "host"), pl.String),
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
