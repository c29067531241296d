import numpy as np
import pytest

from fsbench_kit.stats import steady_state


@pytest.mark.parametrize(
    ("rounds", "percent_range", "percent_slope", "steady"),
    [
        ([100, 102, 98, 101, 99], 4.0, 1.2, True),
        ([100, 95, 92, 90, 88], 12.9, 12.5, False),
        # the range at its limit of 20 % of the mean, and beyond it
        ([110, 90, 110, 90, 100], 20.0, 8.0, True),
        ([100, 110.1, 100, 89.9, 100], 20.2, 8.08, False),
        # the slope at its limit of 10 %, and beyond it: a straight line, which rises by its whole range
        ([95, 97.5, 100, 102.5, 105], 10.0, 10.0, True),
        ([94.9, 97.45, 100, 102.55, 105.1], 10.2, 10.2, False),
    ],
)
def test_the_rule_of_snia(rounds: list[float], percent_range: float, percent_slope: float, steady: bool) -> None:
    found = steady_state(rounds)
    assert 100 * found.range == pytest.approx(percent_range, abs=0.05)
    assert 100 * abs(found.slope) == pytest.approx(percent_slope, abs=0.05)
    assert found.steady == steady


def test_the_last_window_counts_and_the_first_steady_one_is_told() -> None:
    found = steady_state([[300, 200, 100, 101, 99, 100, 102], [100, 100, 100, 100, 100, 100, 300]])
    assert found.steady.tolist() == [True, False]
    assert found.since.tolist() == [7, 5]
    assert steady_state([1, 2, 3, 4, 5]).since == 0


def test_the_unit_does_not_matter() -> None:
    rounds = np.random.default_rng(1).lognormal(0, 0.1, (50, 8))
    assert steady_state(rounds).steady.tolist() == steady_state(1024 * rounds).steady.tolist()


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 5"):
        steady_state([1, 2, 3, 4])
    with pytest.raises(ValueError, match="above 0"):
        steady_state([1, 2, 3, 4, 0])
