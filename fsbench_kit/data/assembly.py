"""Builds the frames of a dataset from what was read of logs.

Each run is a row of facts; what belongs to it is in frames that refer to its number. The prints of one run are
merged, each run gets its id, and checks over the columns of all runs produce diagnostics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit.data.columns import FILE, RUN, Columns, FileRecords, diagnostics_of, series_of, settings_of
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.data.deduplication import Found, Marks, Remark, merged, same_runs
from fsbench_kit.data.deduplication.agreement import distinct, hashed, of_records, recur
from fsbench_kit.model.errors import legible
from fsbench_kit.model.records import Diagnostic
from fsbench_kit.model.rows import rows_of
from fsbench_kit.model.schema import MEASUREMENT_KEY, SCHEMAS
from fsbench_kit.model.vocabulary import DIAGNOSTICS, EITHER_LATENCY, ORIGINS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fsbench_kit.data.columns import Part
    from fsbench_kit.data.log import Log
    from fsbench_kit.model.records import Setting


@dataclass(frozen=True, eq=False)
class Assembly:
    """The frames of a dataset in which runs still have numbers instead of ids.

    Attributes
    ----------
    runs, diagnostics
        As in a dataset.
    of
        The file in which each run appears first; runs are sorted by it.
    belonging
        The frames of what belongs to runs, by name and in order of the runs; `RUN` stands for the ``run_id``.
    """

    runs: pl.DataFrame
    of: pl.Series
    belonging: dict[str, pl.DataFrame]
    diagnostics: pl.DataFrame

    @property
    def dataset(self) -> Dataset:
        """The dataset."""
        ids = self.runs["run_id"].rechunk()  # to gather from one piece is faster
        return Dataset(
            runs=self.runs,
            diagnostics=self.diagnostics,
            **{
                name: pl.DataFrame([ids[frame[RUN]], *(column for column in frame if column.name != RUN)])
                for name, frame in self.belonging.items()
            },
        )


def assemble(logs: Iterable[Log]) -> Dataset:
    """Build the frames from logs.

    A run that appears in several places or formats is merged into one; see `deduplication`. Its id is derived from
    the bytes of its most complete print. If equal bytes recur, but say too little to identify one run, an ordinal
    distinguishes them.
    """
    given = legibly(logs)
    return assembly(given, *found_in(given)).dataset


def assembly(logs: Sequence[Log], found: Found, diagnostics: pl.DataFrame, marks: Marks | None = None) -> Assembly:
    """Build the frames from the runs found in logs, the diagnostics of these, and the marks of the runs."""
    sets, remarks = same_runs(found, marks)
    of = found.facts["source"][list(map(min, sets))]
    found, more = _merged(found, sets)
    settings = _with_outside(found)
    runs = _runs_frame(found)
    measurements = found.columns.measurements
    each = of_records(found.keys, 2 * measurements[RUN].to_numpy() + measurements["primary"].to_numpy())
    is_repeated = measurements["primary"] & pl.Series(recur(each))
    checks = [
        (runs["source"][check.run], check.diagnostic) for check in _checks(found.columns, settings, is_repeated)
    ]
    own = diagnostics_of((remark.source, remark.diagnostic) for remark in (*remarks, *more))
    diagnostics = diagnostics_of(checks).vstack(diagnostics).vstack(own)
    belonging = {
        "settings": settings,
        "measurements": _primary_once(measurements, is_repeated),
        "distributions": found.columns.distributions,
        "series": found.columns.series,
    }
    return Assembly(runs, of, belonging, by_source(diagnostics, [log.source for log in logs]))


def legibly(logs: Iterable[Log]) -> list[Log]:
    """Return the logs with names that can be encoded."""
    return [
        log
        if (source := legible(log.source)) == log.source
        else replace(log, source=source, name=None if log.name is None else legible(log.name))
        for log in logs
    ]


def runs_of(part: Part) -> list[list[int]]:
    """Return the runs of a file in order, each as the numbers of all its prints."""
    columns = part.columns.picked(part.runs)
    nowhere = pl.DataFrame([_unknown(nothing, columns.runs.height) for nothing in _NO_FACTS])
    starts = columns.runs["start"].to_list()
    sets, _ = same_runs(Found(columns, nowhere, [()] * columns.runs.height))
    runs = sorted((sorted(numbers, key=starts.__getitem__) for numbers in sets), key=lambda run: starts[run[0]])
    return [[part.runs[number] for number in numbers] for numbers in runs]


_FACTS: Final = pl.Schema(
    {
        "source": pl.String(),
        "name": pl.String(),
        **{
            name: SCHEMAS["runs"][name]
            for name in (
                "study",
                "origin",
                "stage",
                "round",
                "order",
                "target",
                "workload",
                "tool_version",
                "filesystem",
                "host",
                "started_at",
                "ended_at",
                "duration",
                "status",
                "exit_code",
                "averaged_over",
            )
        },
    }
)
"""Where a run is printed, and what is known about it from outside its log."""


def found_in(logs: Sequence[Log]) -> tuple[Found, pl.DataFrame]:
    """Return the runs and the diagnostics of logs, both in the order of the logs."""
    columns = _with_series_beside(Columns.gathered(list(_parts(logs))), logs)
    of_run = [logs[number] for number in columns.runs[FILE]]
    each = zip(*map(attrgetter(*_FACTS), of_run), strict=True) if of_run else [()] * len(_FACTS)
    facts = pl.DataFrame([_fact(nothing, values) for nothing, values in zip(_NO_FACTS, each, strict=True)])
    settings = _outside(of_run, columns.runs["filesystem"])
    return Found(columns, facts, settings), _diagnostics(columns.diagnostics, logs)


def _fact(nothing: pl.Series, values: Sequence[Any]) -> pl.Series:
    """Return a column of facts, most of which are unknown in all logs."""
    if values.count(None) == len(values):
        return _unknown(nothing, len(values))
    return pl.Series(nothing.name, values, nothing.dtype)


def _unknown(nothing: pl.Series, number: int) -> pl.Series:
    """Return a column of nulls; `polars.Series.clear` would run a query for it."""
    return nothing.new_from_index(0, number)


_NO_FACTS: Final = [pl.Series(name, [None], kind) for name, kind in _FACTS.items()]
"""For each fact, a column with one null."""


def _diagnostics(found: pl.DataFrame, logs: Sequence[Log]) -> pl.DataFrame:
    """Return the diagnostics of logs with their sources and severities."""
    schema = SCHEMAS["diagnostics"]
    more = {
        "source": pl.Series([logs[number].source for number in found[FILE]], dtype=schema["source"]),
        "severity": pl.Series([_SEVERITIES[code] for code in found["code"]], dtype=schema["severity"]),
    }
    return pl.DataFrame([(more[name] if name in more else found[name]).alias(name) for name in schema])


_SEVERITIES: Final = {code: severity for code, (severity, _) in DIAGNOSTICS.items()}


def _with_series_beside(columns: Columns, logs: Sequence[Log]) -> Columns:
    """Attach the series that were measured beside each log to its first run."""
    if not any(log.beside for log in logs):
        return columns
    is_first = columns.runs[FILE].is_first_distinct()
    beside = [logs[log].beside if first else () for log, first in zip(columns.runs[FILE], is_first, strict=True)]
    return replace(columns, series=pl.concat([columns.series, series_of(beside)]).sort(RUN, maintain_order=True))


def _parts(logs: Sequence[Log]) -> Iterator[Part]:
    """Yield what was read of each log; records of all logs that have them are converted to columns together."""
    made = [
        FileRecords(number, log.records, log.sha256 or log.data)
        for number, log in enumerate(logs)
        if log.part is None
    ]
    own = Columns.of(made).files(len(logs)) if made else []
    for number, log in enumerate(logs):
        yield own[number] if log.part is None else log.part


def _outside(logs: Sequence[Log], filesystems: Iterable[str | None]) -> list[tuple[Setting, ...]]:
    """Return as settings what is known about runs from outside, given the log and the filesystem of each."""
    if not any(log.settings or log.filesystem_settings for log in logs):
        return [()] * len(logs)
    return [
        (*log.settings, *log.filesystem_settings.get(name or log.filesystem or "", ()))
        for log, name in zip(logs, filesystems, strict=True)
    ]


def _with_outside(found: Found) -> pl.DataFrame:
    """Return the settings of all runs, including those from outside their logs."""
    if not any(found.settings):
        return found.columns.settings
    return pl.concat([found.columns.settings, settings_of(found.settings)]).sort(RUN, maintain_order=True)


def _merged(found: Found, sets: Sequence[Sequence[int]]) -> tuple[Found, list[Remark]]:
    """Merge each set of records into one run; only sets of several records are rebuilt."""
    several = [numbers for numbers in sets if numbers[1:]]
    if not several:
        return found, []
    made, remarks = merged(found, several)
    of_several = count(len(found))
    order = [next(of_several) if numbers[1:] else numbers[0] for numbers in sets]
    settings = [*found.settings, *made.settings]
    return (
        Found(
            Columns.stacked([found.columns, made.columns]).picked(order),
            pl.concat([found.facts, made.facts])[order],
            [settings[number] for number in order],
        ),
        remarks,
    )


def _runs_frame(found: Found) -> pl.DataFrame:
    known = found.columns.runs.hstack([column.alias(f"outside.{column.name}") for column in found.facts])

    def outside(name: str) -> pl.Expr:
        return pl.col(f"outside.{name}")

    def is_in_either(status: str) -> pl.Expr:
        return (pl.col("status") == status) | (outside("status") == status).fill_null(value=False)

    columns = {name: outside(name) for name in (*_FACTS, "source") if name in SCHEMAS["runs"]}
    columns |= {name: pl.col(name) for name in ("tool", "start", "end", "line", "sha256")}
    # The log's own value, or else the one known from outside.
    columns |= {
        name: pl.coalesce(name, outside(name)) for name in ("tool_version", "filesystem", "host", "exit_code")
    }
    # All runs share the clock of the launch, and tools print whole seconds.
    columns |= {name: pl.coalesce(outside(name), name) for name in ("started_at", "ended_at", "duration")}
    worst = pl.when(is_in_either("failed")).then(pl.lit("failed"))
    columns["status"] = worst.when(is_in_either("partial")).then(pl.lit("partial")).otherwise(pl.lit("ok"))
    ordinal = pl.lit(1)
    if known["sha256"].n_unique() < known.height:
        ordinal = pl.int_range(1, pl.len() + 1).over("sha256")
    columns["run_id"] = pl.format("{}-{}", pl.col("sha256").str.slice(0, 16), ordinal)
    schema = SCHEMAS["runs"]
    return known.select_seq(columns[name].cast(kind).alias(name) for name, kind in schema.items())


def by_source(diagnostics: pl.DataFrame, sources: Iterable[str]) -> pl.DataFrame:
    """Sort diagnostics by the order in which their files were given."""
    order = {source: index for index, source in enumerate(dict.fromkeys(sources))}
    places = np.array([order[source] for source in diagnostics["source"].to_list()])
    return rows_of(diagnostics, np.argsort(places, kind="stable"))


# Checks


@dataclass(frozen=True, slots=True)
class _Check:
    """The finding of a check about a run."""

    run: int
    diagnostic: Diagnostic


def _checks(columns: Columns, settings: pl.DataFrame, is_repeated: pl.Series) -> list[_Check]:
    """Check all runs at once, and return the findings in the order of the runs.

    `is_repeated` flags primary measurements that share their key with other primary ones of the run.
    """
    measurements = columns.measurements
    found = [
        *_uncountable(columns.too_large),
        *_disagreements(settings),
        *_other_jobs(settings, measurements),
        *_unnamed_latencies(measurements),
        *_repeated(measurements, is_repeated),
    ]
    return sorted(found, key=lambda check: check.run)


def _uncountable(numbers: pl.DataFrame) -> Iterator[_Check]:
    """Report, once each, the numbers that are too large for any column and therefore unknown."""
    if numbers.is_empty():
        return
    first = numbers.unique([RUN, "column", "number"], keep="first", maintain_order=True)
    for run, column, number, line in first.iter_rows():
        what = column.replace("_", " ")
        message = f"The {what} cannot be kept, because the number is too large; the value is null."
        yield _Check(run, Diagnostic(code="UNREAD_FIGURE", message=message, line=line, excerpt=number))


def _disagreements(settings: pl.DataFrame) -> Iterator[_Check]:
    """Find settings whose values from different origins disagree."""
    if settings["origin"].n_unique() < 2:
        return
    place = (RUN, "scope", "part", "key")
    telling = rows_of(settings, np.flatnonzero(settings["key"] != "command"))
    if distinct(hashed(telling, place)) == distinct(hashed(telling, (*place, "value"))):
        return
    differing = telling.filter(
        pl.col("origin").n_unique().over(place) > 1, pl.col("value").n_unique().over(place) > 1
    )
    for (_, _, _, key), rows in differing.group_by(place, maintain_order=True):
        known = rows.select("origin", "value", "line").rows()
        origin, value, line = min(known, key=lambda row: ORIGINS.index(row[0]))
        for other_origin, other, _ in known:
            if other != value and other_origin != origin:
                names = _ORIGIN_NAMES[origin], _ORIGIN_NAMES[other_origin]
                message = f"{key} is {value} according to {names[0]}, but {other} according to {names[1]}."
                yield _Check(rows[RUN][0], Diagnostic(code="SETTINGS_DISAGREE", message=message, line=line))


_ORIGIN_NAMES: Final = {
    "log": "the log",
    "command": "the command that ran",
    "environment": "the machine's own record",
    "study": "the study's description",
    "name": "the file's name",
    "stated": "the article",
}


def _other_jobs(settings: pl.DataFrame, measurements: pl.DataFrame) -> Iterator[_Check]:
    """Find runs for which an article states the command of a job other than those measured in the log."""
    is_job = settings["key"] == "job_name"
    if not is_job.any() or not (is_stated := is_job & (settings["origin"] == "stated")).any():
        return
    stated = settings.filter(is_stated)
    jobs = (
        measurements.filter(pl.col("part").is_not_null(), scope="job")
        .group_by(RUN, "part", maintain_order=True)
        .agg(pl.col("line").last())
        .group_by(RUN, maintain_order=True)
        .agg("part", "line")
    )
    names_stated = stated.group_by(RUN, maintain_order=True).agg("value")
    for run, names, parts, lines in names_stated.join(jobs, on=RUN).rows():
        if not set(names) & set(parts):
            others = ", ".join(dict.fromkeys(names))
            message = f"job_name is {', '.join(parts)} in the log, but {others} in the article."
            yield _Check(run, Diagnostic(code="SETTINGS_DISAGREE", message=message, line=lines[0]))


def _unnamed_latencies(measurements: pl.DataFrame) -> Iterator[_Check]:
    """Find runs with a latency that neither the log nor another print of the run names."""
    if not (is_unnamed := measurements["metric"] == EITHER_LATENCY).any():
        return
    unnamed = measurements.filter(is_unnamed)
    for run, line in unnamed.unique(RUN, keep="first", maintain_order=True).select(RUN, "line").rows():
        message = (
            "Terse output does not say whether its percentiles are of the completion latency or, "
            "with lat_percentiles, of the total one."
        )
        yield _Check(run, Diagnostic(code="UNNAMED_LATENCY", message=message, line=line))


def _repeated(measurements: pl.DataFrame, is_repeated: pl.Series) -> Iterator[_Check]:
    """Find primary measurements that have the same key as an earlier one of their run."""
    if not is_repeated.any():
        return
    for _, rows in measurements.filter(is_repeated).group_by(RUN, *MEASUREMENT_KEY, maintain_order=True):
        first, *others = rows.rows(named=True)
        for item in others:
            message = (
                f"{item['metric']} ({item['statistic']}) of {item['operation']} appears twice: "
                f"{first['text']} on line {first['line']}, and {item['text']}."
            )
            diagnostic = Diagnostic(
                code="DUPLICATE_FIGURE", message=message, line=item["line"], excerpt=item["text"]
            )
            yield _Check(item[RUN], diagnostic)


def _primary_once(measurements: pl.DataFrame, is_repeated: pl.Series) -> pl.DataFrame:
    """Keep only the first primary measurement of each key primary."""
    if not is_repeated.any():
        return measurements
    is_first = pl.struct(RUN, "primary", *MEASUREMENT_KEY).is_first_distinct()
    return measurements.with_columns(primary=pl.col("primary") & is_first)
