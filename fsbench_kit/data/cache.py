"""Caches what was read of files, so that unchanged files need not be read again.

For each folder that was read there are two cache files: what was read of each of its logs, and the result for all
of them, without the frames that are in the first one; and a third one if few of the logs changed since, with what
changed in the result. They are only used by the version that wrote them, and ignored if damaged. Logs that could
still change without getting another stamp are not cached.
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
from functools import cache, cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.data.again import Outcome
from fsbench_kit.data.assembly import Assembly
from fsbench_kit.data.batches import Read
from fsbench_kit.data.columns import BELONGING, Columns, Unpacked, packed
from fsbench_kit.data.files import Stamp
from fsbench_kit.data.parallel import read_files
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Executor

    from fsbench_kit.data.batches import File
    from fsbench_kit.data.columns import Part


LIMIT: Final = 2**30
"""The maximum size of the cache in bytes; the least recently used files are removed first."""

_LEAST: Final = 2**16
"""Files with fewer bytes in total are not cached."""


class Cache:
    """The cache of what was read of files in some places, which are folders, and of the result for all of these.

    What changed since is stored beside the result, so that a change packs and writes nothing but this.
    """

    def __init__(self, places: Iterable[str]) -> None:
        several = list(dict.fromkeys(places))
        self._files = {place: _Files(place) for place in several}
        base = self._files[several[0]].entry if len(several) == 1 else None
        self._result = _Entry(several, "frames", base)
        self._changes = _Entry(several, "changes", self._result)
        self._new: set[str] = set()
        self._kept: list[Outcome] = []

    def read(self, files: Sequence[File], places: Sequence[str], executor: Executor | None) -> list[Read]:
        """Return what was read of files, reading only those that are not in the cache or have changed."""
        known = [self._files[place].read(file) for file, place in zip(files, places, strict=True)]
        new = [number for number, read in enumerate(known) if read is None]
        for number, read in zip(new, read_files([files[number] for number in new], executor), strict=True):
            known[number] = read
            if read.stamp is not None:
                self._new.add(places[number])
        return [read for read in known if read is not None]

    def keep(self, read: Sequence[Read], places: Sequence[str], outcome: Outcome | None) -> None:
        """Store what was read of files in each place, if some of it is new, and the result for all, if any."""
        for place in self._new:
            self._files[place].keep(each for each, own in zip(read, places, strict=True) if own == place)
        if outcome is None:
            _make_room()
        else:
            self._keep_result(outcome)

    def result(self) -> Outcome | None:
        """Return the result, or ``None``."""
        if not self._result.frames:
            return None
        self._kept = [_outcome(each.frames) for each in (self._result, self._changes) if each.frames]
        return reduce(Outcome.then, self._kept)

    def after(self, change: Outcome, *, is_kept: bool) -> Assembly:
        """Return the frames after a change of the result that was read, and store it if it can be kept."""
        whole, *previous = self._kept
        changes = reduce(Outcome.then, [*previous, change])
        if is_kept and len(changes.replaced) > _MOST_CHANGED * len(changes.order):
            result = whole.then(changes)
            self._keep_result(result)
            return result.assembly
        if is_kept:
            self._changes.write(_frames(changes))
            _make_room()
        return whole.changed_by(changes)

    def _keep_result(self, outcome: Outcome) -> None:
        """Store a result, replacing the previous one, and make room."""
        self._result.write(_frames(replace(outcome, replaced=frozenset())))
        _make_room()


_MOST_CHANGED: Final = 1 / 8
"""The share of files that may have changed since the result was stored; with more, all of it is stored anew."""


class _Files:
    """What was read of the files in a folder.

    Attributes
    ----------
    entry
        The cache file.
    """

    def __init__(self, place: str) -> None:
        self.entry = _Entry([place], "columns")

    @cached_property
    def _known(self) -> Mapping[Stamp, Part]:
        if not self.entry.frames:
            return {}
        stamps, *frames = self.entry.frames
        parts = Columns(*frames).files(stamps.height)
        return dict(zip(map(Stamp._make, stamps.iter_rows()), parts, strict=True))

    def read(self, file: File) -> Read | None:
        """Return what was read of a file before, if its stamp is unchanged, otherwise ``None``."""
        try:
            stamp = file.stamp or (Stamp.of(Path(file.path).stat()) if file.open is None else None)
        except OSError:
            return None  # reading it reports the error
        if stamp is None or (part := self._known.get(stamp)) is None:
            return None
        return Read(part, None, stamp)

    def keep(self, read: Iterable[Read]) -> None:
        """Store what was read of files, replacing the previous content.

        Files that can still change unseen are stored as well, under a stamp that no file has, because the result
        refers to the frames that hold all files.
        """
        every = list(read)
        stamps = [_NO_FILE if each.stamp is None or each.fio_log is not None else each.stamp for each in every]
        if sum(stamp.size for stamp in {*stamps} - {_NO_FILE}) >= _LEAST:
            columns = Columns.gathered([each.part for each in every])
            self.entry.write([pl.DataFrame(stamps, schema=_STAMPS, orient="row"), *columns.frames()])


_NO_FILE: Final = Stamp(*[-1] * len(Stamp._fields))
_STAMPS: Final = pl.Schema(dict.fromkeys(Stamp._fields, pl.Int64()))


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

    Parameters
    ----------
    places, kind
        What it is for.
    base
        The file that it adds to, without which it is of no use: the frames of that one are not stored again.

    Attributes
    ----------
    head
        The header of the file that was read or written, which distinguishes it from any other; zeros if there is
        none.
    """

    def __init__(self, places: Iterable[str], kind: str, base: _Entry | None = None) -> None:
        names = b"\0".join(os.fsencode(Path(place).absolute()) for place in places)
        self._name = f"{hashlib.sha256(names).hexdigest()[:32]}.{kind}"
        self._base = base
        self.head = bytes(_HEAD)

    @property
    def _file(self) -> Path:
        return folder() / self._name

    @cached_property
    def frames(self) -> Sequence[pl.DataFrame]:
        """The frames; none if the file is missing, damaged, of another version, or adds to another file."""
        known, of = self._of
        try:
            with self._file.open("rb") as opened:
                head, its_base, payload = opened.read(_HEAD), opened.read(_HEAD), opened.read()
            if its_base != of or head != _head([its_base, payload]):
                return ()
            os.utime(self._file)
        except OSError:
            return ()
        self.head = head
        return Unpacked(payload, known)

    @property
    def _of(self) -> tuple[Sequence[pl.DataFrame], bytes]:
        """The frames of the base, and its header."""
        return ((), bytes(_HEAD)) if self._base is None else (self._base.frames, self._base.head)

    def write(self, frames: list[pl.DataFrame]) -> None:
        """Write the file atomically."""
        with contextlib.suppress(OSError):  # a cache that cannot be written is skipped
            known, of = self._of
            self.head = _write(self._file, [of, *packed(frames, known)])
            self.frames = frames


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


def _write(file: Path, pieces: Sequence[bytes]) -> bytes:
    """Write a cache file, and return its header."""
    head = _head(pieces)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(head)
            opened.writelines(pieces)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return head


def _make_room() -> None:
    """Remove the least recently used files if the cache is too large."""
    total = 0
    with contextlib.suppress(OSError):
        with os.scandir(folder()) as entries:
            kept = sorted(((each.stat(), each) for each in entries), key=lambda item: -item[0].st_mtime_ns)
        for found, each in kept:
            total += found.st_size
            if total > LIMIT:
                Path(each).unlink(missing_ok=True)
