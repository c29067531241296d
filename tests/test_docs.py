"""Pages of docs/ that are made say what the package says; the glossary has every word of the frames."""

import re
from pathlib import Path

import pytest

from docs import api, vocabulary
from fsbench_kit.analysis.verdict import Verdict
from fsbench_kit.model.vocabulary import ORIGINS, SCOPES, STAGES, STATES

GLOSSARY = (Path(api.__file__).with_name("glossary.md")).read_text(encoding="utf-8")


@pytest.mark.parametrize("made", [api, vocabulary], ids=["api", "vocabulary"])
def test_a_page_is_up_to_date(made: object) -> None:
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run `make reference`"  # type: ignore[attr-defined]


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
