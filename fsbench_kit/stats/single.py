"""Single runs: the ratios that their digits allow, the noise that a ratio survives, one run against many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.stats import special
from fsbench_kit.stats.result import Caveat, Floats, RatioEstimate
from fsbench_kit.stats.student import ratio_by_t
from fsbench_kit.stats.values import checked_confidence, positive, runs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fsbench_kit.stats.values import Runs

LABELS: Final = ("fragile", "weak", "fair", "robust to noise")
"""How well the ratio of two single figures withstands noise between runs (not a biased set-up)."""

LABEL_BOUNDS: Final = (0.03, 0.10, 0.25)
"""The break-even coefficients of variation that separate the labels."""

MIN_FOR_PREDICTION: Final = 3
"""The fewest runs from which a further one is predicted: two give a half-width of a factor of 1.7 at 5 % noise."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BreakEven:
    """The noise between runs at which chance alone could produce a ratio.

    Attributes
    ----------
    log_sd
        As a standard deviation of logarithms.
    cv
        As a coefficient of variation of lognormal runs: 0.25 for 25 %.
    label
        One of `LABELS`.

    Examples
    --------
    >>> even = break_even(1.97)
    >>> print(f"{even.cv:.2f} {even.label}")
    0.25 fair
    """

    log_sd: Floats
    cv: Floats
    label: NDArray[np.str_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
    """The smallest and largest possible ratio; 0 and inf if there is no bound.

    Examples
    --------
    >>> bounds = rounding_ratio(1.5, 2.5, 3.5, None)  # the second figure has no upper end
    >>> float(bounds.low), float(bounds.high)
    (1.4, inf)
    """

    low: Floats
    high: Floats


def break_even(
    ratio: ArrayLike, confidence: float = 0.95, *, runs_a: ArrayLike = 1, runs_b: ArrayLike = 1
) -> BreakEven:
    """Return how noisy runs must be for chance alone to produce the ratio of two figures.

    Parameters
    ----------
    ratio
        The ratios, positive, of any shape.
    confidence
        Two-sided confidence level.
    runs_a, runs_b
        The number of runs that each group's figure averages; they broadcast.

    Raises
    ------
    ValueError
        If a ratio has no logarithm, or a figure averages less than one run.

    Notes
    -----
    The mean of k runs with a coefficient of variation c has one of c / sqrt(k). If it is lognormal like the runs,
    its logarithm has the variance log(1 + c^2 / k). The log ratio of two such means has the sum of two of these,
    and by chance exceeds z times its root at the level of z. So c^2 solves (1 + c^2 / k_a) (1 + c^2 / k_b) =
    exp((log ratio / z)^2). Means of k runs in both groups withstand sqrt(k) times the noise that single runs do.

    Examples
    --------
    >>> noise = break_even([1.05, 2.0])
    >>> noise.log_sd.round(4), noise.cv.round(3), noise.label
    (array([0.0176, 0.2501]), array([0.018, 0.254]), array(['fragile', 'robust to noise'], dtype='<U15'))
    >>> break_even(2.0, runs_a=4, runs_b=4).cv.round(3)
    np.float64(0.508)
    """
    quantile = special.ndtri((1 + checked_confidence(confidence)) / 2)
    a, b = np.asarray(runs_a, dtype=np.float64), np.asarray(runs_b, dtype=np.float64)
    if not ((a >= 1) & (b >= 1)).all():
        raise ValueError("a figure must be of one run or more")
    excess = np.expm1((np.log(positive(ratio, "ratio")) / quantile) ** 2)
    half = (a + b) / 2
    square = a * b * excess / (half + np.sqrt(half**2 + a * b * excess))  # of the CV
    cv = np.sqrt(square)
    return BreakEven(
        log_sd=np.sqrt(np.log1p(square)),
        cv=cv,
        label=np.array(LABELS)[np.searchsorted(LABEL_BOUNDS, cv, side="right")],
    )


def rounding_ratio(
    low_a: ArrayLike | None, high_a: ArrayLike | None, low_b: ArrayLike | None, high_b: ArrayLike | None
) -> Bounds:
    """Return the ratios B/A that two printed figures allow.

    Parameters
    ----------
    low_a, high_a, low_b, high_b
        The smallest and largest true value that would be printed like the figure, in one unit; they broadcast.
        ``None`` and nan stand for an open end.

    Raises
    ------
    ValueError
        If a low end is negative or infinite, or lies above its high end.

    Examples
    --------
    >>> bounds = rounding_ratio(1.5, 2.5, 3.5, 4.5)  # 2 and 4, without decimals
    >>> print(f"{bounds.low:.2f} to {bounds.high:.2f}")
    1.40 to 3.00
    """
    least_a, least_b = (_end(low, otherwise=0.0) for low in (low_a, low_b))
    most_a, most_b = (_end(high, otherwise=np.inf) for high in (high_a, high_b))
    for side, least, most in (("a", least_a, most_a), ("b", least_b, most_b)):
        if not ((least >= 0) & (least <= most) & np.isfinite(least)).all():
            raise ValueError(f"the ends of {side} are not in order: from {least} to {most}")
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = least_b / most_a, most_b / least_a
    return Bounds(low=_end(low, otherwise=0.0)[()], high=_end(high, otherwise=np.inf)[()])  # 0/0 is also open


def _end(value: ArrayLike | None, *, otherwise: float) -> Floats:
    known = np.asarray(np.nan if value is None else value, dtype=np.float64)
    return np.where(np.isnan(known), otherwise, known)


def prediction_log(single: ArrayLike, many: Runs, confidence: float = 0.95) -> RatioEstimate:
    """Compare one run with several: estimate its ratio to their geometric mean, with an interval.

    The interval excludes 1 exactly if the run lies outside the prediction interval for a further run of the
    repeated group. If the single run is as noisy as the others, it is also an interval for the ratio of the two
    geometric means; the data cannot show whether it is.

    Parameters
    ----------
    single
        One number per cell, ``(cells,)``, or a single number.
    many
        Shape ``(..., k)``, with k of at least 3, in the same unit.
    confidence
        Confidence level of the interval.

    Returns
    -------
    RatioEstimate
        The ratio single / many, so that `many` is group A; use ``inverse()`` for the other direction.

    Raises
    ------
    ValueError
        If there are fewer than `MIN_FOR_PREDICTION` runs to predict from, or a value has no logarithm.

    Notes
    -----
    The interval for one further observation, t_{k-1} s sqrt(1 + 1/k), on logarithms: Hahn, G. J. (1969),
    JASA 64, 878-888.

    If the single run is twice as noisy, it covers 86 to 69 % (``docs/coverage.md``).

    Examples
    --------
    >>> found = prediction_log(150.0, [100.0, 102.0, 98.0, 101.0])
    >>> print(f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]")
    1.50 [1.41, 1.59]
    """
    logs = runs(many, "many", at_least=MIN_FOR_PREDICTION).log()
    k, still = logs.n, logs.without_spread
    too_few = k < MIN_FOR_PREDICTION
    return ratio_by_t(
        log_ratio=np.log(positive(single, "single")) - logs.mean(),
        standard_error=np.where(still, 0.0, np.sqrt(logs.variance() * (1 + 1 / np.maximum(k, 1)))),
        df=k - 1.0,
        confidence=confidence,
        estimand="one run to the geometric mean of several",
        method="prediction t on logs",
        n_a=k,
        n_b=1,
        too_few=too_few,
        caveats={Caveat.EQUAL_NOISE_ASSUMED: ~too_few, Caveat.NO_SPREAD: still & ~too_few},
    )
