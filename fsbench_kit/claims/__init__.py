"""Audits claims: checks what an article says against the figures that it prints.

An audit answers each claim in three parts. *Direction*: do the figures agree with the article, or say the
contrary? *Size*: do they have the stated size? *Evidence*: how much would they show if they agreed? A claim can be
correct to the digit and still rest on two single runs on two hosts.

::

    fsb.audit("raw_results/published/sysbench-rhel72")

Claims are written by hand in a study's ``study.toml``; see ``docs/claims.md``. `RELATIONS` are what they can say.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis import settings
from fsbench_kit.analysis.design import Evidence
from fsbench_kit.claims.relations import RELATIONS, Known, Relation
from fsbench_kit.claims.verdict import judge, unjudged
from fsbench_kit.data.files import STUDY_FILE
from fsbench_kit.data.reading import read
from fsbench_kit.data.study import ClaimFacts, StudyDescription, read_study, study_folders
from fsbench_kit.model.errors import InputError, RequestError
from fsbench_kit.model.operations import OPERATIONS
from fsbench_kit.model.order import in_order
from fsbench_kit.model.suggestions import known_instead
from fsbench_kit.model.toml_lines import lines_of_keys
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike
    from pathlib import Path

    from fsbench_kit.data.dataset import Dataset

__all__ = ["COLUMNS", "RELATIONS", "Relation", "audit"]

COLUMNS: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "study": pl.String,
    "claim": pl.String,
    "place": pl.String,
    "says": pl.String,
    "verdict": pl.String,
    "direction": pl.String,
    "size": pl.String,
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
    "cells_right": pl.Int64,
    "comparisons": pl.List(
        pl.Struct(
            {
                "direction": pl.String,
                "size": pl.String,
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


def audit(
    *paths: str | PathLike[str] | Iterable[str | PathLike[str]], runs: Dataset | None = None
) -> pl.DataFrame:
    """Check the claims of studies against the studies' own figures.

    Parameters
    ----------
    *paths
        Folders of studies, folders that contain these, patterns for them, or lists of any of these.
    runs
        Other runs to judge the claims by, such as those of a replication. Claims about something that these lack
        are not judged, and ``reason`` says what is missing.

    Returns
    -------
    pl.DataFrame
        One row for each claim; the columns are `COLUMNS`. ``docs/claims.md`` lists the values of ``direction``,
        ``size``, ``evidence`` and ``verdict``, which are null if there is none. If a claim has a single cell,
        ``computed`` is the ratio, difference, share, rank or value of its figures, and ``computed_low`` and
        ``computed_high`` are what their rounding or the variation of runs allows; ``comparisons`` has the same for
        each cell. ``stated_low`` and ``stated_high`` limit what counts as the stated size. ``break_even_cv`` is
        the variation between runs (as a coefficient of variation) at which chance alone could make two equal
        groups look like this at the 5 % level, in the weakest cell.

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
    >>> claims.filter(claim="rndrd-4").select("direction", "size", "evidence").row(0)
    ('as said', 'reproduces', 'single figures')
    """
    rows = []
    for folder in study_folders(*paths):
        study = read_study(folder)
        if study.claim:
            answers = _answers(study, read(folder) if runs is None else runs, folder, theirs=runs is None)
            rows += [{"study": study.study.id, **answer} for answer in answers]
    if not rows:
        raise RequestError(
            "no study here makes a claim",
            hint="Name folders with a study.toml that has [[claim]] tables; see docs/claims.md.",
        )
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def _answers(
    study: StudyDescription, dataset: Dataset, folder: Path, *, theirs: bool
) -> Iterable[Mapping[str, object]]:
    @cache
    def known(factor: str) -> Known:
        cells = settings.cells(dataset, factor).with_columns(pl.col("level").alias(factor))
        return Known(cells, dataset, Evidence(dataset, factor))

    for claim in study.claim:
        try:
            _check_keys(claim)
            if claim.unjudged is not None:
                yield unjudged(claim)
                continue
            of_factor = known(_factor(claim))
            if not theirs and (lack := _lack(claim, of_factor.cells)) is not None:
                yield unjudged(claim.model_copy(update={"unjudged": lack}))
                continue
            _check_values(claim, of_factor.cells, [*study.filesystems, *dataset.runs["filesystem"].drop_nulls()])
            yield judge(claim, list(RELATIONS[str(claim.relation)].findings(claim, of_factor)), of_factor)
        except RequestError as error:
            raise _mistake(study, claim, folder, error) from error


def _factor(claim: ClaimFacts) -> str:
    """Return what distinguishes a claim's groups: the filesystem, or a fact or setting of runs that it names."""
    named = [key for key in (*claim.of, *claim.than) if key not in _OF_FIGURES]
    return "filesystem" if "filesystem" in named or not named else named[0]


