"""Data of every shape through the command and the notebook that compare: figures, words, and never a traceback."""

import ast
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest
from typer.testing import CliRunner

from fsbench_kit.cli import app
from fsbench_kit.notebooks import load
from fsbench_kit.notebooks.display import Finding
from fsbench_kit.tables import Table

Write = Callable[..., str]

A = [2000.0, 2080.0, 1940.0, 2040.0, 1980.0, 2020.0, 1900.0, 2060.0, 1960.0, 2120.0]
B = [2420.0, 2360.0, 2500.0, 2390.0, 2460.0, 2340.0, 2480.0, 2400.0, 2520.0, 2440.0]


def _shown_by(notebook: Path, **parameters: Any) -> dict[str | int, Any]:
    """Run a notebook's code in this process, and return what each cell ends in, by the cell's name."""
    shown: dict[str, Any] = {}
    names: dict[str, Any] = {"display": lambda *what: shown.update(dict(enumerate(what)))}
    for cell in load(notebook).cells:
        if cell.cell_type != "code":
            continue
        code = ast.parse(cell.source)
        last = code.body.pop().value if isinstance(code.body[-1], ast.Expr) else None
        exec(compile(code, cell.id, "exec"), names)  # noqa: S102
        if last is not None:
            shown[cell.id] = eval(compile(ast.Expression(last), cell.id, "eval"), names)  # noqa: S307
        if "parameters" in cell.metadata.get("tags", []):
            names |= parameters
    return shown


