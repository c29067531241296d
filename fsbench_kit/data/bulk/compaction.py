"""Merges small files of a dataset into larger ones, so that scanning stays fast when much is appended."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.data.bulk.storage import read_rows, write_rows
from fsbench_kit.data.written import stamped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MANY: Final = 64
"""The number of small files in a partition from which on they are merged. A query opens one in 0.2 ms."""
SMALL: Final = 2**16
"""A file with fewer rows is small. Up to twice as many are in memory at once, which bytes would not limit."""


def compacted(files: Mapping[str, Sequence[str]], folder: Path) -> dict[str, list[str]]:
    """Merge the files of partitions with many small ones, and return the files that now hold the same rows.

    Parameters
    ----------
    files
        The files of each frame, relative to the dataset's folder.
    """
    stamp = stamped()
    return {frame: list(_of_frame(frame, paths, folder, stamp)) for frame, paths in files.items()}


def _of_frame(frame: str, paths: Sequence[str], folder: Path, stamp: str) -> Iterator[str]:
    partitions: dict[PurePath, list[str]] = defaultdict(list)
    for path in paths:
        partitions[PurePath(path).parent].append(path)
    for partition, own in partitions.items():
        sizes = dict(zip(own, _rows(folder / path for path in own), strict=True))
        small = [path for path in own if sizes[path] < SMALL]
        if len(small) < MANY:
            yield from own
            continue
        yield from (path for path in own if sizes[path] >= SMALL)
        for number, lot in enumerate(_lots(small, sizes)):
            new = partition / f"{stamp}compacted-{number:04}.parquet"
            write_rows(frame, read_rows(frame, lot, folder), folder / new)
            yield str(new)


def _rows(paths: Iterable[Path]) -> Iterator[int]:
    """Yield the number of rows in each file."""
    for found in pl.collect_all([pl.scan_parquet(path, glob=False).select(pl.len()) for path in paths]):
        yield found.item()


def _lots(paths: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield groups of files to merge."""
    lot: list[str] = []
    for path in paths:
        if lot and sum(sizes[each] for each in (*lot, path)) > 2 * SMALL:
            yield lot
            lot = []
        lot.append(path)
    if lot:
        yield lot
