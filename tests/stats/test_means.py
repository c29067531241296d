import numpy as np
import pytest

from fsbench_kit.stats import Caveat, mean_ratio, paired_mean_ratio, welch_log

# statpsych, examples of ci.ratio.mean2 and of ci.ratio.mean.ps; its ratios are of the first to the second.
FIRST = [36, 44, 47, 42, 49, 39, 46, 31, 33, 48]
SECOND = [32, 39, 26, 35, 43, 27, 40, 37, 34, 29, 49, 42, 40]
BEFORE = [3.3, 3.6, 3.0, 3.1, 3.9, 4.2, 3.5, 3.3]
AFTER = [3.0, 3.1, 2.7, 2.6, 3.2, 3.8, 3.2, 3.0]


def test_two_groups_of_unequal_size() -> None:
    estimate = mean_ratio(SECOND, FIRST)
    assert [estimate.low, estimate.high] == pytest.approx([0.983728, 1.322470], abs=1e-6)
    # The interval that statpsych documents divides the first variance by the second group's size.
    assert [estimate.low, estimate.high] != pytest.approx([0.9897482, 1.314425], abs=1e-3)


def test_pairs() -> None:
    estimate = paired_mean_ratio(AFTER, BEFORE)
    assert [estimate.estimate, estimate.low, estimate.high] == pytest.approx(
        [1.134146, 1.09417, 1.175583], abs=1e-6
    )


def test_the_mean_is_arithmetic() -> None:
    assert mean_ratio([1, 4], [6, 24]).estimate == pytest.approx(15 / 2.5)
    assert paired_mean_ratio([1, 4], [6, 24]).estimate == pytest.approx(15 / 2.5)


def test_it_agrees_with_welch_where_noise_is_small() -> None:
    a, b = np.random.default_rng(1).lognormal(0, 0.01, (2, 50, 5))
    means, logs = mean_ratio(a, b), welch_log(a, b)
    np.testing.assert_allclose([means.low, means.high], [logs.low, logs.high], rtol=3e-3)


def test_equal_values_give_no_interval() -> None:
    for method in (mean_ratio, paired_mean_ratio):
        estimate = method([0.1] * 3, [0.7] * 3)
        assert estimate.estimate == pytest.approx(7)
        assert np.isnan([estimate.low, estimate.high, estimate.p]).all()
        assert set(estimate.caveats) == {Caveat.NO_SPREAD}


def test_a_run_without_partner_takes_no_part() -> None:
    a = np.ma.masked_invalid([*AFTER, np.nan, 5.0])
    b = np.ma.masked_invalid([*BEFORE, 9.0, np.nan])
    assert paired_mean_ratio(a, b).low == pytest.approx(paired_mean_ratio(AFTER, BEFORE).low)
    assert paired_mean_ratio(a, b).n_pairs == 8
