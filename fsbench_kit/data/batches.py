"""Reads files, many at a time: undamaged small logs together, and every other file by itself."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit.data.columns import BELONGING, DIAGNOSTICS, FILE, RUN, RUNS, Columns, FileRecords
from fsbench_kit.data.files import opened
from fsbench_kit.data.log import FioLog, Log
from fsbench_kit.documents import read_file
from fsbench_kit.formats import clean
from fsbench_kit.formats.fio_log import HEAD_SIZE, log_of
from fsbench_kit.model.records import Diagnostic
from fsbench_kit.model.units import MOST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.formats.clean import CleanLogs
    from fsbench_kit.formats.fio_log import LogFile


class File(NamedTuple):
    """A file that is to be read.

    Attributes
    ----------
    path, open
        Its path; or an open file and its name.
    may_be_pipe
        Whether it may be a FIFO.
    is_found
        Whether it merely stands in a folder, where other files than logs are to be expected.
    """

    path: str
    open: BinaryIO | None = None
    may_be_pipe: bool = False
    is_found: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """What was read of some files, by their numbers: columns, and which of them are log files of fio."""

    columns: Columns
    fio_logs: dict[int, LogFile]


def read_files(files: Sequence[File]) -> list[Log]:
    """Read files; what keeps one from being read is said in its log."""
    logs: list[Log] = []
    for start in range(0, len(files), TOGETHER):
        some = files[start : start + TOGETHER]
        batch = read_batch(some)
        parts = batch.columns.files(len(some))
        for number, (file, part) in enumerate(zip(some, parts, strict=True)):
            fio_log = batch.fio_logs.get(number)
            logs.append(
                Log(source=file.path, part=part) if fio_log is None else FioLog(source=file.path, file=fio_log)
            )
    return logs


TOGETHER: Final = 1024
"""So many files are read together."""


def read_batch(files: Sequence[File]) -> Batch:
    """Read some files together."""
    found = _Found()
    for number, file in enumerate(files):
        try:
            if file.open is not None:
                found.add_read(number, file.open, file.path)
            else:
                with opened(Path(file.path), may_be_pipe=file.may_be_pipe) as content:
                    found.add(number, content, file.path)
        except OSError as error:
            message = f"The file cannot be read: {error.strerror or error}."
            unreadable = Diagnostic(code="UNREADABLE", message=message)
            found.records.append(FileRecords(number, [unreadable], b""))
    return Batch(found.columns(), found.fio_logs)


_MOST: Final = 2**18
"""A file of so many bytes is no log that is read together with others."""

_PLAIN: Final = bytes(range(32, 127)) + b"\t\n"
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_TOO_LONG: Final = b"0" * MOST_DIGITS


def _is_plain(data: bytes) -> bool:
    """Whether a file is text in which nothing can need repair but its words, and no JSON."""
    return (
        not data.translate(None, _PLAIN) and _TOO_LONG not in data.translate(_DIGITS) and not data.startswith(b"{")
    )


class _Found:
    """What was found in files so far: plain texts that are still to be read, and what was read of others."""

    def __init__(self) -> None:
        self.records: list[FileRecords] = []
        self.fio_logs: dict[int, LogFile] = {}
        self._plain: list[tuple[int, bytes, str]] = []

    def add(self, number: int, file: io.BufferedReader, source: str) -> None:
        """Take in an open file of the disk."""
        if not file.seekable():
            self.add_read(number, file, source)
            return
        data = file.read(_MOST)
        head = data[:HEAD_SIZE]
        path = Path(source)
        fio_log = (
            log_of(path, partial(opened, path), head, is_whole=len(data) <= HEAD_SIZE) if b"," in head else None
        )
        if fio_log is not None:
            self.fio_logs[number] = fio_log
        elif len(data) < _MOST and _is_plain(data):
            self._plain.append((number, data, source))
        elif len(data) < _MOST:
            self.add_read(number, io.BytesIO(data), source)
        else:
            file.seek(0)
            self.add_read(number, file, source)

    def add_read(self, number: int, file: BinaryIO, source: str) -> None:
        """Read an open file by itself."""
        data, records = read_file(file, source)
        self.records.append(FileRecords(number, records, data))

    def columns(self) -> Columns:
        """Read what is left to be read, and return all of it."""
        found, left = clean.read([data.decode("ascii") for _, data, _ in self._plain])
        for index in left:
            number, data, source = self._plain[index]
            self.add_read(number, io.BytesIO(data), source)
        numbers = [number for number, _, _ in self._plain]
        contents = [data for _, data, _ in self._plain]
        several = [_columns(name, logs, numbers, contents) for name, logs in found.items()]
        if self.records:
            several.append(Columns.of(self.records))
        return Columns.stacked(several).by_file()


def _columns(name: str, logs: CleanLogs, numbers: Sequence[int], contents: Sequence[bytes]) -> Columns:
    """Return undamaged logs of a format, which have the numbers and contents of files."""
    indexes = logs.runs["log"].to_numpy()
    row_of = np.zeros(len(numbers), dtype=np.int64)
    row_of[indexes] = np.arange(len(indexes))
    own = [
        contents[index][start:end]
        for index, start, end in zip(indexes, logs.runs["start"], logs.runs["end"], strict=True)
    ]
    runs = logs.runs.with_columns(
        pl.Series(FILE, np.array(numbers)[indexes]),
        format=pl.lit(name),
        sha256=pl.Series([hashlib.sha256(data).hexdigest() for data in own], dtype=pl.String),
        last_line=pl.col("line") + pl.Series([data.count(b"\n") for data in own], dtype=pl.Int64),
    )
    belonging = {
        frame: _typed(
            getattr(logs, frame).with_columns(pl.Series(RUN, row_of[getattr(logs, frame)["log"].to_numpy()])),
            schema,
        )
        for frame, schema in BELONGING.items()
        if frame != "too_large"
    }
    return Columns(
        runs=_typed(runs, RUNS),
        **belonging,
        too_large=pl.DataFrame(schema=BELONGING["too_large"]),
        diagnostics=pl.DataFrame(schema=DIAGNOSTICS),
    )


def _typed(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
