"""The history of the benchmarks is drawn by a notebook, and a large dataset is made and asked."""

import json
from pathlib import Path

import papermill
import pytest

from benchmarks import scan


@pytest.mark.slow
def test_the_history_of_benchmarks_is_drawn(root: Path, tmp_path: Path) -> None:
    row = {"row": "read", "work": "reading", "date": "2026-01-01T00:00:00+00:00", "commit": "abc", "machine": "m"}
    rows = [
        row | {"ratio": 3.5, "ceiling": 2},
        row | {"ratio": 1.5, "ceiling": 2, "date": "2026-01-02T00:00:00+00:00", "work": "reading in columns"},
        row | {"row": "other", "ratio": 1.5, "ceiling": None},
        row | {"row": "absent", "skipped": "not here", "ceiling": 1},
    ]
    (tmp_path / "history.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    done = papermill.execute_notebook(
        root / "benchmarks" / "history.ipynb",
        tmp_path / "out.ipynb",
        parameters={"history": str(tmp_path / "history.jsonl")},
        cwd=root,
        progress_bar=False,
    )
    shown = {cell.id: cell.outputs for cell in done.cells if cell.cell_type == "code"}
    (chart,) = (output.data for output in shown["chart"])
    (drawn,) = chart["application/vnd.vegalite.v5+json"]["datasets"].values()
    assert [(item["work"], item["share of the ceiling"]) for item in drawn] == [
        ("reading in columns", share) for share in (1.75, 0.75)
    ]
    assert "image/png" in chart
    (table,) = (output.data["text/plain"] for output in shown["latest"])
    assert "reading in columns" in table
    assert "✓" in table
    assert "✗" not in table


def test_a_large_dataset_is_made_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "RUNS", 480)
    scan.make(tmp_path / "made", 0.01)
    answer = scan.question(tmp_path / "made")
    assert answer.select("filesystem", "kernel").n_unique() == len(scan.FILESYSTEMS) * len(scan.KERNELS)
    assert answer["value"].is_between(1e-5, 1e-2).all()
