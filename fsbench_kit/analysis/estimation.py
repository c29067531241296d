"""Which method the data's shape asks for: applied to all comparisons of one shape at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
from scipy.special import comb

from fsbench_kit import stats
from fsbench_kit.analysis.groups import OTHER
from fsbench_kit.model.vocabulary import REASONS
from fsbench_kit.stats.drift import MIN_RUNS as MIN_FOR_DRIFT
from fsbench_kit.stats.medians import MIN_FOR_MEDIAN
from fsbench_kit.stats.robust import MIN_PAIRS, MIN_RUNS
from fsbench_kit.stats.single import MIN_FOR_PREDICTION
from fsbench_kit.stats.steady import WINDOW
from fsbench_kit.stats.values import checked_confidence, checked_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from fsbench_kit.stats import RatioEstimate

    Method: TypeAlias = Callable[["Runs", "Runs", float], RatioEstimate]

Runs = np.ma.MaskedArray[Any, np.dtype[np.float64]]
Rows = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

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


class Findings:
    """What is found about each row of a comparison, column by column.

    Attributes
    ----------
    numbers
        The columns of `NUMBERS`, nan where there is none.
    words
        The columns of `WORDS`.
    reasons, footnotes
        Of each row.
    equivalent
        Whether a row shows that there is no difference.
    """

    def __init__(self, rows: int) -> None:
        self.numbers = {name: np.full(rows, np.nan) for name in NUMBERS}
        self.words: dict[str, list[str | None]] = {name: [None] * rows for name in WORDS}
        self.reasons: list[list[str]] = [[] for _ in range(rows)]
        self.footnotes: list[list[str]] = [[] for _ in range(rows)]
        self.equivalent = np.zeros(rows, dtype=np.bool_)

    def put(self, rows: Rows, **columns: Any) -> None:
        """Fill in columns of some rows; words are the same for all of them."""
        for name, found in columns.items():
            if name in self.words:
                for row in rows:
                    self.words[name][row] = found
            else:
                self.numbers[name][rows] = found

    def because(self, rows: Iterable[int], code: str, *details: str) -> None:
        """Add a reason to some rows, with what was found or else with what the code means."""
        for row in rows:
            self.reasons[row].append(code)
            self.footnotes[row] += details or [REASONS[code][1]]

    def note(self, rows: Iterable[int], sentence: str) -> None:
        """Add a footnote to some rows."""
        for row in rows:
            self.footnotes[row].append(sentence)

    def columns(self) -> dict[str, pl.Series]:
        """Return all columns; what is not finite is null: an unknown, an open end, a lower bound of nothing."""
        known = {
            name: pl.Series(np.where(np.isfinite(values), values, np.nan)).fill_nan(None)
            for name, values in self.numbers.items()
        }
        words = {name: pl.Series(values, dtype=pl.String) for name, values in self.words.items()}
        return {**known, **words, "reasons": _texts(self.reasons), "footnotes": _texts(self.footnotes)}


def _texts(of_rows: list[list[str]]) -> pl.Series:
    """Return lists of texts as a column; Polars takes ten times as long to do this list by list."""
    sizes = [len(texts) for texts in of_rows]
    flat = pl.DataFrame(
        {
            "row": np.repeat(np.arange(len(of_rows)), sizes),
            "text": pl.Series([text for texts in of_rows for text in texts], dtype=pl.String),
        }
    )
    lists = flat.group_by("row", maintain_order=True).agg("text")
    rows = pl.DataFrame({"row": np.arange(len(of_rows))})
    empty = pl.lit([], dtype=pl.List(pl.String))
    return rows.join(lists, on="row", how="left", maintain_order="left").select(pl.col("text").fill_null(empty))[
        "text"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What all rows share: the factor, the confidence of intervals, and the largest ratio that counts as equal."""

    factor: str
    confidence: float
    margin: float

    def __post_init__(self) -> None:
        checked_confidence(self.confidence)
        checked_log(self.margin)


