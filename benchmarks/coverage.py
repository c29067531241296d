"""Measures how often the intervals of `fsbench_kit.stats` hold the truth, and writes docs/coverage.md.

    python -m benchmarks.coverage [TABLE ...] [--repetitions 4000] [--families 200] [--seed 1]

Each method is held to its own estimand, whose truth is taken from a large sample of the same distribution. A row
falls short if a coverage lies more than 1.5 points below the level that the method says it achieves; where one
does so for no reason that `FALLS_SHORT` states, no page is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
from scipy.signal import lfilter

import fsbench_kit as fsb
from benchmarks import designs as made
from benchmarks.designs import two_filesystems
from benchmarks.logs import compared
from fsbench_kit import stats
from fsbench_kit.launch.stopping import PILOT, Precision, Rule

if TYPE_CHECKING:
    from fsbench_kit.stats.result import Bools, Floats

PAGE: Final = Path(__file__).parents[1] / "docs" / "coverage.md"

RATIO: Final = 1.2
RUNS: Final = (2, 3, 5, 10, 30)
PLANNED: Final = 1_000_000
SHORTFALL: Final = 0.015

Rng = np.random.Generator
Sample = Callable[[Rng, tuple[int, int]], "Floats"]
Sides = tuple["Floats", "Floats"]
Estimates = stats.RatioEstimate | stats.Estimate

MODE_UNSEEN: Final = "few runs do not see the slow mode"
ALIKE: Final = "runs in a row are no sample; only a random order mends that"

FALLS_SHORT: Final[dict[tuple[str, str], str]] = {
    ("bimodal both", "Welch"): "two runs of one mode hide the other",
    ("bimodal, lognormal .03", "Welch"): MODE_UNSEEN,
    ("lognormal .05, .30", "Hodges-Lehmann"): "exact only where one group is the other times a constant",
    ("runs half like the last", "*"): ALIKE,
    ("equal noise", "Welch"): "the few runs hardly tell their spread: `LOPSIDED`",
    ("smaller group twice as noisy", "Welch"): "as above",
    ("bimodal, rounds .10", "paired t"): "two pairs of one mode hide the other",
    ("all A, then all B", "*"): "the drift is part of the ratio; no analysis takes it out",
    ("*", "Welch, runs pooled"): "runs of one host share its effect: the host is the unit",
    ("60 cells, the noisiest", "*"): "the price of borrowing: `NOISIER_THAN_MOST`",
    ("200 cells, the noisiest", "*"): "the price of borrowing: `NOISIER_THAN_MOST`",
    (
        "single run twice as noisy",
        "prediction t",
    ): "the noise of a single run cannot be known: `EQUAL_NOISE_ASSUMED`",
    ("bimodal both", "prediction t"): "the shape between two modes is not that of t",
    ("lag-1 correlation 0.6", "within run"): "twenty figures are three independent ones here",
    ("lag-1 correlation 0.9", "within run"): "too few independent figures, until there are hundreds",
    ("*", "batch means alone"): "batches as short as the correlation is long; not offered alone",
    ("half-width 5 %", "*"): "the rule ends a launch rather where the spread happens to look small",
    ("stein 5 %", "*"): "as above; footnotes of such comparisons say so",
    ("*", "sd / sqrt(n)"): "neighbours are alike; not offered at all",
}
"""Data and method, or ``*`` for any, -> why the method falls short there."""


@dataclass(frozen=True)
class Cell:
    """How often an interval held the truth, what it says it achieves, and how far apart its ends typically are."""

    covered: float
    achieved: float
    width: float

    @property
    def falls_short(self) -> bool:
        """Whether the coverage lies too far below what the method says."""
        return self.covered < self.achieved - SHORTFALL

    def __str__(self) -> str:
        covered = f"{100 * self.covered:.1f}"
        if self.falls_short:
            covered = f"**{covered}**"
        if round(self.achieved, 3) != 0.95:
            covered += f" of {100 * self.achieved:.1f}"
        return f"{covered} ({self.width:.3f})"


@dataclass(frozen=True)
class Row:
    """One method on one kind of data; a cell is ``None`` where the method refuses so few runs."""

    data: str
    method: str
    cells: list[Cell | None]

    @property
    def falls_short(self) -> bool:
        """Whether one of its cells does."""
        return any(cell is not None and cell.falls_short for cell in self.cells)

    @property
    def reason(self) -> str | None:
        """Why it falls short, if that is known."""
        keys = ((self.data, self.method), (self.data, "*"), ("*", self.method))
        return next((FALLS_SHORT[key] for key in keys if key in FALLS_SHORT), None)


@dataclass(frozen=True)
class Table:
    """A section of the page: rows of coverage, or of shares."""

    title: str
    text: str
    header: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    shares: list[tuple[str, ...]] = field(default_factory=list)


def lognormal(rng: Rng, shape: tuple[int, int], spread: float = 0.05) -> Floats:
    """Draw from one mode, with a proportional spread."""
    return rng.lognormal(0, spread, shape)


def bimodal(rng: Rng, shape: tuple[int, int]) -> Floats:
    """Draw from a fast mode, and a slow one in a fifth of the runs."""
    return np.where(rng.random(shape) < 0.2, 0.6, 1.0) * rng.lognormal(0, 0.03, shape)


def stalling(rng: Rng, shape: tuple[int, int]) -> Floats:
    """Draw from one mode, but let a tenth of the runs take three times as long."""
    return np.where(rng.random(shape) < 0.1, 1 / 3, 1.0) * rng.lognormal(0, 0.05, shape)


def rounded(rng: Rng, shape: tuple[int, int]) -> Floats:
    """Draw from one mode, and print with so few digits that many runs are equal."""
    return rng.lognormal(0, 0.05, shape).round(2)


def alike(rng: Rng, shape: tuple[int, int], r: float, spread: float) -> Floats:
    """Draw normal figures that each take a share r of their deviation from the one before: AR(1)."""
    steps = rng.normal(0, spread, (shape[0], shape[1])) * np.sqrt(1 - r**2)
    steps[:, 0] /= np.sqrt(1 - r**2)
    series: Floats = lfilter([1], [1, -r], steps, axis=1)
    return series


def correlated(rng: Rng, shape: tuple[int, int]) -> Floats:
    """Draw runs that take half of their deviation from the run before them."""
    return np.exp(alike(rng, shape, 0.5, 0.05))


SIDES: Final[dict[str, tuple[Sample, Sample]]] = {
    "lognormal .05": (lognormal, lognormal),
    "lognormal .05, printed to .01": (rounded, rounded),
    "lognormal .50": (partial(lognormal, spread=0.5), partial(lognormal, spread=0.5)),
    "lognormal .05, .30": (lognormal, partial(lognormal, spread=0.30)),
    "bimodal both": (bimodal, bimodal),
    "bimodal, lognormal .03": (bimodal, partial(lognormal, spread=0.03)),
    "stall 10 % both": (stalling, stalling),
    "runs half like the last": (correlated, correlated),
}

Method = tuple[Callable[..., stats.RatioEstimate], Callable[["Floats", "Floats"], float]]


def geometric(a: Floats, b: Floats) -> float:
    """Return the ratio of geometric means."""
    return float(np.exp(np.log(b).mean() - np.log(a).mean()))


def of_pairs(a: Floats, b: Floats) -> float:
    """Return the median of ratios."""
    return float(np.median(b / a))


INDEPENDENT: Final[dict[str, Method]] = {
    "Welch": (stats.welch_log, geometric),
    "Hodges-Lehmann": (stats.hodges_lehmann_log, of_pairs),
}
PAIRED: Final[dict[str, Method]] = {
    "paired t": (stats.paired_log, geometric),
    "signed rank": (stats.signed_rank_log, of_pairs),
}


def cell(estimate: Estimates, truth: float, *, where: Bools | None = None, relative: bool = True) -> Cell:
    """Return the coverage of the intervals of many cells, which are repetitions here; nan is no interval."""
    given = ~np.isnan(estimate.low)
    if where is not None:
        given &= where
    low, high = estimate.low[given], estimate.high[given]
    width = np.median(high / low if relative else (high - low) / np.abs(truth))
    return Cell(
        float(((low <= truth) & (truth <= high)).mean()), float(estimate.confidence[given].mean()), float(width)
    )


def unless_refused(method: Callable[..., stats.RatioEstimate], a: Floats, b: Floats, truth: float) -> Cell | None:
    """Return the coverage, or ``None`` where the method refuses so few runs."""
    try:
        return cell(method(a, b), truth)
    except ValueError:
        return None


def independent_sides(rng: Rng, repetitions: int) -> Table:
    """Try two independent groups of equal size."""
    rows = []
    for data, (sample_a, sample_b) in SIDES.items():
        planned = sample_a(rng, (PLANNED, 1)), RATIO * sample_b(rng, (PLANNED, 1))
        draws = [(sample_a(rng, (repetitions, n)), RATIO * sample_b(rng, (repetitions, n))) for n in (*RUNS, 6)]
        draws.sort(key=lambda sides: sides[0].shape[1])
        rows += [
            Row(data, name, [unless_refused(method, a, b, truth(*planned)) for a, b in draws])
            for name, (method, truth) in INDEPENDENT.items()
        ]
    return Table(
        "Independent groups",
        "Runs per group. *Bimodal*: a fifth of the runs at 0.6 of the others, noise .03. *Stall*: a tenth of the "
        "runs takes three times as long. *Half like the last*: each run takes half of its deviation from the one "
        "before.",
        tuple(map(str, sorted((*RUNS, 6)))),
        rows,
    )


def unequal_sizes(rng: Rng, repetitions: int) -> Table:
    """Try Welch's t with few runs in one group, equally noisy and twice as noisy."""
    sizes = ((2, 3), (2, 4), (2, 5), (2, 10), (2, 30), (3, 5), (3, 10), (3, 30), (5, 30))
    rows = []
    for data, spread in (("equal noise", 0.05), ("smaller group twice as noisy", 0.10)):
        draws = [
            (lognormal(rng, (repetitions, few), spread), RATIO * lognormal(rng, (repetitions, many)))
            for few, many in sizes
        ]
        rows.append(Row(data, "Welch", [cell(stats.welch_log(a, b), RATIO) for a, b in draws]))
    return Table(
        "Groups of unequal size",
        "Runs of one group and of the other.",
        tuple(f"{x} v {y}" for x, y in sizes),
        rows,
    )


