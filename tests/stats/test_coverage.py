"""The intervals hold the truth as often as they say, within the error of 2,000 repetitions."""

import numpy as np
import pytest

from fsbench_kit import stats

REPETITIONS = 2000
RATIO = 1.2
ROUNDS = 0.10


def held(estimate: stats.RatioEstimate) -> float:
    return float(((estimate.low <= RATIO) & (estimate.high >= RATIO)).mean())


def within_error(stated: float) -> object:
    return pytest.approx(stated, abs=4 * np.sqrt(stated * (1 - stated) / REPETITIONS))


def sides(n: int, rounds: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    common = rng.lognormal(0, rounds, (REPETITIONS, n))
    a, b = common * rng.lognormal(0, 0.05, (2, REPETITIONS, n))
    return a, RATIO * b


@pytest.mark.parametrize(("n", "stated"), [(2, 0.977), (3, 0.962), (5, 0.958), (10, 0.95)])
def test_welch(n: int, stated: float) -> None:
    assert held(stats.welch_log(*sides(n))) == within_error(stated)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_paired(n: int) -> None:
    assert held(stats.paired_log(*sides(n, ROUNDS))) == within_error(0.95)


@pytest.mark.parametrize("n", [4, 5, 10])
def test_hodges_lehmann(n: int) -> None:
    estimate = stats.hodges_lehmann_log(*sides(n))
    assert held(estimate) == within_error(estimate.confidence[0])


@pytest.mark.parametrize("n", [6, 10])
def test_signed_rank(n: int) -> None:
    estimate = stats.signed_rank_log(*sides(n, ROUNDS))
    assert held(estimate) == within_error(estimate.confidence[0])


@pytest.mark.parametrize("k", [3, 5, 10])
def test_prediction(k: int) -> None:
    a, b = sides(k)
    assert held(stats.prediction_log(b[:, 0], a)) == within_error(0.95)


def test_p_values_are_uniform_where_sides_are_alike() -> None:
    a, b = sides(6)
    for method in (stats.welch_log, stats.paired_log):
        p = method(RATIO * a, b).p
        assert (p < 0.5).mean() == pytest.approx(0.5, abs=0.05)
        assert (p < 0.05).mean() == within_error(0.05)


def test_equivalence_is_called_falsely_in_5_percent_at_most() -> None:
    rng = np.random.default_rng(11)
    a, b = rng.lognormal(0, 0.02, (2, REPETITIONS, 5))
    false = stats.equivalent(stats.welch_log(a, 1.05 * b, 0.9), 1.05).mean()
    assert 0.02 < false < 0.065
