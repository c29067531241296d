"""What a run's printed summary, a spread and a number of samples, tells of its mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from fsbench_kit.stats.result import Caveat, Estimate, caveats_that_apply
from fsbench_kit.stats.student import over_cells
from fsbench_kit.stats.values import checked_confidence

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def summary_band(
    total: ArrayLike,
    sd: ArrayLike,
    samples: ArrayLike,
    *,
    jobs: ArrayLike = 1,
    correlation: ArrayLike = 0.6,
    confidence: float = 0.95,
) -> Estimate:
    """Return how far a run's rate may be from its long-run mean, as its summary has it.

    Parameters
    ----------
    total
        The rate of all jobs together, best as bytes over run time: a mean of samples that leaves out empty ones is
        too high where a run stalls (fio's ``bw avg=`` was measured up to 50 % too high).
    sd, samples
        As printed: the standard deviation of the samples, and how many there were, of all jobs together.
    jobs
        How many jobs the tool pooled (fio's ``group_reporting``). The pooled standard deviation is that of one
        job's samples; it holds for every version whether its ``avg=`` is the jobs' sum or their mean.
    correlation
        How much each sample is taken to resemble the one before, at least 0 and below 1; nothing in a summary
        tells. Give several to see what hangs on it: ``[0.3, 0.6, 0.9]``.
    confidence
        Of the band.

    Returns
    -------
    Estimate
        Labelled `Caveat.WITHIN_RUN`: never for a comparison of runs. All arrays broadcast.

    Raises
    ------
    ValueError
        If a spread is negative, a number of samples or jobs is below 1, or a correlation not in [0, 1).

    Notes
    -----
    The variance of an AR(1) series' mean: Bayley and Hammersley (1946), see `effective_size`. J jobs of n samples
    each have, together, a mean with the standard error ``J sd / sqrt(n)`` if they stall together, and a smaller
    one otherwise; with ``samples`` = J n that is ``J**1.5 sd / sqrt(samples)``.
    """
    rate, spread, count, pooled, r = np.broadcast_arrays(
        *(np.asarray(x, dtype=np.float64) for x in (total, sd, samples, jobs, correlation))
    )
    if not ((spread >= 0).all() and (count >= 1).all() and (pooled >= 1).all() and ((r >= 0) & (r < 1)).all()):
        raise ValueError("a summary has sd >= 0, samples >= 1 and jobs >= 1, and a correlation lies in [0, 1)")
    quantile = ndtri((1 + checked_confidence(confidence)) / 2)
    half_width = quantile * spread * pooled**1.5 / np.sqrt(count) * np.sqrt((1 + r) / (1 - r))
    return Estimate(
        estimate=rate[()],
        low=(rate - half_width)[()],
        high=(rate + half_width)[()],
        confidence=np.full(rate.shape, confidence)[()],
        estimand="long-run mean of this run",
        method="printed spread, taken for that of an AR(1) series",
        n=over_cells(count.astype(np.int64), rate.shape),
        caveats=caveats_that_apply(rate.shape, {Caveat.WITHIN_RUN: True, Caveat.JOBS_POOLED: pooled > 1}),
    )
