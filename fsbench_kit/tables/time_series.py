"""Figures over time as a table: a row for each run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.model.vocabulary import OF_MACHINE
from fsbench_kit.tables.cells import cell_text, metric_text, varying
from fsbench_kit.tables.layout import Column, Group, Table
from fsbench_kit.tables.messages import NOTHING, Prefix, digits, prefix, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.analysis.time_series import TimeSeries


def over_time_table(found: TimeSeries) -> Table:
    """Make the table of each run over time: its level and changes of it, steady state, stalls.

    Parameters
    ----------
    found
        What `fsbench_kit.analysis.time_series.time_series` returned.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.time_series import time_series
    >>> data = fsb.read("raw_results/recorded/latency-loop-2026")
    >>> found = over_time_table(time_series(data)).frame()
    >>> found.height, found.select("group", "run", "operation").row(0)
    (10, ('xfs', '1', 'write'))
    """
    runs = found.runs.with_columns(run_numbers(found.runs))
    names = list(dict.fromkeys(["operation", *varying_series(runs)])) if runs.height else ["operation"]
    columns = (
        *map(Column, ("group", "run", *(name.replace("_", " ") for name in names))),
        Column("median", "right"),
        Column("long-run mean", "right"),
        Column("changes", "right"),
        Column("steady at end"),
        Column("stalls", "right"),
        Column("longest stall, s", "right"),
    )

    def cells(row: dict[str, Any], scale: Prefix) -> Iterator[str]:
        yield from (text_of(row[name]) for name in ("level", "run"))
        yield from (cell_text(name, row[name]) or NOTHING for name in names)
        yield digits(row["median"] / scale.factor)
        yield NOTHING if _is_vague(row) else _mean(row, scale)
        yield text_of(row["changes"])
        since = (
            f", since {digits(row['steady_since'])} s" if row["steady"] and row["steady_since"] is not None else ""
        )
        yield text_of(row["steady"]) + since
        yield from (text_of(row[name]) for name in ("stalls", "longest"))

    groups = []
    for (metric, statistic), rows in runs.group_by("metric", "statistic", maintain_order=True):
        scale = prefix(rows["median"], str(metric))
        head = metric_text(str(metric), str(statistic)) + (f", in {scale.unit}" if scale.unit else "")
        groups.append(Group(head, tuple(tuple(cells(row, scale)) for row in rows.iter_rows(named=True))))
    caption = "Each run over time" if groups else "No run has figures over time."
    vague = any(map(_is_vague, found.runs.iter_rows(named=True)))
    return Table(caption, columns, tuple(groups), legend=(_VAGUE,) if vague else ())


_VAGUE: Final = f"{NOTHING} for a long-run mean: the run is too short, or drifts too much, to tell it from zero."


def varying_series(runs: pl.DataFrame) -> list[str]:
    """Name the columns of `CELL` that tell series apart, in the ``runs`` of a time series.

    Devices are told apart by their names; those of jobs say nothing that the other columns do not.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.time_series import time_series
    >>> varying_series(time_series(fsb.read("raw_results/recorded/latency-loop-2026")).runs)
    []
    """
    names = varying(runs.with_columns(scope=pl.lit("all")))
    return [name for name in names if name != "part" or set(runs["metric"]) <= OF_MACHINE.keys()]


def run_numbers(runs: pl.DataFrame) -> pl.Series:
    """Give each series the number of its run: in the order of execution or, if that is unknown, of the files.

    Parameters
    ----------
    runs
        As in `fsbench_kit.analysis.time_series.TimeSeries`.

    Examples
    --------
    >>> run_numbers(pl.DataFrame({"run_id": ["b", "b", "a"], "order": [None, None, None]})).to_list()
    [1, 1, 2]
    """
    known = runs["run_id"].unique(maintain_order=True)
    places = runs["run_id"].replace_strict(known, range(1, known.len() + 1), return_dtype=pl.Int64)
    return (places if runs["order"].null_count() else runs["order"]).alias("run")


def _is_vague(row: dict[str, Any]) -> bool:
    """Whether the interval of a run's mean reaches down to zero, so that it says nothing of the mean."""
    return row["low"] is not None and row["low"] <= 0


def _mean(row: dict[str, Any], scale: Prefix) -> str:
    known = [row[name] for name in ("mean", "low", "high")]
    mean, low, high = (NOTHING if value is None else digits(value / scale.factor) for value in known)
    return mean if row["low"] is None else f"{mean} [{low}, {high}]"
