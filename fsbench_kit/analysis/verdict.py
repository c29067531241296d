"""What each row of a comparison shows: by its reasons, its p value among those of its family, and its margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis import estimation
from fsbench_kit.analysis.confounders import CONFOUNDERS
from fsbench_kit.analysis.estimation import CENSORED, ONE_RUN
from fsbench_kit.analysis.groups import telling
from fsbench_kit.analysis.settings import CELL

if TYPE_CHECKING:
    from fsbench_kit.analysis.reasons import Kind, Reason

Verdict = Literal["better", "worse", "equivalent", "inconclusive", "single runs", "bound only", "not comparable"]

REASONS: Final[dict[str, Reason]] = {reason.code: reason for reason in (*CONFOUNDERS, *estimation.REASONS)}
"""Why a comparison says less than one might expect, by code."""


def codes(*kinds: Kind) -> list[str]:
    """Return the codes of the reasons of some kinds."""
    return [code for code, reason in REASONS.items() if reason.kind in kinds]


def verdict(level: float) -> pl.Expr:
    """Return the verdict of each row, given its columns.

    Parameters
    ----------
    level
        Below which an adjusted p value shows a difference.
    """

    def because(*reasons: str) -> pl.Expr:
        return pl.col("reasons").list.eval(pl.element().is_in(reasons)).list.any()

    rises = (pl.col("ratio") > 1) == (pl.col("better") == "higher")
    differs = pl.col("p_adjusted") < level
    words: list[tuple[pl.Expr, Verdict]] = [
        (because(*codes("no ratio", "verdict withheld")), "not comparable"),
        (because(CENSORED.code), "bound only"),
        (because(ONE_RUN.code), "single runs"),
        (pl.col("p_adjusted").is_null() | pl.col("ratio").is_null(), "inconclusive"),
        (differs & rises, "better"),
        (differs, "worse"),
        (pl.col("equivalent"), "equivalent"),
    ]
    return pl.coalesce(*(pl.when(holds).then(pl.lit(word)) for holds, word in words), pl.lit("inconclusive"))


def adjusted(rows: pl.DataFrame) -> pl.Series:
    """Return p, adjusted over each family: the rows that share what they measure and a statistic.

    The IOPS and the bandwidth of a job are one figure in two units: they share a family, in which their two
    rows are one test, with the larger p of both.
    """
    tested = rows.with_row_index("row").drop_nulls("p").with_columns(pl.col("metric").replace(_SAME_FIGURE))
    apart = {*telling(tested, CELL), "metric", "statistic", "level"}
    tests = tested.group_by(apart, maintain_order=True).agg("row", pl.col("p").max())
    p = np.full(rows.height, np.nan)
    for _, family in tests.group_by("metric", "statistic", maintain_order=True):
        p[family["row"].explode().to_numpy()] = np.repeat(stats.holm(family["p"]), family["row"].list.len())
    return pl.Series(p).fill_nan(None)


_SAME_FIGURE: Final = {"iops": "bandwidth"}
