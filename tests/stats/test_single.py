import math

import numpy as np
import pytest

from fsbench_kit.stats import Caveat, break_even, prediction_log, rounding_ratio


def test_twice_as_fast_breaks_even_at_a_quarter() -> None:
    assert break_even(2.0).log_sd == pytest.approx(math.log(2) / (1.959964 * math.sqrt(2)), rel=1e-6)
    assert break_even(2.0).log_sd == pytest.approx(0.2501, abs=5e-5)


@pytest.mark.parametrize(
    ("ratio", "percent", "label"),
    [
        (1.05, 1.8, "fragile"),
        (1.10, 3.4, "weak"),
        (1.2, 6.6, "weak"),
        (1.5, 14.6, "fair"),
        (2, 25.0, "robust to noise"),
        (3, 39.6, "robust to noise"),
        (0.15, 68.4, "robust to noise"),
    ],
)
def test_break_even_of_claims(ratio: float, percent: float, label: str) -> None:
    noise = break_even(ratio)
    assert 100 * noise.log_sd == pytest.approx(percent, abs=0.06)
    assert noise.label == label


@pytest.mark.parametrize(
    ("bound", "below", "above"), [(3, "fragile", "weak"), (10, "weak", "fair"), (25, "fair", "robust to noise")]
)
def test_labels_change_at_a_cv_of_3_10_and_25_percent(bound: float, below: str, above: str) -> None:
    for percent, label in ((0.99 * bound, below), (1.01 * bound, above)):
        log_sd = math.sqrt(math.log1p((percent / 100) ** 2))  # of lognormal runs of that coefficient of variation
        assert break_even(math.exp(1.959964 * math.sqrt(2) * log_sd)).label == label


def test_the_cv_is_that_of_lognormal_runs() -> None:
    noise = break_even([3, 0.15])
    assert noise.cv == pytest.approx([0.41, 0.77], abs=0.005)
    draws = np.random.default_rng(9).lognormal(0, noise.log_sd[0], 200_000)
    assert draws.std() / draws.mean() == pytest.approx(noise.cv[0], rel=0.02)


def test_break_even_reads_the_same_both_ways() -> None:
    assert break_even(4.0).cv == pytest.approx(break_even(0.25).cv)
    assert break_even(1.0).cv == 0


def test_at_break_even_chance_gives_the_ratio_in_5_percent() -> None:
    rng = np.random.default_rng(10)
    a, b = rng.lognormal(0, break_even(1.5).log_sd, (2, 100_000))
    assert (np.abs(np.log(b / a)) > math.log(1.5)).mean() == pytest.approx(0.05, abs=0.003)


def test_means_of_runs_bear_more_noise_than_runs() -> None:
    # ln(38.2 / 35.1) / (1.959964 sqrt 2) = 0.03053 as a log-sd, 0.03054 as a cv; times sqrt 3 for means of three
    assert break_even(38.2 / 35.1, runs_a=3, runs_b=3).cv == pytest.approx(0.05290, abs=1e-5)
    # (1 + c^2 / 3) (1 + c^2) = exp((ln 2 / 1.959964)^2) = 1.13323: c^2 = -2 + sqrt(4 + 3 * 0.13323) = 0.09754
    assert break_even(2.0, runs_a=[3, 1], runs_b=[1, 3]).cv == pytest.approx([0.3123, 0.3123], abs=1e-4)
    with pytest.raises(ValueError, match="one run or more"):
        break_even(2.0, runs_a=0)


@pytest.mark.parametrize(("runs_a", "runs_b"), [(3, 3), (3, 1)])
def test_at_break_even_chance_gives_the_ratio_of_means_in_5_percent(runs_a: int, runs_b: int) -> None:
    rng = np.random.default_rng(11)
    noise = break_even(1.5, runs_a=runs_a, runs_b=runs_b)
    a, b = (rng.lognormal(0, noise.log_sd, (100_000, k)).mean(axis=1) for k in (runs_a, runs_b))
    assert (np.abs(np.log(b / a)) > math.log(1.5)).mean() == pytest.approx(0.05, abs=0.003)


def test_rounding() -> None:
    # 0.4 s against 0.8 s, printed with one decimal: anything from 0.75/0.45 to 0.85/0.35.
    bounds = rounding_ratio(0.35, 0.45, 0.75, 0.85)
    assert (bounds.low, bounds.high) == (0.75 / 0.45, 0.85 / 0.35)


def test_open_ends_give_a_bound() -> None:
    # Side B is above 100: bonnie++'s "+++++".
    above = rounding_ratio(9.5, 10.5, 100, None)
    assert (above.low, above.high) == (100 / 10.5, np.inf)
    below = rounding_ratio(9.5, math.inf, 100, 101)
    assert (below.low, below.high) == (0, 101 / 9.5)
    neither = rounding_ratio(9.5, None, 100, None)
    assert (neither.low, neither.high) == (0, np.inf)
    zero = rounding_ratio(0, 0.005, 0, 0.005)  # both print as 0.00
    assert (zero.low, zero.high) == (0, np.inf)


def test_rounding_of_many_cells_takes_nan_as_open() -> None:
    bounds = rounding_ratio([1, np.nan, 0], [2, 2, 0], [4, 4, 0], [6, np.nan, 0])
    assert bounds.low.tolist() == [2, 2, 0]
    assert bounds.high.tolist() == [6, np.inf, np.inf]


@pytest.mark.parametrize("ends", [(-1, 2, 1, 2), (2, 1, 1, 2), (1, 2, 3, 2), (math.inf, math.inf, 1, 2)])
def test_ends_out_of_order_are_refused(ends: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="not in order"):
        rounding_ratio(*ends)


def test_prediction_by_hand() -> None:
    # Exponents -1, 0, 1 have the mean 0 and the standard deviation 1; t of 2 degrees at 97.5 % is 4.302653.
    estimate = prediction_log(math.exp(3), np.exp([-1, 0, 1]))
    half = 4.302653 * math.sqrt(4 / 3)
    assert np.log([estimate.estimate, estimate.low, estimate.high]) == pytest.approx(
        [3, 3 - half, 3 + half], abs=1e-6
    )
    assert (estimate.n_a, estimate.n_b) == (3, 1)
    assert Caveat.EQUAL_NOISE_ASSUMED in estimate.caveats


def test_prediction_of_many_cells() -> None:
    many = np.array([[1.0, 1.1, 1.2], [2.0, 2.0, 2.0]])
    estimate = prediction_log([3.0, 4.0], many)
    assert estimate.low[0] == prediction_log(3.0, many[0]).low
    assert np.isnan(estimate.low[1])
    assert estimate.caveats[Caveat.NO_SPREAD].tolist() == [False, True]


def test_prediction_from_two_is_refused() -> None:
    with pytest.raises(ValueError, match="many has 2 runs; this method needs at least 3"):
        prediction_log(1.0, [1.0, 2.0])
