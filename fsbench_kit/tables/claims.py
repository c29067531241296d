"""What articles claim, and how many runs it takes to know."""

from __future__ import annotations

import polars as pl

from fsbench_kit.tables.cells import varying
from fsbench_kit.tables.layout import Column, Group, Table, table
from fsbench_kit.tables.words import percent


def audit_table(audit: pl.DataFrame) -> Table:
    """Make the table of an audit: what is said, what came of it, and why.

    Parameters
    ----------
    audit
        What `fsbench_kit.claims.audit` returned, or some rows of it.
    """
    columns = (Column("what is said"), Column("verdict"), Column("evidence"), Column("why"))
    rows = audit.select("says", "verdict", "evidence", "reason").rows()
    in_lines = tuple(
        tuple(" ".join(text.split()) for text in row) for row in rows
    )  # names in logs can hold anything
    return Table(", ".join(audit["study"].unique(maintain_order=True)), columns, (Group(None, in_lines),))


def repeats_table(planned: pl.DataFrame, caption: str) -> Table:
    """Make the table of how many runs a side needs, with the cells by what sets them apart.

    Parameters
    ----------
    planned
        What `fsbench_kit.repeats.repeats` returned.
    caption
        What the numbers of runs are for.
    """
    names = [*varying(planned), "metric", "statistic"] if "metric" in planned.columns else []
    shown = planned.select(*names, pl.col("^(pilot_runs|cv.*|for_.*)$")).with_columns(
        pl.col("cv", "cv_high").map_elements(percent, return_dtype=pl.String)
    )
    if planned["cv"].equals(planned["cv_high"]):
        shown = shown.drop("cv_high")
    return table(
        shown, caption, heads={"cv": "runs vary by", "cv_high": "at most", "for_equivalence": "for equality"}
    )
