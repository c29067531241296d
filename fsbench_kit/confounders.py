"""Finds what besides the factor sets the two sides of a comparison apart, or makes it untrustworthy."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.settings import NOT_KNOWN, differences, integer, known, wide
from fsbench_kit.units import humanise, quantity
from fsbench_kit.vocabulary import setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.dataset import Dataset

Confounder = tuple[str, list[str]]
"""A key of `fsbench_kit.vocabulary.REASONS`, and the sentences that say what was found."""


class Confounders:
    """Finds what besides a factor sets two sides of a comparison apart, or makes it untrustworthy.

    Parameters
    ----------
    dataset
        The runs.
    factor
        The factor, whose own difference is no confounder.
    """

    def __init__(self, dataset: Dataset, factor: str) -> None:
        self._dataset = dataset
        self._factor = factor
        self._work = _work(dataset)
        self._submission = _submission(dataset)
        self._reached = _reached(dataset)
        facts = known(dataset)
        self._facts = facts.filter(pl.col("key").map_elements(setting_kind, return_dtype=pl.String).is_in(_APART))
        self._hidden: dict[tuple[str, frozenset[str]], list[str]] = {}
        self._found: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}

    def between(self, baseline: pl.DataFrame, candidate: pl.DataFrame) -> Iterator[Confounder]:
        """Yield the confounders of two sides, given as rows of `cells`."""
        if mismatches := self._mismatches(baseline, candidate):
            yield "CONFIG_MISMATCH", mismatches
        if _in_blocks(baseline, candidate):
            yield "BLOCKED_ORDER", []
        if _concurrent(baseline, candidate):
            yield "CONCURRENT_RUNS", []
        if self._cached(baseline) or self._cached(candidate):
            yield "CACHED", []
        if unequal := self._unequal_work(baseline, candidate):
            yield "UNEQUAL_WORK", unequal
        if blocking := self._blocking_submit(baseline, candidate):
            yield "BLOCKING_SUBMIT", blocking

    def notes(self, baseline: pl.DataFrame, candidate: pl.DataFrame) -> Iterator[str]:
        """Yield what else a reader should know of two sides, given as rows of `cells`."""
        sides = pl.concat([baseline, candidate])
        if not sides.filter(_PAST_DIRECT, pl.col("direct") == "true").is_empty():
            yield "iozone makes these requests through the page cache, although direct I/O was asked for."

        for side in (baseline, candidate):
            yield from self._averaged_over(side["level"][0], frozenset(side["run_id"]))

    def _averaged_over(self, level: str, runs: frozenset[str]) -> list[str]:
        """Name the settings in which the runs of one side differ among themselves."""
        if len(runs) == 1:
            return []
        if (level, runs) not in self._hidden:
            found = (
                self._facts.filter(pl.col("run_id").is_in(list(runs)))
                .group_by("key", maintain_order=True)
                .agg(pl.col("value").unique().sort())
                .filter(pl.col("value").list.len() > 1, pl.col("key") != self._factor)
            )
            self._hidden[level, runs] = [
                f"The runs of {level} differ among themselves in {key}: {', '.join(values)}."
                for key, values in found.rows()
            ]
        return self._hidden[level, runs]

    def _mismatches(self, baseline: pl.DataFrame, candidate: pl.DataFrame) -> list[str]:
        """Name the settings that are known of both sides and differ; those that come with a target may."""
        sides = frozenset(baseline["run_id"]), frozenset(candidate["run_id"])
        if sides not in self._found:  # many cells share their runs
            found = differences(self._dataset, *sides).filter(
                pl.col("kind").is_in(_APART),
                pl.col("key") != self._factor,
                pl.col("key").is_in(_EXTRA_DISKS)
                | ((pl.col("baseline") != NOT_KNOWN) & (pl.col("candidate") != NOT_KNOWN)),
            )
            self._found[sides] = [
                f"{key} differs: {first} against {second}."
                for key, first, second in found.select("key", "baseline", "candidate").rows()
            ]
        return self._found[sides]

    def _cached(self, side: pl.DataFrame) -> bool:
        """Whether data fit into half the memory, direct I/O is off, and the disks do not account for the work."""
        exposed = (
            side.filter(
                ~pl.col("operation").str.contains(_NO_DATA), pl.col("direct").ne_missing("true") | _PAST_DIRECT
            )
            .join(self._reached, on=["run_id", "operation"], how="anti")
            .select("memory", data_size=_DATA_SIZE)
        )
        return any(
            data_size is not None and (memory := _bytes(stated)) is not None and data_size < 2 * memory
            for stated, data_size in exposed.unique().rows()
        )

    def _unequal_work(self, baseline: pl.DataFrame, candidate: pl.DataFrame) -> list[str]:
        """Tell where one side did all of its work, and the other was stopped by the clock before that."""
        sides = [
            self._work.filter(pl.col("run_id").is_in(side["run_id"].implode())) for side in (baseline, candidate)
        ]
        if {True, False} != {ended for side in sides for ended in side["by_itself"]}:
            return []
        if any(side["by_itself"].n_unique() != 1 for side in sides):
            return []
        told = []
        for level, side in zip((baseline["level"][0], candidate["level"][0]), sides, strict=True):
            done, duration = fmean(side["bytes"]), fmean(side["duration"])
            how = "did all its work" if side["by_itself"][0] else "was stopped by its time limit"
            told.append(f"{level} {how}: {humanise(done, 'B')} in {duration:.0f} s.")
        return told

    def _blocking_submit(self, baseline: pl.DataFrame, candidate: pl.DataFrame) -> list[str]:
        """Tell whether requests of an asynchronous engine waited before they were in flight."""
        if baseline["metric"][0] != "completion_latency":
            return []
        told = []
        for side in (baseline, candidate):
            blocked = side.join(self._submission, on=["run_id", "operation"]).filter(pl.col("share") > 0.5)
            if not blocked.is_empty():
                share = fmean(blocked["share"])
                told.append(
                    f"{side['level'][0]}: {share:.0%} of a request's time passed in its submission;"
                    " compare the total latency."
                )
        return told


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
        .with_columns(by_itself=pl.col("duration") < _IN_TIME * integer("time_limit"))
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
    return waited.join(whole, on=["run_id", "operation"]).with_columns(
        share=pl.col("submission_latency") / pl.col("latency")
    )


def _in_blocks(baseline: pl.DataFrame, candidate: pl.DataFrame) -> bool:
    """Whether all runs of one side came before all runs of the other, with more than one on each."""
    if min(baseline.height, candidate.height) < 2:
        return False
    a, b = baseline["started_at"].sort(), candidate["started_at"].sort()
    if a.null_count() or b.null_count():
        return False
    return bool(a[-1] < b[0] or b[-1] < a[0])


def _concurrent(baseline: pl.DataFrame, candidate: pl.DataFrame) -> bool:
    """Whether a run of one side ran at the same time, on the same host, as a run of the other."""
    length = pl.duration(milliseconds=pl.col("duration") * 1000)
    sides = [
        side.select(
            "host",
            start=pl.coalesce("started_at", pl.col("ended_at") - length),
            end=pl.coalesce("ended_at", pl.col("started_at") + length),
        ).drop_nulls()
        for side in (baseline, candidate)
    ]
    overlap = (pl.col("start") < pl.col("end_right")) & (pl.col("start_right") < pl.col("end"))
    return not sides[0].join(sides[1], on="host").filter(overlap).is_empty()


_NO_DATA: Final = "_sync$|delete$|create$|stat$|^mkfs$|mount$|^list_tree$|^find_in_tree$|^remove_|^capacity"
"""Operations that read or write no data of files."""

_PAST_DIRECT: Final = (pl.col("tool") == "iozone") & pl.col("operation").is_in(
    ["fwrite", "frewrite", "fread", "freread"]
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
