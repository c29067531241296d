"""Audits claims: what an article says, held against the figures that it prints.

Two questions, answered apart. *Arithmetic*: do the printed figures give what is said? *Evidence*: what would the
figures show if they did? A claim that is arithmetically right can rest on two single runs on two hosts.

::

    fsb.audit("raw_results/published/sysbench-rhel72")

A claim is written by hand in a study's ``study.toml``; `fsbench_kit.data.archive.ClaimFacts` says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.design import Evidence
from fsbench_kit.claims.checks import Check, checks
from fsbench_kit.claims.verdict import judge
from fsbench_kit.data import archive
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

__all__ = ["COLUMNS", "Check", "audit", "checks"]

COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "study": pl.String,
    "claim": pl.String,
    "says": pl.String,
    "verdict": pl.String,
    "arithmetic": pl.String,
    "evidence": pl.String,
    "reason": pl.String,
    "footnotes": pl.List(pl.String),
    "stated": pl.String,
    "stated_low": pl.Float64,
    "stated_high": pl.Float64,
    "computed": pl.Float64,
    "computed_low": pl.Float64,
    "computed_high": pl.Float64,
    "cells": pl.Int64,
    "cells_holding": pl.Int64,
    "comparisons": pl.List(
        pl.Struct(
            {
                "outcome": pl.String,
                "words": pl.String,
                "computed": pl.Float64,
                "low": pl.Float64,
                "high": pl.Float64,
            }
        )
    ),
    "contradicting": pl.List(pl.String),
    "not_computable": pl.List(pl.String),
    "confounders": pl.List(pl.String),
    "break_even_cv": pl.Float64,
}


def audit(*paths: str | PathLike[str] | Iterable[str | PathLike[str]]) -> pl.DataFrame:
    """Hold the claims of studies against the studies' own figures.

    Parameters
    ----------
    *paths
        Folders of studies, or folders that hold such; patterns for them; or lists of these.

    Returns
    -------
    pl.DataFrame
        One row for each claim; the columns are `COLUMNS`. ``computed`` is the ratio, difference, share, rank or
        value that the figures give, where a claim is about one pair of them, and ``computed_low`` and
        ``computed_high`` what their rounding allows; ``comparisons`` has the same of each of its cells.
        ``stated_low`` and ``stated_high`` are what counts as the stated size. ``reason`` says why the verdict is
        what it is, ``footnotes`` what else a reader should know. ``contradicting`` names the cells in
        which the figures say otherwise. ``break_even_cv`` is the variation between runs (as a coefficient of
        variation) at which chance alone could make two equal filesystems look like this at the 5 % level, in the
        claim's weakest cell.

    Raises
    ------
    RequestError
        If none of the studies makes a claim.
    """
    rows = []
    for folder in archive.study_folders(*paths):
        study = archive.read_study(folder)
        if not study.claim:
            continue
        dataset = archive.read(folder)
        figures = settings.cells(dataset, "filesystem")
        evidence = Evidence(dataset, "filesystem")
        for claim in study.claim:
            found = list(checks(claim, figures, dataset))
            rows.append({"study": study.study.id, **judge(claim, found, figures, evidence)})
    if not rows:
        raise RequestError(
            "no study here makes a claim",
            hint="Name folders with a study.toml that has [[claim]] tables; see docs/study.md.",
        )
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")
