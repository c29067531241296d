"""fio's log files on disk: opened safely, recognised by their first bytes, read lazily."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from fsbench_kit.data.files import opened, path_given
from fsbench_kit.formats.fio_log import HEAD_SIZE, Kind, LogFile, log_of
from fsbench_kit.formats.fio_log.histograms import recognise_histograms, scan_counts
from fsbench_kit.formats.fio_log.layout import LATENCY_KINDS, LogName, latency_unit, recognise
from fsbench_kit.formats.fio_log.rows import scaled_rows, scan_rows
from fsbench_kit.model.errors import InputError, RequestError

if TYPE_CHECKING:
    import polars as pl


def log_file(path: Path) -> LogFile | None:
    """Return which kind of fio log a file is, judging by its first bytes, or ``None`` if it is none."""
    try:
        head, is_whole = _head(path)
    except OSError:
        return None
    return log_of(path, partial(opened, path), head, is_whole=is_whole)


def _head(path: Path) -> tuple[bytes, bool]:
    """Return the first bytes of a file, and whether they are all of it.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    with opened(path) as file:
        head = file.read(HEAD_SIZE)
        return head, os.fstat(file.fileno()).st_size <= len(head)


def _readable_head(path: Path) -> tuple[bytes, bool]:
    try:
        return _head(path)
    except OSError as error:
        raise InputError(f"the log cannot be read: {error.strerror or error}", file=path) from error


def scan_fio_log(path: str | Path, kind: Kind | None = None, *, fio_version: str | None = None) -> pl.LazyFrame:
    """Lazily read a log that fio wrote with ``write_bw_log``, ``write_iops_log`` or ``write_lat_log``.

    Parameters
    ----------
    path
        The log, of any size.
    kind
        The kind of its values: ``bw``, ``iops``, ``lat``, ``clat`` or ``slat``. Required if the file name does not
        tell.
    fio_version
        The fio version that wrote it (``3.33``), which determines the unit of latencies. Required unless the rows
        tell: they do if they have a priority, or if latencies in µs would exceed the duration of the run.

    Returns
    -------
    polars.LazyFrame
        ``line``; ``time`` (s); ``value`` (s, B/s or 1/s; 1 in an IOPS log of single requests); ``largest`` (the
        largest value of a window, with ``log_window_value=both``); ``operation``; ``block_size`` (0 in a window);
        ``offset``, ``priority`` and ``issue_time`` (s), which are null unless fio logged them. Lines that are not
        rows have nulls, and their text in ``unread``.

    Raises
    ------
    InputError
        If the file is not such a log.
    RequestError
        If `kind` or `fio_version` is required.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> run = "raw_results/recorded/latency-loop-2026/005-xfs-randwrite-4k"
    >>> rows = fsb.scan_fio_log(f"{run}/fio_clat.1.log", fio_version="3.33")
    >>> rows.select("time", "operation", "block_size").first().collect().rows()
    [(0.1, 'write', 0)]
    """
    path = path_given(path)
    head, is_whole = _readable_head(path)
    layout, _ = recognise(head, is_whole=is_whole)
    if layout is None:
        raise InputError(
            "this is not a fio log of bandwidth, IOPS or latency",
            file=path,
            hint="Histogram logs are read by scan_fio_histograms, reports by read.",
        )
    kind = kind or LogName.of(path.name).kind
    if kind is None:
        raise RequestError(
            "the name of the log does not say what it contains",
            file=path,
            hint=f"Give kind: {', '.join(get_args(Kind))}.",
        )
    unit = latency_unit(fio_version) or layout.unit(kind)
    if kind in LATENCY_KINDS and unit is None:
        raise RequestError(
            "nothing in the log states whether its latencies are in ns or in µs",
            file=path,
            hint='Give fio_version, for example fio_version="3.33": ns since fio 3.0, µs before.',
        )
    return scaled_rows(scan_rows(path, layout), kind, unit).select(
        "line",
        "time",
        "value",
        "largest",
        "operation",
        "block_size",
        "offset",
        "priority",
        "issue_time",
        "unread",
    )


def scan_fio_histograms(path: str | Path) -> pl.LazyFrame:
    """Lazily read a log that fio wrote with ``write_hist_log``.

    Parameters
    ----------
    path
        The log, from fio 2.x or 3.x, with any coarseness.

    Returns
    -------
    polars.LazyFrame
        For each window and bin with a count: ``line``; ``time`` (s) of the end of the window; ``operation``;
        ``block_size``; ``low`` and ``high`` of the bin (s), where the last bin has no ``high``; ``count``. Lines
        that are not rows, or that count more requests than their time allows, have nulls, and their text in
        ``unread``.

    Raises
    ------
    InputError
        If the file is not such a log.

    Examples
    --------
    >>> import tempfile, fsbench_kit as fsb
    >>> counts = [0] * 700 + [3] + [0] * 1155
    >>> with tempfile.NamedTemporaryFile("w", suffix="_clat_hist.1.log") as log:
    ...     print("1000, 0, 4096", *counts, sep=", ", file=log, flush=True)
    ...     fsb.scan_fio_histograms(log.name).select("operation", "low", "high", "count").collect().rows()
    [('read', 6.3488e-05, 6.4e-05, 3)]
    """
    path = path_given(path)
    bins = recognise_histograms(_readable_head(path)[0])
    if bins is None:
        raise InputError("this is not a histogram log of fio", file=path, hint="Other logs: scan_fio_log.")
    return scan_counts(path, bins)
