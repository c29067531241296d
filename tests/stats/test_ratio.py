import numpy as np
import pytest
from scipy import stats as scipy_stats

from fsbench_kit.stats import Caveat, paired_log, welch_log

# R's `sleep`: extra hours of sleep of ten patients under two drugs.
SLEEP_1 = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SLEEP_2 = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])


def test_welch_agrees_with_r_on_sleep() -> None:
    # t.test(extra ~ group): first minus second, so the second drug is side A.
    estimate = welch_log(np.exp(SLEEP_2), np.exp(SLEEP_1))
    assert np.log([estimate.low, estimate.high]) == pytest.approx([-3.3654832, 0.2054832], abs=1e-7)
    assert estimate.df == pytest.approx(17.77647, abs=1e-5)
    assert estimate.p == pytest.approx(0.07939414, abs=1e-8)
    assert np.log(estimate.estimate) / estimate.standard_error == pytest.approx(-1.860813, abs=1e-6)


def test_paired_agrees_with_r_on_sleep() -> None:
    estimate = paired_log(np.exp(SLEEP_2), np.exp(SLEEP_1))
    assert np.log([estimate.low, estimate.high]) == pytest.approx([-2.4598858, -0.7001142], abs=1e-7)
    assert estimate.p == pytest.approx(0.00283289, abs=1e-8)
    assert np.log(estimate.estimate) / estimate.standard_error == pytest.approx(-4.062128, abs=1e-6)
    assert (estimate.df, estimate.n_pairs) == (9, 10)


@pytest.mark.parametrize(("n_a", "n_b"), [(2, 2), (3, 7), (10, 10), (30, 5)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_welch_agrees_with_scipy(n_a: int, n_b: int, confidence: float) -> None:
    rng = np.random.default_rng(n_a * n_b)
    a, b = rng.lognormal(5, 0.1, (50, n_a)), rng.lognormal(6, 0.3, (50, n_b))
    expected = scipy_stats.ttest_ind(np.log(b), np.log(a), axis=1, equal_var=False)
    interval = expected.confidence_interval(confidence)
    estimate = welch_log(a, b, confidence)
    np.testing.assert_allclose(np.log(estimate.low), interval.low, atol=1e-12)
    np.testing.assert_allclose(np.log(estimate.high), interval.high, atol=1e-12)
    np.testing.assert_allclose(estimate.p, expected.pvalue, rtol=1e-9)
    np.testing.assert_allclose(estimate.df, expected.df)


def test_paired_agrees_with_scipy() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.lognormal(5, 0.1, (2, 50, 6))
    expected = scipy_stats.ttest_rel(np.log(b), np.log(a), axis=1)
    interval = expected.confidence_interval(0.95)
    estimate = paired_log(a, b)
    np.testing.assert_allclose(np.log(estimate.low), interval.low, atol=1e-12)
    np.testing.assert_allclose(np.log(estimate.high), interval.high, atol=1e-12)
    np.testing.assert_allclose(estimate.p, expected.pvalue, rtol=1e-9)


def test_the_estimate_is_the_ratio_of_geometric_means() -> None:
    assert welch_log([1, 4], [6, 24]).estimate == pytest.approx(12 / 2)
    assert welch_log([1, 4], [6, 24]).estimand == "ratio of geometric means"


def test_one_baseline_goes_with_many_cells() -> None:
    candidates = np.array([[2.0, 2.1, 2.3], [4.0, 4.2, 4.4]])
    together = welch_log([1.0, 1.1, 1.2, 1.3], candidates)
    assert together.low.shape == (2,)
    assert together.low[1] == welch_log([1.0, 1.1, 1.2, 1.3], candidates[1]).low


def test_a_single_comparison_gives_floats() -> None:
    estimate = welch_log([1.0, 1.1], [2.0, 2.1])
    assert all(isinstance(x, float) for x in (estimate.estimate, estimate.low, estimate.p, estimate.df))


def test_two_runs_are_labelled() -> None:
    assert set(welch_log([1.0, 1.1], [2.0, 2.1]).caveats) == {Caveat.TWO_RUNS}
    assert set(welch_log([1.0, 1.1], [2.0, 2.1, 2.2, 2.3, 2.4]).caveats) == {Caveat.TWO_RUNS, Caveat.LOPSIDED}
    assert not welch_log([1.0, 1.1, 1.2], [2.0, 2.1, 2.2]).caveats
    assert set(paired_log([1.0, 1.1], [2.0, 2.1]).caveats) == {Caveat.TWO_PAIRS}


@pytest.mark.parametrize(
    ("few", "many", "lopsided"), [(2, 4, False), (2, 5, True), (3, 9, False), (3, 10, True), (4, 30, False)]
)
def test_few_runs_against_many_are_labelled(few: int, many: int, lopsided: bool) -> None:
    a, b = (np.geomspace(1.0, 1.2, n) for n in (few, many))
    assert [Caveat.LOPSIDED in estimate.caveats for estimate in (welch_log(a, b), welch_log(b, a))] == [
        lopsided
    ] * 2


def test_equal_values_up_to_twelve_decimals_of_their_logarithms_have_no_spread() -> None:
    for apart, still in ((5e-13, True), (5e-12, False)):
        assert (Caveat.NO_SPREAD in welch_log([1.0, 1.0, np.exp(apart)], [1.0, 1.1, 1.2]).caveats) is still


def test_equal_values_give_no_interval() -> None:
    # Their mean is not exactly one of them in floating point, so the variance is not exactly 0.
    estimate = welch_log([[0.1] * 3, [0.1, 0.2, 0.3], [0.1, 0.2, 0.3]], [[0.7] * 3, [0.7] * 3, [0.6, 0.7, 0.8]])
    assert estimate.estimate[0] == pytest.approx(7)
    assert np.isnan([estimate.low[0], estimate.high[0], estimate.p[0]]).all()
    assert estimate.df[1] == pytest.approx(2)  # the spread of side A alone
    assert estimate.caveats[Caveat.NO_SPREAD].tolist() == [True, True, False]


def test_pairs_with_one_ratio_give_no_interval() -> None:
    estimate = paired_log([0.1, 0.3, 0.7], [0.3, 0.9, 2.1])
    assert estimate.estimate == pytest.approx(3)
    assert np.isnan([estimate.low, estimate.high, estimate.p]).all()
    assert Caveat.NO_SPREAD in estimate.caveats


@pytest.mark.parametrize("method", [welch_log, paired_log])
@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_what_has_no_logarithm_is_refused(method, bad: float) -> None:
    with pytest.raises(ValueError, match=r"b holds 1 values without a logarithm, the first is .* at \(1,\)"):
        method([1.0, 2.0, 3.0], [1.0, bad, 2.0])


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="a has 1 runs; this method needs at least 2"):
        welch_log([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="a is a single number"):
        welch_log(1.0, [1.0, 2.0])
    with pytest.raises(ValueError, match="3 runs cannot be paired with 2"):
        paired_log([1.0, 2.0, 3.0], [1.0, 2.0])


def test_a_confidence_in_percent_is_refused() -> None:
    with pytest.raises(ValueError, match=r"write 0\.95 for 95 %"):
        welch_log([1.0, 2.0], [1.0, 2.0], 95)
