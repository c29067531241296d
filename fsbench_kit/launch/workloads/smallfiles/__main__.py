"""Creates, rewrites, reads and deletes many files, and times each step and the sync after it.

All files lie in one directory and are visited in the order of their names. No file is synced by itself: after each
step comes one ``syncfs(2)`` of the whole filesystem, timed apart. The rewrite puts new data over the old without
truncating. The read comes right after, so it is served from the page cache; its sync writes back times of access.

The data are random bytes: they cannot be compressed, and no two blocks of 4 KiB are the same, so that they cannot
be deduplicated either. The same seed gives the same data. A step costs some microseconds of Python per file, which
bounds the rates at some hundred thousand a second.

Leaves nothing behind, unless it is killed. Needs Python and nothing else: launches run this file by its path, so
that importing the kit is no part of a run.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_BLOCK: Final = 4096
_SUFFIXES: Final = {"k": 2**10, "m": 2**20, "g": 2**30}

_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def run(directory: Path, *, filesystem: str, files: int, size: str, seed: int, log: TextIO) -> None:
    """Do the four steps in a new subdirectory, and write the log that `fsbench_kit.formats.smallfiles` reads.

    Parameters
    ----------
    directory
        Where the filesystem under test is.
    filesystem
        Its name, as one word.
    files, size
        How many files, and how large each is: bytes, or with a suffix like ``4k``.
    seed
        Decides the data.

    Raises
    ------
    OSError
        If the filesystem refuses something, for example because it is full.
    """
    length = _bytes(size)
    old, new = _contents(random.Random(seed), 2, files, length)  # noqa: S311 (nothing is kept secret with them)
    _say(log, f"# datasize: {size}")
    _say(log, "# data: random bytes, not compressible, different in each file")
    _say(log, "-" * 25)
    _say(log, f"# {filesystem}")
    _say(log, f"file_create {files}")
    with tempfile.TemporaryDirectory(prefix="smallfiles-", dir=directory) as folder:
        paths = [f"{folder}/{number:08d}" for number in range(files)]
        steps: dict[str, Callable[[], None]] = {
            "write": lambda: _write(paths, old, os.O_CREAT | os.O_EXCL),
            "rewrite": lambda: _write(paths, new),
            "read": lambda: _read(paths, length),
            "delete": lambda: _delete(paths),
        }
        sync(folder)
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            done = time.perf_counter()
            sync(folder)
            synced = time.perf_counter()
            seconds = done - start
            rate = f"{name}: {files / seconds:.3f}/sec"
            _say(log, f"{rate}, {name}/{seconds:.3f} secs, {name}_sync/{synced - done:.3f} secs")


def sync(folder: str) -> None:
    """Wait until the filesystem that holds a folder has written everything."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if _LIBC.syncfs(descriptor) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), folder)
    finally:
        os.close(descriptor)


def _contents(chance: random.Random, versions: int, files: int, size: int) -> Iterator[list[memoryview]]:
    """Yield the contents of all files in each version: windows of one pool, no two of which share a block.

    4096 windows start one byte apart; the next 4096 start where the blocks of those before have ended.
    """
    stride = -(-size // _BLOCK) * _BLOCK
    starts = [index // _BLOCK * stride + index % _BLOCK for index in range(versions * files)]
    pool = memoryview(chance.randbytes(starts[-1] + size))
    windows = [pool[start : start + size] for start in starts]
    for version in range(versions):
        yield windows[version * files : (version + 1) * files]


def _write(paths: Sequence[str], contents: Sequence[memoryview], flags: int = 0) -> None:
    for path, content in zip(paths, contents, strict=True):
        descriptor = os.open(path, os.O_WRONLY | flags, 0o600)
        try:
            if os.write(descriptor, content) != len(content):
                raise OSError(f"{path} could not be written whole")
        finally:
            os.close(descriptor)


def _read(paths: Sequence[str], size: int) -> None:
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if len(os.read(descriptor, size + 1)) != size:
                raise OSError(f"{path} could not be read whole")
        finally:
            os.close(descriptor)


def _delete(paths: Sequence[str]) -> None:
    for path in paths:
        os.unlink(path)  # noqa: PTH108 (a Path per file would be timed too)


def _bytes(size: str) -> int:
    factor = _SUFFIXES.get(size[-1:].lower(), 1)
    return int(size[:-1] if factor > 1 else size) * factor


def _say(log: TextIO, line: str) -> None:
    log.write(line + "\n")
    log.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, do the work, and return the exit code."""
    parser = argparse.ArgumentParser(prog="smallfiles", description=__doc__.partition("\n")[0])
    parser.add_argument("--directory", type=Path, required=True, help="directory on the filesystem under test")
    parser.add_argument("--filesystem", required=True, help="its name, for the log")
    parser.add_argument("--files", type=int, required=True, help="number of files")
    parser.add_argument("--size", required=True, help="size of each, like 4k")
    parser.add_argument("--seed", type=int, required=True, help="seed of the data")
    options = parser.parse_args(arguments)
    try:
        run(**vars(options), log=sys.stdout)
    except OSError as error:
        sys.stderr.write(f"smallfiles: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
