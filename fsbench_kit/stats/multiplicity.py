"""Adjusted p values for a family of comparisons. A nan is not a test: it stays nan and does not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsbench_kit.stats.result import Floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def holm(p: ArrayLike) -> Floats:
    """Adjust p values so that all of those below 5 % hold *simultaneously* with 95 % confidence.

    Parameters
    ----------
    p
        The family, shape ``(n,)``.

    Returns
    -------
    ndarray
        Shape ``(n,)``, in the same order.

    Raises
    ------
    ValueError
        If a p value is not between 0 and 1.

    Notes
    -----
    Holm, S. (1979), Scand. J. Stat. 6, 65-70. Valid under any dependence.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted, tested = _family(p)
    family = adjusted[tested]
    order = np.argsort(family)
    stepped = np.maximum.accumulate(family[order] * np.arange(family.size, 0, -1))
    family[order] = np.minimum(stepped, 1)
    adjusted[tested] = family
    return adjusted


def _family(p: ArrayLike) -> tuple[Floats, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """Return a copy of the p values, and a mask of those that were tests."""
    values = np.array(p, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"a family of p values has one axis, not {values.ndim}")
    tested = ~np.isnan(values)
    if not ((values[tested] >= 0) & (values[tested] <= 1)).all():
        raise ValueError("a p value lies between 0 and 1")
    return values, tested
