"""What a log file of fio is, by its name and its head."""

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
    """A log file of fio: how it is opened, its name's parts, and its rows' columns or its histograms' bins.

    Attributes
    ----------
    rows, sha256
        All of them, and the file's hash, if its head was all of the file.
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
        """What its rows hold; ``None`` for histograms, and where nothing tells."""
        if self.name.kind is None and self.layout is not None and self.layout.counts_requests:
            return "iops"
        return self.name.kind

    @property
    def unit(self) -> LatencyUnit | None:
        """The unit in which the fio that wrote it logs latencies, if the file tells it."""
        if self.bins is not None:
            return self.bins.unit
        return self.layout.unit(self.kind) if self.layout is not None else None

    def is_of_requests(self, job: int | None) -> bool:
        """Whether it is a log of all single requests of a job."""
        return self.layout is not None and not self.layout.windowed and self.name.job == job


def log_of(path: Path, open_it: Callable[[], BufferedReader], head: bytes, *, is_whole: bool) -> LogFile | None:
    """Tell by a file's name and head what kind of log of fio it is; ``None`` where it is none.

    The head is its first `HEAD_SIZE` bytes, which may be all of it.
    """
    if not _has_rows(head):
        return None
    layout, table = recognise(head, is_whole=is_whole)
    bins = recognise_histograms(head) if layout is None else None
    if layout is None and bins is None:
        return None
    name = LogName.of(path.name)
    if name.kind is None and layout is not None and not layout.in_sectors:
        return None  # whole numbers of something else
    rows = None
    if is_whole and layout is not None and table is not None:
        rows = strict_piece(head, table, layout)
    return LogFile(path, open_it, name, layout, bins, rows, hashlib.sha256(head).hexdigest() if is_whole else None)


def _has_rows(head: bytes) -> bool:
    """Whether there are commas enough for half of the lines to be rows, which have three at least."""
    commas = head.count(b",") + 2  # the last line may be cut
    return 2 * commas > 3 * head.count(b"\n") or 2 * commas > 3 * sum(
        map(bool, map(bytes.strip, head.split(b"\n")))
    )
