"""What the kit's own workloads cost themselves, beside the same system calls made in C.

    python -m benchmarks.own_cost DIRECTORY [--files 20000] [--size 4096] [--repeats 9]

``smallfiles`` and a C program take turns on a directory of the filesystem in question; ``filetree`` and a C program
take turns at starting and timing a program. The least time of several is compared, which other work disturbs least.
A cost is what is above C's time, as a share of what a run times: its steps and their syncs. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from fsbench_kit.launch.workloads.filetree import __main__ as filetree
from fsbench_kit.launch.workloads.smallfiles import __main__ as smallfiles

STEPS = ("write", "rewrite", "read", "delete")
Times = list[tuple[float, float]]
"""Seconds of each step, and of its sync."""


def of_kit(directory: Path, files: int, size: int) -> Times:
    """Run ``smallfiles``; its log has milliseconds, of which a run takes hundreds."""
    log = io.StringIO()
    smallfiles.run(directory, filesystem="any", files=files, size=str(size), seed=1, log=log)
    lines = re.findall(r"/sec, \w+/([\d.]+) secs, \w+/([\d.]+) secs", log.getvalue())
    return [(float(step), float(sync)) for step, sync in lines]


def of_c(reference: Path, directory: Path, files: int, size: int) -> Times:
    """Run the same in C."""
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        lines = _said(reference, "files", folder, str(files), str(size)).splitlines()
    return [(float(step), float(sync)) for step, sync in map(str.split, lines)]


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
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-O2", "-o", reference, source], check=True)
        turns = [
            (
                of_c(reference, options.directory, options.files, options.size),
                of_kit(options.directory, options.files, options.size),
            )
            for _ in range(options.repeats)
        ]
        print_files(turns, options.files)
        print_programs(reference, options.repeats)


def print_files(turns: list[tuple[Times, Times]], files: int) -> None:
    """Print what each step of ``smallfiles`` costs, in microseconds for a file."""
    print(f"{'smallfiles':<16}{'C':>9}{'kit':>9}{'sync':>9}{'cost':>9}   µs for each file; share of step + sync")
    timed, costs = 0.0, 0.0
    for number, step in enumerate(STEPS):
        in_c, in_kit = (min(side[number][0] for side in sides) / files * 1e6 for sides in zip(*turns, strict=True))
        sync = min(times[number][1] for turn in turns for times in turn) / files * 1e6
        cost = in_kit - in_c
        timed, costs = timed + in_c + sync, costs + cost
        print(f"{step:<16}{in_c:9.2f}{in_kit:9.2f}{sync:9.2f}{cost:9.2f}{cost / (in_c + sync):10.1%}")
    print(f"{'together':<16}{timed:9.2f}{timed + costs:9.2f}{'':9}{costs:9.2f}{costs / timed:10.1%}")


def print_programs(reference: Path, repeats: int) -> None:
    """Print what ``filetree`` adds to programs of several lengths, in microseconds."""
    print(f"\n{'filetree':<16}{'C':>9}{'kit':>9}{'':9}{'cost':>9}   µs for each program")
    tree = str(Path(sys.prefix))
    for name, argv in (("true", ["true"]), ("sleep", ["sleep", "0.05"]), ("ls -lR", ["ls", "-lR", tree])):
        in_c, in_kit = [], []
        for _ in range(5 * repeats):
            in_c.append(float(_said(reference, "time", *argv)))
            in_kit.append(filetree.timed(argv).elapsed)
        c, kit = min(in_c) * 1e6, min(in_kit) * 1e6
        print(f"{name:<16}{c:9.0f}{kit:9.0f}{'':9}{kit - c:9.0f}{(kit - c) / c:10.1%}")


if __name__ == "__main__":
    main()
