"""How often runs of one kind would look like two groups because each group happened to hit one mode.

If runs stall now and then, or have two modes, a few runs of one group may all be fast and a few of the other all
slow: there is no spread within the groups, and all of it is between them. The spread within such groups cannot
reveal this, nor can a variance pooled over many cells, whose tails are those of a normal distribution. But how
often two runs of *one* group are as far apart shows how often runs are in different modes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats.result import Floats, Ints
from fsbench_kit.stats.values import runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = Ints | NDArray[np.float64]
    from fsbench_kit.stats.values import Runs


def distances(values: Runs) -> Floats:
    """Return the distances between the runs of each cell: the absolute log ratio of each pair, or nan.

    Parameters
    ----------
    values
        Shape ``(cells, n)``, with n of at least 2.

    Raises
    ------
    ValueError
        If there are fewer than two runs, or a value has no logarithm.

    Examples
    --------
    >>> distances([[100.0, 100.0, 200.0]]).round(3).tolist()
    [[0.0, 0.693, 0.693]]
    """
    logs = runs(values, "values", at_least=2).log()
    known = np.where(logs.present, logs.values, np.nan)
    first, second = np.triu_indices(known.shape[-1], 1)
    apart: Floats = np.abs(known[..., first] - known[..., second])
    return apart


def unlike_modes_p(apart: Floats, n_a: Counts, n_b: Counts) -> Floats:
    """Return the probability that all runs of one group are in one mode and all others in the other mode.

    Parameters
    ----------
    apart
        How often two runs of one group are in different modes.
    n_a, n_b
        The number of runs per group; they broadcast.

    Notes
    -----
    If a share q of all runs is in one mode, two runs differ in mode with probability 2 q (1 - q), and groups are
    completely separated with probability q^a (1 - q)^b + (1 - q)^a q^b.

    Examples
    --------
    >>> float(unlike_modes_p(0.5, 2, 2))  # modes as frequent as each other, two runs of each group
    0.125
    """
    q = (1 - np.sqrt(np.maximum(1 - 2 * apart, 0))) / 2
    p: Floats = q**n_a * (1 - q) ** n_b + (1 - q) ** n_a * q**n_b
    return p


def unlike_rounds_p(apart: Floats, n: Counts) -> Floats:
    """Return the probability that the same group is in the slower of two modes in all rounds.

    Parameters
    ----------
    apart
        How often the ratios of two rounds are in different modes.
    n
        The number of rounds.

    Notes
    -----
    If one group is slower in a share r of all rounds, the other in as many, and neither in the rest, two rounds
    are alike with probability 2 r^2 + (1 - 2 r)^2, and one group is slower in all rounds with probability 2 r^n.

    Examples
    --------
    >>> float(unlike_rounds_p(0.5, 3).round(3))
    0.009
    """
    r = (2 - np.sqrt(np.maximum(4 - 6 * apart, 0))) / 6
    p: Floats = 2 * r**n
    return p
