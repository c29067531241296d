"""Runs of digits as integers, against Python's own search and conversion."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fsbench_kit.formats import digits

TEXT = st.text(alphabet="0123456789.9 -a\n", max_size=120)


def found(text: str) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Return the spans of runs, those that decimals follow, and the integers."""
    data = bytearray(b"\n" * digits.BEFORE + text.encode() + b"\n")
    starts, ends, whole = digits.runs(np.frombuffer(data, np.uint8))
    values = digits.integers(data, ends, ends - starts)
    spans = zip((starts - digits.BEFORE).tolist(), (ends - digits.BEFORE).tolist(), strict=True)
    return list(spans), whole.tolist(), values.tolist()


@given(TEXT)
@example("1.2.3 4.5")
@example("")
def test_runs_are_those_that_a_search_finds(text: str) -> None:
    spans, whole, _ = found(text)
    assert spans == [match.span() for match in re.finditer(r"\d+", text)]
    decimals = [match.start(1) for match in re.finditer(r"\d+\.(\d+)", text)]
    assert [spans[index + 1][0] for index in whole] == decimals


@pytest.mark.parametrize("before", range(-10, 3))
def test_runs_at_the_edge_of_a_block_are_found_once(before: int) -> None:
    text = "a" * (digits.BLOCK - digits.BEFORE + before) + "1234567.89 12" + " 7" * digits.BLOCK
    spans, whole, _ = found(text)
    assert spans == [match.span() for match in re.finditer(r"\d+", text)]
    assert whole == [0]


@given(TEXT)
@example("123456789012345678 1 12345678 123456789 1234567890123456 12345678901234567 000000000000000001")
def test_runs_of_up_to_18_digits_are_exact(text: str) -> None:
    words = re.findall(r"\d+", text)
    _, _, values = found(text)
    known = [(value, int(word)) for value, word in zip(values, words, strict=True) if len(word) <= 18]
    assert [value for value, _ in known] == [expected for _, expected in known]


@pytest.mark.parametrize("length", range(1, 19))
def test_every_length_and_digit(length: int) -> None:
    words = [digit * length for digit in "0123456789"] + ["1234567890123456789"[:length]]
    assert found(" ".join(words))[2] == list(map(int, words))
