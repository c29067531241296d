"""What a launch would do is what it does, and saying it does nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fsbench_kit.launch import dry_run, launch, tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Plan

LOOP = {"kind": "loop", "name": "image", "filesystem": "ext4", "size": "512M"}
HERE = {"kind": "directory", "name": "here", "directory": "."}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """All commands that are started from now on."""
    commands = []
    start = subprocess.Popen.__init__

    def record(self: object, args: list[str], *rest: Any, **options: Any) -> None:
        commands.append([str(word) for word in args])
        start(self, args, *rest, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess.Popen, "__init__", record)
    tools._version.cache_clear()
    return commands


def is_query(command: list[str]) -> bool:
    """Whether a command asks for a version, or whether the kernel permits a namespace."""
    return command[1:] in (["--version"], ["-V"], ["-v"], ["-h"]) or command == [*tools.ISOLATION, "true"]


def test_nothing_is_touched(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], started: list[list[str]]
) -> None:
    plan = make_plan(target=[LOOP], otherwise=[HERE], workload=[fio], repeats=1)
    assert dry_run(plan, tmp_path).steps
    assert list(tmp_path.iterdir()) == []
    assert [command for command in started if not is_query(command)] == []


@pytest.mark.slow
def test_commands_are_those_that_are_run(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    fake_fio("report")
    targets = [HERE, {**HERE, "name": "there"}]
    small = {"tool": "smallfiles", "name": "small", "files": 5, "size": "4k"}
    plan = make_plan(target=targets, workload=[fio, small], warm_up=1, repeats=1)
    steps = dry_run(plan, tmp_path).steps
    runs = [json.loads((run / "run.json").read_text()) for run in launch(plan, root=tmp_path).runs]
    assert [step.commands for step in steps] == [
        (*(tuple(command["argv"]) for command in run["preparation"]), ("sync",), tuple(run["argv"]))
        for run in runs
    ]
    assert [step.title for step in steps] == [
        f"run {order}/8, {stage}: {run['workload']} on {run['target']}, in {tmp_path}"
        for order, (stage, run) in enumerate(zip(["warm-up"] * 4 + ["round 1"] * 4, runs, strict=True), 1)
    ]


needs_isolation = pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")


@needs_isolation
@pytest.mark.parametrize("filesystems", ["fresh", "reused"])
def test_image_is_made_for_each_run_or_once(
    tmp_path: Path, make_plan: Callable[..., Plan], filesystems: str
) -> None:
    plan = make_plan(target=[LOOP], repeats=3, filesystems=filesystems, cool_down=2, drop_caches=True, trim=True)
    first, second, third, *end = dry_run(plan, tmp_path).steps
    settling = ["fstrim", "sync", "sh"]
    make, remove = ["fallocate", "mkfs.ext4", "mount", "losetup"], ["umount"]
    words = [[command[0] for command in step.commands if "python" not in command[0]] for step in (first, second)]
    if filesystems == "fresh":
        assert words == [[*make, *settling, *remove], ["sleep", *make, *settling, *remove]]
        assert end == []
    else:
        assert words == [[*make, *settling], ["sleep", *settling]]
        assert [step.commands for step in end] == [(("umount", "mount"),)]
    assert third.title.startswith("run 3/3, round 3: small on image, in ")


def test_estimates_say_what_is_known_and_what_not(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object]
) -> None:
    timed = {**fio, "rw": "randread", "runtime": 7, "time_based": True}
    endless = {**fio, "name": "endless", "runtime": 9}
    small = {"tool": "smallfiles", "name": "small", "files": 100, "size": "1M"}
    targets = [HERE, {**HERE, "name": "there"}]
    plan = make_plan(
        target=targets,
        workload=[timed, small, endless],
        repeats=6,
        cool_down=1,
        timeout=20,
        until="half-width 5 %",
        budget={"seconds": 600, "bytes": "9G"},
    )
    # 36 runs, 12 of them of 7 s, with 35 rests of 1 s; 12 times 4 MiB laid out, and 12 times 100 MiB written twice
    time, written, unknown, runs, budget = dry_run(plan, tmp_path).estimates
    assert time.startswith("Time: at least 119 s, ")
    assert "at most 755 s for the runs, because a timeout ends each." in time
    assert written == "Bytes: at least 2.39 GiB, plus what the filesystems write for themselves."
    assert unknown == 'Bytes of "endless": known only afterwards.'
    assert runs == 'Runs: at least 30 and at most 36, as the rule "half-width 5 %" decides.'
    assert budget == "Budget: no run starts after 600 s or 9 GiB written."


def test_what_is_left_out_is_said(
    tmp_path: Path, make_plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fsbench_kit.launch.dry_runs.isolation_problem", lambda: "this needs root")
    notes = dry_run(make_plan(target=[LOOP], otherwise=[HERE], repeats=10), tmp_path).notes
    assert notes == (
        'Target "image" is not available: it needs a mount namespace of its own: this needs root.',
        'The targets under [[otherwise]] replace all others: "here".',
    )


def test_command_prints_every_command_in_order(tmp_path: Path) -> None:
    plan = (
        '[[target]]\nkind = "directory"\ndirectory = "."\n[[workload]]\ntool = "smallfiles"\nfiles = 5\nsize = 1\n'
    )
    (tmp_path / "plan.toml").write_text(f'id = "short"\n{plan}')
    command = [Path(sys.executable).with_name("fsbench"), "launch", "plan.toml", "--dry-run", "--commands"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    titles = [f"# run {n}/10, round {n}: smallfiles on directory, in {tmp_path}" for n in range(1, 11)]
    assert [line for line in lines if line.startswith("# ")] == titles
    assert sum("--files=5 --size=1 " in line for line in lines) == 10
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]
