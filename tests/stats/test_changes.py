import numpy as np
import pytest

from fsbench_kit.stats import levels


def test_steps_are_found_where_they_are() -> None:
    rng = np.random.default_rng(1)
    series = np.repeat([100.0, 60.0, 80.0], [30, 50, 40]) + rng.normal(0, 2, 120)
    found = levels(series)
    assert found.starts.tolist() == [0, 30, 80]
    assert found.means == pytest.approx([100, 60, 80], abs=1.5)


def test_one_level_is_one_stretch() -> None:
    series = np.random.default_rng(2).normal(100, 5, 200)
    found = levels(series)
    assert found.starts.tolist() == [0]
    assert found.means == pytest.approx([series.mean()])
    assert levels([5.0] * 20).starts.tolist() == [0]


def test_a_dip_of_a_few_figures_is_no_level() -> None:
    series = 100 + np.random.default_rng(3).normal(0, 1, 100)
    series[50] = 0
    assert levels(series).starts.tolist() == [0]


@pytest.mark.parametrize(("figures", "starts"), [(4, [0]), (5, [0, 30, 35])])
def test_a_level_has_five_figures_at_least(figures: int, starts: list[int]) -> None:
    series = np.random.default_rng(1).normal(0, 1, 60)
    series[30 : 30 + figures] += 100
    assert levels(series).starts.tolist() == starts


@pytest.mark.parametrize("depth", [50, 5000])
def test_fewer_than_five_figures_are_no_level_however_deep_and_wherever_they_are(depth: float) -> None:
    for seed in range(8):
        noise = np.random.default_rng(seed).normal(size=60)
        assert levels(noise).starts.tolist() == [0]
        for figures in (1, 2, 3, 4):
            for first in (0, 1, 30, 60 - figures):
                series = noise.copy()
                series[first : first + figures] -= depth
                assert levels(series).starts.tolist() == [0], (seed, figures, first)


@pytest.mark.parametrize(("step", "starts"), [(15, [0]), (25, [0, 30])])
def test_steps_of_a_random_walk_are_no_levels_unless_they_are_large(step: float, starts: list[int]) -> None:
    # Neighbours of a walk are all but equal, and are taken to be so by 95 %.
    series = np.random.default_rng(1).normal(size=60).cumsum() + step * (np.arange(60) >= 30)
    assert levels(series).starts.tolist() == starts


@pytest.mark.parametrize(("step", "starts"), [(2.12, [0]), (2.24, [0, 20])])
def test_a_change_is_worth_four_times_the_logarithm_of_the_length(step: float, starts: list[int]) -> None:
    # Figures of 1 and -1 by turns: neighbours differ by 2, of which normal noise of variance 2^2 / 2 / 0.623 has
    # the smaller 90 %. A step of h in the middle of 40 is worth 40 h^2 / 4; 4 ln 40 times the variance is 47.4.
    series = np.tile([1.0, -1.0], 20) + step * (np.arange(40) >= 20)
    assert levels(series).starts.tolist() == starts


def test_the_cut_is_the_best_of_all_cuts() -> None:
    # Against all ways to cut a short series in up to three stretches, none shorter than five.
    from fsbench_kit.stats.changes import _noise

    rng = np.random.default_rng(4)
    for _ in range(20):
        series = rng.normal(size=24) + 6 * (np.arange(24) >= 9) - 7 * (np.arange(24) >= 17)
        penalty = 4 * np.log(24) * _noise(series, independent=False)

        def cost(cuts: list[int], series: np.ndarray = series, penalty: float = penalty) -> float:
            return sum(((part - part.mean()) ** 2).sum() for part in np.split(series, cuts)) + penalty * len(cuts)

        ways = [[], *([i] for i in range(5, 20)), *([i, j] for i in range(5, 20) for j in range(i + 5, 20))]
        assert levels(series).starts.tolist()[1:] == min(ways, key=cost)


@pytest.mark.parametrize("r", [0.0, 0.3, 0.6])
def test_neighbours_that_are_alike_are_no_change(r: float) -> None:
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(200):
        series = rng.normal(size=120)
        for i in range(1, 120):
            series[i] = r * series[i - 1] + np.sqrt(1 - r**2) * series[i]
        found += levels(series).starts.size > 1
    assert found <= 12


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="one series without gaps"):
        levels(np.ones((2, 20)))
    with pytest.raises(ValueError, match="at least 10"):
        levels(np.ones(9))
