"""The file server's tasks: what is copied, what is counted, and the one log of the workload and its target."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import zlib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import launch, read_plan, tools
from fsbench_kit.launch.targets import Step
from fsbench_kit.launch.targets.steps import run_step
from fsbench_kit.launch.workloads import RunContext
from fsbench_kit.launch.workloads.filetree import Filetree
from fsbench_kit.launch.workloads.filetree import __main__ as program
from fsbench_kit.model.errors import InputError
from tests.launch.machine import busy_with_others

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Plan

TABLE = {
    "tool": "filetree",
    "large_file": 300_000,
    "files": 40,
    "directories": 7,
    "smallest": 100,
    "largest": 50_000,
}
OWN_TASKS = [
    "copy_large_file",
    "recopy_large_file",
    "remove_large_files",
    "copy_tree",
    "recopy_tree",
    "list_tree",
    "find_in_tree",
    "remove_trees",
]


def made(folder: Path, **changes: int) -> dict[str, bytes]:
    """Make what is copied, and return its files by their paths."""
    folder.mkdir()
    workload = Filetree(name="tree", **{**TABLE, **changes})
    context = RunContext(directory=folder, beside=folder, filesystem="xfs", seed=changes.pop("seed", 1))
    (source,) = workload.work(context).before
    assert program.main(source[2:]) == 0
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- what is copied


def test_source_has_the_shape_that_was_asked_for(tmp_path: Path) -> None:
    files = made(tmp_path / "source")
    assert len(files.pop("large")) == 300_000
    assert len(files) == 40
    assert len([path for path in (tmp_path / "source").rglob("*") if path.is_dir()]) == 7
    lengths = sorted(map(len, files.values()))
    # log-uniform between 100 and 50,000: each factor of 500 ** (1/4) has a quarter of the files
    quarters = [100 * 500 ** (number / 4) for number in range(5)]
    counts = [sum(low <= length < high for length in lengths) for low, high in pairwise(quarters)]
    assert counts == [10, 10, 10, 10]
    workload = Filetree(name="tree", **TABLE)
    assert workload.least_written == 2 * (300_000 + sum(lengths))
    blocks = sum(-(-length // 4096) * 4096 for length in lengths)
    assert 2 * blocks <= workload.space
    assert workload.space >= 600_000


def test_source_depends_on_the_seed_alone(tmp_path: Path) -> None:
    workload = Filetree(name="tree", **TABLE)
    found = []
    for number, seed in enumerate((7, 7, 8)):
        folder = tmp_path / str(number)
        folder.mkdir()
        context = RunContext(directory=folder, beside=folder, filesystem=None, seed=seed)
        program.main(workload.work(context).before[0][2:])
        found.append({str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()})
    assert found[0] == found[1]
    assert found[0] != found[2]
    assert sorted(map(len, found[0].values())) == sorted(map(len, found[2].values()))


@pytest.mark.parametrize("percent", [0, 40])
def test_source_can_be_compressed_by_its_share(tmp_path: Path, percent: int) -> None:
    large = made(tmp_path / "source", compressibility=percent, large_file=3_000_000)["large"]
    assert len(zlib.compress(large)) / len(large) == pytest.approx(1 - percent / 100, abs=0.02)
    blocks = [large[start : start + 4096] for start in range(0, len(large), 4096)]
    assert len(set(blocks)) == len(blocks)


# ---- what is counted


def test_a_task_counts_what_its_process_used() -> None:
    busy = program.timed([sys.executable, "-S", "-c", "sum(range(3 * 10**6)); x = bytearray(3 * 2**24)"])
    idle = program.timed(["sleep", "0.2"])
    assert busy.cpu > 5 * idle.cpu
    # 48 MiB in pages of 4 KiB, or in a few huge ones; and more of all than sleep needs
    assert busy.minor_faults > idle.minor_faults > 0
    assert idle.elapsed >= 0.2
    usage = program.Usage(elapsed=0.25, cpu=0.002, minor_faults=77, major_faults=0)
    assert "find_in_tree,xfs,cpu,0.80,,,percent," in usage.rows("find_in_tree", "xfs")


def as_step(command: list[str]) -> Step:
    """Run a command as a target's step."""
    steps: list[Step] = []
    run_step(steps, Path("/"), *command)
    return steps[0]


