"""Times how fast the exploration follows a change of what is chosen, on 100,000 measurements.

    python -m benchmarks.explore [--repeats 5]

Machines differ, so read the ratios: each is a median time over that of one plain Polars ``group_by`` over the same
figures, in the same process. 0.3 s is what feels immediate.

On two busy cores, twice over, every change took 0.07 to 0.29 s, 5 to 22 times the ``group_by``; the most is that
of all metrics: 600 rows, of which 80 are drawn. Between these measurements, with a forest plot that Altair
copied at each step of making it, the same took 0.27 to 0.89 s, and 0.11 to 0.15 s where every run is drawn.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.log import Log
from fsbench_kit.explore import Exploration, State
from fsbench_kit.model.records import Measurement, Run, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.data.dataset import Dataset

STUDIES, ROUNDS = 5, 10
FILESYSTEMS = {"ext4": 1.0, "xfs": 1.1, "btrfs": 0.8, "zfs": 0.9}
WORKLOADS = (("fio", "randrw"), ("fio", "write"), ("sysbench", "rndrw"), ("iozone", None), ("bonnie++", None))
OPERATIONS = ("read", "write", "random_read", "random_write")
SIZES = (4096, 16384, 65536, 131072, 1048576)
FIGURES = (
    ("bandwidth", "value", "B/s"),
    ("iops", "value", "1/s"),
    ("latency", "mean", "s"),
    ("latency", "p99", "s"),
    ("completion_latency", "mean", "s"),
)


def many_studies() -> Dataset:
    """Return runs in rounds: 1,000 of them with 100 figures each."""
    rng = np.random.default_rng(1)
    logs = []
    for study in range(STUDIES):
        order = 0
        for number in range(1, ROUNDS + 1):
            for place in rng.permutation(len(WORKLOADS) * len(FILESYSTEMS)):
                tool, pattern = WORKLOADS[place // len(FILESYSTEMS)]
                filesystem = list(FILESYSTEMS)[place % len(FILESYSTEMS)]
                order += 1
                noise = iter(rng.lognormal(0, 0.05, len(OPERATIONS) * len(SIZES) * len(FIGURES)))
                figures = tuple(
                    Measurement(
                        operation=operation,
                        block_size=size,
                        metric=metric,
                        statistic=statistic,
                        value=FILESYSTEMS[filesystem] * next(noise),
                        unit=unit,
                        text="",
                        line=1,
                    )
                    for operation in OPERATIONS
                    for size in SIZES
                    for metric, statistic, unit in FIGURES
                )
                facts = {"pattern": pattern, "iodepth": "8", "engine": "libaio", "direct": "true", "kernel": "6.1"}
                facts |= {f"fio.option{i}": str(i) for i in range(20)} | {
                    "scheduler": ("none", "kyber")[number % 2]
                }
                run = Run(
                    tool=tool,
                    start=0,
                    end=16,
                    line=1,
                    filesystem=filesystem,
                    measurements=figures,
                    settings=tuple(Setting(key=key, value=value) for key, value in facts.items() if value),
                )
                at = datetime(2026, 1, 1) + timedelta(minutes=order)
                logs.append(
                    Log(
                        source=f"{study}/{order}",
                        data=f"{study:08d}{order:08d}".encode(),
                        records=[run],
                        study=f"study {study}",
                        round=number,
                        order=order,
                        host=f"host {study}",
                        started_at=at,
                        ended_at=at + timedelta(seconds=50),
                    )
                )
    return assemble(logs)


START = State(metrics=("bandwidth",)).choosing("study", ["study 1"]).choosing("tool", ["fio"])


def changes() -> dict[str, Callable[[State], State]]:
    """Return what a person changes, by name."""
    return {
        "another study": lambda s: s.choosing("study", ["study 3"]),
        "two studies": lambda s: s.choosing("study", ["study 3", "study 4"]),
        "another tool": lambda s: s.choosing("tool", ["iozone"]),
        "an operation": lambda s: s.choosing("operation", ["random_read"]),
        "a block size": lambda s: s.choosing("block_size", [4096]),
        "another metric": lambda s: replace(s, metrics=("iops",)),
        "all metrics": lambda s: replace(s, metrics=()),
        "another factor": lambda s: replace(s, factor="scheduler"),
        "another baseline": lambda s: replace(s, baseline="zfs"),
        "confidence": lambda s: replace(s, confidence=0.9),
        "every run": lambda s: replace(s, chart="runs"),
        "everything": lambda _: State(),
    }


def main() -> None:
    """Print a table of times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    data = many_studies()
    figures = data.flat()

    def plain() -> None:
        figures.group_by("study", "tool", "operation", "block_size", "metric", "statistic", "filesystem").agg(
            pl.col("value").log().mean().exp(), pl.len()
        )

    def took(work: Callable[[], object]) -> float:
        start = perf_counter()
        work()
        return perf_counter() - start

    plain()
    unit = median(took(plain) for _ in range(repeats))
    print(f"{data.measurements.height:,} measurements of {data.runs.height:,} runs")
    print(f"{'Polars group_by':<24}{unit:8.3f} s{1:8.2f}")
    for name, change in changes().items():
        times = []
        for _ in range(repeats):
            exploration = Exploration(data)
            exploration.render(START)
            times.append(took(partial(exploration.render, change(START))))
        print(f"{name:<24}{median(times):8.3f} s{median(times) / unit:8.2f}")


if __name__ == "__main__":
    main()
