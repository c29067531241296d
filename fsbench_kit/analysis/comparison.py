"""Compares runs that differ in one factor: ratios, intervals where the data allow them, verdicts with reasons.

The run is the unit of inference, and the method follows from the number and layout of the runs; see `compare`.
Data flow in one direction: `groups` selects the runs, `design` and `confounders` find what else differs between
them, `estimation` computes ratios and their uncertainty, and `verdict` judges. The sources of the methods are in
`fsbench_kit.stats`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis import shapes, testing
from fsbench_kit.analysis.confounders import check
from fsbench_kit.analysis.design import Design, Evidence
from fsbench_kit.analysis.estimates import CompareOptions, Estimates
from fsbench_kit.analysis.estimation import estimate
from fsbench_kit.analysis.groups import (
    Groups,
    against,
    all_ok,
    comparable,
    failed_beside,
    groups_of,
    in_groups,
    paired,
)
from fsbench_kit.analysis.memory import keep_freed_memory
from fsbench_kit.analysis.reasons import Remarks
from fsbench_kit.analysis.settings import CELL, Where
from fsbench_kit.analysis.verdict import codes, judged
from fsbench_kit.data.dataset import UNMEASURED, Dataset, LazyDataset
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.data.labelled import Labelled

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
    "over": pl.String,
    "n_for": pl.Int64,
    "n_against": pl.Int64,
    "p": pl.Float64,
    "p_adjusted": pl.Float64,
    "effect": pl.Int64,
    "tested": pl.Int64,
    "error": pl.Float64,
    "margin": pl.Float64,
    "verdict": pl.String,
    "reasons": pl.List(pl.String),
    "footnotes": pl.List(pl.String),
}


def compare(
    dataset: Dataset | LazyDataset | Labelled,
    factor: str = "filesystem",
    baseline: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    where: Where | None = None,
    confidence: float = 0.95,
    margin: float = 1.05,
    include_failed: bool = False,
    all_pairs: bool = False,
    consecutive: bool = False,
) -> pl.DataFrame:
    """Compare the runs of each level of a factor with those of a baseline, cell by cell.

    Parameters
    ----------
    dataset
        The runs; or groups to compare with each other, ``{"before": "logs/old", "after": "logs/new"}``, each a
        path or a dataset. The factor is then their label, ``group``, and the baseline the first of them. Other
        differences between the groups are listed; only a difference in the work withholds the verdict.
    factor
        ``filesystem``, ``target``, ``host``, ``tool_version``, or the key of a setting.
    baseline
        The level to compare all others with. By default ext4 in each study that has it, and otherwise the first
        level: the earliest version or date, the smallest number, or the first name.
    metrics
        The metrics to compare, or a single one; by default those of `fsbench_kit.analysis.metrics.STATISTICS`.
    where
        The cells to compare: ``{"operation": "read", "block_size": [4096, 65536]}``. Keys are the names in
        `fsbench_kit.analysis.settings.CELL`, or the factor to select levels; ``None`` selects cells without a
        value.
    confidence
        Confidence level of the interval of each row.
    margin
        The largest ratio that counts as equal, in either direction.
    include_failed
        Whether to include failed and partial runs.
    all_pairs
        Compare every level with every other instead of with a baseline; the earlier of two levels is the baseline
        of their row.
    consecutive
        Compare each level with the previous one that has the cell, such as a version with its predecessor.

    Returns
    -------
    pl.DataFrame
        One row for each cell, metric, statistic and pair of levels, with levels in natural order (6.9 before
        6.12); the columns are `COLUMNS`. Cells whose runs all have one level have no row. ``ratio`` is candidate
        over baseline. ``value_*`` are geometric means over runs, in the metric's base unit. ``averaged_over_*`` is
        the number of runs that each figure of a group averages, if more than one. ``rounding_*`` is the range of
        ratios that the printed digits allow, or the known bounds. ``over`` is what the interval is over: runs,
        rounds, launches, dates, boots or hosts; ``n_pairs`` is the number of rounds or hosts, of which the
        candidate is better in ``n_for`` and the baseline in ``n_against``. Rows with the same ``effect`` ask one
        question in several metrics, and only one of them is tested: ``p_adjusted`` is Holm's correction over the
        ``tested`` effects of a study and a tool, and ``error`` the chance of any false difference in the call.

    Notes
    -----
    A verdict is ``equivalent`` if the data show that the ratio lies within the margin, even if it is not 1;
    otherwise ``better`` or ``worse`` if they show that it is not 1; otherwise ``inconclusive``. Groups of two
    runs, or two rounds, have an interval but no verdict of their own. If a metric and statistic has several rows,
    three to five runs show a difference only if runs that fall into modes would not produce it by chance; that
    chance is estimated from how often two runs of one group, in the other rows, lie half as far apart as the
    groups do. From ten rows on, they also show no more than they would with the spread of all these rows. Larger
    groups, and fewer rows, are held to this if a quarter of the rows have runs in modes.

    Every interval is widened by the rounding of the figures, and consists of rounding alone if all runs of each
    group print the same figure. If only a bound of a figure is known, the ratio has a bound, and a verdict if the
    bound decides it.

    The method depends on the shape of the data; ``companion_*`` is a second interval, by a method with different
    weaknesses:

    ======================================  =================================  =================================
    The runs                                The interval                       The companion
    ======================================  =================================  =================================
    one in each group                       none; the noise it would take      none
    one against two                         none                               none
    one against three or more               prediction, no confidence          none
    two or more in each group               Welch's t                          Hodges-Lehmann from 4 on
    pairs: one of a group in shared rounds  paired t                           signed ranks from 6 on
    several of a group in shared rounds     t over rounds                      signed ranks from 6 rounds on
    five hosts or launches, or more         t over hosts, or launches          signed ranks from 6 of them on
    two to four of them                     t within each: for these           t over them: for hosts like these
    settings both groups have, unevenly     t within each value                none
    launches (boots) of one group each      Welch's t on their means           none
    two or three of each, in many cells     as above                           moderated t
    ======================================  =================================  =================================

    All methods work on logarithms. A footnote says where only one of the two intervals includes 1. Pairs are used
    if they keep at least four fifths of the runs. Rounds of different launches, hosts or kernels are never the
    same round. If groups are compared within hosts, launches or values, so is ``ratio``; ``value_*`` are of all
    runs.

    Each study is compared by itself. Only studies with a single level each (a kernel, a host) are compared with
    one another, and their ``study`` is null. Every setting of the work is part of the cell; ``work`` lists those
    in which otherwise equal cells differ.

    Raises
    ------
    RequestError
        If the factor, the baseline or a value of ``where`` is not in the data, if the confidence or the margin is
        out of range, or if the choice of what to compare with contradicts itself.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> data = fsb.read("raw_results/published/sysbench-rhel72")
    >>> table = fsb.compare(data, metrics=["bandwidth"], where={"pattern": ["seqwr"]})
    >>> table.select("baseline", "level", pl.col("ratio").round(2), "ci_low", "verdict").rows()
    [('ext4', 'xfs', 2.42, None, 'not comparable')]
    """
    keep_freed_memory()
    with_what = against(all_pairs=all_pairs, consecutive=consecutive)
    dataset, factor, baseline = in_groups(dataset, factor, baseline, with_what, metrics=metrics, where=where)
    options = CompareOptions(factor=factor, confidence=confidence, margin=margin)
    measurements = comparable(dataset, factor, metrics, where=where, include_failed=include_failed)
    measurements, missing = _with_figures(measurements)
    groups = groups_of(measurements, factor, baseline, with_what=with_what, include_failed=include_failed)
    design = Design(groups, Evidence(dataset, factor))
    remarks = check(design)
    if not include_failed and not all_ok(dataset):
        failed = failed_beside(measurements, dataset, factor, metrics, where=where)
        one, several = "1 failed or partial run of {} was", "{} failed or partial runs of {} were"
        _left_out(groups, failed, remarks, f"{one} left out.", f"{several} left out.")
    return _verdicts(groups, remarks, _estimates(design, remarks, options, missing), options)


def compare_groups(
    pairs: Sequence[Sequence[pl.DataFrame]],
    evidence: Evidence,
    *,
    within_runs: bool = False,
    confidence: float = 0.95,
    margin: float = 1.05,
) -> pl.DataFrame:
    """Compare groups that the caller has selected, in the same way as `compare`.

    Parameters
    ----------
    pairs
        The measurements of the baseline and of the candidate, as rows of `fsbench_kit.analysis.settings.cells`.
    evidence
        What is known about the runs.
    within_runs
        Whether both groups of each pair are figures of the same runs, so that no confounder applies.
    confidence, margin
        As in `compare`.

    Returns
    -------
    pl.DataFrame
        One row for each pair, in their order. The columns are `COLUMNS`, and two that depend on the figures alone:
        ``withheld`` has the sentences of the reasons that withhold the verdict, ``notes`` the footnotes.
    """
    options = CompareOptions(factor=evidence.factor, confidence=confidence, margin=margin)
    groups = paired(pairs)
    design = Design(groups, evidence)
    remarks = Remarks() if within_runs else check(design)
    estimates = _estimates(design, remarks, options, missing=groups.measurements.clear())
    sentences = estimates.remarks.sentences_by_row(groups.pairs.height)
    return _verdicts(groups, remarks, estimates, options).hstack(sentences)


def _estimates(design: Design, remarks: Remarks, options: CompareOptions, missing: pl.DataFrame) -> Estimates:
    """Estimate and test all rows, given the remarks on their design."""
    groups = design.groups
    estimates = estimate(design, remarks.with_code(codes("no ratio")), options)
    modes = shapes.look(groups, estimates)
    testing.test(groups, estimates, modes, options)
    one, several = "1 run of {} has no figure here and was", "{} runs of {} have no figure here and were"
    _left_out(groups, missing, estimates.remarks, f"{one} left out.", f"{several} left out.")
    return estimates


def _with_figures(measurements: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split off the missing measurements of groups that have others; return the rest and those split off."""
    is_missing = measurements["state"] == "missing"
    if not is_missing.any():
        return measurements, measurements.clear()
    others = measurements.filter(~is_missing, ~UNMEASURED).select(_GROUP).unique()
    numbered = measurements.with_row_index("place")
    left = numbered.filter(is_missing, ~UNMEASURED).join(others, on=_GROUP, how="semi", nulls_equal=True)
    return numbered.join(left, on="place", how="anti", maintain_order="left").drop("place"), left


