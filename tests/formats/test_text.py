"""Lines and byte offsets of a decoded text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbench_kit.formats.text import EXCERPT_LENGTH, Text

ENCODINGS = ["utf-8", "utf-16-le", "utf-16-be"]
CHARS = st.text(st.sampled_from("aé中😀\n\r\t\f\u2028 "))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(chars=CHARS, mark=st.integers(0, 3))
def test_a_byte_offset_is_the_length_of_what_stands_before(encoding: str, chars: str, mark: int) -> None:
    text = Text(chars, encoding=encoding, first_byte=mark)
    for position in range(len(chars) + 1):
        assert text.byte(position) == mark + len(chars[:position].encode(encoding))


@given(chars=CHARS)
def test_a_line_is_one_more_than_the_line_feeds_before(chars: str) -> None:
    text = Text(chars)
    for position in range(len(chars) + 1):
        assert text.line(position) == 1 + chars[:position].count("\n")


def test_by_hand() -> None:
    text = Text("eins\nzwöi\n\n€3")
    assert [text.line(p) for p in (0, 4, 5, 9, 10, 11, 12)] == [1, 1, 2, 2, 3, 4, 4]
    assert [text.byte(p) for p in (0, 4, 5, 7, 8, 10, 11, 12, 13)] == [0, 4, 5, 7, 9, 11, 12, 15, 16]


def test_latin_1_has_a_byte_for_each_character() -> None:
    assert Text("zwöi\nü3", encoding="latin-1").byte(6) == 6


def test_form_feeds_and_their_like_end_no_line() -> None:
    assert Text("a\fb\x0bc\u2028d\re").line(8) == 1


def test_an_excerpt_is_on_one_line() -> None:
    assert Text("  a\n\tb   c  \n").excerpt(0, 13) == "a b c"
    assert Text("abc def").excerpt(2, 5) == "c d"


def test_a_long_excerpt_keeps_both_ends() -> None:
    words = " ".join(str(n) for n in range(100))
    excerpt = Text(words).excerpt(0, len(words))
    assert excerpt.startswith("0 1 2 ")
    assert excerpt.endswith(" 98 99")
    assert " … " in excerpt
    assert len(excerpt) == EXCERPT_LENGTH + 3
    exact = "x" * EXCERPT_LENGTH
    assert Text(exact).excerpt(0, EXCERPT_LENGTH) == exact
