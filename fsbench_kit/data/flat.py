"""A dataset as one long table: a row for each measurement, with the columns and settings of its run."""

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
        table = _with_setting(table, frames["settings"].filter(key=key), key)
    return table


_OF_RUN: Final = {"scope": pl.lit(None, SCHEMAS["settings"]["scope"]), "part": pl.lit(None, pl.String)}
_UNNAMED: Final = pl.lit("\0")
"""A part that no setting names."""


def _with_setting(table: pl.LazyFrame, settings: pl.LazyFrame, key: str) -> pl.LazyFrame:
    """Add the value of a key for the place of each row.

    Values are looked up for the places that settings name, then for their scope, and then for their run. The
    measurements are therefore joined only once, and a later filter can limit what is read of a large dataset.
    """
    named = settings.filter(pl.col("part").is_not_null()).select(PLACE).unique()
    unnamed = named.with_columns(part=_UNNAMED).unique()
    own = settings_of(named, settings).select(*PLACE, pl.col("value").alias(key))
    of_scope = unnamed.join(settings_of(unnamed, settings), on=PLACE, how="left")
    of_scope = of_scope.select("run_id", "scope", pl.col("value").alias("of scope"), has_names=True)
    of_run = settings_of(settings.select("run_id").unique().with_columns(**_OF_RUN), settings)
    of_run = of_run.select("run_id", pl.col("value").alias("of run"))
    beside_names = pl.col("has_names") & pl.col("part").is_not_null()
    return (
        table.join(own, on=PLACE, how="left", maintain_order="left")
        .join(of_scope, on=("run_id", "scope"), how="left", maintain_order="left")
        .join(of_run, on="run_id", how="left", maintain_order="left")
        .with_columns(pl.coalesce(key, pl.when(beside_names).then("of scope").otherwise("of run")).alias(key))
        .drop("of scope", "has_names", "of run")
    )


def settings_of(places: pl.LazyFrame, settings: pl.LazyFrame) -> pl.LazyFrame:
    """Return the value of each key in each place, from the strongest origin that states it; several are joined.

    The settings of a place take precedence over those of its run. The settings of one job never apply to another.
    """
    is_of_scope = (pl.col("scope") == pl.col("scope of setting")) & pl.col("part").is_not_null()
    is_own = is_of_scope & pl.col("part").eq_missing(pl.col("part of setting"))
    is_of_run = ~is_of_scope | pl.col("part of setting").is_null()
    # Origins are an Enum in descending order of strength, so the smallest one is the strongest.
    strength = pl.col("origin").to_physical() + pl.when(is_own).then(0).otherwise(len(ORIGINS))
    return (
        places.join(settings, on="run_id", suffix=" of setting", maintain_order="left_right")
        .filter(is_own | is_of_run)
        .group_by(*PLACE, "key", maintain_order=True)
        .agg(pl.col("value").filter(strength == strength.min()).unique(maintain_order=True).str.join(" | "))
    )
