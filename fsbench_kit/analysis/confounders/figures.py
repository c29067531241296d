"""In which unit figures are, where their logs do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fsbench_kit.analysis.confounders.entry import confounder, diagnosed, rows

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
    """Tell for which rows some measurements have a unit that was assumed, and some do not."""
    runs, groups = design.of(_without_unit)["run_id"], design.groups
    if runs.is_empty():
        return np.zeros(groups.pairs.height, dtype=np.bool_), np.ones(groups.pairs.height, dtype=np.bool_)
    assumed = pl.col("run_id").is_in(runs.implode()) & (pl.col("metric") == "bandwidth")
    return groups.either(groups.having(assumed)), groups.either(groups.having(~assumed))


def _without_unit(dataset: Dataset) -> pl.DataFrame:
    return diagnosed(dataset, "UNIT_ASSUMED")
