"""Times how much longer it takes to assemble runs because several printings of a run are one run.

    python benchmarks/printings.py [LOG] [--runs 1000 3000 10000]

Machines differ, so read the ratios: of assembling with and without looking for printings, and of the time for
each run, which stays the same if it is linear. Replicates differ by 1 %, and
"equal" are copies of one and the same log.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from fsbench_kit.dataset import Log, assemble
from fsbench_kit.documents import read_document
from fsbench_kit.records import Measurement, Run

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
        # A tool of its own for each run: nothing to look for.
        plain = seconds([replace(item, tool=str(index)) for index, item in enumerate(runs)])
        print(f"{number:6} runs, nothing to look for {plain:8.2f} s    1.00")
        for name, some in (("replicates", runs), ("equal", [run] * number)):
            took = seconds(some)
            print(f"{number:6} {name:<26}{took:8.2f} s {took / plain:7.2f}  {took / number * 1e3:.2f} ms for each")


def replicate(run: Run, rng: random.Random) -> Run:
    """Return a run like another one, whose figures differ by 1 %; times and counts are the same."""

    def varied(item: Measurement) -> Measurement:
        if item.value is None or item.low is None or item.high is None or item.metric in ("runtime", "operations"):
            return item
        factor = math.exp(rng.gauss(0, 0.01))
        return replace(item, value=item.value * factor, low=item.low * factor, high=item.high * factor)

    return replace(run, measurements=tuple(map(varied, run.measurements)))


def seconds(runs: Sequence[Run]) -> float:
    """Return how long it takes to assemble runs that stand in files of their own."""
    logs = [
        Log(source=f"{index}.txt", data=str(index).encode(), records=[replace(run, start=0, end=9)])
        for index, run in enumerate(runs)
    ]
    start = perf_counter()
    assemble(logs)
    return perf_counter() - start


if __name__ == "__main__":
    main()
