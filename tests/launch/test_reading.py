"""A run is worth what its log shows, whatever its program has said of itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import launch, resume
from fsbench_kit.launch.processes import MARK
from fsbench_kit.launch.progress import describe
from fsbench_kit.model.errors import RequestError
from tests.launch.traces import record

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
        "fio.json: The file contains binary data, not a log.",
    ),
    "prose": ("echo no log at all > fio.json", "failed", "fio.json: No log of bonnie++, "),
    "nothing": ("> fio.json", "failed", "fio left no log"),
    "pipe": ("mkfifo fio.json", "failed", "fio left no log"),
}


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
from pathlib import Path
from fsbench_kit.launch import reading

def read(name, seconds=60, memory=2**30):
    reading.SECONDS, reading.MEMORY = seconds, memory
    print(reader.read(Path.cwd(), [name]).reason)

with reading.LogReader() as reader:
    read("small.txt")
    read("large.txt", memory=2**24)
    read("large.txt", seconds=0.01)
    read("end.txt")
    read("break.txt")
    read("small.txt")
"""
HOSTILE = """
import os
from fsbench_kit.data import reading

read = reading.read
ends = {"end.txt": lambda: os._exit(3), "break.txt": lambda: 1 / 0}
reading.read = lambda name, **options: ends.get(name, lambda: read(name, **options))()
"""


@pytest.mark.slow
def test_no_log_takes_more_than_its_share_of_time_and_memory(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HOSTILE, encoding="ascii")
    (tmp_path / "small.txt").write_text("small", encoding="ascii")
    (tmp_path / "large.txt").write_text("a line of text\n" * 2**22, encoding="ascii")
    with subprocess.Popen(
        [sys.executable, "-c", READER],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.PIPE,  # as long as it is open, the launch is wanted
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stdout is not None
        first, *others, last = reader.stdout.read().splitlines()
    assert first.startswith("small.txt: No log of bonnie++, ")
    assert others == [
        "large.txt takes more than 16 MiB of memory to read",
        "large.txt cannot be read within 0.01 s",
        "end.txt cannot be read: the process that reads it ended (exit code 3)",
        "break.txt cannot be read: ZeroDivisionError: division by zero",
    ]
    assert last == first


DRIVER = """
from pathlib import Path
from fsbench_kit.launch import launch, launcher, read_plan
launcher.isolation_problem = lambda: "the test says so"
launch(read_plan(Path("plan.toml")), root=Path.cwd(), progress=lambda event: print(event, flush=True))
"""
PLAN = """
id = "test"
title = "A run that is read, and one that does not end by itself"
repeats = 2
drop_caches = false
target = [{kind = "directory", directory = "."}]
workload = [{tool = "fio", name = "random", rw = "randwrite", bs = "4k", size = "4M"}]
"""


def test_killed_launch_leaves_nothing_of_what_reads_its_logs(
    tmp_path: Path, fake_fio: Callable[[str], Path]
) -> None:
    fake_fio(f"[ -e {tmp_path}/done ] && exec sleep 100\ntouch {tmp_path}/done\nreport")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "plan.toml").write_text(PLAN, encoding="ascii")
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stdout is not None
        assert any(line.startswith("RunStarted(order=2") for line in driver.stdout)
        processes = psutil.Process(driver.pid).children(recursive=True)
        (reader,) = (process for process in processes if "fsbench_kit.launch.reader" in process.cmdline())
        assert MARK not in reader.environ()
        launch_itself = psutil.Process(driver.pid), reader.parent()
        for process in launch_itself:
            process.suspend()  # so that none can see another end
        for process in launch_itself:
            process.kill()
    _, alive = psutil.wait_procs(processes, timeout=10)
    assert alive == []
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
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
    with pytest.raises(RequestError, match=r"no study is unfinished\nLaunch"):
        resume(root=tmp_path)
    fake_fio("report")
    assert [run.name for run in resume(root=tmp_path, retry_failed=True).runs] == ["001-here-random"]
    with pytest.raises(RequestError, match="no study is unfinished or has failed runs"):
        resume(root=tmp_path, retry_failed=True)
