"""Compares the two groups of a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from fsbench_kit.analysis.comparison import compare_groups
from fsbench_kit.claims.figures import Cell, Order, order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fsbench_kit.claims.relations.base import Known


MARGIN: Final = 1.05
"""The largest ratio that counts as equal, unless a claim says otherwise."""


def comparisons(cells: Sequence[Cell], known: Known, margin: float = MARGIN) -> list[Mapping[str, Any] | None]:
    """Compare the groups of all cells that have both; figures of the same runs are compared run by run."""
    found: list[Mapping[str, Any] | None] = [None] * len(cells)
    for within in (False, True):
        chosen = [
            number
            for number, cell in enumerate(cells)
            if cell.of.runs and cell.than.runs and cell.is_within_runs == within
        ]
        pairs = [
            tuple(
                _named(rows, figure.name, within=within)
                for rows, figure in (
                    (cells[number].than_rows, cells[number].than),
                    (cells[number].of_rows, cells[number].of),
                )
            )
            for number in chosen
        ]
        if pairs:
            rows = compare_groups(pairs, known.evidence, within_runs=within, margin=margin).rows(named=True)
            for number, row in zip(chosen, rows, strict=True):
                found[number] = row
    return found


def _named(rows: pl.DataFrame, name: str, *, within: bool) -> pl.DataFrame:
    """Name a group; if both groups are of the same runs, each run becomes a round."""
    named = rows.with_columns_seq(level=pl.lit(name))
    if within:
        named = named.with_columns_seq(
            host=pl.lit(None, pl.String), round=pl.col("run_id").rank("dense").cast(pl.Int64)
        )
    return named


def order_of(cell: Cell, row: Mapping[str, Any] | None) -> Order | None:
    """Return which group is greater: by the interval if there is one, otherwise by the prints."""
    if row is None or row["ci_low"] is None:
        printed = order(cell.of, cell.than)
        return "undecided" if printed is not None and is_left_open(row) else printed
    if row["verdict"] in ("equivalent", "inconclusive") or row["ci_low"] <= 1 <= row["ci_high"]:
        return "undecided"
    return "greater" if row["ratio"] > 1 else "less"


def is_left_open(row: Mapping[str, Any] | None) -> bool:
    """Return whether each group has several runs, and only bounds that decide nothing."""
    if row is None or row["verdict"] != "bound only":
        return False
    return bool(min(row["n_baseline"], row["n_candidate"]) > 1)
