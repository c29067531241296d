"""What the measurements of each row show, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.reasons import Remarks
from fsbench_kit.stats.values import checked_confidence, checked_log

if TYPE_CHECKING:
    from fsbench_kit.analysis.samples import Sampler, Samples
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
    "p_equivalent",
    "units",
    "above",
    "below",
)
"""The last four are not columns of a comparison: p of "the ratio lies beyond the margin", the number of units, and
the number of pairs in which the candidate has the larger and the smaller figure."""

WORDS: Final = ("estimand", "method", "companion_method", "over")

TESTS: Final = (*stats.LogRatio._fields, "per_unit", "degrees")
"""What the tests need: the estimate, its spread, and how far rounding may lower and raise it."""


class Estimates:
    """What the measurements of each row show, as columns.

    Attributes
    ----------
    samples
        The runs of rows and of groups.
    numbers
        The columns of `NUMBERS` and `TESTS`, with nan for no value.
    remarks
        Why a row shows no more, and what to keep in mind when reading it.
    rounding
        How far the true figures of each group may be from the printed ones in either direction, as a mean
        logarithm.
    scatter
        Rows of few runs, with the distances between any two runs of a group, or between the ratios of two rounds.
    """

    def __init__(self, rows: int, samples: Sampler) -> None:
        self.numbers = {name: np.full(rows, np.nan) for name in (*NUMBERS, *TESTS)}
        self._words = {name: np.zeros(rows, dtype=np.uint32) for name in WORDS}
        self._known: list[str | None] = [None]
        self.remarks = Remarks()
        self.samples = samples
        self.rounding: Floats = np.zeros(0)
        self.scatter: list[tuple[Ints, Floats]] = []

    def put(self, rows: Ints, **columns: Any) -> None:
        """Fill in columns of some rows; a word applies to all of them."""
        for name, found in columns.items():
            if name in self.numbers:
                self.numbers[name][rows] = found
                continue
            if found not in self._known:
                self._known.append(found)
            self._words[name][rows] = self._known.index(found)

    def text(self, name: str) -> pl.Series:
        """Return a column of `WORDS`."""
        return pl.Series(name, self._known, dtype=pl.String)[self._words[name]]

    def put_ratios(self, samples: Samples) -> None:
        """Fill in the geometric means of both groups and their ratio."""
        of_a, of_b = (np.exp(runs.log().mean()) for runs in (samples.a, samples.b))
        self.put(samples.rows, value_baseline=of_a, value_candidate=of_b, ratio=of_b / of_a)

    def with_rounding(self, rows: Ints, result: RatioEstimate) -> tuple[Floats, Floats]:
        """Return the bounds of intervals widened by rounding; nan if rounding has no limit."""
        down, up = self.numbers["down"][rows], self.numbers["up"][rows]
        reach = np.where(np.isfinite(down + up), 1.0, np.nan)
        return reach * result.low * np.exp(-down), reach * result.high * np.exp(up)

    def note_caveats(self, rows: Ints, result: RatioEstimate) -> None:
        """Note a method's caveats on the rows to which they apply."""
        for caveat, applies in result.caveats.items():
            self.remarks.note(rows[applies], caveat)

    def columns(self) -> list[pl.Series]:
        """Return all columns; values that are not finite become null: unknown values and open ends."""
        known = {name: np.where(np.isinf(self.numbers[name]), np.nan, self.numbers[name]) for name in NUMBERS}
        numbers = [pl.Series(name, values, nan_to_null=True) for name, values in known.items()]
        return [*numbers, *(self.text(name) for name in WORDS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """Options of all rows: the factor, the confidence of intervals, and the largest ratio that counts as equal."""

    factor: str
    confidence: float
    margin: float = 1.05

    def __post_init__(self) -> None:
        checked_confidence(self.confidence)
        checked_log(self.margin)