_OF_FIGURES: Final = frozenset(settings.CELL) - {"filesystem"}
"""Columns that distinguish figures of one run, or runs of different work."""


def _check_keys(claim: ClaimFacts) -> None:
    """Raise if the keys of a claim do not go together.

    Raises
    ------
    RequestError
        With the reason.
    """
    if claim.relation is None or claim.unjudged is not None:
        if (claim.relation is None) == (claim.unjudged is None):
            raise RequestError('it needs either a "relation", or "unjudged" with the reason')
        return
    if claim.relation not in RELATIONS:
        raise RequestError(
            f'there is no relation "{claim.relation}"',
            hint=f"Relations are: {', '.join(RELATIONS)}; see docs/claims.md.",
        )
    relation = RELATIONS[claim.relation]
    missing = [key for key in relation.needs if getattr(claim, key) is None]
    if missing:
        keys = " and ".join(f'"{key}"' for key in missing)
        raise RequestError(f'the relation "{claim.relation}" needs {keys}')
    lists = [len(value) for value in claim.where.values() if isinstance(value, list)]
    if claim.over == "ratio" and lists != [2]:
        raise RequestError(
            'over = "ratio" takes one list of two values in "where"',
            hint='For example where = { operation = ["write", "read"] }.',
        )
    if claim.metric is not None and claim.metric not in METRICS:
        raise RequestError(f"there is no metric {claim.metric!r}", hint=known_instead(claim.metric, METRICS))
    if claim.of and claim.of == claim.than:
        raise RequestError('"of" and "than" are one group, so that there is nothing to compare')
    relation.stated(claim)


def _check_values(claim: ClaimFacts, cells: pl.DataFrame, filesystems: Iterable[str]) -> None:
    """Raise if a claim is about values that its study cannot have: a typo is not the article's mistake."""
    for column, value in (*claim.where.items(), *claim.of.items(), *claim.than.items()):
        if column not in cells.columns:
            raise RequestError(
                f"figures have no column {column!r}", hint=f"Their columns are: {', '.join(settings.CELL)}."
            )
        known = set(cells[column].drop_nulls().unique())
        known |= (
            set(OPERATIONS) if column == "operation" else set(filesystems) if column == "filesystem" else set()
        )
        for one in value if isinstance(value, list) else [value]:
            if one not in known:
                raise RequestError(
                    f"no figure of this study has {column} {one!r}",
                    hint=known_instead(str(one), in_order(map(str, known))),
                )


def _lack(claim: ClaimFacts, cells: pl.DataFrame) -> str | None:
    """Return what a claim is about that the runs, which are not those of its study, do not have; or ``None``."""
    if claim.relation == "setting":
        return "It is about how the study was made."
    for column, value in (*claim.where.items(), *claim.of.items(), *claim.than.items()):
        known = set(cells[column]) if column in cells.columns else set()
        for one in value if isinstance(value, list) else [value]:
            if one not in known:
                return f"these runs have no figure with {column} {one!r}"
    return None


def _mistake(study: StudyDescription, claim: ClaimFacts, folder: Path, error: RequestError) -> InputError:
    """Return an error that points to the line with the claim's id, or to the beginning of its table."""
    file = folder / STUDY_FILE
    table = ("claim", study.claim.index(claim))
    lines = lines_of_keys(file.read_text(encoding="utf-8"))
    line = lines.get((*table, "id"), lines.get(table))
    return InputError(f'claim "{claim.id}": {error.what}', file=file, line=line, hint=error.hint)
