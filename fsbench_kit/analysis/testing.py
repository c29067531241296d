"""Tests of ratios: whether each is 1, and whether it lies beyond the margin.

The spread of few runs is hardly known, and that of runs with modes less so: where all runs of each group happen
to be of one mode, they look like no spread at all, and like a difference. In hundreds of rows that happens. So p
is no smaller than what the spread of all rows of a kind gives, where these are many: for three to five runs, and
for any number of runs where many groups of the kind have modes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.stats.values import checked_log

if TYPE_CHECKING:
    from fsbench_kit.analysis.estimation import Estimates
    from fsbench_kit.analysis.groups import Groups
    from fsbench_kit.stats.result import Bools, Ints

FEWEST_UNITS: Final = 3
"""Runs of a group, or rounds, from which on a row has a verdict of its own."""

_MOST_FEW: Final = 5
_MANY_ROWS: Final = 10

_MANY_WITH_MODES: Final = 0.25
"""The share of rows with modes above which no row of their kind is trusted to have none; chance gives a tenth."""

_POOLED: Final = ("study", "tool", "metric", "statistic")
"""What rows have to share besides the method before they are held to the spread of all of them."""


def test(groups: Groups, found: Estimates, modes: Bools, margin: float) -> None:
    """Test each ratio; of a bound, only whether it is 1.

    Parameters
    ----------
    groups
        Who stands with whom.
    found
        What was estimated; ``p`` and ``p_equivalent`` are filled in.
    modes
        The rows with a group whose runs look as if they had modes.
    margin
        The largest ratio that counts as equal.
    """
    rows = np.flatnonzero(np.isfinite(found.numbers["standard_error"]))
    ratio = stats.LogRatio(*(found.numbers[name][rows] for name in stats.LogRatio._fields))
    limit = checked_log(margin)
    p = np.stack([stats.difference_p(ratio), stats.equivalence_p(ratio, limit)])
    of_ratios = ~np.isnan(found.numbers["ratio"][rows])
    if of_ratios.sum() >= _MANY_ROWS:
        units, per_unit, degrees = (found.numbers[name][rows] for name in ("units", "per_unit", "degrees"))
        kind = _kinds(groups, found, rows)
        weight = np.where(of_ratios, degrees, 0.0)
        total = np.bincount(kind, weight).astype(np.float64)
        number = np.bincount(kind, of_ratios)
        variance = np.bincount(kind, weight * ratio.standard_error**2 / per_unit) / np.maximum(total, 1)
        with_modes = np.bincount(kind, modes[rows]) > _MANY_WITH_MODES * number
        unsure = (units >= FEWEST_UNITS) & ((units <= _MOST_FEW) | with_modes[kind])
        held = np.flatnonzero(of_ratios & unsure & (number[kind] >= _MANY_ROWS))
        pooled = stats.LogRatio(*(column[held] for column in ratio))._replace(
            standard_error=np.sqrt(variance[kind[held]] * per_unit[held]), df=total[kind[held]]
        )
        p[:, held] = np.maximum(p[:, held], [stats.difference_p(pooled), stats.equivalence_p(pooled, limit)])
    found.put(rows, p=p[0], p_equivalent=np.where(of_ratios, p[1], np.nan))


def _kinds(groups: Groups, found: Estimates, rows: Ints) -> Ints:
    """Return a number for each row: equal for rows that are of one kind."""
    methods = pl.Series("method", found.words["method"][rows].tolist(), dtype=pl.String)
    kinds = groups.of("baseline", *_POOLED)[rows].with_columns(methods)
    numbers: Ints = kinds.select(pl.struct(pl.all()).rank("dense") - 1).to_series().to_numpy()
    return numbers
