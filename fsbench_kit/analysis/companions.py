"""Adds a companion interval to a row, by a method with different weaknesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from fsbench_kit import stats
from fsbench_kit.analysis.groups import ROLES, Groups
from fsbench_kit.stats import special
from fsbench_kit.stats.robust import MIN_PAIRS, MIN_RUNS

if TYPE_CHECKING:
    from fsbench_kit.analysis.estimates import CompareOptions, Estimates
    from fsbench_kit.analysis.intervals import Method
    from fsbench_kit.analysis.samples import Samples


def beside_two_samples(samples: Samples, found: Estimates, options: CompareOptions) -> None:
    """Add the Hodges-Lehmann interval, which stays valid if runs fall into two modes."""
    n_a, n_b = samples.a.n, samples.b.n
    # the confidence of the interval from the least to the greatest ratio of two runs
    widest = 1 - 2 / special.comb(n_a + n_b, n_a)
    ranked = (np.minimum(n_a, n_b) >= MIN_RUNS) & (widest >= options.confidence)
    companion(samples.where(ranked), stats.hodges_lehmann_log, found, options)


def beside_pairs(samples: Samples, found: Estimates, options: CompareOptions) -> None:
    """Add the signed-rank interval."""
    pairs = samples.a.n
    enough = (pairs >= MIN_PAIRS) & (1 - 2.0 ** (1 - pairs) >= options.confidence)
    companion(samples.where(enough), stats.signed_rank_log, found, options)


def beside_few(
    groups: Groups, samples: Samples, method: Method, found: Estimates, options: CompareOptions
) -> None:
    """Add an interval to cells of two or three runs that borrows their spread from many similar cells."""
    few = samples.where(samples.fewest <= _FEW)
    if not few.rows.size:
        return
    baselines, candidates = (groups.of(role, *_KIND)[few.rows] for role in ROLES)
    kinds = baselines.select(pl.struct(*_KIND, other=candidates["level"]).rank("dense")).to_series().to_numpy()
    for kind in np.unique(kinds):
        companion(few.where(kinds == kind), method, found, options)


_FEW: Final = 3
"""The largest number of runs in a group whose spread is estimated better with that of other cells."""

_KIND: Final = ("study", "tool", "filesystem", "metric", "statistic", "level")
"""What cells must share, besides the candidate's level, for one to borrow from another."""


def companion(samples: Samples, method: Method, found: Estimates, options: CompareOptions) -> None:
    """Add a companion interval to the rows, and note where only one of the two intervals includes 1."""
    if not samples.rows.size:
        return
    result, rows = method(samples.a, samples.b, options.confidence), samples.rows
    low, high = found.with_rounding(rows, result)
    own_low, own_high = found.numbers["ci_low"][rows], found.numbers["ci_high"][rows]
    given = np.isfinite(low) & np.isfinite(own_low)
    found.put(rows[given], companion_low=low[given], companion_high=high[given])
    found.put(rows[given], companion_method=result.method)
    includes, own_includes = (low <= 1) & (high >= 1), (own_low <= 1) & (own_high >= 1)
    found.remarks.note(
        rows[given & includes & ~own_includes], f"A second interval, by {result.method}, includes 1."
    )
    found.remarks.note(
        rows[given & ~includes & own_includes], f"A second interval, by {result.method}, excludes 1."
    )
    if (noisy := result.caveats.get(stats.Caveat.NOISIER_THAN_MOST)) is not None:
        found.remarks.note(
            rows[given & noisy], "The cell is more than twice as noisy as most: its second interval is too short."
        )
