"""Creates, rewrites, reads and deletes many files, timing each step and the sync after it.

``loops`` compiles the loops over files; ``steps`` runs the benchmark.

All files are in one directory and are visited in the order of their names; each of several threads, which are
processes, has an equal, contiguous share of them. Files are not synced individually: each step is followed by one
``syncfs(2)`` of the whole filesystem, timed separately. The rewrite replaces the data without truncating. The read
comes right after it and is therefore served from the page cache; its sync writes back access times.

No two blocks of 4 KiB are equal, so that they cannot be deduplicated. They consist of random bytes, which cannot
be compressed, except for the requested share of zeros, which are contiguous within each 4 KiB. The same seed gives
the same data.

The loops are in C. In Python, the program itself would take 2 to 3 µs per file: 2 to 6 % of whole runs, and up to
22 % of reads from the page cache. Without a compiler they run in Python nevertheless, and the log says so;
``benchmarks/own_cost.py`` measures the cost of both.

Leaves nothing behind unless it is killed. Needs nothing but Python: launches run this file by its path, so that
importing the package is not part of a run.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

    _Function = ctypes._NamedFuncPointer
    Steps = dict[str, Callable[[], None]]

_BLOCK: Final = 4096
_SUFFIXES: Final = {"k": 2**10, "m": 2**20, "g": 2**30}

_LOOPS: Final = "loops.so"
_NOT_WHOLE: Final = "it could not be written or read whole"

_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def compile_loops(beside: Path) -> None:
    """Compile the loops into a directory; if that fails, explain why on standard error."""
    source = Path(__file__).with_name("loops.c")
    command = ("cc", "-O2", "-shared", "-fPIC", "-o", beside / _LOOPS, source)
    around = {**os.environ, "TMPDIR": str(beside)}  # so that a killed compiler leaves nothing elsewhere
    try:
        done = subprocess.run(command, env=around, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        _warn(f"there is no C compiler ({error})")
    else:
        if done.returncode != 0:
            _warn(f"cc failed: {done.stderr.strip()}")


def _compiled(beside: Path) -> ctypes.CDLL | None:
    library = beside.resolve() / _LOOPS
    if not library.exists():
        return None
    try:
        return ctypes.CDLL(str(library), use_errno=True)
    except OSError as error:  # for example on a filesystem mounted noexec
        _warn(str(error))
        return None


def _warn(why: str) -> None:
    sys.stderr.write(f"smallfiles: the loops are in Python, because {why}\n")


def run(
    directory: Path,
    *,
    beside: Path,
    filesystem: str,
    files: int,
    size: str,
    seed: int,
    log: TextIO,
    threads: int = 1,
    compressibility: int = 0,
) -> None:
    """Run the four steps in a new subdirectory, and write the log that `fsbench_kit.formats.smallfiles` reads.

    Parameters
    ----------
    directory
        A directory on the filesystem under test.
    beside
        The directory of the compiled loops, if there are any.
    filesystem
        The filesystem's name, as one word.
    files, size
        The number of files, and the size of each: bytes, or with a suffix like ``4k``.
    seed
        Determines the data.
    threads
        How many processes share the files.
    compressibility
        The share of zeros in every 4 KiB, in percent.

    Raises
    ------
    OSError
        If the filesystem refuses an operation, for example because it is full.
    """
    length = _bytes(size)
    chance = random.Random(seed)  # noqa: S311 (not used for secrets)
    old, new = _contents(chance, 2, files, length, compressibility)
    loops = _compiled(beside)
    data = "random bytes, not compressible,"
    if compressibility:
        data = f"{compressibility} % of every {_BLOCK} bytes are zeros, the others random;"
    _say(log, f"# datasize: {size}")
    _say(log, f"# data: {data} different in each file")
    _say(log, f"# threads: {threads}")
    _say(log, f"# engine: {'Python' if loops is None else 'C'}")
    _say(log, "-" * 25)
    _say(log, f"# {filesystem}")
    _say(log, f"file_create {files}")
    with tempfile.TemporaryDirectory(prefix="smallfiles-", dir=directory) as folder:
        paths = [os.fsencode(f"{folder}/{number:08d}") for number in range(files)]
        bounds = [files * number // threads for number in range(threads + 1)]
        do = _together(
            [
                _steps(loops, paths[first:end], old[first:end], new[first:end], length)
                for first, end in pairwise(bounds)
            ]
        )
        sync(folder)
        for name in ("write", "rewrite", "read", "delete"):
            start = time.perf_counter()
            do(name)
            done = time.perf_counter()
            sync(folder)
            synced = time.perf_counter()
            seconds = done - start
            rate = f"{name}: {files / seconds:.3f}/sec"
            _say(log, f"{rate}, {name}/{seconds:.3f} secs, {name}_sync/{synced - done:.3f} secs")


def sync(folder: str) -> None:
    """Wait until the filesystem that contains a folder has written everything."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if _LIBC.syncfs(descriptor) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), folder)
    finally:
        os.close(descriptor)


