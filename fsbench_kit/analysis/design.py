"""The design of a comparison: the sets of runs that form its groups, and what is known about these runs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import numpy as np
import polars as pl

from fsbench_kit.analysis.facts import TARGET, facts, others
from fsbench_kit.analysis.groups import ROLES, Groups
from fsbench_kit.analysis.parts import Parts, ranges
from fsbench_kit.analysis.settings import CELL
from fsbench_kit.analysis.units import NO_PLAN, Plan, in_units, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.data.dataset import Dataset


Answer = TypeVar("Answer")

OTHER: Final = "_candidate"
"""The suffix of the candidate's columns in frames that show both groups side by side."""


class Evidence:
    """What is known about the runs of a dataset besides their measurements; each question is answered once.

    Parameters
    ----------
    dataset
        The runs.
    factor
        What they are compared by; a difference in it is no confounder.
    """

    def __init__(self, dataset: Dataset, factor: str) -> None:
        self.factor = factor
        self._dataset = dataset
        self._answers: dict[Callable[[Dataset], pl.DataFrame], pl.DataFrame] = {}

    def of(self, question: Callable[[Dataset], pl.DataFrame]) -> pl.DataFrame:
        """Return the result of a function of the dataset, called only once."""
        if question not in self._answers:
            self._answers[question] = question(self._dataset)
        return self._answers[question]