class Sides(NamedTuple):
    """Some rows of one shape, with the runs of both sides."""

    rows: Rows
    a: Runs
    b: Runs

    def where(self, chosen: Bools) -> Sides:
        """Return some of the rows."""
        return Sides(self.rows[chosen], self.a[chosen], self.b[chosen])


def estimate(pairs: pl.DataFrame, found: Findings, options: Options) -> None:
    """Estimate the ratio of each row of `groups.side_by_side` by the method that its shape asks for."""
    a, b = pairs["value"], pairs[f"value{OTHER}"]
    n_a, n_b = (pairs[name].to_numpy() for name in ("n", f"n{OTHER}"))
    either = {
        name: (pairs[name] | pairs[f"{name}{OTHER}"]).fill_null(value=False).to_numpy()
        for name in ("missing", "zero", "censored")
    }
    nothing, single = either["missing"] | either["zero"], (n_a == 1) & (n_b == 1)
    ambiguous = np.array(["UNIT_AMBIGUOUS" in reasons for reasons in found.reasons], dtype=np.bool_)
    censored = either["censored"] & ~nothing
    found.because(_where(nothing), "ZERO_OR_FAILED")
    found.because(_where(censored), "CENSORED")
    _rounding(pairs, _where(single & ~nothing & ~ambiguous), found)

    usable = ~(nothing | censored | ambiguous)
    rows = _where(usable)
    if not rows.size:
        return
    _ratios(Sides(rows, _ragged(a, rows), _ragged(b, rows)), found)
    found.put(rows, estimand="ratio of geometric means")

    k_a, k_b = (pairs[f"averaged_over{suffix}"].list.first().to_numpy() for suffix in ("", OTHER))
    fewest, most = np.minimum(n_a, n_b), np.maximum(n_a, n_b)
    of_means = ((n_a == 1) & (k_a > 1)) | ((n_b == 1) & (k_b > 1))
    found.because(_where(usable & (fewest == 1) & ~of_means), "ONE_RUN_NO_REPLICATES")
    found.because(_where(usable & (fewest == 1) & of_means), "ONE_RUN_NO_REPLICATES", _SINGLE_MEAN)

    alone = _where(usable & single)
    noise = stats.break_even(
        found.numbers["ratio"][alone], options.confidence, runs_a=k_a[alone], runs_b=k_b[alone]
    ).cv
    found.put(alone, estimand="ratio of single figures", method="none", break_even_cv=noise)

    one_sided = usable & (fewest == 1) & (most > 1)
    found.because(_where(one_sided & (most < MIN_FOR_PREDICTION)), "N_BELOW_METHOD_MIN")
    predicted = one_sided & (most >= MIN_FOR_PREDICTION)
    _predict(_where(predicted & (n_a == 1)), a, b, found, options, inverse=True)
    _predict(_where(predicted & (n_b == 1)), b, a, found, options, inverse=False)

    _intervals(pairs, _where(usable & (fewest > 1)), found, options)


_SINGLE_MEAN: Final = "A side has a single mean of runs, which says nothing about the variation between them."


def _where(mask: Bools) -> Rows:
    return np.flatnonzero(mask)


def _ragged(values: pl.Series, rows: Rows) -> Runs:
    return stats.ragged(values.gather(rows).to_list())


def _rounding(pairs: pl.DataFrame, rows: Rows, found: Findings) -> None:
    """Give the ratios that the prints of two single figures allow; no bound is a null."""
    ends = (pairs[name].gather(rows).to_numpy() for name in ("low", "high", f"low{OTHER}", f"high{OTHER}"))
    bounds = stats.rounding_ratio(*ends)
    found.put(rows, rounding_low=np.where(bounds.low > 0, bounds.low, np.nan), rounding_high=bounds.high)


def _ratios(sides: Sides, found: Findings) -> None:
    of_a, of_b = (np.exp(np.ma.getdata(np.ma.log(side).mean(axis=-1))) for side in (sides.a, sides.b))
    found.put(sides.rows, value_baseline=of_a, value_candidate=of_b, ratio=of_b / of_a)


