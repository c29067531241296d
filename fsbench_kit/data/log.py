"""A file as a source of runs: what was read of it, and what is known about it from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fsbench_kit.data.fio_logs import log_file
from fsbench_kit.formats.fio_log import LogFile
from fsbench_kit.model.records import Block, Diagnostic, Record, Setting

if TYPE_CHECKING:
    from fsbench_kit.data.columns import Part

StudyOrigin = Literal["published", "recorded", "launched"]


@dataclass(slots=True, kw_only=True)  # one is made for each file, and of frozen ones that takes five times as long
class Log:
    """What was read of a file, and what is known about its runs from outside the file.

    Attributes
    ----------
    source
        The path of the file, as given by the user.
    name
        Its path within its study.
    part
        What was read of the file.
    records, data, sha256
        Alternatively, records made from the file, and the bytes that identify their runs or the hash of these.
    settings
        Settings of all runs in the file, from the study or the launch.
    filesystem_settings
        Settings of the runs on each filesystem.
    beside
        Series that were measured beside the first of its runs.
    tool_version, filesystem, ...
        Facts that apply if the log itself does not state them.
    """

    source: str
    name: str | None = None
    part: Part | None = None
    records: Sequence[Record] = ()
    data: bytes = b""
    sha256: str | None = None
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
    beside: tuple[Block, ...] = ()
    filesystem_settings: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)

    @property
    def has_runs(self) -> bool:
        """Whether the file has any run."""
        return self.part is not None and len(self.part.runs) > 0


@dataclass(slots=True, kw_only=True)
class FioLog(Log):
    """A log file of fio, one of possibly several of its run, which is not held in memory."""

    file: LogFile

    @property
    def has_runs(self) -> bool:
        """Whether the file has any run; fio log files always do."""
        return True


def log_with(path: Path | str, code: str, message: str) -> Log:
    """Return a log that consists of one diagnostic about a file or folder without runs."""
    return Log(source=str(path), records=[Diagnostic(code=code, message=message)])


def is_fio_log(path: Path) -> bool:
    """Whether a path is that of a fio log file."""
    return path.is_file() and log_file(path) is not None
