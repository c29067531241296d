"""Numbers of many reports as columns; what the columns become is tested with the formats."""

from __future__ import annotations

import numpy as np
import pytest

from fsbench_kit.formats.fio_columns import Numbers


def words(numbers: Numbers) -> list[str]:
    return numbers.texts(np.arange(len(numbers.digits) - 1)).to_list()


def test_numbers_are_found_in_all_texts() -> None:
    numbers = Numbers([b'{"bw_mean" : 12.50, "p99" : 7}', b"none", b"0;-3;1.2.3"])
    assert words(numbers) == ["12.50", "99", "7", "0", "3", "1.2", "3"]
    assert numbers.first == [0, 3, 3, 7]
    assert numbers.digits[:-1].tolist() == [1250, 99, 7, 0, 3, 12, 3]
    assert numbers.decimals[:-1].tolist() == [2, 0, 0, 0, 0, 1, 0]
    assert numbers.counts[:-1].tolist() == [-1, 99, 7, 0, 3, -1, 3]
    assert numbers.is_any[:-1].tolist() == [True, True, True, False, True, True, True]


def test_what_is_hidden_has_no_numbers() -> None:
    numbers = Numbers([b"at 12:30 5", b"7"], [slice(3, 8), slice(0, 0)])
    assert words(numbers) == ["5", "7"]
    assert numbers.layouts[0] == Numbers([b"at 23:59 6"], [slice(3, 8)]).layouts[0]


@pytest.mark.parametrize("other", ["a12 : 3", "a1 : 23", "a0 : 0"])
def test_texts_that_differ_in_their_digits_alone_have_one_layout(other: str) -> None:
    one, again = Numbers([b"a1 : 2", other.encode()]).layouts
    assert one == again


@pytest.mark.parametrize("other", ["a1 : -2", "a1 : 2.", "a1 : .2", "a1 : 3.4", "a : 2", "a1 : 2e5", "a1 : 2 "])
def test_other_characters_are_another_layout(other: str) -> None:
    one, again = Numbers([b"a1 : 2", other.encode()]).layouts
    assert one != again


def test_numbers_too_long_for_a_column_are_known_by_their_text() -> None:
    long, longer = "123456789012345678901234", "1" * 40
    numbers = Numbers([f"a {number} 5".encode() for number in (long, long, f"{long[:-1]}5", longer)])
    assert words(numbers) == [long, "5", long, "5", f"{long[:-1]}5", "5", longer, "5"]
    assert numbers.counts[:2].tolist() == [-1, 5]
    firsts = np.array([[0], [2], [4]])
    assert numbers.are_same(firsts, numbers.exact(np.array([0]))).tolist() == [True, True, False]
    assert numbers.odd_texts == {3}


@pytest.mark.parametrize(("one", "other"), [("10", "010"), ("1.0", "1.00"), ("10", "1.0")])
def test_prints_of_one_value_differ(one: str, other: str) -> None:
    numbers = Numbers([one.encode(), other.encode()])
    assert numbers.are_same(np.array([[0], [1]]), numbers.exact(np.array([0]))).tolist() == [True, False]


def test_words_of_a_document_can_be_more_than_digits() -> None:
    given = ["1.5", "-2", "1e-05", "NaN", "-0.0", "٣", "7"]
    numbers = Numbers.of(given)
    assert words(numbers) == given
    assert numbers.counts[:-1].tolist() == [-1, -1, -1, -1, -1, -1, 7]
    assert numbers.is_any[:-1].tolist() == [True, True, True, True, False, True, True]


@pytest.mark.parametrize("number", [0, 1, 8192, 20_000])
def test_any_number_of_words_is_returned_as_printed(number: int) -> None:
    given = [f"{index * 7919}.{index % 13}" for index in range(number)]
    assert words(Numbers(["; ".join(given).encode(), b"5"]))[:-1] == given
    if number:
        assert words(Numbers.of([*given, "-1"])) == [*given, "-1"]
