"""Finds what besides the factor sets the two sides of a comparison apart, or makes it untrustworthy."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from fsbench_kit.analysis.settings import NOT_KNOWN, Facts, integer, number, wide
from fsbench_kit.formats import TOOLS
from fsbench_kit.model.units import humanise, quantity
from fsbench_kit.model.vocabulary import EITHER_LATENCY, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from fsbench_kit.data.dataset import Dataset

Confounder = tuple[str, list[str]]
"""A key of `fsbench_kit.model.vocabulary.REASONS`, and the sentences that say what was found."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison, with what its figures give away of themselves; see `Confounders.marked`.

    Attributes
    ----------
    level
        Of the factor.
    runs
        Their ids.
    cached, past_direct, unsynced
        Whether any figure is.
    submission
        Of the figures for which it is more than half, the mean share.
    unit_assumed
        Of how many of its figures, as a share.
    """

    level: str
    runs: frozenset[str]
    cached: bool
    past_direct: bool
    unsynced: bool
    submission: float | None
    unit_assumed: float


OF_A_SIDE: Final = (
    pl.col("cached").any(),
    pl.col("past_direct").any(),
    pl.col("unsynced").any(),
    pl.col("submission").mean(),
    pl.col("unit_assumed").mean(),
)
"""What the figures of a side give away, in the order of `Side`."""


class Confounders:
    """Finds what besides a factor sets two sides of a comparison apart, or makes it untrustworthy.

    What depends on the runs alone is looked for once for each pair of sets of runs, which many cells share.

    Parameters
    ----------
    dataset
        The runs.
    factor
        The factor, whose own difference is no confounder.
    """

    def __init__(self, dataset: Dataset, factor: str) -> None:
        self._factor = factor
        self._facts = Facts(dataset)
        self._work = {run: figures for run, *figures in _work(dataset).rows()}
        self._submission = _submission(dataset)
        self._reached = _reached(dataset)
        self._unit_assumed = {run for run, _ in _remarks(dataset, "UNIT_ASSUMED")}
        self._not_told_of_sync = {run for run, _ in _remarks(dataset, "SYNC_NOT_PASSED_ON")}
        self._idle = dict(_remarks(dataset, "IDLE_THREAD"))
        times = dataset.runs.select("run_id", "host", "started_at", "ended_at", "duration")
        self._times = {run: _Times(*rest) for run, *rest in times.rows()}
        self._averaged: dict[frozenset[str], list[str]] = {}
        self._found: dict[tuple[frozenset[str], frozenset[str]], dict[str, list[str]]] = {}

    def marked(self, figures: pl.DataFrame) -> pl.DataFrame:
        """Return figures, given as rows of `cells`, with what each of them gives away.

        Returns
        -------
        pl.DataFrame
            With columns ``cached`` (the data are less than twice the memory, where both are known, direct I/O is
            not, the disks do not account for the work, and no sync is in its time), ``past_direct`` (direct I/O
            was on, and this operation does not use it), ``unsynced`` (the time of a sync of which the filesystem
            is not told), ``submission`` (the share of submission in a request's time, where it is more than half
            and the metric leaves it out)
            and ``unit_assumed``.
        """
        direct, past_direct = pl.col("direct") == "true", _PAST_DIRECT.fill_null(value=False)
        memory = {text: _bytes(text) for text in figures["memory"].unique() if text is not None}
        capacity = pl.col("memory").replace_strict(memory, default=None, return_dtype=pl.Int64)
        moves_data = ~pl.col("operation").str.contains(_NO_DATA)
        with_sync = pl.col("metric") == "elapsed_with_sync"
        exposed = moves_data & ~with_sync & (direct.ne_missing(other=True) | past_direct)
        submission = self._submission.filter(pl.col("submission") > 0.5)
        of_operation = submission.join(
            self._reached.select("run_id", "operation", reached=True),
            on=["run_id", "operation"],
            how="full",
            coalesce=True,
        )
        return figures.join(
            of_operation, on=["run_id", "operation"], how="left", maintain_order="left"
        ).with_columns(
            cached=(exposed & pl.col("reached").is_null() & (2 * capacity > _DATA_SIZE)).fill_null(value=False),
            past_direct=past_direct & direct.fill_null(value=False),
            unsynced=pl.col("run_id").is_in(self._not_told_of_sync)
            & (with_sync | pl.col("operation").str.ends_with("_sync")),
            submission=pl.when(pl.col("metric").is_in(["completion_latency", EITHER_LATENCY])).then("submission"),
            unit_assumed=pl.col("run_id").is_in(self._unit_assumed) & (pl.col("metric") == "bandwidth"),
        )

    def side(self, figures: pl.DataFrame) -> Side:
        """Return one side of a comparison, given as rows of `cells`."""
        return Side(
            figures["level"][0], frozenset(figures["run_id"]), *self.marked(figures).select(OF_A_SIDE).row(0)
        )

    def between(self, baseline: Side, candidate: Side) -> list[Confounder]:
        """Return the confounders of two sides."""
        sides = baseline, candidate
        found = self._between_runs(baseline, candidate).copy()
        if any(side.cached for side in sides):
            found["CACHED"] = []
        if any(side.unsynced for side in sides):
            found["UNSYNCED"] = []
        if blocking := [
            f"{side.level}: {side.submission:.0%} of a request's time passed in its submission;"
            " compare the total latency."
            for side in sides
            if side.submission is not None
        ]:
            found["BLOCKING_SUBMIT"] = blocking
        assumed = [side.unit_assumed for side in sides]
        if max(assumed) > 0 and min(assumed) < 1:
            found["UNIT_AMBIGUOUS"] = []
        return [(code, found[code]) for code in _ORDER if code in found]

    def notes(self, baseline: Side, candidate: Side) -> Iterator[str]:
        """Yield what else a reader should know of two sides."""
        if baseline.past_direct or candidate.past_direct:
            yield "iozone makes these requests through the page cache, although direct I/O was asked for."
        if baseline.unit_assumed == candidate.unit_assumed == 1:
            yield "Nothing tells the unit of either side's figures; the same one is assumed for both."
        for side in (baseline, candidate):
            yield from (f"{side.level}: {self._idle[run]}" for run in sorted(side.runs) if run in self._idle)
            if len(side.runs) > 1:
                yield from self._averaged_over(side)

    def _averaged_over(self, side: Side) -> list[str]:
        """Name the settings in which the runs of one side differ among themselves."""
        if side.runs not in self._averaged:
            self._averaged[side.runs] = [
                f"The runs of {side.level} differ among themselves in {key}: {', '.join(values)}."
                for key, values in self._facts.values(side.runs).items()
                if len(values) > 1 and setting_kind(key) in _APART and key != self._factor
            ]
        return self._averaged[side.runs]

    def _between_runs(self, baseline: Side, candidate: Side) -> dict[str, list[str]]:
        """Return the confounders that depend on the runs of two sides alone."""
        key = baseline.runs, candidate.runs
        if key not in self._found:
            times = [[self._times[run] for run in runs] for runs in key]
            found = self._found[key] = {}
            if mismatches := self._mismatches(*key):
                found["CONFIG_MISMATCH"] = mismatches
            if _in_blocks(*times):
                found["BLOCKED_ORDER"] = []
            if _concurrent(*times):
                found["CONCURRENT_RUNS"] = []
            if unequal := self._unequal_work(baseline, candidate):
                found["UNEQUAL_WORK"] = unequal
        return self._found[key]

    def _mismatches(self, baseline: frozenset[str], candidate: frozenset[str]) -> list[str]:
        """Name the settings that are known of both sides and differ; those that come with a target may."""
        return [
            f"{key} differs: {first} against {second}."
            for key, kind, first, second in self._facts.differences(baseline, candidate)
            if kind in _APART and key != self._factor
            if key in _EXTRA_DISKS or NOT_KNOWN not in (first, second)
        ]

    def _unequal_work(self, baseline: Side, candidate: Side) -> list[str]:
        """Tell where one side did all of its work, and the other was stopped by the clock before that."""
        told: list[str] = []
        endings: list[bool] = []
        for side in (baseline, candidate):
            works = [self._work[run] for run in sorted(side.runs) if run in self._work]
            ended = {by_itself for _, _, by_itself in works}
            if len(ended) != 1:
                return []
            endings += ended
            done, duration = fmean(work[0] for work in works), fmean(work[1] for work in works)
            how = "did all its work" if endings[-1] else "was stopped by its time limit"
            told.append(f"{side.level} {how}: {humanise(done, 'B')} in {duration:.0f} s.")
        return told if endings[0] != endings[1] else []


_ORDER: Final = (
    "CONFIG_MISMATCH",
    "BLOCKED_ORDER",
    "CONCURRENT_RUNS",
    "CACHED",
    "UNSYNCED",
    "UNEQUAL_WORK",
    "BLOCKING_SUBMIT",
    "UNIT_AMBIGUOUS",
)

_APART: Final = ("workload", "system")
"""The kinds of settings that are nobody's choice of a filesystem."""

