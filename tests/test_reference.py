"""The reference pages of the formats say what the modules' docstrings say."""

import pytest

from docs.reference import FOLDER, markdown, pages


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages()


def test_pages_are_up_to_date(made: dict[str, str]) -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert there == made, "run `make reference`"


def test_every_format_has_figures_from_a_log(made: dict[str, str]) -> None:
    of_files_of_their_own = {"README.md", "fio_log.md"}
    without = {name for name, text in made.items() if "## Figures" not in text}
    assert without == of_files_of_their_own


def test_literals_become_code() -> None:
    text = "Printed ``so``::\n\n    a: 1\n      b\n\nand on."
    assert markdown(text) == "Printed `so`:\n\n```text\na: 1\n  b\n```\n\nand on."
