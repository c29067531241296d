"""fio's histogram logs: rows of counts, the bounds of their bins, and percentiles of merged histograms."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil
from pathlib import Path
from typing import Final

import polars as pl

from fsbench_kit.formats.fio_log.layout import OPERATIONS, LatencyUnit
from fsbench_kit.formats.fio_log.rows import operation_of, scan_lines
from fsbench_kit.model.errors import InputError, check_given

_BINS_PER_GROUP: Final = 64
_GROUPS: Final[dict[LatencyUnit, int]] = {"us": 19, "ns": 29}
"""The number of groups of bins, one per octave: in fio 2.x, and since 3.0 (``FIO_IO_U_PLAT_GROUP_NR``)."""
_COARSEST: Final = 6
_PER_SECOND: Final[dict[LatencyUnit, int]] = {"us": 10**6, "ns": 10**9}
_KEYS: Final = 3
"""The number of columns before the counts: time, direction, block size."""

_ROW: Final = re.compile(r"\s*\d{1,40}(?:\s*,\s*\d{1,40}){21,}\s*")

_PER_MS: Final = 10**6
"""The maximum number of requests per ms: a job issues one after the other, each taking at least 1 ns."""
_MOST_REQUESTS: Final = 2**53
"""A run with this many requests, one per ns, would have taken 104 days."""


@dataclass(frozen=True, slots=True)
class Bins:
    """The bins of a histogram log: the unit of their bounds, and the number of fio's bins that each merges."""

    unit: LatencyUnit
    stride: int

    @property
    def number(self) -> int:
        """The number of bins in a row."""
        return _GROUPS[self.unit] * _BINS_PER_GROUP // self.stride

    def bounds(self) -> pl.DataFrame:
        """Return ``low`` and ``high`` of each bin, in seconds; the last bin has no upper end."""
        edges = [_floor(index) for index in range(0, self.number * self.stride + 1, self.stride)]
        # The bounds of a bin that contains a single integer are that integer, as for percentiles and JSON bins.
        highs = [low if high == low + 1 else high for low, high in pairwise(edges)]
        per_second = _PER_SECOND[self.unit]
        return pl.DataFrame(
            {
                "low": [low / per_second for low in edges[:-1]],
                "high": [*(high / per_second for high in highs[:-1]), None],
            },
            schema={"low": pl.Float64, "high": pl.Float64},
        )


def _floor(index: int) -> int:
    """Return the smallest value in a bin of fio, as in ``plat_idx_to_val`` in its ``stat.c``.

    >>> _floor(127), _floor(128), _floor(192)
    (127, 128, 256)
    """
    if index < 2 * _BINS_PER_GROUP:
        return index
    shift = index // _BINS_PER_GROUP - 1
    return (_BINS_PER_GROUP + index % _BINS_PER_GROUP) << shift


_BINS: Final = {
    bins.number + _KEYS: bins
    for bins in (Bins(unit, 1 << coarseness) for unit in _GROUPS for coarseness in range(_COARSEST + 1))
}
"""Number of columns -> bins; the numbers are unique."""


def recognise_histograms(head: bytes) -> Bins | None:
    """Return the bins of a histogram log, given the first bytes of a file; ``None`` for other files.

    The last line may be cut off, including a single line that is longer than the head.
    """
    lines = [line for line in head.decode("utf-8", errors="replace").split("\n") if line.strip()]
    rows = [line for line in lines if _ROW.fullmatch(line)]
    if not rows or 2 * len(rows) < len(lines):
        return None
    number = Counter(row.count(",") + 1 for row in rows).most_common(1)[0][0]
    return _BINS.get(number)


