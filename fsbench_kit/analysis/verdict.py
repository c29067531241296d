"""Judges each row of a comparison by its reasons, its test among those of its family, and the margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis import estimation, shapes
from fsbench_kit.analysis.confounders import CONFOUNDERS
from fsbench_kit.analysis.estimation import CENSORED, ONE_RUN
from fsbench_kit.analysis.groups import telling
from fsbench_kit.analysis.intervals import FEWEST_UNITS
from fsbench_kit.analysis.metrics import PLACE, QUESTION
from fsbench_kit.analysis.settings import CELL

if TYPE_CHECKING:
    from fsbench_kit.analysis.reasons import Kind, Reason

Verdict = Literal["better", "worse", "equivalent", "inconclusive", "single runs", "bound only", "not comparable"]

REASONS: Final[dict[str, Reason]] = {
    reason.code: reason for reason in (*CONFOUNDERS, *estimation.REASONS, *shapes.REASONS)
}
"""The reasons why a comparison says less than expected, by code."""


def codes(*kinds: Kind) -> list[str]:
    """Return the codes of the reasons of the given kinds."""
    return [code for code, reason in REASONS.items() if reason.kind in kinds]


FAMILY: Final = ("study", "tool")
"""The columns of a family, whose effects are corrected for multiple testing."""


def judged(rows: pl.DataFrame, level: float) -> pl.DataFrame:
    """Return the rows with their ``effect``, ``p_adjusted``, ``tested``, ``error`` and ``verdict``.

    Each effect is tested once. Metrics that are functions of one another (`metrics.QUESTION`) answer the same
    question: the first one that can be tested is, and all share its verdict. Rows whose verdict is withheld, and
    groups of two runs, are not part of the family.

    Parameters
    ----------
    rows
        The columns of a comparison, and ``p_equivalent`` and ``units`` of `fsbench_kit.analysis.estimates`.
    level
        The chance of a false difference in a family, and of a false equivalence.
    """
    withheld = _because(*codes("no ratio", "verdict withheld"))
    rows = _with_effects(
        rows.with_columns(
            question=QUESTION,
            place=PLACE,
            testable=~withheld & pl.col("p").is_not_null() & (pl.col("units") >= FEWEST_UNITS),
        )
    )
    tested = rows.filter("testable", pl.col("effect") == pl.col("row"))
    families = tested.select(*FAMILY, "effect", *_OF_TEST).partition_by(FAMILY)
    bound = pl.coalesce("ratio", "rounding_low").fill_null(0.0)  # a bound is only tested if it lies beyond 1
    shown = (
        pl.when(pl.col("p_equivalent") <= level)
        .then(pl.lit("equivalent"))
        .when(pl.col("p_adjusted") >= level)
        .then(pl.lit("inconclusive"))
        .when((bound > 1) == (pl.col("better") == "higher"))
        .then(pl.lit("better"))
        .otherwise(pl.lit("worse"))
    )
    tests = pl.concat(
        family.with_columns(
            p_adjusted=_holm(family["p"]),
            p_equivalent=_holm(family["p_equivalent"]),
            tested=pl.lit(family.height),
            error=pl.lit(min(1.0, len(families) * level)),
        )
        for family in families or [tested.clear()]
    )
    of_effect = tests.select("effect", "p_adjusted", "tested", "error", shown=shown)
    words: list[tuple[pl.Expr, Verdict]] = [
        (withheld, "not comparable"),
        (_because(CENSORED.code), "bound only"),
        (_because(ONE_RUN.code), "single runs"),
    ]
    of_reasons = pl.coalesce(*(pl.when(holds).then(pl.lit(word)) for holds, word in words), pl.lit("inconclusive"))
    return rows.join(
        of_effect.with_columns(testable=True), on=["effect", "testable"], how="left", maintain_order="left"
    ).with_columns(verdict=pl.when(pl.col("shown") != "inconclusive").then("shown").otherwise(of_reasons))


_OF_TEST: Final = ("p", "p_equivalent", "ratio", "rounding_low", "better")


def _because(*reasons: str) -> pl.Expr:
    return pl.col("reasons").list.eval(pl.element().is_in(reasons)).list.any()


def _holm(p: pl.Series) -> pl.Series:
    return pl.Series(stats.holm(p.to_numpy()))


def _with_effects(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the number of each row, and that of the row that represents its effect.

    A metric whose interval contradicts that of the first one is not a function of it, as the latency at a fixed
    rate is not a function of that rate; it is an effect of its own.
    """
    rows = rows.with_row_index("row")
    if rows.select("metric", "statistic").n_unique() == rows["question"].n_unique():
        return rows.with_columns(effect="row")  # no question has several metrics
    keys = [
        *telling(rows, [name for name in CELL if name not in ("metric", "statistic")]),
        "baseline",
        "level",
        "question",
    ]
    higher = pl.col("better") == "higher"
    low = pl.when(higher).then("ci_low").otherwise(1 / pl.col("ci_high"))
    high = pl.when(higher).then("ci_high").otherwise(1 / pl.col("ci_low"))
    first = (
        rows.with_columns(low=low, high=high)
        .sort(pl.col("testable").not_(), "place", maintain_order=True)
        .group_by(keys, maintain_order=True)
        .agg(effect=pl.col("row").first(), first_low=pl.col("low").first(), first_high=pl.col("high").first())
    )
    beside = rows.join(first, on=keys, how="left", nulls_equal=True, maintain_order="left")
    contradicts = pl.col("testable") & ((low > pl.col("first_high")) | (high < pl.col("first_low")))
    return beside.with_columns(effect=pl.when(contradicts).then("row").otherwise("effect"))
