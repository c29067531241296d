import numpy as np
import pytest

from fsbench_kit.stats import holm

# Benjamini and Hochberg (1995), section 4: fifteen hypotheses of a trial.
BH_1995 = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
    0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0,
]  # fmt: skip


def test_the_trial_of_1995() -> None:
    assert (holm(BH_1995) <= 0.05).sum() == 3


def test_holm_by_hand() -> None:
    # In order .01, .02, .03, .04 times 4, 3, 2, 1 is .04, .06, .06, .04, and never falls.
    np.testing.assert_allclose(holm([0.04, 0.01, 0.03, 0.02]), [0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1, 1]


def test_nan_stays_and_does_not_count() -> None:
    with_nan = holm([0.01, np.nan, 0.04, np.nan])
    assert np.isnan(with_nan).tolist() == [False, True, False, True]
    assert with_nan[[0, 2]].tolist() == holm([0.01, 0.04]).tolist()


def test_families_of_one_and_none() -> None:
    assert holm([0.03]).tolist() == [0.03]
    assert holm([]).size == 0
    assert np.isnan(holm([np.nan])).all()


def test_what_is_given_is_left_alone() -> None:
    given = np.array([0.01, 0.02])
    holm(given)
    assert given.tolist() == [0.01, 0.02]


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, 1.5])
    with pytest.raises(ValueError, match="one axis, not 2"):
        holm([[0.5]])