def scan_counts(path: Path, bins: Bins) -> pl.LazyFrame:
    """Return the counts of a histogram log with known bins; see `scan_fio_histograms`."""
    cells = pl.col("text").str.replace_all(r"\s", "").str.split(",")
    cell = pl.col("cells").list
    requests = cell.slice(_KEYS).list.eval(pl.element().cast(pl.Float64)).list.sum()

    def of_row(cells: pl.Expr) -> pl.Expr:
        return pl.when("is_row").then(cells).otherwise(pl.lit([None], dtype=pl.List(pl.Int64)))

    bounds = {
        column.name: pl.lit(column.to_list(), dtype=pl.List(pl.Float64)) for column in bins.bounds().iter_columns()
    }
    return (
        scan_lines(path)
        .filter(pl.col("text").str.strip_chars() != "")
        .with_columns(cells.list.eval(pl.element().cast(pl.Int64, strict=False)).alias("cells"))
        .with_columns(
            is_row=(cell.drop_nulls().list.len() == bins.number + _KEYS)
            & (cell.len() == bins.number + _KEYS)
            & (cell.min() >= 0)
            & (cell.get(1, null_on_oob=True) < len(OPERATIONS))
            & (requests <= (cell.get(0, null_on_oob=True).cast(pl.Float64) + 1) * _PER_MS)
        )
        .with_columns(cells=pl.when("is_row").then("cells"))
        .select(
            "line",
            time=cell.get(0) / 1000,
            operation=operation_of(cell.get(1)),
            block_size=cell.get(2),
            **{name: of_row(column) for name, column in bounds.items()},
            count=of_row(cell.slice(_KEYS)),
            unread=pl.when(~pl.col("is_row")).then("text"),
        )
        .explode("low", "high", "count")
        .filter((pl.col("count") > 0) | pl.col("unread").is_not_null())
    )


def why_unread(line: str, bins: Bins) -> str:
    """Explain why a line of a histogram log was not read."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != bins.number + _KEYS or not all(cell.isdecimal() for cell in cells):
        return "This line is not a row of the log."
    time, direction, _, *counts = map(int, cells)
    if direction >= len(OPERATIONS):
        return f"This line is not a row of the log: there is no direction {direction}."
    return f"The row counts {sum(counts)} requests, more than a job can make in {time} ms."


def merged_histogram(histograms: pl.LazyFrame | Sequence[pl.LazyFrame]) -> pl.DataFrame:
    """Add up the windows of histograms, possibly of several jobs.

    Parameters
    ----------
    histograms
        Results of `scan_fio_histograms`, for logs with the same bins.

    Returns
    -------
    polars.DataFrame
        ``operation``, ``low``, ``high``, ``count``, in the order of the bins.

    Raises
    ------
    InputError
        If there are more requests than a run can make.

    Examples
    --------
    >>> import tempfile, fsbench_kit as fsb
    >>> counts = [0] * 700 + [3] + [0] * 1155
    >>> with tempfile.NamedTemporaryFile("w", suffix="_clat_hist.1.log") as log:
    ...     print("1000, 0, 4096", *counts, sep=", ", file=log, flush=True)
    ...     windows = fsb.scan_fio_histograms(log.name)
    ...     fsb.merged_histogram([windows, windows]).rows()
    [('read', 6.3488e-05, 6.4e-05, 6)]
    """
    frames = list(histograms) if isinstance(histograms, Sequence) else [histograms]
    for frame in frames or (histograms,):
        check_given(frame, pl.LazyFrame, "fsb.scan_fio_histograms(path)")
    merged = (
        pl.concat(frames)
        .filter(pl.col("unread").is_null())
        .group_by("operation", "low", "high")
        .agg(pl.col("count").cast(pl.Int128).sum())
        .sort("operation", "low")
        .collect(engine="streaming")
    )
    total = merged["count"].sum()
    if total > _MOST_REQUESTS:
        raise InputError(f"the histograms count {total} requests, more than any run can make")
    return merged.cast({"count": pl.Int64})


def percentile_bins(counts: Sequence[int], percentiles: Iterable[float]) -> Iterator[tuple[float, int]]:
    """Yield percentiles with the index of their bin: the first up to which that share of values is reached.

    Examples
    --------
    >>> list(percentile_bins([1, 8, 1], [50, 99]))
    [(50, 1), (99, 2)]
    """
    reached = list(accumulate(counts))
    if not reached:
        return
    for percentile in percentiles:
        yield percentile, bisect_left(reached, rank_of(percentile, reached[-1]))


def rank_of(percentile: float, number: int) -> int:
    """Return the rank of a percentile among a number of values, counted from 1."""
    # Same arithmetic as fio: 99.9 is slightly above 99.9 in binary, so that of 2000 values it is the 1999th.
    return max(1, ceil(Fraction(percentile) / 100 * number))
