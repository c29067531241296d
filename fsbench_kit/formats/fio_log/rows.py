"""Reads the rows of fio's log files, in pieces or lazily.

Pieces whose lines are all as fio prints them are parsed at once; others line by line, with a regular expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fsbench_kit.formats.fio_log.layout import OPERATIONS, Kind, LatencyUnit, Layout, base_units
from fsbench_kit.formats.fio_log.strict import Column, strict_columns

PIECE_SIZE: Final = 2**23
"""The size in bytes of the pieces that are held in memory."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive rows of a log.

    Attributes
    ----------
    columns
        Integers in fio's own units, by the names of the layout's columns.
    lines
        The line number of each row.
    unread
        Lines that are not rows: their number and text.
    ends
        Whether the last line is terminated.
    is_strict
        Whether all lines are rows.
    """

    columns: Mapping[str, Column]
    lines: Column
    unread: Sequence[tuple[int, str]] = ()
    ends: bool = True
    is_strict: bool = False

    def groups(self) -> Iterator[tuple[int, bool, NDArray[np.bool_]]]:
        """Yield each direction, whether its rows are windows or single requests, and a mask of these rows."""
        keys = 2 * self.columns["direction"] + (self.columns["block_size"] == 0)
        for key in np.flatnonzero(np.bincount(keys)).tolist():
            yield key // 2, bool(key % 2), keys == key


def pieces(file: BinaryIO, layout: Layout) -> Iterator[Piece]:
    """Yield all rows of a log in pieces."""
    line = 1
    while lines := file.read(PIECE_SIZE) + file.readline():
        piece = _piece(lines, layout, line)
        yield piece
        line += len(piece.lines) if piece.is_strict else lines.count(b"\n")


def strict_piece(lines: bytes, table: Sequence[Column], layout: Layout, first_line: int = 1) -> Piece | None:
    """Return lines as rows, given their columns by `strict_columns`; ``None`` unless all of them are rows."""
    columns = dict(zip(layout.columns, table, strict=False))
    if len(table) != len(layout.columns) or columns["direction"].max() >= len(OPERATIONS):
        return None
    numbers = np.arange(first_line, first_line + len(table[0]))
    return Piece(columns, numbers, ends=lines.endswith(b"\n"), is_strict=True)


def _piece(lines: bytes, layout: Layout, first_line: int) -> Piece:
    table = strict_columns(lines)
    strict = strict_piece(lines, table, layout, first_line) if table is not None else None
    if strict is not None:
        return strict
    rows = scan_rows(lines, layout, first_line).collect()
    read = rows.filter(pl.col("unread").is_null())
    unread = rows.filter(pl.col("unread").is_not_null())
    columns = {name: read[name].to_numpy() for name in layout.columns}
    return Piece(columns, read["line"].to_numpy(), unread.select("line", "unread").rows(), lines.endswith(b"\n"))


_OPTIONAL: Final = ("largest", "offset", "priority", "issue_time")


def scan_lines(source: Path | bytes, first_line: int = 1) -> pl.LazyFrame:
    """Return the numbers and texts of the lines of a file lazily; the text of an empty line is null."""
    return pl.scan_csv(
        source,
        has_header=False,
        quote_char=None,
        separator="\0",
        schema={"text": pl.String},
        encoding="utf8-lossy",
        truncate_ragged_lines=True,
        row_index_name="line",
        row_index_offset=first_line,
    )


def scan_rows(source: Path | bytes, layout: Layout, first_line: int = 1) -> pl.LazyFrame:
    """Return the rows of a log lazily, as integers in fio's own units; lines are counted from `first_line`.

    A line that is not a row has nulls, and its text in ``unread``. Empty lines are omitted.
    """
    whole = [pl.col(name).cast(pl.Int64, strict=False) for name in layout.columns if name != "priority"]
    if "priority" in layout.columns:
        words = pl.col("priority")
        hexadecimal = words.str.strip_prefix("0x").str.to_integer(base=16, strict=False)
        whole.append(
            pl.when(words.str.starts_with("0x")).then(hexadecimal).otherwise(words.cast(pl.Int64, strict=False))
        )
    read = pl.all_horizontal(pl.col(layout.columns).is_not_null())
    return (
        scan_lines(source, first_line)
        .filter(pl.col("text").str.strip_chars() != "")
        .with_columns(pl.col("text").str.extract_groups(layout.pattern).alias("cells"))
        .unnest("cells")
        .with_columns(whole)
        .with_columns(unread=pl.when(~read).then("text"))
        .with_columns(pl.when(read).then(pl.col(layout.columns)))
        .with_columns(pl.lit(None, pl.Int64).alias(name) for name in _OPTIONAL if name not in layout.columns)
        .drop("text")
    )


def scaled_rows(rows: pl.LazyFrame, kind: Kind, unit: LatencyUnit | None) -> pl.LazyFrame:
    """Return rows with values in base units, times in seconds, and the names of operations."""
    factor = (
        pl.when(pl.col("block_size") == 0)
        .then(base_units(kind, unit, windowed=True))
        .otherwise(base_units(kind, unit, windowed=False))
    )
    return rows.with_columns(
        pl.col("time") / 1000,
        pl.col("value") * factor,
        pl.col("largest") * factor,
        pl.col("issue_time") / 10**9,
        operation=operation_of(pl.col("direction")),
    )


def operation_of(direction: pl.Expr) -> pl.Expr:
    """Return the names of directions."""
    return direction.replace_strict(range(len(OPERATIONS)), OPERATIONS, return_dtype=pl.Enum(OPERATIONS))
