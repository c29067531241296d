"""Explains why a row of a comparison says less than expected, and what readers should know about its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.stats.result import Ints

    Rows: TypeAlias = pl.Series | Ints | list[int]

Kind = Literal["no ratio", "no interval", "verdict withheld", "footnote"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a row has no ratio, no interval or no verdict; or only what a reader should know about it.

    Attributes
    ----------
    code
        The code in the column ``reasons``, which has none for footnotes.
    kind
        What is missing as a result.
    meaning
        The sentence that explains it if nothing more specific is known.
    """

    code: str
    kind: Kind
    meaning: str


class _Remark(NamedTuple):
    """A reason or footnote of some rows, with a sentence for each row."""

    rows: Ints
    code: str | None
    texts: pl.Series
    withholds: bool


class Remarks:
    """Reasons and footnotes of rows, in the order in which they were added to each row."""

    def __init__(self) -> None:
        self._added: list[_Remark] = []

    def because(self, rows: Rows, reason: Reason, sentences: pl.Series | None = None) -> None:
        """Add a reason to some rows, with its meaning or with sentences that describe what was found."""
        code = None if reason.kind == "footnote" else reason.code
        texts = reason.meaning if sentences is None else sentences.fill_null(reason.meaning)
        self._add(rows, code, texts, withholds=reason.kind == "verdict withheld")

    def note(self, rows: Rows, sentence: str | pl.Series) -> None:
        """Add a footnote to some rows: one for all, or one for each."""
        self._add(rows, None, sentence)

    def _add(self, rows: Rows, code: str | None, texts: str | pl.Series, *, withholds: bool = False) -> None:
        if len(rows):
            if isinstance(texts, str):
                texts = pl.Series([texts], dtype=pl.String).new_from_index(0, len(rows))
            self._added.append(_Remark(np.asarray(rows), code, texts, withholds))

    def with_code(self, codes: Sequence[str]) -> pl.Series:
        """Return the rows that have any of the codes."""
        return pl.Series("row", np.concatenate([_NO_ROWS, *(of.rows for of in self._added if of.code in codes)]))

    def sentences(self) -> tuple[list[str], list[str]]:
        """Return the sentences of reasons and those of footnotes, over all rows and without duplicates."""
        remarks = self._by_row()
        of_reasons, others = (
            remarks.filter(which)["text"] for which in (pl.col("code").is_not_null(), pl.col("code").is_null())
        )
        return of_reasons.unique(maintain_order=True).to_list(), others.unique(maintain_order=True).to_list()

    def columns(self, rows: int, *after: Remarks) -> pl.DataFrame:
        """Return ``reasons`` and ``footnotes`` of all rows, followed by those of further remarks."""
        known, texts = (pl.col(name).drop_nulls() for name in ("code", "text"))
        of_rows = self._by_row(*after, rows=rows).group_by("row", maintain_order=True)
        found = of_rows.agg(reasons=known.unique(maintain_order=True), footnotes=texts)
        return found[["reasons", "footnotes"]]

    def sentences_by_row(self, rows: int) -> pl.DataFrame:
        """Return the sentences of all rows: ``withheld`` explains a missing verdict, ``notes`` are footnotes."""
        text, is_note = pl.col("text"), pl.col("code").is_null() & pl.col("text").is_not_null()
        of_rows = self._by_row(rows=rows).group_by("row", maintain_order=True)
        return of_rows.agg(withheld=text.filter("withholds"), notes=text.filter(is_note)).drop("row")

    def _by_row(self, *after: Remarks, rows: int = 0) -> pl.DataFrame:
        """Return a line for each remark, row by row, after an empty one for each of the first rows."""
        empty = _Remark(np.arange(rows), None, _NO_TEXT.new_from_index(0, rows), withholds=False)
        added = [empty, *(of for remarks in (self, *after) for of in remarks._added)]
        row, of = np.concatenate([each.rows for each in added]), [each.rows.size for each in added]
        order = np.argsort(row, kind="stable")
        number = np.repeat(np.arange(len(added)), of)[order]
        return pl.DataFrame(
            {
                "row": pl.Series(row[order], dtype=pl.Int64).set_sorted(),
                "code": pl.Series([each.code for each in added], dtype=pl.String)[number],
                "text": pl.concat([each.texts for each in added])[order],
                "withholds": np.array([each.withholds for each in added])[number],
            }
        )


_NO_ROWS: Final = np.zeros(0, dtype=np.int64)
_NO_TEXT: Final = pl.Series([None], dtype=pl.String)
