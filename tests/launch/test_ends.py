"""However a launch ends, finished runs stay whole, nothing else is left, and it can be resumed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil
import pytest

from fsbench_kit.launch import Plan, execution, launch, resume, tools
from fsbench_kit.launch.execution import LifelineError, execute
from fsbench_kit.launch.plan import plan_text
from fsbench_kit.launch.processes import MARK
from fsbench_kit.launch.study import LaunchedStudy
from fsbench_kit.launch.targets import StepError
from fsbench_kit.launch.targets.steps import Step, run_step
from fsbench_kit.model.errors import LaunchError
from tests.launch.traces import RUNS, assert_no_traces, assert_whole, record, scratch_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ISOLATED = tools.isolation_problem() is None


def assert_nothing_is_left(root: Path) -> None:
    assert_no_traces(root)
    assert scratch_folders(root) == []


# ---- programs


def test_program_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    junk = tmp_path / "junk"
    junk.write_bytes(b"\x7fELF junk")
    junk.chmod(0o755)
    monkeypatch.setattr(execution, "mortality", lambda: ())
    monkeypatch.setenv(MARK, "mine")
    ended = execute([str(junk)], tmp_path, timeout=5)
    assert (ended.exit_code, ended.failure) == (None, f"cannot start {junk}: Exec format error")


def test_tool_that_is_ended_a_moment_before_its_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a queue ends them, and a machine that is shut down: such a run is interrupted, and no failed one."""
    lifeline, held = os.pipe()
    monkeypatch.setattr(execution, "_LIFELINE", lifeline)
    monkeypatch.setenv(MARK, "mine")
    command = ["sh", "-c", "kill -TERM $$"]
    assert execute(command, tmp_path, timeout=5).failure == "sh was killed by SIGTERM"
    ends = threading.Timer(0.1, os.close, [held])
    ends.start()
    with pytest.raises(LifelineError):
        execute(command, tmp_path, timeout=5)
    ends.join()
    os.close(lifeline)


def test_step_whose_program_is_gone(tmp_path: Path) -> None:
    steps: list[Step] = []
    with pytest.raises(StepError):
        run_step(steps, tmp_path, "mkfs.absent", "image")
    assert [step.output for step in steps] == ["cannot be started: No such file or directory"]
    assert not run_step(steps, tmp_path, "mkfs.absent", may_fail=True)


