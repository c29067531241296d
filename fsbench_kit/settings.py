"""Which settings runs had: in which cells they may be compared, and what besides the factor sets them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.units import quantity
from fsbench_kit.vocabulary import SETTINGS, SettingKind, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fsbench_kit.dataset import Dataset

NOT_KNOWN: Final = "not known"


def effective(settings: pl.DataFrame) -> pl.DataFrame:
    """Return one value for each run and key: that of the strongest origin.

    Where the parts of a run differ (two fio jobs of different block sizes), the value is all of theirs, joined
    by ``|``.

    Parameters
    ----------
    settings
        The ``settings`` frame of a dataset.

    Returns
    -------
    pl.DataFrame
        Columns ``run_id``, ``key``, ``value``, ``origin``.
    """
    # Origins are an Enum in the order of their strength, so that the least one is the strongest.
    strongest = settings.filter(pl.col("origin") == pl.col("origin").min().over("run_id", "key"))
    return strongest.group_by("run_id", "key", maintain_order=True).agg(
        pl.col("value").unique(maintain_order=True).str.join(" | "),
        pl.col("origin").first(),
    )


def wide(settings: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """Return one row for each run with a column for each of some keys; unknown is null."""
    known = effective(settings)
    runs = known.select("run_id").unique(maintain_order=True)
    for key in keys:
        column = known.filter(pl.col("key") == key).select("run_id", pl.col("value").alias(key))
        runs = runs.join(column, on="run_id", how="left", validate="1:1")
    return runs


def differences(dataset: Dataset, baseline: Iterable[str], candidate: Iterable[str]) -> pl.DataFrame:
    """List the settings in which two sides of a comparison differ.

    Parameters
    ----------
    dataset
        The runs' data.
    baseline, candidate
        The run ids of the two sides.

    Returns
    -------
    pl.DataFrame
        One row for each setting that is known of at least one side and is not the same on both: ``key``,
        ``kind`` (as in `fsbench_kit.vocabulary`), ``baseline``, ``candidate`` (the values of that side's runs, or
        `NOT_KNOWN`). Labels, and settings of which only one side is known by nature of where they stand, are
        included; `kind` tells.
    """
    of_runs = dataset.runs.unpivot(_RUN_FACTS, index="run_id", variable_name="key").drop_nulls("value")
    of_settings = effective(dataset.settings).filter(~pl.col("key").is_in(_RUN_FACTS))
    known = pl.concat([of_runs, of_settings.select(of_runs.columns)])
    sides = [
        known.filter(pl.col("run_id").is_in(list(runs)))
        .group_by("key", maintain_order=True)
        .agg(pl.col("value").unique().sort().str.join(" | ").alias(side))
        for side, runs in (("baseline", baseline), ("candidate", candidate))
    ]
    return (
        sides[0]
        .join(sides[1], on="key", how="full", coalesce=True)
        .filter(pl.col("baseline").ne_missing(pl.col("candidate")))
        .with_columns(
            pl.col("key").replace_strict(_KINDS, default="workload").alias("kind"),
            pl.col("baseline", "candidate").fill_null(NOT_KNOWN),
        )
        .select("key", "kind", "baseline", "candidate")
        .sort("kind", "key")
    )


_RUN_FACTS: Final = ("host", "tool_version")
"""Columns of a run that count as settings when runs are compared."""

_KINDS: Final[dict[str, SettingKind]] = {key: setting_kind(key) for key in SETTINGS}

CELL: Final = (
    "study",
    "tool",
    "filesystem",
    "pattern",
    "scope",
    "part",
    "operation",
    "block_size",
    "file_size",
    "threads",
    "iodepth",
    "metric",
    "statistic",
)
"""What has to be equal before two figures may be set side by side, unless it is the factor; other differences are
named as confounders."""

_SIZES: Final = ("block_size", "file_size", "threads")
_KEYS: Final = ("pattern", "iodepth", *_SIZES, "direct", "memory", "total_size", "files")


def cells(dataset: Dataset, factor: str) -> pl.DataFrame:
    """Return the primary figures of runs and of their jobs, each with its cell and its level of a factor.

    Parameters
    ----------
    dataset
        The runs.
    factor
        A column of ``runs``, or the key of a setting.

    Returns
    -------
    pl.DataFrame
        The columns of `CELL` and of ``runs``, those of the measurement, and ``level``, which is never null. A
        size that the figure does not carry is that of the run's settings. A part's name is null where its run
        has no other part: it is a label then, and sets nothing apart. So is the factor itself, where it is one
        of `CELL`.
    """
    known = wide(dataset.settings, _KEYS)
    if factor in dataset.runs.columns:
        level = dataset.runs.select("run_id", pl.col(factor).cast(pl.String).alias("level"))
    else:
        level = wide(dataset.settings, [factor]).rename({factor: "level"})
    parts = pl.col("part").n_unique().over("run_id", "scope")
    figures = (
        dataset.measurements.filter("primary", pl.col("scope").is_in(["all", "job"]))
        .join(dataset.runs.drop("line"), on="run_id")
        .join(level.drop_nulls(), on="run_id")
        .join(known, on="run_id", how="left", suffix="_setting")
        .with_columns(
            pl.col("scope").cast(pl.String),
            pl.when(parts > 1).then("part").alias("part"),
            *(pl.coalesce(size, _integer(f"{size}_setting")).alias(size) for size in _SIZES),
        )
    )
    if factor not in CELL:
        return figures
    return figures.with_columns(pl.lit(None, figures.schema[factor]).alias(factor))


def _integer(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Int64, strict=False)


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
        self._found: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}

    def between(self, baseline: pl.DataFrame, candidate: pl.DataFrame) -> Iterator[Confounder]:
        """Yield the confounders of two sides, given as rows of `cells`."""
        if mismatches := self._mismatches(baseline, candidate):
            yield "CONFIG_MISMATCH", mismatches
        if _in_blocks(baseline, candidate):
            yield "BLOCKED_ORDER", []
        if _concurrent(baseline, candidate):
            yield "CONCURRENT_RUNS", []
        if _cached(baseline) or _cached(candidate):
            yield "CACHED", []

    def _mismatches(self, baseline: pl.DataFrame, candidate: pl.DataFrame) -> list[str]:
        """Name the settings that are known of both sides and differ; those that come with a target may."""
        sides = frozenset(baseline["run_id"]), frozenset(candidate["run_id"])
        if sides not in self._found:  # many cells share their runs
            found = differences(self._dataset, *sides).filter(
                pl.col("kind").is_in(["workload", "system"]),
                pl.col("key") != self._factor,
                pl.col("baseline") != NOT_KNOWN,
                pl.col("candidate") != NOT_KNOWN,
            )
            self._found[sides] = [
                f"{key} differs: {first} against {second}."
                for key, first, second in found.select("key", "baseline", "candidate").rows()
            ]
        return self._found[sides]


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

_DATA_SIZE: Final = pl.coalesce(
    _integer("total_size"),
    pl.when(pl.col("tool") == "smallfiles").then(_integer("files") * pl.col("block_size")),
    pl.when(pl.col("tool") == "fio").then(pl.col("file_size") * pl.col("threads")),
    "file_size",
)
"""How much data a run works on, in bytes."""


def _cached(side: pl.DataFrame) -> bool:
    """Whether the data are less than twice the memory, where both are known, and direct I/O is not."""
    exposed = side.filter(~pl.col("operation").str.contains(_NO_DATA), pl.col("direct").ne_missing("true")).select(
        "memory", data_size=_DATA_SIZE
    )
    return any(
        data_size is not None and (memory := _bytes(stated)) is not None and data_size < 2 * memory
        for stated, data_size in exposed.unique().rows()
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