_EXTRA_DISKS: Final = ("log_device", "cache_device")
"""What one side has and the other lacks without a word about it."""

_IN_TIME: Final = 0.99
"""The share of its time limit that a run lasts at most if it ended by itself."""


def _work(dataset: Dataset) -> pl.DataFrame:
    """Return of each run with a time limit how much it did, and whether it ended before the limit."""
    done = (
        dataset.measurements.filter(
            "primary", pl.col("scope").is_in(["all", "job"]), metric="bytes", statistic="value"
        )
        .group_by("run_id")
        .agg(pl.col("value").sum().alias("bytes"))
    )
    known = wide(dataset.settings, ["time_limit", "time_based"]).filter(pl.col("time_based").ne_missing("true"))
    return (
        dataset.runs.select("run_id", "duration")
        .join(done, on="run_id")
        .join(known, on="run_id")
        .select("run_id", "bytes", "duration", by_itself=pl.col("duration") < _IN_TIME * number("time_limit"))
        .drop_nulls("by_itself")
    )


_ASYNCHRONOUS: Final = ("libaio", "io_uring", "posixaio", "solarisaio", "windowsaio")


def _submission(dataset: Dataset) -> pl.DataFrame:
    """Return for each run and operation of an asynchronous engine the share of submission in the latency."""
    engine = wide(dataset.settings, ["engine"]).filter(pl.col("engine").is_in(_ASYNCHRONOUS))
    means = dataset.measurements.filter("primary", pl.col("scope").is_in(["all", "job"]), statistic="mean").join(
        engine, on="run_id", how="semi"
    )
    waited, whole = (
        means.filter(metric=metric).group_by("run_id", "operation").agg(pl.col("value").mean().alias(metric))
        for metric in ("submission_latency", "latency")
    )
    return waited.join(whole, on=["run_id", "operation"]).select(
        "run_id", "operation", submission=pl.col("submission_latency") / pl.col("latency")
    )


