"""Combines the contents of logs into frames."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit import formats
from fsbench_kit.formats.clean.groups import SHARE, Group, LogDiagnostic, Read
from fsbench_kit.formats.clean.numbers import Floats, Indexes
from fsbench_kit.model.records import Run
from fsbench_kit.model.rows import rows_of
from fsbench_kit.model.schema import SCHEMAS


@dataclass(frozen=True)
class CleanLogs:
    """Columns of `fsbench_kit.model.records` for many logs; ``log`` is the index of each row's log.

    The identity of a run is null or a list of alternating names and values.
    """

    runs: pl.DataFrame
    settings: pl.DataFrame
    measurements: pl.DataFrame
    distributions: pl.DataFrame
    series: pl.DataFrame
    diagnostics: pl.DataFrame


def _schema(name: str, *left_out: str) -> dict[str, Any]:
    """Return the columns of a final frame, without some of them."""
    return {column: kind for column, kind in SCHEMAS[name].items() if column not in left_out}


_RUN: Final = {name: kind for name, kind in _schema("runs").items() if name in Run.__slots__} | {
    "status": pl.String(),
    "format": pl.String(),
    "identity": pl.String(),
}
_SETTING: Final = _schema("settings", "run_id")
_MEASUREMENT: Final = _schema("measurements", "run_id")
_BIN: Final = _schema("distributions", "run_id")
_POINT: Final = _schema("series", "run_id")
_DIAGNOSTIC: Final = {"log": pl.Int64()} | _schema("diagnostics", "source", "severity")


@dataclass
class _Table:
    """Rows of examples, the rows of each log among them, and the columns that differ between logs."""

    schema: dict[str, Any]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    picks: list[Indexes] = field(default_factory=list)
    logs: list[Indexes] = field(default_factory=list)
    own: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))

    def add(
        self, rows: Sequence[tuple[Any, ...]], logs: Indexes, picks: Indexes | None = None, /, **own: Any
    ) -> None:
        """Add the rows of some logs.

        Parameters
        ----------
        rows
            The rows that each log has or, with `picks`, from which the rows of each log are picked.
        logs
            The logs.
        picks
            The indices of each log's rows, one row per log.
        own
            Columns over all of these rows, log by log; ``None`` to use the values in `rows`.
        """
        picks = np.tile(np.arange(len(rows)), (len(logs), 1)) if picks is None else picks
        self.picks.append(len(self.rows) + picks.ravel())
        self.rows += rows
        self.logs.append(np.repeat(logs, picks.shape[1]))
        for name, values in own.items():
            self.own[name].append(values.ravel() if isinstance(values, np.ndarray) else values)

    def frame(self) -> pl.DataFrame:
        """Return the rows in the order of the logs."""
        if not self.rows:
            return pl.DataFrame(schema={"log": pl.Int64(), **self.schema})
        examples = dict(zip(self.schema, zip(*self.rows, strict=True), strict=True))
        logs, picks = np.concatenate(self.logs), np.concatenate(self.picks)
        order = np.argsort(logs, kind="stable")
        order = order[np.searchsorted(logs[order], 0) :]  # without remembered examples
        own = {
            name: self._column(name, examples.pop(name), order)
            for name, parts in self.own.items()
            if any(part is not None for part in parts)
        }
        shared = [pl.Series(name, values, self.schema[name]) for name, values in examples.items()]
        rows = rows_of(pl.DataFrame(shared), picks[order])
        of_logs = (own[name] if name in own else rows[name] for name in self.schema)
        return pl.DataFrame([pl.Series("log", logs[order]), *of_logs])

    def _column(self, name: str, of_examples: Sequence[Any], order: NDArray[np.intp]) -> pl.Series:
        kind = self.schema[name]
        parts: list[Any] = self.own[name]
        is_float = name == "line" or kind == pl.Float64  # in which null is NaN
        if any(part is None for part in parts):
            known = np.array(of_examples, np.float64) if is_float else pl.Series(of_examples, dtype=kind)
            parts = [known[picks] if part is None else part for part, picks in zip(parts, self.picks, strict=True)]
        if is_float:
            values = np.concatenate([np.asarray(part, np.float64) for part in parts])
            return pl.Series(name, values[order], nan_to_null=True).cast(kind)
        if all(isinstance(part, pl.Series) for part in parts):
            whole: pl.Series = pl.concat(parts)
            return whole[order].alias(name)
        return pl.Series(name, list(chain.from_iterable(parts)), dtype=kind)[order]


@dataclass
class Collector:
    """The rows of all logs."""

    runs: _Table = field(default_factory=lambda: _Table(_RUN))
    settings: _Table = field(default_factory=lambda: _Table(_SETTING))
    measurements: _Table = field(default_factory=lambda: _Table(_MEASUREMENT))
    distributions: _Table = field(default_factory=lambda: _Table(_BIN))
    series: _Table = field(default_factory=lambda: _Table(_POINT))
    diagnostics: list[LogDiagnostic] = field(default_factory=list)

    @property
    def has_any(self) -> bool:
        """Whether there are any logs."""
        return bool(self.runs.rows)

    def add(self, read: Read, diagnostics: Iterable[LogDiagnostic]) -> None:
        """Add logs that are read like their examples."""
        group = read.group
        indexes = np.array([log.at for log in group.logs], dtype=np.int64)
        self.diagnostics += (item for item in diagnostics if item.log >= 0)
        self._add_runs(read, indexes)
        self._add_settings(group, indexes)
        self._add_measurements(read, indexes)
        bins = group.example.bins
        self.distributions.add(list(map(_bin_row, bins)), indexes, share=read.shares, line=group.lines(bins))
        self._add_loose_bins(group)
        self._add_series(group, indexes)

    def _add_runs(self, read: Read, indexes: Indexes) -> None:
        group, example, logs = read.group, read.group.example, read.group.logs
        durations = [example.run.duration] * len(logs)
        timed = {
            column: item.value
            for column, item in enumerate(example.run.measurements)
            if example.clean.duration == item.metric and item.value
        }
        if timed and example.run.duration == max(timed.values()):
            durations = read.value[:, list(timed)].max(axis=1).tolist()
        starts, ends = zip(*(log.span for log in logs), strict=True)
        own: dict[str, Any] = {"start": starts, "end": ends, "duration": durations, "identity": _identity(group)}
        own["format"] = [formats.name(example.owner)] * len(logs)
        if any(log.dates for log in logs):
            clocks = [example.clean.clock(log.dates) for log in logs]
            own |= {name: [clock[name] for clock in clocks] for name in _CLOCK}
        else:
            own |= dict.fromkeys(_CLOCK)  # as in the example
        self.runs.add(
            [_run_row(each.run) for each in group.examples], indexes, np.array(group.which)[:, None], **own
        )

    def _add_settings(self, group: Group, indexes: Indexes) -> None:
        items = [item for each in group.examples for item in each.run.settings]
        width = len(group.example.run.settings)
        values = [item.value for number in group.which for item in group.examples[number].run.settings]
        for position, own in group.settings.items():
            values[position::width] = own
        picks = width * np.array(group.which)[:, None] + np.arange(width)
        lines = group.lines(group.example.run.settings)
        self.settings.add(list(map(_setting_row, items)), indexes, picks, value=values, line=lines)

    def _add_measurements(self, read: Read, indexes: Indexes) -> None:
        group, items = read.group, read.group.example.run.measurements
        rows, picks = _picked(group, read.value)
        samples = None
        if group.example.samples:
            of_rows = map(itemgetter(list(_MEASUREMENT).index("samples")), rows)
            samples = pl.Series(list(of_rows), dtype=_MEASUREMENT["samples"])[picks.ravel()]
            printed = group.words(group.example.samples.values())
            for column, words in zip(group.example.samples, printed, strict=True):
                samples.scatter(np.arange(column, picks.size, picks.shape[1]), list(map(int, words)))
        own = {"text": read.texts, "value": read.value, "low": read.low, "high": read.high}
        self.measurements.add(rows, indexes, picks, **own, samples=samples, line=group.lines(items))

    def _add_loose_bins(self, group: Group) -> None:
        """Add the bins on optional lines."""
        rows: dict[tuple[object, ...], int] = {}
        found = [
            (rows.setdefault(known, len(rows)), log.at, line, log.first + share)
            for log in group.logs
            if log.layout is not None
            for known, line, share in group.known_lines.bins_of(log.layout, log.labels(group.numbers))
        ]
        if found:
            picks, logs, lines, places = zip(*found, strict=True)
            shares, _, _ = group.numbers.quantities(np.array(places), [SHARE.how], np.zeros(len(places), np.int64))
            names = "operation", "scope", "part", "metric", "low", "high"
            bins = [tuple(dict(zip(names, known, strict=True)).get(name) for name in _BIN) for known in rows]
            own = {"share": shares, "line": lines}
            self.distributions.add(bins, np.array(logs, np.int64), np.array(picks)[:, None], **own)

    def _add_series(self, group: Group, indexes: Indexes) -> None:
        example = group.example
        points = [
            (block.part, block.operation, block.metric, block.statistic, time, None)
            for block in example.blocks
            for time in block.times
        ]
        units = [block.unit for block, each in zip(example.blocks, example.points, strict=True) for _ in each]
        printed = group.words(chain.from_iterable(example.points))
        columns = [
            np.array(words, dtype=np.float64) * by / over for words, (by, over) in zip(printed, units, strict=True)
        ]
        self.series.add(points, indexes, value=np.array(columns).T)

    def logs(self) -> CleanLogs:
        """Return the frames."""
        distributions = self.distributions.frame()
        if not distributions.is_empty():
            distributions = distributions.sort("log", "line", maintain_order=True)
        of_logs = sorted(self.diagnostics, key=attrgetter("log"))
        diagnostics = dict(zip(LogDiagnostic._fields, zip(*of_logs, strict=True), strict=False))
        return CleanLogs(
            _with_lists(self.runs.frame()),
            self.settings.frame(),
            self.measurements.frame(),
            distributions,
            self.series.frame(),
            pl.DataFrame(diagnostics, schema=_DIAGNOSTIC),
        )


_CLOCK: Final = ("started_at", "ended_at")


def _with_lists(runs: pl.DataFrame) -> pl.DataFrame:
    """Return runs with their identities as lists, split by Polars, which is far faster than making Python's lists.

    Mostly no run has an identity, and no query is needed.
    """
    place, words = runs.get_column_index("identity"), runs["identity"]
    if words.null_count() == len(words):
        lists = pl.Series("identity", [None], pl.List(pl.String)).new_from_index(0, len(words))
    else:
        lists = words.str.split("\0")
    return runs.replace_column(place, lists)


_run_row, _setting_row, _measurement_row, _bin_row = (
    attrgetter(*schema) for schema in (_RUN, _SETTING, _MEASUREMENT, _BIN)
)


def _identity(group: Group) -> list[str] | list[None]:
    r"""Return the identity of each run as alternating names and values, separated by ``\0``."""
    example = group.example
    words = [word for pair in example.run.identity for word in pair]
    if not words:
        return [None] * len(group.logs)
    found = [words[:] for _ in group.logs]
    for position, values in group.settings.items():
        key = example.run.settings[position].key
        for place in (2 * at + 1 for at, pair in enumerate(example.run.identity) if pair[0] == key):
            for of_log, number in zip(found, values, strict=True):
                of_log[place] = number
    printed = iter(group.words(place for place in example.identity if place >= 0))
    for at, place in enumerate(example.identity):
        own = next(printed) if place >= 0 else [log.dates[place] for log in group.logs]
        for of_log, word in zip(found, own, strict=True):
            of_log[2 * at + 1] = word
    return ["\0".join(of_log) for of_log in found]


def _picked(group: Group, value: Floats) -> tuple[list[tuple[Any, ...]], Indexes]:
    """Return the possible rows of measurements, by the settings that they repeat and by 0, and the picks."""
    example, repeated = group.example, group.repeated
    sets: dict[tuple[int, ...], int] = {}
    of_sets = [sets.setdefault(row, len(sets)) for row in zip(*repeated.values(), strict=True)]
    which = np.array(of_sets or [0] * len(group.logs))
    zeros = {column: zero for column, zero in enumerate(example.zeros) if zero is not None}
    names = list(_MEASUREMENT)
    of_settings, state = [names.index(name) for name in repeated], names.index("state")
    known = [list(_measurement_row(item)) for item in example.run.measurements]
    for column in zeros:
        known[column][state] = "measured"
    rows = []
    for numbers in sets or [()]:
        for row in known:
            for place, number in zip(of_settings, numbers, strict=True):
                if row[place] is not None:
                    row[place] = number
            rows.append(tuple(row))
    ordinary, width = len(rows), len(known)
    picks = width * which[:, None] + np.arange(width)
    for column, zero in zeros.items():
        is_zero = np.isnan(value[:, column])
        picks[is_zero, column] = len(rows) + which[is_zero]
        rows += [(*row[:state], zero, *row[state + 1 :]) for row in rows[column:ordinary:width]]
    return rows, picks
