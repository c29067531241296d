"""Reads many files at a time: undamaged small logs together, and every other file by itself."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.data.columns import (
    BELONGING,
    DIAGNOSTICS,
    FILE,
    RUN,
    RUNS,
    Columns,
    FileRecords,
)
from fsbench_kit.data.files import Stamp, descriptor_of, opened
from fsbench_kit.data.garbage import less_garbage_collection
from fsbench_kit.documents import NO_BREAK, no_break_spaces, read_file
from fsbench_kit.formats import FORMATS, clean, fio_formats
from fsbench_kit.formats.clean import CleanLogs
from fsbench_kit.formats.fio_log import HEAD_SIZE, LogFile, log_of
from fsbench_kit.model.records import Diagnostic

if TYPE_CHECKING:
    from fsbench_kit.data.columns import Part


class File(NamedTuple):
    """A file to read.

    Attributes
    ----------
    path, open
        Its path; or an open file, and its name as path.
    may_be_pipe
        Whether it may be a FIFO.
    is_found
        Whether it was found in a folder, where files other than logs are to be expected.
    stamp
        The stamp of the file when it was found, if known; then it was a regular file.
    """

    path: str
    open: BinaryIO | None = None
    may_be_pipe: bool = False
    is_found: bool = False
    stamp: Stamp | None = None


class Read(NamedTuple):
    """What was read of a file: a part of columns, and the fio log file that it is, if any.

    The stamp is that of the file when it was read, and is only given if any change would alter it.
    """

    part: Part
    fio_log: LogFile | None
    stamp: Stamp | None


@dataclass(frozen=True, slots=True)
class Batch:
    """What was read of some files, by file number; see `Read`."""

    columns: Columns
    fio_logs: dict[int, LogFile]
    stamps: dict[int, Stamp]

    def files(self, number: int) -> Iterator[Read]:
        """Yield what was read of each file, given how many there are."""
        for file, part in enumerate(self.columns.files(number)):
            yield Read(part, self.fio_logs.get(file), self.stamps.get(file))


@less_garbage_collection
def read_batch(files: Sequence[File]) -> Batch:
    """Read some files. One that cannot be read gets a diagnostic."""
    return _Found(files).batch()


@less_garbage_collection
def read_together(files: Sequence[File]) -> tuple[Batch, list[int]]:
    """Read those of some files that can be read together, and return the numbers of the others."""
    found = _Found(files, alone=False)
    return found.batch(), found.left


@less_garbage_collection
def read_one_by_one(files: Sequence[File]) -> Batch:
    """Read files that cannot be read together."""
    return _Found(files, together=False).batch()


_MOST: Final = 2**18
"""Files of at least this many bytes are not read together with others."""

_ROW: Final = re.compile(rb"\s*\d+\s*,\s*\d+\s*,")
"""The usual beginning of fio log files."""

_PLAIN: Final = bytes(range(32, 127)) + b"\t\n"
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_LONG: Final = b"0" * 19
"""A number that may be too large for an integer column."""


def _is_plain(data: bytes) -> bool:
    """Whether a file is text in which nothing but its words and no-break spaces can need repair.

    For JSON, the readers that know what belongs between its numbers decide this themselves.
    """
    if data.startswith(b"{"):
        return data.isascii()
    others = data.translate(None, _PLAIN)
    if others and len(others) != len(NO_BREAK) * data.count(NO_BREAK):
        return False
    return _LONG not in data.translate(_DIGITS)


_Content = tuple[int, bytes]
"""The number and bytes of a file."""


def _beginning(descriptor: int, size: int) -> bytes:
    """Return the first bytes of a file; the buffer is sized to fit, since allocating a large one is slow."""
    data = piece = os.read(descriptor, min(size + 1, _MOST))
    while piece and len(data) != size and len(data) < _MOST:  # the file has changed, or hides its size
        piece = os.read(descriptor, _MOST - len(data))
        data += piece
    return data


class _Found:
    """What was found in files so far: plain texts still to be read, and what was read of other files.

    Parameters
    ----------
    files
        The files.
    together, alone
        Whether to read files together where possible, and whether to read the others.

    Attributes
    ----------
    left
        The numbers of the files that were not read.
    """

    def __init__(self, files: Sequence[File], *, together: bool = True, alone: bool = True) -> None:
        self._files = files
        self._is_together = together
        self._is_alone = alone
        self.left: list[int] = []
        self.fio_logs: dict[int, LogFile] = {}
        self.stamps: dict[int, Stamp] = {}
        self._records: list[FileRecords] = []
        self._plain: list[_Content] = []
        self._documents: list[Columns] = []

    def batch(self) -> Batch:
        """Read the files, and return what was read."""
        self._read_documents()
        return Batch(self._columns_of_all(), self.fio_logs, self.stamps)

    def _read_documents(self) -> None:
        """Read the files that may be JSON together, and note or read the others.

        The text of JSON is taken from the disk when it is needed, so that little of it is held at a time.
        """
        texts: dict[int, bytes] = {}
        spans: dict[int, _Span] = {}

        def documents() -> Iterator[int]:
            for number, file in enumerate(self._files):
                if (data := self._json(number, file)) is not None:
                    texts[number] = data
                    yield number

        def is_read(number: int, end: int, line_ends: int) -> None:
            spans[number] = _Span(_hash(texts.pop(number), 0, end), line_ends)

        left: Iterable[int] = documents()
        for each in FORMATS:
            if (together := getattr(each, "together", None)) is not None:
                logs, left = together(texts, left, is_read)
                if logs is not None:
                    self._documents.append(_columns(logs, range(max(spans) + 1), spans))
        for number in left:
            self._add_left(number, texts.pop(number))

    def _json(self, number: int, file: File) -> bytes | None:
        """Return the text of a file if it may be JSON; otherwise note or read it."""
        try:
            if file.open is not None:
                self._read_now(number, file.open)
                return None
            descriptor, found = descriptor_of(
                file.path, may_be_pipe=file.may_be_pipe, was_regular=file.stamp is not None
            )
            try:
                return self._json_in(number, descriptor, found)
            finally:
                os.close(descriptor)
        except OSError as error:
            message = f"The file cannot be read: {error.strerror or error}."
            self._records.append(FileRecords(number, [Diagnostic(code="UNREADABLE", message=message)], b""))
            return None

    def _json_in(self, number: int, descriptor: int, found: os.stat_result) -> bytes | None:
        """Return the text of an open file from the disk if it may be JSON; otherwise note or read it."""
        if (stamp := Stamp.of(found)) is None:  # a pipe can only be opened once
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                self._read_now(number, file)
            return None
        if stamp.is_certain(time_ns()):
            self.stamps[number] = stamp
        data = _beginning(descriptor, found.st_size)
        if self._is_together and data and len(data) < _MOST and not _ROW.match(data) and _is_plain(data):
            if data.startswith(b"{"):
                return data
            self._plain.append((number, data))
        elif data and len(data) < _MOST:
            self._add_left(number, data)
        elif not self._is_fio_log(number, data):
            if data:
                os.lseek(descriptor, 0, os.SEEK_SET)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                self._read(number, file)
        return None

    def _is_fio_log(self, number: int, data: bytes) -> bool:
        """Whether a file is a fio log file, judging by its first bytes."""
        path = Path(self._files[number].path)
        found = log_of(path, partial(opened, path), data[:HEAD_SIZE], is_whole=len(data) <= HEAD_SIZE)
        if found is not None:
            self.fio_logs[number] = found
        return found is not None

    def _add_left(self, number: int, data: bytes) -> None:
        """Read or leave a file, given all of its content."""
        if not self._is_fio_log(number, data):
            self._read(number, io.BytesIO(data))

    def _read(self, number: int, file: BinaryIO) -> None:
        """Read or leave an open file."""
        if self._is_alone:
            self._read_now(number, file)
        else:
            self.left.append(number)

    def _read_now(self, number: int, file: BinaryIO) -> None:
        """Read an open file by itself."""
        data, records = read_file(file, self._files[number].path)
        self._records.append(FileRecords(number, records, data))

    def _columns_of_all(self) -> Columns:
        """Read the files that were only noted so far, and return the columns of all."""
        several = self._of_several_formats()
        if self._plain:
            found, left = clean.read([data.decode("utf-8") for _, data in self._plain])
            several += self._columns(self._plain, [found], left)
        several += self._documents
        if self._records:
            several.append(Columns.of(self._records))
        return Columns.stacked(several).by_file()

    def _of_several_formats(self) -> list[Columns]:
        """Read the files that contain one run in several formats."""
        given = [file for file in self._plain if fio_formats.may_hold(file[1])]
        if not given:
            return []
        self._plain = [file for file in self._plain if not fio_formats.may_hold(file[1])]
        return self._columns(given, *fio_formats.read([data.decode("utf-8") for _, data in given]))

    def _columns(
        self, files: Sequence[_Content], found: Iterable[CleanLogs | None], left: Iterable[int]
    ) -> list[Columns]:
        """Return the columns of the logs that were found, and read the remaining files one by one."""
        for index in left:
            self._add_left(*files[index])
        numbers, contents = [number for number, _ in files], [data for _, data in files]
        return [_of_texts(logs, numbers, contents) for logs in found if logs is not None]


class _Span(NamedTuple):
    """What is kept of the text of a run: its hash, and its number of line ends."""

    sha256: str
    line_ends: int

    @classmethod
    def of(cls, data: bytes, start: int, end: int) -> _Span:
        """Return this for a run that is a part of a text."""
        return cls(_hash(data, start, end), data.count(b"\n", start, end))


def _hash(data: bytes, start: int, end: int) -> str:
    return hashlib.sha256(memoryview(data)[start:end]).hexdigest()


def _of_texts(logs: CleanLogs, numbers: Sequence[int], contents: Sequence[bytes]) -> Columns:
    """Return undamaged logs as columns, given the numbers and contents of their files."""
    places = list(zip(*(logs.runs[name].to_list() for name in ("log", "start", "end")), strict=True))
    spans = {index: _Span.of(contents[index], start, end) for index, start, end in places}
    columns = _columns(logs, numbers, spans)
    odd = [(index, (start, end)) for index, start, end in places if not contents[index].isascii()]
    if not odd:
        return columns
    found = no_break_spaces([contents[index] for index, _ in odd], [place for _, place in odd])
    known = found._asdict() | {FILE: [numbers[odd[number][0]] for number in found.number]}
    nothing = [None] * len(found.number)
    of_spaces = pl.DataFrame({name: known.get(name, nothing) for name in DIAGNOSTICS}, schema=DIAGNOSTICS)
    return replace(columns, diagnostics=pl.concat([columns.diagnostics, of_spaces]))


def _columns(logs: CleanLogs, numbers: Sequence[int], spans: Mapping[int, _Span]) -> Columns:
    """Return undamaged logs as columns, given the numbers of their files and their spans."""
    indexes = logs.runs["log"].to_numpy()
    files = np.array(numbers)
    row_of = np.zeros(len(files), dtype=np.int64)
    row_of[indexes] = np.arange(len(indexes))
    own = [spans[index] for index in indexes.tolist()]
    of_files = {
        FILE: pl.Series(FILE, files[indexes]),
        "sha256": pl.Series([span.sha256 for span in own], dtype=pl.String),
        "last_line": logs.runs["line"] + pl.Series([span.line_ends for span in own], dtype=pl.Int64),
    }
    belonging = {
        frame: _typed(found, schema, {RUN: pl.Series(RUN, row_of[found["log"].to_numpy()])})
        for frame, schema in BELONGING.items()
        if (found := getattr(logs, frame, None)) is not None
    }
    of_diagnostics = {FILE: pl.Series(FILE, files[logs.diagnostics["log"].to_numpy()])}
    return Columns(
        runs=_typed(logs.runs, RUNS, of_files),
        **belonging,
        too_large=pl.DataFrame(schema=BELONGING["too_large"]),
        diagnostics=_typed(logs.diagnostics, DIAGNOSTICS, of_diagnostics),
    )


def _typed(frame: pl.DataFrame, schema: pl.Schema, more: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Return columns of a frame, replaced or extended by others, cast to a schema; faster than a Polars query."""
    columns = {name: more[name] if name in more else frame[name] for name in schema}
    return pl.DataFrame(
        [
            (column if column.dtype == schema[name] else column.cast(schema[name])).alias(name)
            for name, column in columns.items()
        ]
    )
