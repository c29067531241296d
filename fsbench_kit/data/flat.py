"""A dataset as one long table: a row for each measurement, with its run's columns and settings beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PLACE: Final = ("run_id", "scope", "part")


def flat(frames: Mapping[str, pl.LazyFrame], settings: Sequence[str]) -> pl.LazyFrame:
    """Return the table; see `fsbench_kit.Dataset.flat`."""
    for key in settings:
        if key in SCHEMAS["runs"] or key in SCHEMAS["measurements"]:
            raise RequestError(f"{key} is a column already", hint="Leave it out of the settings.")
    runs = frames["runs"].rename({"line": "run_line"})
    table = frames["measurements"].join(runs, on="run_id", how="left", maintain_order="left")
    for key in settings:
        known = frames["settings"].filter(key=key)
        own = _strongest(known.filter(pl.col("part").is_not_null()), _PLACE, key)
        of_run = _strongest(known, ("run_id",), f"{key} of the run")
        table = (
            table.join(own, on=_PLACE, how="left", nulls_equal=True, maintain_order="left")
            .join(of_run, on="run_id", how="left", maintain_order="left")
            .with_columns(pl.coalesce(key, f"{key} of the run").alias(key))
            .drop(f"{key} of the run")
        )
    return table


def _strongest(settings: pl.LazyFrame, of: Sequence[str], name: str) -> pl.LazyFrame:
    """Return the value that the strongest origin tells; several of them are joined."""
    # Origins are an Enum in the order of their strength, so that the least one is the strongest.
    told = pl.col("value").filter(pl.col("origin") == pl.col("origin").min())
    return settings.group_by(of).agg(told.unique(maintain_order=True).str.join(" | ").alias(name))
