"""Signatures of logs: all are found, in the text's order, and where their expressions match."""

import re

import pytest

from fsbench_kit.formats import FORMATS, sniff
from fsbench_kit.formats.signatures import Signatures


def test_signatures_come_in_the_order_of_the_text() -> None:
    signatures = Signatures({"b": r"\bb\d", "a": r"a\d"})
    assert list(signatures("b1 a2 cb3 b4 a5")) == [0, 3, 10, 13]


def test_case_is_ignored_in_words_too() -> None:
    assert list(Signatures({"rate": r"Rate\s*\d"}, re.IGNORECASE)("İ RATE 1, Rate2")) == [2, 10]
    assert list(Signatures({"rate": r"Rate\s*\d"}, re.IGNORECASE)("İ" * 20_000 + "RATE 1")) == [20_000]
    assert list(Signatures({"rate": r"rate\s*\d"})("a RATE 1" * 9_000)) == []


@pytest.mark.parametrize(
    ("word", "pattern"),
    [
        ("rate", r"\brate=\d"),
        ("rate", r"(?:mean )?\w* rate=\d"),
        ("rate", r"(?<!mean )rate=\d"),
        ("=", r"(?:rate|mean)=\d+"),
        ("ra", r"^ *rate(?!=1)"),
    ],
)
def test_a_signature_stands_where_its_expression_matches(word: str, pattern: str) -> None:
    text = (
        "rate=1 mean rate=2 rate=3\n  rate=4rate=5 moderate=6 rate rate\nmean=rate=7 mean mean rate=88=9\n rate="
    )
    for chars in (text, f"{'é1 ' * 10_000}\n{text}\n\ud800{text}"):  # a short one and a long one
        found = [match.start() for match in re.finditer(pattern, chars, re.MULTILINE)]
        assert len(found) > 1
        assert list(Signatures({"mode": r"mode=\d", word: pattern}, re.MULTILINE)(chars)) == found


def test_the_word_has_to_stand_in_the_expression() -> None:
    with pytest.raises(ValueError, match="'rates' does not stand"):
        Signatures({"rates": r"\brate=\d"})


def test_jobs_of_a_document_have_its_brace_for_a_signature() -> None:
    text = 'see {x}\n[\n{\n "jobs": [{\n"jobname": "a"}, {\n"jobname": "b"}]}\n]\n{\n"jobname" : "c"}\n'
    documents = [text.index("{\n"), text.index('{\n"jobname" :')]
    assert [at for at, each in sniff(text) if each in FORMATS] == [documents[0], documents[0], documents[1]]


def test_a_text_is_searched_around_words_alone() -> None:
    searched = 0

    class Counting:
        def search(self, chars: str, start: int, end: int) -> re.Match[str] | None:
            nonlocal searched
            searched += end - start
            return re.compile(r"\w+ rate: \d+").search(chars, start, end)

    signatures = Signatures({"rate": r"\w+ rate: \d+"})
    (signature,) = signatures._signatures
    signature.whole = Counting()  # type: ignore[assignment]
    prose = "At this rate: nothing can be said. " * 3_000
    assert list(signatures(f"{prose}the rate: 12 {prose}")) == [len(prose)]
    assert 0 < searched < 2_000
