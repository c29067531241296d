"""Performs a file server's tasks on a filesystem, and measures each as GNU time does.

``source`` creates what is copied: a large file and a tree. ``tasks`` copies the large file to the target, copies
the copy, and deletes both; then it copies the tree, copies the copy, lists the first, searches it for a file, and
deletes both.

Each task is a GNU coreutils or findutils program (cp, rm, ls, find), as in the study of 2006 that this follows:
users of the filesystem run the same programs, without any of this package's code. Elapsed time is from the
program's start to its end; processor time and page faults are those of its process. cp always reads and writes
(``--reflink=never``), on every filesystem and in every version; otherwise one filesystem would copy data and
another only reference it. The ``sync`` of the target's filesystem after each task is timed separately.

The source is read once beforehand, so that it comes from the page cache if it fits, and the target is measured
rather than the source. Listing and searching follow right after the copies, which the cache may still hold.

File sizes in the tree are log-uniform or, if their total is given, follow a power law between the same limits with
that total. They are the quantiles of the distribution at (i + 1/2)/n, so that every seed has the same number of
bytes. The seed determines which file has which size and where it is, how directories are nested, and the data:
random bytes, except for the requested share of zeros, which are contiguous within each 4 KiB.

Leaves nothing on the target except the remains of a failed task. Needs only Python and these programs: launches
run this file by its path, so that importing the package is not part of a run.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEADER: Final = "task,filesystems,metric,value,low,high,unit,qualifier"

PROGRAMS: Final = ("cp", "find", "ls", "rm", "sync")
"""The programs that perform the tasks."""

_BLOCK: Final = 4096
_CHUNK: Final = 256 * _BLOCK
_STEEPEST: Final = 20.0
"""Makes almost all files as small, or as large, as possible."""
_LARGE: Final = "large"
_TREE: Final = "tree"
_NULL: Final = ((os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),)
"""Discards the output of programs, which would otherwise be written somewhere while they are timed."""


class Usage(NamedTuple):
    """What a command used: elapsed and processor time in seconds, and page faults."""

    elapsed: float
    cpu: float
    minor_faults: int
    major_faults: int

    def rows(self, task: str, filesystem: str) -> Iterator[str]:
        """Yield the log rows that `fsbench_kit.formats.filetree` reads."""
        yield f"{task},{filesystem},elapsed,{self.elapsed:.6f},,,s,"
        yield f"{task},{filesystem},cpu,{100 * self.cpu / self.elapsed:.2f},,,percent,"
        yield f"{task},{filesystem},minor_page_faults,{self.minor_faults},,,count,"
        yield f"{task},{filesystem},major_page_faults,{self.major_faults},,,count,"


@lru_cache(16)  # a search takes a quarter of a second, and fitting a plan to its scale asks again and again
def sizes(files: int, smallest: int, largest: int, total: int | None = None) -> tuple[int, ...]:
    """Return the file sizes of a tree, smallest first.

    >>> sizes(3, 1000, 1000000)
    (3162, 31623, 316228)
    >>> sum(sizes(1000, 1000, 1000000, total=50_000_000)) // 1_000_000
    50
    """
    if total is None:
        return _power_law(files, smallest, largest, 0.0)
    less, more = _STEEPEST, -_STEEPEST  # the steeper, the more files are small
    for _ in range(60):
        middle = (less + more) / 2
        if sum(_power_law(files, smallest, largest, middle)) > total:
            more = middle
        else:
            less = middle
    return _power_law(files, smallest, largest, less)


def _power_law(files: int, smallest: int, largest: int, steepness: float) -> tuple[int, ...]:
    """Return quantiles of the density x^-(1 + steepness), which is log-uniform for a steepness of 0."""
    places = [(number + 0.5) / files for number in range(files)]
    ratio = largest / smallest
    if abs(steepness) < 1e-9:
        return tuple(round(smallest * ratio**place) for place in places)
    end = ratio**-steepness
    return tuple(round(smallest * (1 + place * (end - 1)) ** (-1 / steepness)) for place in places)


def file_name(number: int) -> str:
    """Return the unique name of a file in the tree."""
    return f"file-{number:07d}"


def make_source(
    source: Path, *, large_file: int, lengths: Sequence[int], directories: int, compressibility: int, seed: int
) -> None:
    """Create the large file and the tree."""
    chance = random.Random(seed)  # noqa: S311 (not used for secrets)
    _fill(source / _LARGE, large_file, chance, compressibility)
    folders = [source / _TREE]
    for number in range(1, directories):
        folders.append(folders[int(chance.random() * number)] / f"directory-{number:07d}")
    for folder in folders:
        folder.mkdir()
    # Of all methods of Random, only random() is guaranteed to be reproducible in every Python version.
    for number, length in enumerate(sorted(lengths, key=lambda _: chance.random())):
        _fill(folders[int(chance.random() * directories)] / file_name(number), length, chance, compressibility)


def _fill(path: Path, size: int, chance: random.Random, compressibility: int) -> None:
    zeros = bytes(_BLOCK * compressibility // 100)
    with path.open("xb") as file:
        for start in range(0, size, _CHUNK):
            length = min(_CHUNK, size - start)
            blocks = (zeros + chance.randbytes(_BLOCK - len(zeros)) for _ in range(-(-length // _BLOCK)))
            file.write(b"".join(blocks)[:length])


def do_tasks(source: Path, target: Path, *, filesystem: str, device_size: int | None) -> None:
    """Perform the tasks in an empty directory, and print a row for each figure.

    Raises
    ------
    OSError
        If one of the programs cannot be started or fails.
    """
    large, large_copy, tree, tree_copy = (str(target / name) for name in ("large", "large-2", "tree", "tree-2"))
    copy = ("cp", "--reflink=never")
    tasks = {
        "copy_large_file": (*copy, str(source / _LARGE), large),
        "recopy_large_file": (*copy, large, large_copy),
        "remove_large_files": ("rm", large, large_copy),
        "copy_tree": (*copy, "-r", str(source / _TREE), tree),
        "recopy_tree": (*copy, "-r", tree, tree_copy),
        "list_tree": ("ls", "-lR", tree),
        "find_in_tree": ("find", tree, "-name", file_name(0)),
        "remove_trees": ("rm", "-r", tree, tree_copy),
    }
    sync = ("sync", "--file-system", str(target))
    _read_all(source)
    timed(sync)
    _print_capacity("initial", target, filesystem, device_size)
    for name, argv in tasks.items():
        for task, words in ((name, argv), (f"{name}_sync", sync)):
            _print(*timed(words).rows(task, filesystem))
    _print_capacity("residual", target, filesystem, device_size)


def timed(argv: Sequence[str]) -> Usage:
    """Run a program, and return what it used."""
    words, environment = list(argv), dict(os.environ)  # copied before the clock starts
    start = time.perf_counter()
    process = os.posix_spawnp(argv[0], words, environment, file_actions=_NULL)
    _, status, used = os.wait4(process, 0)
    elapsed = time.perf_counter() - start
    if status:
        raise ChildProcessError(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}")
    return Usage(elapsed, used.ru_utime + used.ru_stime, used.ru_minflt, used.ru_majflt)


def _print_capacity(when: str, target: Path, filesystem: str, device_size: int | None) -> None:
    """Print the share of the device that is available for users' data, if the device is known."""
    if device_size is not None:
        space = os.statvfs(target)
        share = 100 * space.f_bavail * space.f_frsize / device_size
        _print(f"capacity_{when},{filesystem},capacity,{share:.4f},,,percent,")


