"""Confounders from caches: whether the work reached the disks, or only memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from fsbench_kit.analysis.confounders.entry import (
    NOTHING,
    confounder,
    diagnosed,
    figures_of_runs,
    rows,
    settings_of_work,
)
from fsbench_kit.analysis.facts import capacity
from fsbench_kit.analysis.settings import integer
from fsbench_kit.formats import TOOLS

if TYPE_CHECKING:
    from fsbench_kit.analysis.design import Design
    from fsbench_kit.data.dataset import Dataset

_NO_DATA: Final = "_sync$|delete$|create$|stat$|^mkfs$|mount$|^list_tree$|^find_in_tree$|^remove_|^capacity"
"""Operations that neither read nor write file data."""

_PAST_DIRECT: Final = pl.concat_str("tool", "operation", separator=" ").is_in(
    [f"{name} {operation}" for name, tool in TOOLS.items() for operation in sorted(tool.buffered)]
)
"""Operations that bypass direct I/O even when it is on, because they use the C library's buffers."""

_DATA_SIZE: Final = pl.coalesce(
    integer("total_size"),
    pl.when(pl.col("tool") == "smallfiles").then(integer("files") * pl.col("block_size")),
    pl.when(pl.col("tool") == "fio").then(pl.col("file_size") * pl.col("threads")),
    "file_size",
)
"""The amount of data that a run works on, in bytes."""

_WITH_SYNC: Final = pl.col("metric") == "elapsed_with_sync"


@confounder(
    "CACHED",
    "verdict withheld",
    "The data are less than twice the memory, and nothing shows that the page cache was bypassed, or that the "
    "work reached the disks.",
    of_one=True,
)
def _cached(design: Design) -> pl.DataFrame:
    """Find data below twice the memory, without direct I/O or a timed sync, that did not reach the disks."""
    if not design.groups.measurements["memory"].count():
        return NOTHING
    measurements = design.groups.measurements.filter(pl.col("memory").is_not_null())
    memory = {text: capacity(text) for text in measurements["memory"].unique()}
    size = pl.col("memory").replace_strict(memory, default=None, return_dtype=pl.Int64)
    exposed = measurements.filter(
        2 * size > _DATA_SIZE,
        pl.col("direct").ne_missing(pl.lit("true")) | _PAST_DIRECT,
        ~_WITH_SYNC,
        ~pl.col("operation").str.contains(_NO_DATA),
    )
    cached = exposed.join(design.once(_reached), on=["run_id", "operation"], how="anti")
    return design.groups.of_rows(cached.select("group").unique()).unique()


_COUNTERS: Final = ("device_read", "device_written")

_DIRECTION: Final = (
    pl.when(pl.col("operation").str.contains("read"))
    .then(pl.lit("device_read"))
    .when(pl.col("operation").str.contains("write"))
    .then(pl.lit("device_written"))
    .alias("direction")
)
"""The setting with the disks' counter for an operation; null if the operation reads and writes."""

_REACHED: Final = 0.9
"""The share of its bytes that must have moved on the disks for a run to count as uncached."""


def _reached(design: Design) -> pl.DataFrame:
    """Return the runs and operations whose work is accounted for by the disks' own counters.

    A phase with a separately timed sync is excluded: its bytes reached the disk after its own time.
    """
    settings = design.of(settings_of_work)
    if not any(settings[name].count() for name in _COUNTERS):
        return pl.DataFrame(schema=dict.fromkeys(("run_id", "operation", "direction"), pl.String))
    moved = settings.unpivot(_COUNTERS, index="run_id", variable_name="direction", value_name="moved")
    figures = design.of(figures_of_runs).select("run_id", "operation", "metric", "statistic", "value", _DIRECTION)
    accounted = (
        figures.filter(metric="bytes", statistic="value")
        .group_by("run_id", "direction")
        .agg(pl.col("value").sum())
        .join(moved.drop_nulls("moved"), on=["run_id", "direction"])
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


@confounder(
    "CACHE_UNKNOWN",
    "footnote",
    "Nothing says that a group used direct I/O, nor how large the memory was: the page cache cannot be excluded.",
    of_one=True,
)
def _cache_unknown(design: Design) -> pl.DataFrame:
    """Find data operations for which direct I/O, the memory and the disks' counters are all unknown."""
    is_unknown = pl.col("memory").is_null() & pl.col("direct").ne_missing(pl.lit("true"))
    unknown = design.members.select_seq(is_unknown).to_series().to_numpy()
    if not unknown.any():
        return NOTHING
    operations = design.operations
    of_data = [name for name in operations["operation"].unique() if name and not re.search(_NO_DATA, name)]
    moves_data = (~_WITH_SYNC & pl.col("operation").is_in(of_data)).fill_null(value=False)
    moving = operations.select_seq(moves_data).to_series().to_numpy()
    of_set = np.bincount(design.members["set"].to_numpy()[unknown], minlength=design.groups.table.height)
    exposed = of_set[operations["set"].to_numpy()]
    if not (reached := design.once(_reached)).is_empty():
        runs = design.members.filter(unknown).select("set", "run_id")
        accounted = runs.join(reached, on="run_id").group_by("set", "operation").agg(runs=pl.len())
        beside = operations.join(accounted, on=["set", "operation"], how="left", maintain_order="left")
        exposed = exposed - beside["runs"].fill_null(0).to_numpy()
    groups = np.zeros(design.groups.table.height, dtype=np.bool_)
    groups[operations["group"].to_numpy()[moving & (exposed > 0)]] = True
    return rows(design.groups.either(groups))


@confounder(
    "PAST_DIRECT",
    "footnote",
    "iozone sends these requests through the page cache, although direct I/O was requested.",
    of_one=True,
)
def _past_direct(design: Design) -> pl.DataFrame:
    if not design.groups.measurements["direct"].count():
        return NOTHING
    direct = design.groups.measurements.filter(direct="true")  # a group can hold several operations: a sum does
    if direct.is_empty() or direct.select("tool", "operation").unique().filter(_PAST_DIRECT).is_empty():
        return NOTHING
    return rows(design.groups.either(design.groups.having(pl.col("direct") == "true", _PAST_DIRECT)))


@confounder(
    "UNSYNCED",
    "verdict withheld",
    "In one group the sync never reaches the filesystem, so its time says nothing about the disk.",
    of_one=True,
)
def _unsynced(design: Design) -> pl.DataFrame:
    runs = design.of(_not_told_of_sync)["run_id"]
    if runs.is_empty():
        return NOTHING
    of_sync = _WITH_SYNC | pl.col("operation").str.ends_with("_sync")
    return rows(design.groups.either(design.groups.having(pl.col("run_id").is_in(runs.implode()), of_sync)))


def _not_told_of_sync(dataset: Dataset) -> pl.DataFrame:
    return diagnosed(dataset, "SYNC_NOT_PASSED_ON")
