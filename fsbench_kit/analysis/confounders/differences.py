"""Confounders from settings that differ between groups, or between the runs of a group."""

from __future__ import annotations

from typing import Final

import polars as pl

from fsbench_kit.analysis.confounders.entry import NOTHING, confounder
from fsbench_kit.analysis.design import OTHER, Design
from fsbench_kit.analysis.facts import counted, facts, is_default
from fsbench_kit.analysis.groups import ROLES
from fsbench_kit.analysis.settings import NOT_KNOWN, number
from fsbench_kit.data.labelled import GROUP
from fsbench_kit.model.vocabulary import setting_texts

_EXTRA_DISKS: Final = ("log_device", "cache_device")
"""Settings that count as absent in a group that does not mention them."""


def _in_words(values: pl.Expr | str, beside: pl.Expr | str | None = None) -> pl.Expr:
    """Write joined values of settings for people, or as they are if the others beside them would look the same."""

    def written(key: str, joined: str) -> str:
        return _BETWEEN.join(setting_texts(key, joined.split(_BETWEEN)))

    def text(row: dict[str, str]) -> str:
        own = written(row["key"], row["values"])
        return row["values"] if row["beside"] and own == written(row["key"], row["beside"]) else own

    return pl.struct("key", values=values, beside=beside).map_elements(text, return_dtype=pl.String)


_BETWEEN: Final = " | "
_SIDES: Final = (_in_words("value", f"value{OTHER}"), _in_words(f"value{OTHER}", "value"))
"""The values of both groups, in words."""

DIFFERS: Final = "{} differs: {} against {}."
"""The sentence about a setting that has one value in each group."""


@confounder("CONFIG_MISMATCH", "verdict withheld", "The groups differ in more than what is compared.")
def _mismatch(design: Design) -> pl.DataFrame:
    """Name the settings that are known for both groups and differ, except those that come with a target."""
    if design.of(facts).is_empty():
        return NOTHING
    known = pl.col("key").is_in(_EXTRA_DISKS) | pl.all_horizontal(pl.col("value", f"value{OTHER}").is_not_null())
    first, second = (pl.col(name).fill_null(NOT_KNOWN) for name in ("value", f"value{OTHER}"))
    return (
        design.once(_side_by_side)
        .filter(known, first != second, counted(design.factor))
        .join(design.mixes, on=["pair", "key"], how="anti")
        .sort("kind", "key")
        .select("pair", text=pl.format(DIFFERS, "key", _in_words(first, second), _in_words(second, first)))
    )


def _side_by_side(design: Design) -> pl.DataFrame:
    """Return the values of each setting in both groups, null where it is unknown.

    Runs that take no part, such as those on a host that ran only one of the groups, are ignored.
    """
    values = design.settings.select("set", "key", "kind", value=_LISTED)
    of_all = design.beside(values, "key", "kind", how="full")
    taking_part = pl.len().over("pair") < pl.col("all")
    of_some = design.units.filter(~pl.col("alone")).filter(taking_part)
    if of_some.is_empty():
        return of_all
    found = (
        of_some.select("pair", "role", "run_id")
        .join(design.known, on="run_id")
        .group_by("pair", "role", "key", "kind")
        .agg(values=pl.col("value").unique().sort())
        .select("pair", "role", "key", "kind", value=_LISTED)
    )
    baseline, candidate = (found.filter(role=role).drop("role") for role in range(2))
    beside = baseline.join(candidate, on=["pair", "key", "kind"], how="full", suffix=OTHER, coalesce=True)
    return pl.concat([of_all.join(of_some, on="pair", how="anti"), beside])


_LISTED: Final = pl.col("values").list.join(_BETWEEN)


@confounder("GROUPS_DIFFER", "footnote", "The groups differ in more than their labels.")
def _of_groups(design: Design) -> pl.DataFrame:
    """Name the differences between labelled groups apart from the work, such as filesystem and machine."""
    if design.factor != GROUP:
        return NOTHING
    filesystems = (
        design.members.select("set", "run_id")
        .join(design.of(lambda dataset: dataset.runs.select("run_id", "filesystem")), on="run_id")
        .group_by("set")
        .agg(value=pl.col("filesystem").drop_nulls().unique().sort().str.join(_BETWEEN))
        .select("set", key=pl.lit("filesystem"), kind=pl.lit("name"), value="value")
    )
    known = design.settings.select("set", "key", "kind", value=_LISTED)
    differs = pl.col("value") != pl.col(f"value{OTHER}")
    return (
        design.beside(pl.concat([filesystems, known]), "key", "kind")
        .filter(differs, ~counted(GROUP))
        .sort("pair", "kind", "key")
        .group_by("pair", maintain_order=True)
        .agg(text=pl.format("{} ({} against {})", "key", *_SIDES).str.join(", "))
        .select("pair", text=pl.format("The groups differ in {}.", "text"))
    )


