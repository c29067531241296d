"""Whether the runs of a group are bimodal: a flag that asks for a look at every run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fsbench_kit.stats.result import Bools, Floats
from fsbench_kit.stats.values import DECIMALS, by_size, runs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fsbench_kit.stats.values import Runs

WIDE_GAP: Final = 3.0
"""How many pooled standard deviations make a gap between neighbours wide."""

WIDER_GAPS: Final = {3: 46.0, 4: 11.8, 5: 7.2, 6: 5.4, 7: 4.5, 8: 3.9, 9: 3.5, 10: 3.1}
"""The same for few runs: what lognormal groups, with one mode, exceed in 5 % of cases (two million simulated).

Three standard deviations alone would flag 61 % of such groups at three runs, 33 % at five and 6 % at ten."""


def bimodal(values: Runs, rounding: ArrayLike = 0.0) -> Bools:
    """Tell where runs are bimodal: the widest gap between neighbours is wide beside the spread on its sides.

    Parameters
    ----------
    values
        Shape ``(..., n)``, n of at least 3.
    rounding
        How far, as a logarithm, the true values may lie from those of a cell to either side; of the shape of the
        cells, or one for all. Neighbouring last digits are no gap, and equal prints do spread.

    Returns
    -------
    ndarray of bool
        Of the shape of the cells. True where the widest gap in the sorted logarithms exceeds `WIDE_GAP` times
        the pooled standard deviation of the runs below it and above it; for few runs, `WIDER_GAPS` times. A mode
        may be a single run, so an outlier is flagged too. Never where a cell has fewer than three runs.

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
    widest = gaps.argmax(axis=-1)[:, None]
    sums = logs.cumsum(axis=-1)
    below, total = np.take_along_axis(sums, widest, axis=-1)[:, 0], sums[:, -1]
    n_below = widest[:, 0] + 1
    squares = np.square(logs).sum(axis=-1) - below**2 / n_below - (total - below) ** 2 / (n - n_below)
    of_rounding = n * np.square(blur) / 3  # true values are anywhere between the ends of a print
    within = np.sqrt((np.maximum(squares, 0) + of_rounding) / (n - 2))
    gap = gaps.max(axis=-1) - 2 * blur
    wide: Bools = gap > np.maximum(WIDER_GAPS.get(n, WIDE_GAP) * within, 10.0**-DECIMALS)
    return wide