def pairs(rng: Rng, repetitions: int) -> Table:
    """Try rounds with an effect of their own, analysed with and without it."""
    shapes: dict[str, tuple[Sample, float]] = {
        "lognormal .05, rounds .10": (lognormal, 0.10),
        "lognormal .05, rounds alike": (lognormal, 0.0),
        "bimodal, rounds .10": (bimodal, 0.10),
        "stall 10 %, rounds .10": (stalling, 0.10),
    }
    rows = []
    for data, (sample, between) in shapes.items():
        draws = []
        for n in sorted((*RUNS, 6)):
            rounds = rng.lognormal(0, between, (repetitions, n))
            draws.append((rounds * sample(rng, (repetitions, n)), RATIO * rounds * sample(rng, (repetitions, n))))
        for name, (method, _) in {"Welch": INDEPENDENT["Welch"], **PAIRED}.items():
            rows.append(Row(data, name, [unless_refused(method, a, b, RATIO) for a, b in draws]))
    return Table(
        "Pairs",
        "Rounds of one run a group. The truth is the same for all.",
        tuple(map(str, sorted((*RUNS, 6)))),
        rows,
    )


def orders(rng: Rng, repetitions: int) -> Table:
    """Try a linear drift of 10 % over the runs of a launch, in four orders of running."""
    found: dict[tuple[str, str], list[Cell | None]] = {}
    for n in sorted((*RUNS, 6)):
        path = np.exp(np.linspace(0, np.log(1.1), 2 * n)) * lognormal(rng, (repetitions, 2 * n), 0.03)
        first = rng.integers(0, 2, (repetitions, n))
        rounds = np.arange(0, 2 * n, 2) + np.stack([first, 1 - first])
        everywhere = rng.permuted(np.tile(np.arange(2 * n), (repetitions, 1)), axis=1)
        sides: dict[str, Sides] = {
            "all A, then all B": (path[:, :n], path[:, n:]),
            "A and B in turn": (path[:, ::2], path[:, 1::2]),
            "random order": (
                np.take_along_axis(path, everywhere[:, :n], 1),
                np.take_along_axis(path, everywhere[:, n:], 1),
            ),
            "random order in rounds": (
                np.take_along_axis(path, rounds[0], 1),
                np.take_along_axis(path, rounds[1], 1),
            ),
        }
        for order, (a, b) in sides.items():
            for name, (method, _) in (PAIRED if order.endswith("rounds") else INDEPENDENT).items():
                found.setdefault((order, name), []).append(unless_refused(method, a, RATIO * b, RATIO))
    return Table(
        "A drift of 10 %",
        "Runs per group, noise .03, while the machine slows down or speeds up by 10 % over the launch.",
        tuple(map(str, sorted((*RUNS, 6)))),
        [Row(*key, cells) for key, cells in found.items()],
    )


