"""Ratios within strata, held against linear models fitted by normal equations, and against special cases."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from fsbench_kit.stats import Caveat, ragged, stratified_log, stratified_paired_log

SIZES = [(5, 2), (1, 6), (3, 3), (2, 0)]


def _data(seed: int) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    rng = np.random.default_rng(seed)
    a = [rng.lognormal(stratum, 0.1, n_a) for stratum, (n_a, _) in enumerate(SIZES)]
    b = [rng.lognormal(stratum + 0.2, 0.1, n_b) for stratum, (_, n_b) in enumerate(SIZES)]
    return a, b


def _fit(design: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Coefficients and the residual sum of squares."""
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    residual = y - design @ coefficients
    return coefficients, float(residual @ residual)


def test_it_is_the_group_in_a_linear_model_with_strata() -> None:
    a, b = _data(1)
    found = stratified_log(ragged([x.tolist() for x in a]), ragged([x.tolist() for x in b]))
    y = np.log(np.concatenate([*a, *b]))
    stratum = np.repeat([*range(4), *range(4)], [x.size for x in (*a, *b)])
    group = np.repeat([0.0, 1.0], [sum(x.size for x in a), sum(x.size for x in b)])
    strata = (stratum[:, None] == np.arange(4)).astype(float)
    plain = np.column_stack([strata, group])
    cells = np.column_stack([strata, strata[:, :3] * group[:, None]])  # the last stratum lacks the other group
    coefficients, without = _fit(plain, y)
    _, within = _fit(cells, y)
    df = y.size - 7
    error = math.sqrt(within / df * np.linalg.inv(plain.T @ plain)[4, 4])
    half = scipy_stats.t.ppf(0.975, df) * error
    f = (without - within) / 2 / (within / df)
    overall = found.overall
    assert np.log(overall.estimate) == pytest.approx(coefficients[4])
    assert np.log([overall.low, overall.high]) == pytest.approx([coefficients[4] - half, coefficients[4] + half])
    assert overall.p == pytest.approx(2 * scipy_stats.t.sf(abs(coefficients[4]) / error, df))
    assert (overall.df, overall.n_a, overall.n_b) == (df, 11, 11)
    assert found.p_disagree == pytest.approx(scipy_stats.f.sf(f, 2, df))
    by_hand = [np.exp(np.log(y).mean() - np.log(x).mean()) for x, y in zip(a, b, strict=True) if y.size]
    assert found.ratios[:3] == pytest.approx(by_hand)
    assert np.isnan(found.ratios[3])


def test_one_stratum_is_the_t_of_student() -> None:
    a, b = np.random.default_rng(2).lognormal(0, 0.1, (2, 8))
    found = stratified_log(a[None], b[None])
    expected = scipy_stats.ttest_ind(np.log(b), np.log(a))
    assert found.overall.p == pytest.approx(expected.pvalue)
    assert np.isnan(found.p_disagree)


def test_rounds_within_strata_are_the_pairs_of_a_linear_model() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.lognormal(0, 0.1, (2, 3, 5))
    found = stratified_paired_log(a, b)
    differences = np.log(b) - np.log(a)
    expected = scipy_stats.f_oneway(*differences)
    variance = differences.var(axis=1, ddof=1).mean()
    half = scipy_stats.t.ppf(0.975, 12) * math.sqrt(variance / 15)
    middle = differences.mean()
    assert found.p_disagree == pytest.approx(expected.pvalue)
    assert np.log([found.overall.low, found.overall.high]) == pytest.approx([middle - half, middle + half])
    assert found.overall.n_pairs == 15


def test_cells_are_worked_on_at_once() -> None:
    many = [[x.tolist() for x in side] for seed in range(4) for side in _data(seed)]
    width = max(len(x) for side in many for x in side)
    padded = np.zeros((4, 2, 4, width))
    for place, side in enumerate(many):
        for stratum, values in enumerate(side):
            padded[place // 2, place % 2, stratum, : len(values)] = values
    a, b = (np.ma.masked_equal(padded[:, side], 0) for side in (0, 1))
    together = stratified_log(a, b)
    for place in range(4):
        alone = stratified_log(a[place], b[place])
        assert together.overall.low[place] == pytest.approx(alone.overall.low)
        assert together.p_disagree[place] == pytest.approx(alone.p_disagree)


def test_runs_without_freedom_or_spread_have_no_interval() -> None:
    lone = stratified_log([[1.0], [2.0]], [[1.1], [2.3]])
    assert np.isnan(lone.overall.low)
    assert Caveat.TOO_FEW in lone.overall.caveats
    still = stratified_log([[1.0, 1.0], [2.0, 2.0]], [[2.0, 2.0], [4.0, 4.0]])
    assert (still.overall.estimate, np.isnan(still.overall.low)) == (pytest.approx(2), True)
    assert Caveat.NO_SPREAD in still.overall.caveats
