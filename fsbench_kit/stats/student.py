"""Intervals from Student's t: an estimate, its standard error, its degrees of freedom."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev

from fsbench_kit.stats import special
from fsbench_kit.stats.result import Bools, Caveat, Floats, Ints, RatioEstimate, caveats_that_apply
from fsbench_kit.stats.values import checked_confidence

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def ratio_by_t(
    *,
    log_ratio: Floats,
    standard_error: Floats,
    df: ArrayLike,
    confidence: float,
    estimand: str,
    method: str,
    n_a: Ints,
    n_b: Ints | int,
    n_pairs: Ints | None = None,
    too_few: Bools | bool = False,
    caveats: dict[Caveat, Bools | bool],
) -> RatioEstimate:
    """Turn a log ratio, its standard error and its degrees of freedom into an estimate with an interval.

    If the standard error is 0 or nan, or there are too few runs, the interval and the p value are nan.
    """
    cells = np.shape(log_ratio)
    unknown = ~(standard_error > 0) | too_few
    standard_error = np.where(unknown, np.nan, standard_error)[()]
    df = np.where(unknown, np.nan, np.asarray(df, dtype=np.float64))[()]
    half_width = half_width_by_t(standard_error, df, confidence)
    return RatioEstimate(
        estimate=np.exp(log_ratio),
        low=np.exp(log_ratio - half_width),
        high=np.exp(log_ratio + half_width),
        confidence=np.where(unknown, np.nan, confidence)[()],
        estimand=estimand,
        method=method,
        log_ratio=log_ratio,
        standard_error=standard_error,
        df=df,
        n_a=over_cells(n_a, cells),
        n_b=over_cells(n_b, cells),
        n_pairs=None if n_pairs is None else over_cells(n_pairs, cells),
        caveats=caveats_that_apply(cells, {Caveat.TOO_FEW: too_few, **caveats}),
    )


class LogRatio(NamedTuple):
    """The logarithm of a ratio to be tested.

    Attributes
    ----------
    estimate, standard_error, df
        As in `ratio_by_t`; there is no p value if they are nan.
    down, up
        How much smaller and larger the true log ratio may be, since figures are rounded when printed.

    Examples
    --------
    >>> exact = LogRatio(np.array(0.1), np.array(0.05), np.array(10.0))
    >>> rounded = exact._replace(down=np.array(0.05))
    >>> round(float(difference_p(exact)), 3), round(float(difference_p(rounded)), 3)
    (0.073, 0.341)
    """

    estimate: Floats
    standard_error: Floats
    df: Floats
    down: Floats = np.zeros(())
    up: Floats = np.zeros(())


def difference_p(ratio: LogRatio) -> Floats:
    """Return the two-sided p value of "the ratio is 1".

    Examples
    --------
    >>> ratio = LogRatio(np.array(0.1), np.array(0.05), np.array(10.0))
    >>> round(float(difference_p(ratio)), 3)
    0.073
    """
    reach = np.where(ratio.estimate > 0, ratio.down, ratio.up)
    p: Floats = 2 * special.stdtr(ratio.df, -np.maximum(np.abs(ratio.estimate) - reach, 0) / ratio.standard_error)
    return p


def half_width_by_t(standard_error: Floats, df: NDArray[np.floating[Any]] | float, confidence: float) -> Floats:
    """Return how far an interval reaches to each side of its estimate."""
    quantile = _quantile(np.asarray(df, dtype=np.float64), (1 + checked_confidence(confidence)) / 2)
    half_width: Floats = quantile * standard_error
    return half_width


def _quantile(df: Floats, p: float) -> Floats:
    """Return quantiles of Student's t, interpolated if they are many, because each takes half a microsecond."""
    alike = df.size and df.min() == df.max()
    if alike or df.size < _MANY or (df < 1).any():
        return np.asarray(special.stdtrit(df.flat[0] if alike else df, p))
    return np.asarray(np.exp(_log_quantile(p)(1 / df)))


_MANY: Final = 500


@cache
def _log_quantile(p: float) -> Chebyshev:
    """Return the logarithm of the quantile for one degree of freedom or more, as a polynomial in its inverse.

    It is so smooth that no quantile of use differs by more than 1e-12 of itself.
    """
    return Chebyshev.interpolate(lambda inverse: np.log(special.stdtrit(1 / inverse, p)), deg=40, domain=[0, 1])


def welch_df(share_a: Floats, share_b: Floats, n_a: Ints, n_b: Ints) -> Floats:
    """Return Satterthwaite's degrees of freedom for a sum of two squared standard errors; nan if both are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        df: Floats = (share_a + share_b) ** 2 / (share_a**2 / (n_a - 1.0) + share_b**2 / (n_b - 1.0))
    return df


def over_cells(counts: Ints | int, cells: tuple[int, ...]) -> Ints:
    """Broadcast counts over the cells; a single comparison gets a single number."""
    spread: Ints = np.broadcast_to(counts, cells)[()]
    return spread
