"""A run is worth what its log shows, whatever its program has said of itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import launch, resume
from fsbench_kit.launch.progress import describe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Event, Plan

LOGS = {
    "whole": ("report", "ok", None),
    "cut": ("report; truncate --size 3000 fio.json", "partial", "fio.json:121: The document breaks off"),
    "error": (
        'report; sed -i \'s/"error" : 0/"error" : 28/\' fio.json',
        "failed",
        "fio.json:1: The job j ended with error 28.",
    ),
    "garbage": (
        "head -c 5000 /dev/urandom > fio.json",
        "failed",
        "fio.json: The file holds binary data, not a log.",
    ),
    "prose": ("echo no log at all > fio.json", "failed", "fio.json: No log of bonnie++, "),
    "nothing": ("> fio.json", "failed", "fio ended without its log"),
    "pipe": ("mkfifo fio.json", "failed", "fio ended without its log"),
}


def record(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "run.json").read_text(encoding="utf-8"))
    return found


def test_log_decides_what_a_run_is_worth(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    cases = "\n".join(f"--name={name}) {script} ;;" for name, (script, _, _) in LOGS.items())
    fake_fio(f"case $1 in\n{cases}\nesac\nexit 0")
    plan = make_plan(workload=[{**fio, "name": name} for name in LOGS], repeats=1)
    told: list[Event] = []
    result = launch(plan, root=tmp_path, study="first", progress=told.append)
    runs = {record(run)["workload"]: run for run in result.runs}
    for name, (_, status, reason) in LOGS.items():
        run = record(runs[name])
        said = run["environment"]["after"].get("failure")
        assert (run["exit_code"], run["status"]) == (0, status), name
        assert said is None if reason is None else said.startswith(reason), (name, said)
        assert result.failures.get(runs[name]) == said
    lines = [line for event in told if (line := describe(event)) is not None]
    assert any(" failed: fio.json:1: The job j ended with error 28." in line for line in lines)
    assert any(" is partial: fio.json:121: The document breaks off" in line for line in lines)
    # What was recorded is what whoever reads the study finds.
    read = fsb.read(result.folder).runs.select("workload", "status").rows()
    assert set(read) == {("whole", "ok"), ("cut", "partial"), ("error", "failed")}


@pytest.mark.skipif(shutil.which("sysbench") is None, reason="needs sysbench")
def test_reason_that_stands_in_the_log_alone_is_told(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    table = {"tool": "sysbench", "file_test_mode": "seqwr", "file_total_size": "1M", "file_num": 1, "time": 1}
    unaligned = {**table, "file_block_size": 1000, "file_extra_flags": "direct"}
    (failure,) = launch(make_plan(workload=[unaligned], repeats=1), root=tmp_path).failures.values()
    assert failure.startswith("sysbench ended with exit code 1; stdout.txt:")
    assert "sysbench gave up: Failed to write file!" in failure


READER = """
from multiprocessing import get_context
from pathlib import Path
import polars as pl
from fsbench_kit.launch import reading

get_context("forkserver").set_forkserver_preload(["hostile"])
pl.DataFrame({"a": range(100_000)}).group_by("a").len()  # has threads from here on
here = Path.cwd()
print(reading.read_logs(here, ["small.txt"]).reason)
reading.MEMORY = 2**25
print(reading.read_logs(here, ["large.txt"]).reason)
reading.MEMORY, reading.SECONDS = 2**30, 0.01
print(reading.read_logs(here, ["large.txt"]).reason)
reading.SECONDS = 60
print(reading.read_logs(here, ["end.txt"]).reason)
print(reading.read_logs(here, ["break.txt"]).reason)
"""
HOSTILE = """
import os
from fsbench_kit.data import archive

read = archive.read
ends = {"end.txt": lambda: os._exit(3), "break.txt": lambda: 1 / 0}
archive.read = lambda name: ends.get(name, lambda: read(name))()
"""


def test_no_log_takes_more_than_its_share_of_time_and_memory(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE, encoding="ascii")
    (tmp_path / "small.txt").write_text("small", encoding="ascii")
    (tmp_path / "large.txt").write_text("a line of text\n" * 2**22, encoding="ascii")
    with subprocess.Popen(
        [sys.executable, "-c", READER],
        cwd=tmp_path,
        stdin=subprocess.PIPE,  # as long as it is open, the launch is wanted
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stdout is not None
        said = reader.stdout.read().splitlines()
    assert said[0].startswith("small.txt: No log of bonnie++, ")
    assert said[1:] == [
        "large.txt takes more than 32 MiB of memory to read",
        "large.txt cannot be read within 0.01 s",
        "end.txt cannot be read: what reads it was ended (exit code 3)",
        "break.txt cannot be read: ZeroDivisionError: division by zero",
    ]


def test_equal_failures_end_a_launch_that_can_be_gone_on_with(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    fake_fio('case $1 in --name=good) report; exit ;; esac\necho "process $$: no memory" >&2\nexit 1')
    plan = make_plan(workload=[{**fio, "name": "good"}, {**fio, "name": "bad"}], repeats=5)
    result = launch(plan, root=tmp_path, study="first")
    statuses = [record(run)["status"] for run in result.runs if record(run)["workload"] == "bad"]
    assert statuses == ["failed"] * 3
    assert result.stopped is not None
    first, second = result.stopped.splitlines()
    assert first.startswith(
        "3 runs of bad on here in a row failed for the same reason, so the launch was stopped: fio ended with "
        "exit code 1: process "
    )
    assert second == "Fix that, then run: fsbench launch --resume --retry-failed first"
    fake_fio("report")
    again = resume(root=tmp_path, retry_failed=True)
    assert (len(again.runs), again.done, again.failures, again.stopped) == (
        10 - len(result.runs) + 3,
        len(result.runs) - 3,
        {},
        None,
    )


def test_different_failures_end_nothing(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    fake_fio(
        "for word; do case $word in --randseed=*) seed=${word#*=} ;; esac; done\nexit $((seed % 2 * 125 + 1))"
    )
    result = launch(make_plan(workload=[fio], repeats=4), root=tmp_path)
    assert (len(result.runs), len(result.failures), result.stopped) == (4, 4, None)


def test_complete_study_with_failed_runs_is_found_by_itself(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    fake_fio("exit 1")
    launch(make_plan(workload=[fio], repeats=1), root=tmp_path, study="first")
    with pytest.raises(fsb.errors.RequestError, match=r"no study is unfinished\nLaunch"):
        resume(root=tmp_path)
    fake_fio("report")
    assert [run.name for run in resume(root=tmp_path, retry_failed=True).runs] == ["001-here-random"]
    with pytest.raises(fsb.errors.RequestError, match="no study is unfinished or has failed runs"):
        resume(root=tmp_path, retry_failed=True)