def _predict(
    rows: Rows, single: pl.Series, many: pl.Series, found: Findings, options: Options, *, inverse: bool
) -> None:
    """Hold the side with a single run to what the spread of the other predicts for one more run."""
    if not rows.size:
        return
    one = single.gather(rows).list.first().to_numpy()
    result = stats.prediction_log(one, _ragged(many, rows), options.confidence)
    result = result.inverse() if inverse else result
    found.put(rows, method=result.method, prediction_low=result.low, prediction_high=result.high)
    _caveats(rows, result, found)


def _caveats(rows: Rows, result: RatioEstimate, found: Findings) -> None:
    for caveat, applies in result.caveats.items():
        found.note(rows[applies], caveat)


# ---- intervals


def _intervals(pairs: pl.DataFrame, rows: Rows, found: Findings, options: Options) -> None:
    """Give the interval of rows with two or more runs on a side: over blocks, where both sides share some."""
    blocks = _blocks(pairs[rows].with_columns(row=pl.Series(rows)), options.factor)
    several = (pl.col("a").list.len() > 1) | (pl.col("b").list.len() > 1)
    blocked = blocks.filter(several.any().over("row"))
    in_pairs = blocks.join(blocked, on="row", how="anti", maintain_order="left")
    _left_out(pairs, blocks, found)

    paired = _of_blocks(in_pairs)
    _interval(paired, stats.paired_log, found, options)
    _beside_pairs(paired, found, options)
    _beside_few(pairs, paired, stats.moderated_paired_log, found, options)

    _interval(_stacked(blocked), stats.blocked_log, found, options)
    # A block is one figure to the signed ranks as well: the geometric mean of its runs.
    means = blocked.with_columns(pl.col("a", "b").list.eval(pl.element().log()).list.mean().exp())
    _beside_pairs(_of_blocks(means), found, options)

    alone = np.setdiff1d(rows, blocks["row"].to_numpy())
    apart = Sides(alone, *(_ragged(pairs[f"value{suffix}"], alone) for suffix in ("", OTHER)))
    _interval(apart, stats.welch_log, found, options)
    _beside_two_samples(apart, found, options)
    _beside_few(pairs, apart, stats.moderated_log, found, options)


def _interval(sides: Sides, method: Method, found: Findings, options: Options) -> None:
    """Give the interval of some rows, which are of one shape."""
    rows, a, b = sides
    if not rows.size:
        return
    result = method(a, b, options.confidence)
    _ratios(Sides(rows, *(side.reshape(rows.size, -1) for side in (a, b))), found)
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
    found.equivalent[rows] = stats.equivalent(method(a, b, _EQUIVALENCE_CONFIDENCE), options.margin)
    _caveats(rows, result, found)


_EQUIVALENCE_CONFIDENCE: Final = 0.90
"""Of the interval that has to lie within the margin, so that the test of equivalence has a size of 5 %."""


def _blocks(pairs: pl.DataFrame, factor: str) -> pl.DataFrame:
    """Return the runs of both sides in the blocks that they share, at least two: hosts, or else rounds.

    What hosts differ in is more than what rounds do, and a further host is what a conclusion is to hold for: so
    where both sides ran on several hosts, these are the blocks. The rounds of several hosts are not the same ones.

    Returns
    -------
    pl.DataFrame
        Columns ``row``, ``by`` (host or round), and ``a`` and ``b``, the runs of each side in the block.
    """
    runs = pl.concat(
        pairs.select(
            "row",
            side=pl.lit(side),
            **{name: f"{name}{suffix}" for name in ("value", "round", "host")},
        ).explode("value", "round", "host")
        for side, suffix in (("a", ""), ("b", OTHER))
    )
    if factor == "host":
        return _shared(runs, "round")
    hosts = _shared(runs, "host")
    others = runs.join(hosts, on="row", how="anti")
    return pl.concat([hosts, _shared(others, "round", "host")])


