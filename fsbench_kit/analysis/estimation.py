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
from fsbench_kit.stats.drift import MIN_RUNS as MIN_FOR_DRIFT
from fsbench_kit.stats.medians import MIN_FOR_MEDIAN
from fsbench_kit.stats.robust import MIN_PAIRS, MIN_RUNS
from fsbench_kit.stats.single import MIN_FOR_PREDICTION
from fsbench_kit.stats.steady import WINDOW
from fsbench_kit.stats.values import checked_confidence, checked_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from fsbench_kit.analysis.design import Design
    from fsbench_kit.analysis.groups import Groups, Runs
    from fsbench_kit.stats import RatioEstimate
    from fsbench_kit.stats.result import Bools, Ints

    Method: TypeAlias = Callable[[Runs, Runs, float], RatioEstimate]

ZERO_OR_FAILED: Final = Reason(
    code="ZERO_OR_FAILED", kind="no ratio", meaning="A group has a figure of zero, or none at all."
)
CENSORED: Final = Reason(code="CENSORED", kind="no interval", meaning="Only a bound of a figure is known.")
ONE_RUN: Final = Reason(
    code="ONE_RUN_NO_REPLICATES",
    kind="no interval",
    meaning="A group has a single run, which says nothing about the variation between runs.",
)
TOO_FEW: Final = Reason(
    code="N_BELOW_METHOD_MIN", kind="no interval", meaning="A group has fewer runs than the method needs."
)
NON_STEADY: Final = Reason(
    code="NON_STEADY",
    kind="verdict withheld",
    meaning="The rounds of a group drift, and the last five have not reached steady state by SNIA's criterion.",
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
REASONS: Final = (ZERO_OR_FAILED, CENSORED, ONE_RUN, TOO_FEW, NON_STEADY, STRATA_DISAGREE, SET_MISMATCH)
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
WORDS: Final = ("estimand", "method", "companion_method")


class Estimates:
    """What the measurements of each row show, column by column.

    Attributes
    ----------
    numbers
        The columns of `NUMBERS`, nan where there is none.
    words
        The columns of `WORDS`.
    remarks
        Why a row has no more, and what to keep in mind when reading it.
    equivalent
        Whether a row shows that there is no difference.
    """

    def __init__(self, rows: int) -> None:
        self.numbers = {name: np.full(rows, np.nan) for name in NUMBERS}
        self.words = {name: np.full(rows, None, dtype=object) for name in WORDS}
        self.remarks = Remarks()
        self.equivalent = np.zeros(rows, dtype=np.bool_)

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
        return {**known, **words, "equivalent": pl.Series(self.equivalent)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What all rows share: the factor, the confidence of intervals, and the largest ratio that counts as equal."""

    factor: str
    confidence: float
    margin: float

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

    def __init__(self, groups: Groups) -> None:
        self._values = groups.ragged(groups.measurements["value"])
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
    _rounding(groups, _where((most == 1) & ~nothing & ~refused), found)

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

    shapes = _shapes(groups, samples)
    _intervals(design, samples.of(_where(usable & (fewest > 1))), shapes, found, options)
    _shape_remarks(groups, shapes, found)
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
    """Give the ratios that the prints of two single figures allow; no bound is a null."""
    places = [groups.order[groups.first[groups.pairs[side].to_numpy()[rows]]] for side in SIDES]
    ends = (groups.measurements[name].gather(place).to_numpy() for place in places for name in ("low", "high"))
    bounds = stats.rounding_ratio(*ends)
    found.put(rows, rounding_low=np.where(bounds.low > 0, bounds.low, np.nan), rounding_high=bounds.high)


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
    found.put(rows, method=result.method, prediction_low=result.low, prediction_high=result.high)
    _caveats(rows, result, found)


def _caveats(rows: Ints, result: RatioEstimate, found: Estimates) -> None:
    for caveat, applies in result.caveats.items():
        found.remarks.note(rows[applies], caveat)


# ---- intervals


def _intervals(design: Design, samples: Samples, shapes: Shapes, found: Estimates, options: Options) -> None:
    """Give the interval of rows with two or more runs in each group, over the units that the design plans with."""
    groups = design.groups
    planned = _planned(design, samples.rows)
    apart = samples.where(~np.isin(samples.rows, planned["row"].to_numpy()))
    some = _independent(planned.filter(method="runs"))
    _ratios(some, found)
    for independent in (apart, some):
        if independent.rows.size:
            _interval(independent, stats.welch_log, found, options)
            _beside_two_samples(independent, groups.either(shapes.bimodal)[independent.rows], found, options)
            _beside_few(groups, independent, stats.moderated_log, found, options)
    if planned.is_empty():
        return
    mean = pl.col("value").log().mean().exp()
    means = planned.filter(method="means").group_by("row", "side", "unit", maintain_order=True).agg(mean)
    _interval(_independent(means), stats.welch_log, found, options)
    _over_blocks(groups, planned, found, options)
    _within_strata(planned, found, options)


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
    found.put(
        rows,
        ratio=result.estimate,
        ci_low=result.low,
        ci_high=result.high,
        confidence=result.confidence,
        estimand=result.estimand,
        method=result.method,
        p=result.p,
    )
    if result.n_pairs is not None:
        found.put(rows, n_pairs=result.n_pairs)
    found.equivalent[rows] = stats.tost_p(result, options.margin) <= _EQUIVALENCE_LEVEL
    _caveats(rows, result, found)


_EQUIVALENCE_LEVEL: Final = 0.05
"""Of the test of equivalence: as much as to say that the interval of 90 % lies within the margin."""


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


def _beside_two_samples(samples: Samples, bimodal: Bools, found: Estimates, options: Options) -> None:
    """Give the interval of Hodges and Lehmann; that of medians, where the runs of a group are bimodal."""
    n_a, n_b = samples.a.count(axis=-1), samples.b.count(axis=-1)
    fewest = np.minimum(n_a, n_b)
    of_medians = bimodal & (fewest >= MIN_FOR_MEDIAN)
    _companion(samples.where(of_medians), stats.median_ratio, found, options)
    widest = 1 - 2 / special.comb(
        n_a + n_b, n_a
    )  # the confidence of all ratios of a run to a run, least to greatest
    ranked = (fewest >= MIN_RUNS) & (widest >= options.confidence) & ~of_medians
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
    own_low, own_high = found.numbers["ci_low"][rows], found.numbers["ci_high"][rows]
    given = np.isfinite(result.low) & np.isfinite(own_low)
    found.put(rows[given], companion_low=result.low[given], companion_high=result.high[given])
    found.put(rows[given], companion_method=result.method)
    includes, own_includes = (result.low <= 1) & (result.high >= 1), (own_low <= 1) & (own_high >= 1)
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


# ---- how the runs of a group lie


class Shapes(NamedTuple):
    """Which groups are bimodal, which drift, and which do not come to rest."""

    bimodal: Bools
    drifting: Bools
    unsteady: Bools


def _shapes(groups: Groups, samples: Sampler) -> Shapes:
    """Tell how the runs of each group lie.

    Not steady is a group whose rounds fail SNIA's criterion and also drift. The criterion alone would not do: it
    bounds the range of five rounds, which runs that merely vary by 9 % exceed half of the time, and that is what
    an interval is for. Nor would drift alone: at random order inside rounds it does no harm to a ratio, while a
    device that is still on its way shows a ratio that neither of its states has.
    """
    n = groups.table["n"].to_numpy()
    compared = np.zeros(n.size, dtype=np.bool_)
    compared[groups.pairs.to_numpy()] = True
    measured = compared & (n >= 3) & ~groups.having(~(pl.col("value") > 0).fill_null(value=False))
    bimodal, drifting, unsteady = (np.zeros(n.size, dtype=np.bool_) for _ in range(3))
    chosen = _where(measured)
    if chosen.size:
        bimodal[chosen] = stats.bimodal(samples.group(chosen))

    # A line over time means something where the times are known, and all runs were made on one machine.
    timed = ~groups.having(pl.col("started_at").is_null()) & groups.alike("host")
    chosen = _where(measured & (n >= MIN_FOR_DRIFT) & timed)
    if chosen.size:
        in_time = samples.in_time(chosen)
        line = stats.drift(in_time)
        drifts = (line.low > 1) | (line.high < 1)
        drifting[chosen[drifts]] = True
        places, _ = groups.places(chosen[drifts & (n[chosen] >= WINDOW)])
        rounds = groups.measurements.select("group", "round")[places]
        once = (
            rounds.group_by("group")
            .agg(pl.col("round").is_not_null().all() & pl.col("round").is_unique().all())
            .filter("round")["group"]
        )
        for place in _where(np.isin(chosen, once.to_numpy())):
            unsteady[chosen[place]] = not stats.steady_state(in_time[place].compressed()[-WINDOW:]).steady
    return Shapes(bimodal, drifting, unsteady)


def _shape_remarks(groups: Groups, shapes: Shapes, found: Estimates) -> None:
    """Say which groups are bimodal, which drift, and withhold the verdict where one has not come to rest."""
    unsteady = np.zeros(found.equivalent.size, dtype=np.bool_)
    for side in SIDES:
        group, level = groups.pairs[side].to_numpy(), groups.of(side, "level").to_series()
        for which, sentence in ((shapes.bimodal, _BIMODAL), (shapes.drifting, _DRIFTING)):
            rows = _where(which[group])
            found.remarks.note(
                rows, level.gather(rows).to_frame().select(pl.format(sentence, "level")).to_series()
            )
        found.remarks.because(_where(shapes.unsteady[group] & ~unsteady), NON_STEADY)
        unsteady |= shapes.unsteady[group]


_BIMODAL: Final = "The runs of {} are bimodal, and their mean lies between the modes: look at each run."
_DRIFTING: Final = "The figures of {} drift: later runs differ from earlier ones by more than chance."
