"""Launches the same target twice under two names, and counts how many intervals of their ratio hold 1.

    python -m benchmarks.same [--workloads 4] [--repeats 10] [--directory]

The targets are loop images with ext4, or with ``--directory`` one directory. The workloads are `smallfiles` with
files of different sizes; their steps are the figures. Every interval that does not hold 1 is a false alarm; there
are to be as few of them as the intervals' confidence says. Steps of one run are not independent of each other, so
the binomial bounds that are printed are somewhat too narrow.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import polars as pl
from scipy.stats import binomtest

import fsbench_kit as fsb
from fsbench_kit.launch import Plan, launch


def plan(*, workloads: int, repeats: int, directory: bool) -> Plan:
    """Return a plan in which two targets differ in nothing but their name."""
    target = (
        {"kind": "directory", "directory": "."}
        if directory
        else {"kind": "loop", "filesystem": "ext4", "size": "256M"}
    )
    return Plan.model_validate(
        {
            "id": "same",
            "repeats": repeats,
            "drop_caches": False,
            "target": [{**target, "name": name} for name in ("one", "other")],
            "workload": [
                {"tool": "smallfiles", "name": f"small-{number}", "files": 1000, "size": 1024 * number}
                for number in range(1, workloads + 1)
            ],
        }
    )


def main() -> None:
    """Launch, compare, and print the share of intervals that hold 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--directory", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fsbench-same-") as root:
        result = launch(plan(**vars(options)), root=Path(root), study="same")
        comparison = fsb.compare(fsb.read(result.folder), factor="target", baseline="one")
    # A rate of files is the same figure as the time they took, and counts once.
    rows = (
        comparison.filter(metric="elapsed")
        .drop_nulls(["ci_low", "ci_high"])
        .with_columns(holds=(pl.col("ci_low") <= 1) & (pl.col("ci_high") >= 1))
    )
    hits, count = int(rows["holds"].sum()), rows.height
    bounds = binomtest(hits, count).proportion_ci()
    print(f"{count} intervals of {options.repeats} rounds, confidence {rows['confidence'].min():.1%} or more")
    print(f"{hits / count:.1%} hold 1 (95 % bounds of that share: {bounds.low:.1%} to {bounds.high:.1%})")
    print(rows.group_by("operation").agg(pl.len(), pl.col("holds").sum()).sort("operation"))
    print(rows.group_by("verdict").len().sort("verdict"))


if __name__ == "__main__":
    main()