def _shared(runs: pl.DataFrame, by: str, *within: str) -> pl.DataFrame:
    """Return the blocks in which rows have runs of both sides, if a row has two or more of them."""
    values = {side: pl.col("value").filter(pl.col("side") == side) for side in ("a", "b")}
    return (
        runs.drop_nulls(by)
        .group_by("row", by, *within)
        .agg(**values)
        .filter(pl.col("a").list.len() > 0, pl.col("b").list.len() > 0)
        .filter(pl.len().over("row") > 1)
        .sort("row", by, *within)
        .select("row", "a", "b", by=pl.lit(by))
    )


def _left_out(pairs: pl.DataFrame, blocks: pl.DataFrame, found: Findings) -> None:
    used = blocks.group_by("row", "by").agg((pl.col("a").list.len() + pl.col("b").list.len()).sum().alias("used"))
    of_row = (pairs["n"] + pairs[f"n{OTHER}"]).to_list()
    for row, by, n in used.rows():
        if of_row[row] > n:
            where = "in their round" if by == "round" else "on their host"
            found.note([row], f"{of_row[row] - n} runs are without a partner {where} and were left out.")


def _of_blocks(blocks: pl.DataFrame) -> Sides:
    """Return the figures of both sides, those of a block at one place."""
    by_row = blocks.group_by("row", maintain_order=True).agg(pl.col("a", "b").explode())
    rows = by_row["row"].to_numpy().astype(np.int64)
    return Sides(rows, stats.ragged(by_row["a"].to_list()), stats.ragged(by_row["b"].to_list()))


def _stacked(blocks: pl.DataFrame) -> Sides:
    """Return the runs of both sides with an axis of blocks: ``(rows, blocks, runs)``."""
    of_row = blocks.group_by("row", maintain_order=True).len()
    rows, sizes = (of_row[name].to_numpy().astype(np.int64) for name in ("row", "len"))
    place = np.repeat(np.arange(rows.size), sizes), np.concatenate([np.arange(size) for size in [0, *sizes]])

    def stack(name: str) -> Runs:
        runs = stats.ragged(blocks[name].to_list())
        shape = rows.size, int(sizes.max(initial=0)), runs.shape[-1]
        stacked = np.ma.MaskedArray(np.ones(shape), mask=np.ones(shape, dtype=np.bool_))
        stacked[place] = runs
        return stacked

    return Sides(rows, stack("a"), stack("b"))


# ---- companions: a second interval, by a method that fails elsewhere


def _beside_two_samples(sides: Sides, found: Findings, options: Options) -> None:
    """Give the interval of Hodges and Lehmann; that of medians, where the runs of a side lie in two heaps."""
    n_a, n_b = sides.a.count(axis=-1), sides.b.count(axis=-1)
    fewest = np.minimum(n_a, n_b)
    heaps = fewest >= MIN_FOR_MEDIAN
    if heaps.any():
        a, b = sides.a[heaps], sides.b[heaps]
        heaps[heaps] = stats.two_modes(a) | stats.two_modes(b)
    _companion(sides.where(heaps), stats.median_ratio, found, options)
    widest = 1 - 2 / comb(n_a + n_b, n_a)  # the confidence of all ratios of a run to a run, least to greatest
    ranked = (fewest >= MIN_RUNS) & (widest >= options.confidence) & ~heaps
    _companion(sides.where(ranked), stats.hodges_lehmann_log, found, options)


def _beside_pairs(sides: Sides, found: Findings, options: Options) -> None:
    """Give the interval of the signed ranks."""
    pairs = sides.a.count(axis=-1)
    enough = (pairs >= MIN_PAIRS) & (1 - 2.0 ** (1 - pairs) >= options.confidence)
    _companion(sides.where(enough), stats.signed_rank_log, found, options)


def _beside_few(pairs: pl.DataFrame, sides: Sides, method: Method, found: Findings, options: Options) -> None:
    """Give cells of two or three runs an interval that borrows from others of their kind, if these are many."""
    few = sides.where(np.minimum(sides.a.count(axis=-1), sides.b.count(axis=-1)) <= _FEW)
    kinds = pairs[few.rows].select(pl.struct(*_KIND).rank("dense")).to_series().to_numpy()
    for kind in np.unique(kinds):
        _companion(few.where(kinds == kind), method, found, options)


