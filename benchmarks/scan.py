"""What a question to a large dataset costs, in wall time and memory.

``python -m benchmarks.scan FOLDER --millions 100`` makes the dataset; once more, it asks for the p99 of random
reads by filesystem and kernel over the last year.
"""

from __future__ import annotations

import argparse
import resource
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

import fsbench_kit as fsb
from benchmarks.inputs import ROOT
from fsbench_kit.data.bulk.compaction import compacted
from fsbench_kit.data.bulk.parts import write_part
from fsbench_kit.data.written import publish
from fsbench_kit.model.schema import SCHEMAS

STUDY: Final = ROOT / "raw_results" / "recorded" / "latency-loop-2026"
LAST: Final = datetime(2026, 11, 1)
DAYS: Final = 730
RUNS: Final = 4000
"""So many runs are a part: about what a chunk of logs has."""
FILESYSTEMS: Final = ("btrfs", "ext4", "xfs", "zfs")
KERNELS: Final = ("5.10", "5.15", "6.1", "6.6", "6.12", "6.18")


def make(folder: Path, millions: float) -> None:
    """Write real runs again and again, with other digits, over two years, in parts as reading in bulk does."""
    chance = np.random.default_rng(1)
    seen = fsb.read(STUDY)
    files: dict[str, list[str]] = {name: [] for name in SCHEMAS}
    copies = RUNS // seen.runs.height
    parts = max(1, round(millions * 1e6 / (seen.measurements.height * copies)))
    for number in range(parts):
        numbers = pl.DataFrame({"copy": np.arange(copies) + number * copies})
        part = write_part(_copied(seen, numbers, chance), f"{number:06}", folder)
        for name in SCHEMAS:
            files[name] += part.files[name]
    publish(compacted(files, folder), folder, [str(STUDY)])


def _copied(seen: fsb.Dataset, copies: pl.DataFrame, chance: np.random.Generator) -> fsb.Dataset:
    """Return runs with ids, times, filesystems, kernels and figures of their own; half of each kind read."""
    frames = {name: frame.clear() for name, frame in seen.frames.items()}
    for name in ("runs", "settings", "measurements"):
        rows = seen.frames[name].join(copies, how="cross", maintain_order="right_left")
        frames[name] = rows.with_columns(run_id=pl.format("{}-{}", pl.col("run_id").str.head(16), "copy"))
    number = pl.col("copy")
    reads = number // (len(FILESYSTEMS) * len(KERNELS)) % 2 == 1
    since = timedelta(seconds=1) * (number * 7919 % (DAYS * 86400))
    frames["runs"] = frames["runs"].with_columns(
        filesystem=_one_of(FILESYSTEMS, number),
        started_at=pl.lit(LAST) - since,
        study=pl.lit("nightly"),
    )
    frames["settings"] = frames["settings"].with_columns(
        value=pl.when(key="kernel")
        .then(_one_of(KERNELS, number // len(FILESYSTEMS)))
        .when(reads, key="pattern")
        .then(pl.lit("randread"))
        .otherwise("value")
    )
    noise = pl.Series(chance.lognormal(0, 0.1, frames["measurements"].height))
    figure = (pl.col("value") * noise).round_sig_figs(6)
    frames["measurements"] = frames["measurements"].with_columns(
        operation=pl.when(reads, operation="write").then(pl.lit("read")).otherwise("operation"),
        value=figure,
        low=figure,
        high=figure,
        text=figure.cast(pl.String),
    )
    return fsb.Dataset(**{name: frame.select(SCHEMAS[name].names()) for name, frame in frames.items()})


def _one_of(words: tuple[str, ...], number: pl.Expr) -> pl.Expr:
    return (number % len(words)).replace_strict(range(len(words)), words, return_dtype=pl.String)


def question(folder: Path) -> pl.DataFrame:
    """Return the p99 of random reads by filesystem and kernel over the last year."""
    return (
        fsb.scan(folder)
        .filter(pl.col("started_at") > LAST - timedelta(days=365))
        .flat("pattern", "kernel")
        .filter(metric="completion_latency", statistic="p99", pattern="randread", operation="read")
        .group_by("filesystem", "kernel")
        .agg(pl.col("value").median(), runs=pl.len())
        .sort("filesystem", "kernel")
        .collect(engine="streaming")
    )


def main() -> None:
    """Make the dataset where there is none, and ask it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--millions", type=float, default=100)
    given = parser.parse_args()
    if not given.folder.exists():
        begun = time.monotonic()
        make(given.folder, given.millions)
        print(f"made in {time.monotonic() - begun:.0f} s")
        return
    begun = time.monotonic()
    answer = question(given.folder)
    seconds = time.monotonic() - begun
    figures = fsb.scan(given.folder).measurements.select(pl.len()).collect().item()
    size = sum(path.stat().st_size for path in given.folder.rglob("*.parquet"))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(answer)
    print(
        f"{figures:,} measurements in {size / 2**20:,.0f} MiB: {seconds:.1f} s, {memory / 2**10:,.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
