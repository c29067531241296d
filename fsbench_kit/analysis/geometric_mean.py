"""Compares many cells by a single ratio, over those that both groups have; the unit is the run, not the cell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.confounders import check
from fsbench_kit.analysis.design import Design, Evidence
from fsbench_kit.analysis.estimation import ONE_RUN, SET_MISMATCH, TOO_FEW
from fsbench_kit.analysis.groups import ROLES, Groups, against, comparable, groups_of, in_groups
from fsbench_kit.analysis.intervals import DISAGREE, STRATA_DISAGREE
from fsbench_kit.analysis.settings import CELL, Where
from fsbench_kit.analysis.units import in_units, plan
from fsbench_kit.analysis.verdict import codes
from fsbench_kit.model.vocabulary import METRICS
from fsbench_kit.stats.student import half_width_by_t

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fsbench_kit.analysis.reasons import Reason
    from fsbench_kit.data.dataset import Dataset, LazyDataset
    from fsbench_kit.data.labelled import Labelled
    from fsbench_kit.stats.result import Floats

_WHOLE: Final = ("study", "tool", "filesystem", "metric", "statistic")
_PART: Final = tuple(name for name in CELL if name not in _WHOLE)

COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    **dict.fromkeys(_WHOLE, pl.String),
    "better": pl.String,
    "factor": pl.String,
    "baseline": pl.String,
    "level": pl.String,
    "cells": pl.Int64,
    "cells_dropped": pl.Int64,
    "n_baseline": pl.Int64,
    "n_candidate": pl.Int64,
    "n_pairs": pl.Int64,
    "ratio": pl.Float64,
    "quartile_low": pl.Float64,
    "quartile_high": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "confidence": pl.Float64,
    "prediction_low": pl.Float64,
    "prediction_high": pl.Float64,
    "estimand": pl.String,
    "method": pl.String,
    "reasons": pl.List(pl.String),
    "footnotes": pl.List(pl.String),
}

_COUNTS: Final = ("cells", "cells_dropped")
_FOUND: Final = {
    name: kind
    for name, kind in COLUMNS.items()
    if name not in {*_WHOLE, "better", "factor", "baseline", "level", "reasons", "footnotes"}
}
_OF_INTERVAL: Final = {
    name: kind
    for name, kind in COLUMNS.items()
    if name.startswith(("ci_", "prediction_")) or name in {"n_pairs", "ratio", "confidence", "method"}
}
_BETTER: Final = {name: metric.better for name, metric in METRICS.items()}


def geometric_mean(
    dataset: Dataset | LazyDataset | Labelled,
    factor: str = "filesystem",
    baseline: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    where: Where | None = None,
    confidence: float = 0.95,
    include_failed: bool = False,
    all_pairs: bool = False,
    consecutive: bool = False,
) -> pl.DataFrame:
    """Compare each level of a factor with a baseline over all cells that both have.

    Parameters
    ----------
    dataset, factor, baseline, metrics, where, confidence, include_failed, all_pairs, consecutive
        As in `fsbench_kit.compare`.

    Returns
    -------
    pl.DataFrame
        One row for each study, tool, metric, statistic and level; the columns are `COLUMNS`. ``ratio`` is the
        geometric mean of the cells' ratios, half of which lie between ``quartile_low`` and ``quartile_high``; this
        spread over cells is not an interval. ``cells_dropped`` counts cells that a group lacks, or has without a
        figure above 0. ``n_*`` count units: runs, or rounds of a launch, whose runs together form one matrix.
        There is a confidence interval if each unit has a figure in all of these cells, and each group has two or
        more units. It is computed from the mean logarithm of each unit, by the rules of `fsbench_kit.compare` for
        hosts, launches, rounds and runs. A test over cells would find a difference in 40 % of cases if a session,
        which all cells share, varies by 1 %. ``prediction_*`` is where the ratio of another cell of this kind
        would lie, from random effects of three or more cells.

    Raises
    ------
    RequestError
        If the factor, the baseline or a value of ``where`` is not in the data.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> table = fsb.geometric_mean(data, metrics=["iops"])
    >>> table.select("level", "cells", pl.col("ratio", "ci_low", "ci_high").round(2)).rows()
    [('xfs', 1, 0.99, 0.97, 1.01)]
    """
    with_what = against(all_pairs=all_pairs, consecutive=consecutive)
    dataset, factor, baseline = in_groups(dataset, factor, baseline, with_what, metrics=metrics, where=where)
    measurements = comparable(dataset, factor, metrics, where=where, include_failed=include_failed)
    groups = groups_of(measurements, factor, baseline, _WHOLE, with_what, include_failed=include_failed)
    remarks = check(Design(groups, Evidence(dataset, factor), over_cells=True), footnotes=False)
    without_ratio = remarks.with_code(codes("no ratio"))
    cells = _cells(_logs(groups))
    found = _found(cells, groups.pairs.height)
    for reason, rows in _reasons(cells).items():
        remarks.because(rows, reason)
    units = _units(cells, without=remarks.with_code([ONE_RUN.code, TOO_FEW.code]))
    planned = plan(in_units(units), _NO_STRATA)
    remarks.note(planned.notes["pair"], planned.notes["text"])
    members = planned.runs.select("pair", "role", "run_id", "method", "unit", "block")
    others = units.join(members, on="pair", how="anti").select("pair", "role", "run_id", *_INDEPENDENT)
    whole = pl.concat([members, others]).join(units, on=["pair", "role", "run_id"], maintain_order="left")
    intervals = []
    for (row,), of_row in whole.group_by("pair", maintain_order=True):
        interval, agree = _interval(of_row, confidence)
        intervals.append({"row": row, **interval})
        if not agree:
            remarks.because([int(str(row))], STRATA_DISAGREE)
    found = found.update(pl.DataFrame(intervals, schema={"row": pl.Int64, **_OF_INTERVAL}), on="row")
    with_ratio = ~pl.col("row").is_in(without_ratio.implode())
    found = found.select(
        name if name in _COUNTS else pl.when(with_ratio).then(name).alias(name) for name in _FOUND
    )
    return (
        groups.of("baseline")
        .select(*_WHOLE, baseline="level", better=pl.col("metric").replace_strict(_BETTER), factor=pl.lit(factor))
        .with_columns(groups.of("candidate", "level"))
        .hstack(found)
        .hstack(remarks.columns(found.height))
        .select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())
    )


def _logs(groups: Groups) -> pl.DataFrame:
    """Return the logarithm of each cell's figure in each unit, null if there is no figure above 0.

    The runs of a round together form one matrix, and share one id.
    """
    columns = (*_PART, "run_id", "host", "launch", "date", "boot", "round", "state", "value")
    every = np.arange(groups.pairs.height)
    both = [groups.runs_of(role, every, *columns).with_columns(role=number) for number, role in enumerate(ROLES)]
    measured = (pl.col("state") == "measured") & (pl.col("value") > 0)
    of_round = pl.format("{} {}", "launch", "round")
    return (
        pl.concat(both)
        .with_columns(
            cell=pl.struct(_PART).rank("dense"),
            log=pl.when(measured).then(pl.col("value").log()),
            run_id=pl.coalesce(of_round, "run_id"),
        )
        .group_by("row", "role", "cell", "run_id", "host", "launch", "round", maintain_order=True)
        .agg(
            pl.col("date", "boot").first(),
            pl.when(pl.col("log").is_not_null().all()).then(pl.col("log").mean()).alias("log"),
        )
    )


def _cells(logs: pl.DataFrame) -> pl.DataFrame:
    """Determine for each cell whether both groups have it, with figures in all of their units."""
    both = [pl.col("log").filter(pl.col("role") == role) for role in range(len(ROLES))]
    return logs.group_by("row", "cell", maintain_order=True).agg(
        *(own.len().alias(f"n_{number}") for number, own in enumerate(both)),
        common=(pl.col("role").n_unique() == len(ROLES)) & pl.col("log").is_not_null().all(),
        ratio=both[1].mean() - both[0].mean(),
        units=pl.struct("role", "run_id", "host", "launch", "date", "boot", "round", "log"),
    )


def _units(cells: pl.DataFrame, without: pl.Series) -> pl.DataFrame:
    """Return the units of rows, each with its logarithms in the common cells."""
    units = cells.filter("common", ~pl.col("row").is_in(without.implode())).sort("row", "cell").explode("units")
    return (
        units.select(pair="row", cell="cell", units="units")
        .unnest("units")
        .group_by("pair", "role", "run_id", "host", "launch", "date", "boot", "round", maintain_order=True)
        .agg("log")
        .sort("pair", "launch", "round", "run_id")
    )


def _found(cells: pl.DataFrame, rows: int) -> pl.DataFrame:
    """Return the columns of each row that need no interval: counts, and the spread of ratios."""
    common = pl.col("common")
    ratios = pl.col("ratio").filter("common")
    units = pl.col("units").filter("common").explode().struct
    role, run = units.field("role"), units.field("run_id")
    of_row = cells.group_by("row").agg(
        cells=common.sum(),
        cells_dropped=(~common).sum(),
        n_baseline=run.filter(role == 0).n_unique(),
        n_candidate=run.filter(role == 1).n_unique(),
        ratio=ratios.mean().exp(),
        quartile_low=ratios.quantile(0.25, "linear").exp(),
        quartile_high=ratios.quantile(0.75, "linear").exp(),
        estimand=pl.when(common.any()).then(pl.lit("geometric mean of the cells' ratios")),
    )
    every = pl.DataFrame({"row": pl.int_range(rows, eager=True)})
    some = pl.when(pl.col("cells") > 0)
    table = every.join(of_row, on="row", how="left", maintain_order="left").with_columns(
        some.then(name).alias(name) for name in ("n_baseline", "n_candidate")
    )
    return table.select(
        "row",
        *(
            pl.col(name).cast(kind) if name in table.columns else pl.lit(None, kind).alias(name)
            for name, kind in _FOUND.items()
        ),
    )


def _reasons(cells: pl.DataFrame) -> dict[Reason, pl.Series]:
    """Return why rows have no interval, or one that does not cover all cells."""
    fewest = pl.min_horizontal("n_0", "n_1")
    of_row = cells.group_by("row", maintain_order=True).agg(
        lacking=(fewest == 0).any(),
        any=pl.col("common").any(),
        few=(pl.col("common") & (fewest < 2)).any(),
        incomplete=(
            pl.col("units").list.len().filter("common").sum() < pl.col("common").sum() * _number_of_units()
        ),
    )
    few, some = pl.col("few"), pl.col("any")
    return {
        SET_MISMATCH: of_row.filter("lacking")["row"],
        ONE_RUN: of_row.filter(some & few)["row"],
        replace(TOO_FEW, meaning=_INCOMPLETE): of_row.filter(some & ~few & pl.col("incomplete"))["row"],
    }


def _number_of_units() -> pl.Expr:
    units = pl.col("units").filter("common").explode().struct
    return pl.struct(units.field("role"), units.field("run_id")).n_unique()


_INCOMPLETE: Final = "Not every run (or round) of a group has all of these cells."
_INDEPENDENT: Final = (
    pl.lit("runs").alias("method"),
    pl.lit(None, pl.String).alias("unit"),
    pl.lit(None, pl.UInt32).alias("block"),
)
_NO_STRATA: Final = pl.DataFrame(schema={"pair": pl.Int64, "run_id": pl.String, "stratum": pl.String})


def _interval(units: pl.DataFrame, confidence: float) -> tuple[dict[str, Any], bool]:
    """Return the columns computed from the units of a row, and whether its strata agree."""
    whole, each = _estimates(units, confidence)
    overall, of_cells = (one.overall if isinstance(one, stats.Strata) else one for one in (whole, each))
    found: dict[str, Any] = {"method": overall.method, "ratio": float(overall.estimate)}
    if overall.n_pairs is not None:
        found["n_pairs"] = int(overall.n_pairs)
    if np.isfinite(overall.low):
        found |= {"ci_low": float(overall.low), "ci_high": float(overall.high), "confidence": confidence}
    agree = not (isinstance(whole, stats.Strata) and whole.p_disagree < DISAGREE)
    return found | _prediction(overall, of_cells, confidence), agree


def _estimates(units: pl.DataFrame, confidence: float) -> tuple[stats.RatioEstimate | stats.Strata, ...]:
    """Estimate the ratio over all cells and that of each cell, in the planned units."""
    method, names = units["method"][0], units["unit"].unique().sort()
    both = [units.filter(role=role).sort("block", nulls_last=True, maintain_order=True) for role in (0, 1)]
    each = [np.array(own["log"].to_list()).T for own in both]
    found: list[stats.RatioEstimate | stats.Strata] = []
    for logs in ([own.mean(axis=0) for own in each], each):
        values = [np.exp(own) for own in logs]
        if method in _PLAIN:
            found.append(_PLAIN[method](*values, confidence))
            continue
        stacked = [_stacked(array, own["unit"], names) for array, own in zip(values, both, strict=True)]
        if method == "means":
            a, b = (np.exp(np.ma.log(own).mean(axis=-1)) for own in stacked)
            found.append(stats.welch_log(a, b, confidence))
        else:
            found.append(_WITHIN[method](*stacked, confidence))
    return tuple(found)


_PLAIN: Final[dict[str, Callable[..., stats.RatioEstimate]]] = {
    "runs": stats.welch_log,
    "rounds": stats.paired_log,
}
_WITHIN: Final[dict[str, Callable[..., stats.RatioEstimate | stats.Strata]]] = {
    "units": stats.blocked_log,
    "strata": stats.stratified_log,
    "strata of rounds": stats.stratified_paired_log,
}


def _stacked(values: Floats, units: pl.Series, names: pl.Series) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
    """Return values of shape ``(..., runs)`` with an axis of units inserted before that of runs."""
    places = [np.flatnonzero(units == name) for name in names]
    most = max(place.size for place in places)
    shape = *values.shape[:-1], len(places), most
    stacked = np.ma.MaskedArray(np.ones(shape), mask=np.ones(shape, dtype=np.bool_))
    for unit, place in enumerate(places):
        stacked[..., unit, : place.size] = values[..., place]
    return stacked


def _prediction(whole: stats.RatioEstimate, each: stats.RatioEstimate, confidence: float) -> dict[str, float]:
    """Return where the ratio of another cell would lie, given the spread of cells and the error of the mean."""
    if whole.standard_error is None or each.standard_error is None or not (each.standard_error > 0).all():
        return {}
    if each.estimate.size < _FEWEST_CELLS:
        return {}
    found = stats.random_effects(np.log(each.estimate), np.square(each.standard_error), confidence)
    middle, squared = np.log(whole.estimate), np.square(whole.standard_error)
    reach = half_width_by_t(np.sqrt(found.variance + squared), each.estimate.size - 1, confidence)
    return {"prediction_low": float(np.exp(middle - reach)), "prediction_high": float(np.exp(middle + reach))}


_FEWEST_CELLS: Final = 3
"""The smallest number of cells from which the ratio of another one can be predicted."""