@pytest.mark.skipif(not Path("/usr/bin/time").exists(), reason="needs GNU time")
@pytest.mark.parametrize("timed", [program.timed, as_step])
def test_page_faults_are_those_of_gnu_time(timed: Callable[[list[str]], Step | program.Usage]) -> None:
    command = ["ls", "-lR", str(Path(program.__file__).parents[3])]
    counted = sorted(timed(command).minor_faults for _ in range(5))[2]
    said = subprocess.run(
        ["/usr/bin/time", "-f", "%R", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    # GNU time's own fork copies some pages; the rest varies with where the loader puts things.
    assert counted == pytest.approx(int(said.stderr), abs=60)


def test_task_that_fails_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OSError, match=r"rm /nonexistent/file ended with 1"):
        program.timed(["rm", "/nonexistent/file"])
    assert "No such file" in capfd.readouterr().err


# ---- its log


def rows(run: Path) -> list[dict[str, str]]:
    lines = [line for line in (run / "filetree.csv").read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def check_log(run: Path, tasks: list[str]) -> None:
    """Hold what is read against the rows, and against what was copied."""
    data = fsb.read(run)
    assert data.runs.select("tool", "status").rows() == [("filetree", "ok")]
    said = set(data.diagnostics.filter(pl.col("severity") != "note")["code"])
    others = busy_with_others(json.loads((run / "run.json").read_text(encoding="utf-8")))
    assert others <= said <= others | {"DEVICE_SHARED"}  # which others may do in the course of the run as well
    elapsed = data.measurements.filter(metric="elapsed")
    assert [task for task in elapsed["operation"] if not task.endswith("_sync")] == tasks
    written = {row["task"]: float(row["value"]) for row in rows(run) if row["metric"] == "elapsed"}
    assert dict(elapsed.select("operation", "value").rows()) == pytest.approx(written)
    assert all(value > 0 for value in written.values())
    for metric in ("cpu", "minor_faults", "major_faults"):
        assert data.measurements.filter(metric=metric)["operation"].to_list() == elapsed["operation"].to_list()
    known = dict(data.settings.select("key", "value").rows())
    assert known["files"] == "40"
    assert known["compressibility"] == "0.0"
    assert known["filetree.large_file"] == "300000"
    assert int(known["total_size"]) == Filetree(name="tree", **TABLE).least_written // 2


def test_directory_has_eight_tasks(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    result = launch(make_plan(workload=[TABLE], repeats=1), root=tmp_path)
    assert result.failures == {}
    (run,) = result.runs
    check_log(run, OWN_TASKS)
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert record["preparation"][0]["argv"][2] == "source"
    assert record["logs"] == ["filetree.csv"]
    assert {path.name for path in run.iterdir()} == {
        *("run.json", "filetree.csv", "preparation.txt", "samples.csv", "stdout.txt", "stderr.txt")
    }


def test_steps_of_the_target_are_put_where_they_belong(tmp_path: Path) -> None:
    usage = {"output": "", "user": 0.25, "system": 0.5, "minor_faults": 30, "major_faults": 2}
    steps = [
        Step(("fallocate", "image"), elapsed=9.0, **usage),
        Step(("mkfs.xfs", "-f", "image"), elapsed=1.5, **usage),
        Step(("mount", "image", "mount"), elapsed=3.0, **usage),
        Step(("umount", "mount"), elapsed=7.0, **usage),
        Step(("umount", "--lazy", "mount"), elapsed=1.0, **usage),
    ]
    own = "copy_tree,xfs,elapsed,2.000000,,,s,"
    (tmp_path / "stdout.txt").write_text(f"{program.HEADER}\n# files = 40\n{own}\n")
    Filetree(name="tree", **TABLE).complete_log(tmp_path, steps)
    assert (tmp_path / "filetree.csv").read_text().splitlines() == [
        program.HEADER,
        "# files = 40",
        "mkfs,xfs,elapsed,1.500000,,,s,",
        "mkfs,xfs,cpu,50.00,,,percent,",
        "mkfs,xfs,minor_page_faults,30,,,count,",
        "mkfs,xfs,major_page_faults,2,,,count,",
        "mount,xfs,elapsed,3.000000,,,s,",
        "mount,xfs,cpu,25.00,,,percent,",
        "mount,xfs,minor_page_faults,30,,,count,",
        "mount,xfs,major_page_faults,2,,,count,",
        own,
    ]  # of what took two attempts, neither is the task


def with_broken(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put in the place of a program one that fails."""
    folder.mkdir()
    (folder / program).write_text("#!/bin/sh\necho no >&2\nexit 3\n", encoding="ascii")
    (folder / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_run_that_fails_keeps_the_tasks_that_it_finished(
    tmp_path: Path, make_plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_broken("find", tmp_path / "programs", monkeypatch)
    result = launch(make_plan(workload=[TABLE], repeats=1), root=tmp_path)
    ((run, failure),) = result.failures.items()
    assert "find target/tree -name file-0000000 ended with 3" in failure
    data = fsb.read(run)
    assert data.runs["status"].to_list() == ["partial"]
    assert [row["task"] for row in rows(run) if row["metric"] == "elapsed"][::2] == OWN_TASKS[:6]
    found = data.measurements.filter(metric="elapsed")["operation"].to_list()
    assert [task for task in found if not task.endswith("_sync")] == OWN_TASKS[:6]


def test_row_that_was_cut_off_is_no_finished_task(tmp_path: Path) -> None:
    (tmp_path / "stdout.txt").write_text(f"{program.HEADER}\n# files = 40\ncapacity_ini")
    Filetree(name="tree", **TABLE).complete_log(tmp_path, ())
    assert not (tmp_path / "filetree.csv").exists()


def test_run_that_fails_at_once_has_no_log(
    tmp_path: Path, make_plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_broken("sync", tmp_path / "programs", monkeypatch)
    result = launch(make_plan(workload=[TABLE], repeats=1), root=tmp_path)
    (run,) = result.failures
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert (record["status"], record["logs"]) == ("failed", [])


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts and processes of its own")
@pytest.mark.parametrize("filesystem", ["ext4", "xfs", "btrfs"])
def test_image_has_eleven_tasks(tmp_path: Path, make_plan: Callable[..., Plan], filesystem: str) -> None:
    if tools.find_program(f"mkfs.{filesystem}") is None or filesystem not in tools.kernel_filesystems():
        pytest.skip(f"this machine has no {filesystem}")
    target = {"kind": "loop", "name": filesystem, "filesystem": filesystem, "size": "512M"}
    result = launch(make_plan(target=[target], workload=[TABLE], repeats=1), root=tmp_path)
    assert result.failures == {}
    (run,) = result.runs
    check_log(run, ["mkfs", "mount", *OWN_TASKS, "umount"])
    found = {row["task"]: float(row["value"]) for row in rows(run) if row["metric"] == "capacity"}
    # Each of the three keeps a part of 512 MiB for itself, and gets back nearly all that the tasks took.
    assert 40 < found["capacity_initial"] < 100
    assert found["capacity_residual"] == pytest.approx(found["capacity_initial"], abs=3)
    state = json.loads((run / "run.json").read_text())["environment"]["before"]
    assert found["capacity_initial"] == pytest.approx(100 * state["free_bytes"] / 2**29, abs=1)


# ---- mistakes


def test_sizes_the_wrong_way_round(tmp_path: Path) -> None:
    table = {**TABLE, "smallest": "1M", "largest": "10k"}
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    target = '[[target]]\nkind = "directory"\nname = "here"\ndirectory = "."\n'
    path = tmp_path / "plan.toml"
    path.write_text(f'id = "test"\n{target}[[workload]]\n' + "\n".join(lines) + "\n")
    with pytest.raises(InputError, match=re.escape(f'{path}:11: "smallest" is larger than "largest"')):
        read_plan(path)


def test_program_needs_nothing_but_python_and_coreutils(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    context = RunContext(directory=target, beside=source, filesystem=None, device_size=10**9, seed=1)
    work = Filetree(name="tree", **TABLE).work(context)
    for python, *words in (*work.before, work.measured):
        # -I and -S: no packages, not even those that are installed
        done = subprocess.run([python, "-I", "-S", *words], capture_output=True, text=True, check=True)
    assert list(target.iterdir()) == []
    free = os.statvfs(target)
    (share,) = re.findall(r"^capacity_initial,unknown,capacity,([\d.]+),,,percent,$", done.stdout, re.MULTILINE)
    assert float(share) == pytest.approx(free.f_bavail * free.f_frsize / 10**7, rel=0.05)
