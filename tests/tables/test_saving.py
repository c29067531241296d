"""Tables as files: what is shown, and nothing a format could take for its own marks."""

import csv
import re
from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.model.errors import RequestError
from fsbench_kit.tables import Column, Group, Table

HOSTILE = r"a|b_c*d`e\f{g}%h&i#j$k~l^m[n]<o>"

TABLE = Table(
    HOSTILE,
    (Column("name"), Column("rate", "right"), Column("rate", "right")),
    (Group("in MiB/s", ((HOSTILE, "–", "1"), ("[x]", "2 µs", "–"))), Group("none", ())),
    ("because",),
)


def test_a_table_as_data_has_its_cells_and_null_for_a_dash(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "new" / "t.parquet")
    table = pl.read_parquet(tmp_path / "new" / "t.parquet")
    assert table.columns == ["table", "name", "rate 2", "rate 3"]
    assert table.rows() == [("in MiB/s", HOSTILE, None, "1"), ("in MiB/s", "[x]", "2 µs", None)]
    TABLE.save(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        assert next(row for row in csv.DictReader(file))["name"] == HOSTILE


def test_markdown_has_as_many_cells_in_each_line_as_columns(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "t.md")
    text = (tmp_path / "t.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert rows[1] == "| :-- | --: | --: |"
    assert r"a\|b\_c\*d\`e\\f" in text
    assert text.endswith("- a: because\n")


def test_latex_escapes_all_that_is_its_own(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "t.tex")
    text = (tmp_path / "t.tex").read_text()
    row = next(line for line in text.splitlines() if line.startswith(r"a\textbar{}b\_c"))
    assert row.count(" & ") == 2
    assert r"\_c*d`e\textbackslash{}f\{g\}\%h\&i\#j\$k\textasciitilde{}l\textasciicircum{}m{[}n{]}" in row
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


def test_latex_says_what_pdflatex_has_no_letters_for(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "t.tex")
    assert (tmp_path / "t.tex").read_text().startswith("% needs \\usepackage{booktabs}\n")
    Table("日本", TABLE.columns, TABLE.groups).save(tmp_path / "t.tex")
    first = (tmp_path / "t.tex").read_text().splitlines()[0]
    assert first.startswith(
        r"% needs \usepackage{booktabs}, and XeLaTeX or LuaLaTeX with a font that has its letters: "
    )


@pytest.mark.parametrize("name", ["f.csv", "f.md", "f.parquet", "1/a/t.json"])
def test_a_place_that_cannot_be_written_is_said(name: str) -> None:
    with pytest.raises(RequestError, match="cannot write it"):
        TABLE.save(f"/proc/{name}")


def test_another_ending_names_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="xlsx") as error:
        TABLE.save(tmp_path / "t.xlsx")
    assert error.value.hint == "Give a file that ends in .parquet, .csv, .json, .md or .tex."


def test_an_audit_with_lists_is_csv(published: Path, tmp_path: Path) -> None:
    fsb.tables.save(tmp_path / "audit.csv", fsb.audit(published / "fio-nvme-2021"))
    assert pl.read_csv(tmp_path / "audit.csv").height > 1
