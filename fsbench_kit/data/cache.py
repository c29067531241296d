"""Keeps what was read of files, so that it need not be read again while they stay what they are.

There is one file of columns for each folder that was read. It is of use to the version alone that wrote it, and to
none if it is damaged. Nothing is kept of a file that could still change without getting another stamp.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import struct
import sys
import tempfile
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.data.batches import Read, read_files
from fsbench_kit.data.columns import Columns
from fsbench_kit.data.files import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Executor

    from fsbench_kit.data.batches import File
    from fsbench_kit.data.columns import Part


LIMIT: Final = 2**30
"""So many bytes are kept; what was not used for longest goes first."""

_LEAST: Final = 2**16
"""Of files that have fewer bytes together nothing is kept."""


class Cache:
    """What was read of the files of a folder."""

    def __init__(self, place: Path) -> None:
        name = hashlib.sha256(os.fsencode(place.absolute())).hexdigest()[:32]
        self._file = folder() / f"{name}.columns"
        self._known = _loaded(self._file)

    def read(self, file: File) -> Read | None:
        """Return what was read of a file before, if it has the stamp that it had then."""
        try:
            stamp = file.stamp or (Stamp.of(Path(file.path).stat()) if file.open is None else None)
        except OSError:
            return None  # which is said when it is read
        if stamp is None or (part := self._known.get(stamp)) is None:
            return None
        return Read(part, None, stamp)

    def keep(self, read: Iterable[Read]) -> None:
        """Keep what was read of files, instead of what was kept before."""
        kept = {each.stamp: each.part for each in read if each.stamp is not None and each.fio_log is None}
        if sum(stamp.size for stamp in kept) < _LEAST:
            return
        stamps = io.BytesIO()
        pl.DataFrame(list(kept), schema=_STAMPS, orient="row").write_ipc(stamps)
        columns = Columns.gathered(list(kept.values())).to_bytes()
        payload = b"".join([struct.pack("<Q", stamps.tell()), stamps.getbuffer(), columns])
        with contextlib.suppress(OSError):  # a cache that cannot be written is none
            _write(self._file, payload)


def read_cached(files: Sequence[File], places: Sequence[Path], executor: Executor | None) -> list[Read]:
    """Return what was read of files, of which those are read anew that were not kept as they are.

    What is read of the files of one place, which is a folder, is kept together.
    """
    caches = {place: Cache(place) for place in dict.fromkeys(places)}
    known = [caches[place].read(file) for file, place in zip(files, places, strict=True)]
    new = [number for number, read in enumerate(known) if read is None]
    for number, read in zip(new, read_files([files[number] for number in new], executor), strict=True):
        known[number] = read
    result = [read for read in known if read is not None]
    for place in {places[number] for number in new if result[number].stamp is not None}:
        caches[place].keep(read for read, own in zip(result, places, strict=True) if own == place)
    return result


_STAMPS: Final = pl.Schema(dict.fromkeys(Stamp._fields, pl.Int64()))


def folder() -> Path:
    """Return the folder in which what was read is kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fsbench_kit"


def is_on() -> bool:
    """Whether anything is kept: unless ``FSBENCH_CACHE`` says ``off``."""
    return os.environ.get("FSBENCH_CACHE", "").lower() != "off"


def _loaded(file: Path) -> dict[Stamp, Part]:
    """Return what a file of the cache holds: nothing if there is none, or it is damaged or of another version."""
    try:
        with file.open("rb") as opened:
            head, payload = opened.read(_HEAD), opened.read()
        if head != _head(payload):
            return {}
        os.utime(file)
    except OSError:
        return {}
    (size,) = struct.unpack_from("<Q", payload)
    stamps = pl.read_ipc(io.BytesIO(payload[8 : 8 + size]))
    parts = Columns.from_bytes(memoryview(payload)[8 + size :]).files(stamps.height)
    return dict(zip(map(Stamp._make, stamps.iter_rows()), parts, strict=True))


def _head(payload: bytes) -> bytes:
    """Return what stands before a payload: the version that wrote it, its length and its sum."""
    return _version() + struct.pack("<QI", len(payload), zlib.crc32(payload))


@cache
def _version() -> bytes:
    """Return what is another one wherever the reader may be: of this package, Python, Polars."""
    package = Path(__file__).parents[1]
    sources = sorted(package.rglob("*.py"))
    words = [sys.version, pl.__version__]
    for path in sources:
        found = path.stat()
        words.append(f"{path.relative_to(package)} {found.st_size} {found.st_mtime_ns}")
    return hashlib.sha256("\n".join(words).encode()).digest()


_HEAD: Final = 32 + 8 + 4


def _write(file: Path, payload: bytes) -> None:
    """Write a file of the cache at one go, and let go of those that were not used for longest."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(_head(payload))
            opened.write(payload)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    kept = sorted(((each.stat(), each) for each in file.parent.iterdir()), key=lambda item: -item[0].st_mtime_ns)
    total = 0
    for found, each in kept:
        total += found.st_size
        if total > LIMIT:
            each.unlink(missing_ok=True)
