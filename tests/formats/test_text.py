"""Lines and byte offsets of a decoded text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fsbench_kit.formats.text import EXCERPT_LENGTH, Edit, Text

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


# Cut and edited

EDITS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4), st.text("xyz", max_size=3)), max_size=5)
Origins = list[tuple[str, int]]
"""Characters, and where each stood in the file; at the end, nothing."""


def _edited(origins: Origins, wishes: list[tuple[int, int, str]]) -> tuple[list[Edit], Origins]:
    """Return the wishes that do not overlap as edits, and what they make of the characters."""
    edits: list[Edit] = []
    end, made = 0, []
    for at, span, new in sorted(wishes):
        if at >= end and at + span < len(origins):
            made += [*origins[end:at], *((char, origins[at][1]) for char in new)]
            end = at + span
            edits.append(Edit(at, end, new))
    return edits, made + origins[end:]


@given(
    chars=st.text("ab\n中é", max_size=30),
    wishes=EDITS,
    more=EDITS,
    start=st.integers(0, 40),
    length=st.integers(0, 40),
)
@example(chars="abcdefg", wishes=[(3, 2, "")], more=[(0, 1, "")], start=0, length=0)
@example(chars="abcdef", wishes=[(2, 2, "")], more=[(2, 0, "")], start=0, length=0)
@example(chars="abcdef", wishes=[(2, 2, "")], more=[(2, 1, "")], start=0, length=0)
def test_what_was_kept_stands_where_it_stood(
    chars: str, wishes: list[tuple[int, int, str]], more: list[tuple[int, int, str]], start: int, length: int
) -> None:
    text = Text(chars)
    edits, once = _edited([*zip(chars, range(len(chars)), strict=True), ("", len(chars))], wishes)
    again, twice = _edited(once, more)
    edited = text.edited(edits).edited([])
    whole = edited.edited(again).cut(0, len(twice) - 1)
    piece = whole.cut(min(start, len(twice) - 1), min(start + length, len(twice) - 1))
    for derived, origins in ((edited, once), (whole, twice), (piece, twice[start : start + length])):
        assert derived.chars == "".join(char for char, _ in origins)
        assert [derived.byte(i) for i in range(len(origins))] == [text.byte(origin) for _, origin in origins]
        assert [derived.line(i) for i in range(len(origins))] == [text.line(origin) for _, origin in origins]
    # What was left out stands between what was kept.
    kept = {origin: at for at, (char, origin) in enumerate(twice) if char not in {*"xyz", ""}}
    before = -1
    for origin in range(len(chars)):
        position = whole.position(text.byte(origin))
        after = min((at for other, at in kept.items() if other >= origin), default=len(twice) - 1)
        assert position == kept[origin] if origin in kept else before < position <= after
        before = kept.get(origin, before)


def test_edits_of_edits() -> None:
    text = Text("&lt;b&gt; 12\n13").edited([Edit(0, 4, "<"), Edit(5, 9, ">")]).edited([Edit(0, 3, "")])
    assert text.chars == " 12\n13"
    assert [text.byte(i) for i in range(len(text.chars))] == [9, 10, 11, 12, 13, 14]
    assert text.cut(4, 6).line(0) == 2


def test_edits_that_reach_into_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        Text("abc").edited([Edit(0, 2, ""), Edit(1, 3, "")])
