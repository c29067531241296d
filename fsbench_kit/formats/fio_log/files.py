"""Identifies the log files of fio by their names and first bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

from fsbench_kit.formats.fio_log.histograms import Bins, recognise_histograms
from fsbench_kit.formats.fio_log.layout import Kind, LatencyUnit, Layout, LogName, recognise
from fsbench_kit.formats.fio_log.rows import Piece, strict_piece


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file of fio: how to open it, the parts of its name, and the columns or histogram bins of its rows.

    Attributes
    ----------
    rows, sha256
        All rows and the hash of the file, if its first bytes are all of it.
    """

    path: Path
    open: Callable[[], BufferedReader]
    name: LogName
    layout: Layout | None = None
    bins: Bins | None = None
    rows: Piece | None = field(default=None, compare=False, repr=False)
    sha256: str | None = None

    @property
    def kind(self) -> Kind | None:
        """The kind of its rows; ``None`` for histograms, and if it is unknown."""
        if self.name.kind is None and self.layout is not None and self.layout.counts_requests:
            return "iops"
        return self.name.kind

    @property
    def unit(self) -> LatencyUnit | None:
        """The unit in which the fio that wrote it logs latencies, if the file shows it."""
        if self.bins is not None:
            return self.bins.unit
        return self.layout.unit(self.kind) if self.layout is not None else None

    def is_of_requests(self, job: int | None) -> bool:
        """Whether it logs all single requests of a job."""
        return self.layout is not None and not self.layout.windowed and self.name.job == job


def log_of(path: Path, open_it: Callable[[], BufferedReader], head: bytes, *, is_whole: bool) -> LogFile | None:
    """Identify a log file of fio by its name and its first bytes; return ``None`` for other files.

    The head is the first `HEAD_SIZE` bytes, or the whole file.
    """
    if not _has_rows(head):
        return None
    layout, table = recognise(head, is_whole=is_whole)
    bins = recognise_histograms(head) if layout is None else None
    if layout is None and bins is None:
        return None
    name = LogName.of(path.name)
    if name.kind is None and layout is not None and not layout.in_sectors:
        return None  # whole numbers of some other kind
    rows = None
    if is_whole and layout is not None and table is not None:
        rows = strict_piece(head, table, layout)
    return LogFile(path, open_it, name, layout, bins, rows, hashlib.sha256(head).hexdigest() if is_whole else None)


def _has_rows(head: bytes) -> bool:
    """Whether there are enough commas for half of the lines to be rows, which have at least three."""
    commas = head.count(b",") + 2  # the last line may be cut off
    return 2 * commas > 3 * head.count(b"\n") or 2 * commas > 3 * sum(
        map(bool, map(bytes.strip, head.split(b"\n")))
    )
