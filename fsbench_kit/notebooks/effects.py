"""What tables of an executed notebook show row by row, so that another report can be held against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from fsbench_kit.analysis.metrics import QUESTION
from fsbench_kit.tables import (
    CELL,
    cell_label,
    cell_names,
    effects,
    groups_text,
    interval_text,
    metric_text,
    one_line,
    ordered,
    ratio_text,
    varying_in_replication,
    with_interval,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

Effect = dict[str, Any]
"""What it measures, its name, what is shown of it, its verdict, and the ends of its interval."""


def effects_of(comparison: pl.DataFrame) -> list[Effect]:
    """Return what a comparison shows, effect by effect.

    An effect's key is what it measures, and its study only where several studies measure the same.
    """
    rows = ordered(effects(comparison)).with_columns(QUESTION.alias("question"))
    key = [*(name for name in CELL if name != "study"), "question", "factor", "level", "baseline"]
    several = rows.select(pl.struct(key).is_duplicated()).to_series()
    return [
        {
            "key": _known(row, (*key, *["study"] * again)),
            "effect": f"{name}, {groups_text(row)}",
            "shown": f"{interval_text(row)} {row['verdict']}",
            **{name: row[name] for name in ("verdict", "ci_low", "ci_high")},
        }
        for name, row, again in zip(cell_names(rows), rows.iter_rows(named=True), several, strict=True)
    ]


def effects_of_claims(audit: pl.DataFrame) -> list[Effect]:
    """Return what an audit says of each claim, with the size that the figures give."""
    return [
        {
            "key": _known(row, ("study", "claim")),
            "effect": one_line(f"{row['study']}: {row['says']}"),
            "shown": f"{'' if row['computed'] is None else ratio_text(row['computed'])} {row['verdict']}".strip(),
            "verdict": row["verdict"],
            "ci_low": row["computed_low"],
            "ci_high": row["computed_high"],
        }
        for row in audit.iter_rows(named=True)
    ]


def effects_of_replication(found: pl.DataFrame) -> list[Effect]:
    """Return what a replication shows of each published effect: its ratio, and whether its direction came out."""
    rows = found.filter("stands_for_effect")
    names = varying_in_replication(rows) if rows.height else []
    cell = [name for name in CELL if name in rows.columns]
    return [
        {
            "key": _known(row, (*cell, "metric", "statistic", "level", "baseline")),
            "effect": ", ".join(
                filter(
                    None,
                    (cell_label(row, names), metric_text(row["metric"], row["statistic"]), groups_text(row)),
                )
            ),
            "shown": f"{with_interval(row['ratio'], row['ci_low'], row['ci_high'])} {row['direction']}",
            "verdict": row["direction"],
            "ci_low": row["ci_low"],
            "ci_high": row["ci_high"],
        }
        for row in rows.iter_rows(named=True)
    ]


def _known(row: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names if row[name] is not None}
