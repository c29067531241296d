"""What the kit's own workloads cost themselves, beside the same system calls made in C.

    python -m benchmarks.own_cost DIRECTORY [--files 20000] [--size 4096] [--repeats 9]

What ``smallfiles`` adds to its system calls is the same on every filesystem. So it is measured in memory, where
they are short: the kit and a C program take turns at few files, and the least of many times is free of other work.
It is then held against what C takes in DIRECTORY for many files, with the syncs, which a run times too.

In images of ext4 and XFS on an SSD, with files of 4 KiB, a run's four steps and syncs together had 1.8 % and 1.7 %
of the kit's own. While other work kept the machine busy, ext4, XFS and btrfs had 2.1 %, 2.0 % and 0.4 %: about
1.7 µs for a file, of 85, 82 and 416. In a folder on the ext4 of a fast disk it was 3.0 %, 2.1 of 71 µs, on an idle
machine: the calls of a file cost Python 2 µs in whatever way the loop is written, so that what is below 2 % is
decided by the disk. Reads from the page cache alone had 5 to 11 %, so that their rates differ by
less than the filesystems do. ``filetree`` adds 0.03 ms to a short program, and up to 0.26 ms to one that sleeps:
below 2 % where a task takes more than 15 ms.

``filetree`` and the C program take turns at starting and timing a program. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Final

from fsbench_kit.launch.workloads.filetree import __main__ as filetree
from fsbench_kit.launch.workloads.smallfiles import __main__ as smallfiles

STEPS: Final = ("write", "rewrite", "read", "delete")
MEMORY: Final = Path("/dev/shm")  # noqa: S108
FEW: Final = 150
TURNS: Final = 300


def of_c(reference: Path, directory: Path, files: int, size: int) -> list[tuple[float, float]]:
    """Return the microseconds for a file that each step and its sync take in C."""
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        lines = _said(reference, "files", folder, str(files), str(size)).splitlines()
    return [(float(step) / files * 1e6, float(sync) / files * 1e6) for step, sync in map(str.split, lines)]


def of_kit(directory: Path, files: int, size: int) -> list[float]:
    """Return the microseconds for a file that each step takes in ``smallfiles``."""
    old, new = smallfiles._contents(random.Random(1), 2, files, size, 0)
    times = []
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        paths = [os.fsencode(f"{folder}/{number:08d}") for number in range(files)]
        steps = smallfiles._steps(paths, old, new, size)
        for name in STEPS:
            start = perf_counter()
            steps[name]()
            times.append((perf_counter() - start) / files * 1e6)
    return times


def _said(*words: str | Path) -> str:
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> None:
    """Print a table for smallfiles, and one for filetree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        reference = Path(folder) / "own_cost"
        subprocess.run(["cc", "-O2", "-o", reference, Path(__file__).with_suffix(".c")], check=True)
        turns = [
            (of_c(reference, MEMORY, FEW, options.size), of_kit(MEMORY, FEW, options.size)) for _ in range(TURNS)
        ]
        runs = [of_c(reference, options.directory, options.files, options.size) for _ in range(options.repeats)]
        print(f"{'smallfiles':<12}{'C':>8}{'kit':>8}{'cost':>8}{'step':>10}{'sync':>8}{'cost':>8}")
        print(f"{'':<12}{'µs for each file, in memory':>24}{'there':>18}")
        total, costs = 0.0, 0.0
        for number, name in enumerate(STEPS):
            in_c = min(c[number][0] for c, _ in turns)
            in_kit = min(kit[number] for _, kit in turns)
            step, sync = (min(run[number][part] for run in runs) for part in (0, 1))
            cost = in_kit - in_c
            total, costs = total + step + sync, costs + cost
            share = cost / (step + sync)
            print(f"{name:<12}{in_c:8.2f}{in_kit:8.2f}{cost:8.2f}{step:10.2f}{sync:8.2f}{share:8.1%}")
        print(f"{'together':<12}{'':16}{costs:8.2f}{total:18.2f}{costs / total:8.1%}")
        print_programs(reference, options.repeats)


def print_programs(reference: Path, repeats: int) -> None:
    """Print what ``filetree`` adds to programs of several lengths."""
    print(f"\n{'filetree':<12}{'C':>8}{'kit':>8}{'cost':>8}   µs for each program")
    for name, argv in (
        ("true", ["true"]),
        ("sleep", ["sleep", "0.05"]),
        ("ls -lR", ["ls", "-lR", str(Path(sys.prefix, "lib"))]),
    ):
        in_c, in_kit = [], []
        for _ in range(5 * repeats):
            in_c.append(float(_said(reference, "time", *argv)))
            in_kit.append(filetree.timed(argv).elapsed)
        c, kit = min(in_c) * 1e6, min(in_kit) * 1e6
        print(f"{name:<12}{c:8.0f}{kit:8.0f}{kit - c:8.0f}{(kit - c) / c:8.1%}")


if __name__ == "__main__":
    main()