def blocks(rng: Rng, repetitions: int) -> Table:
    """Try hosts that differ in speed and in what the factor does to them, with five runs each."""
    found: dict[str, list[Cell | None]] = {}
    for hosts in RUNS:
        speed = rng.lognormal(0, 0.3, (repetitions, hosts, 1))
        effect = RATIO * rng.lognormal(0, 0.05, (repetitions, hosts, 1))
        a = speed * rng.lognormal(0, 0.05, (repetitions, hosts, 5))
        b = speed * effect * rng.lognormal(0, 0.05, (repetitions, hosts, 5))
        by_run = ((side / speed).reshape(repetitions, -1) for side in (a, b))
        found.setdefault("t over blocks", []).append(cell(stats.blocked_log(a, b), RATIO))
        found.setdefault("Welch, runs pooled", []).append(cell(stats.welch_log(*by_run), RATIO))
    rows = [Row("ratio differs by .05 between hosts", name, cells) for name, cells in found.items()]
    text = "Hosts, with five runs a group on each. For pooling, the hosts' speeds were even taken out first."
    return Table("Hosts", text, tuple(map(str, RUNS)), rows)


def designs(rng: Rng, repetitions: int) -> Table:
    """Let `fsb.compare` choose the units: of runs that are not alike, of few hosts and launches, of many."""
    sizes = (3, 5, 10)
    few = min(repetitions, 2000)  # of 500, one in twenty falls short by chance
    layouts: dict[str, Callable[[int], pl.DataFrame]] = {
        "all but one under a version 35 % slower, and one": partial(_design(made.mixed), rng, repetitions),
        "two hosts": partial(_design(made.hosts, count=2), rng, repetitions),
        "three hosts": partial(_design(made.hosts, count=3), rng, repetitions),
        "three launches": partial(_design(made.hosts, count=3, by="folder"), rng, repetitions),
        "six hosts, ratio differs by .05": partial(_design(made.hosts, count=6, differ=0.05), rng, repetitions),
        "rounds of four cells": partial(_design(made.over_cells, count=1, differ=0.0), rng, few),
        "rounds of four cells, six hosts, ratio differs by .05": partial(
            _design(made.over_cells, count=6, differ=0.05), rng, few
        ),
    }
    rows = [
        Row(data, "as compared", [of_frame(layout(n), pl.lit(RATIO)) for n in sizes])
        for data, layout in layouts.items()
    ]
    text = "Runs or rounds of each group, in each host or launch. Noise .05; hosts and launches differ by .3."
    return Table("Units of a comparison", text, tuple(map(str, sizes)), rows)


def _design(layout: Callable[..., pl.DataFrame], **facts: object) -> Callable[[Rng, int, int], pl.DataFrame]:
    return lambda rng, repetitions, n: layout(rng, repetitions, n, RATIO, **facts)


def of_frame(table: pl.DataFrame, truth: pl.Expr, ends: str = "ci") -> Cell | None:
    """Return the coverage of the intervals between two columns of a comparison; ``None`` where there is none."""
    low, high = (pl.col(f"{ends}_{end}") for end in ("low", "high"))
    given = table.drop_nulls(f"{ends}_low")
    held = ((low <= truth) & (high >= truth)).mean()
    covered, width = given.select(held.alias("held"), (high / low).median().alias("width")).row(0)
    return Cell(covered, 0.95, width) if given.height else None


def summaries(rng: Rng, repetitions: int) -> Table:
    """Try the interval over hosts and the prediction of a further one, where hosts differ or do not."""
    rows = []
    sizes = (2, 3, 5, 10)
    for rounds, differ in ((3, 0.0), (3, 0.05), (3, 0.2), (10, 0.05), (10, 0.2)):
        cells: dict[str, list[Cell | None]] = {"mean of all hosts": [], "a further host": []}
        for count in sizes:
            found = made.summary_over_hosts(rng, min(repetitions, 1000), rounds, RATIO, count=count, differ=differ)
            cells["mean of all hosts"].append(of_frame(found, pl.lit(RATIO)))
            cells["a further host"].append(of_frame(found, pl.col("further"), "prediction"))
        rows += [
            Row(f"{rounds} rounds, ratio differs by {differ:g}", name, found) for name, found in cells.items()
        ]
    text = "By hosts; noise .05. Random effects through `fsbench_kit.summarise`, of 1000 studies at most."
    return Table("Summaries over hosts", text, tuple(map(str, sizes)), rows)


