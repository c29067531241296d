"""Judges each row of a comparison by its reasons, its test among those of its family, and the margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis import estimation, shapes
from fsbench_kit.analysis.confounders import CONFOUNDERS
from fsbench_kit.analysis.estimation import CENSORED, ONE_RUN
from fsbench_kit.analysis.intervals import FEWEST_UNITS
from fsbench_kit.analysis.metrics import PLACE, QUESTION
from fsbench_kit.analysis.parts import Parts, differing, telling
from fsbench_kit.analysis.settings import CELL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.analysis.reasons import Kind, Reason, Remarks
    from fsbench_kit.stats.result import Bools, Ints

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


def judged(rows: pl.DataFrame, remarks: Sequence[Remarks], level: float) -> pl.DataFrame:
    """Return the rows with their ``effect``, ``p_adjusted``, ``tested``, ``error`` and ``verdict``.

    Each effect is tested once. Metrics that are functions of one another (`metrics.QUESTION`) answer the same
    question: the first one that can be tested is, and all share its verdict. Rows whose verdict is withheld, and
    groups of two runs, are not part of the family.

    Parameters
    ----------
    rows
        The columns of a comparison, and ``p_equivalent`` and ``units`` of `fsbench_kit.analysis.estimates`.
    remarks
        Their reasons.
    level
        The chance of a false difference in a family, and of a false equivalence.
    """

    def because(*reasons: str) -> Bools:
        found = np.zeros(rows.height, dtype=np.bool_)
        for of_some in remarks:
            found[of_some.with_code(reasons).to_numpy()] = True
        return found

    withheld = because(*codes("no ratio", "verdict withheld"))
    p, units, ratio, bound = (rows[name].to_numpy() for name in ("p", "units", "ratio", "rounding_low"))
    testable = ~withheld & ~np.isnan(p) & (units >= FEWEST_UNITS)
    effect = _effects(rows, testable)
    p_adjusted, p_equivalent, tested, error = np.full((4, rows.height), np.nan)
    every = np.arange(rows.height)
    first = np.flatnonzero(testable & (effect == every))
    families = Parts.of_rows(rows[list(FAMILY)][first]).rows if first.size else []
    for family in (first[places] for places in families):
        p_adjusted[family] = stats.holm(p[family])
        p_equivalent[family] = stats.holm(rows["p_equivalent"].to_numpy()[family])
        tested[family], error[family] = family.size, min(1.0, len(families) * level)

    p_adjusted, p_equivalent, tested, error, ratio, bound = (
        np.where(testable, of_row[effect], np.nan)
        for of_row in (p_adjusted, p_equivalent, tested, error, ratio, bound)
    )
    higher = (rows["better"] == "higher").to_numpy()[effect]
    is_greater = np.where(np.isnan(ratio), bound, ratio) > 1  # a bound is only tested if it lies beyond 1
    verdicts: list[tuple[Verdict, Bools]] = [
        ("equivalent", p_equivalent <= level),
        ("better", (p_adjusted < level) & (is_greater == higher)),
        ("worse", (p_adjusted < level) & (is_greater != higher)),
        ("not comparable", withheld),
        ("bound only", because(CENSORED.code)),
        ("single runs", because(ONE_RUN.code)),
    ]
    words = pl.Series("verdict", [*(word for word, _ in verdicts), "inconclusive"])
    verdict = words[np.select([holds for _, holds in verdicts], range(len(verdicts)), len(verdicts))]
    found = {"p_adjusted": p_adjusted, "tested": tested, "error": error}
    columns = [pl.Series(name, values, nan_to_null=True) for name, values in found.items()]
    return rows.with_columns_seq(verdict, *columns, pl.Series("effect", effect))


def _effects(rows: pl.DataFrame, testable: Bools) -> Ints:
    """Return for each row the number of the row that represents its effect.

    A metric whose interval contradicts that of the first one is not a function of it, as the latency at a fixed
    rate is not a function of that rate; it is an effect of its own.
    """
    every = np.arange(rows.height)
    if not differing(rows, ["metric", "statistic"]):
        return every
    kinds = rows.select("metric", "statistic").unique()
    if kinds.height == kinds.select(QUESTION).n_unique():
        return every  # no question has several metrics
    keys = [
        *telling(rows, [name for name in CELL if name not in ("metric", "statistic")]),
        "baseline",
        "level",
        "question",
    ]
    higher = pl.col("better") == "higher"
    low = pl.when(higher).then("ci_low").otherwise(1 / pl.col("ci_high"))
    high = pl.when(higher).then("ci_high").otherwise(1 / pl.col("ci_low"))
    ends = rows.select(
        *keys[:-1],
        question=QUESTION,
        place=PLACE,
        row=pl.Series(every),
        testable=pl.Series(testable),
        low=low,
        high=high,
    )
    first = (
        ends.sort(pl.col("testable").not_(), "place", maintain_order=True)
        .group_by(keys, maintain_order=True)
        .agg(effect=pl.col("row").first(), first_low=pl.col("low").first(), first_high=pl.col("high").first())
    )
    beside = ends.join(first, on=keys, how="left", nulls_equal=True, maintain_order="left")
    contradicts = pl.col("testable") & (
        (pl.col("low") > pl.col("first_high")) | (pl.col("high") < pl.col("first_low"))
    )
    return beside.select(pl.when(contradicts).then("row").otherwise("effect")).to_series().to_numpy()
