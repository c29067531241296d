"""What tables of an executed notebook show row by row, so that another report can be held against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.analysis.metrics import QUESTION
from fsbench_kit.tables import (
    CELL,
    cell_label,
    cell_names,
    effect_names,
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

    from fsbench_kit.analysis.trend import Trend

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


def effects_of_trend(found: Trend) -> list[Effect]:
    """Return at which versions, commits or dates each effect changed, if it did.

    An effect's key is what it measures and over what, whatever levels there were.
    """
    courses = found.course.unique(CELL, keep="first", maintain_order=True)
    key = [*(name for name in CELL if name != "study"), "factor"]
    several = courses.select(pl.struct(key).is_duplicated()).to_series()
    rows = []
    for name, row, again in zip(
        effect_names(courses, found.course), courses.iter_rows(named=True), several, strict=True
    ):
        own = found.changes.filter(*(pl.col(column).eq_missing(row[column]) for column in CELL)).to_dicts()
        own.sort(key=lambda change: found.levels.index(change["since"]))
        changes = [(f"since {one_line(change['since'])}", change) for change in own]
        last = own[-1] if own else {"ci_low": None, "ci_high": None}
        rows.append(
            {
                "key": _known(row, (*key, *["study"] * again)),
                "effect": f"{name}, over {one_line(row['factor'])}",
                "shown": "; ".join(
                    f"{since} {with_interval(of['ratio'], of['ci_low'], of['ci_high'])} {of['verdict']}"
                    for since, of in changes
                )
                or _SAME,
                "verdict": "; ".join(f"{since} {of['verdict']}" for since, of in changes) or _SAME,
                **{name: last[name] for name in ("ci_low", "ci_high")},
            }
        )
    return rows


_SAME: Final = "no change"


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
