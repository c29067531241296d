"""Arranges the runs of rows as two groups, in pairs or in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.groups import ROLES
from fsbench_kit.stats.values import Sample

if TYPE_CHECKING:
    from fsbench_kit.analysis.groups import Groups
    from fsbench_kit.stats.result import Bools, Floats, Ints


class Samples(NamedTuple):
    """Rows with the same layout, with the runs of their baseline and of their candidate."""

    rows: Ints
    a: Sample
    b: Sample

    def where(self, chosen: Bools) -> Samples:
        """Return some of the rows."""
        return self if chosen.all() else Samples(self.rows[chosen], self.a[chosen], self.b[chosen])

    def swapped(self) -> Samples:
        """Return the same rows with their groups exchanged."""
        return Samples(self.rows, self.b, self.a)

    @property
    def fewest(self) -> Ints:
        """The number of runs of the smaller group of each row."""
        return np.minimum(self.a.n, self.b.n)


class Sampler:
    """Selects the runs of rows and groups from an array of all values that is built once."""

    def __init__(self, groups: Groups, column: str = "value") -> None:
        self._runs = _unchecked(groups, column)
        with np.errstate(invalid="ignore", divide="ignore"):
            self._runs.log()  # once for all: a sample hands them on to what is selected from it
        self._groups = groups
        self._n = groups.table["n"].to_numpy()
        self._roles = [groups.pairs[role].to_numpy() for role in ROLES]

    @property
    def are_positive(self) -> Bools:
        """Whether all figures of each group are above 0; nan does not count as a figure."""
        return np.asarray((self._runs.values > 0).all(axis=-1))

    @property
    def sizes(self) -> list[Ints]:
        """The numbers of runs of the baseline and of the candidate of each row."""
        return [self._n[groups] for groups in self._roles]

    def of(self, rows: Ints) -> Samples:
        """Return the runs of both groups of some rows."""
        return Samples(rows, *(self.group(groups[rows]) for groups in self._roles))

    def group(self, groups: Ints) -> Sample:
        """Return the runs of some groups."""
        some: Ints | slice = groups
        if groups.size and (np.diff(groups) == 1).all():  # a view of consecutive groups costs nothing
            some = slice(groups[0], groups[-1] + 1)
        width = self._n[groups].max(initial=0)
        return self._runs[some, slice(width)]

    def mean_logs(self) -> tuple[Floats, Floats, Floats]:
        """Return the mean logarithms of each group's figures, and of the least and the greatest that print alike.

        They are not finite if a figure has no logarithm.
        """
        low, high = (_unchecked(self._groups, end).mean_log() for end in ("low", "high"))
        return self._runs.mean_log(), low, high

    def in_time(self, groups: Ints) -> Sample:
        """Return the runs of some groups in the order of their start times, which must all be known."""
        sample, times = self.group(groups), self._groups.measurements["started_at"]
        if times.is_sorted():
            return sample
        started, present = self._groups.by_group("started_at")
        ends_last = np.where(present, started, np.datetime64(2**62, "us"))
        order = ends_last[groups, : sample.values.shape[1]].argsort(axis=-1, kind="stable")
        return sample[np.arange(groups.size)[:, None], order]


def _unchecked(groups: Groups, column: str) -> Sample:
    """Return a column of all groups without checking it: rows that are estimated have values with a logarithm."""
    values, present = groups.by_group(column)
    values[~present] = 1.0
    return Sample(values, present)


def _as_sample(values: np.ma.MaskedArray[Any, np.dtype[np.float64]]) -> Sample:
    """Return values without checking them: rows that are estimated have no values without a logarithm."""
    return Sample(values.filled(1.0), np.asfortranarray(~np.ma.getmaskarray(values)))


def shared(planned: pl.DataFrame, by: str, *within: str, both: bool = True) -> pl.DataFrame:
    """Return the runs of both groups of each row in each block, by default only of blocks that have both."""
    a, b = (pl.col("value").filter(pl.col("role") == role) for role in range(len(ROLES)))
    blocks = planned.sort("row", by, maintain_order=True).group_by("row", by, *within, maintain_order=True)
    known = blocks.agg(a=a, b=b).select("row", "a", "b", unit=pl.col(within[0] if within else by).cast(pl.String))
    return known.filter(pl.col("a").list.len() > 0, pl.col("b").list.len() > 0) if both else known


def means_of(blocks: pl.DataFrame) -> pl.DataFrame:
    """Return the geometric mean of each group's runs in each block."""
    return blocks.with_columns(pl.col("a", "b").list.eval(pl.element().log()).list.mean().exp())


def independent(planned: pl.DataFrame) -> Samples:
    """Return the figures of both groups, in no particular order."""
    a, b = (pl.col("value").filter(pl.col("role") == role) for role in range(len(ROLES)))
    return of_blocks(planned.sort("row", maintain_order=True).group_by("row", maintain_order=True).agg(a=a, b=b))


def of_blocks(blocks: pl.DataFrame) -> Samples:
    """Return the figures of both groups, with those of a block at the same index."""
    by_row = blocks.group_by("row", maintain_order=True).agg(pl.col("a", "b").explode())
    of_a, of_b = (_as_sample(stats.ragged(by_row[name].to_list())) for name in ("a", "b"))
    return Samples(by_row["row"].to_numpy(), of_a, of_b)


def stacked(blocks: pl.DataFrame) -> Samples:
    """Return the runs of both groups with an axis of blocks: ``(rows, blocks, runs)``."""
    of_row = blocks.group_by("row", maintain_order=True).len()
    rows, sizes = (of_row[name].to_numpy().astype(np.int64) for name in ("row", "len"))
    place = np.repeat(np.arange(rows.size), sizes), np.concatenate([np.arange(size) for size in [0, *sizes]])

    def stack(name: str) -> Sample:
        runs = stats.ragged(blocks[name].to_list())
        shape = rows.size, int(sizes.max(initial=0)), runs.shape[-1]
        stacked = np.ma.MaskedArray(np.ones(shape), mask=np.ones(shape, dtype=np.bool_))
        stacked[place] = runs
        return _as_sample(stacked)

    return Samples(rows, stack("a"), stack("b"))
