"""Compares runs that differ in one factor: ratios, intervals where the data allow them, verdicts with reasons.

The run is the unit of inference. The method follows from the data's shape: pairs where both sides ran in the
same rounds, Welch's t where they did not, and no confidence interval where a side has a single run. See
`fsbench_kit.stats` for the methods and their sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import polars as pl

from fsbench_kit import settings, stats
from fsbench_kit.errors import RequestError
from fsbench_kit.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.dataset import Dataset

Verdict = Literal[
    "better", "worse", "equivalent", "inconclusive", "single runs", "bound only", "not comparable"
]

STATISTICS: Final[dict[str, tuple[str, ...]]] = {
    "bandwidth": ("value",),
    "iops": ("value",),
    "file_rate": ("value",),
    "latency": ("mean", "p50", "p95", "p99"),
    "completion_latency": ("mean", "p50", "p95", "p99"),
    "phase_latency": ("max",),
    "elapsed": ("value",),
    "cpu": ("value",),
    "capacity": ("value",),
    "minor_faults": ("value",),
}
"""The metrics that are compared unless others are asked for, and of each the statistics that stand for a run."""

CELL_SETTINGS: Final = ("pattern", "iodepth")
CELL: Final = (
    "study",
    "tool",
    "pattern",
    "scope",
    "part",
    "operation",
    "block_size",
    "file_size",
    "threads",
    "iodepth",
)
"""What has to be equal before two runs may be compared; everything else that differs is named as a reason."""

COLUMNS: Final = {
    "study": pl.String,
    "tool": pl.String,
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
    "n_pairs": pl.Int64,
    "ratio": pl.Float64,
    "rounding_low": pl.Float64,
    "rounding_high": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "confidence": pl.Float64,
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

REASONS: Final[dict[str, str]] = {
    # no ratio
    "ZERO_OR_FAILED": "A side has a figure of zero, or none.",
    # no confidence interval
    "ONE_RUN_NO_REPLICATES": "A side has a single run, which says nothing about the variation between runs.",
    "N_BELOW_METHOD_MIN": "There are too few runs for the method.",
    "CENSORED": "Of a figure only a bound is known.",
    # verdict withheld
    "CONFIG_MISMATCH": "The sides differ in a setting that is not the factor.",
    "BLOCKED_ORDER": "All runs of one side came before all runs of the other, so drift cannot be told from effect.",
    "CONCURRENT_RUNS": "Runs of the two sides ran at the same time.",
    "CACHED": "The data fit into memory and direct I/O is not known to have been used.",
}
"""Codes of reasons, with the sentence that explains the code."""

WITHHOLDING: Final = frozenset({"CONFIG_MISMATCH", "BLOCKED_ORDER", "CONCURRENT_RUNS", "CACHED"})
"""Reasons for which a ratio and its interval are given, and no verdict."""


def compare(
    dataset: Dataset,
    factor: str = "filesystem",
    baseline: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
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
        ``filesystem``, ``host``, ``tool_version``, or the key of a setting.
    baseline
        The level that all others are compared with. Without one it is ext4 in each study that has it, and
        otherwise the first level by name.
    metrics
        Which metrics to compare; by default those of `STATISTICS`.
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
        over baseline. ``value_*`` are geometric means over runs, in the metric's base unit. ``verdict`` follows
        ``p_adjusted``, Holm's correction over the rows that share a metric and a statistic.

    Raises
    ------
    RequestError
        If the factor or the baseline is not in the data, or nothing can be set side by side.
    """
    figures = _figures(dataset, factor, metrics, include_failed=include_failed)
    levels = sorted(figures["level"].drop_nulls().unique())
    if baseline is not None and baseline not in levels:
        raise RequestError(
            f"{baseline!r} is not a {factor} of these runs",
            hint=f"Choose one of: {', '.join(levels) or 'none is known'}.",
        )
    if len(levels) < 2:
        raise RequestError(
            f"a comparison needs two levels of {factor}, and these runs have "
            + (f"only {levels[0]!r}" if levels else "none"),
            hint="Add runs, or choose another factor.",
        )
    context = _Context(dataset, factor, confidence, margin)
    rows = [row.as_dict() for row in _pairs(figures, baseline, context)]
    return _verdicts(pl.DataFrame(rows, schema=COLUMNS, orient="row"), confidence, margin)