class Design:
    """The groups of a comparison, with what is known about their runs.

    Many cells share their runs. What depends only on the runs is therefore determined per ``set`` of runs and per
    ``pair`` of sets; what depends on measurements, per ``group`` and per ``row``.

    Parameters
    ----------
    groups
        The groups and how they are paired.
    evidence
        What is known about the runs.
    over_cells
        Whether the groups span many cells, so that they naturally mix settings of the work, and also targets if
        each cell has its own.
    """

    def __init__(self, groups: Groups, evidence: Evidence, *, over_cells: bool = False) -> None:
        self.groups = groups
        self._over_cells = over_cells
        self.factor = evidence.factor
        self.of = evidence.of
        self._answers: dict[Callable[[Design], Any], Any] = {}
        _, self._of_set, number = np.unique(groups.table["runs"], return_index=True, return_inverse=True)
        self._set_of_group = number
        sets = number[groups.compared]
        distinct, pair = np.unique(sets @ [number.size, 1], return_inverse=True)
        self.pairs = pl.DataFrame(
            {
                "pair": np.arange(distinct.size),
                "baseline": distinct // number.size,
                "candidate": distinct % number.size,
            }
        )
        """The two sets of each pair, by number."""
        self.rows = pl.DataFrame({"row": np.arange(pair.size), "pair": pair})
        """The pair of each row."""

    @cached_property
    def members(self) -> pl.DataFrame:
        """The runs of each set: ``set`` and `_OF_MEMBERS`, with their ``start`` and ``end``."""
        places, sets = self.groups.places(self._of_set)
        # A run may have several figures in a group: those of its jobs, or of a sum.
        _, first = np.unique(self.groups.run[places] + sets.astype(np.uint64) * _APART, return_index=True)
        first.sort()
        runs = self.groups.measurements[_OF_MEMBERS][places[first]]
        runs.insert_column(0, pl.Series("set", sets[first]))
        # A log may state only one of the two times.
        length = pl.duration(microseconds=(1e6 * pl.col("duration")).round().cast(pl.Int64), time_unit="us")
        return runs.with_columns_seq(
            start=pl.coalesce("started_at", pl.col("ended_at") - length),
            end=pl.coalesce("ended_at", pl.col("started_at") + length),
        )

    @cached_property
    def units(self) -> pl.DataFrame:
        """The runs of each pair that take part, and their units: see `fsbench_kit.analysis.units.in_units`."""
        sets = np.column_stack([self.pairs[role].to_numpy() for role in ROLES]).ravel()
        sizes = np.bincount(self.members["set"].to_numpy(), minlength=self._of_set.size)
        place, of = ranges(sizes.cumsum() - sizes, sizes, sets)
        pair, role = pl.Series("pair", of // 2), pl.Series("role", of % 2, dtype=pl.Int32)
        return in_units(self.members[place].hstack([pair, role]))

    @cached_property
    def mixes(self) -> pl.DataFrame:
        """The settings that differ within a group: one row for each pair, key and value, see `_mixes`."""
        if self.known.is_empty():
            return _NO_MIXES
        known = self.known.filter(pl.col("key") != "host")
        if self._over_cells:
            several = self._with_several_targets(known).implode()
            known = known.filter(
                pl.col("kind") != "workload", (pl.col("key") != TARGET) | pl.col("run_id").is_in(several)
            )
        return _mixes(self.units, known) if known.height else _NO_MIXES

    def _with_several_targets(self, known: pl.DataFrame) -> pl.Series:
        """Return the runs of groups that have several targets within a cell."""
        return (
            self.groups.measurements.select("group", "run_id", *CELL)
            .join(known.filter(key=TARGET).select("run_id", target="value"), on="run_id")
            .filter(pl.col("target").n_unique().over("group", *CELL) > 1)["run_id"]
        )

    @cached_property
    def plan(self) -> Plan:
        """How the runs of each pair are compared."""
        units = self.units
        one = not units["unit"].count() and not units["round"].count() and units["launch"].n_unique() < 2
        pairs = Parts(units["pair"].to_numpy())
        whole = (pairs.size[pairs.of] == units["all"].to_numpy()).all()
        if one and whole and "strata" not in self.mixes["found"]:
            return NO_PLAN
        keys = self.mixes.filter(found="strata").select("pair", "key").unique(maintain_order=True)
        values = (
            self.of(facts).join(keys, on="key").join(self.units.select("pair", "run_id"), on=["pair", "run_id"])
        )
        strata = (
            values.sort("key")
            .group_by("pair", "run_id", maintain_order=True)
            .agg(stratum=pl.format("{} {}", "key", "value").str.join(", "))
        )
        return plan(self.units, strata)

    @cached_property
    def known(self) -> pl.DataFrame:
        """What is known about the runs besides the factor, see `fsbench_kit.analysis.facts`."""
        return self.of(facts).filter(others(self.factor))

    @cached_property
    def settings(self) -> pl.DataFrame:
        """The facts about each set of runs: ``set``, ``level``, ``key``, ``kind``, ``values``."""
        return (
            self.members.select("set", "level", "run_id")
            .join(self.known, on="run_id")
            .group_by("set", "level", "key", "kind")
            .agg(values=pl.col("value").unique().sort())
        )

    def once(self, question: Callable[[Design], Answer]) -> Answer:
        """Return the result of a function of the design, called only once."""
        if question not in self._answers:
            self._answers[question] = question(self)
        found: Answer = self._answers[question]
        return found

    @property
    def operations(self) -> pl.DataFrame:
        """The operations of each group, with ``metric`` and ``set``, the number of its set of runs."""
        number = pl.Series("set", self._set_of_group)
        of_groups = self.groups.table[["group", "metric", "operation"]].hstack([number])
        if self.groups.alike("operation").all():
            return of_groups
        several = self.groups.measurements.select("group", "operation").unique(maintain_order=True)  # of a sum
        return of_groups.drop("operation").join(several, on="group", maintain_order="left")

    def beside(self, of_sets: pl.DataFrame, *by: str, how: Literal["inner", "full"] = "inner") -> pl.DataFrame:
        """Join facts about the two sets of each pair side by side; the candidate's columns end in `OTHER`."""
        baseline, candidate = (
            self.pairs.select("pair", set=role).join(of_sets, on="set").drop("set") for role in ROLES
        )
        return baseline.join(candidate, on=["pair", *by], how=how, suffix=OTHER, coalesce=True)

    def of_pairs(self, of_sets: pl.DataFrame) -> pl.DataFrame:
        """Return facts about either set of each pair, the baseline's before the candidate's."""
        both = pl.concat(self.pairs.select("pair", set=role) for role in ROLES)
        return both.join(of_sets, on="set", maintain_order="left_right").drop("set")


_OF_MEMBERS: Final = [
    "level",
    "run_id",
    "host",
    "launch",
    "date",
    "boot",
    "round",
    "memory",
    "direct",
    "started_at",
    "ended_at",
    "duration",
]
_APART: Final = np.uint64(0x9E3779B97F4A7C15)
"""Keeps equal runs of different sets apart: any large odd number does."""

_NO_MIXES: Final = pl.DataFrame(
    schema=dict.fromkeys(("pair", "n_a", "n_b", "a", "b"), pl.Int64)
    | dict.fromkeys(("key", "kind", "value", "found"), pl.String)
)


def _mixes(units: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Count the values of settings that vary within a group, over the runs of both groups.

    Returns
    -------
    pl.DataFrame
        One row for each pair, key and value, which ``a`` of ``n_a`` and ``b`` of ``n_b`` runs have. ``found`` is
        the same for the whole key: ``balanced`` if both groups have each value equally often; ``within units`` if
        they do so only within each unit; ``strata`` if both groups have each value; otherwise ``unbalanced``.
    """
    runs = units[["pair", "role", "run_id", "unit"]]
    mixed = pl.col("value").n_unique().over("pair", "role", "key") > 1
    of_runs = runs.join(known, on="run_id", maintain_order="left").with_columns_seq(mixed=mixed)
    if not of_runs["mixed"].any():
        return _NO_MIXES
    a, b = (pl.col("role") == role for role in (0, 1))
    runs = runs.with_columns(
        n_a=a.sum().over("pair"),
        n_b=b.sum().over("pair"),
        u_a=a.sum().over("pair", "unit"),
        u_b=b.sum().over("pair", "unit"),
    )
    several = of_runs.filter(pl.col("mixed").any().over("pair", "key")).join(
        runs, on=["pair", "role", "run_id", "unit"], nulls_equal=True, maintain_order="left"
    )
    counts = [pl.col("n_a").first(), pl.col("n_b").first(), a.sum().alias("a"), b.sum().alias("b")]
    key = ["pair", "key", "kind"]
    in_units = several.group_by(*key, "unit", "value").agg(
        same=a.sum() * pl.col("u_b").first() == b.sum() * pl.col("u_a").first()
    )
    same = in_units.group_by(key).agg(pl.col("same").all())
    values = (
        several.group_by(*key, "value", maintain_order=True).agg(counts).join(same, on=key, maintain_order="left")
    )
    even = (pl.col("a") * pl.col("n_b") == pl.col("b") * pl.col("n_a")).all().over(key)
    both = ((pl.col("a") > 0) & (pl.col("b") > 0)).all().over(key)
    return values.with_columns(
        found=pl.when("same")
        .then(pl.when(even).then(pl.lit("balanced")).otherwise(pl.lit("within units")))
        .when(both)
        .then(pl.lit("strata"))
        .otherwise(pl.lit("unbalanced"))
    )
