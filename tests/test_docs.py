"""The glossary has every word of the frames, once."""

import re

import pytest

from docs.generator import DOCS
from fsbench_kit.analysis.verdict import Verdict
from fsbench_kit.model.vocabulary import ORIGINS, SCOPES, STAGES, STATES

GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("word", [*ORIGINS, *SCOPES, *STAGES, *STATES, *Verdict.__args__])
def test_the_glossary_has_the_words_that_columns_hold(word: str) -> None:
    assert f"`{word}`" in GLOSSARY


def test_a_term_stands_once() -> None:
    terms = [
        term
        for line in re.findall(r"^\| (\*\*.*?) \|", GLOSSARY, re.MULTILINE)
        for term in re.findall(r"\*\*(.+?)\*\*", line)
    ]
    assert len(terms) > 50
    assert len(terms) == len(set(terms))
