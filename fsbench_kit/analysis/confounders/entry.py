"""What a confounder is, how it is entered, and what finding several of them takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import polars as pl

from fsbench_kit.analysis.reasons import Kind, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.analysis.design import Design
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.stats.result import Bools

    Find: TypeAlias = Callable[[Design], pl.DataFrame]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confounder(Reason):
    """A reason that lies in the design of a comparison, or a footnote to it.

    Attributes
    ----------
    find
        Finds it: returns ``row`` or ``pair``, and ``text`` where a sentence says more than the meaning.
    of_one
        Whether it lies in one group by itself, and holds whatever that is compared with.
    """

    find: Find
    of_one: bool


ENTERED: Final[list[Confounder]] = []
"""All that a function finds."""


def confounder(code: str, kind: Kind, meaning: str, *, of_one: bool = False) -> Callable[[Find], Find]:
    """Enter a function as what finds a confounder."""

    def enter(find: Find) -> Find:
        ENTERED.append(Confounder(code=code, kind=kind, meaning=meaning, find=find, of_one=of_one))
        return find

    return enter


NOTHING: Final = pl.DataFrame(schema={"row": pl.Int64})
"""What is returned where there is nothing to look at."""


def rows(found: Bools) -> pl.DataFrame:
    """Return the rows in which something was found."""
    return pl.DataFrame({"row": np.flatnonzero(found)})


def of_runs(measurements: pl.DataFrame) -> pl.DataFrame:
    """Return the primary measurements of runs and of their jobs."""
    return measurements.filter("primary", pl.col("scope").is_in(["all", "job"]))


def diagnosed(dataset: Dataset, code: str) -> pl.DataFrame:
    """Return the runs in whose log a diagnostic of some code stands, each with its message."""
    said = dataset.diagnostics.filter(code=code).select("source", "message", at="start")
    if said.is_empty():
        return pl.DataFrame(schema={"run_id": pl.String, "message": pl.String})
    found = dataset.runs.join(said, on="source").filter(pl.col("at").is_between("start", "end", closed="left"))
    return found.sort("run_id").select("run_id", "message")
