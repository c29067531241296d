"""Whether the runs of a group are bimodal, in which case every run deserves a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.stats.result import Bools, Floats
from fsbench_kit.stats.values import DECIMALS, by_size, runs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fsbench_kit.stats.values import Runs

WIDE_GAP: Final = 3.0
"""The width of a wide gap between neighbours, in pooled standard deviations."""

WIDER_GAPS: Final = {3: 46.0, 4: 11.8, 5: 7.2, 6: 5.4, 7: 4.5, 8: 3.9, 9: 3.5, 10: 3.1}
"""The same for few runs: the gap that 5 % of unimodal lognormal groups exceed (two million simulated).

Three standard deviations alone would flag 61 % of such groups with three runs, 33 % with five and 6 % with ten."""


def bimodal(values: Runs, rounding: ArrayLike = 0.0) -> Bools:
    """Return which cells are bimodal: those whose widest gap is wide compared with the spread beside it.

    Parameters
    ----------
    values
        Shape ``(..., n)``, with n of at least 3.
    rounding
        By how much, as a logarithm, true values may differ from printed ones in either direction; one number per
        cell, or one for all. Neighbouring last digits do not form a gap, and equal printed figures do have a
        spread.

    Returns
    -------
    ndarray of bool
        One per cell. True if the widest gap in the sorted logarithms exceeds `WIDE_GAP`, or for few runs
        `WIDER_GAPS`, times the pooled standard deviation of the runs below and above it. A mode may be a single
        run, so that outliers are flagged too. Always false for a cell with fewer than three runs.

    Raises
    ------
    ValueError
        If there are fewer than three runs, or a value has no logarithm.

    Examples
    --------
    >>> bimodal([[100.0, 101.0, 102.0, 103.0], [100.0, 101.0, 200.0, 202.0]]).tolist()
    [False, True]
    """
    sample = runs(values, "values", at_least=3).log()
    cells = sample.values.shape[:-1]
    wide = np.zeros(int(np.prod(cells)), dtype=np.bool_)
    blur = np.broadcast_to(rounding, cells).reshape(-1)
    for chosen, (dense,) in by_size(sample):
        if dense.shape[1] >= 3:
            wide[chosen] = _gap_is_wide(np.asfortranarray(np.sort(dense, axis=-1)), blur[chosen])
    return wide.reshape(cells)[()]


def _gap_is_wide(logs: Floats, blur: Floats) -> Bools:
    n = logs.shape[-1]
    logs = logs - logs.mean(axis=-1, keepdims=True)
    gaps = np.diff(logs, axis=-1)
    widest = gaps.max(axis=-1)
    places = np.arange(1, n + 1)
    n_below = np.where(gaps == widest[:, None], places[:-1], n).min(axis=-1)
    below = np.where(places <= n_below[:, None], logs, 0).sum(axis=-1)
    above = logs.sum(axis=-1) - below
    squares = np.square(logs).sum(axis=-1) - below**2 / n_below - above**2 / (n - n_below)
    of_rounding = n * np.square(blur) / 3  # true values are anywhere between the ends of a print
    within = np.sqrt((np.maximum(squares, 0) + of_rounding) / (n - 2))
    gap = widest - 2 * blur
    wide: Bools = gap > np.maximum(WIDER_GAPS.get(n, WIDE_GAP) * within, 10.0**-DECIMALS)
    return wide
