"""Divides rows into parts and says what each has: a ``group_by`` of whole numbers.

Runs are few, and a query of Polars takes as long as NumPy needs for thousands of them. Queries that remain are
made by ``select_seq`` and ``with_columns_seq``, which do not wake Polars' threads: that would take longer than the
work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsbench_kit.stats.result import Bools, Ints


def numbered(column: pl.Series) -> Ints:
    """Return a number for each value of a column, in order of appearance; -1 is null.

    Examples
    --------
    >>> import polars as pl
    >>> numbered(pl.Series(["b", None, "a", "b"])).tolist()
    [0, -1, 1, 0]
    """
    numbers: dict[object, int] = {None: -1}
    return np.array([numbers.setdefault(value, len(numbers) - 1) for value in column.to_list()], dtype=np.int64)


def ranked(times: NDArray[np.datetime64]) -> Ints:
    """Return the ranks of times from 0 on, equal for equal times; -1 is an unknown time."""
    known = ~np.isnat(times)
    ranks = np.full(times.shape, -1)
    ranks[known] = np.unique(times[known], return_inverse=True)[1]
    return ranks


class Parts:
    """Rows divided into parts, which are those with equal numbers in all of the given columns.

    Parameters
    ----------
    columns
        Numbers from -1 on.

    Attributes
    ----------
    of
        The part of each row; parts are in the order of their numbers.
    first
        The first row of each part.

    Examples
    --------
    >>> parts = Parts(np.array([7, 7, 3]), np.array([0, 0, 0]))
    >>> parts.of.tolist(), parts.size.tolist(), parts.any(np.array([True, False, False])).tolist()
    ([1, 1, 0], [1, 2], [False, True])
    """

    def __init__(self, *columns: Ints) -> None:
        key = np.zeros(columns[0].size, dtype=np.int64)
        for column in columns:
            key = key * (column.max(initial=-1) + 2) + column + 1
        _, self.first, self.of = np.unique(key, return_index=True, return_inverse=True)

    @classmethod
    def of_rows(cls, frame: pl.DataFrame) -> Parts:
        """Divide a frame into its equal rows."""
        return cls(np.unique(frame.hash_rows().to_numpy(), return_inverse=True)[1])

    @property
    def rows(self) -> list[Ints]:
        """The rows of each part."""
        return np.split(np.argsort(self.of, kind="stable"), self.size.cumsum()[:-1])

    @property
    def size(self) -> Ints:
        """The number of rows of each part."""
        return np.bincount(self.of, minlength=self.first.size)

    def count(self, flags: Bools) -> Ints:
        """Return how many rows of each part have a flag."""
        return np.bincount(self.of[flags], minlength=self.first.size)

    def any(self, flags: Bools) -> Bools:
        """Return which parts have a row with a flag."""
        return self.count(flags) > 0

    def all(self, flags: Bools) -> Bools:
        """Return which parts have no row without a flag."""
        return ~self.any(~flags)


def have_both(role: Ints, *of: Ints) -> Bools:
    """Return for each run whether both groups have one with the same numbers."""
    parts = Parts(*of)
    both: Bools = (parts.any(role == 0) & parts.any(role == 1))[parts.of]
    return both


def ranges(first: Ints, sizes: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the places of the rows of some parts that lie one after another, and the place of each in ``chosen``.

    Examples
    --------
    >>> first, sizes = np.array([0, 2]), np.array([2, 3])
    >>> places, of = ranges(first, sizes, np.array([1, 0]))
    >>> places.tolist(), of.tolist()
    ([2, 3, 4, 0, 1], [0, 0, 0, 1, 1])
    """
    n = sizes[chosen]
    of = np.repeat(np.arange(chosen.size), n)
    return np.arange(of.size) + (first[chosen] - n.cumsum() + n)[of], of


def stretches(values: NDArray[np.integer[Any]]) -> tuple[Ints, Ints]:
    """Return where stretches of equal values begin, and how long they are.

    Examples
    --------
    >>> starts, lengths = stretches(np.array([7, 7, 3, 7]))
    >>> starts.tolist(), lengths.tolist()
    ([0, 2, 3], [2, 1, 1])
    """
    another = np.ones(values.size, dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=another[1:])
    starts = np.flatnonzero(another)
    return starts, np.diff(starts, append=values.size)


def telling(measurements: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """Return the keys in which measurements differ, since grouping by the others would only cost time."""
    return differing(measurements, keys) or [keys[0]]


def differing(measurements: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """Return the columns in which measurements differ."""
    alike = measurements.select_seq(pl.col(key).eq_missing(pl.col(key).first()).all() for key in keys).row(0)
    return [key for key, same in zip(keys, alike, strict=True) if not same]
