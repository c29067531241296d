"""Compares runs that differ in one factor: ratios, intervals where the data allow them, verdicts with reasons.

The run is the unit of inference, and the method follows from the runs' number and layout, see `compare`. Data flow
down once: `groups` says which runs are compared, `design` and `confounders` what sets them apart, `estimation` by
how much they differ and how sure that is, `verdict` what it shows. `fsbench_kit.stats` has the methods' sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.confounders import check
from fsbench_kit.analysis.design import Design, Evidence
from fsbench_kit.analysis.estimation import Estimates, Options, estimate
from fsbench_kit.analysis.groups import Groups, comparable, groups_of
from fsbench_kit.analysis.metrics import wanted
from fsbench_kit.analysis.settings import CELL
from fsbench_kit.analysis.verdict import adjusted, codes, verdict
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.analysis.reasons import Remarks
    from fsbench_kit.analysis.settings import Where
    from fsbench_kit.data.dataset import Dataset

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
    "work": pl.String,
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
        Which metrics to compare; by default those of `fsbench_kit.analysis.metrics.STATISTICS`.
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
        how many runs each figure of a group is the mean of, where it is of several. ``verdict`` follows
        ``p_adjusted``, Holm's correction over the rows that share a metric and a statistic. There is no row
        where all runs are of one level.

    Notes
    -----
    The method by the data's shape; ``companion_*`` is a second interval, by a method that fails elsewhere:

    ======================================  =================================  =================================
    The runs                                The interval                       The companion
    ======================================  =================================  =================================
    one in each group                       none; the noise it would take      none
    one against two                         none                               none
    one against three or more               prediction, no confidence          none
    two or more in each group               Welch's t                          Hodges-Lehmann from 4 on; of
                                                                               medians from 6 on, where a group
                                                                               is bimodal
    pairs: one of a group in shared rounds  paired t                           signed ranks from 6 on
    several of a group in shared rounds     t over rounds                      signed ranks from 6 rounds on
    five hosts or launches, or more         t over hosts, or launches          signed ranks from 6 of them on
    two to four of them                     t within each: for these           t over them: for hosts like these
    settings both groups have, unevenly     t within each value                none
    launches of one group each, several     Welch's t on their means           none
    two or three of a group, in many cells  as above                           moderated t
    ======================================  =================================  =================================

    All are of logarithms. A footnote says where the two intervals disagree on whether they include 1. Pairs are
    used where they keep four fifths of the runs. Rounds of two launches, hosts or kernels are never one round.
    Where groups are compared within hosts, launches or values, so is ``ratio``; ``value_*`` are of all runs.

    Each study is compared by itself; only studies of one level each (a kernel, a host) are compared with one
    another, and ``study`` is null there. Every setting of the work is a part of the cell: ``work`` names those in
    which otherwise equal cells differ.

    Raises
    ------
    RequestError
        If the factor, the baseline or a value of ``where`` is not in the data, or the confidence or the margin is
        out of its range.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> table = fsb.compare(data, metrics=["bandwidth"], where={"pattern": ["seqwr"]})
    >>> table.select("baseline", "level", pl.col("ratio").round(2), "ci_low", "verdict").rows()
    [('ext4', 'xfs', 2.42, None, 'not comparable')]
    """
    options = Options(factor=factor, confidence=confidence, margin=margin)
    measurements = comparable(dataset, factor, wanted(metrics), where=where, include_failed=include_failed)
    groups = groups_of(measurements, factor, baseline)
    design = Design(groups, Evidence(dataset, factor))
    remarks = check(design)
    estimates = estimate(design, remarks.with_code(codes("no ratio")), options)
    return _verdicts(groups, remarks, estimates, options)


def _verdicts(groups: Groups, design: Remarks, estimates: Estimates, options: Options) -> pl.DataFrame:
    """Return the columns of `COLUMNS`, given all that was found."""
    baseline, candidate = groups.of("baseline"), groups.of("candidate")
    rows = baseline.select(
        *CELL,
        "unit",
        pl.col("metric").replace_strict(_BETTER).alias("better"),
        pl.lit(options.factor).alias("factor"),
        pl.col("base").alias("baseline"),
        pl.col("n").alias("n_baseline"),
        level=candidate["level"],
        n_candidate=candidate["n"],
        averaged_over_baseline=baseline["averaged_over"],
        averaged_over_candidate=candidate["averaged_over"],
        **estimates.columns(),
        **design.columns(baseline.height, estimates.remarks).to_dict(),
    )
    rows = rows.with_columns(p_adjusted=adjusted(rows))
    return rows.with_columns(verdict=verdict(1 - options.confidence)).select(
        pl.col(name).cast(kind) for name, kind in COLUMNS.items()
    )


_BETTER: Final = {name: metric.better for name, metric in METRICS.items()}