def disagreements(rng: Rng, repetitions: int) -> Table:
    """Count how often strata of one ratio are said to disagree, and groups in random order to be in blocks."""
    sizes = (3, 5, 10)
    shares = []
    for name, count, differ in (("two hosts", 2, 0.0), ("three hosts", 3, 0.0), ("three hosts, by .10", 3, 0.10)):
        found = [made.hosts(rng, repetitions, n, RATIO, count=count, differ=differ) for n in sizes]
        said = [table["reasons"].list.contains("STRATA_DISAGREE").mean() for table in found]
        shares.append((f"strata disagree: {name}", *(_percent(float(str(share))) for share in said)))
    few = min(repetitions, 1000)
    blocked = [made.random_orders(rng, few, n)["reasons"].list.contains("BLOCKED_ORDER").mean() for n in sizes]
    shares.append(("in blocks: random order", *(_percent(float(str(share))) for share in blocked)))
    text = "Percent of comparisons whose verdict is withheld, by runs of each group (on each host)."
    return Table("Verdicts withheld", text, tuple(map(str, sizes)), shares=shares)


def many_cells(rng: Rng, repetitions: int) -> Table:
    """Try moderated variances, on cells of different noise: all of them, and the noisiest."""
    found: dict[tuple[str, str], list[Cell | None]] = {}
    for n in (2, 3, 5, 10):
        for count in (60, 200):
            families = repetitions // count + 1
            noise = 0.05 * rng.lognormal(0, 0.4, (families, count, 1))
            a, b = (np.exp(noise * rng.normal(size=(families, count, n))) for _ in "ab")
            noisy = np.ravel(noise > 0.08)
            for name, method in (
                ("moderated t", stats.moderated_log),
                ("moderated paired t", stats.moderated_paired_log),
                ("Welch", stats.welch_log),
            ):
                estimates = _joined([method(x, RATIO * y) for x, y in zip(a, b, strict=True)])
                for data, where in ((f"{count} cells", None), (f"{count} cells, the noisiest", noisy)):
                    found.setdefault((data, name), []).append(cell(estimates, RATIO, where=where))
    return Table(
        "Variance moderated over cells",
        "Runs per group. The cells' noise is lognormal around .05 with a spread of .4; the noisiest: above .08.",
        ("2", "3", "5", "10"),
        [Row(*key, cells) for key, cells in sorted(found.items())],
    )


def _joined(families: list[stats.RatioEstimate]) -> stats.RatioEstimate:
    columns = ("estimate", "low", "high", "confidence", "n_a", "n_b")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(f, name) for f in families]) for name in columns}
    return stats.RatioEstimate(**arrays, estimand=families[0].estimand, method=families[0].method, caveats={})


def one_against_many(rng: Rng, repetitions: int) -> Table:
    """Try a single run against k runs, equally noisy or not."""
    rows = []
    for data, (sample_many, sample_single) in {
        "lognormal .05": SIDES["lognormal .05"],
        "single run twice as noisy": (lognormal, partial(lognormal, spread=0.10)),
        "bimodal both": SIDES["bimodal both"],
    }.items():
        truth = RATIO * geometric(sample_many(rng, (PLANNED, 1)), sample_single(rng, (PLANNED, 1)))
        cells = [
            cell(
                stats.prediction_log(
                    RATIO * sample_single(rng, (repetitions, 1))[:, 0], sample_many(rng, (repetitions, k))
                ),
                truth,
            )
            for k in RUNS[1:]
        ]
        rows.append(Row(data, "prediction t", [None, *cells]))
    return Table("One run against several", "Runs of the repeated group.", tuple(map(str, RUNS)), rows)


def rules(rng: Rng, repetitions: int) -> Table:
    """Let launches end by the rules of plans, which look at the spread that the interval is made of."""
    most, spreads = 100, (0.02, 0.05, 0.10, 0.20)
    rows = []
    for text in ("half-width 5 %", "stein 5 %"):
        rule = Rule.read(text)
        cells: list[Cell | None] = []
        for spread in spreads:
            a = lognormal(rng, (repetitions, most), spread / np.sqrt(2))
            b = RATIO * lognormal(rng, (repetitions, most), spread / np.sqrt(2))
            rounds = np.full(repetitions, most)
            open_yet = np.ones(repetitions, dtype=bool)
            for n in [PILOT] if rule.two_stages else range(PILOT, most + 1):
                estimates = stats.paired_log(a[open_yet, :n], b[open_yet, :n])
                reach = np.log(estimates.high / estimates.low) / 2
                said = [rule.decide(Precision(float(half), None, 1, 0), n, most) for half in reach]
                rounds[open_yet] = [wanted for wanted, _ in said]
                open_yet[open_yet] = [sentence is None for _, sentence in said]
            ended = [stats.paired_log(a[rounds == n, :n], b[rounds == n, :n]) for n in np.unique(rounds)]
            cells.append(cell(_joined(ended), RATIO))
        rows.append(Row(text, "paired t", cells))
    text = f"How much ratios vary from round to round; {PILOT} rounds at least and {most} at most."
    return Table(
        "Rounds until a rule is content", text, tuple(f"{100 * spread:.0f} %" for spread in spreads), rows
    )


def quantiles(rng: Rng, repetitions: int) -> Table:
    """Try intervals of quantiles of one group; achieved levels differ, and an open end covers with ease."""
    sizes = (6, 10, 30, 72, 400)
    rows = []
    for data, sample in {"lognormal .05": lognormal, "bimodal": bimodal, "printed to .01": rounded}.items():
        for q in (0.5, 0.9, 0.99):
            truth = float(np.quantile(sample(rng, (PLANNED, 1)), q))
            cells: list[Cell | None] = []
            for n in sizes:
                estimate = stats.quantile_interval(sample(rng, (repetitions, n)), q)
                cells.append(cell(estimate, truth) if np.isfinite(estimate.high).all() else None)
            rows.append(Row(data, f"quantile {q:g}", cells))
    return Table(
        "Quantiles of one group", "Values. No cell: one end of the interval is open.", tuple(map(str, sizes)), rows
    )


def drifts(rng: Rng, repetitions: int) -> Table:
    """Try the ratio of the last run to the first."""
    rows = []
    for data, sample in {"lognormal .05": lognormal, "bimodal": bimodal}.items():
        cells: list[Cell | None] = []
        for n in (4, *RUNS[2:]):
            path = np.exp(np.linspace(0, np.log(RATIO), n))
            cells.append(cell(stats.drift(path * sample(rng, (repetitions, n)), 0.95), RATIO))
        rows.append(Row(data, "drift", cells))
    return Table("Drift of one group", "Runs in the order of their execution.", ("4", "5", "10", "30"), rows)


