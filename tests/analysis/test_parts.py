"""Parts of rows against a loop over them."""

import numpy as np
import polars as pl
import pytest

from fsbench_kit.analysis.parts import Parts, have_both, numbered, ranges, ranked, stretches

RNG = np.random.default_rng(3)
A, B, ROLE = RNG.integers(-1, 4, 60), RNG.integers(-1, 3, 60), RNG.integers(0, 2, 60)
FLAGS = RNG.random(60) < 0.7
ROWS = list(zip(A.tolist(), B.tolist(), strict=True))
EACH = [[place for place, row in enumerate(ROWS) if row == part] for part in sorted(set(ROWS))]


def test_parts_are_the_rows_with_equal_numbers() -> None:
    parts = Parts(A, B)
    assert [rows.tolist() for rows in parts.rows] == EACH
    assert parts.first.tolist() == [rows[0] for rows in EACH]
    assert parts.size.tolist() == [len(rows) for rows in EACH]
    assert parts.count(FLAGS).tolist() == [int(FLAGS[rows].sum()) for rows in EACH]
    assert parts.any(FLAGS).tolist() == [bool(FLAGS[rows].any()) for rows in EACH]
    assert parts.all(FLAGS).tolist() == [bool(FLAGS[rows].all()) for rows in EACH]


def test_parts_of_a_frame_are_its_equal_rows() -> None:
    frame = pl.DataFrame({"a": A, "b": [None if b < 0 else str(b) for b in B]})
    assert sorted(rows.tolist() for rows in Parts.of_rows(frame).rows) == sorted(EACH)


def test_a_part_has_both_groups_if_each_has_a_row_in_it() -> None:
    both = [{ROLE[place] for place, other in enumerate(ROWS) if other == row} == {0, 1} for row in ROWS]
    assert have_both(ROLE, A, B).tolist() == both


def test_values_are_numbered_and_unknown_ones_apart() -> None:
    assert numbered(pl.Series(["b", None, "a", "b"])).tolist() == [0, -1, 1, 0]
    times = np.array(["2026-01-02", "NaT", "2026-01-01", "2026-01-02"], dtype="datetime64[us]")
    assert ranked(times).tolist() == [1, -1, 0, 1]


@pytest.mark.parametrize("values", [[], [7], [7, 7, 3, 3, 3, 7]])
def test_stretches_give_back_what_they_were_made_of(values: list[int]) -> None:
    starts, lengths = stretches(np.array(values, dtype=np.int64))
    assert np.repeat(np.array(values, dtype=np.int64)[starts], lengths).tolist() == values
    assert (np.diff(np.array(values)[starts]) != 0).all()


def test_ranges_are_the_places_of_some_parts_in_turn() -> None:
    places, of = ranges(np.array([0, 2, 2]), np.array([2, 0, 3]), np.array([2, 0, 1, 2]))
    assert places.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert of.tolist() == [0, 0, 0, 1, 1, 3, 3, 3]
