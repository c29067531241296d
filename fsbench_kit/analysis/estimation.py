"""By how much groups differ, and how sure that is: the method follows from the runs' number and layout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.groups import SIDES
from fsbench_kit.analysis.reasons import Reason, Remarks
from fsbench_kit.stats import special
from fsbench_kit.stats.robust import MIN_PAIRS, MIN_RUNS
from fsbench_kit.stats.single import MIN_FOR_PREDICTION
from fsbench_kit.stats.values import checked_confidence, checked_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from fsbench_kit.analysis.design import Design
    from fsbench_kit.analysis.groups import Groups, Runs
    from fsbench_kit.stats import RatioEstimate
    from fsbench_kit.stats.result import Bools, Floats, Ints

    Method: TypeAlias = Callable[[Runs, Runs, float], RatioEstimate]

ZERO_OR_FAILED: Final = Reason(
    code="ZERO_OR_FAILED", kind="no ratio", meaning="A group has a figure of zero, or none at all."
)
CENSORED: Final = Reason(
    code="CENSORED", kind="no interval", meaning="Only a bound of a figure is known, so only one of the ratio."
)
ONE_RUN: Final = Reason(
    code="ONE_RUN_NO_REPLICATES",
    kind="no interval",
    meaning="A group has a single run, which says nothing about the variation between runs.",
)
TOO_FEW: Final = Reason(
    code="N_BELOW_METHOD_MIN", kind="no interval", meaning="A group has fewer runs than the method needs."
)
STRATA_DISAGREE: Final = Reason(
    code="STRATA_DISAGREE",
    kind="verdict withheld",
    meaning="The ratios within hosts, launches or values of a setting disagree by more than chance.",
)
SET_MISMATCH: Final = Reason(
    code="SET_MISMATCH",
    kind="verdict withheld",
    meaning="The groups have different cells; only the cells that both have were compared.",
)
REASONS: Final = (ZERO_OR_FAILED, CENSORED, ONE_RUN, TOO_FEW, STRATA_DISAGREE, SET_MISMATCH)
"""The reasons that lie in the measurements themselves."""

NUMBERS: Final = (
    "value_baseline",
    "value_candidate",
    "n_pairs",
    "ratio",
    "rounding_low",
    "rounding_high",
    "ci_low",
    "ci_high",
    "confidence",
    "companion_low",
    "companion_high",
    "prediction_low",
    "prediction_high",
    "break_even_cv",
    "p",
)
WORDS: Final = ("estimand", "method", "companion_method", "over")
TESTS: Final = (
    *stats.LogRatio._fields,
    *("units", "per_unit", "degrees", "above", "below", "p_equivalent"),
)
"""What the verdict rests on besides: the estimate that is tested, how much less and more its rounding allows, and
in how many pairs the candidate has the greater figure, and the smaller one."""


class Estimates:
    """What the measurements of each row show, column by column.

    Attributes
    ----------
    numbers
        The columns of `NUMBERS` and `TESTS`, nan where there is none.
    words
        The columns of `WORDS`.
    remarks
        Why a row has no more, and what to keep in mind when reading it.
    rounding
        How far the true figures of each group may lie from the printed ones to either side, as a mean logarithm.
    """

    def __init__(self, rows: int) -> None:
        self.numbers = {name: np.full(rows, np.nan) for name in (*NUMBERS, *TESTS)}
        self.words = {name: np.full(rows, None, dtype=object) for name in WORDS}
        self.remarks = Remarks()
        self.rounding: Floats = np.zeros(0)

    def put(self, rows: Ints, **columns: Any) -> None:
        """Fill in columns of some rows; words are the same for all of them."""
        for name, found in columns.items():
            (self.words if name in self.words else self.numbers)[name][rows] = found

    def columns(self) -> dict[str, pl.Series]:
        """Return all columns; what is not finite is null: an unknown, an open end, a lower bound of nothing."""
        known = {
            name: pl.Series(np.where(np.isfinite(values), values, np.nan)).fill_nan(None)
            for name, values in self.numbers.items()
        }
        words = {name: pl.Series(values.tolist(), dtype=pl.String) for name, values in self.words.items()}
        return {**known, **words}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What all rows share: the factor, the confidence of intervals, and the largest ratio that counts as equal."""

    factor: str
    confidence: float
    margin: float = 1.05

    def __post_init__(self) -> None:
        checked_confidence(self.confidence)
        checked_log(self.margin)


