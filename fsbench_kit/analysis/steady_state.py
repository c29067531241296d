"""Checks whether the rounds of a launch are steady, by the storage industry's test specification for SSDs.

The speed of a device changes for a while after it has rested or been filled. The result is not a verdict and does
not withhold one: it only shows whether this phase is over.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis import settings
from fsbench_kit.analysis.metrics import PRIMARY
from fsbench_kit.data.dataset import UNMEASURED, Dataset
from fsbench_kit.stats.steady import WINDOW

COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    **{name: pl.Int64 if name in {"block_size", "file_size", "threads"} else pl.String for name in settings.CELL},
    "target": pl.String,
    "workload": pl.String,
    "rounds": pl.Int64,
    "range": pl.Float64,
    "slope": pl.Float64,
    "steady": pl.Boolean,
}


def steady_state(dataset: Dataset) -> pl.DataFrame:
    """Check the last rounds of each figure of a launch against SNIA's criterion.

    Parameters
    ----------
    dataset
        Runs that were made in rounds. Failed runs, and those before the first round, are left out.

    Returns
    -------
    pl.DataFrame
        One row for each target, workload and figure, using the first of `metrics.PRIMARY` that it has. ``range``
        and ``slope`` are those of the last `WINDOW` rounds, as shares of their mean; ``steady`` is whether the
        range is within 20 % and the slope within 10 %. All three are null if there are fewer rounds.
    """
    rank = pl.col("metric").replace_strict(list(PRIMARY), range(len(PRIMARY)), default=None)
    key = [*settings.CELL, "target", "workload"]
    cell = [name for name in key if name not in {"metric", "statistic"}]
    figures = (
        settings.cells(dataset, "filesystem")
        .filter(~UNMEASURED, pl.col("value") > 0, pl.col("statistic").is_in(["value", "mean"]), status="ok")
        .drop_nulls("round")
        .filter(rank == rank.min().over(cell))
        .sort("round")
        .group_by(key, maintain_order=True)
        .agg("value")
    )
    rows = []
    for row in figures.sort("workload", "operation", "target").rows(named=True):
        values = row.pop("value")
        row["rounds"] = len(values)
        if len(values) >= WINDOW:
            found = stats.steady_state(values)
            row |= {"range": float(found.range), "slope": float(found.slope), "steady": bool(found.steady)}
        rows.append(row)
    return pl.DataFrame(rows, schema=COLUMNS)


def sentence(found: pl.DataFrame) -> str | None:
    """Describe the result of `steady_state` in a sentence; ``None`` if there were too few rounds."""
    known = found.drop_nulls("steady")
    if known.is_empty():
        return None
    restless = known.filter(~pl.col("steady"))
    head = f"Over the last {WINDOW} rounds {known.height - restless.height} of {known.height} figures are steady"
    if restless.is_empty():
        return f"{head} (range within 20 %, slope within 10 % of their mean)."
    worst = restless.sort(pl.max_horizontal(pl.col("range") / 0.20, pl.col("slope").abs() / 0.10)).row(
        -1, named=True
    )
    spread, slope = (f"{100 * worst[share]:.0f} %" for share in ("range", "slope"))
    return (
        f"{head}. The furthest from it is {worst['metric']} of {worst['operation']} on {worst['target']} "
        f"({worst['workload']}): its range is {spread}, its slope {slope} of the mean, "
        "where 20 % and 10 % are allowed."
    )
