"""Random effects, held against published analyses and the case that has a closed form."""

import numpy as np
import pytest
from scipy import optimize
from scipy import stats as scipy_stats

from fsbench_kit.stats import random_effects

# Colditz, G. A. et al. (1994), JAMA 271, 698-702: BCG vaccine against tuberculosis, treated and control, with and
# without the disease; the data that textbooks and programs of meta-analysis share.
TREATED = [4, 6, 3, 62, 33, 180, 8, 505, 29, 17, 186, 5, 27]
SPARED = [119, 300, 228, 13536, 5036, 1361, 2537, 87886, 7470, 1699, 50448, 2493, 16886]
CONTROL = [11, 29, 11, 248, 47, 372, 10, 499, 45, 65, 141, 3, 29]
OTHERS = [128, 274, 209, 12619, 5761, 1079, 619, 87892, 7232, 1600, 27197, 2338, 17825]


def _vaccine() -> tuple[np.ndarray, np.ndarray]:
    t, u, c, d = (np.array(x, dtype=float) for x in (TREATED, SPARED, CONTROL, OTHERS))
    return np.log(t / (t + u)) - np.log(c / (c + d)), 1 / t - 1 / (t + u) + 1 / c - 1 / (c + d)


def test_the_vaccine_trials() -> None:
    y, v = _vaccine()
    weights = 1 / v
    q = (weights * (y - (weights * y).sum() / weights.sum()) ** 2).sum()
    assert q == pytest.approx(152.2330, abs=5e-5)  # the published Q(12), so that the data are the published ones
    found = random_effects(y, v)
    # Paule and Mandel's tau^2 as published for these trials
    assert found.variance == pytest.approx(0.3181, abs=5e-5)

    def excess(tau: float) -> float:
        w = 1 / (v + tau)
        return float((w * (y - (w * y).sum() / w.sum()) ** 2).sum() - 12)

    assert found.variance == pytest.approx(optimize.brentq(excess, 0, 5), rel=1e-9)
    w = 1 / (v + found.variance)
    mean = (w * y).sum() / w.sum()
    half = scipy_stats.t.ppf(0.975, 12) * np.sqrt((w * (y - mean) ** 2).sum() / 12 / w.sum())
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half))


def test_equal_errors_are_the_t_over_effects() -> None:
    y = np.random.default_rng(1).normal(0.2, 0.3, (4, 9))
    found = random_effects(y, np.full(9, 0.01))
    expected = scipy_stats.ttest_1samp(y, 0, axis=-1).confidence_interval()
    np.testing.assert_allclose((found.low, found.high), (expected.low, expected.high))
    # a further effect varies by what all of them vary, less its share of error
    reach = scipy_stats.t.ppf(0.975, 8) * np.sqrt(y.var(axis=1, ddof=1) * (1 + 1 / 9) - 0.01)
    np.testing.assert_allclose(found.prediction_high - found.mean, reach)


def test_effects_that_differ_by_less_than_their_errors_have_those() -> None:
    found = random_effects([0.1, 0.1001, 0.0999], [0.04, 0.04, 0.04])
    assert found.variance == 0
    assert found.high - found.mean == pytest.approx(scipy_stats.t.ppf(0.975, 2) * np.sqrt(0.04 / 3))


def test_two_effects_tell_nothing_of_a_third() -> None:
    found = random_effects([0.1, 0.3], [0.01, 0.01])
    assert np.isfinite(found.low)
    assert np.isnan(found.prediction_low)
    with pytest.raises(ValueError, match="at least 2"):
        random_effects([0.1], [0.01])
    with pytest.raises(ValueError, match="above 0"):
        random_effects([0.1, 0.2], [0.01, 0.0])


def test_equal_effects_have_no_variance_between_them() -> None:
    found = random_effects([0.2, 0.2, 0.2], [0.01, 0.02, 0.04])
    assert (found.mean, found.variance) == (pytest.approx(0.2), 0.0)