def within_a_run(rng: Rng, repetitions: int) -> Table:
    """Try the mean of one run's figures, each like the one before."""
    sizes = (20, 60, 120, 600)
    few = min(repetitions, 4000)
    rows = []
    for r in (0.0, 0.3, 0.6, 0.9):
        draws = [100 + alike(rng, (few, n), r, 20) for n in sizes]
        rows.append(Row(f"lag-1 correlation {r}", "within run", [_mean(stats.within_run(x)) for x in draws]))
        by_batches = [_by_error(x, stats.batch_error(x), 2.262157) for x in draws]
        rows.append(Row(f"lag-1 correlation {r}", "batch means alone", [*by_batches]))
        naive = [_by_error(x, x.std(axis=1, ddof=1) / np.sqrt(x.shape[1]), 1.959964) for x in draws]
        rows.append(Row(f"lag-1 correlation {r}", "sd / sqrt(n)", [*naive]))
    text = "Figures of the run, whose noise is 20 %. The width is the interval's, as a share of the mean."
    return Table("Within one run", text, tuple(map(str, sizes)), rows)


def _mean(estimate: stats.Estimate) -> Cell:
    return cell(estimate, 100.0, relative=False)


def _by_error(series: Floats, error: Floats, quantile: float) -> Cell:
    mean = series.mean(axis=1)
    held = np.abs(mean - 100) <= quantile * error
    return Cell(float(held.mean()), 0.95, float(np.median(2 * quantile * error / 100)))


def equivalence(rng: Rng, repetitions: int) -> Table:
    """Count how often two groups are called equal: at the margin (size), and when they are equal (power)."""
    shares = []
    for name, ratio in (("at the margin, at most 5 allowed", 1.05), ("truly equal", 1.0)):
        for spread in (0.02, 0.05, 0.10):
            called = []
            for n in RUNS:
                a, b = lognormal(rng, (repetitions, n), spread), ratio * lognormal(rng, (repetitions, n), spread)
                called.append(stats.equivalent(stats.welch_log(a, b, 0.9), 1.05).mean())
            shares.append((f"{name}, noise {spread:.2f}", *map(_percent, called)))
    text = "Percent of comparisons that are called equivalent within 5 %, by runs per group."
    return Table("Equivalence", text, tuple(map(str, RUNS)), shares=shares)


CELLS_IN_FAMILY: Final = 500


