"""One ratio for many cells: over those that both groups have, with the run as the unit and never the cell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.confounders import check
from fsbench_kit.analysis.design import Design, Evidence
from fsbench_kit.analysis.estimation import ONE_RUN, SET_MISMATCH, TOO_FEW
from fsbench_kit.analysis.groups import comparable, groups_of
from fsbench_kit.analysis.metrics import wanted
from fsbench_kit.analysis.settings import CELL
from fsbench_kit.analysis.verdict import codes
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.analysis.reasons import Reason
    from fsbench_kit.analysis.settings import Where
    from fsbench_kit.data.dataset import Dataset

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
_BETTER: Final = {name: metric.better for name, metric in METRICS.items()}


def geometric_mean(
    dataset: Dataset,
    factor: str = "filesystem",
    baseline: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    where: Where | None = None,
    confidence: float = 0.95,
    include_failed: bool = False,
) -> pl.DataFrame:
    """Compare each level of a factor with a baseline over all the cells that both have.

    Parameters
    ----------
    dataset, factor, baseline, metrics, where, confidence, include_failed
        As in `fsbench_kit.compare`.

    Returns
    -------
    pl.DataFrame
        One row for each study, tool, metric, statistic and level; the columns are `COLUMNS`. ``ratio`` is the
        geometric mean of the cells' ratios, and ``quartile_low`` and ``quartile_high`` hold half of these: the
        spread over cells, which is no interval. ``cells_dropped`` counts those that a group lacks, or has without
        a figure above 0. ``n_*`` count units: runs, or the rounds of a launch, whose runs are one matrix together.
        There is a confidence interval where each unit has a figure in all of these cells, and each group has two
        or more: paired t over shared rounds, or else Welch's t, on the mean logarithm of each unit. A test over
        cells would find a difference in 40 % of cases where a session, which all cells share, varies by 1 %.

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
    measurements = comparable(dataset, factor, wanted(metrics), where=where, include_failed=include_failed)
    groups = groups_of(measurements, factor, baseline, _WHOLE)
    remarks = check(Design(groups, Evidence(dataset, factor)), footnotes=False)
    without_ratio = set(remarks.with_code(codes("no ratio")))
    of_group = groups.measurements.partition_by("group", maintain_order=True)
    rows = []
    for row, pair in enumerate(groups.pairs.rows()):
        found, reasons = _over_cells(of_group[pair[0]], of_group[pair[1]], confidence)
        rows.append({name: found[name] for name in _COUNTS} if row in without_ratio else found)
        for reason in reasons:
            remarks.because([row], reason)
    return (
        groups.of("baseline")
        .select(*_WHOLE, baseline="base", better=pl.col("metric").replace_strict(_BETTER), factor=pl.lit(factor))
        .with_columns(groups.of("candidate", "level"))
        .hstack(pl.DataFrame(rows, schema=_FOUND, orient="row"))
        .hstack(remarks.columns(len(rows)))
        .select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())
    )


def _over_cells(
    baseline: pl.DataFrame, candidate: pl.DataFrame, confidence: float
) -> tuple[dict[str, Any], list[Reason]]:
    """Return the columns that the figures give, and the reasons why they give no more."""
    a, b = (_logs(side) for side in (baseline, candidate))
    had = [side.select(_PART).unique() for side in (a, b)]
    usable = [side.filter(pl.col("log").is_not_null().all().over(_PART)) for side in (a, b)]
    common = usable[0].select(_PART).unique().join(usable[1], on=_PART, how="semi", nulls_equal=True)
    every = pl.concat(had).unique().height
    a, b = (side.join(common, on=_PART, how="semi", nulls_equal=True) for side in (a, b))
    reasons = [SET_MISMATCH] if min(side.height for side in had) < every else []
    counts = {"cells": common.height, "cells_dropped": every - common.height}
    if common.is_empty():
        return counts, reasons

    means = [side.group_by(_PART).agg(pl.col("log").mean()) for side in (a, b)]
    beside = means[0].join(means[1], on=_PART, nulls_equal=True)
    ratios = (beside["log_right"] - beside["log"]).to_numpy()
    units = [
        side.group_by("unit", "by_round").agg(pl.len(), pl.col("log").mean().exp().alias("value")).sort("unit")
        for side in (a, b)
    ]
    found = {
        **counts,
        "n_baseline": units[0].height,
        "n_candidate": units[1].height,
        "ratio": float(np.exp(ratios.mean())),
        "quartile_low": float(np.exp(np.quantile(ratios, 0.25))),
        "quartile_high": float(np.exp(np.quantile(ratios, 0.75))),
        "estimand": "geometric mean of the cells' ratios",
    }
    if any((side.group_by(_PART).len()["len"] < 2).any() for side in (a, b)):
        return found, [*reasons, ONE_RUN]
    whole = [side.filter(pl.col("len") == common.height) for side in units]
    if any(part.height < side.height for part, side in zip(whole, units, strict=True)):
        return found, [*reasons, replace(TOO_FEW, meaning=_INCOMPLETE)]
    shared = whole[0].filter("by_round").join(whole[1].filter("by_round"), on="unit", maintain_order="left")
    if shared.height == whole[0].height == whole[1].height:
        estimate = stats.paired_log(shared["value"], shared["value_right"], confidence)
        found["n_pairs"] = shared.height
    else:
        estimate = stats.welch_log(whole[0]["value"], whole[1]["value"], confidence)
    if np.isfinite(estimate.low):
        found |= {"ci_low": float(estimate.low), "ci_high": float(estimate.high), "confidence": confidence}
    return found | {"method": estimate.method}, reasons


_INCOMPLETE: Final = "Not every run (or round) of a group has all of these cells."


def _logs(side: pl.DataFrame) -> pl.DataFrame:
    """Return the logarithm of each cell's figure in each unit, null where there is no figure above 0."""
    measured = (pl.col("state") == "measured") & (pl.col("value") > 0)
    of_round = pl.format("{} {}", pl.col("host").fill_null(""), pl.col("round"))
    return (
        side.with_columns(
            log=pl.when(measured).then(pl.col("value").log()),
            unit=pl.coalesce(of_round, "run_id"),
            by_round=pl.col("round").is_not_null(),
        )
        .group_by(*_PART, "unit", "by_round", maintain_order=True)
        .agg(pl.when(pl.col("log").is_not_null().all()).then(pl.col("log").mean()).alias("log"))
    )
