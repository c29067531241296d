"""Variance components: samples within a run, runs within a session, sessions; and which of them to repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats.result import Estimate, Floats, caveats_that_apply
from fsbench_kit.stats.student import half_width_by_t, over_cells
from fsbench_kit.stats.values import figures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Components:
    """The variance at each level of repetition, innermost first, shape ``(..., levels)``.

    Attributes
    ----------
    of_means
        S_i^2: the variance of the means at level i around their common mean, pooled.
    own
        T_i^2: the contribution of level i itself. It is unbiased and can therefore be negative, which means that
        the level adds little.
    mean
        The mean of all values, with the interval that the outermost level gives it.

    Examples
    --------
    >>> found = variance_components([[10.0, 10.2], [12.0, 12.1], [11.0, 10.9]], levels=2)
    >>> round(float(found.mean.estimate), 2)
    11.03
    """

    of_means: Floats
    own: Floats
    mean: Estimate


def variance_components(values: ArrayLike, levels: int, confidence: float = 0.95) -> Components:
    """Split the variance of a balanced, nested experiment into its levels of repetition.

    Parameters
    ----------
    values
        Shape ``(..., r_n, ..., r_2, r_1)``, with the outermost level of repetition first; logarithms, for ratios.
        Each level needs at least two repetitions.
    levels
        How many of the last axes are levels of repetition.
    confidence
        Confidence level of the interval of the mean.

    Raises
    ------
    ValueError
        If a level has fewer than two repetitions, or a value is absent (the experiment must be balanced) or not
        finite.

    Notes
    -----
    Kalibera, T. and Jones, R. (2013), Rigorous benchmarking in reasonable time, ISMM, 63-74, sections 6 and 7.

    Examples
    --------
    >>> runs_of_samples = [[10.0, 10.2], [12.0, 12.1], [11.0, 10.9]]
    >>> variance_components(runs_of_samples, levels=2).own.round(2).tolist()  # runs differ more than samples
    [0.01, 0.95]
    """
    sample = figures(values, "values", at_least=2)
    if not sample.present.all():
        raise ValueError(
            "variance components need a balanced experiment; choose the same number of repetitions of each"
        )
    repetitions = sample.values.shape[-levels:] if 1 <= levels <= sample.values.ndim else ()
    if len(repetitions) != levels or min(repetitions) < 2:
        raise ValueError(
            f"values of shape {sample.values.shape} do not have {levels} levels of 2 repetitions or more"
        )
    means, of_means = sample.values, []
    for level in range(levels):
        variance = means.var(axis=-1, ddof=1)
        outer = tuple(range(-(levels - level - 1), 0))
        of_means.append(variance.mean(axis=outer) if outer else variance)
        means = means.mean(axis=-1)
    pooled = np.stack(of_means, axis=-1)
    own = pooled.copy()
    own[..., 1:] -= pooled[..., :-1] / np.array(repetitions[:0:-1])
    half_width = half_width_by_t(np.sqrt(pooled[..., -1] / repetitions[0]), repetitions[0] - 1, confidence)
    return Components(
        of_means=pooled,
        own=own,
        mean=Estimate(
            estimate=means,
            low=means - half_width,
            high=means + half_width,
            confidence=np.full(means.shape, confidence)[()],
            estimand="mean over all levels",
            method="t on the outermost level",
            n=over_cells(repetitions[0], means.shape),
            caveats=caveats_that_apply(means.shape, {}),
        ),
    )
