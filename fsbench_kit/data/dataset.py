"""Records as six Polars frames, which are what everybody works with."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import polars as pl

from fsbench_kit.data.deduplication import Printing, figure_key, fold, same_runs
from fsbench_kit.model.errors import InputError, RequestError
from fsbench_kit.model.records import Bin, Bins, Block, Diagnostic, Distributions, Measurement, Run, Setting
from fsbench_kit.model.vocabulary import EITHER_LATENCY, ORIGINS, SCOPES, STAGES, STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from os import PathLike

    from fsbench_kit.documents import Contents
    from fsbench_kit.model.records import Record

StudyOrigin = Literal["published", "recorded", "launched"]

_STATUS: Final = pl.Enum(["ok", "failed", "partial"])
_STUDY_ORIGIN: Final = pl.Enum(["published", "recorded", "launched"])
_STAGE: Final = pl.Enum(STAGES)
_SEVERITY: Final = pl.Enum(["note", "warning", "error"])

RUNS: Final = {
    "run_id": pl.String,
    "study": pl.String,
    "origin": _STUDY_ORIGIN,
    "stage": _STAGE,
    "round": pl.Int64,
    "order": pl.Int64,
    "target": pl.String,
    "workload": pl.String,
    "tool": pl.String,
    "tool_version": pl.String,
    "filesystem": pl.String,
    "host": pl.String,
    "started_at": pl.Datetime("us"),
    "ended_at": pl.Datetime("us"),
    "duration": pl.Float64,
    "status": _STATUS,
    "exit_code": pl.Int64,
    "averaged_over": pl.Int64,
    "source": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
    "line": pl.Int64,
    "sha256": pl.String,
}
SETTINGS: Final = {
    "run_id": pl.String,
    "scope": pl.Enum(SCOPES),
    "part": pl.String,
    "key": pl.String,
    "value": pl.String,
    "origin": pl.Enum(ORIGINS),
    "line": pl.Int64,
}
MEASUREMENTS: Final = {
    "run_id": pl.String,
    "scope": pl.Enum(SCOPES),
    "part": pl.String,
    "operation": pl.String,
    "block_size": pl.Int64,
    "file_size": pl.Int64,
    "threads": pl.Int64,
    "metric": pl.String,
    "statistic": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "state": pl.Enum(STATES),
    "low": pl.Float64,
    "high": pl.Float64,
    "samples": pl.Int64,
    "text": pl.String,
    "line": pl.Int64,
    "primary": pl.Boolean,
}
DISTRIBUTIONS: Final = {
    "run_id": pl.String,
    "scope": pl.Enum(SCOPES),
    "part": pl.String,
    "operation": pl.String,
    "metric": pl.String,
    "low": pl.Float64,
    "high": pl.Float64,
    "count": pl.Int64,
    "share": pl.Float64,
    "line": pl.Int64,
}
SERIES: Final = {
    "run_id": pl.String,
    "part": pl.String,
    "operation": pl.String,
    "metric": pl.String,
    "statistic": pl.String,
    "time": pl.Float64,
    "value": pl.Float64,
}
DIAGNOSTIC_COLUMNS: Final = {
    "source": pl.String,
    "line": pl.Int64,
    "start": pl.Int64,
    "end": pl.Int64,
    "severity": _SEVERITY,
    "code": pl.String,
    "message": pl.String,
    "excerpt": pl.String,
}
FRAMES: Final[dict[str, Mapping[str, Any]]] = {
    "runs": RUNS,
    "settings": SETTINGS,
    "measurements": MEASUREMENTS,
    "distributions": DISTRIBUTIONS,
    "series": SERIES,
    "diagnostics": DIAGNOSTIC_COLUMNS,
}
SCHEMA: Final = 1
"""The version of the frames, which the files of a dataset carry."""
_SCHEMA_KEY: Final = "fsbench_kit.schema"

FIGURE_KEY: Final = (
    "run_id",
    "scope",
    "part",
    "operation",
    "block_size",
    "file_size",
    "threads",
    "metric",
    "statistic",
)
"""The columns that name a figure: unique among primary measurements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A file's records, with what is known of them from outside the file.

    Attributes
    ----------
    source
        The file's path, as people name it.
    name
        Its path within its study.
    data
        The file's bytes, or those of them in which runs stand, which identify the runs.
    settings
        Settings that hold for every run of the file, from the study or the launch.
    filesystem_settings
        Settings that hold for the runs on one filesystem.
    tool_version, filesystem, ...
        Facts that stand in for what the log itself does not say.
    """

    source: str
    name: str | None = None
    data: bytes | Contents = b""
    records: Sequence[Record] = ()
    study: str | None = None
    origin: StudyOrigin | None = None
    stage: str | None = None
    round: int | None = None
    order: int | None = None
    target: str | None = None
    workload: str | None = None
    tool_version: str | None = None
    filesystem: str | None = None
    host: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    duration: float | None = None
    status: str | None = None
    exit_code: int | None = None
    averaged_over: int | None = None
    settings: tuple[Setting, ...] = ()
    filesystem_settings: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Runs and all that is known of them, as six frames.

    Attributes
    ----------
    runs, settings, measurements, distributions, series, diagnostics
        Polars frames; their columns are the constants of this module. Unknown is null.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> data.runs.height
    8
    """

    runs: pl.DataFrame
    settings: pl.DataFrame
    measurements: pl.DataFrame
    distributions: pl.DataFrame
    series: pl.DataFrame
    diagnostics: pl.DataFrame

    def select(self, *predicates: pl.Expr) -> Dataset:
        """Keep the runs for which all predicates over `runs` hold, and what belongs to them.

        Diagnostics are kept for the files in which those runs stand.
        """
        runs = self.runs.filter(*predicates)
        return Dataset(
            runs=runs,
            settings=self.settings.join(runs, on="run_id", how="semi"),
            measurements=self.measurements.join(runs, on="run_id", how="semi"),
            distributions=self.distributions.join(runs, on="run_id", how="semi"),
            series=self.series.join(runs, on="run_id", how="semi"),
            diagnostics=self.diagnostics.join(runs, on="source", how="semi"),
        )

    def flat(self) -> pl.DataFrame:
        """Return one row for each measurement, joined with its run's columns.

        A run's own line is called ``run_line``; a measurement's is ``line``.
        """
        runs = self.runs.rename({"line": "run_line"})
        return self.measurements.join(runs, on="run_id", how="left", validate="m:1")

    def write(self, target: str | PathLike[str]) -> None:
        """Write the data to a file or a folder.

        Parameters
        ----------
        target
            ``*.parquet``, ``*.csv`` or ``*.json``: one flat table. A folder, or a name without an ending: the
            six frames as Parquet files in that folder, from which `fsbench_kit.read` gives the same data back.

        Raises
        ------
        RequestError
            If the ending is another one.
        """
        target = Path(target)
        if target.is_dir() or not target.suffix:
            target.mkdir(parents=True, exist_ok=True)
            for name in FRAMES:
                frame: pl.DataFrame = getattr(self, name)
                frame.write_parquet(target / f"{name}.parquet", metadata={_SCHEMA_KEY: str(SCHEMA)})
            return
        writers: dict[str, Callable[[Path], None]] = {
            ".parquet": self.flat().write_parquet,
            ".csv": self.flat().write_csv,
            ".json": self.flat().write_json,
        }
        if target.suffix not in writers:
            raise RequestError(
                f"cannot write a table as {target.suffix!r}",
                file=target,
                hint="Give a file that ends in .parquet, .csv or .json, or a folder.",
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        writers[target.suffix](target)


def is_written(folder: Path) -> bool:
    """Whether a folder holds a dataset that `Dataset.write` wrote."""
    return all((folder / f"{name}.parquet").is_file() for name in ("runs", "measurements"))


def read_written(folder: Path) -> Dataset:
    """Read a dataset that `Dataset.write` wrote.

    Raises
    ------
    InputError
        If a file is missing, damaged, or lacks what its frame has to have.
    """
    frames = {name: _read_frame(folder / f"{name}.parquet", columns) for name, columns in FRAMES.items()}
    version = pl.read_parquet_metadata(folder / "runs.parquet").get(_SCHEMA_KEY, "")
    if version.isdecimal() and int(version) > SCHEMA:
        message = f"A newer version of fsbench_kit wrote the dataset (schema {version}, not {SCHEMA})."
        newer = _remarks({str(folder): Diagnostic(code="NEWER_RECORD", message=message)})
        frames["diagnostics"] = pl.concat([newer, frames["diagnostics"]])
    return Dataset(**frames)


def _remarks(by_source: Mapping[str, Diagnostic]) -> pl.DataFrame:
    frames = _Frames()
    for source, diagnostic in by_source.items():
        frames.add_diagnostics(source, [diagnostic])
    return frames.dataset(by_source).diagnostics


def _read_frame(path: Path, columns: Mapping[str, Any]) -> pl.DataFrame:
    if not path.is_file():
        raise InputError("it has no such file", file=path)
    try:
        frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
        return frame.select(pl.col(name).cast(kind) for name, kind in columns.items())
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(str(error).partition("\n")[0], file=path) from error


def combined(datasets: Sequence[Dataset]) -> Dataset:
    """Put datasets together; a run that several of them have counts once.

    It is the same run where everything is equal that is known of it, but for the folder in which its log stood.
    """
    whole, *others = (data for data in datasets if not (data.runs.is_empty() and data.diagnostics.is_empty()))
    for other in others:
        whole = _joined(whole, other)
    return whole


def _joined(whole: Dataset, other: Dataset) -> Dataset:
    known = _facts(whole.runs)
    new = other.runs.filter(~_facts(other.runs).is_in(known.implode()))
    ids = set(whole.runs["run_id"])
    names = {}
    for run_id in new["run_id"]:
        stem, _, ordinal = run_id.rpartition("-")
        names[run_id] = next(name for k in count(int(ordinal)) if (name := f"{stem}-{k}") not in ids)
        ids.add(names[run_id])
    frames = {name: getattr(other, name) for name in FRAMES}
    counted = [run["source"] for run in other.runs.iter_rows(named=True) if run["run_id"] not in names]
    # What is said of a log whose runs are known is known as well.
    said = frames.pop("diagnostics")
    said = said.filter(~pl.col("source").is_in(set(counted) - set(new["source"])))
    said = said.join(whole.diagnostics, on=said.columns, how="anti", nulls_equal=True, maintain_order="left")
    same = Diagnostic(
        code="SAME_RUN", message="A dataset that was written before holds it as well; it counts once."
    )
    said = pl.concat([_remarks(dict.fromkeys(counted, same)), said])
    kept = {
        name: frame.join(new, on="run_id", how="semi", maintain_order="left").with_columns(
            pl.col("run_id").replace(names)
        )
        for name, frame in frames.items()
    }
    return Dataset(
        **{name: pl.concat([getattr(whole, name), frame]) for name, frame in {**kept, "diagnostics": said}.items()}
    )


def _facts(runs: pl.DataFrame) -> pl.Series:
    """Return what is known of each run, apart from where its log stands on the disk."""
    name = pl.col("source").str.split("/").list.last()
    return runs.select(pl.struct(pl.exclude("run_id", "source"), name.alias("file"))).to_series()


def assemble(logs: Iterable[Log]) -> Dataset:
    """Build the frames from logs.

    Several printings of a run are one run; see `deduplication`. A run is identified by the bytes of its
    main printing. Where equal bytes recur that tell too little to be known for one run, their ordinal tells them
    apart.
    """
    given = list(logs)
    sets, remarks = same_runs([printing for log in given for printing in _printings(log)])
    frames = _Frames()
    for printings in sets:
        printing, more = fold(printings)
        frames.add_run(printing)
        remarks += more
    for log in given:
        frames.add_diagnostics(log.source, (record for record in log.records if isinstance(record, Diagnostic)))
    for remark in remarks:
        frames.add_diagnostics(remark.source, [remark.diagnostic])
    return frames.dataset([log.source for log in given])


def runs_of(log: Log) -> list[list[Run]]:
    """Return the runs of a file in their order, each with all its printings."""
    sets, _ = same_runs(list(_printings(log)))
    runs = [sorted((printing.run for printing in printings), key=lambda run: run.start) for printings in sets]
    return sorted(runs, key=lambda printed: printed[0].start)


UNMEASURED: Final = pl.col("stage").is_in(["precondition", "warm-up"]).fill_null(value=False)
"""Whether a run was made before those that count. It is never compared."""

_FACTS: Final = (
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
"""What is known of a run from outside its log."""


def _printings(log: Log) -> Iterator[Printing]:
    """Yield the runs that a file prints, each with the blocks that follow it."""
    blocks: dict[int, list[Block]] = {}
    runs: list[Run] = []
    for record in log.records:
        match record:
            case Run():
                runs.append(record)
            case Block():
                blocks.setdefault(len(runs), []).append(record)
    for number, run in enumerate(runs, 1):
        sha256 = hashlib.sha256(log.data[run.start : run.end]).hexdigest()
        names: set[Hashable] = {("file", log.source, run.start, sha256)}
        if log.study is not None and log.name is not None:
            names.add(("study", log.study, log.name, run.start, sha256))
        yield Printing(
            run=run,
            blocks=tuple(blocks.get(number, ())),
            source=log.source,
            sha256=sha256,
            names=frozenset(names),
            facts={name: getattr(log, name) for name in _FACTS},
            settings=(*log.settings, *log.filesystem_settings.get(run.filesystem or log.filesystem or "", ())),
        )


Row = dict[str, Any]


class _Frames:
    """Collects the rows of the six frames."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._frames: dict[str, list[Row]] = {frame.name: [] for frame in fields(Dataset)}
        self._bins: list[tuple[str, Bins]] = []
        self._series: list[pl.DataFrame] = []

    def add_run(self, printing: Printing) -> None:
        """Add a run and all that belongs to it."""
        self._seen[printing.sha256] += 1
        run_id = f"{printing.sha256[:16]}-{self._seen[printing.sha256]}"
        run, facts = printing.run, printing.facts
        self._frames["runs"].append(
            {
                **facts,
                "run_id": run_id,
                "tool": run.tool,
                "tool_version": run.tool_version or facts["tool_version"],
                "filesystem": run.filesystem or facts["filesystem"],
                "host": run.host or facts["host"],
                # A launch takes its times itself, by one clock for all runs; tools print theirs in whole seconds.
                "started_at": facts["started_at"] or run.started_at,
                "ended_at": facts["ended_at"] or run.ended_at,
                "duration": facts["duration"] if facts["duration"] is not None else run.duration,
                "status": _worst(run.status, facts["status"]),
                "exit_code": run.exit_code if run.exit_code is not None else facts["exit_code"],
                "source": printing.source,
                "start": run.start,
                "end": run.end,
                "line": run.line,
                "sha256": printing.sha256,
            }
        )
        settings = [*run.settings, *printing.settings]
        repeated = list(_repeated(run.measurements))
        uncountable: list[Diagnostic] = []
        figures = _rows(run_id, run.measurements, uncountable)
        for index, _ in repeated:
            figures[index]["primary"] = False
        self._frames["settings"] += _rows(run_id, settings, uncountable)
        self._frames["measurements"] += figures
        bins = run.bins if isinstance(run.bins, Distributions) else _countable(run.bins, uncountable)
        self._bins += [(run_id, columns) for columns in Distributions.of(bins).columns]
        self._series += [_series_frame(run_id, block) for block in printing.blocks]
        self.add_diagnostics(printing.source, uncountable)
        self.add_diagnostics(printing.source, _disagreements(settings))
        self.add_diagnostics(printing.source, _other_job(settings, run.measurements))
        self.add_diagnostics(printing.source, _unnamed_latency(run.measurements))
        self.add_diagnostics(printing.source, (diagnostic for _, diagnostic in repeated))

    def add_diagnostics(self, source: str, diagnostics: Iterable[Diagnostic]) -> None:
        """Add what is to be said about a file."""
        self._frames["diagnostics"] += [
            {**_row(item), "source": source, "severity": item.severity} for item in diagnostics
        ]

    def dataset(self, sources: Iterable[str]) -> Dataset:
        """Return the frames, with the diagnostics in the order of their files."""
        order = {source: index for index, source in enumerate(dict.fromkeys(sources))}
        self._frames["diagnostics"].sort(key=lambda row: order[row["source"]])

        def frame(name: str, schema: Mapping[str, Any]) -> pl.DataFrame:
            return pl.DataFrame(self._frames[name], schema=schema, orient="row")

        return Dataset(
            runs=frame("runs", RUNS),
            settings=frame("settings", SETTINGS),
            measurements=frame("measurements", MEASUREMENTS),
            distributions=_distributions(self._bins),
            series=pl.concat([pl.DataFrame(schema=SERIES), *self._series]),
            diagnostics=frame("diagnostics", DIAGNOSTIC_COLUMNS),
        )


def _row(item: Diagnostic | Measurement | Setting) -> Row:
    """Return the columns that a record has of itself."""
    return {name: getattr(item, name) for name in _COLUMNS[type(item)]}


def _rows(run_id: str, items: Iterable[Measurement | Setting], uncountable: list[Diagnostic]) -> list[Row]:
    """Return the rows of records; whole numbers that no column holds are unknown, and said to be so once each."""
    rows = [{"run_id": run_id, **_row(item)} for item in items]
    known: set[tuple[str, int]] = set()
    names = _COUNTED & rows[0].keys() if rows else set()
    for row in rows:
        for name in names:
            number = row[name]
            if number is None or number <= _LARGEST:
                continue
            row[name] = None
            if (name, number) not in known:
                known.add((name, number))
                uncountable.append(_too_large(name, number, row["line"]))
    return rows


def _too_large(name: str, number: int, line: int | None) -> Diagnostic:
    message = f"The {name.replace('_', ' ')} is larger than anything that can be counted."
    return Diagnostic(code="UNREAD_FIGURE", message=message, line=line, excerpt=str(number))


def _countable(bins: Iterable[Bin], uncountable: list[Diagnostic]) -> Iterator[Bin]:
    """Yield bins; counts that no column holds are unknown, and said to be so once each."""
    known: set[int] = set()
    for item in bins:
        if item.count is None or item.count <= _LARGEST:
            yield item
            continue
        if item.count not in known:
            known.add(item.count)
            uncountable.append(_too_large("count", item.count, item.line))
        yield replace(item, count=None)


_OF_DISTRIBUTION: Final = ("run_id", "scope", "part", "operation", "metric")


def _distributions(bins: Sequence[tuple[str, Bins]]) -> pl.DataFrame:
    """Return the frame of distributions, made of the columns of each."""
    if not bins:
        return pl.DataFrame(schema=FRAMES["distributions"])
    each = pl.DataFrame(
        [(run_id, columns.scope, columns.part, columns.operation, columns.metric) for run_id, columns in bins],
        schema={name: FRAMES["distributions"][name] for name in _OF_DISTRIBUTION},
        orient="row",
    )
    sizes = [len(columns) for _, columns in bins]

    def column(name: str, unknown: float) -> pl.Series:
        known = (getattr(columns, name) for _, columns in bins)
        values = [
            np.full(size, unknown) if array is None else array for size, array in zip(sizes, known, strict=True)
        ]
        return pl.Series(name, np.concatenate(values))

    return (
        each[np.repeat(np.arange(len(bins)), sizes)]
        .with_columns(
            column("lows", np.nan).fill_nan(None).alias("low"),
            column("highs", np.nan).fill_nan(None).alias("high"),
            column("counts", -1).alias("count").cast(pl.Int64).replace(-1, None),
            column("shares", np.nan).fill_nan(None).alias("share"),
            column("lines", -1).alias("line").cast(pl.Int64).replace(-1, None),
        )
        .select(*DISTRIBUTIONS)
    )


_LARGEST: Final = 2**63 - 1
_COUNTED: Final = {"block_size", "file_size", "threads", "samples"}
"""Columns of whole numbers that logs print."""


_COLUMNS: Final[dict[type, list[str]]] = {
    kind: [column.name for column in fields(kind) if column.name in schema]
    for kind, schema in (
        (Diagnostic, DIAGNOSTIC_COLUMNS),
        (Measurement, MEASUREMENTS),
        (Setting, SETTINGS),
    )
}


def _repeated(measurements: Iterable[Measurement]) -> Iterator[tuple[int, Diagnostic]]:
    """Yield which primary measurements stand for the same thing as an earlier one."""
    taken: dict[tuple[Any, ...], Measurement] = {}
    for index, item in enumerate(measurements):
        if not item.primary:
            continue
        first = taken.setdefault(figure_key(item), item)
        if first is not item:
            message = (
                f"{item.metric} ({item.statistic}) of {item.operation} stands twice: "
                f"{first.text} on line {first.line}, and {item.text}."
            )
            yield (
                index,
                Diagnostic(code="DUPLICATE_FIGURE", message=message, line=item.line, excerpt=item.text),
            )


def _disagreements(settings: Iterable[Setting]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each setting that is known from several origins which do not agree."""
    by_key: dict[tuple[str, str | None, str], list[Setting]] = {}
    for item in settings:
        by_key.setdefault((item.scope, item.part, item.key), []).append(item)
    for (_, _, key), known in by_key.items():
        first = min(known, key=lambda item: ORIGINS.index(item.origin))
        for other in known:
            if other.value != first.value and other.origin != first.origin and key != "command":
                message = (
                    f"{key} is {first.value} by the {_ORIGIN_NAMES[first.origin]}, "
                    f"and {other.value} by {_ORIGIN_NAMES[other.origin]}."
                )
                yield Diagnostic(code="SETTINGS_DISAGREE", message=message, line=first.line)


def _other_job(settings: Iterable[Setting], measurements: Iterable[Measurement]) -> Iterator[Diagnostic]:
    """Yield a diagnostic where an article states the command of another job than the log has figures of."""
    stated = {item.value for item in settings if item.key == "job_name" and item.origin == "stated"}
    ran = {item.part: item.line for item in measurements if item.scope == "job" and item.part is not None}
    if stated and ran and not stated & ran.keys():
        message = f"job_name is {', '.join(ran)} by the log, and {', '.join(stated)} by what the article states."
        yield Diagnostic(code="SETTINGS_DISAGREE", message=message, line=next(iter(ran.values())))


def _unnamed_latency(measurements: Iterable[Measurement]) -> Iterator[Diagnostic]:
    """Yield a diagnostic where neither the log nor another one of the same run names a latency."""
    for item in measurements:
        if item.metric == EITHER_LATENCY:
            message = (
                "Terse output does not say whether its percentiles are of the completion latency or, "
                "with lat_percentiles, of the total one."
            )
            yield Diagnostic(code="UNNAMED_LATENCY", message=message, line=item.line)
            return


_ORIGIN_NAMES: Final = {
    "log": "log",
    "command": "command that ran",
    "environment": "machine's own record",
    "study": "the study's description",
    "stated": "what the article states",
}


def _worst(of_log: str, of_launch: str | None) -> str:
    """Return the worse of what a run's log and its launch say of it."""
    ranks = ["ok", "partial", "failed"]
    return max(of_log, of_launch or "ok", key=ranks.index)


def _series_frame(run_id: str, block: Block) -> pl.DataFrame:
    return pl.DataFrame({"time": block.times, "value": block.values}).select(
        pl.lit(run_id, pl.String).alias("run_id"),
        pl.lit(block.part, pl.String).alias("part"),
        pl.lit(block.operation).alias("operation"),
        pl.lit(block.metric).alias("metric"),
        pl.lit(block.statistic).alias("statistic"),
        pl.col("time").cast(pl.Float64),
        pl.col("value").cast(pl.Float64),
    )