_GROUP: Final = (*CELL, "level")


def _left_out(groups: Groups, absent: pl.DataFrame, remarks: Remarks, one: str, several: str) -> None:
    """Note for each group how many of its runs are left out."""
    if absent.is_empty():
        return
    counts = absent.group_by(_GROUP).agg(absent=pl.col("run_id").n_unique())
    of_groups = groups.table.join(counts, on=_GROUP, nulls_equal=True)
    of_one = pl.when(pl.col("absent") == 1).then(pl.format(one, groups.called()))
    notes = of_groups.select("group", text=of_one.otherwise(pl.format(several, "absent", groups.called())))
    rows = groups.of_rows(notes)
    remarks.note(rows["row"], rows["text"])


def _verdicts(groups: Groups, design: Remarks, estimates: Estimates, options: CompareOptions) -> pl.DataFrame:
    """Return the table with the columns of `COLUMNS`."""
    baseline, candidate = groups.of("baseline"), groups.of("candidate", "level", "n", "averaged_over")
    rows = baseline.select_seq(
        *CELL,
        "unit",
        _BETTER,
        pl.lit(options.factor).alias("factor"),
        pl.col("level").alias("baseline"),
        pl.col("n").alias("n_baseline"),
        level=candidate["level"],
        n_candidate=candidate["n"],
        averaged_over_baseline=baseline["averaged_over"],
        averaged_over_candidate=candidate["averaged_over"],
    ).hstack([*estimates.columns(), *design.columns(baseline.height, estimates.remarks)])
    higher = pl.col("better") == "higher"
    found = judged(rows, (design, estimates.remarks), 1 - options.confidence).with_columns_seq(
        margin=pl.lit(options.margin),
        n_for=pl.when(higher).then("above").otherwise("below"),
        n_against=pl.when(higher).then("below").otherwise("above"),
    )
    columns = [(found[name], kind) for name, kind in COLUMNS.items()]
    return pl.DataFrame([column if column.dtype == kind else column.cast(kind) for column, kind in columns])


def _of_those_with(better: str) -> pl.Expr:
    return pl.col("metric").is_in([name for name, metric in METRICS.items() if metric.better == better])


_BETTER: Final = (
    pl.when(_of_those_with("higher"))
    .then(pl.lit("higher"))
    .when(_of_those_with("lower"))
    .then(pl.lit("lower"))
    .alias("better")
)
