"""Benchmarks: their inputs, how they measure memory, their history, and a large dataset that is made and asked."""

import json
import mmap
import os
import random
import re
from pathlib import Path

import numpy as np
import papermill
import polars as pl
import pytest

import fsbench_kit as fsb
from benchmarks import bench, scan
from benchmarks.bench import Peak
from benchmarks.fio_json import another_document
from benchmarks.inputs import BONNIE, FIO_TEXT, IOZONE_WITH_CPU, SYSBENCH, json_plus
from benchmarks.rows import ROWS
from benchmarks.runs import another_run


def test_figures_of_another_document_fit_each_other() -> None:
    chance = np.random.default_rng(1)
    first, second = (fsb.read_text(another_document(json_plus(2), chance)) for _ in range(2))
    for data in (first, second):
        assert data.diagnostics.is_empty()
        assert data.distributions.filter(pl.col("count").is_not_null()).height > 500
    bandwidths = [
        data.measurements.filter(metric="bandwidth", statistic="value")["value"] for data in (first, second)
    ]
    assert (bandwidths[0] != bandwidths[1]).all()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_memory_that_a_fork_shares_counts_once() -> None:
    content = b"x" * 64 * 2**20
    ends, end = os.pipe()
    with mmap.mmap(-1, len(content), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        with Peak() as peak:
            memory.write(content)
            if not (child := os.fork()):
                os.close(end)
                os.read(ends, 1)
                os._exit(0)
        os.close(end)
        os.waitpid(child, 0)
    os.close(ends)
    assert len(content) <= peak.bytes < 1.6 * len(content)


def test_the_page_has_the_last_measurement_of_each_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = ROWS[0].name, ROWS[1].name
    here = {"share": 1.0, "machine": "one", "date": "2026-01-01", "commit": "abc"}
    lines = [
        here | {"row": second, "ratio": 1},
        here | {"row": first, "ratio": 2, "commit": "def"},
        here | {"row": second, "ratio": 3, "date": "2026-01-02"},
        here | {"row": second, "ratio": 4, "share": 0.1},
        here | {"row": second, "ratio": 5, "machine": "other"},
        here | {"row": "no longer measured", "ratio": 6},
    ]
    history = tmp_path / "history.jsonl"
    history.write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setattr(bench, "HISTORY", history)
    assert [(item["row"], item["ratio"]) for item in bench.latest(here)] == [(first, 2), (second, 3)]


@pytest.mark.slow
def test_the_history_of_benchmarks_is_drawn(root: Path, tmp_path: Path) -> None:
    row = {"row": "read", "work": "reading", "date": "2026-01-01T00:00:00+00:00", "commit": "abc", "machine": "m"}
    rows = [
        row | {"ratio": 3.5, "ceiling": 2},
        row | {"ratio": 1.5, "ceiling": 2, "date": "2026-01-02T00:00:00+00:00", "work": "reading in columns"},
        row | {"row": "other", "ratio": 1.5, "ceiling": 3},
        row | {"row": "other", "ratio": 1.5, "ceiling": None, "date": "2026-01-02T00:00:00+00:00"},
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


@pytest.mark.parametrize("log", [*SYSBENCH, *BONNIE, *FIO_TEXT, *IOZONE_WITH_CPU], ids=lambda path: path.stem)
def test_logs_of_more_runs_are_as_consistent_as_that_of_one(log: Path, tmp_path: Path) -> None:
    """Their readers' cross-checks know nothing of how these are made."""
    for number in range(8):
        (tmp_path / f"{number}.txt").write_text(another_run(log.read_text(), random.Random(number)))
    one, more = fsb.read(log, cache=False), fsb.read(tmp_path, cache=False)
    assert more.runs.height == 8
    assert more.measurements["text"].n_unique() > one.measurements["text"].n_unique()
    said = {_without_numbers(message) for message in more.diagnostics["message"]}
    assert said <= {_without_numbers(message) for message in one.diagnostics["message"]}


def _without_numbers(message: str) -> str:
    return re.sub(r"[\d.]+", "", message)
