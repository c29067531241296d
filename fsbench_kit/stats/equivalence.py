"""Equivalence: "no difference" is a claim of its own, and needs an interval that excludes real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats import special
from fsbench_kit.stats.result import Bools, Floats, RatioEstimate
from fsbench_kit.stats.values import checked_log

if TYPE_CHECKING:
    from fsbench_kit.stats.student import LogRatio


def equivalent(estimate: RatioEstimate, margin: float) -> Bools:
    """Return for which cells the interval lies within ``[1/margin, margin]``.

    Parameters
    ----------
    estimate
        An estimate with a 90 % interval, for a test of size 5 %; a wider interval makes the test stricter.
    margin
        The largest ratio that counts as equal, in either direction: 1.05 for 5 %.

    Returns
    -------
    ndarray of bool
        Of the shape of the cells. Where no interval could be given nothing is equivalent.

    Raises
    ------
    ValueError
        If the margin is not above 1, or the interval has less than 90 %.

    Notes
    -----
    Two one-sided tests: Schuirmann, D. J. (1987), J. Pharmacokinet. Biopharm. 15, 657-680. A 100(1 - 2 alpha) %
    interval inside the margin is the same decision as both tests at alpha, see `equivalence_p`.

    Few noisy runs hardly ever show equivalence: at a noise of 5 %, five runs a group show it within 5 % in one
    case of twenty (``docs/coverage.md``, and `power_of_equivalence`).

    Examples
    --------
    >>> from fsbench_kit.stats import welch_log
    >>> found = welch_log([100.0, 101.0, 99.0, 100.0], [100.5, 99.5, 100.0, 101.0], 0.9)
    >>> bool(equivalent(found, 1.05)), bool(equivalent(found, 1.001))
    (True, False)
    """
    limit = checked_log(margin)
    if (estimate.confidence < 0.9).any():
        least = np.nanmin(estimate.confidence)
        raise ValueError(f"an interval of {100 * least:.0f} % does not show equivalence at 5 %; take 0.9")
    return (np.log(estimate.low) >= -limit) & (np.log(estimate.high) <= limit)


def equivalence_p(ratio: LogRatio, limit: float) -> Floats:
    """Return the larger p of the two one-sided t tests of a log ratio, "below the limit" and "above its inverse".

    Examples
    --------
    >>> from fsbench_kit.stats import LogRatio
    >>> ratio = LogRatio(np.array(0.01), np.array(0.01), np.array(10.0))
    >>> round(float(equivalence_p(ratio, np.log(1.05))), 4)
    0.0015
    """
    nearer = limit - np.maximum(ratio.estimate + ratio.up, ratio.down - ratio.estimate)
    p: Floats = special.stdtr(ratio.df, -nearer / ratio.standard_error)
    return p
