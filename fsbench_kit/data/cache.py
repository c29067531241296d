"""Caches what was read of files, so that unchanged files need not be read again.

For each folder that was read there are two cache files: what was read of each of its logs, and the result for all
of them; and a third one if few of the logs changed since, with what changed in the result. They are only used by
the version that wrote them, and ignored if damaged. Logs that could still change without getting another stamp are
not cached.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import sys
import tempfile
import zlib
from dataclasses import replace
from functools import cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.data.again import Outcome
from fsbench_kit.data.assembly import Assembly
from fsbench_kit.data.batches import Read, read_files
from fsbench_kit.data.columns import BELONGING, Columns, Packing, unpacked
from fsbench_kit.data.files import Stamp
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Executor

    from fsbench_kit.data.batches import File
    from fsbench_kit.data.columns import Part


LIMIT: Final = 2**30
"""The maximum size of the cache in bytes; the least recently used files are removed first."""

_LEAST: Final = 2**16
"""Files with fewer bytes in total are not cached."""


class ReadFiles:
    """The cache of what was read of the files in a folder."""

    def __init__(self, place: Path) -> None:
        self._entry = _Entry([place], "columns")
        self._known: dict[Stamp, Part] = {}
        if kept := list(unpacked(self._entry.read())):
            stamps, *frames = kept
            parts = Columns(*frames).files(stamps.height)
            self._known = dict(zip(map(Stamp._make, stamps.iter_rows()), parts, strict=True))

    def read(self, file: File) -> Read | None:
        """Return what was read of a file before, if its stamp is unchanged, otherwise ``None``."""
        try:
            stamp = file.stamp or (Stamp.of(Path(file.path).stat()) if file.open is None else None)
        except OSError:
            return None  # reading it reports the error
        if stamp is None or (part := self._known.get(stamp)) is None:
            return None
        return Read(part, None, stamp)

    def keep(self, read: Iterable[Read], packing: Packing) -> None:
        """Store what was read of files, replacing the previous content.

        Files that can still change unseen are stored as well, under a stamp that no file has: the frames that hold
        all files are packed for the result anyway.
        """
        every = list(read)
        stamps = [_NO_FILE if each.stamp is None or each.fio_log is not None else each.stamp for each in every]
        if sum(stamp.size for stamp in {*stamps} - {_NO_FILE}) >= _LEAST:
            columns = Columns.gathered([each.part for each in every])
            self._entry.write([pl.DataFrame(stamps, schema=_STAMPS, orient="row"), *columns.frames()], packing)


def read_cached(
    files: Sequence[File], places: Sequence[Path], executor: Executor | None
) -> tuple[list[Read], Callable[[Packing], None]]:
    """Return what was read of files, reading only those that are not in the cache or have changed.

    Returns
    -------
    tuple
        What was read, and a function that stores it, if some of it is new. The results for all files of a place,
        which is a folder, are stored together.
    """
    caches = {place: ReadFiles(place) for place in dict.fromkeys(places)}
    known = [caches[place].read(file) for file, place in zip(files, places, strict=True)]
    new = [number for number, read in enumerate(known) if read is None]
    for number, read in zip(new, read_files([files[number] for number in new], executor), strict=True):
        known[number] = read
    result = [read for read in known if read is not None]

    def keep(packing: Packing) -> None:
        for place in {places[number] for number in new if result[number].stamp is not None}:
            caches[place].keep((read for read, own in zip(result, places, strict=True) if own == place), packing)

    return result, keep


_NO_FILE: Final = Stamp(*[-1] * len(Stamp._fields))
_STAMPS: Final = pl.Schema(dict.fromkeys(Stamp._fields, pl.Int64()))


class Outcomes:
    """The cache of the result for everything found in some places, which are folders.

    What changed since is stored beside the result, so that a change packs and writes nothing but this.
    """

    def __init__(self, places: Iterable[Path]) -> None:
        several = list(places)
        self._result, self._changes = (_Entry(several, kind) for kind in ("frames", "changes"))
        self._kept: list[Outcome] = []

    def read(self) -> Outcome | None:
        """Return the cached result, or ``None``."""
        if not (whole := list(unpacked(self._result.read()))):
            return None
        self._kept = [_outcome(whole)]
        changes = unpacked(self._changes.read())
        if (of := next(changes, None)) is not None and of.item() == self._result.head:
            self._kept.append(_outcome(list(changes)))
        return reduce(Outcome.then, self._kept)

    def after(self, change: Outcome, *, is_kept: bool) -> Assembly:
        """Return the frames after a change of the result that was read, and store it if it can be kept."""
        whole, *previous = self._kept
        changes = reduce(Outcome.then, [*previous, change])
        if is_kept and len(changes.replaced) > _MOST_CHANGED * len(changes.order):
            result = whole.then(changes)
            self.keep(result, Packing())
            return result.assembly
        if is_kept:
            of = pl.DataFrame({"of": [self._result.head]})
            self._changes.write([of, *_frames(changes)], Packing())
        return whole.changed_by(changes)

    def keep(self, outcome: Outcome, packing: Packing) -> None:
        """Store a result, replacing the previous one."""
        self._result.write(_frames(replace(outcome, replaced=frozenset())), packing)


_MOST_CHANGED: Final = 1 / 8
"""The share of files that may have changed since the result was stored; with more, all of it is stored anew."""


def _outcome(frames: Sequence[pl.DataFrame]) -> Outcome:
    """Return a result from its frames."""
    files, order, replaced, marks, of, runs, *belonging, diagnostics = frames
    paths = files["path"].to_list()
    return Outcome(
        dict(zip(paths, files["trace"], strict=True)),
        {path for path, has_runs in zip(paths, files["has_runs"], strict=True) if has_runs},
        order["path"].to_list(),
        marks if marks.width else None,
        lambda: Assembly(runs, of["source"], dict(zip(_BELONGING, belonging, strict=True)), diagnostics),
        set(replaced["path"]),
    )


def _frames(outcome: Outcome) -> list[pl.DataFrame]:
    """Return the frames of a result."""
    of_files = {
        "path": list(outcome.traces),
        "trace": list(outcome.traces.values()),
        "has_runs": [path in outcome.with_runs for path in outcome.traces],
    }
    whole = outcome.assembly
    return [
        pl.DataFrame(of_files, schema=_FILES),
        *(pl.DataFrame({"path": list(each)}, schema=_PATHS) for each in (outcome.order, outcome.replaced)),
        pl.DataFrame() if outcome.marks is None else outcome.marks,
        whole.of.to_frame(),
        whole.runs,
        *(whole.belonging[name] for name in _BELONGING),
        whole.diagnostics,
    ]


_FILES: Final = pl.Schema({"path": pl.String(), "trace": pl.String(), "has_runs": pl.Boolean()})
_PATHS: Final = pl.Schema({"path": pl.String()})
_BELONGING: Final = tuple(name for name in BELONGING if name in SCHEMAS)


def is_on() -> bool:
    """Whether caching is on: unless ``FSBENCH_CACHE`` is ``off`` or there is no home directory."""
    has_place = "XDG_CACHE_HOME" in os.environ or "HOME" in os.environ
    return has_place and os.environ.get("FSBENCH_CACHE", "").lower() != "off"


def folder() -> Path:
    """Return the folder of the cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or f"{os.environ['HOME']}/.cache", "fsbench_kit")


