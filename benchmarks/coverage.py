"""Measures how often the intervals of `fsbench_kit.stats` hold the truth, and how wide they are.

    python benchmarks/coverage.py [--repetitions 4000] [--seed 1]

Prints coverage in percent (and the median ratio of the interval's ends) of nominal 95 % intervals. Each method is
held to its own estimand, which is computed from a large sample of the same distribution.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit import stats

if TYPE_CHECKING:
    from fsbench_kit.stats.result import Floats

RATIO = 1.2
RUNS = (2, 3, 5, 10, 30)
PLANNED = 200_000

Sample = Callable[[np.random.Generator, tuple[int, int]], "Floats"]
Method = Callable[["Floats", "Floats"], stats.RatioEstimate]


def lognormal(rng: np.random.Generator, shape: tuple[int, int], spread: float = 0.05) -> Floats:
    """Draw from one heap, with a proportional spread."""
    return rng.lognormal(0, spread, shape)


def bimodal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw from a fast mode, and a slow one in a fifth of the runs."""
    return np.where(rng.random(shape) < 0.2, 0.6, 1.0) * rng.lognormal(0, 0.03, shape)


def stalling(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw from one heap, but let a tenth of the runs take three times as long."""
    return np.where(rng.random(shape) < 0.1, 1 / 3, 1.0) * rng.lognormal(0, 0.05, shape)


def correlated(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw runs that take half of their deviation from the run before them: AR(1) with 0.5."""
    steps = rng.normal(0, 0.05, shape)
    steps[:, 1:] *= np.sqrt(0.75)
    for i in range(1, shape[1]):
        steps[:, i] += 0.5 * steps[:, i - 1]
    return np.exp(steps)


SIDES: dict[str, tuple[Sample, Sample]] = {
    "lognormal .05": (lognormal, lognormal),
    "lognormal .50": (partial(lognormal, spread=0.5), partial(lognormal, spread=0.5)),
    "lognormal .05, .30": (lognormal, partial(lognormal, spread=0.30)),
    "bimodal both": (bimodal, bimodal),
    "bimodal, lognormal .03": (bimodal, partial(lognormal, spread=0.03)),
    "stall 10 % both": (stalling, stalling),
    "AR(1) .5 between runs": (correlated, correlated),
}

INDEPENDENT: dict[str, Method] = {"Welch": stats.welch_log, "Hodges-Lehmann": stats.hodges_lehmann_log}
PAIRED: dict[str, Method] = {"paired t": stats.paired_log, "signed rank": stats.signed_rank_log}


def coverage(estimate: stats.RatioEstimate, truth: float) -> str:
    """Return a table's cell: how often an interval holds the truth, and how wide it is in the median."""
    held = (estimate.low <= truth) & (truth <= estimate.high)
    return f"{held.mean():6.1%} ({np.median(estimate.high / estimate.low):.3f})"


def measure(method: Method, a: Floats, b: Floats, truth: float) -> str:
    """Return a table's cell, or that the method refuses so few runs."""
    try:
        return coverage(method(a, b), truth)
    except ValueError:
        return "refuses"


def row(*cells: str | int) -> None:
    """Print a line of a table."""
    print(f"{cells[0]:<40}" + "".join(f"{cell!s:>18}" for cell in cells[1:]))


def independent_sides(rng: np.random.Generator, repetitions: int) -> None:
    """Try two independent sides of equal size."""
    row("independent sides, n each", *RUNS)
    for name, (sample_a, sample_b) in SIDES.items():
        plan_a, plan_b = sample_a(rng, (PLANNED, 2))[:, 0], RATIO * sample_b(rng, (PLANNED, 2))[:, 0]
        log_ratios = np.log(plan_b) - np.log(plan_a)
        truths = {"Welch": np.exp(log_ratios.mean()), "Hodges-Lehmann": np.exp(np.median(log_ratios))}
        data = [(sample_a(rng, (repetitions, n)), RATIO * sample_b(rng, (repetitions, n))) for n in RUNS]
        for label, method in INDEPENDENT.items():
            row(f"{name}: {label}", *starmap(partial(measure, method, truth=truths[label]), data))
    print()


def unequal_sizes(rng: np.random.Generator, repetitions: int) -> None:
    """Try Welch's t with few runs on one side, equally noisy and twice as noisy."""
    sizes = ((2, 3), (2, 4), (2, 5), (2, 10), (2, 30), (3, 5), (3, 10), (3, 30), (5, 30))
    row("Welch, unequal sides", *(f"{few} vs {many}" for few, many in sizes))
    for name, spread in (("equal noise", 0.05), ("small side twice as noisy", 0.10)):
        data = [
            (lognormal(rng, (repetitions, few), spread), RATIO * lognormal(rng, (repetitions, many)))
            for few, many in sizes
        ]
        row(name, *(measure(stats.welch_log, a, b, RATIO) for a, b in data))
    print()


def pairs(rng: np.random.Generator, repetitions: int) -> None:
    """Try rounds with an effect of their own, analysed with and without it."""
    row("rounds, n pairs", *RUNS, 6)
    shapes: dict[str, tuple[Sample, float]] = {
        "lognormal .05, rounds .10": (lognormal, 0.10),
        "lognormal .05, rounds alike": (lognormal, 0.0),
        "bimodal, rounds .10": (bimodal, 0.10),
        "stall 10 %, rounds .10": (stalling, 0.10),
    }
    for name, (sample, between) in shapes.items():
        data = []
        for n in (*RUNS, 6):
            rounds = rng.lognormal(0, between, (repetitions, n))
            data.append((rounds * sample(rng, (repetitions, n)), RATIO * rounds * sample(rng, (repetitions, n))))
        for label, method in {"Welch": stats.welch_log, **PAIRED}.items():
            row(f"{name}: {label}", *(measure(method, a, b, RATIO) for a, b in data))
    print()


def drift(rng: np.random.Generator, repetitions: int) -> None:
    """Try a linear drift of 10 % over the runs of a launch, in three orders of running."""
    row("drift of 10 %, n each", *RUNS, 6)
    cells: dict[str, list[str]] = {}
    for n in (*RUNS, 6):
        path = np.exp(np.linspace(0, np.log(1.1), 2 * n)) * lognormal(rng, (repetitions, 2 * n), 0.03)
        first = rng.integers(0, 2, (repetitions, n))
        rounds = np.arange(0, 2 * n, 2) + np.stack([first, 1 - first])
        everywhere = rng.permuted(np.tile(np.arange(2 * n), (repetitions, 1)), axis=1)
        orders = {
            "all A, then all B": (path[:, :n], path[:, n:]),
            "A and B in turn": (path[:, ::2], path[:, 1::2]),
            "random order": tuple(np.take_along_axis(path, half, 1) for half in np.split(everywhere, 2, axis=1)),
            "random order in rounds": tuple(np.take_along_axis(path, half, 1) for half in rounds),
        }
        for order, (a, b) in orders.items():
            for label, method in {**INDEPENDENT, **PAIRED}.items():
                if label in INDEPENDENT or order.endswith("rounds"):
                    cells.setdefault(f"{order}: {label}", []).append(measure(method, a, RATIO * b, RATIO))
    for name, measured in cells.items():
        row(name, *measured)
    print()


def one_against_many(rng: np.random.Generator, repetitions: int) -> None:
    """Try a single run against k runs, equally noisy or not."""
    row("prediction, k", *RUNS[1:])
    for name, (sample_many, sample_single) in {
        "lognormal .05": SIDES["lognormal .05"],
        "single side twice as noisy": (lognormal, partial(lognormal, spread=0.10)),
        "bimodal both": SIDES["bimodal both"],
    }.items():
        truth = RATIO * np.exp(np.log(sample_single(rng, (PLANNED, 1))).mean())
        truth /= np.exp(np.log(sample_many(rng, (PLANNED, 1))).mean())
        data = [
            (RATIO * sample_single(rng, (repetitions, 1))[:, 0], sample_many(rng, (repetitions, k)))
            for k in RUNS[1:]
        ]
        row(name, *(coverage(stats.prediction_log(single, many), truth) for single, many in data))
    print()


def equivalence(rng: np.random.Generator, repetitions: int) -> None:
    """Count how often two sides are called equal: at the margin (size), and when they are equal (power)."""
    row("equivalent within 5 %, n each", *RUNS)
    for name, ratio in (("at the margin", 1.05), ("truly equal", 1.0)):
        for spread in (0.02, 0.05, 0.10):
            called = [
                stats.equivalent(
                    stats.welch_log(
                        lognormal(rng, (repetitions, n), spread),
                        ratio * lognormal(rng, (repetitions, n), spread),
                        0.9,
                    ),
                    1.05,
                ).mean()
                for n in RUNS
            ]
            row(f"{name}, spread {spread}", *(f"{share:.1%}" for share in called))
    print()


def modes(rng: np.random.Generator, repetitions: int) -> None:
    """Count how often runs are said to lie in two heaps."""
    row("two modes, n", *RUNS[1:])
    for name, sample in {"lognormal .05": lognormal, "bimodal": bimodal, "stall 10 %": stalling}.items():
        row(name, *(f"{stats.two_modes(sample(rng, (repetitions, n))).mean():.1%}" for n in RUNS[1:]))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    error = np.sqrt(0.95 * 0.05 / options.repetitions)
    print(f"{options.repetitions} repetitions, Monte-Carlo error {error:.2%}; coverage (ratio of the ends)\n")
    for table in (independent_sides, unequal_sizes, pairs, drift, one_against_many, equivalence, modes):
        table(rng, options.repetitions)


if __name__ == "__main__":
    main()