def _read_all(folder: Path) -> None:
    buffer = bytearray(_CHUNK)
    for path, _, names in os.walk(folder):
        for name in names:
            with Path(path, name).open("rb", buffering=0) as file:
                while file.readinto(buffer):
                    pass


def _print(*rows: str) -> None:
    for row in rows:
        sys.stdout.write(row + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, do the work, and return the exit code."""
    parser = argparse.ArgumentParser(prog="filetree", description=__doc__.partition("\n")[0])
    steps = parser.add_subparsers(dest="step", required=True)
    source = steps.add_parser("source", help="make what is copied")
    tasks = steps.add_parser("tasks", help="do the tasks")
    for step in (source, tasks):
        step.add_argument("--source", type=Path, required=True, help="directory for what is copied")
        step.add_argument("--large-file", type=int, required=True, help="size of the large file")
        step.add_argument("--files", type=int, required=True, help="files in the tree")
        step.add_argument("--directories", type=int, required=True, help="directories in it")
        step.add_argument("--smallest", type=int, required=True, help="size of its smallest files")
        step.add_argument("--largest", type=int, required=True, help="size of its largest files")
        step.add_argument(
            "--total", type=int, help="size of all its files; without it, their sizes are log-uniform"
        )
        step.add_argument("--compressibility", type=int, required=True, help="zeros in every 4 KiB, in percent")
    source.add_argument("--seed", type=int, required=True, help="decides the tree and the data")
    tasks.add_argument("--directory", type=Path, required=True, help="directory on the filesystem under test")
    tasks.add_argument("--filesystem", required=True, help="its name, for the log")
    tasks.add_argument("--device-size", type=int, help="bytes of its device")
    options = parser.parse_args(arguments)
    lengths = sizes(options.files, options.smallest, options.largest, options.total)
    try:
        if options.step == "source":
            make_source(
                options.source,
                large_file=options.large_file,
                lengths=lengths,
                directories=options.directories,
                compressibility=options.compressibility,
                seed=options.seed,
            )
        else:
            settings = ("large_file", "files", "directories", "smallest", "largest")
            _print(
                HEADER,
                *(f"# {key} = {getattr(options, key)}" for key in settings),
                f"# total_size = {options.large_file + sum(lengths)}",
                f"# compressibility = {options.compressibility / 100}",
            )
            do_tasks(
                options.source,
                options.directory,
                filesystem=options.filesystem,
                device_size=options.device_size,
            )
    except OSError as error:
        sys.stderr.write(f"filetree: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