class _Entry:
    """A file of the cache, which contains frames.

    Attributes
    ----------
    head
        The header of the file that was read, which distinguishes it from any other.
    """

    def __init__(self, places: Iterable[Path], kind: str) -> None:
        names = b"\0".join(os.fsencode(place.absolute()) for place in places)
        self._name = f"{hashlib.sha256(names).hexdigest()[:32]}.{kind}"
        self.head = b""

    @property
    def _file(self) -> Path:
        return folder() / self._name

    def read(self) -> bytes:
        """Return the packed frames; nothing if the file is missing, damaged or of another version."""
        try:
            with self._file.open("rb") as opened:
                head, payload = opened.read(_HEAD), opened.read()
            if head != _head([payload]):
                return b""
            self.head = head
            os.utime(self._file)
        except OSError:
            return b""
        return payload

    def write(self, frames: Iterable[pl.DataFrame], packing: Packing) -> None:
        """Write the file atomically, and remove the least recently used files if the cache is too large."""
        with contextlib.suppress(OSError):  # a cache that cannot be written is skipped
            _write(self._file, packing.packed(frames))


def _head(pieces: Iterable[bytes]) -> bytes:
    """Return the header of a cache file: the version that wrote it, and the length and checksum of the frames."""
    length = checksum = 0
    for piece in pieces:
        length, checksum = length + len(piece), zlib.crc32(piece, checksum)
    return _version() + struct.pack("<QI", length, checksum)


@cache
def _version() -> bytes:
    """Return a hash that changes with this package, Python or Polars."""
    package = Path(__file__).parents[1]
    words = [sys.version, pl.__version__]
    for path in sorted(package.rglob("*.py")):
        found = path.stat()
        words.append(f"{path.relative_to(package)} {found.st_size} {found.st_mtime_ns}")
    return hashlib.sha256("\n".join(words).encode()).digest()


_HEAD: Final = 32 + 8 + 4


def _write(file: Path, pieces: Sequence[bytes]) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(_head(pieces))
            opened.writelines(pieces)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    with os.scandir(file.parent) as entries:
        kept = sorted(((each.stat(), each) for each in entries), key=lambda item: -item[0].st_mtime_ns)
    total = 0
    for found, each in kept:
        total += found.st_size
        if total > LIMIT:
            Path(each).unlink(missing_ok=True)
