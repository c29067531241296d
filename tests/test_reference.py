"""The reference pages of the formats say what the modules' docstrings say."""

import pytest

from docs.reference import FOLDER, markdown, pages

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name], "run `make reference`"


def test_no_page_is_left_over() -> None:
    assert {path.name for path in FOLDER.glob("*.md")} == set(PAGES)


def test_every_format_has_figures_from_a_log() -> None:
    of_files_of_their_own = {"README.md", "fio_log.md"}
    without = {name for name, text in PAGES.items() if "## Figures" not in text}
    assert without == of_files_of_their_own


def test_literals_become_code() -> None:
    text = "Printed ``so``::\n\n    a: 1\n      b\n\nand on."
    assert markdown(text) == "Printed `so`:\n\n```text\na: 1\n  b\n```\n\nand on."
