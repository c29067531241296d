"""What must hold of every interval, whatever the data."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsbench_kit.stats import (
    Caveat,
    LogRatio,
    RatioEstimate,
    blocked_log,
    equivalence_p,
    equivalent,
    hodges_lehmann_log,
    mann_whitney_p,
    paired_log,
    ragged,
    signed_rank_log,
    signed_rank_p,
    welch_log,
)

Method = Callable[..., RatioEstimate]


def blocked(a: np.ndarray, b: np.ndarray, confidence: float = 0.95) -> RatioEstimate:
    return blocked_log(np.ma.asarray(a)[..., None], np.ma.asarray(b)[..., None], confidence)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranked(RatioEstimate):
    """An interval by ranks together with the p value of its test."""

    of_test: np.ndarray

    @property
    def p(self) -> np.ndarray:
        return self.of_test


def ranked(found: RatioEstimate, p: np.ndarray) -> Ranked:
    return Ranked(**{field.name: getattr(found, field.name) for field in fields(found)}, of_test=p)


def hodges_lehmann(a: np.ndarray, b: np.ndarray, confidence: float = 0.95) -> RatioEstimate:
    return ranked(hodges_lehmann_log(a, b, confidence), mann_whitney_p(a, b))


def signed_rank(a: np.ndarray, b: np.ndarray, confidence: float = 0.95) -> RatioEstimate:
    return ranked(signed_rank_log(a, b, confidence), signed_rank_p(a, b))


ALONE = [welch_log, hodges_lehmann]
IN_PAIRS = [paired_log, signed_rank, blocked]
EVERY = pytest.mark.parametrize("method", ALONE + IN_PAIRS)
INDEPENDENT = pytest.mark.parametrize("method", ALONE)
PAIRED = pytest.mark.parametrize("method", IN_PAIRS)

sides = arrays(np.int64, (2, 3, 7), elements=st.integers(1000, 9999)).map(lambda x: x / 10)


def same(one: RatioEstimate, other: RatioEstimate) -> None:
    for field in ("estimate", "low", "high", "p"):
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-12, atol=1e-12)
    assert one.caveats.keys() == other.caveats.keys()


@EVERY
@given(ab=sides, margin=st.sampled_from([1.01, 1.05, 1.2]))
def test_equivalence_reads_the_same_both_ways(method: Method, ab: np.ndarray, margin: float) -> None:
    one, other = method(ab[0], ab[1], 0.9), method(ab[1], ab[0], 0.9)
    near = np.isclose(np.abs(np.log([one.low, one.high])), np.log(margin), rtol=1e-9).any(axis=0)
    assert (equivalent(one, margin) == equivalent(other, margin))[~near].all()
    if one.df is not None:
        ratios = [LogRatio(np.log(found.estimate), found.standard_error, found.df) for found in (one, other)]
        p, p_other = (equivalence_p(ratio, np.log(margin)) for ratio in ratios)
        np.testing.assert_allclose(p, p_other, rtol=1e-9, atol=1e-12)


@EVERY
@given(ab=sides)
def test_the_same_data_give_the_same_answer(method: Method, ab: np.ndarray) -> None:
    one, other = method(*ab), method(*ab.copy())
    for field in ("estimate", "low", "high", "p"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@INDEPENDENT
@given(ab=sides, sizes=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=3, max_size=3))
def test_cells_of_unequal_size_are_cells_one_by_one(
    method: Method, ab: np.ndarray, sizes: list[tuple[int, int]]
) -> None:
    full = np.arange(1.0, 8.0)  # so that the arrays are long enough for each method
    rows = [(a[:n_a], b[:n_b]) for a, b, (n_a, n_b) in zip(*ab, sizes, strict=True)] + [(full, full)]
    together = method(*map(ragged, zip(*rows, strict=True)))
    for i, (a, b) in enumerate(rows):
        assert (together.n_a[i], together.n_b[i]) == (len(a), len(b))
        try:
            alone = method(a, b)
        except ValueError:
            assert np.isnan([together.low[i], together.high[i], together.confidence[i]]).all()
            assert together.caveats[Caveat.TOO_FEW][i]
            continue
        for field in ("estimate", "low", "high", "confidence", "p"):
            np.testing.assert_allclose(getattr(together, field)[i], getattr(alone, field), rtol=1e-12)
        assert {c for c, cells in together.caveats.items() if cells[i]} == set(alone.caveats)


@PAIRED
@given(ab=sides, absent=arrays(np.bool_, (2, 3, 7)))
def test_runs_without_partner_take_no_part(method: Method, ab: np.ndarray, absent: np.ndarray) -> None:
    together = method(np.ma.MaskedArray(ab[0], absent[0]), np.ma.MaskedArray(ab[1], absent[1]))
    for i in range(3):
        both = ~absent[:, i].any(axis=0)
        assert together.n_pairs[i] == both.sum()
        try:
            alone = method(ab[0, i, both], ab[1, i, both])
        except ValueError:
            assert np.isnan([together.low[i], together.high[i]]).all()
            assert together.caveats[Caveat.TOO_FEW][i]
            continue
        for field in ("estimate", "low", "high", "p"):
            np.testing.assert_allclose(getattr(together, field)[i], getattr(alone, field), rtol=1e-11)


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


def test_the_order_of_nearly_equal_runs_changes_no_digit() -> None:
    a, b = np.random.default_rng(1).integers(9990, 9999, (2, 2000, 7)) / 10
    one, other = welch_log(a, b), welch_log(a[:, ::-1], b[:, ::-1])
    for field in ("estimate", "low", "high", "p"):
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-12)
