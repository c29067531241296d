"""Defines confounders and how they are registered, with helpers for finding them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import polars as pl

from fsbench_kit.analysis.reasons import Kind, Reason
from fsbench_kit.analysis.settings import wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.analysis.design import Design
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.stats.result import Bools

    Find: TypeAlias = Callable[[Design], pl.DataFrame]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confounder(Reason):
    """A reason, or a footnote, that follows from the design of a comparison.

    Attributes
    ----------
    find
        The function that finds it. It returns ``row`` or ``pair``, and ``text`` if a sentence says more than the
        meaning.
    of_one
        Whether it concerns a single group by itself, regardless of what the group is compared with.
    """

    find: Find
    of_one: bool


ENTERED: Final[list[Confounder]] = []
"""All registered confounders."""


def confounder(code: str, kind: Kind, meaning: str, *, of_one: bool = False) -> Callable[[Find], Find]:
    """Register the decorated function as the one that finds a confounder."""

    def enter(find: Find) -> Find:
        ENTERED.append(Confounder(code=code, kind=kind, meaning=meaning, find=find, of_one=of_one))
        return find

    return enter


NOTHING: Final = pl.DataFrame(schema={"row": pl.Int64})
"""The result if there is nothing to check."""


def rows(found: Bools) -> pl.DataFrame:
    """Return the rows in which something was found, given a flag for each row."""
    return pl.DataFrame({"row": np.flatnonzero(found)})


def figures_of_runs(dataset: Dataset) -> pl.DataFrame:
    """Return the primary measurements of whole runs and of their jobs."""
    return dataset.measurements.filter("primary", pl.col("scope").is_in(["all", "job"]))


def settings_of_work(dataset: Dataset) -> pl.DataFrame:
    """Return for each run what its settings say about how it worked, see `fsbench_kit.analysis.settings.wide`."""
    return wide(dataset.settings, ["engine", "time_limit", "time_based", "device_read", "device_written"])


_UNDIAGNOSED: Final = pl.DataFrame(schema={"run_id": pl.String, "message": pl.String})


def diagnosed(dataset: Dataset, code: str) -> pl.DataFrame:
    """Return the runs whose log has a diagnostic with the given code, each with the message."""
    if not (dataset.diagnostics["code"] == code).any():
        return _UNDIAGNOSED
    of_logs = dataset.diagnostics.filter(code=code).select("source", "message", at="start")
    runs = dataset.runs.join(of_logs, on="source")
    within = pl.col("at").is_between("start", "end", closed="left")
    return runs.filter(within).sort("run_id").select("run_id", "message")
