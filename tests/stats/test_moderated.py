import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.special import polygamma

from fsbench_kit.stats import Caveat, moderated_log, moderated_paired_log, paired_log, variance_prior
from fsbench_kit.stats.moderated import _inverse_trigamma


def cells(n: int, count: int = 100, noise: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    spread = 0.05 * rng.lognormal(0, noise, (count, 1))
    return tuple(np.exp(spread * rng.normal(size=(count, n))) for _ in "ab")


@pytest.mark.parametrize("value", [1e-6, 0.01, 1.0, 50.0, 1e6])
def test_the_inverse_of_trigamma(value: float) -> None:
    assert polygamma(1, _inverse_trigamma(value)) == pytest.approx(value, rel=1e-6)


def test_the_prior_finds_what_the_variances_were_drawn_from() -> None:
    rng = np.random.default_rng(1)
    truth, df = 0.04 * 8 / rng.chisquare(8, 20_000), 4  # Smyth (2004): 1/sigma^2 is chi^2_d0 / (d0 s0^2)
    prior = variance_prior(truth * rng.chisquare(df, truth.size) / df, np.full(truth.size, float(df)))
    assert prior is not None
    assert prior.df == pytest.approx(8, rel=0.1)
    assert prior.variance == pytest.approx(0.04, rel=0.03)


def test_cells_of_one_variance_are_pooled() -> None:
    rng = np.random.default_rng(4)
    variance = rng.chisquare(200, 40) / 200 * 0.01
    variance = variance * 0 + np.linspace(0.0099, 0.0101, 40)  # more alike than chance would have them
    prior = variance_prior(variance, np.full(40, 4.0))
    assert prior is not None
    assert np.isinf(prior.df)
    assert prior.variance == pytest.approx(0.01)


def test_an_interval_is_of_the_moderated_variance() -> None:
    a, b = cells(3)
    logs_a, logs_b = np.log(a), np.log(b)
    variance = (logs_a.var(axis=1, ddof=1) + logs_b.var(axis=1, ddof=1)) / 2
    prior = variance_prior(variance, np.full(100, 4.0))
    assert prior is not None
    moderated = (4 * variance + prior.df * prior.variance) / (4 + prior.df)
    half = scipy_stats.t.ppf(0.975, 4 + prior.df) * np.sqrt(moderated * 2 / 3)
    estimate = moderated_log(a, b)
    np.testing.assert_allclose(np.log(estimate.high / estimate.estimate), half)
    np.testing.assert_allclose(np.log(estimate.estimate), logs_b.mean(axis=1) - logs_a.mean(axis=1))


def test_pairs_are_moderated_too() -> None:
    a, b = cells(3)
    moderated, alone = moderated_paired_log(a, b), paired_log(a, b)
    np.testing.assert_allclose(moderated.estimate, alone.estimate)
    assert np.median(moderated.high / moderated.low) < np.median(alone.high / alone.low)
    ratios = np.log(b / a)
    prior = variance_prior(ratios.var(axis=1, ddof=1), np.full(100, 2.0))
    assert prior is not None
    np.testing.assert_allclose(moderated.df, 2 + prior.df)
    variance = (2 * ratios.var(axis=1, ddof=1) + prior.df * prior.variance) / (2 + prior.df)
    np.testing.assert_allclose(moderated.standard_error, np.sqrt(variance / 3))


def test_the_noisiest_cells_are_told() -> None:
    a, b = cells(3)
    a[7] = [1.0, 2.0, 0.5]
    estimate = moderated_log(a, b)
    assert estimate.caveats[Caveat.NOISIER_THAN_MOST][7]
    assert not estimate.caveats[Caveat.NOISIER_THAN_MOST].all()
    assert estimate.caveats[Caveat.SPREAD_BORROWED].all()


@pytest.mark.parametrize(("times", "noisy"), [(4.0, False), (4.25, True)])
def test_a_cell_of_twice_the_common_deviation_is_noisier_than_most(times: float, noisy: bool) -> None:
    # 100 cells of variance 1 and one of v have the common variance (100 + v) / 101; v is 4 times that at 4.124
    spreads = 0.01 * np.sqrt([*[1.0] * 100, times])
    a = np.exp(spreads[:, None] * [-1.0, 0.0, 1.0])
    for method in (moderated_log, moderated_paired_log):
        caveats = method(a, 1 / a if method is moderated_paired_log else a).caveats
        found = caveats.get(Caveat.NOISIER_THAN_MOST, np.zeros(101, dtype=bool))
        assert found.tolist() == [False] * 100 + [noisy]


def test_a_cell_without_spread_borrows_one() -> None:
    a, b = cells(3)
    a[5], b[5] = 1.0, 2.0
    estimate = moderated_log(a, b)
    assert estimate.low[5] < 2 < estimate.high[5]
    assert estimate.caveats[Caveat.NO_SPREAD].nonzero()[0].tolist() == [5]


def test_cells_with_unequal_runs() -> None:
    a, b = cells(3)
    full = moderated_log(a, b)
    mask = np.zeros_like(a, dtype=bool)
    mask[3, 1:] = True  # a single run
    mask[4, 2:] = True
    estimate = moderated_log(np.ma.MaskedArray(a, mask), b)
    assert np.isnan(estimate.low[3])
    assert np.isnan(
        [estimate.low[4], estimate.p[4]]
    ).all()  # two runs against three are not taken as equally noisy
    assert estimate.caveats[Caveat.UNEQUAL_SIZES].nonzero()[0].tolist() == [3, 4]
    assert estimate.n_a[3:6].tolist() == [1, 2, 3]
    np.testing.assert_allclose(estimate.low[5:], full.low[5:], rtol=0.02)


def test_too_few_cells_give_no_interval() -> None:
    # 60 degrees of freedom together, and 12 cells
    for n, enough in ((2, 30), (3, 15), (8, 12)):
        a, b = cells(n, count=enough)
        assert not np.isnan(moderated_log(a, b).low).any()
        fewer = moderated_log(a[1:], b[1:])
        assert np.isnan([fewer.low, fewer.p]).all()
        assert fewer.caveats[Caveat.TOO_FEW_CELLS].all()
        assert not np.isnan(fewer.estimate).any()
