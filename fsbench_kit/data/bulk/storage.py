"""Files of rows that a query can skip parts of: sorted, in row groups whose statistics say what they contain."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.data.written import write_frame
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SORTED_BY: Final = {"measurements": ("metric", "statistic", "operation"), "settings": ("key",)}
"""Rows that are queried together are stored together, except in files of one row group, which is read whole."""

_ROW_GROUP: Final = 2**14
"""The number of rows in a row group. With half as many, files are a tenth larger; with more, queries skip less."""


def write_rows(name: str, rows: pl.DataFrame, path: Path) -> None:
    """Write rows of a frame to a file that survives a loss of power."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if name in _SORTED_BY and rows.height > _ROW_GROUP:
        rows = _sorted(rows, _SORTED_BY[name])
    write_frame(rows, path, row_group=_ROW_GROUP)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _sorted(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Sort rows by columns with few distinct values, which are faster to group than to sort."""
    groups = rows.select(names).with_row_index("row").group_by(names).agg("row").sort(names)
    return rows.rechunk()[groups["row"].explode()]  # rows are picked faster from one piece


def read_rows(name: str, files: Sequence[str], folder: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a frame, or some columns of it, from several files in a folder."""
    schema = {key: kind for key, kind in SCHEMAS[name].items() if columns is None or key in columns}
    if not files:
        return pl.DataFrame(schema=schema)
    paths = [folder / path for path in files]
    return pl.read_parquet(paths, columns=list(schema), glob=False, hive_partitioning=False)