def families(rng: Rng, count: int) -> Table:
    """Compare equals: count the families of 500 cells in which Holm's correction lets any difference through."""
    methods: dict[str, Callable[[Floats, Floats], Floats]] = {
        "Welch": lambda a, b: stats.welch_log(a, b).p,
        "paired t": lambda a, b: stats.paired_log(a, b).p,
        "moderated t": lambda a, b: np.stack([stats.moderated_log(*ab).p for ab in zip(a, b, strict=True)]),
        "Mann-Whitney": stats.mann_whitney_p,
    }
    samples: dict[str, tuple[Sample, Sample]] = {
        "lognormal .05": SIDES["lognormal .05"],
        "groups .05 and .30, equal centres": SIDES["lognormal .05, .30"],
        "bimodal both": SIDES["bimodal both"],
        "stall 10 % both": SIDES["stall 10 % both"],
    }
    shares = []
    for data, (sample_a, sample_b) in samples.items():
        wrong = {name: np.zeros(len(RUNS)) for name in methods}
        for place, n in enumerate(RUNS):
            for some in np.array_split(np.arange(count), max(1, count // 50)):
                shape = (some.size * CELLS_IN_FAMILY, n)
                a, b = (sample(rng, shape).reshape(-1, CELLS_IN_FAMILY, n) for sample in (sample_a, sample_b))
                for name, p in methods.items():
                    wrong[name][place] += sum((stats.holm(family) <= 0.05).any() for family in p(a, b))
        shares += [(f"{data}: {name}", *map(_percent, by_n / count)) for name, by_n in wrong.items()]
    error = _percent(np.sqrt(0.05 * 0.95 / count))
    text = (
        f"Percent of {count} families of {CELLS_IN_FAMILY} comparisons of equals in which Holm's correction "
        f"at 5 % calls any of them different, by runs per group; the error is {error}. Where noise is lognormal "
        "and alike in both groups, all methods keep the 5 %. Else a family of hundreds asks for p values so small "
        "that few runs reach them by the shape of their noise alone: runs of one mode against as many of another "
        "look like a difference without noise, and no t can tell. Ranks never claim what few runs cannot show, "
        "but need equal shapes too."
    )
    return Table("Families of comparisons", text, tuple(map(str, RUNS)), shares=shares)


# ---- through the public door


def modes(rng: Rng, shape: tuple[int, int], slow: float) -> Floats:
    """Draw from a fast mode, and a slow one in a share of the runs."""
    return np.where(rng.random(shape) < slow, 0.6, 1.0) * rng.lognormal(0, 0.03, shape)


OF_WHOLE: Final[dict[str, Sample]] = {
    "lognormal .05": lognormal,
    "modes 50:50": partial(modes, slow=0.5),
    "modes 80:20": partial(modes, slow=0.2),
    "stall 10 %": stalling,
}
FEW_TO_TEN: Final = (2, 3, 5, 10)
FAMILY: Final = (20, 500)
SMALL: Final = (2, 8)


def whole(a: Floats, b: Floats, **facts: Any) -> pl.DataFrame:
    """Compare the runs of two filesystems by `fsbench_kit.compare`; arrays are ``(cells, runs)``."""
    return fsb.compare(two_filesystems(a, b, **facts))


def studies(values: Callable[[int], Sides], count: int) -> Iterator[pl.DataFrame]:
    """Compare the runs of many studies, each a family of its own, a thousand figures or so at a time."""
    cells, n = values(1)[0].shape[1:]
    some = max(1, FIGURES_AT_ONCE // (2 * cells * n))
    for start in range(0, count, some):
        a, b = values(min(some, count - start))
        runs = made.in_turn([{}] * n, [{}] * n)
        both = np.empty((*a.shape[:2], 2 * n))
        for values_of, name in zip((a, b), made.SIDES, strict=True):
            both[..., [number for number, run in enumerate(runs) if run["filesystem"] == name]] = values_of
        yield fsb.compare(made.dataset(runs, both, whole=False)).with_columns(
            study=pl.format("{}-{}", start, "study")
        )


FIGURES_AT_ONCE: Final = 100_000


def verdicts(rng: Rng, repetitions: int, families: Sequence[int] = FAMILY) -> Table:
    """Count the comparisons of equals that call any cell different, and how often a difference is found."""
    count = max(1, repetitions // 8)

    def share(
        which: pl.Expr, sample: Sample, shape: tuple[int, int], *, ratio: float = 1.0, first: float = 1.0
    ) -> float:
        """Return in which share of studies a row is of a kind; groups differ by a ratio, a first cell by more."""
        cells, n = shape

        def values(some: int) -> Sides:
            a, b = (sample(rng, (some * cells, n)).reshape(some, cells, n) for _ in "ab")
            b = b * ratio
            b[:, 0] *= first
            return a, b

        found = pl.concat(table.filter(which).select("study") for table in studies(values, count))
        return found["study"].n_unique() / count

    different, equal = pl.col("verdict").is_in(["better", "worse"]), pl.col("verdict") == "equivalent"
    first_found = (pl.col("verdict") == "better") & (pl.col("block_size") == 4096)
    shares = []
    for data, sample in OF_WHOLE.items():
        for cells in families:
            wrong = [share(different, sample, (cells, n)) for n in FEW_TO_TEN]
            shares.append((f"false difference: {data}, {cells} cells", *map(_percent, wrong)))
    for cells in families:
        wrong = [share(equal, lognormal, (cells, n), ratio=1.05) for n in FEW_TO_TEN]
        shares.append((f"false equality: lognormal .05 at the margin, {cells} cells", *map(_percent, wrong)))
        for ratio in (RATIO, 2.0):
            power = [share(first_found, lognormal, (cells, n), first=ratio) for n in FEW_TO_TEN]
            shares.append((f"a cell of {ratio:g} found: lognormal .05, {cells} cells", *map(_percent, power)))
    error = _percent(np.sqrt(0.05 * 0.95 / count))
    text = (
        f"Percent of {count} comparisons, of one study each, by runs per group, through `fsbench_kit.compare`; "
        f"the error at 5 is {error}. Two runs a group have no verdict."
    )
    return Table("Verdicts of whole comparisons", text, tuple(map(str, FEW_TO_TEN)), shares=shares)


def small_families(rng: Rng, repetitions: int) -> Table:
    """Do the same with families that are too small for the spread of all their rows to hold for each."""
    table = verdicts(rng, repetitions, SMALL)
    return replace(table, title=f"{table.title}, of few cells")


def calls(rng: Rng, repetitions: int) -> Table:
    """Count the calls with any false difference; each cell has fourteen metrics, as logs of fio have them."""
    count = max(1, repetitions // 10)
    pace = {"bandwidth": 4096.0, "iops": 1.0}
    wrong = []
    for n in FEW_TO_TEN:
        false = 0
        for _ in range(count):
            rates = [1000 * lognormal(rng, (10, n)) for _ in "ab"]
            figures = {(metric, "value"): [unit * side for side in rates] for metric, unit in pace.items()}
            for metric in ("latency", "completion_latency"):
                figures[metric, "mean"] = [8 / side for side in rates]
                for share in ("p50", "p95", "p99"):
                    figures[metric, share] = [8 / side * lognormal(rng, (10, n)) for side in rates]
            for metric, statistic in (("cpu", "value"), ("phase_latency", "max"), ("elapsed_with_sync", "value")):
                figures[metric, statistic] = [lognormal(rng, (10, n)) for _ in "ab"]
            figures["elapsed", "value"] = [100 / side for side in rates]
            each = [two_filesystems(*of, metric=name) for name, of in figures.items()]
            of_all = replace(each[0], measurements=pl.concat(data.measurements for data in each))
            table = fsb.compare(of_all)
            false += table["verdict"].is_in(["better", "worse"]).any()
        wrong.append(false / count)
    error = _percent(np.sqrt(0.05 * 0.95 / count))
    text = (
        f"Percent of {count} calls of `fsbench_kit.compare` of equals, ten cells with fourteen metrics and "
        f"statistics each, that call any of the 140 rows different, by runs per group; the error at 5 is {error}."
    )
    return Table(
        "Whole calls", text, tuple(map(str, FEW_TO_TEN)), shares=[("lognormal .05", *map(_percent, wrong))]
    )


SPREADS: Final = {"noise .05": (0.05, 0.05), "noise .30": (0.30, 0.30), "noise .05 and .30": (0.05, 0.30)}
OF_LOGS: Final = {"1 v 1": (1, 1), "1 v 5": (1, 5), "3 v 3": (3, 3), "5 v 5": (5, 5)}


def logs(rng: Rng, repetitions: int) -> Table:
    """Write logs, read and compare them: what is said of equals, and of a filesystem that is faster by 30 %."""
    count = max(1, repetitions // 20)
    different = pl.col("verdict").is_in(["better", "worse"])
    shares: list[tuple[str, ...]] = []
    for noise, spreads in SPREADS.items():
        said: dict[str, list[str]] = {}
        for sizes in OF_LOGS.values():
            for ratio in (1.0, 1.3):
                rates = [rng.lognormal(0, spread, (count, n)) for spread, n in zip(spreads, sizes, strict=True)]
                with TemporaryDirectory() as folder:
                    table = compared(Path(folder), 1200 * rates[0], 1200 * ratio * rates[1])
                held = table.filter((pl.col("ci_low") <= ratio) & (pl.col("ci_high") >= ratio)).height
                known = table["ci_low"].count()
                for what, share in {
                    "called different": table.filter(different).height / count,
                    "called equal": table.filter(verdict="equivalent").height / count,
                    "held by the interval": held / known if known else None,
                }.items():
                    name = "equals" if ratio == 1 else f"a ratio of {ratio:g}"
                    found = "" if share is None else _percent(share)
                    said.setdefault(f"{name} {what}: {noise}", []).append(found)
        shares += [(name, *found) for name, found in said.items()]
    text = (
        f"Percent of {count} studies, of one cell each, by runs of either group: their logs were written as fio "
        f"writes them, read and compared; the error at 5 is {_percent(np.sqrt(0.05 * 0.95 / count))}. A single "
        "run has no interval, and no verdict of its own."
    )
    return Table("From logs to verdicts", text, tuple(OF_LOGS), shares=shares)


def intervals(rng: Rng, repetitions: int) -> Table:
    """Try the intervals of `fsbench_kit.compare`: of rounds under a drift, of figures of few digits, of modes."""
    rows = []
    for data, spread, step in (
        ("rounds that drift by 20 %", 0.05, None),
        ("printed to a digit of 5 %", 0.03, 50.0),
    ):
        cells: list[Cell | None] = []
        for n in FEW_TO_TEN:
            path = np.linspace(0, np.log(1.2), n) if step is None else np.zeros(n)
            a, b = (1000 * np.exp(path) * lognormal(rng, (repetitions, n), spread) for _ in "ab")
            sides = (a, RATIO * b) if step is None else tuple(step * (x / step).round() for x in (a, RATIO * b))
            cells.append(of_frame(whole(*sides, rounds=step is None, half=(step or 0.0) / 2), pl.lit(RATIO)))
        rows.append(Row(data, "paired t" if step is None else "Welch and rounding", cells))
    for data in ("modes 50:50", "modes 80:20"):
        sample = OF_WHOLE[data]
        cells = []
        for n in FEW_TO_TEN:
            table = whole(*(1000 * sample(rng, (repetitions, n)) for _ in "ab"))
            cells.append(of_frame(table.filter(companion_method="Hodges-Lehmann on logs"), pl.lit(1), "companion"))
        rows.append(Row(data, "Hodges-Lehmann", cells))
    text = "Runs per group, or rounds, through `fsbench_kit.compare`."
    return Table("Intervals of whole comparisons", text, tuple(map(str, FEW_TO_TEN)), rows)


def withheld(rng: Rng, repetitions: int) -> Table:
    """Count how often a sound ratio is taken for one that drifts over rounds, and one that drifts for sound."""
    shares = []
    for data, shared, own in (
        ("no drift", 1.0, 1.0),
        ("both groups drift by 20 %", 1.2, 1.0),
        ("the ratio drifts by 50 %", 1.0, 1.5),
    ):
        found = []
        for n in (5, 10, 30):
            paths = [np.exp(np.linspace(0, np.log(factor), n)) for factor in (shared, shared * own)]
            sides = (1000 * path * lognormal(rng, (repetitions, n)) for path in paths)
            found.append(whole(*sides, rounds=True)["reasons"].list.contains("NON_STEADY").mean())
        shares.append((data, *(_percent(share) for share in found)))  # type: ignore[arg-type]
    text = "Percent of ratios that are withheld as not steady, by rounds; noise .05."
    return Table("Drift over rounds", text, ("5", "10", "30"), shares=shares)


def flags(rng: Rng, repetitions: int) -> Table:
    """Count how often runs are said to be bimodal, and to drift."""
    shares = []
    for data, sample in {"lognormal .05": lognormal, "bimodal": bimodal, "stall 10 %": stalling}.items():
        draws = [sample(rng, (repetitions, n)) for n in RUNS[1:]]
        shares.append((f"two modes: {data}", "", *(_percent(stats.bimodal(x).mean()) for x in draws)))
        estimates = [stats.drift(x) for x in draws[1:]]
        drifting = [((e.low > 1) | (e.high < 1)).mean() for e in estimates]
        shares.append((f"drift: {data}", "", "", *map(_percent, drifting)))
    return Table("Flags", "Percent of groups that are flagged, by runs.", tuple(map(str, RUNS)), shares=shares)


def level_changes(rng: Rng, repetitions: int) -> Table:
    """Count how often a series is cut: one of a single level, and one with a step of twice its noise."""
    sizes = (60, 120, 600)
    few = min(repetitions, 400)
    shares = []
    for r in (0.0, 0.3, 0.6, 0.9):
        for name, step, figures in (
            ("one level", 0.0, 0),
            ("a dip of four figures by ten times the noise", -10.0, 4),
            ("a step of twice the noise", 2.0, max(sizes)),
        ):
            cut = []
            for n in sizes:
                series = alike(rng, (few, n), r, 1.0)
                series[:, n // 3 : n // 3 + figures] += step
                cut.append(np.mean([stats.levels(x).starts.size > 1 for x in series]))
            shares.append((f"lag-1 correlation {r}, {name}", *map(_percent, cut)))
    error = _percent(np.sqrt(0.05 * 0.95 / few))
    text = f"Percent of {few} series in which a change of level is found, by figures; the error at 5 is {error}."
    return Table("Changes of level", text, tuple(map(str, sizes)), shares=shares)


def places_of_changes(rng: Rng, repetitions: int) -> Table:
    """Count how often the places at which a change of level may lie hold the true one, where it was found."""
    sizes = (20, 40, 60, 120)
    few = min(repetitions, 400)
    shares = []
    for step in (1.5, 2.0, 3.0, 5.0):
        covered = []
        for n in sizes:
            series = rng.normal(size=(few, n)) + step * (np.arange(n) >= n // 2)
            cuts = [stats.levels(x, independent=True) for x in series]
            ends = np.array(
                [
                    stats.reach(x, cut, independent=True)[0]
                    for x, cut in zip(series, cuts, strict=True)
                    if cut.starts.size == 2
                ]
            ).reshape(-1, 2)
            held = ((ends[:, 0] <= n // 2) & (ends[:, 1] >= n // 2)).mean()
            covered.append(f"{_percent(held)} ({np.median(ends[:, 1] - ends[:, 0] + 1):.0f}; {len(ends)})")
        shares.append((f"a step of {step:g} times the noise", *covered))
    error = _percent(np.sqrt(0.05 * 0.95 / few))
    text = (
        f"Coverage in percent of the places at which a change may lie, nominal 95, of those of {few} series that "
        "are cut once, by figures; in brackets the median number of places, and how many series are cut once. The "
        f"error is {error} where all are. Large steps are covered more often than is stated."
    )
    return Table("Places of changes", text, tuple(map(str, sizes)), shares=shares)


def planned_runs(rng: Rng, repetitions: int) -> Table:
    """Count how often as many runs or rounds as a pilot asks for are as precise, and show as much, as planned."""
    pilots, few = (3, 5, 10), min(repetitions, 1000)
    shares = []
    for data, in_rounds, method in (
        ("runs on their own", False, stats.welch_log),
        ("rounds that vary by .10", True, stats.paired_log),
    ):

        def sides(n: int, *, ratio: float, in_rounds: bool = in_rounds) -> Sides:
            common = lognormal(rng, (few, n), 0.10) if in_rounds else 1.0
            return 1000 * common * lognormal(rng, (few, n)), 1000 * ratio * common * lognormal(rng, (few, n))

        wanted: dict[str, list[str]] = {"for_half_width": [], "for_effect": []}
        for pilot in pilots:
            runs = two_filesystems(*sides(pilot, ratio=1.0), rounds=in_rounds)
            plan = fsb.sample_size(runs, half_width=0.05, effect=0.10)
            for what, ratio in (("for_half_width", 1.0), ("for_effect", 1.10)):
                numbers = plan[what].to_numpy()
                a, b = sides(int(numbers.max()), ratio=ratio)
                met = np.zeros(few, dtype=bool)
                for n in np.unique(numbers):
                    of_n = numbers == n
                    found = method(a[of_n, :n], b[of_n, :n])
                    precise = found.high / found.low <= 1.05**2
                    met[of_n] = precise if what == "for_half_width" else found.low > 1
                wanted[what].append(f"{_percent(met.mean())} ({np.median(numbers):.0f})")
        shares.append((f"{data}: half width of 5 %", *wanted["for_half_width"]))
        shares.append((f"{data}: effect of 10 % shown", *wanted["for_effect"]))
    text = (
        f"Percent of {few} launches whose interval reaches no more than 5 % to either side, or shows an effect of "
        "10 % (80 are asked for), with as many runs as their own pilot asks for, by runs of the pilot; in "
        "brackets the median number planned. Noise .05. Pilots are taken to have varied less than others will."
    )
    return Table("Runs that were planned", text, tuple(map(str, pilots)), shares=shares)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


COVERAGE: Final[tuple[Callable[[Rng, int], Table], ...]] = (
    independent_sides,
    unequal_sizes,
    pairs,
    orders,
    blocks,
    designs,
    summaries,
    many_cells,
    one_against_many,
    rules,
    quantiles,
    drifts,
    within_a_run,
    intervals,
)
SHARES: Final[tuple[Callable[[Rng, int], Table], ...]] = (
    equivalence,
    disagreements,
    flags,
    level_changes,
    verdicts,
    calls,
    withheld,
)


TABLES: Final = (*COVERAGE, *SHARES, families, small_families, logs, places_of_changes, planned_runs)


def tables(repetitions: int, count: int, seed: int, names: Sequence[str] = ()) -> Iterator[Table]:
    """Yield all tables, or some, each from random numbers of its own."""
    for number, table in enumerate(TABLES):
        if not names or table.__name__ in names:
            yield table(np.random.default_rng([seed, number]), count if table is families else repetitions)


def unexplained(table: Table) -> list[str]:
    """Return the rows of a table that fall short for no stated reason."""
    return [f"{row.data}, {row.method}" for row in table.rows if row.falls_short and row.reason is None]


def markdown(table: Table) -> list[str]:
    """Return the lines of a table's section."""
    head = ["", f"## {table.title}", "", table.text, ""]
    if table.shares:
        rule = "|---" * (len(table.header) + 1) + "|"
        return [*head, _line("", *table.header), rule, *(_line(*row) for row in table.shares)]
    rule = "|---" * (len(table.header) + 3) + "|"
    rows = [
        _line(
            row.data,
            row.method,
            *("" if found is None else str(found) for found in row.cells),
            (row.reason or "") if row.falls_short else "",
        )
        for row in table.rows
    ]
    return [*head, _line("data", "method", *table.header, "why it falls short"), rule, *rows]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [table.__name__ for table in TABLES]
    parser.add_argument("tables", nargs="*", choices=[[], *names], metavar="TABLE", help=", ".join(names))
    parser.add_argument("--repetitions", type=int, default=4000)
    parser.add_argument("--families", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = list(tables(options.repetitions, options.families, options.seed, options.tables))
    wrong = [row for table in found for row in unexplained(table)]
    if wrong:
        raise SystemExit("These rows fall short, and nothing says why:\n" + "\n".join(wrong))
    sections = {table.title: "\n".join(markdown(table)) for table in found}
    if options.tables:
        head, *others = PAGE.read_text(encoding="utf-8").rstrip("\n").split("\n\n## ")
        kept = {title: f"\n## {title}\n{text}" for title, _, text in (part.partition("\n") for part in others)}
        sections = kept | sections
    else:
        error = 100 * np.sqrt(0.95 * 0.05 / options.repetitions)
        head = HEAD.format(repetitions=options.repetitions, error=error, seed=options.seed)
    PAGE.write_text("\n".join([head, *sections.values(), ""]), encoding="utf-8")


HEAD: Final = """\
<!-- Generated by `make coverage`. -->

# How often the intervals hold

Coverage in percent of nominal 95 % intervals; in brackets the median ratio of their ends; “of” gives
the level that a method says it achieves, where that is another. **Bold**: more than 1.5 points below.
An empty cell: the method refuses so few runs.
{repetitions} repetitions, so the error is {error:.2f} points (seed {seed})."""


if __name__ == "__main__":
    main()
