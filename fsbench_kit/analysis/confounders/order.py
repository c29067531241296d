"""Confounders from when the runs were made: one group after the other, at the same time, or unknown."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.confounders.entry import NOTHING, confounder
from fsbench_kit.analysis.groups import ROLES
from fsbench_kit.analysis.parts import Parts, have_both, numbered, ranked

if TYPE_CHECKING:
    from fsbench_kit.analysis.design import Design
    from fsbench_kit.stats.result import Bools, Floats, Ints


@confounder(
    "BLOCKED_ORDER",
    "verdict withheld",
    "One group ran before the other, or they hardly alternated: drift cannot be told apart from the effect.",
)
def _in_blocks(design: Design) -> pl.DataFrame:
    """Find launches in which one group finished before the other began, or the groups hardly alternate."""
    runs = design.once(timed)
    pairs = Parts(runs.pair)
    known = runs.of(pairs.all(runs.at >= 0)[pairs.of])
    ordered = known.of(np.lexsort((known.at, known.launch, known.pair)))
    launches = Parts(ordered.pair, ordered.launch)
    first = ordered.of(launches.first)
    a, b = (launches.count(ordered.role == role) for role in range(len(ROLES)))
    changes = (np.diff(ordered.role, prepend=0) != 0) & (np.diff(launches.of, prepend=-1) == 0)
    turns = 1 + launches.count(changes)
    both = (a > 0) & (b > 0)
    first, a, b, turns = first.of(both), a[both], b[both], turns[both]
    if not a.size:
        return NOTHING
    pairs, chance = Parts(first.pair), _few_alternations(a, b, turns)
    apart = pairs.all(turns == 2)
    one_way = ~(pairs.any(first.role == 0) & pairs.any(first.role == 1))
    several = np.minimum(*(np.add.reduceat(runs_of, pairs.first) for runs_of in (a, b))) > 1
    # Days with one run of each group alternate as rounds do, whichever group comes first.
    by_day = pairs.all(first.is_dated & (a + b == 2))
    in_one_way = 2 * np.multiply.reduceat(chance / 2, pairs.first) <= _SEPARATE
    in_any_way = np.multiply.reduceat(chance, pairs.first) < _RARE
    in_one = pairs.size * np.minimum.reduceat(chance, pairs.first) < _RARE
    found = (apart & one_way & several & ~by_day & in_one_way) | (apart & in_any_way) | in_one
    return _pairs(first.pair[pairs.first][found])


def _few_alternations(a: Ints, b: Ints, turns: Ints) -> Floats:
    """Return the chance that so many runs of both groups in random order alternate as little as these."""
    chance = functools.cache(stats.few_alternations_p)
    return np.array([chance(*order) for order in zip(a.tolist(), b.tolist(), turns.tolist(), strict=True)])


_SEPARATE: Final = 0.34
"""The largest chance, in random order, that one group came first in all launches: that of two runs of each."""

_RARE: Final = 0.01
"""The chance below which runs in random order would not alternate as little as they do."""


@confounder(
    "ONE_BOOT",
    "verdict withheld",
    "A group was run in a single boot, in which the other group was not run: the difference between boots cannot "
    "be told apart from the effect.",
)
def _in_one_boot(design: Design) -> pl.DataFrame:
    """Find pairs of groups that share no boot, where one group has a single boot."""
    if not design.units["boot"].count():
        return NOTHING
    a, b = (pl.col("boot").filter(pl.col("role") == role).n_unique() for role in (0, 1))
    return (
        design.units.drop_nulls("boot")
        .group_by("pair", maintain_order=True)
        .agg(runs=pl.len(), a=a, b=b)
        .filter(pl.col("runs") > 2, pl.min_horizontal("a", "b") == 1)
        .select(
            "pair",
            text=pl.format(
                "The groups were run in different boots, {} against {}: run each group in three boots or more.",
                "a",
                "b",
            ),
        )
    )


@confounder(
    "SEPARATE_DATES",
    "verdict withheld",
    "The groups were run on different dates, one after the other or nearly so: the difference between days cannot "
    "be told apart from the effect.",
)
def _on_separate_dates(design: Design) -> pl.DataFrame:
    """Find pairs of groups that share no date, unless the groups alternate by date, and name the dates."""
    if not design.units["date"].count():
        return NOTHING
    a, changes = pl.col("role") == 0, pl.col("role") != pl.col("role").shift()
    dates = (
        design.units.filter(pl.col("date").is_not_null().all().over("pair"), pl.col("launches") == 0)
        .select("pair", "role", "date")
        .unique()
        .sort("pair", "date", "role")
    )
    own = [pl.col("date").filter(own) for own in (a, ~a)]
    by_pair = dates.group_by("pair", maintain_order=True).agg(
        a=a.sum().cast(pl.Int64),
        b=(~a).sum().cast(pl.Int64),
        runs=1 + changes.sum().cast(pl.Int64),
        first=_some(own[0]),
        second=_some(own[1]),
    )
    few = (pl.min_horizontal("a", "b") == 1) | (pl.col("runs") == 2)
    chance = pl.Series(_few_alternations(*(by_pair[name].to_numpy() for name in ("a", "b", "runs"))))
    return by_pair.filter(few | (chance < _RARE)).select(
        "pair", text=pl.format("The groups were run on different dates: {} against {}.", "first", "second")
    )


def _some(dates: pl.Expr) -> pl.Expr:
    """Name up to three dates."""
    more = pl.when(dates.len() > 3).then(pl.lit(", ...")).otherwise(pl.lit(""))
    return dates.head(3).str.join(", ") + more


@confounder("CONCURRENT_RUNS", "verdict withheld", "Runs of the two groups overlapped in time.")
def _concurrent(design: Design) -> pl.DataFrame:
    return _pairs(design.once(_overlapping)[0])


@confounder(
    "MAY_BE_CONCURRENT",
    "footnote",
    "Runs of the groups overlapped in time, and their hosts are not known: on one machine, they slow each other.",
)
def _perhaps_concurrent(design: Design) -> pl.DataFrame:
    return _pairs(design.once(_overlapping)[1])


def _overlapping(design: Design) -> tuple[Ints, Ints]:
    """Find pairs with a run that must have begun before all earlier ones of the other group on its host had ended.

    Returns
    -------
    known, unknown
        The pairs with such a run on a known host, and on an unknown one.
    """
    units = design.units
    pair, role, host = units["pair"].to_numpy(), units["role"].to_numpy(), numbered(units["host"])
    # Whole seconds are printed without their fraction: the run began up to almost a second later.
    printed = pl.coalesce("started_at", "ended_at")
    fraction = pl.when(printed.dt.truncate("1s") == printed).then(_ALMOST_A_SECOND).otherwise(pl.duration())
    begun = units.select_seq(pl.col("start") + fraction).to_series()
    start, end = ranked(np.stack([begun.to_numpy(), units["end"].to_numpy()]))
    order = np.lexsort((end, start, host, pair))
    order = order[(start[order] >= 0) & (end[order] >= 0)]
    pair, role, host, start, end = (column[order] for column in (pair, role, host, start, end))
    # Each host of a pair has a range of its own, in which the latest end so far is found for all at once.
    base = Parts(pair, host).of * (end.max(initial=0) + 2)
    latest = [np.maximum.accumulate(base + np.where(role == own, end, -1)) - base for own in range(len(ROLES))]
    overlaps = start < np.where(role == 1, *latest)
    return pair[overlaps & (host >= 0)], pair[overlaps & (host < 0)]


_ALMOST_A_SECOND: Final = pl.duration(microseconds=999_999)


def _pairs(found: Ints) -> pl.DataFrame:
    return pl.DataFrame({"pair": np.unique(found)}) if found.size else NOTHING


@confounder(
    "NOT_IN_TURN",
    "footnote",
    "It is not known when the runs were made, so drift cannot be told apart from the effect.",
)
def _untimed(design: Design) -> pl.DataFrame:
    """Find pairs of groups of several runs whose order is unknown from either times or rounds."""
    runs = design.once(timed)
    return _pairs(runs.pair[(runs.at < 0) & ~runs.is_in_round])


class Timed(NamedTuple):
    """Runs of pairs with several runs in both groups.

    Attributes
    ----------
    pair, role, launch
        The number of the pair, that of the group and one for the launch.
    at
        The rank of the time at which the run began or ended; -1 if it is unknown, or a run of the other group in
        the same launch has the same time.
    is_in_round, is_dated
        Whether the run's round and date are known.
    """

    pair: Ints
    role: Ints
    launch: Ints
    at: Ints
    is_in_round: Bools
    is_dated: Bools

    def of(self, rows: Ints | Bools) -> Timed:
        """Return some of the runs."""
        pair, role, launch, at, is_in_round, is_dated = self
        return Timed(pair[rows], role[rows], launch[rows], at[rows], is_in_round[rows], is_dated[rows])


def timed(design: Design) -> Timed:
    """Return the runs of pairs with several runs in both groups."""
    units = design.units
    pair, role, launch = units["pair"].to_numpy(), units["role"].to_numpy(), numbered(units["launch"])
    pairs, groups = Parts(pair), Parts(pair, role)
    start, end = units["start"].to_numpy(), units["end"].to_numpy()
    at = ranked(np.where(np.isnat(start), end, start))
    several = pairs.all(groups.size[groups.of] > 1)[pairs.of]
    at = np.where(have_both(role, pair, launch, at), -1, at)
    is_in_round, is_dated = (numbered(units[name]) >= 0 for name in ("round", "date"))
    return Timed(pair, role, launch, at, is_in_round, is_dated).of(several)