def test_program_that_breaks_between_two_runs(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    fake_fio('report; echo junk > "$0"')
    result = launch(make_plan(workload=[fio], repeats=2), root=tmp_path)
    assert [record(run)["status"] for run in result.runs] == ["ok", "failed"]
    (failure,) = result.failures.values()
    assert failure.startswith("fio ended with exit code 127: ")


# ---- disks


@contextmanager
def memory_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.root
@pytest.mark.skipif(not tools.is_administrator(), reason="only root can mount a small disk")
class TestFullDisk:
    def test_disk_for_the_results(
        self,
        tmp_path: Path,
        make_plan: Callable[..., Plan],
        fio: dict[str, object],
        fake_fio: Callable[[str], Path],
    ) -> None:
        fake_fio("report; head -c 400000 /dev/zero > noise")
        elsewhere = {"kind": "directory", "name": "here", "directory": str(tmp_path)}
        plan = make_plan(target=[elsewhere], workload=[fio], repeats=5)
        with memory_disk(tmp_path / "disk", "2M") as root:
            with pytest.raises(LaunchError) as raised:
                launch(plan, root=root, study="first")
            assert raised.value.what.startswith("the disk for the results is full: ")
            assert str(raised.value.hint).endswith("fsbench launch --resume first")
            made = sorted((root / RUNS / "first").glob("0*"))
            assert 1 <= len(made) < 5
            for run in made:
                assert_whole(run)
            subprocess.run(["mount", "-o", "remount,size=9M", root], check=True)
            result = resume(root=root)
            assert (result.done, len(result.runs), result.failures) == (len(made), 5 - len(made), {})
            assert [path.name for path in (root / RUNS).iterdir()] == ["first"]

    def test_disk_for_the_results_in_the_middle_of_a_run(
        self,
        tmp_path: Path,
        make_plan: Callable[..., Plan],
        fio: dict[str, object],
        fake_fio: Callable[[str], Path],
    ) -> None:
        fake_fio("head -c 9000000 /dev/zero > fio.json; exit 0")
        elsewhere = {"kind": "directory", "name": "here", "directory": str(tmp_path)}
        with memory_disk(tmp_path / "disk", "2M") as root:
            with pytest.raises(LaunchError, match="cannot continue the launch: No space left on device"):
                launch(make_plan(target=[elsewhere], workload=[fio]), root=root, study="first")
            assert list((root / RUNS).iterdir()) == []


IMAGE = {"kind": "loop", "name": "image", "filesystem": "ext4", "size": "64M"}
SMALL = {"tool": "smallfiles", "name": "small", "files": 5, "size": "4k"}


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(not ISOLATED, reason="needs mounts and processes of its own")
class TestTargetThatFails:
    def outcomes(self, plan: Plan, root: Path) -> dict[str, list[str]]:
        result = launch(plan, root=root, study="first")
        assert_nothing_is_left(root)
        found: dict[str, list[str]] = {}
        for run in result.runs:
            assert_whole(run)
            found.setdefault(record(run)["workload"], []).append(record(run)["status"])
        return found

    def test_full_target(
        self,
        tmp_path: Path,
        make_plan: Callable[..., Plan],
        fio: dict[str, object],
        fake_fio: Callable[[str], Path],
    ) -> None:
        fake_fio("dd if=/dev/zero of=target/file bs=1M || exit 1; report")
        plan = make_plan(target=[IMAGE], workload=[fio, SMALL])
        assert self.outcomes(plan, tmp_path) == {"random": ["failed"] * 2, "small": ["ok"] * 2}

    @pytest.mark.parametrize("filesystem", ["ext4", "xfs", "btrfs"])
    def test_device_that_vanishes_in_the_middle_of_a_run(
        self,
        tmp_path: Path,
        make_plan: Callable[..., Plan],
        fio: dict[str, object],
        fake_fio: Callable[[str], Path],
        filesystem: str,
    ) -> None:
        """The loop device is told that its image is empty, so that it has no place to read from and write to."""
        if tools.find_program(f"mkfs.{filesystem}") is None or filesystem not in tools.kernel_filesystems():
            pytest.skip(f"this machine has no {filesystem}")
        fake_fio(
            "device=$(findmnt --noheadings --output SOURCE --target target/)\n"
            "truncate --size 0 $(losetup --noheadings --output BACK-FILE $device) || exit 0\n"
            "losetup --set-capacity $device || exit 0\n"
            "dd if=/dev/urandom of=target/file bs=1M count=20 conv=fsync || exit 5\n"
            "report"
        )
        image = {**IMAGE, "filesystem": filesystem, "size": "512M"}
        plan = make_plan(target=[image], workload=[fio, SMALL])
        assert self.outcomes(plan, tmp_path) == {"random": ["failed"] * 2, "small": ["ok"] * 2}
        failures = [
            record(run)["environment"]["after"].get("failure") for run in (tmp_path / RUNS / "first").glob("0*")
        ]
        assert all(said.startswith("fio ended with exit code 5: ") for said in failures if said)


# ---- kills

DRIVER = """
import sys
from pathlib import Path
from fsbench_kit.launch import launch, read_plan, resume
def tell(event):
    print(type(event).__name__, flush=True)
root, isolated = Path(sys.argv[1]), sys.argv[2]
if isolated != "isolated":
    from fsbench_kit.launch import launcher
    launcher.isolation_problem = lambda: "the test says so"
if (root / "raw_results" / "runs" / "first").exists():
    resume("first", root=root, progress=tell)
else:
    launch(read_plan(root / "plan.toml"), root=root, study="first", progress=tell)
"""

TARGETS = {"isolated": IMAGE, "plain": {"kind": "directory", "name": "here", "directory": "."}}


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["isolated", "plain"])
def test_killed_at_any_moment_a_launch_goes_on(tmp_path: Path, make_plan: Callable[..., Plan], kind: str) -> None:
    if kind == "isolated" and not ISOLATED:
        pytest.skip("needs mounts and processes of its own")
    plan = make_plan(target=[TARGETS[kind]], workload=[SMALL, {**SMALL, "name": "other"}], repeats=4)
    (tmp_path / "plan.toml").write_text(plan_text(plan), encoding="utf-8")
    study = LaunchedStudy(tmp_path / RUNS / "first", plan)
    chance = random.Random(20261121)
    kills, seen = 0, 0
    while len(study.made) < len(study.planned_runs):
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, tmp_path, kind],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert driver.stdout is not None
        for line in driver.stdout:
            if line == "RunStarted\n":
                break
        else:
            assert driver.wait() == 0, driver.communicate()[1]
        if kills < 5:
            time.sleep(chance.uniform(0, 0.4))  # a run takes about as long
            kill_at_once(driver.pid)
            kills += 1
        driver.communicate()
        made = study.made
        for name in made:
            assert_whole(study.folder / name)
        assert len(made) >= seen
        seen = len(made)
    assert kills >= 2
    assert {path.name for path in study.folder.iterdir()} == {"plan.toml", "study.toml", *study.planned_runs}
    assert [record(study.folder / name)["order"] for name in study.made] == list(range(1, 9))
    assert_nothing_is_left(tmp_path)


def is_runner(process: psutil.Process) -> bool:
    try:
        return "fsbench_kit.launch.runner" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # it has ended meanwhile
        return False


def kill_at_once(number: int) -> None:
    """Kill a process and the runner with all that is between them, so that none sees another end."""
    victims = [psutil.Process(number)]
    victims += filter(is_runner, victims[0].children(recursive=True))
    for signal in ("suspend", "kill"):
        for victim in victims:
            try:
                getattr(victim, signal)()
            except psutil.NoSuchProcess:
                continue
