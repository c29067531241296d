"""What the kit's own workloads cost themselves, beside the same system calls made in C.

    python -m benchmarks.own_cost DIRECTORY [--files 20000] [--size 4096] [--repeats 9]

What ``smallfiles`` adds to its system calls is the same on every filesystem. So it is measured in memory, where
they are short: a C program and the kit, as launches run it, take turns at few files. The difference is then held
against what C takes in DIRECTORY for many files, with the syncs, which a run times too. What ``filetree`` adds to
a program, and a target to mkfs and mount, is found with a program that tells itself how long it has worked.
Intervals are of medians, at 95 %. Needs a C compiler.

With files of 4 KiB, ``smallfiles`` added to a file, which there took in all

====================  ======  ======================  =====================================
where                 µs      the kit, with C loops   in Python, where there is no compiler
====================  ======  ======================  =====================================
ext4, image           47      0.1 % [-0.5, 0.6]       5.7 % [5.1, 6.4]
XFS, image            66      -0.3 % [-0.8, 0.1]      3.2 % [2.4, 4.0]
btrfs, image          167     0.1 % [-0.2, 0.2]       1.6 % [1.4, 1.8]
ext4, folder of disk  139     0.0 % [-0.1, 0.1]       1.8 % [1.5, 1.9]
====================  ======  ======================  =====================================

in four measurements of an idle machine; of reads from the page cache alone, 0 to 2 %, and 11 to 22 % in Python.
To a program, ``filetree`` added 5 to 24 µs [-21, 60], and a target nothing that can be seen: below 2 % where a
program takes more than 3 ms.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.targets.steps import run_step
from fsbench_kit.launch.workloads import RunContext
from fsbench_kit.launch.workloads.filetree import __main__ as filetree
from fsbench_kit.launch.workloads.smallfiles import Smallfiles
from fsbench_kit.launch.workloads.smallfiles import __main__ as smallfiles
from fsbench_kit.stats import quantile_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.launch.targets import Step

STEPS: Final = ("write", "rewrite", "read", "delete")
MEMORY: Final = Path("/dev/shm")  # noqa: S108
FEW: Final = 2000
TURNS: Final = 100
PROGRAMS: Final = 300


def of_c(reference: Path, directory: Path, files: int, size: int) -> list[tuple[float, float]]:
    """Return the microseconds for a file that each step and its sync take in C."""
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        lines = _said(reference, "files", folder, str(files), str(size)).splitlines()
    return [(float(step) / files * 1e6, float(sync) / files * 1e6) for step, sync in map(str.split, lines)]


def of_kit(beside: Path, directory: Path, files: int, size: int) -> list[float]:
    """Return the microseconds for a file that each step takes in ``smallfiles``, run as launches run it."""
    work = Smallfiles(tool="smallfiles", name="small", files=files, size=size).work(
        RunContext(directory=directory, beside=beside, filesystem=None, seed=1)
    )
    return [1e6 / float(rate) for rate in re.findall(r": ([\d.]+)/sec", _said(*work.measured))]


def in_c(reference: Path, argv: Sequence[str]) -> float:
    """Return the microseconds that a program takes, timed in C."""
    return float(_said(reference, "time", *argv)) * 1e6


def in_filetree(argv: Sequence[str]) -> float:
    """Return those that it takes in ``filetree``: in a process that has nothing else in it."""
    return float(_said(sys.executable, "-I", "-S", "-c", _FILETREE, filetree.__file__, *argv)) * 1e6


_FILETREE: Final = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("filetree", sys.argv[1])
filetree = module_from_spec(spec)
spec.loader.exec_module(filetree)
filetree.timed(["sync"])  # as it does itself before its tasks
print(filetree.timed(sys.argv[2:]).elapsed)
"""


def in_target(folder: Path, argv: Sequence[str]) -> float:
    """Return those that it takes where a target is made, as mkfs is: in a process with all of the kit in it."""
    steps: list[Step] = []
    run_step(steps, folder, *argv)
    return steps[0].elapsed * 1e6


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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reference = folder / "own_cost"
        subprocess.run(["cc", "-O2", "-o", reference, Path(__file__).with_suffix(".c")], check=True)
        runs = [of_c(reference, options.directory, options.files, options.size) for _ in range(options.repeats)]
        print_files(folder, reference, options.size, runs)
        print_programs(folder, reference)


def print_files(folder: Path, reference: Path, size: int, runs: Sequence[Sequence[tuple[float, float]]]) -> None:
    """Print what ``smallfiles`` adds to a file, with its loops in C and in Python, and its share of whole runs."""
    smallfiles.compile_loops(folder)
    without = folder / "without"
    without.mkdir()
    turns = [
        (
            [step for step, _ in of_c(reference, MEMORY, FEW, size)],
            of_kit(folder, MEMORY, FEW, size),
            of_kit(without, MEMORY, FEW, size),
        )
        for _ in range(TURNS)
    ]
    print("µs for each file, in memory: C, and what is added   there:           share of it")
    print(f"{'smallfiles':<12}{'C':>8}{'kit':>8}{'Python':>8}{'step':>12}{'sync':>8}{'kit':>8}{'Python':>8}")
    total = 0.0
    for number, name in enumerate(STEPS):
        kit, python = (median(turn[way][number] - turn[0][number] for turn in turns) for way in (1, 2))
        step, sync = (min(run[number][part] for run in runs) for part in (0, 1))
        total += step + sync
        shares = f"{kit / (step + sync):8.1%}{python / (step + sync):8.1%}"
        c = median(turn[0][number] for turn in turns)
        print(f"{name:<12}{c:8.2f}{kit:+8.2f}{python:+8.2f}{step:12.2f}{sync:8.2f}{shares}")
    for way, name in ((1, "kit"), (2, "Python")):
        print_added(f"all, {name}", [sum(turn[way]) - sum(turn[0]) for turn in turns], total)


def print_added(name: str, added: Sequence[float], whole: float) -> None:
    """Print the median of what is added in a turn with its 95 % interval, in µs and as a share of something."""
    found = quantile_interval(added, 0.5)
    ends = [float(end) for end in (found.estimate, found.low, found.high)]
    microseconds, share = "{:+.2f} [{:+.2f}, {:+.2f}]".format(*ends), "{:.1%} [{:.1%}, {:.1%}]"
    print(f"{name:<12}{microseconds:>24} µs of {whole:.0f}: {share.format(*(end / whole for end in ends))}")


def print_programs(folder: Path, reference: Path) -> None:
    """Print what ``filetree`` and the making of a target add to a program.

    The program tells how long it has worked. What it is timed for besides is its start and its end, which
    are the same in C, and the kit.
    """
    told = folder / "told"
    argv = (str(reference), "work", str(told), "0.002")
    turns: list[list[float]] = [[] for _ in range(PROGRAMS)]
    for turn in turns:
        for way in (partial(in_c, reference), in_filetree, partial(in_target, folder)):
            timed = way(argv)
            turn.append(timed - float(told.read_text()) * 1e6)
    c = median(turn[0] for turn in turns)
    print(f"\nµs for a program besides its 2 ms of work, in C: {c:.0f}; and what is added")
    for number, name in ((1, "filetree"), (2, "target")):
        print_added(name, [turn[number] - turn[0] for turn in turns], 2000 + c)


if __name__ == "__main__":
    main()
