"""What the measurements of each row show, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.reasons import Remarks
from fsbench_kit.stats.values import checked_confidence, checked_log

if TYPE_CHECKING:
    from fsbench_kit.analysis.samples import Samples
    from fsbench_kit.stats import RatioEstimate
    from fsbench_kit.stats.result import Floats, Ints

NUMBERS: Final = (
    "value_baseline",
    "value_candidate",
    "n_pairs",
    "ratio",
    "rounding_low",
    "rounding_high",
    "ci_low",
    "ci_high",
    "confidence",
    "companion_low",
    "companion_high",
    "prediction_low",
    "prediction_high",
    "break_even_cv",
    "p",
)

WORDS: Final = ("estimand", "method", "companion_method", "over")

TESTS: Final = (
    *stats.LogRatio._fields,
    *("units", "per_unit", "degrees", "above", "below", "p_equivalent"),
)
"""What the verdict rests on besides: the estimate that is tested, how much less and more its rounding allows, and
in how many pairs the candidate has the greater figure, and the smaller one."""


class Estimates:
    """What the measurements of each row show, column by column.

    Attributes
    ----------
    numbers
        The columns of `NUMBERS` and `TESTS`, nan where there is none.
    words
        The columns of `WORDS`.
    remarks
        Why a row has no more, and what to keep in mind when reading it.
    rounding
        How far the true figures of each group may lie from the printed ones to either side, as a mean logarithm.
    scatter
        Rows of few runs, and how far each two runs of one of their groups lie apart, or the ratios of two rounds.
    """

    def __init__(self, rows: int) -> None:
        self.numbers = {name: np.full(rows, np.nan) for name in (*NUMBERS, *TESTS)}
        self.words = {name: np.full(rows, None, dtype=object) for name in WORDS}
        self.remarks = Remarks()
        self.rounding: Floats = np.zeros(0)
        self.scatter: list[tuple[Ints, Floats]] = []

    def put(self, rows: Ints, **columns: Any) -> None:
        """Fill in columns of some rows; words are the same for all of them."""
        for name, found in columns.items():
            (self.words if name in self.words else self.numbers)[name][rows] = found

    def put_ratios(self, samples: Samples) -> None:
        """Fill in the geometric means of both groups, and their ratio."""
        of_a, of_b = (np.exp(np.ma.getdata(np.ma.log(runs).mean(axis=-1))) for runs in samples[1:])
        self.put(samples.rows, value_baseline=of_a, value_candidate=of_b, ratio=of_b / of_a)

    def with_rounding(self, rows: Ints, result: RatioEstimate) -> tuple[Floats, Floats]:
        """Let intervals reach as much further as the rounding of figures does; none has an open end."""
        down, up = self.numbers["down"][rows], self.numbers["up"][rows]
        reach = np.where(np.isfinite(down + up), 1.0, np.nan)
        return reach * result.low * np.exp(-down), reach * result.high * np.exp(up)

    def note_caveats(self, rows: Ints, result: RatioEstimate) -> None:
        """Say of some rows what a method says of its intervals."""
        for caveat, applies in result.caveats.items():
            self.remarks.note(rows[applies], caveat)

    def columns(self) -> dict[str, pl.Series]:
        """Return all columns; what is not finite is null: an unknown, an open end, a lower bound of nothing."""
        known = {
            name: pl.Series(np.where(np.isfinite(values), values, np.nan)).fill_nan(None)
            for name, values in self.numbers.items()
        }
        words = {name: pl.Series(values.tolist(), dtype=pl.String) for name, values in self.words.items()}
        return {**known, **words}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What all rows share: the factor, the confidence of intervals, and the largest ratio that counts as equal."""

    factor: str
    confidence: float
    margin: float = 1.05

    def __post_init__(self) -> None:
        checked_confidence(self.confidence)
        checked_log(self.margin)