class Samples(NamedTuple):
    """Some rows that are laid out alike, with the runs of their baseline and of their candidate."""

    rows: Ints
    a: Runs
    b: Runs

    def where(self, chosen: Bools) -> Samples:
        """Return some of the rows."""
        return Samples(self.rows[chosen], self.a[chosen], self.b[chosen])

    def swapped(self) -> Samples:
        """Return the same rows, seen from the other group."""
        return Samples(self.rows, self.b, self.a)


class Sampler:
    """Takes the runs of rows and of groups out of the values of all groups, which are put into an array once."""

    def __init__(self, groups: Groups, column: str = "value") -> None:
        self._values = groups.ragged(groups.measurements[column])
        self._started = groups.measurements["started_at"]
        self._groups = groups
        self._n = groups.table["n"].to_numpy()
        self._sides = [groups.pairs[side].to_numpy() for side in SIDES]

    @property
    def sizes(self) -> list[Ints]:
        """How many runs the baseline and the candidate of each row have."""
        return [self._n[groups] for groups in self._sides]

    def of(self, rows: Ints) -> Samples:
        """Return the runs of both groups of some rows."""
        return Samples(rows, *(self.group(groups[rows]) for groups in self._sides))

    def group(self, groups: Ints) -> Runs:
        """Return the runs of some groups."""
        return self._values[groups, : self._n[groups].max(initial=0)]

    def in_time(self, groups: Ints) -> Runs:
        """Return the runs of some groups in the order in which they were started; that of all is known."""
        values = self.group(groups)
        started = self._groups.ragged(self._started.to_physical())[groups, : values.shape[1]]
        order = started.argsort(axis=-1, kind="stable", endwith=True)
        return values[np.arange(groups.size)[:, None], order]


def estimate(design: Design, without_ratio: pl.Series, options: Options) -> Estimates:
    """Estimate the ratio of each comparison by the method that its runs ask for.

    Parameters
    ----------
    design
        Who stands with whom, and in which units.
    without_ratio
        The rows whose design allows no ratio.
    options
        What all rows share.
    """
    groups = design.groups
    found = Estimates(groups.pairs.height)
    samples = Sampler(groups)
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
    _ratios(samples.of(_where(usable)), found)
    found.put(_where(usable), estimand="ratio of geometric means")

    k_a, k_b = (groups.of(side, "averaged_over").to_series().fill_null(1).to_numpy() for side in SIDES)
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
    _intervals(design, samples.of(_where(usable & (fewest > 1))), found, options)
    return found


_SINGLE_MEAN: Final = (
    "A group has a single mean of several runs, which says nothing about the variation between runs."
)


def _where(mask: Bools) -> Ints:
    return np.flatnonzero(mask)


def _means_of_runs(groups: Groups, found: Estimates) -> None:
    """Say whose figures are means of several runs."""
    several = np.flatnonzero(groups.having(pl.col("averaged_over") > 1))
    if not several.size:
        return
    numbers = (  # a log is of one run, unless its study says otherwise
        groups.measurements.filter(pl.col("group").is_in(several))
        .group_by("group", "level")
        .agg(runs=pl.col("averaged_over").fill_null(1).unique().sort())
        .with_columns(
            each=pl.col("runs").list.len() == 1, runs=pl.col("runs").cast(pl.List(pl.String)).list.join(" or ")
        )
    )
    alike = pl.col("each") & (pl.len() == 2).over("row") & (pl.col("runs").n_unique() == 1).over("row")
    figure = pl.when("each").then(pl.lit("Each figure")).otherwise(pl.lit("A figure"))
    whose = pl.when(alike).then(figure).otherwise(pl.format("{} of {}", figure, "level"))
    sentence = pl.format("{} is the mean of {} runs; their spread is not known.", whose, "runs")
    said = groups.of_rows(numbers).select("row", text=sentence).unique(maintain_order=True)
    found.remarks.note(said["row"], said["text"])


