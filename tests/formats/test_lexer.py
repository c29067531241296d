"""The lexer gives every character to a phrase or to what is unread, and nothing to both."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbench_kit.formats.lexer import UNREAD, Lexer, Token, unread_figure
from fsbench_kit.formats.text import Text

PHRASES = {
    "rate": r"rate: (?P<rate>\d+(?:\.\d+)?)(?: \((?P<note>\w+)\))?",
    "any_rate": r"rate\b[^\n]*",
    "unit": r"\bunit\s+(?P<unit>\w+)",
}
LEXER = Lexer(**PHRASES)


def _tokens(chars: str, start: int = 0, end: int | None = None) -> list[Token]:
    return list(LEXER.tokens(Text(chars), start, end))


def _names(chars: str) -> list[str]:
    return [token.name for token in _tokens(chars)]


def _stretch(token: Token) -> str:
    return token.text.chars[token.start : token.end]


def test_phrases_come_in_the_order_of_the_text() -> None:
    tokens = _tokens("unit s rate: 3 odd 7 words rate: 4.5 (ok)")
    assert [(t.name, _stretch(t)) for t in tokens] == [
        ("unit", "unit s"),
        ("rate", "rate: 3"),
        (UNREAD, "odd 7 words"),
        ("rate", "rate: 4.5 (ok)"),
    ]
    assert [t["rate"] for t in tokens if t.name == "rate"] == ["3", "4.5"]


def test_of_two_phrases_at_one_place_the_first_declared_wins() -> None:
    assert _names("rate: 3") == ["rate"]
    assert _names("rate high") == ["any_rate"]


@pytest.mark.parametrize("chars", ["rate:3", "rate: 3", "rate:   3", "rate:\n\t3", "rate:\u00a03"])
def test_a_space_stands_for_any_white_space(chars: str) -> None:
    assert _names(chars) == ["rate"]


def test_where_space_is_needed_it_is() -> None:
    assert _names("unit s") == ["unit"]
    assert _names("units") == [UNREAD]


def test_a_group_without_a_part_is_none() -> None:
    (token,) = _tokens("rate: 3")
    assert token["note"] is None
    (unread,) = _tokens("hello")
    assert unread["rate"] is None


def test_lines_are_those_where_phrases_begin() -> None:
    tokens = _tokens("one\n\ntwo 2\nrate:\n 3\nlast")
    assert [(t.name, t.line, _stretch(t)) for t in tokens] == [
        (UNREAD, 1, "one\n\ntwo 2"),
        ("rate", 4, "rate:\n 3"),
        (UNREAD, 6, "last"),
    ]


def test_a_window_limits_what_is_seen() -> None:
    assert [_stretch(t) for t in _tokens("rate: 1 rate: 23 rate: 4", 8, 15)] == ["rate: 2"]
    assert [_stretch(t) for t in _tokens("rate: 1 x rate: 2", 1, 9)] == ["ate: 1 x"]


def test_a_phrase_that_matches_nothing_is_an_error_of_the_format() -> None:
    with pytest.raises(ValueError, match="empty"):
        list(Lexer(empty=r"x?").tokens(Text("abc")))


@given(st.lists(st.sampled_from(["rate: 3", "rate", "unit s", "7", " ", "\n", "é", ":", "(ok)"])).map("".join))
def test_no_character_is_lost_or_taken_twice(chars: str) -> None:
    position = 0
    for token in _tokens(chars):
        assert chars[position : token.start].strip() == ""
        assert token.start < token.end
        position = token.end
    assert chars[position:].strip() == ""


def test_a_diagnostic_names_bytes_line_and_words() -> None:
    chars = "häß\n  odd \n 7  words \nrate: 3"
    (unread, _) = _tokens(chars)
    diagnostic = unread_figure(unread)
    assert diagnostic is not None
    assert (diagnostic.code, diagnostic.severity, diagnostic.line) == ("UNREAD_FIGURE", "warning", 1)
    assert chars.encode()[diagnostic.start : diagnostic.end].decode() == "häß\n  odd \n 7  words"
    assert diagnostic.excerpt == "häß odd 7 words"


@pytest.mark.parametrize("words", ["7", "x7", "+++++", "a ++ b", "nan", "-inf", "NaN", "Infinity 0"])
def test_what_looks_like_a_figure_is_named(words: str) -> None:
    (token,) = _tokens(words)
    assert unread_figure(token) is not None


@pytest.mark.parametrize("words", ["words", "finance", "info", "c+", "---"])
def test_what_looks_like_none_is_let_be(words: str) -> None:
    (token,) = _tokens(words)
    assert unread_figure(token) is None


PROSE = [
    "With ext4 it reached 123456 KB/s, twice of what our old machine (2 x E5-2620, 64 GB) did in 2019.",
    "Mit ext4 waren es 123456 KB/s beim Schreiben und 234567 KB/s beim Lesen, also 12,5 % mehr.",
    "Nous avons obtenu 1234 Mo/s en lecture et 567 Mo/s en écriture, soit 12 % de mieux.",
    "Results on the second server, with 8 x 2 TB SATA in RAID 10 behind an older LSI controller:",
]
DAMAGED = [
    "xrites a 65536 kByte file in 64 kByte records of 128",
    "the rate is set for each other rate and the rate of it in 17 records",
    "rate of the rate set to 17 and the rate for each other rate",
    "a12 b34 c56 d78 one two three four five six 90 12 34",
]


def test_prose_with_many_numbers_is_told_from_what_is_damaged() -> None:
    tool = Lexer(
        rate=r"rate(?: of the| set to| is)?: (?P<rate>\d+)",
        each=r"for each other and x?writes a \d+ kByte file in records",
    )
    for words, code in (*((words, "OTHER_TEXT") for words in PROSE), *((w, "UNREAD_FIGURE") for w in DAMAGED)):
        (token,) = tool.tokens(Text(words))
        diagnostic = unread_figure(token)
        assert diagnostic is not None
        assert diagnostic.code == code, words


def test_many_phrases_take_time_in_proportion() -> None:
    """Each phrase is searched for once from each place, not again for every other phrase."""
    searches = 0

    class Counting:
        def __init__(self, phrase: Any) -> None:
            self.phrase = phrase

        def search(self, *where: object) -> Any:
            nonlocal searches
            searches += 1
            return self.phrase.search(*where)

    lexer = Lexer(a=r"a", b=r"b", never=r"c")
    lexer._phrases = {name: Counting(p) for name, p in lexer._phrases.items()}  # type: ignore[misc]
    assert len(list(lexer.tokens(Text("ab" * 100)))) == 200
    assert searches == 3 + 200


@given(st.lists(st.sampled_from(["rate: 3 ", "rate ", "unit s ", "7 ", "word " * 400, "\n"]), max_size=12))
def test_words_of_phrases_change_nothing_but_the_time(pieces: list[str]) -> None:
    text = Text("".join(pieces))
    no_words = Lexer(**{name: rf"(?:{phrase}|(?!))" for name, phrase in PHRASES.items()})
    places = [
        [(token.name, token.start, token.end) for token in lexer.tokens(text)] for lexer in (LEXER, no_words)
    ]
    assert places[0] == places[1]


@pytest.mark.parametrize(
    "pattern",
    [
        r"reads?",
        r"(?P<op>read|write|)\d",
        r"(?:reads, |writes, ){0,2}sum",
        r"(?:reads|writes){1,2}",
        r"\w+(?= reads)",
        r"(?<!x)writes\b",
        r"(?<=s,)\s\w(?P<rest>\w+)(?! read)",
        r"[read]{4}",
        r"\x72ead|writ[e]",
        r"re{1}ad\(s\)*|x",
        r"(?i:READ)s",
        r"w(?>ri|r)tes{,2}",
        r"(?P<letter>[rw])\w+, (?P=letter)",
    ],
)
def test_a_phrase_is_found_whatever_is_literal_in_it(pattern: str) -> None:
    text = "read writes, reads, write1 3 reads, READs x read(s) writes, writes sum read, rite"
    found = [match[0] for match in re.finditer(pattern.replace(" ", r"\s*+"), text)]
    assert found
    tokens = Lexer(phrase=pattern).tokens(Text(text))
    assert [_stretch(token) for token in tokens if token.name == "phrase"] == found


def test_only_phrases_whose_words_occur_are_compiled() -> None:
    lexer = Lexer(rate=r"rate: \d+", time=r"time: (\d+")  # the second one is not valid
    assert [token.name for token in lexer.tokens(Text("rate: 12"))] == ["rate"]
    with pytest.raises(re.error):
        list(lexer.tokens(Text("rate: 12 time: 5")))


def test_a_text_is_searched_for_a_phrase_around_its_words_alone() -> None:
    searched = 0

    class Counting:
        def search(self, chars: str, start: int, end: int) -> re.Match[str] | None:
            nonlocal searched
            searched += end - start
            return re.compile(r"\w+ rate: \d+").search(chars, start, end)

    lexer = Lexer(rate=r"\w+ rate: \d+")
    lexer._phrases["rate"]._pattern = Counting()  # type: ignore[assignment]
    prose = "Of this and that much can be said. " * 3_000
    tokens = list(lexer.tokens(Text(f"{prose} the rate: 12 {prose} at this rate: none {prose}")))
    assert [_stretch(token) for token in tokens if token.name == "rate"] == ["the rate: 12"]
    assert 0 < searched < len(prose) / 5
