"""Signatures of logs: all are found, in the text's order, and a word saves the search where it is missing."""

import re

import pytest

from benchmarks.robustness import logs
from fsbench_kit.formats import FORMATS, name
from fsbench_kit.formats.signatures import Signatures

LOGS = {name: path.read_text(encoding="utf-8", errors="replace") for name, path in logs().items()}


def test_signatures_come_in_the_order_of_the_text() -> None:
    signatures = Signatures({"b": r"\bb\d", "a": r"a\d"})
    assert list(signatures("b1 a2 cb3 b4 a5")) == [0, 3, 10, 13]


def test_case_is_ignored_in_words_too() -> None:
    assert list(Signatures({"rate": r"rate\s*\d"}, re.IGNORECASE)("a RATE 1, Rate2")) == [2, 10]
    assert list(Signatures({"rate": r"(?i:rate)\s*\d"})("a RATE 1")) == []


SIGNATURES = {
    name(each): found
    for each in FORMATS
    if isinstance(found := getattr(each, "MARKS", each.signatures), Signatures)
}


@pytest.mark.parametrize("signatures", SIGNATURES.values(), ids=SIGNATURES)
def test_the_word_of_a_signature_stands_in_all_that_it_matches(signatures: Signatures) -> None:
    for word, pattern in signatures.patterns.items():
        for chars in LOGS.values():
            where = chars.lower() if signatures.ignores_case else chars
            assert all(word in where[match.start() : match.end()] for match in pattern.finditer(chars)), word
