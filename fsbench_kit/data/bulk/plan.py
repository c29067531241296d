"""Decides which files are read together, as a chunk.

Files that belong together share a chunk: a study, a launched run, a written dataset; loose files with the same
name (``run1.json``, ``run1.txt``, ``run1_clat.2.log``); and a folder if it is not too large for a chunk.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import deque
from dataclasses import dataclass, field
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from fsbench_kit.data.files import (
    Given,
    flattened,
    inode,
    is_folder,
    is_launched,
    is_report,
    is_study,
    kernel_filesystem,
)
from fsbench_kit.data.finding import Seen, of_report, read_before
from fsbench_kit.data.garbage import less_garbage_collection
from fsbench_kit.data.written import is_written
from fsbench_kit.formats.fio_log.layout import LogName
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.schema import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fsbench_kit.data.log import Log

FILES: Final = 2000
BYTES: Final = 8_000_000
"""The limits of a chunk, exceeded only if files belong together; memory grows with them."""

_WORTH: Final = 5
"""The number of full chunks for which another process is worthwhile: it takes as long to start as to read two."""


class Entry(NamedTuple):
    """A file or folder that is read as a whole; `named` if it was given itself rather than found in a folder."""

    path: str
    named: bool


@dataclass(slots=True)
class Chunk:
    """Files that are read together.

    Attributes
    ----------
    entries
        Its entries, in reading order.
    files
        The number of files.
    size
        The number of bytes, known once it is measured.
    """

    entries: list[Entry] = field(default_factory=list)
    files: int = 0
    size: int = 0
    _stamp: int = 0
    _is_measured: bool = True

    def take(self, other: Chunk) -> None:
        """Add the content of another chunk."""
        if self._is_measured != other._is_measured:
            self.measured()
            other.measured()
        self.entries += other.entries
        self.files += other.files
        self.size += other.size
        self._stamp ^= other._stamp

    def has_room_for(self, others: Sequence[Chunk]) -> bool:
        """Whether the others fit into this chunk as well. Those of too many files need not be measured."""
        if self.files + sum(lot.files for lot in others) > FILES:
            return False
        return self.size + sum(lot.measured().size for lot in others) <= BYTES

    @property
    def fullness(self) -> float:
        """How much it has of what a chunk may have; above 1 if its files belong together."""
        return max(self.files / FILES, self.size / BYTES)

    def measured(self) -> Chunk:
        """Look at its files, unless that was done before, and return it."""
        if not self._is_measured:
            self._is_measured = True
            for entry in self.entries:
                self.measure(entry.path)
        return self

    def measure(self, path: str) -> None:
        """Add the size and modification stamp of one of its files."""
        try:
            found = os.stat(path)  # noqa: PTH116  # one of thousands
        except OSError:
            return  # reading it reports the error
        self.size += found.st_size
        stamp = f"{path}\0{found.st_ino} {found.st_size} {found.st_mtime_ns}"
        self._stamp ^= int.from_bytes(_digest(stamp), "big")

    def key(self, names: Sequence[str]) -> str:
        """Return a key that changes if a file is changed, missing or added, or would be read differently."""
        entries = "\0".join(f"{entry.path}\0{entry.named}" for entry in self.entries)
        by = f"{version('fsbench-kit')} {VERSION} {names}"
        return _digest(f"{by} {self._stamp}\0{entries}").hex()


def _digest(text: str) -> bytes:
    return hashlib.blake2b(os.fsencode(text), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be read.

    Attributes
    ----------
    paths
        The given paths, with patterns replaced by their matches.
    files
        The number of files to be read.
    unread
        Diagnostics of folders that are not read: those met before under another name, and reports.
    chunks
        The chunks that `next_chunks` has yielded.
    """

    paths: list[str]
    files: int
    unread: list[Log]
    _lots: deque[Chunk]
    _expect: Callable[[int], None]
    chunks: list[Chunk] = field(default_factory=list)

    @classmethod
    @less_garbage_collection
    def of(cls, given: Iterable[Given], target: Path, expect: Callable[[int], None] = lambda _: None) -> Plan:
        """Plan the reading of the given paths, excluding the target folder.

        Parameters
        ----------
        given, target
            The paths, and the folder of the dataset.
        expect
            A function that is called with the number of other processes that are worthwhile, as soon and as far as
            it is known.

        Raises
        ------
        RequestError
            If something other than a path was given.
        """
        paths, lots = [], []
        search = _Search(target, expect)
        for item in flattened(*given):
            if not isinstance(item, Path):
                raise RequestError("only files and folders can be read in bulk", hint="Give paths.")
            if is_folder(target) and is_folder(item) and item.samefile(target):
                raise RequestError("a dataset cannot be read into itself", file=item, hint="Give its logs.")
            paths.append(str(item))
            lots += search.lots_at(item)
        families = deque(_families(lots))
        return cls(paths, sum(lot.files for lot in families), search.unread, families, expect)

    def next_chunks(self) -> Iterator[Chunk]:
        """Yield the chunks in order. Their files are only looked at now, while others can already read."""
        number, files, full = 0, 0, 0.0
        for chunk in _packed(self._lots):
            self.chunks.append(chunk)
            if chunk.files:  # otherwise its path does not exist
                number, files, full = number + 1, files + chunk.files, full + chunk.fullness
                share = files / self.files
                self._expect(min(int(full / share / _WORTH), int(number / share) - 1))
            yield chunk


