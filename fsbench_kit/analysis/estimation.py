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
SET_MISMATCH: Final = Reason(
    code="SET_MISMATCH",
    kind="verdict withheld",
    meaning="The groups have different cells; only the cells that both have were compared.",
)
REASONS: Final = (ZERO_OR_FAILED, CENSORED, ONE_RUN, TOO_FEW, SET_MISMATCH)
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
TESTS: Final = ("log_ratio", "standard_error", "df", "down", "up", "units", "above", "below", "p_equivalent")
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


def estimate(groups: Groups, without_ratio: pl.Series, options: Options) -> Estimates:
    """Estimate the ratio of each comparison by the method that its runs ask for.

    Parameters
    ----------
    groups
        Who stands with whom.
    without_ratio
        The rows whose design allows no ratio.
    options
        What all rows share.
    """
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

    _intervals(groups, samples.of(_where(usable & (fewest > 1))), found, options)
    found.put(_where(usable), over="runs")
    blocked = _where(~np.isnan(found.numbers["n_pairs"]))
    found.put(blocked, over="rounds")
    on_hosts = ~groups.alike("host")[groups.pairs["baseline"].to_numpy()[blocked]]
    found.put(blocked[on_hosts], over="hosts")
    _tests(groups, n_a + n_b, found, options)
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
        found.put(chosen, log_ratio=np.log(result.estimate), units=units, down=0.0, up=0.0)
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


def _intervals(groups: Groups, samples: Samples, found: Estimates, options: Options) -> None:
    """Give the interval of rows with two or more runs in each group: over blocks, where both groups share some."""
    blocks = _blocks(groups, samples.rows, options.factor)
    if not blocks.is_empty():
        _over_blocks(groups, blocks, found, options)
    apart = samples.where(~np.isin(samples.rows, blocks["row"].to_numpy()))
    _interval(apart, stats.welch_log, found, options)
    _beside_two_samples(apart, found, options)
    _beside_few(groups, apart, stats.moderated_log, found, options)


def _over_blocks(groups: Groups, blocks: pl.DataFrame, found: Estimates, options: Options) -> None:
    """Give the interval of rows whose groups share blocks: in pairs, or over blocks of several runs."""
    several = (pl.col("a").list.len() > 1) | (pl.col("b").list.len() > 1)
    blocked = blocks.filter(several.any().over("row"))
    in_pairs = blocks.join(blocked, on="row", how="anti", maintain_order="left")
    _without_partner(groups, blocks, found)

    paired = _of_blocks(in_pairs)
    _ratios(paired, found)
    _interval(paired, stats.paired_log, found, options)
    _beside_pairs(paired, found, options)
    _beside_few(groups, paired, stats.moderated_paired_log, found, options)

    _ratios(_of_blocks(blocked), found)
    _interval(_stacked(blocked), stats.blocked_log, found, options)
    # A block is one figure to the signed ranks as well: the geometric mean of its runs.
    means = blocked.with_columns(pl.col("a", "b").list.eval(pl.element().log()).list.mean().exp())
    _beside_pairs(_of_blocks(means), found, options)


def _interval(samples: Samples, method: Method, found: Estimates, options: Options) -> None:
    """Give the interval of some rows, which are laid out alike."""
    rows, a, b = samples
    if not rows.size:
        return
    result = method(a, b, options.confidence)
    units = np.minimum(result.n_a, result.n_b)
    if result.n_pairs is not None:
        units = result.n_pairs
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
        log_ratio=np.log(result.estimate),
        units=units,
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


# ---- tests