def _figures(
    dataset: Dataset, factor: str, metrics: Sequence[str] | None, *, include_failed: bool
) -> pl.DataFrame:
    """Return the figures that stand for a run, each with its cell and its level of the factor."""
    runs = dataset.runs if include_failed else dataset.runs.filter(pl.col("status") == "ok")
    known = settings.wide(
        dataset.settings, [*CELL_SETTINGS, *(key for key in _SIZES if key not in CELL_SETTINGS)]
    )
    if factor in runs.columns:
        level = runs.select("run_id", pl.col(factor).cast(pl.String).alias("level"))
    else:
        level = settings.wide(dataset.settings, [factor]).rename({factor: "level"})
    wanted = {m: STATISTICS.get(m, ("value", "mean")) for m in metrics} if metrics is not None else STATISTICS
    unknown = sorted(set(wanted) - set(METRICS))
    if unknown:
        raise RequestError(
            f"{unknown[0]!r} is not a metric", hint=f"Metrics are: {', '.join(sorted(METRICS))}."
        )
    names = pl.DataFrame(
        [(metric, statistic) for metric, kept in wanted.items() for statistic in kept],
        schema={"metric": pl.String, "statistic": pl.String},
        orient="row",
    )
    return (
        dataset.measurements.filter("primary", pl.col("scope").is_in(["all", "job"]))
        .join(names, on=["metric", "statistic"], how="semi")
        .join(runs.drop("line"), on="run_id", how="inner")
        .join(known, on="run_id", how="left", suffix="_setting")
        .join(level, on="run_id", how="left")
        .with_columns(
            pl.col("scope").cast(pl.String),
            # A part's name is a label where a run has only one part.
            pl.when(pl.col("part").n_unique().over("run_id", "scope") > 1).then("part").alias("part"),
            *(
                pl.coalesce(key, pl.col(f"{key}_setting").cast(pl.Int64, strict=False)).alias(key)
                for key in _SIZES
            ),
        )
        .filter(pl.col("level").is_not_null())
    )


_SIZES: Final = ("block_size", "file_size", "threads")


def _pairs(figures: pl.DataFrame, baseline: str | None, context: _Context) -> Iterator[_Row]:
    """Yield a row for each cell and level that can be set beside the cell's baseline."""
    of_study = {
        study: baseline if baseline is not None else _default_baseline(list(levels))
        for study, levels in figures.group_by("study").agg(pl.col("level").unique()).rows()
    }
    for key, cell in figures.group_by(*CELL, "metric", "statistic", maintain_order=True):
        name = dict(zip((*CELL, "metric", "statistic"), key, strict=True))
        base = of_study[name["study"]]
        sides = {level: side for (level,), side in cell.group_by("level", maintain_order=True)}
        if base not in sides:
            continue
        for level in sorted(set(sides) - {base}):
            yield _compare_sides(name, base, sides[base], level, sides[level], context)


def _default_baseline(levels: list[str]) -> str:
    return "ext4" if "ext4" in levels else min(levels)


@dataclass
class _Context:
    """What all rows of one comparison share."""

    dataset: Dataset
    factor: str
    confidence: float
    margin: float
    _mismatches: dict[tuple[frozenset[str], frozenset[str]], list[str]] = field(default_factory=dict)

    def mismatches(self, baseline: pl.DataFrame, candidate: pl.DataFrame) -> list[str]:
        """Name the settings, other than the factor, that are known of both sides and differ."""
        sides = frozenset(baseline["run_id"]), frozenset(candidate["run_id"])
        if sides not in self._mismatches:
            found = settings.differences(self.dataset, *sides).filter(
                pl.col("kind").is_in(["workload", "system"]),
                pl.col("key") != self.factor,
                pl.col("baseline") != settings.NOT_KNOWN,
                pl.col("candidate") != settings.NOT_KNOWN,
            )
            self._mismatches[sides] = [
                f"{key} differs: {first} against {second}."
                for key, first, second in found.select("key", "baseline", "candidate").rows()
            ]
        return self._mismatches[sides]


@dataclass
class _Row:
    """A row of the comparison in the making."""

    columns: dict[str, Any]
    reasons: list[str] = field(default_factory=list)
    footnotes: list[str] = field(default_factory=list)

    def because(self, code: str, *details: str) -> None:
        self.reasons.append(code)
        self.footnotes += details or [REASONS[code]]

    def as_dict(self) -> dict[str, Any]:
        return {**self.columns, "reasons": self.reasons, "footnotes": self.footnotes}


