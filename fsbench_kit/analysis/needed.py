"""What a comparison needs of a dataset on disk: no more is read, so that memory follows what is compared."""

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
"""The columns of cells that runs have."""

_BESIDE: Final = pl.any_horizontal(
    pl.col("metric").is_in(["bytes", "elapsed"]),
    (pl.col("statistic") == "mean") & pl.col("metric").is_in(["latency", "submission_latency"]),
    pl.col("scope") == "disk",
)
"""The figures that say of others how they came about: by how much work, in which time, on which disks."""

_ROW: Final = "row"


def needed(
    dataset: LazyDataset, factor: str, metrics: Sequence[str] | str | None = None, where: Where | None = None
) -> Dataset:
    """Read of a dataset on disk what a comparison needs, which then finds in it what it would find in the whole.

    Parameters
    ----------
    dataset, factor, metrics, where
        As in `fsbench_kit.compare`.

    Returns
    -------
    Dataset
        The runs whose study, tool and filesystem ``where`` chooses. Of their figures those of the metrics, and
        those that say how these came about; with ``where``, also one that has each value which it may choose. No
        distributions and no series; but all errors in reading.

    Raises
    ------
    RequestError
        If a metric is not one, no run has a figure of it, or none has a value of ``where``.
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
    """Choose a figure of each run, metric and value that ``where`` may ask for: what it chooses is there then."""
    kinds = {"run_id", "metric", *where} & {*measurements.collect_schema()}
    first = measurements.with_row_index(_ROW).filter("primary").group_by(kinds).agg(pl.col(_ROW).min())
    return pl.col(_ROW).is_in(first.collect(engine="streaming")[_ROW].implode())


def _chosen(dataset: LazyDataset, factor: str, where: Where | None) -> list[pl.Expr]:
    """Return what is true of runs with chosen values; nothing where that would leave a chosen value out."""
    if not isinstance(where, Mapping):
        return []
    kinds = dataset.runs.select(_OF_RUNS).unique().collect()
    values = {
        name: chosen_of(name, where[name], kinds[name]) for name in _OF_RUNS if name in where and name != factor
    }
    chosen = [pl.col(name).is_in(kept, nulls_equal=True) for name, kept in values.items()]
    left = kinds.filter(*chosen)
    return chosen if left.height and all({*kept} <= {*left[name]} for name, kept in values.items()) else []
