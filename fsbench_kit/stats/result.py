"""The results of methods: an estimate, its interval, and caveats for reading it.

All arrays have the shape of the cells: runs of shape ``(cells, n)`` give arrays of shape ``(cells,)``, and runs of
shape ``(n,)`` give NumPy scalars, which are floats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fsbench_kit.stats import special

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]


class Caveat(StrEnum):
    """What a reader of an interval should know. The value is a sentence for people.

    Examples
    --------
    >>> [caveat.name for caveat in Caveat][:3]
    ['TOO_FEW', 'TOO_FEW_CELLS', 'TWO_RUNS']
    """

    TOO_FEW = "Too few runs for this method: there is no interval."
    TOO_FEW_CELLS = "Too few cells of this kind to borrow the spread between runs from."
    TWO_RUNS = "A group has only two runs: the spread between runs is hardly known."
    TWO_PAIRS = "Only two pairs: the spread between pairs is hardly known."
    TWO_BLOCKS = "Only two blocks have runs of both groups: the spread between blocks is hardly known."
    LOPSIDED = "Few runs against many: the interval covers less than it states; add runs to the smaller group."
    NO_SPREAD = "All values of a group are equal: rounding hides the spread between its runs."
    UNEQUAL_SIZES = "Groups of unequal size cannot be assumed to be equally noisy: the method gives no interval."
    EQUAL_NOISE_ASSUMED = "The single run is assumed to be as noisy as the repeated ones; the data cannot tell."
    SPREAD_BORROWED = "The spread between runs is partly borrowed from the other cells."
    NOISIER_THAN_MOST = (
        "This cell is more than twice as noisy as most: its interval, with borrowed spread, is too short."
    )
    OPEN_END = "Too few values for both ends of the interval: one is open."
    WITHIN_RUN = "Variation within this run only: the interval does not cover what another run would give."
    JOBS_POOLED = "The tool pools the jobs' spreads: the interval allows for jobs that stall together."
    INDEPENDENT_VALUES_ASSUMED = (
        "The values are assumed to be independent: bursts of slow ones make the interval too short."
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """A figure of one group with its interval.

    Attributes
    ----------
    estimate, low, high
        In the unit of the values. The ends are nan if no interval can be given, and infinite if one is open.
    confidence
        The achieved level, which can exceed the requested one; nan if there is no interval.
    estimand, method
        What is estimated and how, as text for a table.
    n
        The number of values behind the estimate.
    caveats
        Caveat -> the cells to which it applies. Caveats that apply to no cell are left out.

    Examples
    --------
    >>> from fsbench_kit.stats import quantile_interval
    >>> found = quantile_interval(np.arange(1.0, 101.0), 0.5)
    >>> found.estimand, float(found.low), float(found.high)
    ('median', 40.0, 61.0)
    """

    estimate: Floats
    low: Floats
    high: Floats
    confidence: Floats
    estimand: str
    method: str
    n: Ints
    caveats: Mapping[Caveat, Bools]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatioEstimate:
    """The ratio B/A of two groups, with its interval.

    Attributes
    ----------
    estimate, low, high
        The ratio and the ends of its interval, without unit. The ends are nan if no interval can be given.
    confidence
        The achieved level, which exceeds the requested one if a rank method cannot meet it exactly; nan if there
        is no interval.
    estimand, method
        What is estimated and how, as text for a table.
    log_ratio, standard_error, df
        The logarithm of the ratio, its standard error and its degrees of freedom; ``None`` for rank methods.
    n_a, n_b
        The number of runs in each group.
    n_pairs
        The number of pairs, or of blocks with runs of both groups; ``None`` for independent groups.
    caveats
        Caveat -> the cells to which it applies. Caveats that apply to no cell are left out.

    Examples
    --------
    >>> from fsbench_kit.stats import welch_log
    >>> found = welch_log([100.0, 102.0, 98.0], [200.0, 206.0, 197.0])
    >>> found.method, float(round(found.p, 6))
    ('Welch t on logs', 3e-06)
    """

    estimate: Floats
    low: Floats
    high: Floats
    confidence: Floats
    estimand: str
    method: str
    log_ratio: Floats | None = None
    standard_error: Floats | None = None
    df: Floats | None = None
    n_a: Ints
    n_b: Ints
    n_pairs: Ints | None = None
    caveats: Mapping[Caveat, Bools]

    @property
    def p(self) -> Floats | None:
        """The two-sided p value of "the ratio is 1"; nan if it cannot be given.

        ``None`` for rank methods, whose tests are separate functions.
        """
        if self.log_ratio is None or self.standard_error is None:
            return None
        p: Floats = 2 * special.stdtr(self.df, -np.abs(self.log_ratio) / self.standard_error)
        return p

    def inverse(self) -> RatioEstimate:
        """Return the same comparison from the other group's point of view, as the ratio A/B.

        Examples
        --------
        >>> from fsbench_kit.stats import welch_log
        >>> found = welch_log([1.0, 2.0, 4.0], [2.0, 4.0, 8.0])
        >>> round(float(found.estimate), 6), round(float(found.inverse().estimate), 6)
        (2.0, 0.5)
        """
        return replace(
            self,
            estimate=1 / self.estimate,
            low=1 / self.high,
            high=1 / self.low,
            log_ratio=None if self.log_ratio is None else -self.log_ratio,
            n_a=self.n_b,
            n_b=self.n_a,
        )


def caveats_that_apply(cells: tuple[int, ...], caveats: Mapping[Caveat, Bools | bool]) -> dict[Caveat, Bools]:
    """Broadcast each caveat over the cells, dropping those that apply to none."""
    spread = {caveat: np.broadcast_to(applies, cells)[()] for caveat, applies in caveats.items()}
    return {caveat: applies for caveat, applies in spread.items() if applies.any()}
