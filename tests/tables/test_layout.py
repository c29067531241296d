"""Tables on terminals: one head, no word broken while there is room, and what marks mean."""

import json
from collections.abc import Callable

import polars as pl
import pytest
from rich.console import Console

import fsbench_kit as fsb
from fsbench_kit import tables
from fsbench_kit.model.errors import RequestError


def _lines(table: tables.Table, width: int) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as shown:
        console.print(table)
    return shown.get().splitlines()


@pytest.fixture(scope="module")
def recorded() -> pl.DataFrame:
    return fsb.compare(fsb.read("raw_results/recorded/ext4-xfs-loop-2026"))


def test_effects_and_not_their_twins_under_one_head(recorded: pl.DataFrame) -> None:
    listed = tables.effects(recorded)
    assert listed.select("operation", "metric", "statistic").is_unique().all()
    assert listed.height == recorded["effect"].n_unique() < recorded.height
    table = tables.comparison_table(listed)
    lines = _lines(table, 200)
    groups = sum(1 for group in table.groups if group.rows)
    assert len(lines) == 1 + 2 + groups + listed.height + 1 + len(table.legend) + len(table.footnotes)
    assert sum("verdict" in line for line in lines[:-1]) == 1
    assert {line.find("10 rounds") for line in lines if "10 rounds" in line} == {lines[1].find("runs") - 5}


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_broken(recorded: pl.DataFrame, width: int) -> None:
    lines = _lines(tables.comparison_table(recorded), width)
    assert max(map(len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    assert {"smallfiles", "comparable", "equivalent", "rewrite"} <= words


def test_three_groups_fit_a_terminal_of_80_columns() -> None:
    """What groups have in common stands once above their rows, where there is no room for it in each."""
    compared = fsb.compare(fsb.read("raw_results/published/raid1-hdd-2020"), metrics=["bandwidth"])
    table = tables.comparison_table(compared)
    narrow, wide = _lines(table, 80), _lines(table, 200)
    assert max(map(len, narrow)) <= 80
    rows = [line.split() for line in narrow if line.startswith(" ") and line.split()[1] in ("xfs", "zfs")]
    assert [row[1] for row in rows] == compared["level"].to_list()
    assert " ".join(rows[0]) == "100 xfs 105 1.05 (break-even CV 1.8 %) not comparable 1+1 a b"
    assert narrow[5] == "tool: bonnie++, operation: read, file size: 126 GiB"  # below a caption of two lines
    assert not any(line.startswith("tool:") for line in wide)


def test_what_a_tilde_means_is_said_where_there_is_one(comparison: Callable[..., pl.DataFrame]) -> None:
    undecided = tables.comparison_table(comparison({"verdict": "inconclusive"}))
    assert undecided.legend[0].startswith("~  ")
    assert undecided.legend[0] in _lines(undecided, 100)
    assert tables.comparison_table(comparison({})).legend == ()


def test_rows_and_columns_are_chosen(recorded: pl.DataFrame) -> None:
    rows = recorded.filter(pl.col("metric").is_in(["file_rate", "elapsed_with_sync"]))
    table = tables.pivot_table(rows, columns=["metric"], rows=["operation"])
    assert [column.head for column in table.columns] == ["operation", "File rate", "Elapsed with sync"]
    cells = {row[0]: row[1:] for row in table.groups[0].rows}
    assert cells["delete"][0].startswith("0.54 [0.48, 0.61] worse")
    assert cells["read"][1] == "–"
    by_level = tables.pivot_table(rows, columns=["filesystem"])
    assert [column.head for column in by_level.columns] == ["operation", "xfs"]
    assert [group.head for group in by_level.groups] == ["File rate", "Elapsed with sync"]


@pytest.mark.parametrize(
    ("rows", "columns"), [(["color"], None), (["operation"], ["operation"]), (["level"], None)]
)
def test_rows_and_columns_that_cannot_be(
    recorded: pl.DataFrame, rows: list[str], columns: list[str] | None
) -> None:
    with pytest.raises(RequestError):
        tables.pivot_table(recorded, rows=rows, columns=columns)


def test_of_a_very_long_table_a_page_shows_the_first_rows_of_each_part_and_its_file_has_all() -> None:
    column = (tables.Column("run"),)
    parts = tuple(tables.Group(head, tuple((f"{head}{n}",) for n in range(400))) for head in "ab")
    shown = tables.Table("Runs", column, parts)._repr_mimebundle_()
    assert "Runs; 502 of 800 rows, the first of each part" in shown["text/html"]
    assert all(f">{cell}<" in shown["text/html"] for cell in ("a0", "a250", "b0", "b250"))
    assert all(f">{cell}<" not in shown["text/html"] for cell in ("a251", "b251"))
    (table,) = (data for mime, data in shown.items() if not mime.startswith("text/"))
    assert list(files := json.loads(table)) == ["csv"]  # nobody prints so many rows
    assert files["csv"].splitlines()[-1] == "b,b399"


def test_what_all_rows_of_a_long_table_have_in_common_stands_in_its_caption_and_in_its_files() -> None:
    frame = pl.DataFrame({"run": list(range(41)), "verdict": ["not comparable"] * 41})
    long = tables.table(frame, "Runs")
    shown = long._repr_html_()
    assert shown.count("not comparable") == 2  # the caption, and the name of its region
    assert "Runs; in all rows: verdict not comparable</caption>" in shown
    assert long.frame()["verdict"].to_list() == ["not comparable"] * 41
    assert tables.table(frame.head(40), "Runs")._repr_html_().count("not comparable") == 40
    assert tables.table(frame.select("verdict"), "Runs")._repr_html_().count("not comparable") == 41