def _remarks(dataset: Dataset, code: str) -> list[tuple[str, str]]:
    """Return the runs in whose log a diagnostic of some code stands, each with its message."""
    said = dataset.diagnostics.filter(code=code).select("source", "message", at="start")
    found = dataset.runs.join(said, on="source").filter(pl.col("at").is_between("start", "end", closed="left"))
    return found.sort("run_id").select("run_id", "message").rows()


class _Times(NamedTuple):
    """Where and when a run was made."""

    host: str | None
    started_at: datetime | None
    ended_at: datetime | None
    duration: float | None

    def span(self) -> tuple[datetime, datetime] | None:
        """Return the start and the end; ``None`` where one of them is not known."""
        start, end = self.started_at, self.ended_at
        if self.duration is not None:
            length = timedelta(seconds=self.duration)
            start = start if start is not None or end is None else end - length
            end = end if end is not None or start is None else start + length
        return None if start is None or end is None else (start, end)


def _in_blocks(baseline: list[_Times], candidate: list[_Times]) -> bool:
    """Whether all runs of one side came before all runs of the other, with more than one on each."""
    if min(len(baseline), len(candidate)) < 2:
        return False
    a, b = ([run.started_at for run in side if run.started_at is not None] for side in (baseline, candidate))
    if len(a) < len(baseline) or len(b) < len(candidate):
        return False
    return max(a) < min(b) or max(b) < min(a)


