"""How often runs of two modes leave each group with one of them."""

import numpy as np
import pytest

from fsbench_kit.stats import distances, unlike_modes_p, unlike_rounds_p


@pytest.mark.parametrize(("share", "n_a", "n_b"), [(0.1, 3, 3), (0.5, 5, 5), (0.2, 3, 5)])
def test_groups_are_of_unlike_modes_as_often_as_their_runs_can_be_dealt(share: float, n_a: int, n_b: int) -> None:
    slow, fast = share, 1 - share
    wanted = slow**n_a * fast**n_b + fast**n_a * slow**n_b
    assert unlike_modes_p(np.array(2 * slow * fast), n_a, n_b) == pytest.approx(wanted)


def test_runs_that_never_differ_have_no_modes_and_no_more_than_half_of_pairs_can() -> None:
    assert unlike_modes_p(np.array([0.0, 0.5, 0.6]), 3, 3) == pytest.approx([0, 2 / 64, 2 / 64])
    assert unlike_rounds_p(np.array([0.0, 2 / 3, 0.7]), 3) == pytest.approx([0, 2 / 27, 2 / 27])


def test_rounds_have_one_group_slower_as_often_as_runs_can_be_dealt() -> None:
    rng = np.random.default_rng(1)
    slow = rng.random((2, 400_000, 3)) < 0.2
    sign = slow[1].astype(int) - slow[0]
    apart = (sign[:, 0] != sign[:, 1]).mean()
    wanted = (np.abs(sign.sum(axis=1)) == 3).mean()
    assert unlike_rounds_p(np.array(apart), 3) == pytest.approx(wanted, rel=0.05)


def test_distances_are_of_all_pairs_that_are_there() -> None:
    values = np.ma.MaskedArray([[1.0, np.e, np.e**3], [2.0, 2.0, 9.0]], [[False] * 3, [False, False, True]])
    np.testing.assert_allclose(distances(values), [[1, 3, 2], [0, np.nan, np.nan]], atol=1e-12)
