"""Estimates by how much groups differ, by a method that follows from the number and layout of the runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.estimates import CompareOptions, Estimates
from fsbench_kit.analysis.groups import ROLES, Groups
from fsbench_kit.analysis.intervals import STRATA_DISAGREE, intervals, spread
from fsbench_kit.analysis.reasons import Reason
from fsbench_kit.analysis.samples import Sampler, Samples
from fsbench_kit.stats.single import MIN_FOR_PREDICTION

if TYPE_CHECKING:
    from fsbench_kit.analysis.design import Design
    from fsbench_kit.stats.result import Bools, Ints

ZERO_OR_FAILED: Final = Reason(
    code="ZERO_OR_FAILED", kind="no ratio", meaning="A group has a figure of zero, or none at all."
)

CENSORED: Final = Reason(
    code="CENSORED",
    kind="no interval",
    meaning="Only a bound of a figure is known, so only a bound of the ratio is.",
)

ONE_RUN: Final = Reason(
    code="ONE_RUN_NO_REPLICATES",
    kind="no interval",
    meaning="A group has a single run, which says nothing about the variation between runs.",
)

TOO_FEW: Final = Reason(
    code="N_BELOW_METHOD_MIN", kind="no interval", meaning="A group has fewer runs than the method needs."
)

SET_MISMATCH: Final = Reason(
    code="SET_MISMATCH",
    kind="verdict withheld",
    meaning="The groups have different cells; only the cells that both have were compared.",
)

REASONS: Final = (ZERO_OR_FAILED, CENSORED, ONE_RUN, TOO_FEW, STRATA_DISAGREE, SET_MISMATCH)
"""The reasons that come from the measurements themselves."""


def estimate(design: Design, without_ratio: pl.Series, options: CompareOptions) -> Estimates:
    """Estimate the ratio of each comparison by the method that fits its runs.

    Parameters
    ----------
    design
        The groups, how they are paired, and their units.
    without_ratio
        The rows whose design does not allow a ratio.
    options
        Options of all rows.
    """
    groups = design.groups
    samples = Sampler(groups)
    found = Estimates(groups.pairs.height, samples)
    n_a, n_b = samples.sizes
    fewest, most = np.minimum(n_a, n_b), np.maximum(n_a, n_b)
    refused = np.zeros(fewest.size, dtype=np.bool_)
    refused[without_ratio.to_numpy()] = True
    nothing = groups.either(groups.having((pl.col("state") == "missing") | (pl.col("value") <= 0)))
    censored = groups.either(groups.having(pl.col("state") == "censored")) & ~nothing
    _means_of_runs(groups, found)
    found.remarks.because(_where(nothing), ZERO_OR_FAILED)
    found.remarks.because(_where(censored), CENSORED)
    _rounding(groups, _where(~(nothing | refused)), found)
    _bounds(groups, _where(censored & ~refused & (fewest > 1)), found, options)

    usable = ~(nothing | censored | refused)
    runs = samples.of(_where(usable))
    found.put_ratios(runs)
    found.put(_where(usable), estimand="ratio of geometric means")

    averaged = np.nan_to_num(groups.table["averaged_over"].cast(pl.Float64).to_numpy(), nan=1.0)
    k_a, k_b = (averaged[groups.pairs[role].to_numpy()] for role in ROLES)
    of_means = ((n_a == 1) & (k_a > 1)) | ((n_b == 1) & (k_b > 1))
    found.remarks.because(_where(usable & (fewest == 1) & ~of_means), ONE_RUN)
    found.remarks.because(_where(usable & (fewest == 1) & of_means), replace(ONE_RUN, meaning=_SINGLE_MEAN))

    alone = _where(usable & (most == 1))
    noise = stats.break_even(
        found.numbers["ratio"][alone], options.confidence, runs_a=k_a[alone], runs_b=k_b[alone]
    ).cv
    found.put(alone, estimand="ratio of single figures", method="none", break_even_cv=noise)

    one_sided = usable & (fewest == 1) & (most > 1)
    found.remarks.because(_where(one_sided & (most < MIN_FOR_PREDICTION)), TOO_FEW)
    predicted = one_sided & (most >= MIN_FOR_PREDICTION)
    _predict(samples.of(_where(predicted & (n_b == 1))), found, options)
    _predict(samples.of(_where(predicted & (n_a == 1))).swapped(), found, options, inverse=True)

    found.put(_where(usable), over="runs")
    intervals(design, runs.where(runs.fewest > 1), found, options)
    return found


_SINGLE_MEAN: Final = (
    "A group has a single mean of several runs, which says nothing about the variation between runs."
)


def _where(mask: Bools) -> Ints:
    return np.flatnonzero(mask)


def _means_of_runs(groups: Groups, found: Estimates) -> None:
    """Note which groups have figures that are means of several runs."""
    if (groups.measurements["averaged_over"].max() or 1) == 1:
        return
    several = np.flatnonzero(groups.having(pl.col("averaged_over") > 1))
    numbers = (  # a log is of one run unless its study says otherwise
        groups.measurements.filter(pl.col("group").is_in(several))
        .group_by("group", "level")
        .agg(runs=pl.col("averaged_over").fill_null(1).unique().sort())
        .with_columns(
            each=pl.col("runs").list.len() == 1, runs=pl.col("runs").cast(pl.List(pl.String)).list.join(" or ")
        )
    )
    alike = pl.col("each") & (pl.len() == 2).over("row") & (pl.col("runs").n_unique() == 1).over("row")
    figure = pl.when("each").then(pl.lit("Each figure")).otherwise(pl.lit("A figure"))
    whose = pl.when(alike).then(figure).otherwise(pl.format("{} of {}", figure, groups.called()))
    sentence = pl.format("{} is the mean of {} runs; their spread is not known.", whose, "runs")
    notes = groups.of_rows(numbers).select("row", text=sentence).unique(maintain_order=True)
    found.remarks.note(notes["row"], notes["text"])


def _rounding(groups: Groups, rows: Ints, found: Estimates) -> None:
    """Set the bounds of the ratios that the printed digits allow, or nan for no bound.

    The figure of a run can be any value that would print the same, so the ratio of geometric means lies between
    those of the ends.
    """
    value, low, high = found.samples.mean_logs()
    with np.errstate(invalid="ignore"):
        below, above = (np.fmax(ends, 0.0) for ends in (value - low, high - value))  # unknown ends add nothing
        printed = high - low
    a, b = (groups.pairs[role].to_numpy()[rows] for role in ROLES)
    bounds = stats.rounding_ratio(np.exp(low[a]), np.exp(high[a]), np.exp(low[b]), np.exp(high[b]))
    found.put(rows, rounding_low=np.where(bounds.low > 0, bounds.low, np.nan), rounding_high=bounds.high)
    found.put(rows, down=below[b] + above[a], up=above[b] + below[a])
    found.rounding = np.where(np.isfinite(printed), printed, below + above) / 2  # of a range, too


def _bounds(groups: Groups, rows: Ints, found: Estimates, options: CompareOptions) -> None:
    """Test the bounds of ratios over several runs, using the ends of prints that bring it nearest to 1."""
    if not rows.size:
        return
    lows, highs = (Sampler(groups, end).of(rows) for end in ("low", "high"))
    for beyond, a, b in (
        (found.numbers["rounding_low"][rows] > 1, highs.a, lows.b),
        (found.numbers["rounding_high"][rows] < 1, lows.a, highs.b),
    ):
        chosen = rows[beyond]
        if not chosen.size:
            continue
        result = stats.welch_log(a[beyond], b[beyond], options.confidence)
        units = np.minimum(result.n_a, result.n_b)
        reach = found.rounding[groups.compared[chosen]].sum(axis=-1)
        found.put(chosen, estimand="bound of the ratio of geometric means", method="Welch t on logs of bounds")
        found.put(chosen, estimate=np.log(result.estimate), units=units, down=0.0, up=0.0)
        found.put(chosen, **spread(result, units, reach))


def _predict(samples: Samples, found: Estimates, options: CompareOptions, *, inverse: bool = False) -> None:
    """Set where one more run would lie according to the spread of a group, for comparing it with a single run."""
    rows, many, one = samples
    if not rows.size:
        return
    result = stats.prediction_log(one.values[:, 0], many, options.confidence)
    result = result.inverse() if inverse else result
    low, high = found.with_rounding(rows, result)
    found.put(rows, method=result.method, prediction_low=low, prediction_high=high)
    found.note_caveats(rows, result)
