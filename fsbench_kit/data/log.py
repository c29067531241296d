"""A file as a source of runs: its records, with what is known of them from outside the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Literal

from fsbench_kit.data.files import opened
from fsbench_kit.data.fio_logs import log_file
from fsbench_kit.documents import Contents, read_file
from fsbench_kit.model.records import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from fsbench_kit.formats.fio_log import LogFile
    from fsbench_kit.model.records import Record, Setting

StudyOrigin = Literal["published", "recorded", "launched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A file's records, with what is known of them from outside the file.

    Attributes
    ----------
    source
        The file's path, as people name it.
    name
        Its path within its study.
    data
        The file's bytes, or those of them in which runs stand, which identify the runs.
    settings
        Settings that hold for every run of the file, from the study or the launch.
    filesystem_settings
        Settings that hold for the runs on one filesystem.
    tool_version, filesystem, ...
        Facts that stand in for what the log itself does not say.
    """

    source: str
    name: str | None = None
    data: bytes | Contents = b""
    records: Sequence[Record] = ()
    study: str | None = None
    origin: StudyOrigin | None = None
    stage: str | None = None
    round: int | None = None
    order: int | None = None
    target: str | None = None
    workload: str | None = None
    tool_version: str | None = None
    filesystem: str | None = None
    host: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    duration: float | None = None
    status: str | None = None
    exit_code: int | None = None
    averaged_over: int | None = None
    settings: tuple[Setting, ...] = ()
    filesystem_settings: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FioLog(Log):
    """A log file of fio, which is one of those of its run, and is not held in memory."""

    file: LogFile


def log_with(path: Path, code: str, message: str) -> Log:
    """Return what is to be said of a file or folder that gives no run."""
    return Log(source=str(path), records=[Diagnostic(code=code, message=message)])


def read_log(path: Path, *, may_be_pipe: bool = False) -> Log:
    """Read a file; a FIFO only where it may be one. What keeps it from being read is said in the log."""
    fio_log = log_file(path)
    if fio_log is not None:
        return FioLog(source=str(path), file=fio_log)
    try:
        file = opened(path, may_be_pipe=may_be_pipe)
    except OSError as error:
        return _unreadable(str(path), error)
    with file:
        return read_open(file, str(path))


def read_open(file: BinaryIO, source: str) -> Log:
    """Read an open file of a name."""
    try:
        data, records = read_file(file, source)
    except OSError as error:
        return _unreadable(source, error)
    return Log(source=source, data=data, records=records)


def _unreadable(source: str, error: OSError) -> Log:
    message = f"The file cannot be read: {error.strerror or error}."
    return Log(source=source, records=[Diagnostic(code="UNREADABLE", message=message)])


def is_fio_log(path: Path) -> bool:
    """Whether a path is that of a log file of fio."""
    return path.is_file() and log_file(path) is not None
