"""Computes the intervals of rows with two or more runs in each group, over the units planned by the design."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.companions import beside_few, beside_pairs, beside_two_samples, companion
from fsbench_kit.analysis.groups import ROLES, Groups
from fsbench_kit.analysis.reasons import Reason
from fsbench_kit.analysis.samples import Samples, independent, means_of, of_blocks, shared, stacked
from fsbench_kit.stats.values import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.analysis.design import Design
    from fsbench_kit.analysis.estimates import CompareOptions, Estimates
    from fsbench_kit.stats import RatioEstimate
    from fsbench_kit.stats.result import Floats, Ints

    Method: TypeAlias = Callable[[Sample, Sample, float], RatioEstimate]

STRATA_DISAGREE: Final = Reason(
    code="STRATA_DISAGREE",
    kind="verdict withheld",
    meaning="The ratios within hosts, launches or values of a setting disagree by more than chance.",
)


def intervals(design: Design, samples: Samples, found: Estimates, options: CompareOptions) -> None:
    """Compute the interval of rows with two or more runs in each group, over the units planned by the design."""
    groups = design.groups
    if design.plan.runs.is_empty():
        _of_two_groups(groups, samples, found, options)
        return
    planned = _planned(design, samples.rows)
    apart = samples.where(~np.isin(samples.rows, planned["row"].to_numpy()))
    some = independent(planned.filter(method="runs"))
    found.put_ratios(some)
    for alone in (apart, some):
        _of_two_groups(groups, alone, found, options)
    mean = pl.col("value").log().mean().exp()
    means = planned.filter(method="means").group_by("row", "role", "unit", maintain_order=True).agg(mean)
    _interval(independent(means), stats.welch_log, found, options)
    _over_blocks(groups, planned, found, options)
    _within_strata(planned, found, options)
    for (over,), rows in planned.select("row", over=_OVER).unique().group_by("over"):
        found.put(rows["row"].to_numpy(), over=over)


def _of_two_groups(groups: Groups, samples: Samples, found: Estimates, options: CompareOptions) -> None:
    """Compute the interval of rows whose groups are independent."""
    if samples.rows.size:
        _interval(samples, stats.welch_log, found, options)
        _scatter(samples, found)
        beside_two_samples(samples, found, options)
        beside_few(groups, samples, stats.moderated_log, found, options)


def _planned(design: Design, rows: Ints) -> pl.DataFrame:
    """Return the runs of rows that are not simply two groups: ``row``, ``role``, ``value`` and their units."""
    plan, pairs = design.plan.runs, design.rows
    chosen = pairs.filter(pl.col("row").is_in(rows), pl.col("pair").is_in(plan["pair"].unique().implode()))
    values = [
        design.groups.runs_of(role, chosen["row"].to_numpy(), "run_id", "value").with_columns(role=pl.lit(number))
        for number, role in enumerate(ROLES)
    ]
    return (
        pl.concat(values).join(chosen, on="row").join(plan, on=["pair", "role", "run_id"], maintain_order="left")
    )


def _over_blocks(groups: Groups, planned: pl.DataFrame, found: Estimates, options: CompareOptions) -> None:
    """Compute the interval of rows that are compared over rounds, hosts or launches: in pairs or in blocks."""
    blocks = pl.concat([shared(planned.filter(method=method), by) for method, by in _BLOCKS.items()])
    several = (pl.col("a").list.len() > 1) | (pl.col("b").list.len() > 1)
    blocked = blocks.filter(several.any().over("row"))
    in_pairs = blocks.join(blocked, on="row", how="anti", maintain_order="left")

    paired = of_blocks(in_pairs)
    found.put_ratios(paired)
    _interval(paired, stats.paired_log, found, options)
    _scatter(paired, found, of_rounds=True)
    beside_pairs(paired, found, options)
    beside_few(groups, paired, stats.moderated_paired_log, found, options)

    found.put_ratios(of_blocks(blocked))
    _interval(stacked(blocked), stats.blocked_log, found, options)
    # For the signed ranks, too, a block is a single figure: the geometric mean of its runs.
    beside_pairs(of_blocks(means_of(blocked)), found, options)


_BLOCKS: Final = {"rounds": "block", "units": "unit"}
"""How rows are compared, and the column of what they are compared over."""

_OVER: Final = (
    pl.when(pl.col("method").is_in(["rounds", "strata of rounds"]))
    .then(pl.lit("rounds"))
    .when(pl.col("method").is_in(["means", "units"]))
    .then(
        pl.col("unit")
        .str.extract("^(boot|launch|date|host) ")
        .replace({"boot": "boots", "launch": "launches", "date": "dates", "host": "hosts"})
    )
    .otherwise(pl.lit("runs"))
)
"""What an interval is over."""


def _within_strata(planned: pl.DataFrame, found: Estimates, options: CompareOptions) -> None:
    """Compute the interval within strata, with one for hosts or launches in general as companion."""
    of_values, of_runs = (shared(planned.filter(method=way), "unit", both=False) for way in ("values", "strata"))
    _strata(pl.concat([of_values, of_runs]), stats.stratified_log, found, options)
    rounds = means_of(shared(planned.filter(method="strata of rounds"), "block", "unit"))
    of_rounds = rounds.group_by("row", "unit", maintain_order=True).agg(pl.col("a", "b").explode())
    _strata(of_rounds, stats.stratified_paired_log, found, options)
    units = pl.concat([of_runs, of_rounds.select(of_runs.columns)]).filter(
        pl.col("a").list.len() > 0, pl.col("b").list.len() > 0
    )
    companion(stacked(units.filter(pl.len().over("row") > 1)), stats.blocked_log, found, options)


def _strata(
    strata: pl.DataFrame,
    method: Callable[[Sample, Sample, float], stats.Strata],
    found: Estimates,
    options: CompareOptions,
) -> None:
    """Compute the interval of some rows within strata; if these disagree, list the ratio of each."""
    samples = stacked(strata)
    if not samples.rows.size:
        return
    result = method(samples.a, samples.b, options.confidence)
    _interval(samples, lambda *_: result.overall, found, options)
    apart = np.flatnonzero(result.p_disagree < DISAGREE)
    of_row = strata.group_by("row", maintain_order=True).agg("unit")["unit"].to_list()
    sentences = [
        "The ratios disagree by more than chance, and have no common one: "
        + ", ".join(
            f"{ratio:.2f} ({name.replace(chr(10), ' ').strip()})"
            for name, ratio in zip(of_row[place], result.ratios[place], strict=False)
            if np.isfinite(ratio)
        )
        + "."
        for place in apart
    ]
    found.remarks.because(samples.rows[apart], STRATA_DISAGREE, pl.Series(sentences, dtype=pl.String))


DISAGREE: Final = 0.05
"""Strata disagree if p of "they have one ratio" is below this."""


def _interval(samples: Samples, method: Method, found: Estimates, options: CompareOptions) -> None:
    """Compute the interval of rows with the same layout."""
    rows, a, b = samples
    if not rows.size:
        return
    result = method(a, b, options.confidence)
    units, per_unit = np.minimum(result.n_a, result.n_b), 1 / result.n_a + 1 / result.n_b
    degrees = result.n_a + result.n_b - 2
    if result.n_pairs is not None:
        units, per_unit, degrees = result.n_pairs, 1 / result.n_pairs, result.n_pairs - 1
        in_pairs = result.method.startswith("paired")  # otherwise in blocks of several runs
        of_a, of_b = (own.values if in_pairs else own.log().mean() for own in (a, b))
        both = a.present & b.present if in_pairs else (a.n > 0) & (b.n > 0)
        found.put(rows, n_pairs=units)
        within = tuple(range(1, both.ndim))
        found.put(
            rows, above=((of_b > of_a) & both).sum(axis=within), below=((of_b < of_a) & both).sum(axis=within)
        )
    found.put(
        rows,
        ratio=result.estimate,
        estimand=result.estimand,
        method=result.method,
        estimate=np.log(result.estimate),
        units=units,
        per_unit=per_unit,
        degrees=degrees,
    )
    found.note_caveats(rows, result)

    down, up = found.numbers["down"][rows], found.numbers["up"][rows]
    for name, reach in (("rounding_low", -down), ("rounding_high", up)):
        known = np.isfinite(found.numbers[name][rows])
        found.put(rows[known], **{name: (result.estimate * np.exp(reach))[known]})
    low, high = found.with_rounding(rows, result)
    of_runs = spread(result, units, (down + up) / 2)
    of_runs["standard_error"][~np.isfinite(down + up)] = np.nan
    alike = np.isnan(low) & ~np.isnan(of_runs["standard_error"])
    low[alike], high[alike] = ((result.estimate * np.exp(reach))[alike] for reach in (-down, up))
    confidence = np.where(np.isnan(low), np.nan, options.confidence)
    found.put(rows, ci_low=low, ci_high=high, confidence=confidence, **of_runs)
    found.put(rows[alike], method="rounding alone")
    with np.errstate(invalid="ignore"):
        coarse = ~alike & (down + up > _COARSE * np.log(high / low))
    found.remarks.note(rows[coarse], "Rounding of the printed figures makes up much of the interval.")


_COARSE: Final = 0.25
"""The share of rounding in an interval from which on it is noted."""


def spread(result: RatioEstimate, units: Ints, reach: Floats) -> dict[str, Floats]:
    """Return the standard error of ratios and its degrees of freedom.

    If all runs of each group print the same figure, their spread is smaller than the print resolves. It is then
    assumed to be as wide as the print allows: the true figures of both groups may be anywhere in that range.
    """
    error, df = np.asarray(result.standard_error), np.asarray(result.df)
    alike = np.isnan(error) & (reach > 0)
    return {
        "standard_error": np.where(alike, reach / np.sqrt(3.0 * units), error),
        "df": np.where(alike, units - 1.0, df),
    }


def _scatter(samples: Samples, found: Estimates, *, of_rounds: bool = False) -> None:
    """Record how far the runs of rows with few runs lie apart."""
    rows, a, b = samples.where((samples.fewest >= FEWEST_UNITS) & (samples.fewest <= MOST_FEW))
    if rows.size:
        apart = [Sample(b.values / a.values, a.present & b.present)] if of_rounds else [a, b]
        distances = np.concatenate([stats.distances(values) for values in apart], axis=-1)
        found.scatter.append((rows, distances))


FEWEST_UNITS: Final = 3
"""The number of runs of each group, or of rounds, from which on a row has a verdict of its own."""

MOST_FEW: Final = 5
"""The largest number of them at which rows are tested against the spread of other rows."""
