"""Decides whether a comparison passes: nothing is worse than tolerated, and everything is decided."""

from __future__ import annotations

from typing import Final, Literal

import polars as pl

from fsbench_kit.analysis.metrics import OF_EFFECT, PLACE

Outcome = Literal["passes", "worse", "not comparable", "undecided"]

OBSTACLES: Final[tuple[Outcome, ...]] = ("worse", "not comparable", "undecided")
"""The outcomes that keep a comparison from passing, the most serious first."""

_GRAVITY: Final = {outcome: place for place, outcome in enumerate((*OBSTACLES, "passes"))}


def gate(comparison: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Return the ``outcome`` of each effect of a comparison, the largest losses first.

    Parameters
    ----------
    comparison
        The result of `fsbench_kit.compare`.
    tolerance
        The factor by which a figure may be worse: 1.05 for 5 %, 1 for no loss.

    Notes
    -----
    A row passes if it is better or equivalent, or worse by no more than the tolerance. An inconclusive row passes
    if its interval excludes a loss beyond the tolerance. If an effect has several metrics, such as the bandwidth
    and IOPS of a job, the row with the most serious outcome represents all.
    """
    higher, tested = pl.col("better") == "higher", pl.col("p_adjusted").is_not_null()
    gain = pl.when(higher).then("ratio").otherwise(1 / pl.col("ratio"))
    least = pl.when(higher).then("ci_low").otherwise(1 / pl.col("ci_high"))
    bound = pl.when(higher).then("rounding_high").otherwise(1 / pl.col("rounding_low"))
    verdict, tolerated = pl.col("verdict"), 1 / tolerance
    outcomes: list[tuple[pl.Expr, Outcome]] = [
        (verdict.is_in(["better", "equivalent"]), "passes"),
        ((verdict == "worse") & (gain >= tolerated), "passes"),
        ((verdict == "worse") & (pl.coalesce(gain, bound) < tolerated), "worse"),
        ((verdict == "inconclusive") & tested & (least >= tolerated), "passes"),
        (verdict == "not comparable", "not comparable"),
    ]
    outcome = pl.coalesce(*(pl.when(holds).then(pl.lit(word)) for holds, word in outcomes), pl.lit("undecided"))
    return (
        comparison.with_columns(outcome=outcome)
        .sort(pl.col("outcome").replace_strict(_GRAVITY), PLACE, maintain_order=True)
        .unique(OF_EFFECT, keep="first", maintain_order=True)
        .sort(pl.coalesce(gain, bound), nulls_last=True, maintain_order=True)
    )