def _contents(
    chance: random.Random, versions: int, files: int, size: int, compressibility: int
) -> Iterator[list[memoryview]]:
    """Yield the contents of all files in each version: windows of one pool, no two of which share a block.

    4096 windows start one byte apart; the next 4096 start where the blocks of the previous ones end.
    """
    stride = -(-size // _BLOCK) * _BLOCK
    starts = [index // _BLOCK * stride + index % _BLOCK for index in range(versions * files)]
    pool = memoryview(_data(chance, starts[-1] + size, compressibility))
    windows = [pool[start : start + size] for start in starts]
    for version in range(versions):
        yield windows[version * files : (version + 1) * files]


def _data(chance: random.Random, size: int, compressibility: int) -> bytearray:
    """Return random bytes with a share of zeros in every block."""
    zeros = bytes(_BLOCK * compressibility // 100)
    blocks = -(-size // _BLOCK)
    return bytearray().join(zeros + chance.randbytes(_BLOCK - len(zeros)) for _ in range(blocks))


def _together(shares: Sequence[Steps]) -> Callable[[str], None]:
    """Return a function that runs a step on all shares at once: one share here, several in separate processes."""
    if len(shares) == 1:
        return lambda name: shares[0][name]()
    context = get_context("fork")
    ends: list[Connection] = []
    for steps in shares:
        end, other = context.Pipe()
        ends.append(end)
        context.Process(target=_serve, args=(other, ends, steps), daemon=True).start()
        other.close()

    def do(name: str) -> None:
        for end in ends:
            end.send(name)
        for failure in [end.recv() for end in ends]:
            if failure is not None:
                raise OSError(*failure)

    return do


def _serve(end: Connection, others: Sequence[Connection], steps: Steps) -> None:
    """Run the steps that the other end requests, and report the result of each."""
    # The fork copied the requesting ends. While they are open here, nobody notices that the program has ended.
    for other in others:
        other.close()
    while True:
        try:
            name = end.recv()
        except EOFError:
            return
        try:
            steps[name]()
        except OSError as error:
            end.send((error.errno, error.strerror, error.filename))
        else:
            end.send(None)


def _steps(
    loops: ctypes.CDLL | None,
    paths: Sequence[bytes],
    old: Sequence[memoryview],
    new: Sequence[memoryview],
    size: int,
) -> Steps:
    write, rewrite = os.O_WRONLY | os.O_CREAT | os.O_EXCL, os.O_WRONLY
    if loops is None:
        return {
            "write": lambda: _write(paths, write, old, size),
            "rewrite": lambda: _write(paths, rewrite, new, size),
            "read": lambda: _read(paths, size),
            "delete": lambda: _delete(paths),
        }
    buffer = ctypes.create_string_buffer(size + 1)
    length = ctypes.c_size_t(size)
    return {
        "write": _loop(loops.write_files, paths, write, _addresses(old), length),
        "rewrite": _loop(loops.write_files, paths, rewrite, _addresses(new), length),
        "read": _loop(loops.read_files, paths, buffer, length),
        "delete": _loop(loops.delete_files, paths),
    }


def _addresses(contents: Sequence[memoryview]) -> ctypes.Array[ctypes.c_void_p]:
    addresses = (ctypes.addressof(ctypes.c_char.from_buffer(content)) for content in contents)
    return (ctypes.c_void_p * len(contents))(*addresses)


def _loop(function: _Function, paths: Sequence[bytes], *arguments: object) -> Callable[[], None]:
    """Return a function that calls a loop of ``loops.c``."""
    names, files = (ctypes.c_char_p * len(paths))(*paths), ctypes.c_long(len(paths))
    function.restype = ctypes.c_long

    def do() -> None:
        done = function(names, files, *arguments)
        if done < len(paths):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code) if code else _NOT_WHOLE, paths[done])

    return do


# In Python, the cost per file is this program's own and part of what is timed. Names are therefore local, paths
# are bytes, and a file stays open if something fails, since that ends the program.


def _write(paths: Sequence[bytes], flags: int, contents: Sequence[memoryview], size: int) -> None:
    open_, write, close = os.open, os.write, os.close
    for path, content in zip(paths, contents):  # noqa: B905 (equally many)
        descriptor = open_(path, flags, 0o600)
        if write(descriptor, content) != size:
            raise OSError(0, _NOT_WHOLE, path)
        close(descriptor)


def _read(paths: Sequence[bytes], size: int) -> None:
    open_, readv, close = os.open, os.readv, os.close
    flags, buffers = os.O_RDONLY, (memoryview(bytearray(size + 1)),)
    for path in paths:
        descriptor = open_(path, flags)
        if readv(descriptor, buffers) != size:
            raise OSError(0, _NOT_WHOLE, path)
        close(descriptor)


def _delete(paths: Sequence[bytes]) -> None:
    unlink = os.unlink
    for path in paths:
        unlink(path)


def _bytes(size: str) -> int:
    factor = _SUFFIXES.get(size[-1:].lower(), 1)
    return int(size[:-1] if factor > 1 else size) * factor


def _say(log: TextIO, line: str) -> None:
    log.write(line + "\n")
    log.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, do the work, and return the exit code."""
    parser = argparse.ArgumentParser(prog="smallfiles", description=__doc__.partition("\n")[0])
    parts = parser.add_subparsers(dest="part", required=True)
    loops = parts.add_parser("loops", help="compile what is done for each file")
    steps = parts.add_parser("steps", help="do it")
    for part in (loops, steps):
        part.add_argument("--beside", type=Path, required=True, help="directory for the compiled loops")
    steps.add_argument("--directory", type=Path, required=True, help="directory on the filesystem under test")
    steps.add_argument("--filesystem", required=True, help="its name, for the log")
    steps.add_argument("--files", type=int, required=True, help="number of files")
    steps.add_argument("--size", required=True, help="size of each, like 4k")
    steps.add_argument("--seed", type=int, required=True, help="seed of the data")
    steps.add_argument("--threads", type=int, default=1, help="processes that share the files")
    steps.add_argument("--compressibility", type=int, default=0, help="zeros in every 4 KiB, in percent")
    options = vars(parser.parse_args(arguments))
    try:
        if options.pop("part") == "loops":
            compile_loops(**options)
        else:
            run(**options, log=sys.stdout)
    except OSError as error:
        sys.stderr.write(f"smallfiles: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
