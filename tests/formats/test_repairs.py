"""Lines that stand twice."""

import pytest

from fsbench_kit.formats.repairs import without_repeats
from fsbench_kit.formats.text import Text


@pytest.mark.parametrize(
    ("chars", "single"),
    [
        ("a 1\na 1\nb 2\n", "a 1\nb 2\n"),
        ("a 1\n  a 1\n", "a 1\n"),
        ("a 1\na 1\na 1\na 1\n", "a 1\na 1\n"),  # each pair is one line
        ("a 1\n\na 1\n", "a 1\n\na 1\n"),
        ("a 1\nb 2\na 1\n", "a 1\nb 2\na 1\n"),
        ("a 1\na 1", "a 1\n"),
        ("\n\n\n", "\n\n\n"),
        ("---\n---\n", "---\n---\n"),  # without a figure it is no matter
        ("* 1\n* 1\n", "* 1\n* 1\n"),
        ("a 1\na 1\n* 1\n* 1\n* 1\n* 1\n\n\n", "a 1\n* 1\n* 1\n\n\n"),
        ("a 1\na 1\nb 2\n* 1\n* 1\n", "a 1\nb 2\n* 1\n* 1\n"),
    ],
)
def test_a_line_is_kept_once(chars: str, single: str) -> None:
    text, said = without_repeats(Text(chars), lambda line: line.startswith("*"))
    assert text.chars == single
    assert [item.code for item in said] == (["REPAIRED"] if single != chars else [])


def test_what_is_left_stands_where_it_stood() -> None:
    text, (said,) = without_repeats(Text("a 1\na 1\nb 2\nb 2\nc 3\n"))
    assert text.line(text.chars.index("c")) == 5
    assert text.byte(text.chars.index("c")) == 16
    assert (said.line, said.start) == (2, 4)
    assert said.message.startswith("2 lines")
