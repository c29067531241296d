"""The design of a comparison: the sets of runs that its groups are made of, and what is known of these runs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import polars as pl

from fsbench_kit.analysis.groups import SIDES
from fsbench_kit.analysis.settings import known

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.analysis.groups import Groups
    from fsbench_kit.data.dataset import Dataset


OTHER: Final = "_candidate"
"""What ends the names of the candidate's columns where both groups' stand side by side."""


class Evidence:
    """What is known of the runs of a dataset besides their measurements; each question is answered once.

    Parameters
    ----------
    dataset
        The runs.
    factor
        What they are compared by: its own difference is no confounder.
    """

    def __init__(self, dataset: Dataset, factor: str) -> None:
        self.factor = factor
        self._dataset = dataset
        self._answers: dict[Callable[[Dataset], pl.DataFrame], pl.DataFrame] = {}

    def of(self, question: Callable[[Dataset], pl.DataFrame]) -> pl.DataFrame:
        """Return what a function finds in the dataset."""
        if question not in self._answers:
            self._answers[question] = question(self._dataset)
        return self._answers[question]


class Design:
    """The groups of a comparison, with what is known of their runs.

    Many cells share their runs, so what depends on the runs alone is asked of each ``set`` of them, and found of
    each ``pair`` of sets; what depends on measurements is asked of each ``group``, and found of each ``row``.

    Parameters
    ----------
    groups
        Who stands with whom.
    evidence
        What is known of the runs.
    """

    def __init__(self, groups: Groups, evidence: Evidence) -> None:
        self.groups = groups
        self.factor = evidence.factor
        self.of = evidence.of
        _, self._of_set, number = np.unique(groups.table["runs"], return_index=True, return_inverse=True)
        sets = np.stack([number[groups.pairs[side].to_numpy()] for side in SIDES], axis=-1)
        distinct, pair = np.unique(sets @ [number.size, 1], return_inverse=True)
        self.pairs = pl.DataFrame(
            {
                "pair": np.arange(distinct.size),
                "baseline": distinct // number.size,
                "candidate": distinct % number.size,
            }
        )
        """The numbers of the two sets of each pair."""
        self.rows = pl.DataFrame({"row": np.arange(pair.size), "pair": pair})
        """The pair of each row."""

    @cached_property
    def members(self) -> pl.DataFrame:
        """The runs of each set: columns ``set``, ``level``, ``run_id``."""
        places, sizes = self.groups.places(self._of_set)
        runs = self.groups.measurements.select("level", "run_id")[places]
        numbers = pl.Series("set", np.repeat(np.arange(sizes.size), sizes))
        return runs.insert_column(0, numbers).unique(maintain_order=True)

    @cached_property
    def settings(self) -> pl.DataFrame:
        """What is known of the runs of each set: columns ``set``, ``level``, ``key``, ``values``."""
        return (
            self.members.join(self.of(known), on="run_id")
            .group_by("set", "level", "key")
            .agg(values=pl.col("value").unique().sort())
        )

    def beside(self, of_sets: pl.DataFrame, *by: str, how: Literal["inner", "full"] = "inner") -> pl.DataFrame:
        """Set what is found of the sets of each pair side by side; columns of the candidate end in `OTHER`."""
        baseline, candidate = (
            self.pairs.select("pair", set=side).join(of_sets, on="set").drop("set") for side in SIDES
        )
        return baseline.join(candidate, on=["pair", *by], how=how, suffix=OTHER, coalesce=True)

    def of_pairs(self, of_sets: pl.DataFrame) -> pl.DataFrame:
        """Return what is found of either set of each pair, the baseline's before the candidate's."""
        sides = pl.concat(self.pairs.select("pair", set=side) for side in SIDES)
        return sides.join(of_sets, on="set", maintain_order="left_right").drop("set")