def _compare_sides(
    name: dict[str, Any],
    base: str,
    baseline: pl.DataFrame,
    level: str,
    candidate: pl.DataFrame,
    context: _Context,
) -> _Row:
    row = _Row(
        {
            **name,
            "unit": baseline["unit"][0],
            "better": METRICS[name["metric"]].better,
            "factor": context.factor,
            "baseline": base,
            "level": level,
            "n_baseline": baseline.height,
            "n_candidate": candidate.height,
        }
    )
    if mismatches := context.mismatches(baseline, candidate):
        row.because("CONFIG_MISMATCH", *mismatches)
    if _blocked_order(baseline, candidate):
        row.because("BLOCKED_ORDER")
    if _concurrent(baseline, candidate):
        row.because("CONCURRENT_RUNS")
    averaged = set(baseline["averaged_over"].drop_nulls()) | set(candidate["averaged_over"].drop_nulls())
    row.footnotes += [f"Each figure is the mean of {n} runs; their spread is not known." for n in averaged]

    figures = pl.concat([baseline, candidate])
    if (figures["state"] == "missing").any() or (figures["value"] <= 0).any():
        row.because("ZERO_OR_FAILED")
    elif (figures["state"] == "censored").any():
        row.because("CENSORED")
        _bound(row, baseline, candidate)
    else:
        _ratio(row, baseline, candidate, context)
    return row


def _bound(row: _Row, baseline: pl.DataFrame, candidate: pl.DataFrame) -> None:
    """Give the ratios that the bounds of two single figures allow."""
    if baseline.height == candidate.height == 1:
        interval = stats.rounding_ratio(*_print_interval(baseline), *_print_interval(candidate))
        row.columns |= {"rounding_low": interval.low, "rounding_high": interval.high}


def _ratio(row: _Row, baseline: pl.DataFrame, candidate: pl.DataFrame, context: _Context) -> None:
    a, b = baseline["value"].to_numpy(), candidate["value"].to_numpy()
    row.columns |= {
        "value_baseline": _geometric_mean(a),
        "value_candidate": _geometric_mean(b),
        "ratio": _geometric_mean(b) / _geometric_mean(a),
        "estimand": "ratio of geometric means",
    }
    if len(a) == len(b) == 1:
        _single_runs(row, baseline, candidate)
    elif min(len(a), len(b)) == 1:
        row.because("ONE_RUN_NO_REPLICATES")
        _predict(row, a, b, context.confidence)
    else:
        _interval(row, baseline, candidate, context)


def _single_runs(row: _Row, baseline: pl.DataFrame, candidate: pl.DataFrame) -> None:
    row.because("ONE_RUN_NO_REPLICATES")
    interval = stats.rounding_ratio(*_print_interval(baseline), *_print_interval(candidate))
    row.columns |= {
        "estimand": "ratio of single figures",
        "method": "none",
        "rounding_low": interval.low,
        "rounding_high": interval.high,
        "break_even_cv": stats.break_even(row.columns["ratio"]).cv,
    }


def _print_interval(side: pl.DataFrame) -> tuple[float | None, float | None]:
    return side["low"][0], side["high"][0]


def _geometric_mean(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    return math.exp(float(np.log(values).mean()))


def _predict(row: _Row, a: Any, b: Any, confidence: float) -> None:
    raise NotImplementedError


def _interval(row: _Row, baseline: pl.DataFrame, candidate: pl.DataFrame, context: _Context) -> None:
    raise NotImplementedError


def _blocked_order(baseline: pl.DataFrame, candidate: pl.DataFrame) -> bool:
    """Whether all runs of one side came before all runs of the other, with more than one on each."""
    if min(baseline.height, candidate.height) < 2:
        return False
    a, b = baseline["started_at"], candidate["started_at"]
    if a.null_count() or b.null_count():
        return False
    return bool(a.max() < b.min() or b.max() < a.min())  # type: ignore[operator]


def _concurrent(baseline: pl.DataFrame, candidate: pl.DataFrame) -> bool:
    raise NotImplementedError


def _verdicts(table: pl.DataFrame, confidence: float, margin: float) -> pl.DataFrame:
    raise NotImplementedError
