"""Statistics of ratios between two sets of runs: arrays in, small frozen results out.

Values are positive figures of one metric in one unit, with the runs along the last axis; leading axes are cells,
broadcast, and are worked on at once. A ratio is always B/A. Zeros, negatives and nan are refused with a
`ValueError`: why a figure is missing is for the caller to say.

=====================================  ==========================================================
The data                               The method
=====================================  ==========================================================
two or more runs on each side          `welch_log`; from four on `hodges_lehmann_log` beside it
runs in pairs, two or more             `paired_log`; from six on `signed_rank_log` beside it
one run against three or more          `prediction_log`
one run against one                    `break_even`; no interval exists
two printed figures, or bounds         `rounding_ratio`
is there a difference at all?          the p of an estimate; over a family `holm`
which of many cells to look at         `benjamini_hochberg`
is there none?                         `equivalent` on a 90 % interval; `tost_p`
is a side one heap of runs?            `two_modes`, `run_cv`
how many runs will it take?            `runs_for_width`, `runs_for_effect`, `runs_for_equivalence`
=====================================  ==========================================================

What is not here is not here on purpose: percentile and BCa bootstraps cover 50 to 92 % at ten runs or fewer, and
comparing two intervals for overlap has a true level of 0.5 % and half the power. ``benchmarks/coverage.py``
measures the coverage of what is here; the docstrings quote it.
"""

from fsbench_kit.stats.equivalence import equivalent, tost_p
from fsbench_kit.stats.multiplicity import benjamini_hochberg, holm
from fsbench_kit.stats.planning import runs_for_effect, runs_for_equivalence, runs_for_width
from fsbench_kit.stats.ranks import mann_whitney_p, signed_rank_p
from fsbench_kit.stats.ratio import paired_log, welch_log
from fsbench_kit.stats.result import Caveat, RatioEstimate
from fsbench_kit.stats.robust import hodges_lehmann_log, signed_rank_log
from fsbench_kit.stats.shape import run_cv, two_modes
from fsbench_kit.stats.single import Bounds, BreakEven, break_even, prediction_log, rounding_ratio

__all__ = [
    "Bounds",
    "BreakEven",
    "Caveat",
    "RatioEstimate",
    "benjamini_hochberg",
    "break_even",
    "equivalent",
    "hodges_lehmann_log",
    "holm",
    "mann_whitney_p",
    "paired_log",
    "prediction_log",
    "rounding_ratio",
    "run_cv",
    "runs_for_effect",
    "runs_for_equivalence",
    "runs_for_width",
    "signed_rank_log",
    "signed_rank_p",
    "tost_p",
    "two_modes",
    "welch_log",
]
