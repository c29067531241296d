"""Ratios of several cells, hosts or studies, each with its own error, regarded as a sample of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.stats.result import Floats
from fsbench_kit.stats.student import half_width_by_t
from fsbench_kit.stats.values import figures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RandomEffects:
    """The mean of effects that are a sample of many.

    Attributes
    ----------
    mean, standard_error, low, high
        On the scale of the effects.
    prediction_low, prediction_high
        The range expected for the effect of a new unit; nan with two units, which say nothing about it.
    variance
        tau^2: the variance of the effects themselves, without the errors.

    Examples
    --------
    >>> found = random_effects([0.1, 0.3, 0.2, 0.5], [0.001, 0.001, 0.001, 0.001])
    >>> round(float(found.mean), 3), round(float(found.variance), 3)
    (0.275, 0.028)
    """

    mean: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    prediction_low: Floats
    prediction_high: Floats
    variance: Floats


def random_effects(effects: ArrayLike, variances: ArrayLike, confidence: float = 0.95) -> RandomEffects:
    """Estimate the mean of effects that vary between units, with a confidence and a prediction interval.

    Parameters
    ----------
    effects, variances
        The log ratio of each unit and its squared standard error, shape ``(..., units)``, with at least two units.
    confidence
        Confidence level of both intervals.

    Raises
    ------
    ValueError
        If there are fewer than two units, a value is not finite, or a variance is not above 0.

    Notes
    -----
    tau^2 of Paule and Mandel (1982), J. Res. Natl. Bur. Stand. 87, 377-385. The confidence interval of Hartung and
    Knapp (2001), Statist. Med. 20, 3875-3889, but never narrower than without their factor. The prediction
    interval of Higgins, Thompson and Spiegelhalter (2009), J. R. Stat. Soc. A 172, 137-159, with k - 1 degrees of
    freedom.

    Examples
    --------
    >>> found = random_effects([0.1, 0.3, 0.2, 0.5], [0.001, 0.001, 0.001, 0.001])
    >>> bool(found.low > 0), bool(found.prediction_low > 0)  # a further study may be otherwise
    (True, False)
    """
    y = figures(effects, "effects", at_least=2).values
    error = np.broadcast_to(np.asarray(variances, dtype=np.float64), y.shape)
    if not (np.isfinite(error) & (error > 0)).all():
        raise ValueError("the variances of effects are all above 0 and finite")
    k = y.shape[-1]
    tau = _between(y, error)
    weights = 1 / (error + tau[..., None])
    mean = (weights * y).sum(axis=-1) / weights.sum(axis=-1)
    factor = (weights * np.square(y - mean[..., None])).sum(axis=-1) / (k - 1)
    squared = np.maximum(factor, 1.0) / weights.sum(axis=-1)
    half = half_width_by_t(np.sqrt(squared), np.float64(k - 1), confidence)
    reach = half_width_by_t(np.sqrt(tau + squared), np.float64(k - 1), confidence)
    reach = reach if k > 2 else np.full_like(reach, np.nan)
    return RandomEffects(
        mean=mean,
        standard_error=np.sqrt(squared),
        low=mean - half,
        high=mean + half,
        prediction_low=mean - reach,
        prediction_high=mean + reach,
        variance=tau,
    )


_STEPS: Final = 200


def _between(y: Floats, error: Floats) -> Floats:
    """Return the variance at which the weighted squares equal their expectation, or 0."""
    k = y.shape[-1]
    tau = np.zeros(y.shape[:-1])
    for _ in range(_STEPS):  # Newton's method converges from below
        weights = 1 / (error + tau[..., None])
        mean = (weights * y).sum(axis=-1) / weights.sum(axis=-1)
        squares = np.square(y - mean[..., None])
        excess = (weights * squares).sum(axis=-1) - (k - 1)
        slope = (np.square(weights) * squares).sum(axis=-1)  # 0 if all effects are equal
        step = np.divide(excess, slope, out=np.zeros_like(excess), where=excess > 0)
        tau = tau + step
        if (step <= 1e-12 * tau).all():
            break
    return tau
