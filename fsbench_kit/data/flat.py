"""A dataset as one long table: a row for each measurement, with its run's columns and settings beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.schema import SCHEMAS
from fsbench_kit.model.vocabulary import ORIGINS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PLACE: Final = ("run_id", "scope", "part")


def flat(frames: Mapping[str, pl.LazyFrame], settings: Sequence[str]) -> pl.LazyFrame:
    """Return the table; see `fsbench_kit.Dataset.flat`."""
    for key in settings:
        if not isinstance(key, str):
            raise RequestError(f"{key!r} is not the key of a setting", hint='Write for example flat("kernel").')
        if key in SCHEMAS["runs"] or key in SCHEMAS["measurements"]:
            raise RequestError(f"{key} is a column already", hint="Leave it out of the settings.")
    runs = frames["runs"].rename({"line": "run_line"})
    table = frames["measurements"].join(runs, on="run_id", how="left", maintain_order="left")
    for key in dict.fromkeys(settings):
        told = told_of(table.select(PLACE).unique(), frames["settings"].filter(key=key))
        own = told.select(*PLACE, pl.col("value").alias(key))
        table = table.join(own, on=PLACE, how="left", nulls_equal=True, maintain_order="left")
    return table


def told_of(places: pl.LazyFrame, settings: pl.LazyFrame) -> pl.LazyFrame:
    """Return the value of each key in each place, by the strongest origin that tells it; several are joined.

    A place's own settings come before those of its run. What another job says is not that of this one.
    """
    is_of_scope = (pl.col("scope") == pl.col("scope told")) & pl.col("part").is_not_null()
    is_own = is_of_scope & pl.col("part").eq_missing(pl.col("part told"))
    is_of_run = ~is_of_scope | pl.col("part told").is_null()
    # Origins are an Enum in the order of their strength, so that the least one is the strongest.
    strength = pl.col("origin").to_physical() + pl.when(is_own).then(0).otherwise(len(ORIGINS))
    return (
        places.join(settings, on="run_id", suffix=" told", maintain_order="left_right")
        .filter(is_own | is_of_run)
        .group_by(*PLACE, "key", maintain_order=True)
        .agg(pl.col("value").filter(strength == strength.min()).unique(maintain_order=True).str.join(" | "))
    )
