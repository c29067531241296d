"""What must hold of every interval, whatever the data."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsbench_kit.stats import RatioEstimate, hodges_lehmann_log, paired_log, signed_rank_log, welch_log

Method = Callable[..., RatioEstimate]

EVERY = pytest.mark.parametrize("method", [welch_log, paired_log, hodges_lehmann_log, signed_rank_log])
INDEPENDENT = pytest.mark.parametrize("method", [welch_log, hodges_lehmann_log])
PAIRED = pytest.mark.parametrize("method", [paired_log, signed_rank_log])

sides = arrays(np.int64, (2, 3, 7), elements=st.integers(1000, 9999)).map(lambda x: x / 10)


def same(one: RatioEstimate, other: RatioEstimate) -> None:
    for field in ("estimate", "low", "high", "p"):
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-12, atol=1e-12)
    assert one.caveats.keys() == other.caveats.keys()


@EVERY
@given(sides)
def test_swapping_the_sides_inverts_the_interval(method: Method, ab: np.ndarray) -> None:
    same(method(ab[1], ab[0]), method(ab[0], ab[1]).inverse())


@EVERY
@given(ab=sides, unit=st.sampled_from([1024, 1e-9, 1e6]))
def test_the_unit_does_not_matter(method: Method, ab: np.ndarray, unit: float) -> None:
    scaled, plain = method(*(unit * ab)), method(*ab)
    for field in ("estimate", "low", "high", "p"):
        np.testing.assert_allclose(getattr(scaled, field), getattr(plain, field), rtol=1e-9)


@INDEPENDENT
@given(sides, st.permutations(range(7)), st.permutations(range(7)))
def test_the_order_of_runs_does_not_matter(
    method: Method, ab: np.ndarray, order_a: list[int], order_b: list[int]
) -> None:
    same(method(ab[0][:, order_a], ab[1][:, order_b]), method(*ab))


@PAIRED
@given(sides, st.permutations(range(7)))
def test_the_order_of_pairs_does_not_matter(method: Method, ab: np.ndarray, order: list[int]) -> None:
    same(method(ab[0][:, order], ab[1][:, order]), method(*ab))


@EVERY
@given(sides)
def test_cells_at_once_are_cells_one_by_one(method: Method, ab: np.ndarray) -> None:
    together = method(*ab)
    assert together.low.shape == (3,)
    for i in range(3):
        alone = method(ab[0, i], ab[1, i])
        for field in ("estimate", "low", "high", "p"):
            np.testing.assert_allclose(getattr(together, field)[i], getattr(alone, field), rtol=1e-12)
        assert {c for c, cells in together.caveats.items() if cells[i]} == set(alone.caveats)


@EVERY
@given(sides)
def test_the_estimate_lies_in_the_interval_and_more_confidence_is_wider(method: Method, ab: np.ndarray) -> None:
    narrow, wide = method(*ab, 0.9), method(*ab, 0.96)
    known = ~np.isnan(narrow.low)
    assert (narrow.low <= narrow.estimate * (1 + 1e-12))[known].all()
    assert (narrow.estimate <= narrow.high * (1 + 1e-12))[known].all()
    assert ((wide.low <= narrow.low) & (narrow.high <= wide.high))[known].all()
    assert (wide.confidence[known] >= 0.96).all()
    assert ((narrow.confidence[known] >= 0.9) & (narrow.confidence[known] < 0.96)).all()