class _Search:
    """Finds what can be read in files and folders; each folder is searched once, even if it has several names."""

    def __init__(self, target: Path, expect: Callable[[int], None]) -> None:
        self.unread: list[Log] = []
        self._expect = expect
        self._found = 0
        self._target = inode(target) if is_folder(target) else None
        self._seen: Seen = {}

    def lots_at(self, path: Path) -> list[Chunk]:
        """Return the chunks at a given path."""
        if not is_folder(path) or path.resolve() == Path(path.resolve().anchor):
            self._count(1)
            return [_alone(path, named=True)]
        if self._is_seen(path):
            return []
        return self._lots_in(path) or [_alone(path, named=True)]

    def _count(self, found: int) -> None:
        """Count what was found, to tell how many processes to expect."""
        self._found += found
        self._expect(self._found // (FILES * _WORTH))

    def _counted(self, found: Iterable[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
        """Yield the entries of a folder that are not hidden, and count each, so that processes start early."""
        for entry in found:
            if not entry.name.startswith("."):
                self._count(1)
                yield entry

    def _is_seen(self, folder: Path) -> bool:
        before = read_before(folder, self._seen)
        if before is not None:
            self.unread.append(before)
        return before is not None

    def _lots_in(self, folder: Path) -> list[Chunk]:
        """Return the chunks in a folder, combined into one if it is small."""
        if kernel_filesystem(folder) is not None:
            return [_alone(folder)]
        try:
            if is_study(folder) or is_launched(folder) or is_written(folder):
                return [_alone(folder)]
            with os.scandir(folder) as found:
                entries = sorted(self._counted(found), key=attrgetter("name"))
        except OSError:
            return [_alone(folder)]
        lots: list[Chunk] = []
        for entry in entries:
            lots += self._lots_of(entry)
        whole = Chunk()
        if not whole.has_room_for(lots):
            return lots
        for lot in lots:
            whole.take(lot)
        return [whole] if lots else []

    def _lots_of(self, entry: os.DirEntry[str]) -> list[Chunk]:
        try:
            if not entry.is_dir():
                return [_file(entry.path)]
            path = Path(entry.path)
            is_target = inode(path) == self._target
        except OSError:
            return [_file(entry.path)]  # reading it reports the error
        if is_target or self._is_seen(path):
            return []
        if is_report(path):
            self.unread.append(of_report(path))
            return []
        return self._lots_in(path)


def _alone(path: Path, *, named: bool = False) -> Chunk:
    """Return a chunk of one file, or of a folder with everything in it."""
    if not os.path.lexists(path):
        return Chunk([Entry(str(path), named)])  # reading it reports the error
    if not is_folder(path) or kernel_filesystem(path) is not None:
        return _file(str(path), named=named)
    chunk = Chunk([Entry(str(path), named)])
    for folder, _, names in os.walk(path):
        chunk.files += len(names)
        for name in sorted(names):
            chunk.measure(f"{folder}/{name}")
    return chunk


def _file(path: str, *, named: bool = False) -> Chunk:
    """Return a chunk of one file, or of a folder without what is in it."""
    return Chunk([Entry(path, named)], files=1, _is_measured=False)


_ENDINGS: Final = re.compile(r"(?:\.[A-Za-z]\w*)+$")


def _family(chunk: Chunk) -> tuple[str, str]:
    """Return what files that are read together share: their folder, and their name without its ending."""
    folder, _, name = chunk.entries[0].path.rpartition("/")
    prefix = LogName.of(name).prefix
    return folder, prefix if prefix != name else _ENDINGS.sub("", name)


def _families(lots: list[Chunk]) -> Iterable[Chunk]:
    """Combine chunks with the same name, at the place of the first one."""
    families: dict[object, Chunk] = {}
    for number, lot in enumerate(lots):
        key = _family(lot) if len(lot.entries) == 1 else number
        if key in families:
            families[key].take(lot)
        else:
            families[key] = lot
    return families.values()


def _packed(lots: deque[Chunk]) -> Iterator[Chunk]:
    """Combine chunks as long as they fit, taking them out of memory."""
    chunk = Chunk()
    while lots:
        lot = lots.popleft()
        if chunk.entries and not chunk.has_room_for([lot]):
            yield chunk
            chunk = Chunk()
        chunk.take(lot)
    if chunk.entries:
        yield chunk
