"""The benchmark of coverage, with fewer repetitions: what it says to hold, holds; and its page says what fails."""

import numpy as np
import pytest

from benchmarks.coverage import COVERAGE, FALLS_SHORT, PAGE, SHORTFALL, Cell, Row, Table, markdown, unexplained

REPETITIONS = 400


@pytest.mark.slow
@pytest.mark.parametrize("table", COVERAGE, ids=lambda table: table.__name__)
def test_no_method_falls_short_without_a_stated_reason(table) -> None:
    found = table(np.random.default_rng(7), REPETITIONS)
    error = 4 * np.sqrt(0.05 * 0.95 / REPETITIONS)
    for row in found.rows:
        if row.reason is None:
            for cell in row.cells:
                assert cell is None or cell.covered >= cell.achieved - SHORTFALL - error, (row.data, row.method)


def test_a_table_comes_out_the_same_from_the_same_seed() -> None:
    blocks = next(table for table in COVERAGE if table.__name__ == "blocks")
    once, again = (markdown(blocks(np.random.default_rng(7), 50)) for _ in "ab")
    assert once == again


def test_a_row_that_falls_short_without_a_reason_is_named() -> None:
    good, bad = Cell(0.94, 0.95, 1.1), Cell(0.93, 0.95, 1.1)
    rows = [Row("such", "Welch", [good, None]), Row("other", "Welch", [bad]), Row("any", "sd / sqrt(n)", [bad])]
    table = Table("Title", "Text", ("2", "3"), rows)
    assert unexplained(table) == ["other, Welch"]
    assert "**93.0** (1.100)" in "\n".join(markdown(table))


def test_the_page_shows_each_shortfall_with_its_reason() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    short = [row for row in rows if any(cell.startswith("**") for cell in row)]
    reasons = {row[-1].removesuffix(" |") for row in short}
    assert reasons == set(FALLS_SHORT.values())
