"""Compares runs that differ in one factor: ratios, intervals where the data allow them, verdicts with reasons.

The run is the unit of inference, and the method follows from the data's shape, see `compare`. What stands side by
side is found by `groups`, what else sets it apart by `confounders`, and the figures of all cells of a shape go
through `estimation` at once. `fsbench_kit.stats` has the methods' sources.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis import settings
from fsbench_kit.analysis.confounders import Confounders
from fsbench_kit.analysis.estimation import Findings, Options, estimate, shape_of_sides
from fsbench_kit.analysis.groups import OTHER, figures_of, left_out, side_by_side, sides_of
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.vocabulary import EITHER_LATENCY, METRICS, REASONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.analysis.estimation import Bools
    from fsbench_kit.analysis.settings import Where
    from fsbench_kit.data.dataset import Dataset

Verdict = Literal["better", "worse", "equivalent", "inconclusive", "single runs", "bound only", "not comparable"]

STATISTICS: Final[dict[str, tuple[str, ...]]] = {
    "bandwidth": ("value",),
    "iops": ("value",),
    "file_rate": ("value",),
    "latency": ("mean", "p50", "p95", "p99"),
    "completion_latency": ("mean", "p50", "p95", "p99"),
    EITHER_LATENCY: ("p50", "p95", "p99"),
    "phase_latency": ("max",),
    "elapsed": ("value",),
    "elapsed_with_sync": ("value",),
    "cpu": ("value",),
    "capacity": ("value",),
}
"""The metrics that are compared unless others are asked for, and of each the statistics that stand for a run."""

PRIMARY: Final = ("bandwidth", "iops", "file_rate", "elapsed", "latency")
"""The metrics that can stand for a cell where one has to; the first that it has does."""

COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "study": pl.String,
    "tool": pl.String,
    "filesystem": pl.String,
    "pattern": pl.String,
    "scope": pl.String,
    "part": pl.String,
    "operation": pl.String,
    "block_size": pl.Int64,
    "file_size": pl.Int64,
    "threads": pl.Int64,
    "iodepth": pl.String,
    "metric": pl.String,
    "statistic": pl.String,
    "unit": pl.String,
    "better": pl.String,
    "factor": pl.String,
    "baseline": pl.String,
    "level": pl.String,
    "value_baseline": pl.Float64,
    "value_candidate": pl.Float64,
    "n_baseline": pl.Int64,
    "n_candidate": pl.Int64,
    "averaged_over_baseline": pl.Int64,
    "averaged_over_candidate": pl.Int64,
    "n_pairs": pl.Int64,
    "ratio": pl.Float64,
    "rounding_low": pl.Float64,
    "rounding_high": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "confidence": pl.Float64,
    "companion_low": pl.Float64,
    "companion_high": pl.Float64,
    "companion_method": pl.String,
    "prediction_low": pl.Float64,
    "prediction_high": pl.Float64,
    "break_even_cv": pl.Float64,
    "estimand": pl.String,
    "method": pl.String,
    "p": pl.Float64,
    "p_adjusted": pl.Float64,
    "verdict": pl.String,
    "reasons": pl.List(pl.String),
    "footnotes": pl.List(pl.String),
}


def compare(
    dataset: Dataset,
    factor: str = "filesystem",
    baseline: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    where: Where | None = None,
    confidence: float = 0.95,
    margin: float = 1.05,
    include_failed: bool = False,
) -> pl.DataFrame:
    """Compare the runs of each level of a factor with those of a baseline, cell by cell.

    Parameters
    ----------
    dataset
        The runs.
    factor
        ``filesystem``, ``target``, ``host``, ``tool_version``, or the key of a setting.
    baseline
        The level that all others are compared with. Without one it is ext4 in each study that has it, and
        otherwise the first level by name.
    metrics
        Which metrics to compare; by default those of `STATISTICS`.
    where
        Which cells to compare: ``{"operation": ["read"], "block_size": [4096]}``. The names are those of
        `fsbench_kit.analysis.settings.CELL`, and the factor, of which it chooses levels; ``None`` is no value.
    confidence
        Confidence level of the intervals, each for its own row.
    margin
        The largest ratio that counts as equal, either way round.
    include_failed
        Whether failed and partial runs take part.

    Returns
    -------
    pl.DataFrame
        One row for each cell, metric, statistic and level; the columns are `COLUMNS`. ``ratio`` is candidate
        over baseline. ``value_*`` are geometric means over runs, in the metric's base unit. ``averaged_over_*`` is
        how many runs each figure of a side is the mean of, where it is of several. ``verdict`` follows
        ``p_adjusted``, Holm's correction over the rows that share a metric and a statistic. There is no row
        where all runs are of one level.

    Notes
    -----
    The method by the data's shape; ``companion_*`` is a second interval, by a method that fails elsewhere:

    ======================================  =================================  =================================
    The runs                                The interval                       The companion
    ======================================  =================================  =================================
    one on each side                        none; the noise it would take      none
    one against two                         none                               none
    one against three or more               prediction, no confidence          none
    two or more on each side                Welch's t                          Hodges-Lehmann from 4 on; of
                                                                               medians from 6 on, where a side
                                                                               lies in two heaps
    pairs: one of a side in shared rounds   paired t                           signed ranks from 6 on
    several of a side in shared rounds      t over rounds                      signed ranks from 6 rounds on
    several shared hosts                    t over hosts                       signed ranks from 6 hosts on
    two or three of a side, in many cells   as above                           moderated t
    ======================================  =================================  =================================

    All are of logarithms. A footnote says where the two intervals disagree on whether they hold 1.

    Raises
    ------
    RequestError
        If the factor, the baseline or a value of ``where`` is not in the data, or the confidence or the margin is
        out of its range.
    """
    figures = figures_of(dataset, factor, baseline, wanted_of(metrics), where=where, include_failed=include_failed)
    confounders = Confounders(dataset.filter(pl.col("run_id").is_in(figures["run_id"].unique().implode())), factor)
    pairs = side_by_side(figures, confounders)
    found = Findings(pairs.height)
    _before_figures(pairs, confounders, left_out(figures), found)
    estimate(pairs, found, Options(factor=factor, confidence=confidence, margin=margin))
    shape_of_sides(pairs, found)
    rows = pairs.select(
        *settings.CELL,
        "unit",
        pl.col("metric").replace_strict(_BETTER).alias("better"),
        pl.lit(factor).alias("factor"),
        pl.col("level").alias("baseline"),
        pl.col(f"level{OTHER}").alias("level"),
        pl.col("n").alias("n_baseline"),
        pl.col(f"n{OTHER}").alias("n_candidate"),
        _of_each_figure("averaged_over").alias("averaged_over_baseline"),
        _of_each_figure(f"averaged_over{OTHER}").alias("averaged_over_candidate"),
    ).with_columns(**found.columns())
    rows = rows.with_columns(p_adjusted=_adjusted(rows))
    verdicts = _verdicts(rows, found.equivalent, 1 - confidence)
    return rows.with_columns(verdict=pl.Series(verdicts, dtype=pl.String)).select(
        pl.col(name).cast(kind) for name, kind in COLUMNS.items()
    )


def _of_each_figure(runs: str) -> pl.Expr:
    """Return how many runs each figure of a side is the mean of; null where it is of one, or where they differ."""
    return pl.when(pl.col(runs).list.len() == 1, pl.col(runs).list.first() > 1).then(pl.col(runs).list.first())


_BETTER: Final = {name: metric.better for name, metric in METRICS.items()}


def wanted_of(metrics: Sequence[str] | None) -> pl.DataFrame:
    """Return the metrics and statistics to compare.

    Raises
    ------
    RequestError
        If a metric is not one, or neither more nor less of it is better.
    """
    wanted = STATISTICS
    if metrics is not None:
        wanted = {metric: STATISTICS.get(metric, ("value", "mean")) for metric in metrics}
    unknown = sorted(set(wanted) - set(METRICS))
    if unknown:
        raise RequestError(f"{unknown[0]!r} is not a metric", hint=f"Metrics are: {', '.join(sorted(METRICS))}.")
    neutral = sorted(metric for metric in wanted if METRICS[metric].better is None)
    if neutral:
        better = ", ".join(sorted(metric for metric, word in METRICS.items() if word.better))
        raise RequestError(
            f"{neutral[0]} is a count of what was done, and neither more nor less of it is better",
            hint=f"Metrics that can be compared are: {better}.",
        )
    rows = [(metric, statistic) for metric, statistics in wanted.items() for statistic in statistics]
    return pl.DataFrame(rows, schema={"metric": pl.String, "statistic": pl.String}, orient="row")


def _before_figures(
    pairs: pl.DataFrame,
    confounders: Confounders,
    left_out: dict[tuple[object, ...], dict[str, int]],
    found: Findings,
) -> None:
    """Say what sets the sides of each row apart, and what a reader should know of their runs."""
    facts = [f"{name}{suffix}" for name in ("stopping_rule", "averaged_over") for suffix in ("", OTHER)]
    keys = pairs.select(settings.CELL).rows()
    for row, ((a, b), key, facts_of_row) in enumerate(
        zip(sides_of(pairs), keys, pairs.select(facts).rows(), strict=True)
    ):
        for code, details in confounders.between(a, b):
            found.because([row], code, *details)
        notes = found.footnotes[row]
        notes += confounders.notes(a, b)
        if left_out:
            before: Counter[str] = Counter()
            for side in (a, b):
                before.update(left_out.get((*key, side.level), {}))
            notes += [f"{runs} {stage} runs were left out." for stage, runs in before.items()]
        rules_a, rules_b, averaged_a, averaged_b = facts_of_row
        notes += [stopped_by(rule) for rule in sorted({*rules_a, *rules_b})]
        notes += _means_of_runs(a.level, averaged_a, b.level, averaged_b)


def _means_of_runs(
    level: str, averaged: Sequence[int], other_level: str, other_averaged: Sequence[int]
) -> list[str]:
    """Say whose figures are means of several runs."""
    if averaged == other_averaged and len(averaged) == 1:
        runs = averaged[0]
        return [f"Each figure is the mean of {runs} runs; their spread is not known."] if runs > 1 else []
    return [
        f"{'Each figure' if len(runs) == 1 else 'A figure'} of {name} is the mean of "
        f"{' or '.join(map(str, runs))} runs; their spread is not known."
        for name, runs in ((level, averaged), (other_level, other_averaged))
        if max(runs) > 1
    ]


def stopped_by(rule: str) -> str:
    """Say what a rule that ended a launch does to its intervals.

    Such rules look at the spread that the interval is made of, and so end rather where that happens to be small:
    ``docs/coverage.md`` has what was measured.
    """
    return (
        f'Rounds were made until the rule "{rule}" was content with their spread; '
        "an interval covers a little less often then than it says: 91 to 95 % instead of 95 %."
    )


def _adjusted(rows: pl.DataFrame) -> pl.Series:
    """Return p, adjusted over each family: the rows that share what they measure and a statistic.

    The IOPS and the bandwidth of a job are one figure in two units: they share a family, in which their two
    rows are one test, with the larger p of both.
    """
    of_job = [name for name in settings.CELL if name != "metric"]
    tests = (
        rows.with_row_index("row")
        .select("row", "p", *of_job, "level", measured=pl.col("metric").replace(_SAME_FIGURE))
        .drop_nulls("p")
        .group_by("measured", *of_job, "level", maintain_order=True)
        .agg("row", pl.col("p").max())
    )
    adjusted = np.full(rows.height, np.nan)
    for _, family in tests.group_by("measured", "statistic", maintain_order=True):
        p = np.repeat(stats.holm(family["p"]), family["row"].list.len())
        adjusted[family["row"].explode().to_numpy()] = p
    return pl.Series(adjusted).fill_nan(None)


_SAME_FIGURE: Final = {"iops": "bandwidth"}


def _verdicts(rows: pl.DataFrame, equivalent: Bools, level: float) -> list[Verdict]:
    """Say what each row shows."""
    given = rows.select("ratio", "p_adjusted", "better", "reasons").rows()
    return [
        _verdict(*row, equivalent=bool(same), level=level) for row, same in zip(given, equivalent, strict=True)
    ]


def _verdict(
    ratio: float | None, p: float | None, better: str, reasons: list[str], *, equivalent: bool, level: float
) -> Verdict:
    if {REASONS[code][0] for code in reasons} & {"no ratio", "verdict withheld"}:
        return "not comparable"
    if "CENSORED" in reasons:
        return "bound only"
    if "ONE_RUN_NO_REPLICATES" in reasons:
        return "single runs"
    if p is None or ratio is None:
        return "inconclusive"
    if p < level:
        return "better" if (ratio > 1) == (better == "higher") else "worse"
    return "equivalent" if equivalent else "inconclusive"
