import numpy as np
import pytest
from scipy import stats as scipy_stats

from fsbench_kit.stats import (
    paired_log,
    power_of_effect,
    runs_for_effect,
    runs_for_equivalence,
    runs_for_width,
    welch_log,
)

# Noise between runs -> runs per side for a half-width of 2, 5, 10 %; for an effect of 2, 5, 10, 20 %; for
# equivalence within 5 and 10 %, both with a power of 80 %. Searched upwards from 2, apart from this package.
PLANS = {
    0.01: ((4, 2, 2), (6, 3, 2, 2), (2, 2)),
    0.02: ((10, 3, 2), (18, 4, 3, 2), (4, 3)),
    0.03: ((19, 5, 3), (38, 8, 3, 2), (8, 3)),
    0.05: ((51, 10, 4), (102, 18, 6, 3), (19, 6)),
    0.10: ((198, 34, 10), (402, 67, 19, 6), (73, 20)),
    0.20: ((785, 131, 36), (1603, 265, 71, 20), (289, 77)),
}


@pytest.mark.parametrize(("log_sd", "plan"), list(PLANS.items()))
def test_plans(log_sd: float, plan: tuple[tuple[int, ...], ...]) -> None:
    assert tuple(runs_for_width(log_sd, factor) for factor in (1.02, 1.05, 1.10)) == plan[0]
    assert tuple(runs_for_effect(log_sd, ratio) for ratio in (1.02, 1.05, 1.10, 1.20)) == plan[1]
    assert tuple(runs_for_equivalence(log_sd, margin) for margin in (1.05, 1.10)) == plan[2]


def test_an_effect_is_shown_as_often_as_planned() -> None:
    n = runs_for_effect(0.05, 1.05)
    a, b = np.random.default_rng(12).lognormal(0, 0.05, (2, 4000, n))
    assert (welch_log(a, 1.05 * b).low > 1).mean() == pytest.approx(0.8, abs=0.03)


def test_an_interval_is_as_wide_as_planned() -> None:
    n = runs_for_width(0.05, 1.05, confidence=0.99)
    a, b = np.random.default_rng(13).lognormal(0, 0.05, (2, 4000, n))
    estimate = welch_log(a, b, 0.99)
    assert np.sqrt(np.median(estimate.high / estimate.low)) == pytest.approx(1.05, abs=0.003)


def test_one_run_fewer_would_not_do() -> None:
    n = runs_for_width(0.05, 1.05)
    half_widths = [scipy_stats.t.ppf(0.975, 2 * m - 2) * 0.05 * np.sqrt(2 / m) / np.log(1.05) for m in (n - 1, n)]
    assert half_widths[0] > 1 >= half_widths[1]


@pytest.mark.parametrize("plan", [runs_for_width, runs_for_effect, runs_for_equivalence])
def test_nonsense_is_refused(plan) -> None:
    with pytest.raises(ValueError, match=r"write 1\.05 for 5 %"):
        plan(0.05, 0.05)
    with pytest.raises(ValueError, match="a spread of 0 between runs is not positive"):
        plan(0, 1.05)
    with pytest.raises(ValueError, match="not between 0 and 1"):
        plan(0.05, 1.05, 80)


@pytest.mark.parametrize(("log_sd", "runs"), [(0.0215, 3), (0.0216, 4)])
def test_the_width_is_that_of_as_many_runs(log_sd: float, runs: int) -> None:
    # t(.975, 4) sqrt(2/3) s = 2.2670 s reaches ln 1.05 = 0.04879 at 0.02152
    assert runs_for_width(log_sd, 1.05) == runs


def test_pairs_are_planned_with_the_spread_of_their_ratios() -> None:
    n = runs_for_width(0.05, 1.05, pairs=True)
    half_widths = [scipy_stats.t.ppf(0.975, m - 1) * 0.05 / np.sqrt(m) / np.log(1.05) for m in (n - 1, n)]
    assert half_widths[0] > 1 >= half_widths[1]


def test_the_power_of_pairs_is_that_of_a_simulation() -> None:
    a, b = np.random.default_rng(4).lognormal(0, 0.05 / np.sqrt(2), (2, 20_000, 8))
    found = (paired_log(a, 1.05 * b).low > 1).mean()
    assert power_of_effect(0.05, 1.05, 8, pairs=True) == pytest.approx(found, abs=0.015)
