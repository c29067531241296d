"""Times `fsbench_kit.stats` on 10,000 comparisons of 10 runs with 10, beside scipy's vectorised Welch test.

Then times `fsbench_kit.compare` on as many cells, beside the methods of stats that it applies to them.

    python benchmarks/speed.py [--cells 10000] [--runs 10] [--repeats 7]

Machines differ, so read the ratios: each is a best time over scipy's best time in the same process.
"""

from __future__ import annotations

import argparse
from datetime import datetime, timedelta
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats as scipy_stats

from fsbench_kit import stats
from fsbench_kit.analysis.comparison import compare
from fsbench_kit.data.dataset import Log, assemble
from fsbench_kit.model.records import Measurement, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.stats.result import Floats


def best(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest of several times, in seconds."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def matrix(a: Floats, b: Floats) -> Dataset:
    """Return runs of two filesystems in turns, each with a figure in every cell: arrays are ``(cells, runs)``."""
    logs = []
    for number in range(a.shape[1]):
        for name, side in (("ext4", a), ("xfs", b)):
            figures = tuple(
                Measurement(
                    operation="read",
                    block_size=4096 * cell,
                    metric="iops",
                    statistic="value",
                    value=float(value),
                    unit="1/s",
                    text=str(value),
                    line=1,
                )
                for cell, value in enumerate(side[:, number], 1)
            )
            run = Run(tool="fio", start=0, end=8, line=1, filesystem=name, measurements=figures)
            at = datetime(2026, 1, 1) + timedelta(minutes=4 * number + 2 * ((name == "xfs") ^ (number % 2)))
            logs.append(
                Log(
                    source=f"{name}-{number}",
                    data=f"{name[:3]}{number:05d}".encode(),
                    records=[run],
                    study="speed",
                    host="h",
                    started_at=at,
                    ended_at=at + timedelta(minutes=1),
                )
            )
    return assemble(logs)


def main() -> None:
    """Print a table of times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    a, b = rng.lognormal(0, 0.05, (2, options.cells, options.runs))
    printed_a, printed_b = a.round(2), b.round(2)
    some_a = np.ma.MaskedArray(a, np.arange(options.runs) >= rng.integers(4, options.runs + 1, (options.cells, 1)))

    def reference() -> object:
        welch = scipy_stats.ttest_ind(np.log(b), np.log(a), axis=-1, equal_var=False)
        return welch.confidence_interval()

    p = stats.welch_log(a, b).p
    work: dict[str, Callable[[], object]] = {
        "welch_log": lambda: stats.welch_log(a, b),
        "paired_log": lambda: stats.paired_log(a, b),
        "hodges_lehmann_log": lambda: stats.hodges_lehmann_log(a, b),
        "signed_rank_log": lambda: stats.signed_rank_log(a, b),
        "median_ratio": lambda: stats.median_ratio(a, b),
        "moderated_log": lambda: stats.moderated_log(a, b),
        "blocked_log": lambda: stats.blocked_log(a.reshape(len(a), -1, 2), b.reshape(len(b), -1, 2)),
        "welch_log, unequal numbers of runs": lambda: stats.welch_log(some_a, b),
        "hodges_lehmann_log, unequal numbers of runs": lambda: stats.hodges_lehmann_log(some_a, b),
        "prediction_log": lambda: stats.prediction_log(b[:, 0], a),
        "bimodal": lambda: stats.bimodal(a),
        "drift": lambda: stats.drift(a),
        "quantile_interval": lambda: stats.quantile_interval(a, 0.5),
        "holm": lambda: stats.holm(p),
        "tost_p": lambda: stats.tost_p(stats.welch_log(a, b), 1.05),
        "equivalent": lambda: stats.equivalent(stats.welch_log(a, b, 0.9), 1.05),
    }
    unit = best(reference, options.repeats)
    print(f"{options.cells} comparisons of {options.runs} runs with {options.runs}")
    print(f"{'scipy ttest_ind + confidence_interval':<42}{unit:8.4f} s    1.00")
    for name, call in work.items():
        seconds = best(call, options.repeats)
        print(f"{name:<42}{seconds:8.4f} s {seconds / unit:7.2f}")
    hundred = slice(0, 100)
    tied = best(lambda: stats.hodges_lehmann_log(printed_a[hundred], printed_b[hundred]), 1)
    print(f"{'hodges_lehmann_log, 100 cells with ties':<42}{tied:8.4f} s {tied / unit:7.2f}")

    dataset = matrix(a, b)
    inside = best(lambda: (stats.welch_log(a, b), stats.hodges_lehmann_log(a, b)), options.repeats)
    whole = best(lambda: compare(dataset), min(options.repeats, 3))
    print(f"{'compare, beside welch_log + hodges_lehmann_log':<50}{whole:8.4f} s {whole / inside:7.2f}")


if __name__ == "__main__":
    main()