@confounder(
    "UNBALANCED",
    "verdict withheld",
    "The runs of a group differ in a setting, and the other group does not have all of its values.",
)
def _unbalanced(design: Design) -> pl.DataFrame:
    """Report how often each group has a value that the other lacks, or has another target."""
    if design.mixes.is_empty():
        return NOTHING
    unbalanced = design.mixes.filter(found="unbalanced")
    targets = unbalanced.filter(kind="name")
    settings = unbalanced.filter(pl.col("kind") != "name")
    split = pl.format("The runs are of several targets ({}): split by target.", "shares")
    return pl.concat(
        [
            _shares(settings).select("pair", text=pl.format("{} is not balanced: {}.", "key", "shares")),
            _shares(targets).select("pair", text=split),
        ]
    )


@confounder("MIXED_GROUP", "footnote", "The runs of a group differ in a setting.")
def _mixed(design: Design) -> pl.DataFrame:
    """Name the settings that differ within both groups, and why they do not set the groups apart."""
    if design.mixes.is_empty():
        return NOTHING
    harmless = {
        "balanced": "The runs differ in {}, in equal shares of both groups: {}.",
        "within units": "{} is not balanced ({}), but it is within each host or launch.",
        "strata": "{} is not balanced ({}): the groups were compared within each value.",
    }
    return pl.concat(
        _shares(design.mixes.filter(found=found)).select("pair", text=pl.format(sentence, "key", "shares"))
        for found, sentence in harmless.items()
    )


def _shares(mixes: pl.DataFrame) -> pl.DataFrame:
    """Describe for each setting how many runs of either group have which value."""
    share = pl.format("{} in {} of {} runs against {} of {}", _in_words("value"), "a", "n_a", "b", "n_b")
    return (
        mixes.sort("pair", "key", number("value"), "value")
        .group_by("pair", "key", maintain_order=True)
        .agg(
            shares=share.head(_MOST).str.join(", ")
            + pl.when(pl.len() > _MOST).then(pl.lit(", ...")).otherwise(pl.lit(""))
        )
    )


_MOST: Final = 4
"""The maximum number of values that a sentence lists for a setting."""


@confounder("KNOWN_OF_ONE", "footnote", "A setting is known for one group only.")
def _known_of_one(design: Design) -> pl.DataFrame:
    """Name the settings that are known for one group only, in one sentence per group."""
    if design.of(facts).is_empty():
        return NOTHING
    own, other = pl.col("value"), pl.col(f"value{OTHER}")
    of_one = own.is_null() != other.is_null()
    alone = (
        design.once(_side_by_side)
        .filter(of_one, counted(design.factor), ~pl.col("key").is_in(_EXTRA_DISKS))
        .with_columns_seq(
            pl.coalesce(own, other),
            role=pl.when(other.is_null()).then(pl.lit("baseline")).otherwise(pl.lit("candidate")),
        )
        .filter(~is_default())
    )
    if alone.is_empty():
        return NOTHING
    levels = (
        design.pairs.unpivot(ROLES, index="pair", variable_name="role", value_name="set")
        .join(design.members[["set", "level"]].unique("set"), on="set")
        .drop("set")
    )
    return (
        alone.sort("role", "key")
        .group_by("pair", "role", maintain_order=True)
        .agg(known=pl.format("{} ({})", "key", _in_words("value")).str.join(", "))
        .join(levels, on=["pair", "role"], maintain_order="left")
        .select_seq("pair", text=pl.format("Known for {} only: {}.", design.groups.called(), "known"))
    )


@confounder("OWN_OPTIONS", "footnote", "The targets are mounted with different options.")
def _own_options(design: Design) -> pl.DataFrame:
    """Name the mount options specific to one filesystem, which come with the factor."""
    if design.of(facts).is_empty():
        return NOTHING
    own = design.once(_side_by_side).filter(
        ~counted(design.factor), pl.col("kind") != "name", pl.col("key").str.starts_with("mount")
    )
    return (
        own.drop_nulls()
        .filter(pl.col("value") != pl.col(f"value{OTHER}"))
        .sort("pair", "key")
        .select(
            "pair",
            text=pl.format(
                "{}: {} against {}, which come with the {}.",
                "key",
                *_SIDES,
                pl.lit(design.factor),
            ),
        )
    )
