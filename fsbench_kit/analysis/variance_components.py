"""Splits the variation of figures: within a run, between runs, between filesystems or hosts.

A difference between filesystems that is small compared with the differences between equal runs takes many runs to
show. Longer runs reduce the variation within a run, but only more runs reduce the variation between runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis import settings
from fsbench_kit.analysis.metrics import PRIMARY
from fsbench_kit.data.dataset import UNMEASURED, Dataset
from fsbench_kit.stats.series import BATCHES

if TYPE_CHECKING:
    from fsbench_kit.stats.result import Floats

WITHIN, BETWEEN, LEVELS = "within a run", "between runs", "between levels"

COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    **{name: pl.Int64 if name in {"block_size", "file_size", "threads"} else pl.String for name in settings.CELL},
    "source": pl.String,
    "variance": pl.Float64,
    "share": pl.Float64,
    "levels": pl.Int64,
    "runs": pl.Int64,
}


def variance_components(
    dataset: Dataset, factor: str = "filesystem", *, metric: str | None = None
) -> pl.DataFrame:
    """Split the variance of the logarithms of figures by its sources.

    Parameters
    ----------
    dataset
        The runs. Failed runs, and those before the first round, are left out.
    factor
        A column of the runs or the key of a setting, whose levels are the outermost source.
    metric
        By default, for each cell, the first of `fsbench_kit.analysis.metrics.PRIMARY` that it has.

    Returns
    -------
    pl.DataFrame
        One row for each cell and ``source``: ``within a run`` (between tenths of it, if all runs have figures over
        time), ``between runs``, ``between levels`` (if there are several). ``variance`` is what the source itself
        adds; a negative estimate, which means that it adds little, becomes 0. ``share`` is its part of the total.
        All levels count with the same number of ``runs``, the first ones. Cells are left out unless all of their
        levels have two runs.
    """
    wanted = list(PRIMARY) if metric is None else [metric]
    place = pl.col("metric").replace_strict(wanted, range(len(wanted)), default=None, return_dtype=pl.Int64)
    cell = [name for name in settings.CELL if name not in {"metric", "statistic"}]
    figures = (
        settings.cells(dataset, factor)
        .filter(~UNMEASURED, pl.col("value") > 0, pl.col("statistic").is_in(["value", "mean"]), status="ok")
        # a mean over samples only if there is no value
        .with_columns(place=2 * place + (pl.col("statistic") != "value").cast(pl.Int64))
        .drop_nulls("place")
        .filter(pl.col("place") == pl.col("place").min().over(*cell))
        .sort("study", "order", "started_at", "source", nulls_last=True, maintain_order=True)
    )
    tenths = _tenths(dataset)
    rows: list[dict[str, Any]] = []
    for _, of_cell in figures.group_by(*settings.CELL, maintain_order=True):
        first = of_cell.row(0, named=True)
        levels = [runs for _, runs in of_cell.group_by("level", maintain_order=True)]
        fewest = min(runs.height for runs in levels)
        if fewest < 2:
            continue
        chosen = [runs.head(fewest) for runs in levels]
        series = [
            [tenths.get((run, first["operation"], first["metric"])) for run in runs["run_id"]] for runs in chosen
        ]
        names = [BETWEEN, LEVELS] if len(levels) > 1 else [BETWEEN]
        if all(logs is not None for runs in series for logs in runs):
            values, names = np.array(series), [WITHIN, *names]
        else:
            values = np.log([runs["value"].to_list() for runs in chosen])
        own = stats.variance_components(values if len(levels) > 1 else values[0], levels=len(names)).own.clip(
            min=0
        )
        cell_facts = {name: first[name] for name in settings.CELL}
        rows += [
            {**cell_facts, "source": name, "variance": float(variance), "levels": len(levels), "runs": fewest}
            | {"share": float(variance / own.sum()) if own.sum() > 0 else None}
            for name, variance in zip(names, own, strict=True)
        ]
    return pl.DataFrame(rows, schema=COLUMNS)


def _tenths(dataset: Dataset) -> dict[tuple[str, str, str], Floats]:
    """Return the logarithms of the means of ten equal parts of each run that has a single series of a metric."""
    found = {}
    for (run, operation, metric), rows in dataset.series.filter(statistic="value").group_by(
        "run_id", "operation", "metric", maintain_order=True
    ):
        values = rows.sort("time")["value"].to_numpy()
        if rows["part"].n_unique() > 1 or values.size < BATCHES:
            continue
        means = values[values.size % BATCHES :].reshape(BATCHES, -1).mean(axis=1)
        if (means > 0).all():
            found[str(run), str(operation), str(metric)] = np.log(means)
    return found