def _compared(
    root: Path, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[pl.DataFrame, str]:
    """Compare by the command and by the notebook; return the frame, and what the notebook shows as text."""
    to = tmp_path / "comparison.json"
    result = CliRunner().invoke(app, ["compare", str(folder), "--to", str(to)])
    assert result.exit_code == 0, result.output
    monkeypatch.chdir(root)
    shown = _shown_by(root / "notebooks" / "03_compare.ipynb", data=[str(folder)])
    kinds = {str(name): type(value) for name, value in shown.items()}
    assert kinds["finding"] is Finding
    assert issubclass(kinds["forest"], alt.TopLevelMixin)
    assert {kind for name, kind in kinds.items() if name.endswith("table")} == {Table}
    for chart in (value for value in shown.values() if isinstance(value, alt.TopLevelMixin)):
        assert chart.to_dict()["description"]
    said = "\n".join(str(shown[name]) for name in ("finding", "comparison-table", "overall-table", "reasons"))
    return pl.read_json(to), said


def _log_files(folder: Path, write: Write, **sides: Sequence[float]) -> Path:
    folder.mkdir()
    for filesystem, rates in sides.items():
        for number, rate in enumerate(rates):
            (folder / f"{filesystem}-{number}.txt").write_text(write(filesystem, rate))
    return folder


@pytest.mark.parametrize(
    ("n_a", "n_b", "method"),
    [
        (1, 1, "none"),
        (1, 2, None),
        (1, 5, "prediction t on logs"),
        (2, 2, "Welch t on logs"),
        (10, 10, "Welch t on logs"),
        (3, 7, "Welch t on logs"),
    ],
)
def test_runs_of_any_number(
    n_a: int,
    n_b: int,
    method: str | None,
    *,
    root: Path,
    tmp_path: Path,
    smallfiles_log: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = _log_files(tmp_path / "logs", smallfiles_log, ext4=A[:n_a], xfs=B[:n_b])
    table, said = _compared(root, tmp_path, folder, monkeypatch)
    row = table.filter(pl.col("metric") == "file_rate").row(0, named=True)
    assert (row["n_baseline"], row["n_candidate"], row["method"]) == (n_a, n_b, method)
    assert (row["ci_low"] is not None) is (min(n_a, n_b) > 1)
    assert ("single run" in said) is (min(n_a, n_b) == 1)


def test_what_a_launch_noted_stands_in_sight_and_only_what_a_launch_noted(
    root: Path, tmp_path: Path, smallfiles_log: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _log_files(tmp_path / "logs", smallfiles_log, ext4=A[:3], xfs=B[:3])
    note = 'Target "btrfs" is not available: the kernel has no <btrfs>. It is left out.'
    (folder / "notes.txt").write_text(f"{note}\n")
    monkeypatch.chdir(root)
    notebook = root / "notebooks" / "03_compare.ipynb"
    assert note not in _shown_by(notebook, data=[str(folder)])["finding"].text
    (folder / "plan.toml").write_text("")
    finding = _shown_by(notebook, data=[str(folder)])["finding"]
    assert note in finding.text
    assert note in finding.unfolded


def test_a_cell_that_one_side_lacks_is_left_out_and_counted(
    root: Path, tmp_path: Path, smallfiles_log: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _log_files(tmp_path / "logs", smallfiles_log, ext4=A[:3], xfs=B[:3])
    (folder / "xfs-8k.txt").write_text(smallfiles_log("xfs", 1000.0).replace("4k", "8k"))
    table, said = _compared(root, tmp_path, folder, monkeypatch)
    assert table["block_size"].unique().to_list() == [4096]
    assert "The groups have different cells; only the cells that both have were compared." in said


def test_equal_prints_are_equal_within_their_rounding(
    root: Path, tmp_path: Path, smallfiles_log: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _log_files(tmp_path / "logs", smallfiles_log, ext4=A[:1] * 3, xfs=A[:1] * 3)
    for number, path in enumerate(sorted(folder.iterdir())):  # copies of one file would be one run
        path.write_text(path.read_text() + f"\nrun {number}\n")
    table, said = _compared(root, tmp_path, folder, monkeypatch)
    rate = table.filter(pl.col("metric") == "file_rate")
    # 2000.000 files a second: 1999.9995 to 2000.0005, of either group
    assert rate.select("ratio", "method", "verdict").row(0) == (1.0, "rounding alone", "equivalent")
    assert rate["ci_low"].item() == pytest.approx(1999.9995 / 2000.0005)
    assert "xfs and ext4 are equal within 5\\xa0% in 3 effects" in said


def test_a_zero_has_no_ratio(
    root: Path, tmp_path: Path, smallfiles_log: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _log_files(tmp_path / "logs", smallfiles_log, ext4=A[:3], xfs=B[:2])
    zero = smallfiles_log("xfs", 1000.0).replace("1000.000/sec, write/1.000", "0.000/sec, write/0.000")
    (folder / "xfs-zero.txt").write_text(zero)
    table, said = _compared(root, tmp_path, folder, monkeypatch)
    rate = table.filter(pl.col("metric") == "file_rate").row(0, named=True)
    assert (rate["ratio"], rate["verdict"], rate["reasons"]) == (None, "not comparable", ["ZERO_OR_FAILED"])
    assert "A group has a figure of zero, or none at all." in said


def test_a_phase_that_was_too_short_is_a_bound(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = (root / "tests" / "data" / "bonnie" / "2.00a-report.txt").read_text()
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "ext4.txt").write_text(report)  # more than 100,000 seeks a second, which it does not print
    (folder / "xfs.txt").write_text(
        report.replace("311m  49 +++++ +++", "311m  49 212.5   4").rpartition("1.98,")[0]
    )
    tables = (
        f'[[log]]\nfile = "{name}.txt"\ntool = "bonnie++"\nfilesystem = "{name}"\n' for name in ("ext4", "xfs")
    )
    (folder / "study.toml").write_text('[study]\nid = "short"\ntitle = "Short"\n' + "".join(tables))
    table, said = _compared(root, tmp_path, folder, monkeypatch)
    seeks = table.filter(operation="seek").row(0, named=True)
    assert (seeks["ratio"], seeks["verdict"], seeks["reasons"]) == (None, "bound only", ["CENSORED"])
    assert "only a bound in" in said


@pytest.mark.parametrize(
    "study", ["fileserver-debian-2006", "fio-nvme-2021", "iozone-ssd-2015", "raid1-hdd-2020", "sysbench-rhel72"]
)
def test_published_studies(
    study: str, root: Path, tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, said = _compared(root, tmp_path, published / study, monkeypatch)
    assert table["ci_low"].null_count() == table.height
    assert set(table["verdict"]) <= {"single runs", "not comparable", "bound only", "inconclusive"}
    assert "A group has a single run" in said or "Each figure is the mean of" in said


def test_the_recorded_study(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = _compared(root, tmp_path, root / "raw_results" / "recorded" / "ext4-xfs-loop-2026", monkeypatch)
    assert table["ci_low"].null_count() == 0
    assert (
        table.select((pl.col("ci_low") < pl.col("ratio")) & (pl.col("ratio") < pl.col("ci_high")))
        .to_series()
        .all()
    )
    assert set(table["n_pairs"]) == {10}
