"""Audits claims: checks what an article says against the figures that it prints.

An audit answers two questions. *Arithmetic*: do the printed figures give what the article says? *Evidence*: how
much would they show if they did? A claim can be arithmetically right and rest on two single runs on two hosts.

::

    fsb.audit("raw_results/published/sysbench-rhel72")

Claims are written by hand in a study's ``study.toml``; see ``docs/claims.md``. `RELATIONS` is what they can say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.design import Evidence
from fsbench_kit.claims.relations import RELATIONS, Relation
from fsbench_kit.claims.verdict import judge
from fsbench_kit.data.reading import read
from fsbench_kit.data.study import STUDY_FILE, read_study, study_folders
from fsbench_kit.model.errors import InputError, RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from pathlib import Path

    from fsbench_kit.data.study import ClaimFacts

__all__ = ["COLUMNS", "RELATIONS", "Relation", "audit"]

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
    """Check the claims of studies against the studies' own figures.

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
    InputError
        If a claim has an unknown relation, lacks a key that its relation needs, or names a column that figures do
        not have.
    RequestError
        If none of the studies makes a claim.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> claims = fsb.audit("raw_results/published/sysbench-rhel72")
    >>> claims.select("says", "verdict").row(2)
    ('XFS writes sequentially at twice the throughput of EXT4', 'arithmetically wrong')
    """
    rows = []
    for folder in study_folders(*paths):
        study = read_study(folder)
        if not study.claim:
            continue
        for claim in study.claim:
            _check_complete(claim, folder)
        dataset = read(folder)
        figures = settings.cells(dataset, "filesystem")
        evidence = Evidence(dataset, "filesystem")
        for claim in study.claim:
            try:
                found = list(RELATIONS[claim.relation].checks(claim, figures, dataset))
            except RequestError as error:
                raise _mistake(claim, folder, error.what, error.hint) from error
            rows.append({"study": study.study.id, **judge(claim, found, figures, evidence)})
    if not rows:
        raise RequestError(
            "no study here makes a claim",
            hint="Name folders with a study.toml that has [[claim]] tables; see docs/claims.md.",
        )
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def _check_complete(claim: ClaimFacts, folder: Path) -> None:
    if claim.relation not in RELATIONS:
        hint = f"Relations are: {', '.join(RELATIONS)}; see docs/claims.md."
        raise _mistake(claim, folder, f'there is no relation "{claim.relation}"', hint)
    missing = [key for key in RELATIONS[claim.relation].needs if getattr(claim, key) is None]
    if missing:
        keys = " and ".join(f'"{key}"' for key in missing)
        raise _mistake(claim, folder, f'the relation "{claim.relation}" needs {keys}')


def _mistake(claim: ClaimFacts, folder: Path, what: str, hint: str | None = None) -> InputError:
    """Say where a claim is wrong: on the line with its id."""
    file = folder / STUDY_FILE
    rows = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    lines = [number for number, row in rows if re.match(rf"\s*id\s*=.*{re.escape(claim.id)}", row)]
    return InputError(f'claim "{claim.id}": {what}', file=file, line=lines[-1] if lines else None, hint=hint)
