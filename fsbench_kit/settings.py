"""Which settings a run had, and in which of them runs differ that are about to be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.vocabulary import SETTINGS, SettingKind, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fsbench_kit.dataset import Dataset

NOT_KNOWN: Final = "not known"


def effective(settings: pl.DataFrame) -> pl.DataFrame:
    """Return one value for each run and key: that of the strongest origin.

    Where the parts of a run differ (two fio jobs of different block sizes), the value is all of theirs, joined
    by ``|``.

    Parameters
    ----------
    settings
        The ``settings`` frame of a dataset.

    Returns
    -------
    pl.DataFrame
        Columns ``run_id``, ``key``, ``value``, ``origin``.
    """
    # Origins are an Enum in the order of their strength, so that the least one is the strongest.
    strongest = settings.filter(pl.col("origin") == pl.col("origin").min().over("run_id", "key"))
    return strongest.group_by("run_id", "key", maintain_order=True).agg(
        pl.col("value").unique(maintain_order=True).str.join(" | "),
        pl.col("origin").first(),
    )


def wide(settings: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """Return one row for each run with a column for each of some keys; unknown is null."""
    known = effective(settings)
    runs = known.select("run_id").unique(maintain_order=True)
    for key in keys:
        column = known.filter(pl.col("key") == key).select("run_id", pl.col("value").alias(key))
        runs = runs.join(column, on="run_id", how="left", validate="1:1")
    return runs


def differences(dataset: Dataset, baseline: Iterable[str], candidate: Iterable[str]) -> pl.DataFrame:
    """List the settings in which two sides of a comparison differ.

    Parameters
    ----------
    dataset
        The runs' data.
    baseline, candidate
        The run ids of the two sides.

    Returns
    -------
    pl.DataFrame
        One row for each setting that is known of at least one side and is not the same on both: ``key``,
        ``kind`` (as in `fsbench_kit.vocabulary`), ``baseline``, ``candidate`` (the values of that side's runs, or
        `NOT_KNOWN`). Labels, and settings of which only one side is known by nature of where they stand, are
        included; `kind` tells.
    """
    known = effective(dataset.settings)
    sides = [
        known.filter(pl.col("run_id").is_in(list(runs)))
        .group_by("key", maintain_order=True)
        .agg(pl.col("value").unique().sort().str.join(" | ").alias(side))
        for side, runs in (("baseline", baseline), ("candidate", candidate))
    ]
    return (
        sides[0]
        .join(sides[1], on="key", how="full", coalesce=True)
        .filter(pl.col("baseline").ne_missing(pl.col("candidate")))
        .with_columns(
            pl.col("key").replace_strict(_KINDS, default="workload").alias("kind"),
            pl.col("baseline", "candidate").fill_null(NOT_KNOWN),
        )
        .select("key", "kind", "baseline", "candidate")
        .sort("kind", "key")
    )


_KINDS: Final[dict[str, SettingKind]] = {key: setting_kind(key) for key in SETTINGS}