def _tests(groups: Groups, runs: Ints, found: Estimates, options: Options) -> None:
    """Test of each ratio whether it is 1, and whether it lies beyond the margin; of a bound only the former.

    The spread of three to five runs is hardly known: that they all lie in one of two modes looks like no spread at
    all. So their p is no smaller than what the spread of all rows of their kind gives, where these are many.
    """
    rows = _where(np.isfinite(found.numbers["standard_error"]))
    ratio = stats.LogRatio(*(found.numbers[name][rows] for name in TESTS[:5]))
    limit = checked_log(options.margin)
    p = np.stack([stats.difference_p(ratio), stats.equivalence_p(ratio, limit)])
    units, blocks = (found.numbers[name][rows] for name in ("units", "n_pairs"))
    of_ratios = ~np.isnan(found.numbers["ratio"][rows])
    few = _where(of_ratios & (units >= FEWEST_UNITS) & (units <= _MOST_FEW))
    if few.size:
        n_a, n_b = (groups.table["n"].to_numpy()[groups.pairs[side].to_numpy()[rows]] for side in SIDES)
        per_unit = np.where(np.isnan(blocks), 1 / n_a + 1 / n_b, 1 / blocks)
        degrees = np.where(np.isnan(blocks), runs[rows] - 2, blocks - 1)
        methods = pl.Series("method", found.words["method"][rows].tolist(), dtype=pl.String)
        kinds = groups.of("baseline", *_POOLED)[rows].with_columns(methods)
        kind = kinds.select(pl.struct(pl.all()).rank("dense") - 1).to_series().to_numpy()
        weight = np.where(of_ratios, degrees, 0.0)
        total = np.bincount(kind, weight)
        variance = np.bincount(kind, weight * ratio.standard_error**2 / per_unit) / np.maximum(total, 1)
        few = few[np.bincount(kind, of_ratios)[kind[few]] >= _MANY_ROWS]
        pooled = stats.LogRatio(*(column[few] for column in ratio))._replace(
            standard_error=np.sqrt(variance[kind[few]] * per_unit[few]), df=total[kind[few]]
        )
        p[:, few] = np.maximum(p[:, few], [stats.difference_p(pooled), stats.equivalence_p(pooled, limit)])
    found.put(rows, p=p[0], p_equivalent=np.where(of_ratios, p[1], np.nan))


FEWEST_UNITS: Final = 3
"""Runs of a group, or rounds, from which on a row has a verdict of its own."""

_MOST_FEW: Final = 5
_MANY_ROWS: Final = 10

_POOLED: Final = ("study", "tool", "metric", "statistic")
"""What rows have to share besides the method before few runs are held to the spread of all of them."""


# ---- blocks


def _blocks(groups: Groups, rows: Ints, factor: str) -> pl.DataFrame:
    """Return the runs of both groups in the blocks that they share, at least two: hosts, or else rounds.

    What hosts differ in is more than what rounds do, and a further host is what a conclusion is to hold for: so
    where both groups ran on several hosts, these are the blocks. Rounds of two hosts are never the same round.

    Returns
    -------
    pl.DataFrame
        Columns ``row``, ``by`` (host or round), and ``a`` and ``b``, the runs of each group in the block.
    """
    blocks = groups.measurements.select("host", "round")
    if all(blocks[by].drop_nulls().n_unique() < _FEWEST_BLOCKS for by in blocks.columns):
        rows = rows[:0]
    runs = pl.concat(
        groups.runs_of(side, rows, "value", "round", "host").with_columns(side=pl.lit(side)) for side in SIDES
    )
    if factor == "host":
        return _shared(runs, "round")
    hosts = _shared(runs, "host")
    others = runs.join(hosts, on="row", how="anti", maintain_order="left")
    return pl.concat([hosts, _shared(others, "round", "host")])


_FEWEST_BLOCKS: Final = 2


def _shared(runs: pl.DataFrame, by: str, *within: str) -> pl.DataFrame:
    """Return the blocks in which rows have runs of both groups, if a row has two or more of them."""
    baseline, candidate = (pl.col("value").filter(pl.col("side") == side) for side in SIDES)
    return (
        runs.drop_nulls(by)
        .group_by("row", by, *within, maintain_order=True)
        .agg(a=baseline, b=candidate)
        .filter(pl.col("a").list.len() > 0, pl.col("b").list.len() > 0)
        .filter(pl.len().over("row") >= _FEWEST_BLOCKS)
        .sort("row", by, *within)
        .select("row", "a", "b", by=pl.lit(by))
    )


def _without_partner(groups: Groups, blocks: pl.DataFrame, found: Estimates) -> None:
    used = blocks.group_by("row", "by").agg(used=(pl.col("a").list.len() + pl.col("b").list.len()).sum())
    runs = groups.pairs.select(n=sum(groups.of(side, "n").to_series() for side in SIDES)).with_row_index("row")
    alone = used.join(runs.cast({"row": pl.Int64}), on="row").filter(pl.col("n") > pl.col("used"))
    where = pl.when(pl.col("by") == "round").then(pl.lit("in their round")).otherwise(pl.lit("on their host"))
    left, partner = pl.col("n") - pl.col("used"), pl.format("no partner {} and", where)
    several = pl.format("{} runs have {} were left out.", left, partner)
    sentence = pl.when(left == 1).then(pl.format("1 run has {} was left out.", partner)).otherwise(several)
    found.remarks.note(alone["row"], alone.select(sentence).to_series())


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
