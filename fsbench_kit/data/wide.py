"""A dataset as one wide table: a row for each run and operation, with settings and metrics as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.data.flat import PLACE, settings_of
from fsbench_kit.model.schema import SCHEMAS
from fsbench_kit.model.vocabulary import setting_kind

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset

_OF_RUNS: Final = [
    name for name in SCHEMAS["runs"] if name not in {"source", "start", "end", "line", "sha256", "exit_code"}
]
_ROW: Final = [*PLACE, "operation", "block_size", "file_size", "threads"]


def wide(dataset: Dataset) -> pl.DataFrame:
    """Return the table; see `fsbench_kit.Dataset.wide`."""
    runs, metrics = dataset.runs.select(_OF_RUNS), _metrics(dataset.measurements)
    settings = _settings(dataset.settings, metrics.select(PLACE).unique(maintain_order=True))
    known = {name: kind for name, kind in (runs.schema | metrics.select(_ROW).schema).items() if name not in PLACE}
    # A setting that is also a fact of the run or its measurements becomes one column.
    said_twice = [name for name in settings.columns if name in known]
    measured = [name for name in metrics.columns if name not in _ROW]
    settings = settings.rename(
        {name: f"{name}_setting" for name in settings.columns if name in said_twice or name in measured}
    )
    return (
        metrics.join(runs, on="run_id", how="left", maintain_order="left")
        .join(settings, on=PLACE, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(
            pl.coalesce(name, pl.col(f"{name}_setting").cast(known[name], strict=False)) for name in said_twice
        )
        .drop(f"{name}_setting" for name in said_twice)
        .select(*_OF_RUNS, *_ROW[1:], pl.exclude(*_OF_RUNS, *_ROW, *measured), *measured)
    )


def _metrics(measurements: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each run, part and operation, with a column for each metric and statistic."""
    statistic = pl.col("statistic")
    name = (
        pl.when(statistic == "value").then("metric").otherwise(pl.concat_str("metric", statistic, separator="_"))
    )
    return (
        measurements.filter(pl.col("primary"), state="measured")
        .select(*_ROW, "value", column=name)
        .pivot(on="column", index=_ROW, values="value", aggregate_function="first")
    )


def _settings(settings: pl.DataFrame, places: pl.DataFrame) -> pl.DataFrame:
    """Return each place's own settings, or else its run's, by the strongest origin that states them."""
    settings = settings.filter(~pl.col("key").is_in([key for key in settings["key"].unique() if _is_label(key)]))
    by_place = settings_of(places.lazy(), settings.lazy()).collect().pivot(on="key", index=PLACE, values="value")
    keys = [key for key in settings["key"].unique(maintain_order=True) if key in by_place.columns]
    return by_place.select(*PLACE, *(_typed(by_place[key]) for key in keys))


def _is_label(key: str) -> bool:
    return setting_kind(key) == "label" or key == "provision"


def _typed(column: pl.Series) -> pl.Series:
    """Convert a column to numbers or truth values if it contains nothing else."""
    if column.drop_nulls().is_in(["true", "false"]).all():
        return (column == "true").alias(column.name)
    for kind in (pl.Int64, pl.Float64):
        cast = column.cast(kind, strict=False)
        if cast.null_count() == column.null_count():
            return cast
    return column
