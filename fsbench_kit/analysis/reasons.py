"""Explains why a row of a comparison says less than expected, and what readers should know about its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polars.dataframe.group_by import GroupBy

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


class Remarks:
    """Reasons and footnotes of rows, in the order in which they were added to each row."""

    def __init__(self) -> None:
        self._added = [pl.DataFrame(schema=_SCHEMA)]

    def because(self, rows: Rows, reason: Reason, sentences: pl.Series | None = None) -> None:
        """Add a reason to some rows, with its meaning or with sentences that describe what was found."""
        code = None if reason.kind == "footnote" else reason.code
        sentence = pl.lit(reason.meaning) if sentences is None else sentences.fill_null(reason.meaning)
        self._add(rows, code, sentence, withholds=reason.kind == "verdict withheld")

    def note(self, rows: Rows, sentence: str | pl.Series) -> None:
        """Add a footnote to some rows: one for all, or one for each."""
        self._add(rows, None, pl.lit(sentence) if isinstance(sentence, str) else sentence)

    def _add(self, rows: Rows, code: str | None, text: pl.Expr | pl.Series, *, withholds: bool = False) -> None:
        if len(rows):
            added = pl.DataFrame({"row": rows}, schema_overrides={"row": pl.Int64})
            self._added.append(
                added.select("row", code=pl.lit(code, pl.String), text=text, withholds=pl.lit(withholds))
            )

    def with_code(self, codes: Sequence[str]) -> pl.Series:
        """Return the rows that have any of the codes."""
        return pl.concat(self._added).filter(pl.col("code").is_in(codes))["row"]

    def sentences(self) -> tuple[list[str], list[str]]:
        """Return the sentences of reasons and those of footnotes, over all rows and without duplicates."""
        said = pl.concat(self._added).sort("row", maintain_order=True)
        of_reasons, others = (
            said.filter(which)["text"] for which in (pl.col("code").is_not_null(), pl.col("code").is_null())
        )
        return of_reasons.unique(maintain_order=True).to_list(), others.unique(maintain_order=True).to_list()

    def columns(self, rows: int, *after: Remarks) -> pl.DataFrame:
        """Return ``reasons`` and ``footnotes`` of all rows, followed by those of further remarks."""
        known, texts = (pl.col(name).drop_nulls() for name in ("code", "text"))
        of_rows = self._by_row(rows, *after)
        return of_rows.agg(reasons=known.unique(maintain_order=True), footnotes=texts).drop("row")

    def told_apart(self, rows: int) -> pl.DataFrame:
        """Return the sentences of all rows: ``withheld`` explains a missing verdict, ``notes`` are footnotes."""
        text, is_note = pl.col("text"), pl.col("code").is_null() & pl.col("text").is_not_null()
        return self._by_row(rows).agg(withheld=text.filter("withholds"), notes=text.filter(is_note)).drop("row")

    def _by_row(self, rows: int, *after: Remarks) -> GroupBy:
        nothing, no_kind = pl.lit(None, pl.String), pl.lit(None, pl.Boolean)
        every = pl.select(row=pl.int_range(rows), code=nothing, text=nothing, withholds=no_kind)
        added: list[pl.DataFrame] = [frame for remarks in (self, *after) for frame in remarks._added]
        return pl.concat([every, *added]).group_by("row", maintain_order=True)


_SCHEMA: Final = {"row": pl.Int64, "code": pl.String, "text": pl.String, "withholds": pl.Boolean}
