import numpy as np
import pytest
from scipy.signal import lfilter

from fsbench_kit.stats import Caveat, batch_error, lag1_correlation, ragged, within_run


def alike(r: float, shape: tuple[int, int], seed: int = 1) -> np.ndarray:
    steps = np.random.default_rng(seed).normal(size=(shape[0], shape[1] + 200))
    return 100 + lfilter([1], [1, -r], steps, axis=1)[:, 200:]


def test_batch_error_by_hand() -> None:
    # Ten batches of two with the means 1, 2, ..., 10: their variance is 55/6. The odd one at the start is in none.
    series = [99.0, *np.repeat(np.arange(1, 11), 2) + np.tile([-0.5, 0.5], 10)]
    assert batch_error(series) == pytest.approx(np.sqrt(55 / 6 / 10))


def test_batches_need_figures() -> None:
    with pytest.raises(ValueError, match="9 figures do not make 10 batches"):
        batch_error(np.arange(9.0))


@pytest.mark.parametrize("r", [0.0, 0.3, 0.6, 0.9])
def test_the_correlation_is_found_without_bias(r: float) -> None:
    assert lag1_correlation(alike(r, (2000, 60))).mean() == pytest.approx(r, abs=0.035)


@pytest.mark.parametrize(
    ("r", "n", "least"), [(0.0, 60, 0.93), (0.3, 60, 0.93), (0.6, 120, 0.925), (0.9, 600, 0.925)]
)
def test_it_covers_the_long_run_mean(r: float, n: int, least: float) -> None:
    estimate = within_run(alike(r, (2000, n)))
    assert ((estimate.low <= 100) & (estimate.high >= 100)).mean() >= least


def test_it_is_the_wider_of_two() -> None:
    series = alike(0.6, (1, 60))[0]
    estimate = within_run(series)
    half = (estimate.high - estimate.low) / 2
    size = 60 * (1 - lag1_correlation(series)) / (1 + lag1_correlation(series))
    from scipy.stats import t

    by_batches = t.ppf(0.975, 9) * batch_error(series)
    by_size = t.ppf(0.975, size - 1) * series.std(ddof=1) / np.sqrt(size)
    assert half == pytest.approx(max(by_batches, by_size))
    assert estimate.estimate == pytest.approx(series.mean())
    assert Caveat.WITHIN_RUN in estimate.caveats


def test_runs_of_unequal_length() -> None:
    long, short, tiny = alike(0.3, (1, 60))[0], alike(0.3, (1, 25), 2)[0], [1.0, 2.0]
    estimate = within_run(ragged([long, short, tiny]))
    assert estimate.low[0] == pytest.approx(within_run(long).low)
    assert estimate.low[1] == pytest.approx(within_run(short).low)
    assert np.isnan(estimate.low[2])
    assert estimate.caveats[Caveat.TOO_FEW].tolist() == [False, False, True]


def test_twenty_figures_are_enough_for_an_interval() -> None:
    series = alike(0.3, (1, 20))[0]
    assert np.isfinite(within_run(series).low)
    with pytest.raises(ValueError, match="at least 20"):
        within_run(series[:19])


def test_a_stall_is_a_figure() -> None:
    series = [0.0, 5.0] * 15
    assert within_run(series).estimate == pytest.approx(2.5)


def test_a_series_without_spread_has_no_interval() -> None:
    estimate = within_run([7.0] * 30)
    assert estimate.estimate == 7
    assert np.isnan([estimate.low, estimate.high, estimate.confidence]).all()
    assert Caveat.NO_SPREAD in estimate.caveats
