"""Times how much longer it takes to assemble runs because copies and formats of a run are one run.

    python benchmarks/deduplication.py [LOG] [--runs 1000 3000 10000]

Machines differ, so read the ratios: of assembling runs to the same without looking for copies; and of the time for
each run, which stays the same if it is linear. "replicates" differ by 1 % and have equal times; "near" have all
but their last measurement in common; "equal" are copies of one and the same run.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.columns import frame_of
from fsbench_kit.data.deduplication import FoundRun, merged, same_runs
from fsbench_kit.data.log import Log
from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Measurement, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

LOG = Path(__file__).parents[1] / "tests" / "data" / "fio_normal" / "3.33-grouped.txt"


def main() -> None:
    """Print a table of times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", type=Path, default=LOG)
    parser.add_argument("--runs", type=int, nargs="+", default=[1000, 3000, 10_000])
    options = parser.parse_args()
    data = options.log.read_bytes()
    run = next(record for record in read_document(data, options.log.name) if isinstance(record, Run))
    rng = random.Random(1)
    print(f"{len(run.measurements)} figures in each run")
    for number in options.runs:
        runs = [replicate(run, rng) for _ in range(number)]
        for name, some in (("replicates", runs), ("near", near(run, number)), ("equal", [run] * number)):
            sorting, assembling = seconds(some)
            ratio = assembling / (assembling - sorting)
            each = assembling / number * 1e3
            print(f"{number:6} {name:<12}{assembling:8.2f} s {ratio:7.2f}  {each:.2f} ms for each")


def replicate(run: Run, rng: random.Random) -> Run:
    """Return a run like another one, whose figures differ by 1 %; times and counts are the same."""

    def varied(item: Measurement) -> Measurement:
        if item.value is None or item.low is None or item.high is None or item.metric in ("runtime", "operations"):
            return item
        factor = math.exp(rng.gauss(0, 0.01))
        return replace(item, value=item.value * factor, low=item.low * factor, high=item.high * factor)

    return replace(run, measurements=tuple(map(varied, run.measurements)))


def near(run: Run, number: int) -> list[Run]:
    """Return runs that differ in their last latency alone."""
    items, run = list(run.measurements), replace(run, ended_at=None, identity=())
    last = max(
        index for index, item in enumerate(items) if item.primary and "latency" in item.metric and item.value
    )
    runs = []
    for factor in range(1, number + 1):
        value = (items[last].value or 0.0) * factor
        changed = replace(items[last], value=value, low=value, high=value)
        runs.append(replace(run, measurements=(*items[:last], changed, *items[last + 1 :])))
    return runs


def seconds(runs: Sequence[Run]) -> tuple[float, float]:
    """Return how long it takes to sort runs that stand in files of their own, and to assemble them in all."""
    names = [str(index) for index in range(len(runs))]
    found = [FoundRun(run=run, source=name, sha256=name) for name, run in zip(names, runs, strict=True)]
    measurements, _ = frame_of("measurements", [run.measurements for run in runs])
    start = perf_counter()
    for numbers in same_runs(found, measurements)[0]:
        if numbers[1:]:
            merged([found[number] for number in numbers])
    sorting = perf_counter() - start
    logs = [
        Log(source=name, data=name.encode(), records=[replace(run, start=0, end=9)])
        for name, run in zip(names, runs, strict=True)
    ]
    start = perf_counter()
    assemble(logs)
    return sorting, perf_counter() - start


if __name__ == "__main__":
    main()