def _rounding(groups: Groups, rows: Ints, found: Estimates) -> None:
    """Give the ratios that the prints allow; no bound is a null.

    A run's figure lies anywhere between the values that print like it, so that the ratio of geometric means lies
    between those of the ends.
    """
    n = groups.table["n"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = [np.log(groups.measurements[name].to_numpy()[groups.order]) for name in ("value", "low", "high")]
        value, low, high = (np.add.reduceat(ends, groups.first) / n if n.size else ends for ends in logs)
        below, above = (np.fmax(ends, 0.0) for ends in (value - low, high - value))  # what is unknown adds nothing
    a, b = (groups.pairs[side].to_numpy()[rows] for side in SIDES)
    bounds = stats.rounding_ratio(np.exp(low[a]), np.exp(high[a]), np.exp(low[b]), np.exp(high[b]))
    found.put(rows, rounding_low=np.where(bounds.low > 0, bounds.low, np.nan), rounding_high=bounds.high)
    found.put(rows, down=below[b] + above[a], up=above[b] + below[a])
    found.rounding = (below + above) / 2


def _bounds(groups: Groups, rows: Ints, found: Estimates, options: Options) -> None:
    """Test the bounds of ratios over several runs: of each print the end that brings the ratio nearest to 1."""
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
        reach = found.rounding[groups.pairs.to_numpy()[chosen]].sum(axis=-1)
        found.put(chosen, estimand="bound of the ratio of geometric means", method="Welch t on logs of bounds")
        found.put(chosen, estimate=np.log(result.estimate), units=units, down=0.0, up=0.0)
        found.put(chosen, **_spread(result, units, reach))


def _spread(result: RatioEstimate, units: Ints, reach: Floats) -> dict[str, Floats]:
    """Return the standard error of ratios and its degrees of freedom.

    Where all runs of each group print alike their spread lies below what the print resolves. It is taken to be as
    wide as that: true figures are anywhere in their print, in both groups.
    """
    error, df = np.asarray(result.standard_error), np.asarray(result.df)
    alike = np.isnan(error) & (reach > 0)
    return {
        "standard_error": np.where(alike, reach / np.sqrt(3.0 * units), error),
        "df": np.where(alike, units - 1.0, df),
    }


def _ratios(samples: Samples, found: Estimates) -> None:
    of_a, of_b = (np.exp(np.ma.getdata(np.ma.log(runs).mean(axis=-1))) for runs in samples[1:])
    found.put(samples.rows, value_baseline=of_a, value_candidate=of_b, ratio=of_b / of_a)


def _predict(samples: Samples, found: Estimates, options: Options, *, inverse: bool = False) -> None:
    """Hold the single run of one group to what the spread of the other predicts for one more run."""
    rows, many, one = samples
    if not rows.size:
        return
    result = stats.prediction_log(np.ma.getdata(one)[:, 0], many, options.confidence)
    result = result.inverse() if inverse else result
    low, high = _with_rounding(result, rows, found)
    found.put(rows, method=result.method, prediction_low=low, prediction_high=high)
    _caveats(rows, result, found)


def _with_rounding(result: RatioEstimate, rows: Ints, found: Estimates) -> tuple[Floats, Floats]:
    """Let intervals reach as much further as the rounding of figures does; none has an open end."""
    down, up = found.numbers["down"][rows], found.numbers["up"][rows]
    reach = np.where(np.isfinite(down + up), 1.0, np.nan)
    return reach * result.low * np.exp(-down), reach * result.high * np.exp(up)


def _caveats(rows: Ints, result: RatioEstimate, found: Estimates) -> None:
    for caveat, applies in result.caveats.items():
        found.remarks.note(rows[applies], caveat)


# ---- intervals


def _intervals(design: Design, samples: Samples, found: Estimates, options: Options) -> None:
    """Give the interval of rows with two or more runs in each group, over the units that the design plans with."""
    groups = design.groups
    planned = _planned(design, samples.rows)
    apart = samples.where(~np.isin(samples.rows, planned["row"].to_numpy()))
    some = _independent(planned.filter(method="runs"))
    _ratios(some, found)
    for independent in (apart, some):
        if independent.rows.size:
            _interval(independent, stats.welch_log, found, options)
            _beside_two_samples(independent, found, options)
            _beside_few(groups, independent, stats.moderated_log, found, options)
    if planned.is_empty():
        return
    mean = pl.col("value").log().mean().exp()
    means = planned.filter(method="means").group_by("row", "side", "unit", maintain_order=True).agg(mean)
    _interval(_independent(means), stats.welch_log, found, options)
    _over_blocks(groups, planned, found, options)
    _within_strata(planned, found, options)
    for (over,), rows in planned.select("row", over=_OVER).unique().group_by("over"):
        found.put(rows["row"].to_numpy(), over=over)


def _planned(design: Design, rows: Ints) -> pl.DataFrame:
    """Return the runs of rows that are not simply two groups: ``row``, ``side``, ``value`` and their units."""
    plan, pairs = design.plan.runs, design.rows
    chosen = pairs.filter(pl.col("row").is_in(rows), pl.col("pair").is_in(plan["pair"].unique().implode()))
    values = [
        design.groups.runs_of(side, chosen["row"].to_numpy(), "run_id", "value").with_columns(side=pl.lit(number))
        for number, side in enumerate(SIDES)
    ]
    return (
        pl.concat(values).join(chosen, on="row").join(plan, on=["pair", "side", "run_id"], maintain_order="left")
    )


def _over_blocks(groups: Groups, planned: pl.DataFrame, found: Estimates, options: Options) -> None:
    """Give the interval of rows that are compared over rounds, hosts or launches: in pairs or in blocks."""
    blocks = pl.concat([_shared(planned.filter(method=method), by) for method, by in _BLOCKS.items()])
    several = (pl.col("a").list.len() > 1) | (pl.col("b").list.len() > 1)
    blocked = blocks.filter(several.any().over("row"))
    in_pairs = blocks.join(blocked, on="row", how="anti", maintain_order="left")

    paired = _of_blocks(in_pairs)
    _ratios(paired, found)
    _interval(paired, stats.paired_log, found, options)
    _beside_pairs(paired, found, options)
    _beside_few(groups, paired, stats.moderated_paired_log, found, options)

    _ratios(_of_blocks(blocked), found)
    _interval(_stacked(blocked), stats.blocked_log, found, options)
    # A block is one figure to the signed ranks as well: the geometric mean of its runs.
    _beside_pairs(_of_blocks(_means(blocked)), found, options)


_BLOCKS: Final = {"rounds": "block", "units": "unit"}
"""How rows are compared, and the column that holds what they are compared over."""

_OVER: Final = (
    pl.when(pl.col("method").is_in(["rounds", "strata of rounds"]))
    .then(pl.lit("rounds"))
    .when(pl.col("method") == "means")
    .then(pl.lit("launches"))
    .when(pl.col("method") == "units")
    .then(pl.when(pl.col("unit").str.starts_with("launch ")).then(pl.lit("launches")).otherwise(pl.lit("hosts")))
    .otherwise(pl.lit("runs"))
)
"""What an interval is over."""


def _within_strata(planned: pl.DataFrame, found: Estimates, options: Options) -> None:
    """Give the interval within strata, and beside it the one for hosts or launches in general."""
    of_values, of_runs = (_shared(planned.filter(method=way), "unit", both=False) for way in ("values", "strata"))
    _strata(pl.concat([of_values, of_runs]), stats.stratified_log, found, options)
    rounds = _means(_shared(planned.filter(method="strata of rounds"), "block", "unit"))
    of_rounds = rounds.group_by("row", "unit", maintain_order=True).agg(pl.col("a", "b").explode())
    _strata(of_rounds, stats.stratified_paired_log, found, options)
    units = pl.concat([of_runs, of_rounds.select(of_runs.columns)]).filter(
        pl.col("a").list.len() > 0, pl.col("b").list.len() > 0
    )
    _companion(_stacked(units.filter(pl.len().over("row") > 1)), stats.blocked_log, found, options)


def _strata(
    strata: pl.DataFrame, method: Callable[[Runs, Runs, float], stats.Strata], found: Estimates, options: Options
) -> None:
    """Give the interval of some rows within strata; those that disagree are named one by one."""
    samples = _stacked(strata)
    if not samples.rows.size:
        return
    result = method(samples.a, samples.b, options.confidence)
    _interval(samples, lambda *_: result.overall, found, options)
    apart = _where(result.p_disagree < DISAGREE)
    of_row = strata.group_by("row", maintain_order=True).agg("unit")["unit"].to_list()
    told = [
        "The ratios disagree by more than chance, and have no common one: "
        + ", ".join(
            f"{ratio:.2f} ({name.replace(chr(10), ' ').strip()})"
            for name, ratio in zip(of_row[place], result.ratios[place], strict=False)
            if np.isfinite(ratio)
        )
        + "."
        for place in apart
    ]
    found.remarks.because(samples.rows[apart], STRATA_DISAGREE, pl.Series(told, dtype=pl.String))


DISAGREE: Final = 0.05
"""Below which p of "they have one ratio" strata are said to disagree."""


def _interval(samples: Samples, method: Method, found: Estimates, options: Options) -> None:
    """Give the interval of some rows, which are laid out alike."""
    rows, a, b = samples
    if not rows.size:
        return
    result = method(a, b, options.confidence)
    units, per_unit = np.minimum(result.n_a, result.n_b), 1 / result.n_a + 1 / result.n_b
    degrees = result.n_a + result.n_b - 2
    if result.n_pairs is not None:
        units, per_unit, degrees = result.n_pairs, 1 / result.n_pairs, result.n_pairs - 1
        in_pairs = result.method.startswith("paired")  # else in blocks of several runs
        of_a, of_b = (side if in_pairs else np.ma.log(side).mean(axis=-1) for side in (a, b))
        within = tuple(range(1, of_a.ndim))
        found.put(rows, n_pairs=units)
        found.put(rows, above=(of_b > of_a).sum(axis=within), below=(of_b < of_a).sum(axis=within))
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
    _caveats(rows, result, found)

    down, up = found.numbers["down"][rows], found.numbers["up"][rows]
    for name, reach in (("rounding_low", -down), ("rounding_high", up)):
        known = np.isfinite(found.numbers[name][rows])
        found.put(rows[known], **{name: (result.estimate * np.exp(reach))[known]})
    low, high = _with_rounding(result, rows, found)
    spread = _spread(result, units, (down + up) / 2)
    spread["standard_error"][~np.isfinite(down + up)] = np.nan
    alike = np.isnan(low) & ~np.isnan(spread["standard_error"])
    low[alike], high[alike] = ((result.estimate * np.exp(reach))[alike] for reach in (-down, up))
    confidence = np.where(np.isnan(low), np.nan, options.confidence)
    found.put(rows, ci_low=low, ci_high=high, confidence=confidence, **spread)
    found.put(rows[alike], method="rounding alone")
    with np.errstate(invalid="ignore"):
        coarse = ~alike & (down + up > _COARSE * np.log(high / low))
    found.remarks.note(rows[coarse], "Rounding of the printed figures makes up much of the interval.")


_COARSE: Final = 0.25
"""The share of an interval that its rounding may have without a word about it."""


# ---- blocks


def _shared(planned: pl.DataFrame, by: str, *within: str, both: bool = True) -> pl.DataFrame:
    """Return the runs of each row's groups in each block, by default of the blocks that have both."""
    a, b = (pl.col("value").filter(pl.col("side") == side) for side in range(len(SIDES)))
    blocks = planned.sort("row", by, maintain_order=True).group_by("row", by, *within, maintain_order=True)
    known = blocks.agg(a=a, b=b).select("row", "a", "b", unit=pl.col(within[0] if within else by).cast(pl.String))
    return known.filter(pl.col("a").list.len() > 0, pl.col("b").list.len() > 0) if both else known


def _means(blocks: pl.DataFrame) -> pl.DataFrame:
    """Return the geometric mean of each group's runs in each block."""
    return blocks.with_columns(pl.col("a", "b").list.eval(pl.element().log()).list.mean().exp())


def _independent(planned: pl.DataFrame) -> Samples:
    """Return the figures of both groups, in no order."""
    a, b = (pl.col("value").filter(pl.col("side") == side) for side in range(len(SIDES)))
    return _of_blocks(planned.sort("row", maintain_order=True).group_by("row", maintain_order=True).agg(a=a, b=b))


def _of_blocks(blocks: pl.DataFrame) -> Samples:
    """Return the figures of both groups, those of a block at one place."""
    by_row = blocks.group_by("row", maintain_order=True).agg(pl.col("a", "b").explode())
    return Samples(by_row["row"].to_numpy(), *(stats.ragged(by_row[name].to_list()) for name in ("a", "b")))


def _stacked(blocks: pl.DataFrame) -> Samples:
    """Return the runs of both groups with an axis of blocks: ``(rows, blocks, runs)``."""
    of_row = blocks.group_by("row", maintain_order=True).len()
    rows, sizes = (of_row[name].to_numpy().astype(np.int64) for name in ("row", "len"))
    place = np.repeat(np.arange(rows.size), sizes), np.concatenate([np.arange(size) for size in [0, *sizes]])

    def stack(name: str) -> Runs:
        runs = stats.ragged(blocks[name].to_list())
        shape = rows.size, int(sizes.max(initial=0)), runs.shape[-1]
        stacked = np.ma.MaskedArray(np.ones(shape), mask=np.ones(shape, dtype=np.bool_))
        stacked[place] = runs
        return stacked

    return Samples(rows, stack("a"), stack("b"))


# ---- companions: a second interval, by a method that fails elsewhere


def _beside_two_samples(samples: Samples, found: Estimates, options: Options) -> None:
    """Give the interval of Hodges and Lehmann, which two modes do not shorten."""
    n_a, n_b = samples.a.count(axis=-1), samples.b.count(axis=-1)
    # the confidence of all ratios of a run to a run, least to greatest
    widest = 1 - 2 / special.comb(n_a + n_b, n_a)
    ranked = (np.minimum(n_a, n_b) >= MIN_RUNS) & (widest >= options.confidence)
    _companion(samples.where(ranked), stats.hodges_lehmann_log, found, options)


def _beside_pairs(samples: Samples, found: Estimates, options: Options) -> None:
    """Give the interval of the signed ranks."""
    pairs = samples.a.count(axis=-1)
    enough = (pairs >= MIN_PAIRS) & (1 - 2.0 ** (1 - pairs) >= options.confidence)
    _companion(samples.where(enough), stats.signed_rank_log, found, options)


def _beside_few(groups: Groups, samples: Samples, method: Method, found: Estimates, options: Options) -> None:
    """Give cells of two or three runs an interval that borrows from others of their kind, if these are many."""
    few = samples.where(np.minimum(samples.a.count(axis=-1), samples.b.count(axis=-1)) <= _FEW)
    baselines, candidates = (groups.of(side, *_KIND)[few.rows] for side in SIDES)
    kinds = baselines.select(pl.struct(*_KIND, other=candidates["level"]).rank("dense")).to_series().to_numpy()
    for kind in np.unique(kinds):
        _companion(few.where(kinds == kind), method, found, options)


_FEW: Final = 3
"""The most runs of a group whose spread is better known with that of other cells."""

_KIND: Final = ("study", "tool", "filesystem", "metric", "statistic", "level")
"""What cells have to share before one borrows from another, besides the candidate's level."""


def _companion(samples: Samples, method: Method, found: Estimates, options: Options) -> None:
    """Set an interval beside the rows' own, and say where the two disagree on whether it includes 1."""
    if not samples.rows.size:
        return
    result, rows = method(samples.a, samples.b, options.confidence), samples.rows
    low, high = _with_rounding(result, rows, found)
    own_low, own_high = found.numbers["ci_low"][rows], found.numbers["ci_high"][rows]
    given = np.isfinite(low) & np.isfinite(own_low)
    found.put(rows[given], companion_low=low[given], companion_high=high[given])
    found.put(rows[given], companion_method=result.method)
    includes, own_includes = (low <= 1) & (high >= 1), (own_low <= 1) & (own_high >= 1)
    found.remarks.note(
        rows[given & includes & ~own_includes], f"A second interval, by {result.method}, includes 1."
    )
    found.remarks.note(
        rows[given & ~includes & own_includes], f"A second interval, by {result.method}, excludes 1."
    )
    if (noisy := result.caveats.get(stats.Caveat.NOISIER_THAN_MOST)) is not None:
        found.remarks.note(
            rows[given & noisy], "The cell is more than twice as noisy as most: its second interval is too short."
        )
