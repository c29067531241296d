"""Confounders from when the runs were made: one group after the other, at the same time, or unknown."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.confounders.entry import NOTHING, confounder

if TYPE_CHECKING:
    from fsbench_kit.analysis.design import Design
    from fsbench_kit.data.dataset import Dataset


@confounder(
    "BLOCKED_ORDER",
    "verdict withheld",
    "In a launch, the runs of one group came before those of the other, or nearly so: drift cannot be told from "
    "the effect.",
)
def _in_blocks(design: Design) -> pl.DataFrame:
    """Find launches in which one group finished before the other began, or the groups hardly alternate."""
    a, changes = pl.col("role") == 0, pl.col("role") != pl.col("role").shift()
    launches = (
        design.once(timed)
        .filter(pl.col("at").is_not_null().all().over("pair"))
        .sort("pair", "at", maintain_order=True)
        .group_by("pair", "launch", maintain_order=True)
        .agg(
            a=a.sum().cast(pl.Int64),
            b=(~a).sum().cast(pl.Int64),
            runs=1 + changes.sum().cast(pl.Int64),
            first=pl.col("role").first(),
            date=pl.col("date").first(),
        )
        .filter(pl.col("a") > 0, pl.col("b") > 0)
    )
    by_pair = launches.with_columns(_few_alternations(launches).alias("chance")).group_by(
        "pair", maintain_order=True
    )
    chance, apart, one_way = pl.col("chance"), (pl.col("runs") == 2).all(), pl.col("first").n_unique() == 1
    several = (pl.col("a").sum() > 1) & (pl.col("b").sum() > 1)
    # Days with one run of each group alternate as rounds do, whichever group comes first.
    turns = pl.col("date").is_not_null().all() & (pl.col("a") + pl.col("b") == 2).all()
    return (
        by_pair.agg(
            one_way=apart & one_way & several & ~turns & (2 * (chance / 2).product() <= _SEPARATE),
            any_way=apart & (chance.product() < _RARE),
            in_one=pl.len() * chance.min() < _RARE,
        )
        .filter(pl.any_horizontal("one_way", "any_way", "in_one"))
        .select("pair")
    )


def _few_alternations(orders: pl.DataFrame) -> pl.Series:
    """Return the chance that runs of both groups in random order alternate as little as these."""
    chance = functools.cache(stats.few_alternations_p)
    return pl.Series([chance(*order) for order in orders.select("a", "b", "runs").rows()], dtype=pl.Float64)


_SEPARATE: Final = 0.34
"""The largest chance, in random order, that one group came first in all launches: that of two runs of each."""

_RARE: Final = 0.01
"""The chance below which runs in random order would not alternate as little as they do."""


@confounder(
    "ONE_BOOT",
    "verdict withheld",
    "A group was run in one boot of a machine, which ran nothing of the other group: what a boot has of its own "
    "cannot be told from the effect.",
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
                "The groups were run in boots of their own, {} against {}: run each in three or more.", "a", "b"
            ),
        )
    )


@confounder(
    "SEPARATE_DATES",
    "verdict withheld",
    "The groups were run on dates of their own, one after the other or nearly so: what a day has of its "
    "own cannot be told from the effect.",
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
    return by_pair.filter(few | (_few_alternations(by_pair) < _RARE)).select(
        "pair", text=pl.format("The groups were run on dates of their own: {} against {}.", "first", "second")
    )


def _some(dates: pl.Expr) -> pl.Expr:
    """Name up to three dates."""
    more = pl.when(dates.len() > 3).then(pl.lit(", ...")).otherwise(pl.lit(""))
    return dates.head(3).str.join(", ") + more


@confounder("CONCURRENT_RUNS", "verdict withheld", "Runs of the two groups overlapped in time.")
def _concurrent(design: Design) -> pl.DataFrame:
    return _overlapping(design, pl.col("host").is_not_null())


@confounder(
    "MAY_BE_CONCURRENT",
    "footnote",
    "Runs of the groups overlapped in time, and their hosts are not known: on one machine, they slow each other.",
)
def _perhaps_concurrent(design: Design) -> pl.DataFrame:
    return _overlapping(design, pl.col("host").is_null())


def _overlapping(design: Design, which: pl.Expr) -> pl.DataFrame:
    """Find pairs with a run that began before all earlier ones of the other group on its host had ended."""
    a = pl.col("role") == 0
    ended = (pl.when(own).then("end").cum_max().forward_fill().over("pair", "host") for own in (a, ~a))
    return (
        design.units.select("pair", "role", "run_id")
        .join(design.of(_times).filter(which).drop_nulls(["start", "end"]), on="run_id")
        .sort("pair", "host", "start", "end")
        .with_columns(pl.when(~a).then(next(ended)).otherwise(next(ended)).alias("other"))
        .filter(pl.col("start") < pl.col("other"))
        .select("pair")
        .unique()
    )


@confounder(
    "NOT_IN_TURN", "footnote", "It is not known when the runs were made, so drift cannot be told from the effect."
)
def _untimed(design: Design) -> pl.DataFrame:
    """Find pairs of groups of several runs whose order is unknown from either times or rounds."""
    unknown = pl.col("at").is_null() & pl.col("round").is_null()
    return design.once(timed).filter(unknown).select("pair").unique(maintain_order=True)


def timed(design: Design) -> pl.DataFrame:
    """Return the timed runs of pairs with several runs in both groups; times that both groups share are null."""
    shared = pl.col("role").n_unique().over("pair", "launch", "at") > 1
    times = design.of(_times).select("run_id", at=pl.coalesce("start", "end"))
    units = design.units.with_columns(size=pl.len().over("pair", "role"))
    return (
        units.filter(pl.col("size").min().over("pair") > 1)
        .join(times, on="run_id", maintain_order="left")
        .with_columns(at=pl.when(~shared).then("at"))
    )


def _times(dataset: Dataset) -> pl.DataFrame:
    """Return when each run started and ended, using its duration if its log states only one of the two."""
    length = pl.duration(microseconds=(1e6 * pl.col("duration")).round().cast(pl.Int64), time_unit="us")
    return dataset.runs.select(
        "run_id",
        "host",
        start=pl.coalesce("started_at", pl.col("ended_at") - length),
        end=pl.coalesce("ended_at", pl.col("started_at") + length),
    )
