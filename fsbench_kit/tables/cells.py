"""The cells of a comparison: their order, what tells them apart, and what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.model.operations import OPERATIONS
from fsbench_kit.model.order import in_order
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.tables.messages import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CELL: Final = tuple(name for name in settings.CELL if name not in ("metric", "statistic"))
"""The columns that name a cell of a comparison."""

SIZES: Final = ("block_size", "file_size")


def ordered(comparison: pl.DataFrame) -> pl.DataFrame:
    """Sort a comparison as people look for things: by metric, then by cell, sizes and depths as numbers.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> ordered(fsb.compare(data, metrics=["bandwidth"]))["pattern"].to_list()
    ['rndrd', 'rndwr', 'seqrd', 'seqwr']
    """
    metrics, operations = list(METRICS), list(OPERATIONS)
    sides = [name for name in ("baseline", "level") if name in comparison.columns]
    levels = in_order(name for side in sides for name in comparison[side].unique())
    return comparison.sort(
        pl.col("metric").replace_strict(metrics, range(len(metrics)), default=len(metrics)),
        "metric",
        "statistic",
        "study",
        "tool",
        "pattern",
        "part",
        pl.col("operation").replace_strict(operations, range(len(operations)), default=len(operations)),
        *SIZES,
        "threads",
        pl.col("iodepth").cast(pl.Int64, strict=False),
        *(pl.col(name).replace_strict(levels, range(len(levels))) for name in sides),
        nulls_last=True,
        maintain_order=True,
    )


def varying(frame: pl.DataFrame) -> list[str]:
    """Name the columns of `CELL` that tell the cells of a frame apart.

    These are study, tool and operation, where they differ at all, and others where they differ within one tool of
    one study: that fio's runs have an iodepth and others have none is no news.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> varying(fsb.compare(fsb.read("raw_results/published/sysbench-rhel72"), metrics=["bandwidth"]))
    ['pattern', 'operation']
    """
    everywhere = frame.select(pl.col(CELL).n_unique()).rows(named=True)[0]
    others = [name for name in CELL if name not in ("study", "tool", "operation")]
    within = frame.group_by("study", "tool").agg(pl.col(others).n_unique()).max().rows(named=True)[0]
    differ = everywhere | {name: within[name] for name in others}
    return [name for name in CELL if (differ[name] or 0) > 1]


def cell_text(name: str, value: object) -> str:
    """Print one of a cell's coordinates; null is nothing.

    Examples
    --------
    >>> cell_text("block_size", 16384), cell_text("operation", "random_read"), cell_text("iodepth", None)
    ('16 KiB', 'random read', '')
    """
    if value is None:
        return ""
    if name in SIZES:
        return humanise(float(str(value)), "B")
    return str(value).replace("_", " ") if name == "operation" else one_line(str(value))


def groups_text(row: Mapping[str, Any]) -> str:
    """Name the two groups of a row: ``xfs / ext4``, as their ratio is.

    Examples
    --------
    >>> groups_text({"level": "xfs", "baseline": "ext4"})
    'xfs / ext4'
    """
    return f"{one_line(row['level'])} / {one_line(row['baseline'])}"


def cell_label(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Name a cell by some of its columns: ``randrw, read, block size 16 KiB, threads 4``.

    Examples
    --------
    >>> row = {"operation": "read", "block_size": 16384, "threads": 4}
    >>> cell_label(row, ["operation", "block_size", "threads"])
    'read, block size 16 KiB, threads 4'
    >>> cell_label({"operation": "all"}, ["operation"])
    'all operations'
    """
    return ", ".join(_named(name, row[name]) for name in names if row[name] is not None)


def _named(name: str, value: object) -> str:
    """Print one of a cell's coordinates so that it needs no heading."""
    if (name, value) == ("operation", "all"):
        return "all operations"
    bare = ("study", "tool", "pattern", "part", "operation", "work")
    text = cell_text(name, value)
    return text if name in bare else f"{name.replace('_', ' ')} {text}"


def cell_names(rows: pl.DataFrame) -> list[str]:
    """Name each row's cell by what tells cells apart, and by its metric if there are several, or nothing does.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> cell_names(ordered(fsb.compare(data, metrics=["bandwidth"])))
    ['rndrd, read', 'rndwr, write', 'seqrd, read', 'seqwr, write']
    """
    names = varying(rows)
    several = rows.select(pl.struct("metric", "statistic").n_unique()).item() > 1

    def name(row: Mapping[str, Any]) -> str:
        metric = row["metric"], row["statistic"]
        if not (label := cell_label(row, names)):
            return metric_text(*metric)
        return f"{label}, {metric_within(*metric)}" if several else label

    return [name(row) for row in rows.iter_rows(named=True)]


def metric_text(metric: str, statistic: str) -> str:
    """Name a metric and its statistic: ``Completion latency, p99``.

    Examples
    --------
    >>> metric_text("completion_latency", "p99"), metric_text("iops", "value")
    ('Completion latency, p99', 'IOPS')
    """
    name = "IOPS" if metric == "iops" else metric.replace("_", " ").capitalize().replace("Cpu", "CPU")
    return name if statistic == "value" else f"{name}, {statistic}"


def metric_within(metric: str, statistic: str) -> str:
    """Name a metric and its statistic where they do not begin a sentence.

    Examples
    --------
    >>> metric_within("completion_latency", "p99"), metric_within("cpu", "value")
    ('completion latency, p99', 'CPU')
    """
    text = metric_text(metric, statistic)
    return text if text[:2].isupper() else text[:1].lower() + text[1:]
