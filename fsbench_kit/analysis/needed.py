"""Reads from a dataset on disk only what a comparison needs, so that memory use depends on what is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.metrics import no_figure, wanted
from fsbench_kit.analysis.settings import chosen_of
from fsbench_kit.data.dataset import Dataset, LazyDataset
from fsbench_kit.data.dates import with_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.analysis.settings import Where

_OF_RUNS: Final = ("study", "tool", "filesystem")
"""The columns of cells that are also columns of runs."""

_BESIDE: Final = pl.any_horizontal(
    pl.col("metric").is_in(["bytes", "elapsed"]),
    (pl.col("statistic") == "mean") & pl.col("metric").is_in(["latency", "submission_latency"]),
    pl.col("scope") == "disk",
)
"""The figures that explain others: the amount of work, the time that it took, and the disks' counters."""

_ROW: Final = "row"


def needed(
    dataset: LazyDataset, factor: str, metrics: Sequence[str] | str | None = None, where: Where | None = None
) -> Dataset:
    """Read what a comparison needs from a dataset on disk; its result is the same as for the whole dataset.

    Parameters
    ----------
    dataset, factor, metrics, where
        As in `fsbench_kit.compare`.

    Returns
    -------
    Dataset
        The runs whose study, tool and filesystem satisfy ``where``, with their figures of the metrics and those
        that explain these; with ``where``, also a figure for each value that it may choose. It has no
        distributions and no series, but all errors in reading.

    Raises
    ------
    RequestError
        If a metric is unknown, or no run has a figure of it or a value of ``where``.
    """
    errors = dataset.diagnostics.filter(severity="error")
    if chosen := _chosen(dataset, factor, where):
        dataset = dataset.filter(*chosen)
    there = dataset.measurements.select(pl.col("metric").unique()).collect(engine="streaming").to_series()
    compared = wanted(metrics, there)
    measurements = dataset.measurements
    asked = _asked(measurements, where) if where else pl.lit(value=False)
    frames = dataset.frames | {
        "measurements": measurements.with_row_index(_ROW).filter(compared | _BESIDE | asked).drop(_ROW),
        "distributions": dataset.distributions.clear(),
        "series": dataset.series.clear(),
        "diagnostics": pl.concat([errors, dataset.diagnostics.filter(pl.col("severity") != "error")]),
    }
    read = with_times(LazyDataset(**frames).collect())
    if read.measurements.filter(compared).is_empty() and "elapsed_with_sync" not in (metrics or ()):
        raise no_figure(metrics, there)
    return read


def _asked(measurements: pl.LazyFrame, where: Where) -> pl.Expr:
    """Select a figure for each run, metric and value that ``where`` may ask for, to show that they exist."""
    kinds = {"run_id", "metric", *where} & {*measurements.collect_schema()}
    first = measurements.with_row_index(_ROW).filter("primary").group_by(kinds).agg(pl.col(_ROW).min())
    return pl.col(_ROW).is_in(first.collect(engine="streaming")[_ROW].implode())


def _chosen(dataset: LazyDataset, factor: str, where: Where | None) -> list[pl.Expr]:
    """Return filters for runs with the chosen values; none if they would exclude a chosen value entirely."""
    if not isinstance(where, Mapping):
        return []
    kinds = dataset.runs.select(_OF_RUNS).unique().collect()
    values = {
        name: chosen_of(name, where[name], kinds[name]) for name in _OF_RUNS if name in where and name != factor
    }
    chosen = [pl.col(name).is_in(kept, nulls_equal=True) for name, kept in values.items()]
    left = kinds.filter(*chosen)
    return chosen if left.height and all({*kept} <= {*left[name]} for name, kept in values.items()) else []