def _concurrent(baseline: list[_Times], candidate: list[_Times]) -> bool:
    """Whether a run of one side ran at the same time, on the same host, as a run of the other."""
    spans: list[dict[str, list[tuple[datetime, datetime]]]] = [{}, {}]
    for of_side, runs in zip(spans, (baseline, candidate), strict=True):
        for run in runs:
            if run.host is not None and (span := run.span()) is not None:
                of_side.setdefault(run.host, []).append(span)
    return any(
        start_a < end_b and start_b < end_a
        for host in spans[0].keys() & spans[1].keys()
        for start_a, end_a in spans[0][host]
        for start_b, end_b in spans[1][host]
    )


_NO_DATA: Final = "_sync$|delete$|create$|stat$|^mkfs$|mount$|^list_tree$|^find_in_tree$|^remove_|^capacity"
"""Operations that read or write no data of files."""

_PAST_DIRECT: Final = pl.concat_str("tool", "operation", separator=" ").is_in(
    [f"{name} {operation}" for name, tool in TOOLS.items() for operation in sorted(tool.buffered)]
)
"""Operations that do not use direct I/O also where it is on: they go through the C library's buffers."""

_DATA_SIZE: Final = pl.coalesce(
    integer("total_size"),
    pl.when(pl.col("tool") == "smallfiles").then(integer("files") * pl.col("block_size")),
    pl.when(pl.col("tool") == "fio").then(pl.col("file_size") * pl.col("threads")),
    "file_size",
)
"""How much data a run works on, in bytes."""


_DIRECTION: Final = (
    pl.when(pl.col("operation").str.contains("read"))
    .then(pl.lit("device_read"))
    .when(pl.col("operation").str.contains("write"))
    .then(pl.lit("device_written"))
    .alias("direction")
)
"""The setting that tells what the disks did for an operation; null where both directions have a part in it."""

_REACHED: Final = 0.9
"""The share of its bytes that a run has to have moved on the disks, if caches had no part in it."""


def _reached(dataset: Dataset) -> pl.DataFrame:
    """Return the runs and operations for whose work the disks' own counters account.

    A phase whose sync is timed apart is not among them: its bytes reached the disk after its own time.
    """
    figures = dataset.measurements.filter("primary", pl.col("scope").is_in(["all", "job"])).select(
        "run_id", "operation", "metric", "statistic", "value", _DIRECTION
    )
    moved = wide(dataset.settings, ["device_read", "device_written"]).unpivot(
        index="run_id", variable_name="direction", value_name="moved"
    )
    accounted = (
        figures.filter(metric="bytes", statistic="value")
        .group_by("run_id", "direction")
        .agg(pl.col("value").sum())
        .join(moved, on=["run_id", "direction"])
        .filter(integer("moved") >= _REACHED * pl.col("value"))
    )
    synced = figures.filter(pl.col("operation").str.ends_with("_sync")).select(
        "run_id", pl.col("operation").str.strip_suffix("_sync")
    )
    return (
        figures.select("run_id", "operation", "direction")
        .unique()
        .join(accounted, on=["run_id", "direction"], how="semi")
        .join(synced, on=["run_id", "operation"], how="anti")
    )


def _bytes(memory: str | None) -> int | None:
    """Read a size of memory; of one that is stated in GB take the least that it can mean, powers of 1000."""
    if memory is None or memory.isdecimal():
        return None if memory is None else int(memory)
    number, *unit = memory.split()
    try:
        return int(quantity(number, *unit).value)
    except (ValueError, TypeError):
        return None
