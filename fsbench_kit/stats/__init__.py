"""Statistics of ratios between two groups of runs, and of single runs: arrays in, small frozen results out.

All figures are of one metric in one unit. Runs are along the last axis; leading axes are cells, which broadcast
and are processed at once. A ratio is always B/A. Cells with unequal numbers of runs form a masked array
(`ragged`), in which masked places are not runs. A cell with too few runs for a method gets nan and
`Caveat.TOO_FEW`. Zeros, negative values and nan raise a `ValueError`: the caller has to explain why a figure is
missing. Nothing here draws random numbers.

=====================================  ==========================================================
The data                               The method
=====================================  ==========================================================
two or more runs per group             `welch_log`; with four or more, also `hodges_lehmann_log`
two or more pairs of runs              `paired_log`; with six or more, also `signed_rank_log`
rounds or hosts with several runs      `blocked_log`
... two to four hosts, or versions     `stratified_log`, `stratified_paired_log`
several cells, hosts or studies        `random_effects`
two or three runs in many cells        `moderated_log`, `moderated_paired_log`, beside the cell's own
one run against three or more          `prediction_log`
one run against one                    `break_even`; no interval exists
two printed figures, or bounds         `rounding_ratio`
one group                              `quantile_interval`; figures in bins: `merged`, `binned_quantile`
one run over time                      `within_run`, `steady_state`, `levels`
where may a change lie?                `reach`, given the result of `levels`
is there a difference at all?          the p of an estimate; for a family, `holm`
is there no difference?                `equivalent` on a 90 % interval; `equivalence_p`
is a group bimodal? drifting?          `bimodal`, `drift`
could modes alone look like this?      `distances` of many cells; `unlike_modes_p`, `unlike_rounds_p`
did two groups take turns?             `few_alternations_p`
how many runs will it take?            `runs_for_width`, `runs_for_effect`, `runs_for_equivalence`
what can this many runs show?          `power_of_effect`, `power_of_equivalence`
which level of repetition to repeat?   `variance_components`
=====================================  ==========================================================

Some methods are left out on purpose: percentile and BCa bootstraps cover 50 to 92 % with ten runs or fewer, Price
and Bonett's interval for the ratio of medians covers 64 to 75 % if runs are bimodal, and checking two intervals
for overlap has a true level of 0.5 % and half the power. ``benchmarks/coverage.py`` measures the coverage of the
methods here; ``docs/coverage.md`` has the results.
"""

from fsbench_kit.stats.blocks import blocked_log
from fsbench_kit.stats.changes import Levels, levels, reach
from fsbench_kit.stats.components import Components, variance_components
from fsbench_kit.stats.drift import drift
from fsbench_kit.stats.equivalence import equivalence_p, equivalent
from fsbench_kit.stats.histograms import (
    BinnedQuantile,
    Histogram,
    binned_quantile,
    merged,
)
from fsbench_kit.stats.moderated import Prior, moderated_log, moderated_paired_log, variance_prior
from fsbench_kit.stats.modes import distances, unlike_modes_p, unlike_rounds_p
from fsbench_kit.stats.multiplicity import holm
from fsbench_kit.stats.planning import (
    power_of_effect,
    power_of_equivalence,
    runs_for_effect,
    runs_for_equivalence,
    runs_for_width,
)
from fsbench_kit.stats.quantiles import quantile_interval, quantile_ranks, rank_confidence
from fsbench_kit.stats.random_effects import RandomEffects, random_effects
from fsbench_kit.stats.ranks import few_alternations_p, mann_whitney_p, signed_rank_p
from fsbench_kit.stats.ratio import paired_log, welch_log
from fsbench_kit.stats.result import Caveat, Estimate, RatioEstimate
from fsbench_kit.stats.robust import hodges_lehmann_log, signed_rank_log
from fsbench_kit.stats.series import batch_error, lag1_correlation, within_run
from fsbench_kit.stats.shape import bimodal
from fsbench_kit.stats.single import Bounds, BreakEven, break_even, prediction_log, rounding_ratio
from fsbench_kit.stats.steady import SteadyState, steady_state
from fsbench_kit.stats.strata import Strata, stratified_log, stratified_paired_log
from fsbench_kit.stats.student import LogRatio, difference_p
from fsbench_kit.stats.values import ragged

__all__ = [
    "BinnedQuantile",
    "Bounds",
    "BreakEven",
    "Caveat",
    "Components",
    "Estimate",
    "Histogram",
    "Levels",
    "LogRatio",
    "Prior",
    "RandomEffects",
    "RatioEstimate",
    "SteadyState",
    "Strata",
    "batch_error",
    "bimodal",
    "binned_quantile",
    "blocked_log",
    "break_even",
    "difference_p",
    "distances",
    "drift",
    "equivalence_p",
    "equivalent",
    "few_alternations_p",
    "hodges_lehmann_log",
    "holm",
    "lag1_correlation",
    "levels",
    "mann_whitney_p",
    "merged",
    "moderated_log",
    "moderated_paired_log",
    "paired_log",
    "power_of_effect",
    "power_of_equivalence",
    "prediction_log",
    "quantile_interval",
    "quantile_ranks",
    "ragged",
    "random_effects",
    "rank_confidence",
    "reach",
    "rounding_ratio",
    "runs_for_effect",
    "runs_for_equivalence",
    "runs_for_width",
    "signed_rank_log",
    "signed_rank_p",
    "steady_state",
    "stratified_log",
    "stratified_paired_log",
    "unlike_modes_p",
    "unlike_rounds_p",
    "variance_components",
    "variance_prior",
    "welch_log",
    "within_run",
]
