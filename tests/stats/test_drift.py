import numpy as np
import pytest
from scipy import stats as scipy_stats

from fsbench_kit.stats import Caveat, drift


def test_it_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).lognormal(0, 0.1, 9)
    line = scipy_stats.linregress(np.arange(9), np.log(values))
    for estimate, quantile in ((drift(values, 0.95), 0.975), (drift(values), 0.995)):
        half = scipy_stats.t.ppf(quantile, 7) * line.stderr
        assert np.log([estimate.estimate, estimate.low, estimate.high]) == pytest.approx(
            [8 * line.slope, 8 * (line.slope - half), 8 * (line.slope + half)]
        )


def test_a_run_that_is_absent_keeps_its_place() -> None:
    values = np.ma.masked_equal([1.0, 0.0, 4.2, 7.9, 16.0, 0.0], 0)
    places, logs = np.array([0, 2, 3, 4]), np.log([1.0, 4.2, 7.9, 16.0])
    estimate = drift(values)
    assert np.log(estimate.estimate) == pytest.approx(4 * np.polyfit(places, logs, 1)[0])
    assert estimate.n == 4


def test_a_drift_is_seen_and_noise_is_not() -> None:
    rng = np.random.default_rng(2)
    still = rng.lognormal(0, 0.05, (2000, 10))
    moving = still * np.exp(np.linspace(0, np.log(1.3), 10))
    flagged = [((e.low > 1) | (e.high < 1)).mean() for e in (drift(still), drift(moving))]
    assert flagged[0] == pytest.approx(0.01, abs=0.008)
    assert flagged[1] > 0.8


def test_too_few_runs_give_no_interval() -> None:
    estimate = drift(np.ma.masked_equal([[1.0, 2.0, 3.0, 0.0], [1.0, 1.0, 1.0, 1.0], [1, 2, 1, 2]], 0))
    assert np.isnan(estimate.low).tolist() == [True, True, False]
    assert estimate.caveats[Caveat.TOO_FEW].tolist() == [True, False, False]
    assert estimate.caveats[Caveat.NO_SPREAD].tolist() == [False, True, False]
