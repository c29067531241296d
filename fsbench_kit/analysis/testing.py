"""Tests ratios: whether each is 1, and whether it lies beyond the margin.

The spread of few runs is uncertain, and even more so if runs have modes: if all runs of each group happen to be in
one mode, they seem to have no spread, and the groups to differ. Among several rows this does happen. Therefore p
is never smaller than the pooled spread of all rows of a kind gives, if there are many: for three to five runs, and
for any number of runs if many groups of the kind have modes. For three to five runs, p is also never smaller than
the chance of such a difference by modes alone, estimated from how often two runs of one group in the other rows of
the kind lie half as far apart as the groups do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.intervals import FEWEST_UNITS, MOST_FEW
from fsbench_kit.analysis.parts import Parts
from fsbench_kit.stats.values import checked_log

if TYPE_CHECKING:
    from fsbench_kit.analysis.estimates import CompareOptions, Estimates
    from fsbench_kit.analysis.groups import Groups
    from fsbench_kit.stats.result import Bools, Floats, Ints

_MANY_ROWS: Final = 10

_MANY_DEGREES: Final = 40
"""The degrees of freedom of ten rows with three runs per group; if runs have modes, fewer rows with more runs are
enough."""

_MANY_WITH_MODES: Final = 0.25
"""The share of rows with modes above which all rows of their kind are assumed to; chance gives a tenth."""

_POOLED: Final = ("study", "tool", "metric", "statistic")
"""What rows must share, besides the method, to be tested against their pooled spread."""


def test(groups: Groups, found: Estimates, modes: Bools, options: CompareOptions) -> None:
    """Test each ratio; of a bound, test only whether it is 1.

    Parameters
    ----------
    groups
        The groups and how they are paired.
    found
        The estimates, in which ``p`` and ``p_equivalent`` are filled in.
    modes
        The rows with a group whose runs appear to have modes.
    options
        The largest ratio that counts as equal, and the confidence.
    """
    tested = np.isfinite(found.numbers["standard_error"])
    ratios = np.flatnonzero(tested & ~np.isnan(found.numbers["ratio"]))
    limit = checked_log(options.margin)
    p = np.full((2, tested.size), np.nan)
    p[:, tested] = _p(found, np.flatnonzero(tested), limit)
    own, level = p[0].copy(), 1 - options.confidence
    for rows in _kinds(groups, found, ratios):
        with_modes = modes[rows].mean() > _MANY_WITH_MODES
        if rows.size >= _MANY_ROWS or (with_modes and found.numbers["degrees"][rows].sum() >= _MANY_DEGREES):
            _hold_to_all(p, found, rows, limit, with_modes=with_modes)
        p[0, rows] = np.maximum(p[0, rows], _by_unlike_modes(found, rows))
        alone, of_many = ((own[rows] <= at) & (p[0, rows] > at) for at in (level, level / rows.size))
        found.remarks.note(rows[(alone | of_many) & (p[1, rows] > level / rows.size)], _HELD)
    p[1, np.isnan(found.numbers["ratio"])] = np.nan
    found.put(np.flatnonzero(tested), p=p[0, tested], p_equivalent=p[1, tested])


_HELD: Final = (
    "Taken by itself, this row shows a difference; but in other rows, runs of one group lie as far apart as these "
    "groups do, so that chance alone can explain it."
)


def _p(found: Estimates, rows: Ints, limit: float, **spread: Floats) -> Floats:
    """Return p of "the ratio is 1", and of "it lies beyond the margin", optionally with another spread."""
    columns = {name: found.numbers[name][rows] for name in stats.LogRatio._fields} | spread
    ratio = stats.LogRatio(**columns)
    return np.stack([stats.difference_p(ratio), stats.equivalence_p(ratio, limit)])


def _kinds(groups: Groups, found: Estimates, rows: Ints) -> list[Ints]:
    """Return the rows of each kind."""
    apart = [name for name in _POOLED if name in groups.varied]
    kinds = pl.DataFrame([*(groups.of("baseline", name)[name] for name in apart), found.text("method")])
    return [rows[places] for places in Parts.of_rows(kinds[rows]).rows] if rows.size else []


def _hold_to_all(p: Floats, found: Estimates, rows: Ints, limit: float, *, with_modes: bool) -> None:
    """Raise p of rows with few runs, or of runs with modes, to what the pooled spread of their kind gives."""
    units, per_unit, degrees = (found.numbers[name][rows] for name in ("units", "per_unit", "degrees"))
    unsure = (units >= FEWEST_UNITS) & ((units <= MOST_FEW) | with_modes)
    if not unsure.any():
        return
    variance = np.average(found.numbers["standard_error"][rows] ** 2 / per_unit, weights=degrees)
    held, error = rows[unsure], np.sqrt(variance * per_unit[unsure])
    p[:, held] = np.maximum(
        p[:, held], _p(found, held, limit, standard_error=error, df=np.full(held.size, degrees.sum()))
    )


def _by_unlike_modes(found: Estimates, rows: Ints) -> Floats:
    """Return the chance that groups are in different modes, by how often runs of other rows are half as far apart.

    It is 0 for more than a few runs, and for the only row of a kind: in the worst case, with two equally frequent
    modes, groups of three runs are in different modes in 3 % of rows.
    """
    units, degrees, pairs = (found.numbers[name][rows] for name in ("units", "degrees", "n_pairs"))
    few = (units >= FEWEST_UNITS) & (units <= MOST_FEW)
    if not few.any():
        return np.zeros(rows.size)
    apart = np.full((rows.size, max((each.shape[1] for _, each in found.scatter), default=0)), np.nan)
    for of, each in found.scatter:
        here = np.isin(of, rows)
        apart[np.searchsorted(rows, of[here]), : each.shape[1]] = each[here]
    known = np.sort(apart[~np.isnan(apart)])
    others = known.size - (~np.isnan(apart)).sum(axis=-1)
    reach = np.abs(found.numbers["estimate"][rows]) / 2
    beyond = known.size - np.searchsorted(known, reach) - (apart >= reach[:, None]).sum(axis=-1)
    share = (beyond + 1) / (others + 1)  # events that were not seen can still happen
    p = (
        stats.unlike_rounds_p(share, units)
        if np.isfinite(pairs).all()
        else stats.unlike_modes_p(share, units, degrees + 2 - units)
    )
    return np.where(few & (others > 0), p, 0.0)
