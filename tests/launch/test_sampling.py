"""What the machine does during a run is sampled beside it, read back as series, and drawn."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.analysis.time_series import time_series
from fsbench_kit.launch import launch
from fsbench_kit.launch.environment import Device
from fsbench_kit.launch.sampling import sampled

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Plan

MIB = 2**20


@pytest.mark.slow
def test_machine_is_sampled_beside_a_run_also_where_its_tool_is_killed(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    work = "dd if=/dev/urandom of=f bs=1M count=8 conv=fsync; sleep 2"
    tools = [
        {"tool": "command", "name": name, "command": ["sh", "-c", f"{work}; {end}"]}
        for name, end in (("whole", "true"), ("killed", "kill -9 $$"))
    ]
    result = launch(make_plan(workload=tools, repeats=1), root=tmp_path)
    assert len(result.failures) == 1
    data = fsb.read(result.folder)
    assert data.diagnostics.filter(severity="error").is_empty()
    for run in result.runs:
        record = json.loads((run / "run.json").read_text(encoding="utf-8"))
        cost = record["environment"]["after"]["sampling"]
        assert 3 <= cost["samples"] <= record["duration"] + 3
        assert 0 < cost["processor_seconds"] < 0.01 * record["duration"]
        lines = (run / "samples.csv").read_text(encoding="ascii").splitlines()
        assert len(lines) == cost["samples"] + 1
    run_id = data.runs.row(by_predicate=pl.col("workload") == "whole", named=True)["run_id"]
    own = data.series.filter(run_id=run_id)
    assert own.filter(metric="cpu_busy")["value"].is_between(0, 1).all()
    disks = own.filter(metric="device_bandwidth", operation="write")
    if not disks.is_empty():
        spans = disks.sort("time").with_columns(pl.col("time").diff().fill_null(pl.col("time")).over("part"))
        moved = spans.group_by("part").agg((pl.col("time") * pl.col("value")).sum())
        assert max(moved["time"]) >= 8 * MIB
    over_time = time_series(data, metric="memory_dirty")
    assert over_time.runs["level"].to_list() == data.runs.filter(status="ok")["filesystem"].to_list()
    (title, *_) = fsb.charts.over_time(over_time).title.text
    assert title.startswith("Memory dirty over time: ")
    assert time_series(data).runs.is_empty()  # what the machine did is no figure of the tool


def test_device_that_vanishes_leaves_the_rest(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("1 0 8 0 2 0 16 0 0 250 0\n", encoding="ascii")
    with sampled([Device("sdz", tmp_path, None), Device("sdy", tmp_path / "gone", None)], tmp_path):
        time.sleep(0.05)
        (tmp_path / "stat").write_text("", encoding="ascii")
    head, first, last = ((line.split(",")) for line in (tmp_path / "samples.csv").read_text().splitlines())
    assert [name for name in head if name.startswith("device.")] == head[-5:]
    assert first[-5:] == ["1", "4096", "2", "8192", "0.25"]
    assert last[-5:] == [""] * 5
    assert float(last[1]) >= float(first[1])
