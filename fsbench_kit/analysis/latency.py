"""The latency of requests: the percentile curve of each run, from its bins or the percentiles that it prints.

The bin of a percentile is known, but not where in it, so every point of a curve has a lower and an upper bound.
Percentiles are never averaged: each run has its own curve, or the bins of runs are added up to one histogram.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.groups import no_factor
from fsbench_kit.data.dataset import UNMEASURED, Dataset
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.suggestions import a, known_instead
from fsbench_kit.model.vocabulary import EITHER_LATENCY, SCOPES
from fsbench_kit.stats import binned_quantile, merged

if TYPE_CHECKING:
    from collections.abc import Iterator


METRICS: Final = ("completion_latency", "latency", EITHER_LATENCY, "submission_latency")
"""The metrics that can have such curves; by default the first one that a run has is used."""

COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    **{
        name: pl.Int64 if name in {"block_size", "file_size", "threads"} else pl.String
        for name in settings.CELL
        if name != "statistic"
    },
    "factor": pl.String,
    "level": pl.String,
    "curve": pl.String,
    "runs": pl.Int64,
    "requests": pl.Int64,
    "known_from": pl.String,
    "share": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}

_HUNDREDTHS: Final = np.arange(2, 90, 2) / 100
_STEPS_PER_NINE: Final = 16
_CELL: Final = [name for name in settings.CELL if name not in {"scope", "part", "metric", "statistic"}]


def curves(
    dataset: Dataset, factor: str = "filesystem", *, metric: str | None = None, pooled: bool = False
) -> pl.DataFrame:
    """Return the percentile curves of runs.

    Parameters
    ----------
    dataset
        The runs. Failed runs, and those before the first round, are left out.
    factor
        A column of the runs or the key of a setting, whose values are in ``level``.
    metric
        One of `METRICS`; by default the first one that a run has.
    pooled
        Whether to add up the bins of all runs of a cell and level to one histogram, in which runs with more
        requests have more weight. Printed percentiles cannot be added up, and remain separate curves.

    Returns
    -------
    pl.DataFrame
        The columns of `COLUMNS`, one row for each point of a curve: a ``share`` of the requests took no longer
        than a value between ``low`` and ``high``, where null is unbounded. ``known_from`` is ``bins`` or
        ``percentiles``. Jobs of a run with the same settings are one curve if they have bins.

    Raises
    ------
    RequestError
        If no run has such figures, if the factor or the metric is unknown, or if the bins of runs to be pooled are
        of different kinds.
    """
    if metric is not None and metric not in METRICS:
        raise RequestError(f"{metric!r} is not a latency", hint=known_instead(metric, METRICS))
    wanted = [metric] if metric is not None else list(METRICS)
    cells = settings.operations(dataset, factor).filter(~UNMEASURED, status="ok")
    cells = cells.with_columns(factor=pl.lit(factor))
    if cells.is_empty():
        raise no_factor(dataset, factor)
    bins = _of_widest_scope(
        dataset.distributions.filter(pl.col("count") > 0, pl.col("metric").is_in(wanted)), wanted
    ).join(cells, on=["run_id", "operation"])
    printed = _of_widest_scope(_printed(dataset, wanted), wanted).join(cells, on=["run_id", "operation"])
    printed = printed.join(bins, on=["run_id", "operation"], how="anti")
    rows = [*_from_bins(bins, pooled=pooled), *_from_percentiles(printed)]
    if not rows:
        raise RequestError(
            f"no run that succeeded has a distribution of {metric or 'latencies'} and {a(factor)}",
            hint="fio gives one with --output-format=json+, sysbench with --histogram.",
        )
    return pl.concat(rows)


def _of_widest_scope(rows: pl.DataFrame, wanted: list[str]) -> pl.DataFrame:
    """Keep the first metric of each run and operation, in its widest scope."""
    place = pl.col("metric").replace_strict(wanted, range(len(wanted)), return_dtype=pl.Int64)
    scope = pl.col("scope").cast(pl.String).replace_strict(SCOPES, range(len(SCOPES)), return_dtype=pl.Int64)
    key = ("run_id", "operation")
    return rows.filter(place == place.min().over(key)).filter(scope == scope.min().over(key))


def _printed(dataset: Dataset, wanted: list[str]) -> pl.DataFrame:
    rank = pl.col("statistic").str.extract(r"^p(\d{1,2}(?:\.\d+)?)$").cast(pl.Float64) / 100
    return (
        dataset.measurements.filter("primary", pl.col("metric").is_in(wanted), pl.col("value").is_not_null())
        .with_columns(
            share=rank,
            low=pl.coalesce("low", "value"),
            high=pl.coalesce("high", "value"),
        )
        .filter(pl.col("share") > 0)
    )


def _from_bins(bins: pl.DataFrame, *, pooled: bool) -> Iterator[pl.DataFrame]:
    bins = bins.with_columns(pl.when("differ").then("part").alias("part"))
    own = [] if pooled else ["run_id"]
    for number, (_, rows) in enumerate(
        bins.group_by(*_CELL, "part", "metric", "level", *own, maintain_order=True)
    ):
        try:
            histogram = merged(rows["low"].fill_null(0.0), rows["high"].fill_null(np.inf), rows["count"])
        except ValueError as error:
            raise RequestError(
                f"the bins of these runs cannot be added up: {error}", hint="Draw each run by itself."
            ) from None
        shares = _shares(histogram.total)
        points = [binned_quantile(histogram, share) for share in shares]
        first = rows.row(0, named=True)
        yield _curve(
            first,
            f"pooled {number}" if pooled else first["run_id"],
            runs=rows["run_id"].n_unique(),
            requests=histogram.total,
            known_from="bins",
            points={
                "share": shares,
                "low": [point.low for point in points],
                "high": [point.high if np.isfinite(point.high) else None for point in points],
            },
        )


def _shares(requests: int) -> list[float]:
    """Return the shares at which a curve is sampled, up to the one that excludes a single request."""
    nines = np.arange(_STEPS_PER_NINE, np.log10(max(requests, 1)) * _STEPS_PER_NINE) / _STEPS_PER_NINE
    return [*_HUNDREDTHS.tolist(), *(1 - 10.0**-nines).tolist(), *([1 - 1 / requests] if requests > 1 else [])]


def _from_percentiles(printed: pl.DataFrame) -> Iterator[pl.DataFrame]:
    for _, rows in printed.group_by("run_id", "operation", "metric", "part", maintain_order=True):
        points = rows.sort("share")
        first = rows.row(0, named=True)
        parts = printed.filter(run_id=first["run_id"], operation=first["operation"])["part"].n_unique()
        yield _curve(
            first | {"part": first["part"] if parts > 1 else None},
            f"{first['run_id']} {first['part']}",
            runs=1,
            requests=None,
            known_from="percentiles",
            points={name: points[name].to_list() for name in ("share", "low", "high")},
        )


def _curve(
    first: dict[str, Any], name: str, *, runs: int, requests: int | None, known_from: str, points: dict[str, Any]
) -> pl.DataFrame:
    facts = first | {"curve": name, "runs": runs, "requests": requests, "known_from": known_from}
    return (
        pl.DataFrame(points)
        .select(
            pl.col(column) if column in points else pl.lit(facts[column], dtype).alias(column)
            for column, dtype in COLUMNS.items()
        )
        .cast({"share": pl.Float64, "low": pl.Float64, "high": pl.Float64})
    )
