"""Examines the runs of a comparison: whether groups have modes or drift, and whether their ratio is steady."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.groups import ROLES
from fsbench_kit.analysis.reasons import Reason
from fsbench_kit.stats.drift import MIN_RUNS
from fsbench_kit.stats.steady import WINDOW

if TYPE_CHECKING:
    from fsbench_kit.analysis.estimates import Estimates
    from fsbench_kit.analysis.groups import Groups
    from fsbench_kit.stats.result import Bools, Ints

NON_STEADY: Final = Reason(
    code="NON_STEADY",
    kind="verdict withheld",
    meaning="The ratio of the groups drifts from round to round, and the last five are not steady by SNIA's "
    "criterion.",
)
REASONS: Final = (NON_STEADY,)


def look(groups: Groups, found: Estimates) -> Bools:
    """Note which groups are bimodal or drift, and withhold the verdict if a ratio is not steady.

    Returns
    -------
    ndarray of bool
        The rows with a group whose runs appear to have modes.
    """
    bimodal, drifting = _shapes(groups, found)
    bimodal &= groups.alike("launch")  # different hosts, kernels or launches naturally have different speeds
    few = groups.table["n"].to_numpy() < _FOR_MODES
    of_rows = groups.compared
    for which, sentence in ((bimodal & ~few, _BIMODAL), (bimodal & few, _APART), (drifting, _DRIFTING)):
        rows, roles = np.nonzero(which[of_rows])
        if rows.size:
            levels = groups.table["level"][of_rows[rows, roles]].to_frame()
            found.remarks.note(rows, levels.select_seq(pl.format(sentence, groups.called())).to_series())
    found.remarks.because(_unsteady(groups, found), NON_STEADY)
    return groups.either(bimodal)


_BIMODAL: Final = "The runs of {} are bimodal, and their mean lies between the modes: look at each run."
_APART: Final = "The runs of {} lie far apart, and there are too few to tell modes from chance: look at each run."
_DRIFTING: Final = "The figures of {} drift: later runs differ from earlier ones by more than chance."

_FOR_MODES: Final = 6
"""The smallest number of runs that can be called bimodal: with fewer, a mode is hardly more than one run."""


def _shapes(groups: Groups, found: Estimates) -> tuple[Bools, Bools]:
    """Return which groups are bimodal, and which drift."""
    n = groups.table["n"].to_numpy()
    if not n.size:
        return n > 0, n > 0
    compared, bimodal, drifting = (np.zeros(n.size, dtype=np.bool_) for _ in range(3))
    compared[groups.compared] = True
    samples = found.samples
    measured = compared & (n >= 3) & samples.are_positive
    chosen = np.flatnonzero(measured)
    if chosen.size:
        bimodal[chosen] = stats.bimodal(samples.group(chosen), found.rounding[chosen])

    # A line over time is only meaningful if the times are known, and all runs were made on one machine.
    timed = ~groups.lacking("started_at") & groups.alike("host")
    chosen = np.flatnonzero(measured & (n >= MIN_RUNS) & timed)
    if chosen.size:
        line = stats.drift(samples.in_time(chosen))
        drifting[chosen] = (line.low > 1) | (line.high < 1)
    return bimodal, drifting


def _unsteady(groups: Groups, found: Estimates) -> Ints:
    """Return the rows whose ratio drifts over rounds and is not steady at their end.

    Rounds cancel whatever affects both groups: a device that slows down does not harm a ratio. The mean of a ratio
    in transition, however, represents neither of its states. SNIA's criterion alone would not be enough: it limits
    the range of five rounds, which ratios that merely vary by 9 % exceed half of the time; that is what an
    interval is for.
    """
    together = groups.alike("launch") & ~groups.lacking("round")
    blocked = ~np.isnan(found.numbers["n_pairs"])
    rows: Ints = np.flatnonzero(together[groups.compared].all(axis=-1) & blocked)
    if not rows.size:
        return rows
    rounds = groups.measurements["round"].rank("dense").fill_null(1).to_numpy() - 1
    logs = [_over_rounds(groups, groups.pairs[role].to_numpy()[rows], rounds) for role in ROLES]
    ratios = np.ma.exp(logs[1] - logs[0])
    many = ratios.count(axis=-1) >= WINDOW
    rows, ratios = rows[many], ratios[many]
    if not rows.size:
        return rows
    line = stats.drift(ratios)
    drifts = (line.low > 1) | (line.high < 1)
    rows, ratios = rows[drifts], ratios[drifts]
    present = np.argsort(ratios.mask, axis=-1, kind="stable")  # the rounds with a ratio, in order
    last = ratios.count(axis=-1)[:, None] + np.arange(-WINDOW, 0)
    ending = np.take_along_axis(ratios.data, np.take_along_axis(present, last, axis=-1), axis=-1)
    restless: Ints = rows[~stats.steady_state(ending).steady] if rows.size else rows
    return restless


def _over_rounds(groups: Groups, of: Ints, rounds: Ints) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
    """Return the mean logarithm of groups in each round; rounds without runs of a group are masked."""
    places, group = groups.places(of)
    width = int(rounds.max()) + 1
    cell = group * width + rounds[places]
    count = np.bincount(cell, minlength=of.size * width)
    total = np.bincount(cell, np.log(groups.measurements["value"].to_numpy()[places]), minlength=of.size * width)
    return np.ma.MaskedArray(total / np.maximum(count, 1), mask=count == 0).reshape(of.size, width)
