import numpy as np
import pytest

from fsbench_kit.stats import variance_components

# The examples of libkalibera, Kalibera and Jones's own implementation.
THREE_LEVELS = [[[9, 5], [8, 3]], [[10, 6], [7, 11]], [[1, 12], [2, 4]]]


def test_three_levels() -> None:
    found = variance_components(THREE_LEVELS, 3)
    assert found.mean.estimate == pytest.approx(6.5)
    assert found.of_means == pytest.approx([16.5, 2.58333, 3.5625], abs=1e-5)
    assert found.own == pytest.approx([16.5, -5.66667, 2.270833], abs=1e-5)
    assert (found.mean.high - found.mean.low) / 2 == pytest.approx(4.688707, abs=1e-5)


def test_two_levels() -> None:
    found = variance_components(np.reshape(THREE_LEVELS, (3, 4)), 2)
    assert found.of_means == pytest.approx([12.72222, 3.5625], abs=1e-5)
    assert found.own[1] == pytest.approx(0.381944, abs=1e-5)


def test_cells_at_once() -> None:
    data = np.random.default_rng(1).normal(size=(7, 3, 4))
    together = variance_components(data, 2)
    alone = variance_components(data[2], 2)
    assert together.own.shape == (7, 2)
    np.testing.assert_allclose(together.own[2], alone.own)
    assert together.mean.low[2] == pytest.approx(alone.mean.low)


def test_what_was_put_in_is_found() -> None:
    rng = np.random.default_rng(2)
    data = rng.normal(0, 3, (4000, 5, 1)) + rng.normal(0, 2, (4000, 5, 4))
    found = variance_components(data, 2)
    assert found.own.mean(axis=0) == pytest.approx([4, 9], rel=0.05)
    assert ((found.mean.low <= 0) & (found.mean.high >= 0)).mean() == pytest.approx(0.95, abs=0.015)


def test_unbalanced_experiments_are_refused() -> None:
    with pytest.raises(ValueError, match="balanced"):
        variance_components(np.ma.masked_equal([[1, 2], [3, 4]], 4), 2)
    with pytest.raises(ValueError, match="do not have 3 levels"):
        variance_components([[1, 2], [3, 4]], 3)
