"""Reads files: in this process or, where that is faster, also in an executor."""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING, Final

from fsbench_kit.data.batches import read_batch, read_one_by_one, read_together
from fsbench_kit.data.sharing import shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from fsbench_kit.data.batches import Batch, File, Read


def read_files(files: Sequence[File], executor: Executor | None = None) -> list[Read]:
    """Read files. An executor takes some of many files, and of few those that have to be read one by one."""
    if executor is None or any(file.open is not None for file in files):
        batches = list(_batches(files, TOGETHER, _BYTES))
        return _reads(batches, list(map(read_batch, batches)))
    if len(files) < ENOUGH and sum(map(_size, files)) < ENOUGH_BYTES:
        return _read_few(files, executor)
    return _read_many(files, executor)


TOGETHER: Final = 4096
"""The maximum number of files in a batch."""

_BYTES: Final = 2**26
"""The maximum size of a batch in bytes; what is read of them takes several times as much memory."""

ENOUGH: Final = 20_000
ENOUGH_BYTES: Final = 2**26
"""Below both limits, batches are not handed to an executor: processes start and return results too slowly."""

_SHARE: Final = 1000
_SHARE_BYTES: Final = 2**24
"""How much a process should read at a time: every batch first reads some logs of each kind one by one."""


def _size(file: File) -> int:
    """Return the size of a file in bytes; 0 if it is not known before it is read."""
    if file.stamp is not None:
        return file.stamp.size
    try:
        return os.stat(file.path).st_size if file.open is None else 0  # noqa: PTH116  # one of thousands
    except OSError:
        return 0


def _batches(files: Sequence[File], most: int, most_bytes: int) -> Iterator[list[File]]:
    """Yield files in batches of limited length and size."""
    batch: list[File] = []
    size = 0
    for file in files:
        own = _size(file)
        if batch and (len(batch) == most or size + own > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += own
    if batch:
        yield batch


def _read_many(files: Sequence[File], executor: Executor) -> list[Read]:
    """Read files in large batches."""
    shares = max(len(files) // _SHARE, sum(map(_size, files)) // _SHARE_BYTES, _PROCESSORS)
    number = min(shares, 4 * _PROCESSORS)
    batches = list(_batches(files, min(TOGETHER, -(-len(files) // number)), _BYTES))
    return _reads(batches, _in_parallel(executor, read_batch, batches, at_once=len(batches)))


def _read_few(files: Sequence[File], executor: Executor) -> list[Read]:
    """Read the files that can be read together, then the others."""
    read: list[Read] = []
    left: list[int] = []
    for some in _batches(files, TOGETHER, _BYTES):
        batch, of_batch = read_together(some)
        left += (len(read) + number for number in of_batch)
        read += batch.files(len(some))
    lots = list(_batches([files[number] for number in left], _LOT, _LOT_BYTES))
    for number, each in zip(left, _reads(lots, _read_one_by_one(lots, executor)), strict=True):
        read[number] = each
    return read


_LOT: Final = 16
_LOT_BYTES: Final = 2**16
"""How many files are read one by one in a call, and how many bytes: most calls take a tenth of a second."""


def _read_one_by_one(lots: Sequence[Sequence[File]], executor: Executor) -> list[Batch]:
    """Read files here, and also in an executor as soon as the others are known to take long."""
    read: list[Batch] = []
    started = monotonic()
    for number, lot in enumerate(lots):
        left = (monotonic() - started) / number * (len(lots) - number) if number else 0
        if left > _WORTH:  # a pool starts as many processes as there are calls, so that these should be few
            return read + _in_parallel(executor, read_one_by_one, lots[number:], at_once=2 * int(left / _WORTH))
        read.append(read_one_by_one(lot))
    return read


_WORTH: Final = 1.5
"""For this many seconds of work an executor is worthwhile; its processes may still have to start."""

_PROCESSORS: Final = os.cpu_count() or 1


def _in_parallel(
    executor: Executor, work: Callable[[Sequence[File]], Batch], lots: Sequence[Sequence[File]], *, at_once: int
) -> list[Batch]:
    found = dict(shared(executor, lambda: at_once, work, ((lot,) for lot in lots), here=work))
    return [found[number] for number in range(len(lots))]


def _reads(lots: Sequence[Sequence[File]], batches: Sequence[Batch]) -> list[Read]:
    return [read for lot, batch in zip(lots, batches, strict=True) for read in batch.files(len(lot))]
