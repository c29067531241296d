"""Runs in blocks that share something: the rounds of a launch, the hosts of a fleet.

Whatever the runs of a block share (a drifting disk, a neighbour's load, a faster machine) cancels in the block's
own ratio, and the spread of these ratios shows what a further block would add. The block is therefore the unit.
Pooling the runs of several hosts was measured to cover 62 to 71 % at a nominal 95 %; a two-level bootstrap covers
71 % with two hosts and 86 % with five.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats.result import Caveat, RatioEstimate
from fsbench_kit.stats.student import ratio_by_t
from fsbench_kit.stats.values import Sample, paired, runs

if TYPE_CHECKING:
    from fsbench_kit.stats.values import Runs


def blocked_log(a: Runs, b: Runs, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the geometric mean over blocks of the ratio of geometric means inside each block.

    Each block counts once, however many runs it has.

    Parameters
    ----------
    a, b
        Shapes ``(..., blocks, n_a)`` and ``(..., blocks, n_b)``, with at least two blocks; ``a[..., i, :]`` and
        ``b[..., i, :]`` belong to one block. Blocks without runs of both groups are left out. With one run per
        group and block, this is `paired_log`.
    confidence
        Confidence level of the interval.

    Returns
    -------
    RatioEstimate
        The ratio B/A; ``n_pairs`` is the number of blocks. A cell whose blocks all have the same ratio gets no
        interval (nan), for the reason given in `welch_log`.

    Raises
    ------
    ValueError
        If the groups have different numbers of blocks or fewer than two, or a value has no logarithm.

    Notes
    -----
    Student's t on the means of units of randomisation: Kalibera, T. and Jones, R. (2013), ISMM, 63-74, section 6,
    with one more level of repetition. `variance_components` gives the variances of the levels themselves.

    Examples
    --------
    >>> found = blocked_log([[100.0, 102.0], [50.0, 51.0]], [[200.0, 206.0], [98.0, 101.0]])
    >>> print(f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]")
    1.99 [1.75, 2.26]
    """
    logs_a, logs_b = runs(a, "a", at_least=1).log(), runs(b, "b", at_least=1).log()
    ratios = paired(_blocks(logs_a), _blocks(logs_b), "blocks")
    n = ratios.n
    used = ratios.present
    still = ratios.without_spread
    return ratio_by_t(
        log_ratio=ratios.mean(),
        standard_error=np.where(still, 0.0, np.sqrt(ratios.variance() / n)),
        df=n - 1.0,
        confidence=confidence,
        estimand="geometric mean over blocks of the ratio of geometric means",
        method="t over blocks on logs",
        n_a=logs_a.n.sum(axis=-1, where=used),
        n_b=logs_b.n.sum(axis=-1, where=used),
        n_pairs=n,
        too_few=n < 2,
        caveats={Caveat.TWO_BLOCKS: n == 2, Caveat.NO_SPREAD: still & (n > 1)},
    )


def _blocks(logs: Sample) -> Sample:
    """Return the mean of each block; a block without runs is absent."""
    if logs.values.ndim < 2 or logs.values.shape[-2] < 2:
        raise ValueError(
            "this method needs at least 2 blocks along the last axis but one, and their runs along it"
        )
    present = logs.n > 0
    return Sample(np.where(present, logs.mean(), 0.0), present)