_FEW: Final = 3
"""The most runs of a side whose spread is better known with that of other cells."""

_KIND: Final = ("study", "tool", "filesystem", "metric", "statistic", "level", f"level{OTHER}")
"""What cells have to share before one borrows from another."""


def _companion(sides: Sides, method: Method, found: Findings, options: Options) -> None:
    """Set an interval beside the rows' own, and say where the two disagree on whether it holds 1."""
    if not sides.rows.size:
        return
    result, rows = method(sides.a, sides.b, options.confidence), sides.rows
    own_low, own_high = found.numbers["ci_low"][rows], found.numbers["ci_high"][rows]
    given = np.isfinite(result.low) & np.isfinite(own_low)
    found.put(rows[given], companion_low=result.low[given], companion_high=result.high[given])
    found.put(rows[given], companion_method=result.method)
    holds, own_holds = (result.low <= 1) & (result.high >= 1), (own_low <= 1) & (own_high >= 1)
    found.note(rows[given & holds & ~own_holds], f"A second interval, by {result.method}, holds 1.")
    found.note(rows[given & ~holds & own_holds], f"A second interval, by {result.method}, does not hold 1.")
    if (noisy := result.caveats.get(stats.Caveat.NOISIER_THAN_MOST)) is not None:
        found.note(
            rows[given & noisy], "The cell is more than twice as noisy as most: its second interval is short."
        )


# ---- how the runs of a side lie


def shape_of_sides(pairs: pl.DataFrame, found: Findings) -> None:
    """Say which sides lie in two heaps, which drift, and withhold the verdict where one has not come to rest.

    Not steady is a side whose rounds fail SNIA's criterion and also drift. The criterion alone would not do: it
    bounds the range of five rounds, which runs that merely vary by 9 % exceed half of the time, and that is what
    an interval is for. Nor would drift alone: at random order inside rounds it does no harm to a ratio, while a
    device that is still on its way shows a ratio that neither of its states has.
    """
    for suffix in ("", OTHER):
        sides = pairs.select(
            pl.col(f"{name}{suffix}").alias(name) for name in ("level", "n", "in_time", "timed", "by_round")
        ).with_row_index("row")
        measured = pl.col("in_time").list.eval((pl.element() > 0).fill_null(value=False)).list.all()
        sides = sides.filter(pl.col("n") >= 3, measured)
        _two_heaps(sides, found)
        drifting = _drifting(sides, found)
        _not_steady(drifting.filter("by_round", pl.col("n") >= WINDOW), found)


def _two_heaps(sides: pl.DataFrame, found: Findings) -> None:
    if sides.is_empty():
        return
    flagged = stats.two_modes(stats.ragged(sides["in_time"].to_list()))
    for row, level in sides.filter(flagged).select("row", "level").rows():
        found.note([row], f"The runs of {level} lie in two heaps, of which a mean lies between: look at each run.")


def _drifting(sides: pl.DataFrame, found: Findings) -> pl.DataFrame:
    """Name the sides that got faster or slower in the course of the launch, and return them."""
    sides = sides.filter("timed", pl.col("n") >= MIN_FOR_DRIFT)
    if sides.is_empty():
        return sides
    line = stats.drift(stats.ragged(sides["in_time"].to_list()))
    drifting = sides.filter((line.low > 1) | (line.high < 1))
    for row, level in drifting.select("row", "level").rows():
        found.note(
            [row], f"The figures of {level} drift: later runs differ from earlier ones by more than chance."
        )
    return drifting


def _not_steady(sides: pl.DataFrame, found: Findings) -> None:
    if sides.is_empty():
        return
    last = np.array(sides["in_time"].list.tail(WINDOW).to_list())
    rows = sides["row"].to_numpy()[~stats.steady_state(last).steady]
    found.because([row for row in rows if "NON_STEADY" not in found.reasons[row]], "NON_STEADY")
