"""Confounders in the figures themselves: an uncertain unit, or a log that contradicts itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from fsbench_kit.analysis.confounders.entry import NOTHING, confounder, diagnosed, rows

if TYPE_CHECKING:
    from fsbench_kit.analysis.design import Design
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.stats.result import Bools


@confounder(
    "UNIT_AMBIGUOUS",
    "no ratio",
    "One group's logs do not state the unit, and the unit assumed for them may not be that of the other group.",
)
def _unit_ambiguous(design: Design) -> pl.DataFrame:
    some, not_all = _unit_assumed(design)
    return rows(some & not_all)


@confounder(
    "UNIT_ASSUMED",
    "footnote",
    "Neither group's logs state the unit; the same unit is assumed for both.",
)
def _unit_assumed_for_both(design: Design) -> pl.DataFrame:
    some, not_all = _unit_assumed(design)
    return rows(some & ~not_all)


def _unit_assumed(design: Design) -> tuple[Bools, Bools]:
    """Return for which rows some measurements have an assumed unit, and for which some do not."""
    runs, groups = design.of(_without_unit)["run_id"], design.groups
    if runs.is_empty():
        return np.zeros(groups.pairs.height, dtype=np.bool_), np.ones(groups.pairs.height, dtype=np.bool_)
    assumed = pl.col("run_id").is_in(runs.implode()) & (pl.col("metric") == "bandwidth")
    return groups.either(groups.having(assumed)), groups.either(groups.having(~assumed))


def _without_unit(dataset: Dataset) -> pl.DataFrame:
    return diagnosed(dataset, "UNIT_ASSUMED")


@confounder(
    "IN_DOUBT",
    "verdict withheld",
    "The log of a run contradicts itself, so that its figures cannot all be right.",
    of_one=True,
)
def _in_doubt(design: Design) -> pl.DataFrame:
    if design.of(contradictions).is_empty():
        return NOTHING
    found = design.members.join(design.of(contradictions), on="run_id", maintain_order="left")
    others = pl.col("text").n_unique() - 1
    return (
        design.of_pairs(found.select("set", "text"))
        .group_by("pair", maintain_order=True)
        .agg(
            text=pl.col("text").first()
            + pl.when(others > 0).then(pl.format(" And {} more like it.", others)).otherwise(pl.lit(""))
        )
    )


def contradictions(dataset: Dataset) -> pl.DataFrame:
    """Return the runs whose log contradicts itself as ``run_id``, and where and how as ``text``."""
    if not any((dataset.diagnostics["code"] == code).any() for code in _CROSS_CHECKS):
        return pl.DataFrame(schema={"run_id": pl.String, "text": pl.String})
    found = dataset.diagnostics.filter(pl.col("code").is_in(_CROSS_CHECKS))
    of_runs = dataset.runs.select("run_id", "source", "line", "start", "end")
    inside = (
        pl.when(pl.col("start").is_not_null())
        .then(pl.col("start").is_between("start_of_run", "end_of_run"))
        .otherwise(pl.col("line") >= pl.col("line_of_run"))
    )
    text = pl.format("The log contradicts itself ({}:{}): {}", "source", "line", "message")
    return (
        found.join(of_runs, on="source", suffix="_of_run", maintain_order="left")
        .filter(inside)
        .select("run_id", text=text)
        .unique(maintain_order=True)
    )


_CROSS_CHECKS: Final = ("FIGURES_DISAGREE", "SECOND_PRINTING_DIFFERS", "DUPLICATE_FIGURE")
"""Diagnostics which mean that the figures of a log cannot all be right."""
