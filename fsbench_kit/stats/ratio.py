"""Ratios of geometric means, with Student's t on logarithms.

Benchmark figures are positive and their noise is proportional, so that means and spreads are taken of logarithms.
A difference of mean logarithms is the logarithm of the ratio of geometric means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.stats.result import Caveat, RatioEstimate
from fsbench_kit.stats.student import ratio_by_t, welch_df
from fsbench_kit.stats.values import paired, runs

if TYPE_CHECKING:
    from fsbench_kit.stats.values import Runs, Sample

MANY: Final = {2: 5, 3: 10}
"""The size of the other group from which two or three runs count as lopsided: see `welch_log`."""


def welch_log(a: Runs, b: Runs, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the ratio of geometric means of two independent groups, with Welch's t on logarithms.

    Parameters
    ----------
    a, b
        The runs of each group in the same unit, shapes ``(..., n_a)`` and ``(..., n_b)``, with n of at least 2.
        Leading axes are cells and broadcast: one baseline ``(n_a,)`` can be compared with many ``(cells, n_b)``.
    confidence
        Confidence level of the interval.

    Returns
    -------
    RatioEstimate
        The ratio B/A. A cell in which neither group has any spread gets no interval (nan): identical printed
        figures mean that the noise is below the printed resolution, not that there is none. If only one group has
        none, the interval is based on the spread of the other alone, with a caveat.

    Raises
    ------
    ValueError
        If there are fewer than two runs in a group, or a value has no logarithm.

    Notes
    -----
    Welch, B. L. (1947), Biometrika 34, 28-35, with Satterthwaite's degrees of freedom.

    For its coverage, see ``docs/coverage.md``. It fails if a slow mode shows in one group only, because few runs
    miss the mode; if each run resembles the one before, which only a random order can fix; and with two or three
    runs against many, hence `Caveat.LOPSIDED`.

    Examples
    --------
    >>> found = welch_log([100.0, 102.0, 98.0], [200.0, 206.0, 197.0])
    >>> print(f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]")
    2.01 [1.91, 2.11]
    """
    of_a, of_b = runs(a, "a", at_least=2), runs(b, "b", at_least=2)
    greatest = np.maximum(of_a.greatest(), of_b.greatest())
    logs_a, logs_b = of_a.log_beside(greatest), of_b.log_beside(greatest)
    n_a, n_b = logs_a.n, logs_b.n
    still_a, still_b = logs_a.without_spread, logs_b.without_spread
    share_a = np.where(still_a, 0.0, logs_a.variance() / n_a)
    share_b = np.where(still_b, 0.0, logs_b.variance() / n_b)
    fewest, most = np.minimum(n_a, n_b), np.maximum(n_a, n_b)
    return ratio_by_t(
        log_ratio=logs_b.mean() - logs_a.mean(),
        standard_error=np.sqrt(share_a + share_b),
        df=welch_df(share_a, share_b, n_a, n_b),
        confidence=confidence,
        estimand="ratio of geometric means",
        method="Welch t on logs",
        n_a=n_a,
        n_b=n_b,
        too_few=fewest < 2,
        caveats={
            Caveat.TWO_RUNS: fewest == 2,
            Caveat.LOPSIDED: np.any([(fewest == few) & (most >= many) for few, many in MANY.items()], axis=0),
            Caveat.NO_SPREAD: (still_a | still_b) & (fewest > 1),
        },
    )


def paired_log(a: Runs, b: Runs, confidence: float = 0.95) -> RatioEstimate:
    """Estimate the geometric mean of the ratios of paired runs, with Student's t on their logarithms.

    Whatever the runs of a round share (a drifting disk, a neighbour's load) cancels in the ratio of a pair.
    Pairing pays off if rounds differ; if they do not, it costs 5 % of width with ten pairs.

    Parameters
    ----------
    a, b
        The runs of each group, both of shape ``(..., n)``, with n of at least 2; ``a[..., i]`` and ``b[..., i]``
        belong to one round. Leading axes broadcast.
    confidence
        Confidence level of the interval.

    Returns
    -------
    RatioEstimate
        The ratio B/A. A cell whose pairs all have the same ratio gets no interval (nan), for the reason given in
        `welch_log`.

    Raises
    ------
    ValueError
        If the groups have different lengths, there are fewer than two pairs, or a value has no logarithm.

    Notes
    -----
    "Student" (1908), Biometrika 6, 1-25.

    With a drift of 10 % over a launch and random order within rounds, it keeps its coverage, at three quarters of
    the width of Welch's interval in random order (``docs/coverage.md``).

    Examples
    --------
    >>> found = paired_log([100.0, 150.0, 80.0], [200.0, 306.0, 158.0])  # rounds differ, their ratios hardly
    >>> print(f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]")
    2.00 [1.93, 2.09]
    """
    ratios = paired_logs(a, b, at_least=2)
    n = ratios.n
    still = ratios.without_spread
    return ratio_by_t(
        log_ratio=ratios.mean(),
        standard_error=np.where(still, 0.0, np.sqrt(ratios.variance() / n)),
        df=n - 1.0,
        confidence=confidence,
        estimand="geometric mean of paired ratios",
        method="paired t on logs",
        n_a=n,
        n_b=n,
        n_pairs=n,
        too_few=n < 2,
        caveats={Caveat.TWO_PAIRS: n == 2, Caveat.NO_SPREAD: still & (n > 1)},
    )


def paired_logs(a: Runs, b: Runs, *, at_least: int) -> Sample:
    """Return the logarithms of the ratios B/A of paired runs; absent if either run is.

    Raises
    ------
    ValueError
        As `paired_log`.
    """
    return paired(runs(a, "a", at_least=at_least).log(), runs(b, "b", at_least=at_least).log())
