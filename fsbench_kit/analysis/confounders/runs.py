"""Confounders from which runs take part, and from what was odd about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fsbench_kit.analysis.confounders.entry import NOTHING, confounder, diagnosed
from fsbench_kit.analysis.confounders.order import timed
from fsbench_kit.analysis.facts import own_words
from fsbench_kit.analysis.groups import ROLES

if TYPE_CHECKING:
    from fsbench_kit.analysis.design import Design
    from fsbench_kit.data.dataset import Dataset


@confounder("IDLE_THREAD", "footnote", "A thread did nothing.", of_one=True)
def _idle(design: Design) -> pl.DataFrame:
    if (idle := design.of(_idle_threads)).is_empty():
        return NOTHING
    idle = idle.unique("run_id", keep="last", maintain_order=True)
    found = design.members.join(idle, on="run_id").sort("set", "run_id")
    return design.of_pairs(found.select("set", text=pl.format("{}: {}", design.groups.called(), "message")))


def _idle_threads(dataset: Dataset) -> pl.DataFrame:
    return diagnosed(dataset, "IDLE_THREAD")


@confounder("UNITS", "footnote", "What the interval is over, and which runs take no part in it.")
def _units(design: Design) -> pl.DataFrame:
    """Describe how runs are compared if both groups have several."""
    if design.plan.notes.is_empty():
        return NOTHING
    return design.plan.notes.filter(pl.col("pair").is_in(np.unique(design.once(timed).pair)))


@confounder("LEFT_OUT", "footnote", "Runs before the first round were left out.")
def _left_out(design: Design) -> pl.DataFrame:
    if design.groups.before.is_empty():
        return NOTHING
    runs = pl.col("runs")
    one, several = (
        pl.format("1 {} run was left out.", "stage"),
        pl.format("{} {} runs were left out.", runs, "stage"),
    )
    counted = design.groups.before.group_by("group", "stage", maintain_order=True).agg(runs=pl.len())
    return (
        design.groups.of_rows(counted)
        .group_by("row", "stage", maintain_order=True)
        .agg(pl.col("runs").sum())
        .select("row", text=pl.when(runs == 1).then(one).otherwise(several))
    )


@confounder("NAMED_APART", "footnote", "The file names distinguish single runs by a custom key.")
def _named_apart(design: Design) -> pl.DataFrame:
    """Name the words in file names that give each run a cell of its own: they may count repeats."""
    words = design.of(own_words)
    if words.is_empty():
        return NOTHING
    n = [design.groups.of(role, "n").to_series() for role in ROLES]
    single = design.groups.of("baseline", "work").with_row_index("row").filter((n[0] == 1) & (n[1] == 1))
    named = single.join(words, how="cross").filter(
        pl.format(", {}", "work").str.contains(pl.format(", {} ", "key"), literal=True)
    )
    sentence = "The file names distinguish these runs by {}: if that counts repeats, write {} instead."
    return named.select(pl.col("row").cast(pl.Int64), text=pl.format(sentence, "key", pl.lit("{round}")))


@confounder("STOPPING_RULE", "footnote", "Rounds were added until a rule was met.")
def _stopped(design: Design) -> pl.DataFrame:
    """Warn that a rule ended the launch, which affects its intervals.

    Stopping rules look at the spread that the interval is made of, so they tend to stop when it happens to be
    small. ``docs/coverage.md`` has the measurements.
    """
    if design.groups.measurements["stopping_rule"].null_count() == design.groups.measurements.height:
        return NOTHING
    rules = design.groups.measurements.filter(pl.col("stopping_rule").is_not_null()).select(
        "group", "stopping_rule"
    )
    sentence = (
        'Rounds were added until the rule "{}" was met; '
        "intervals then cover slightly less than they state: 91 to 95 % instead of 95 %."
    )
    return (
        design.groups.of_rows(rules.unique())
        .unique()
        .sort("row", "stopping_rule")
        .select("row", text=pl.format(sentence, "stopping_rule"))
    )
