"""Launches on directories, end to end."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from fsbench_kit.formats import smallfiles as log_format
from fsbench_kit.formats.text import Text
from fsbench_kit.launch import Plan, launch, launcher, locks, read_plan, tools
from fsbench_kit.launch.events import Finished, Note, Planned, RunEnded, RunStarted
from fsbench_kit.launch.schedule import schedule
from fsbench_kit.launch.stopping import caution
from fsbench_kit.model.errors import LaunchError, RequestError
from fsbench_kit.model.records import Diagnostic
from fsbench_kit.model.vocabulary import SETTINGS
from tests.launch.traces import assert_whole, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Event

RUNS = Path("raw_results", "runs")

KEYS = [
    "schema",
    "study",
    "stage",
    "round",
    "order",
    "target",
    "workload",
    "tool",
    "filesystem",
    "host",
    "argv",
    "exit_code",
    "status",
    "started_at",
    "ended_at",
    "duration",
    "logs",
    "settings",
    "conditions",
    "environment",
    "provision",
    "preparation",
    "cleanup",
    "sha256",
]


def assert_nothing_else(root: Path, *studies: str) -> None:
    """The project holds the studies, and no scratch folder or anything else."""
    assert {path.name for path in root.iterdir()} - {"programs"} <= {"raw_results"}
    assert {path.name for path in (root / RUNS).iterdir()} == set(studies)


def test_runs_are_made_and_written_down(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    plan = make_plan(
        workload=[
            {"tool": "smallfiles", "name": "small", "files": 20, "size": "4k"},
            {"tool": "smallfiles", "name": "large", "files": 5, "size": "64k"},
        ]
    )
    events: list[Event] = []
    result = launch(plan, root=tmp_path, study="first", progress=events.append)

    assert (result.planned, result.failures, result.notes, result.stopped) == (4, {}, (caution(2),), None)
    assert result.folder == tmp_path / RUNS / "first"
    order = [f"{n:03d}-here-{planned.workload.name}" for n, planned in enumerate(schedule(plan), 1)]
    assert [run.name for run in result.runs] == order
    assert {path.name for path in result.folder.iterdir()} == {"study.toml", "plan.toml", *order}
    assert tomllib.loads((result.folder / "study.toml").read_text()) == {
        "study": {"id": "first", "title": "A test"}
    }
    assert read_plan(result.folder / "plan.toml") == plan
    assert_nothing_else(tmp_path, "first")

    assert [type(event) for event in events] == [Planned, Note, *[RunStarted, RunEnded] * 4, Finished]
    assert [event.remaining is None for event in events if isinstance(event, RunStarted)] == [
        True,
        True,  # nobody knows yet how long the other workload takes
        False,
        False,
    ]


def test_record_of_a_run(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    (run, _) = launch(make_plan(), root=tmp_path, study="first").runs
    found = record(run)
    assert list(found) == KEYS
    assert_whole(run)
    assert found["schema"] == 1
    assert (found["study"], found["round"], found["order"]) == ("first", 1, 1)
    assert (found["target"], found["workload"], found["tool"]) == ("here", "small", "smallfiles")
    assert (found["exit_code"], found["status"], found["logs"]) == (0, "ok", ["stdout.txt"])
    findmnt = ["findmnt", "--noheadings", "--output", "FSTYPE", "--target", str(tmp_path)]
    assert (
        found["filesystem"] == subprocess.run(findmnt, capture_output=True, text=True, check=True).stdout.strip()
    )
    assert found["argv"][2:5] == ["steps", "--beside=beside", "--directory=target"]
    assert found["settings"].keys() <= SETTINGS.keys()
    assert all(isinstance(value, str) for value in found["settings"].values())
    assert found["host"] == os.uname().nodename
    start, end = (datetime.fromisoformat(found[key]) for key in ("started_at", "ended_at"))
    assert start.utcoffset() == end.utcoffset() == timedelta(0)
    assert (end - start).total_seconds() == pytest.approx(found["duration"], abs=0.05)
    for moment in ("before", "after"):
        assert {"load_average", "free_bytes", "devices"} <= found["environment"][moment].keys()
    assert found["environment"]["before"]["caches"] == "kept"
    assert found["provision"] == []
    log = (run / "stdout.txt").read_text()
    assert [r for r in log_format.parse(Text(log)) if isinstance(r, Diagnostic)] == []


def test_targets_get_the_same_work_within_a_round(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    targets = [{"kind": "directory", "name": name, "directory": "."} for name in ("a", "b")]
    result = launch(make_plan(target=targets), root=tmp_path)
    seeds: dict[int, set[str]] = {}
    for found in map(record, result.runs):
        seeds.setdefault(found["round"], set()).add(found["argv"][-1])
    assert {number: len(words) for number, words in seeds.items()} == {1: 1, 2: 1}
    assert seeds[1] != seeds[2]


@pytest.mark.slow
def test_launching_twice_makes_two_studies(
    tmp_path: Path, make_plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(repeats=1)
    names = set()
    for hour in (10, 11):

        class Clock(datetime):
            @classmethod
            def now(cls, tz: Any = None, hour: int = hour) -> Clock:
                return cls(2024, 5, 1, hour, 15, 30, tzinfo=tz)

        monkeypatch.setattr(launcher, "datetime", Clock)
        names.add(launch(plan, root=tmp_path).study)
    assert names == {"test-20240501T101530Z", "test-20240501T111530Z"}
    assert_nothing_else(tmp_path, *names)


def test_existing_study_is_refused_and_stays(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    plan = make_plan(repeats=1)
    (run,) = launch(plan, root=tmp_path, study="first").runs
    before = (run / "run.json").read_bytes()
    with pytest.raises(LaunchError) as raised:
        launch(plan, root=tmp_path, study="first")
    assert str(raised.value).splitlines() == [
        f'{tmp_path / RUNS / "first"}: a study "first" exists already, and raw results are never overwritten',
        "Resume it (--resume), replace it (--replace), or choose another name; "
        "without a name, a study is named by its plan and the time.",
    ]
    assert (run / "run.json").read_bytes() == before
    assert_nothing_else(tmp_path, "first")


@pytest.mark.slow
def test_replacing_a_study(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    launch(make_plan(repeats=2), root=tmp_path, study="first")
    result = launch(make_plan(repeats=1), root=tmp_path, study="first", replace=True)
    assert [path.name for path in result.folder.glob("0*")] == ["001-here-small"]
    assert_nothing_else(tmp_path, "first")


def test_replacing_what_no_launch_has_made(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    precious = tmp_path / RUNS / "first" / "precious.txt"
    precious.parent.mkdir(parents=True)
    precious.write_text("x")
    with pytest.raises(LaunchError, match="cannot replace this: it was not made by a launch"):
        launch(make_plan(), root=tmp_path, study="first", replace=True)
    assert precious.exists()


def test_replaced_study_comes_back_if_no_run_is_made(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    (run,) = launch(make_plan(repeats=1), root=tmp_path, study="first").runs
    before = (run / "run.json").read_bytes()

    def interrupt(event: Event) -> None:
        if isinstance(event, RunStarted):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        launch(
            make_plan(workload=[{"tool": "smallfiles", "name": "long", "files": 10**5, "size": 1}]),
            root=tmp_path,
            study="first",
            replace=True,
            progress=interrupt,
        )
    assert (run / "run.json").read_bytes() == before
    assert_nothing_else(tmp_path, "first")


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", ".hidden", "two words", "ümlaut"])
def test_study_name_leads_nowhere_else(tmp_path: Path, make_plan: Callable[..., Plan], name: str) -> None:
    with pytest.raises(RequestError, match=re.escape(f'"{name}" cannot be the name of a study')):
        launch(make_plan(), root=tmp_path, study=name)
    assert list(tmp_path.iterdir()) == []


def test_root_has_to_be_there(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    with pytest.raises(RequestError, match="absent: this is not a directory"):
        launch(make_plan(), root=tmp_path / "absent")


def test_results_that_cannot_be_written(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    (tmp_path / "raw_results").write_text("a file")
    with pytest.raises(LaunchError, match="runs: cannot create the folder for results: Not a directory"):
        launch(make_plan(), root=tmp_path)


# ---- tools that misbehave


@pytest.fixture
def both(make_plan: Callable[..., Plan], fio: dict[str, object]) -> Plan:
    """fio and smallfiles, once each."""
    small = {"tool": "smallfiles", "name": "small", "files": 5, "size": "4k"}
    return make_plan(workload=[fio, small], repeats=1)


def outcomes(runs: tuple[Path, ...]) -> dict[str, tuple[str, int | None, list[str], str | None]]:
    found = map(record, runs)
    return {
        r["tool"]: (r["status"], r["exit_code"], r["logs"], r["environment"]["after"].get("failure"))
        for r in found
    }


SMALL = ("ok", 0, ["stdout.txt"], None)


def test_tool_that_fails(tmp_path: Path, both: Plan, fake_fio: Callable[[str], Path]) -> None:
    fake_fio("echo 'fio: the engine is unknown' >&2; exit 3")
    result = launch(both, root=tmp_path)
    failure = "fio ended with exit code 3: fio: the engine is unknown"
    assert outcomes(result.runs) == {"smallfiles": SMALL, "fio": ("failed", 3, [], failure)}
    ((run, said),) = result.failures.items()
    assert said == failure
    assert (run / "stderr.txt").read_text() == "fio: the engine is unknown\n"
    assert_whole(run)


def test_tool_that_is_killed(tmp_path: Path, both: Plan, fake_fio: Callable[[str], Path]) -> None:
    fake_fio("kill -SEGV $$")
    result = launch(both, root=tmp_path)
    assert outcomes(result.runs)["fio"] == ("failed", -11, [], "fio was killed by SIGSEGV")


def test_tool_without_a_log(tmp_path: Path, both: Plan, fake_fio: Callable[[str], Path]) -> None:
    fake_fio("exit 0")
    result = launch(both, root=tmp_path)
    assert outcomes(result.runs)["fio"] == ("failed", 0, [], "fio left no log")


@pytest.fixture
def no_fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide fio, and leave what launches need themselves."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in (*tools.SYSTEM_PROGRAMS, "true"):
        found = tools.find_program(name)
        if found is not None:
            (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))
    if tools.find_program("fio") is not None:
        pytest.skip("fio lies beside mkfs here, and cannot be hidden")


@pytest.mark.usefixtures("no_fio")
def test_tool_that_is_missing(tmp_path: Path, both: Plan) -> None:
    result = launch(both, root=tmp_path)
    failure = "fio is not installed (Debian: fio)"
    assert outcomes(result.runs) == {"smallfiles": SMALL, "fio": ("failed", None, [], failure)}


class Leftovers:
    """Counts the processes with a word in their command line whenever a run has ended."""

    def __init__(self, word: str) -> None:
        self.word = word.encode()
        self.seen: list[int] = []

    def look(self, event: Event) -> None:
        if isinstance(event, RunEnded):
            self.seen.append(sum(map(self.is_one, Path("/proc").glob("[0-9]*/cmdline"))))

    def is_one(self, command: Path) -> bool:
        with suppress(OSError):
            return self.word in command.read_bytes()
        return False


@pytest.mark.slow
def test_tool_that_hangs_is_ended_with_all_its_processes(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    nap = f"600.{os.getpid()}"
    # One process that does not listen to SIGTERM, and one in the background.
    fake_fio(f"trap '' TERM; sleep {nap} & sleep {nap}; sleep {nap}")
    left = Leftovers(nap)
    result = launch(make_plan(workload=[fio], repeats=1, timeout=0.5), root=tmp_path, progress=left.look)
    failure = "fio did not finish within 0.5 s and was killed"
    assert outcomes(result.runs) == {"fio": ("failed", None, [], failure)}
    assert left.seen == [0]


def test_what_a_tool_leaves_running_is_ended(tmp_path: Path, both: Plan, fake_fio: Callable[[str], Path]) -> None:
    nap = f"601.{os.getpid()}"
    fake_fio(f"report; sleep {nap} & exit 0")
    left = Leftovers(nap)
    result = launch(both, root=tmp_path, progress=left.look)
    assert result.failures == {}
    assert left.seen == [0, 0]


# ---- what this machine lacks


@pytest.mark.usefixtures("no_fio")
def test_optional_workload_is_left_out_with_a_note(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object]
) -> None:
    small = {"tool": "smallfiles", "name": "small", "files": 5, "size": "4k"}
    sizes = {"large_file": "1M", "files": 1, "directories": 1, "smallest": "1k", "largest": "1k"}
    tree = {"tool": "filetree", "name": "tree", "optional": True, **sizes}
    result = launch(make_plan(workload=[{**fio, "optional": True}, tree, small], repeats=1), root=tmp_path)
    assert [record(run)["tool"] for run in result.runs] == ["smallfiles"]
    assert result.notes[1:] == (
        'Workload "random" is left out: fio is not installed (Debian: fio).',
        'Workload "tree" is left out: cp, find, ls, rm, sync are not installed (Debian: coreutils, findutils).',
        'Workload "small": cc is not installed (Debian: gcc, libc6-dev), so its loops run in Python, '
        "which adds about 3 µs per file.",
    )
    assert "[[workload]]\nname" in (result.folder / "plan.toml").read_text()
    assert "fio" not in (result.folder / "plan.toml").read_text()


@pytest.mark.usefixtures("no_fio")
def test_nothing_left_to_run(tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object]) -> None:
    with pytest.raises(LaunchError, match="no workload is left"):
        launch(make_plan(workload=[{**fio, "optional": True}]), root=tmp_path)
    assert_nothing_else(tmp_path)


IMAGE = {"kind": "loop", "name": "image", "filesystem": "xfs", "size": "512M"}
HERE = {"kind": "directory", "name": "here", "directory": "."}


@pytest.fixture
def no_mounts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "isolation_problem", lambda: "this needs root")


@pytest.mark.usefixtures("no_mounts")
def test_other_targets_stand_in(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    result = launch(make_plan(target=[IMAGE], otherwise=[HERE], repeats=1), root=tmp_path)
    assert [record(run)["target"] for run in result.runs] == ["here"]
    assert result.notes[1:] == (
        'Target "image" is not available: it needs a mount namespace of its own: this needs root.',
        'The targets under [[otherwise]] replace all others: "here".',
    )
    assert read_plan(result.folder / "plan.toml").target[0].name == "here"


@pytest.mark.usefixtures("no_mounts")
def test_nothing_stands_in(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    with pytest.raises(LaunchError) as raised:
        launch(make_plan(target=[IMAGE]), root=tmp_path)
    assert str(raised.value).splitlines() == [
        'Target "image" is not available: it needs a mount namespace of its own: this needs root.',
        "Fix it, or change the plan: optional = true leaves such a target out, and targets under "
        '[[otherwise]] replace all others. Without root, measure in directories: kind = "directory".',
    ]
    assert_nothing_else(tmp_path)


def test_directory_that_is_not_there(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    absent = {"kind": "directory", "name": "away", "directory": "absent"}
    with pytest.raises(LaunchError, match=r'Target "away" is not available: .*/absent is not a directory'):
        launch(make_plan(target=[absent]), root=tmp_path)


def test_distinct_target_on_the_same_filesystem_is_left_out_and_that_is_told(
    tmp_path: Path, make_plan: Callable[..., Plan]
) -> None:
    (tmp_path / "raw_results").mkdir()
    again = {"kind": "directory", "name": "again", "directory": "raw_results", "distinct": True}
    events: list[Event] = []
    result = launch(make_plan(target=[HERE, again], repeats=1), root=tmp_path, progress=events.append)
    assert [record(run)["target"] for run in result.runs] == ["here"]
    assert result.notes[1:] == ('Target "again" is left out: an earlier target is on the same filesystem.',)
    assert tuple(event.text for event in events if isinstance(event, Note)) == result.notes


def test_distinct_target_on_another_filesystem_is_kept(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second filesystem to write to")
    directory = memory / tmp_path.name
    directory.mkdir()
    try:
        other = {"kind": "directory", "name": "memory", "directory": str(directory), "distinct": True}
        result = launch(make_plan(target=[HERE, other], repeats=1), root=tmp_path)
        assert list(directory.iterdir()) == []
    finally:
        shutil.rmtree(directory)
    found = {record(run)["target"]: record(run) for run in result.runs}
    assert found.keys() == {"here", "memory"}
    assert found["memory"]["filesystem"] == "tmpfs"
    assert "device" not in found["memory"]["settings"]


def test_too_little_space(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    huge = {"tool": "smallfiles", "name": "huge", "files": 10**6, "size": "1G"}
    plan = make_plan(workload=[huge], budget={"seconds": 10, "bytes": "99999T"})
    with pytest.raises(LaunchError, match=r'target "here" needs .* TiB?; .* is free|target "here" needs .*PiB'):
        launch(plan, root=tmp_path)
    assert_nothing_else(tmp_path)


# ---- when it ends


def test_budget_of_time(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    fake_fio("sleep 0.5; report")
    result = launch(make_plan(workload=[fio], repeats=5, budget={"seconds": 0.2, "bytes": "1G"}), root=tmp_path)
    assert (len(result.runs), result.planned) == (1, 5)
    assert result.stopped == "The budget of 0.2 s was used up after 1 run."


def test_budget_of_bytes(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    # The plan cannot know what a load that is limited in time will write.
    fake_fio('dd if=/dev/zero of="${2#--directory=}/file" bs=1M count=3 2>/dev/null; report')
    plan = make_plan(workload=[{**fio, "runtime": 1}], repeats=5, budget={"seconds": 100, "bytes": "5M"})
    result = launch(plan, root=tmp_path)
    assert len(result.runs) == 2
    assert result.stopped == "The budget of 5 MiB written was used up after 2 runs."


def test_two_launches_at_once(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    fake_fio(f"until [ -e {tmp_path}/programs/done ]; do sleep 0.1; done; report")
    refusals = []
    elsewhere = tmp_path / "programs" / "elsewhere"
    elsewhere.mkdir()

    def start_another(event: Event) -> None:
        if isinstance(event, RunStarted):
            with pytest.raises(LaunchError) as raised:
                launch(make_plan(), root=elsewhere, study="second")
            refusals.append(str(raised.value))
            (tmp_path / "programs" / "done").touch()

    launch(make_plan(workload=[fio], repeats=1), root=tmp_path, study="first", progress=start_another)
    (devices,) = {locks.device_names(tmp_path)}
    owner = f"process {os.getpid()} of {psutil.Process().username()}: {shlex.join(sys.orig_argv)}"
    assert refusals == [
        f"another launch is using {min(devices)} ({owner})\nWait until it has finished, or end that process."
    ]
    assert_nothing_else(tmp_path, "first")


def test_launch_that_may_wait_takes_its_turn(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    fake_fio(f"until [ -e {tmp_path}/programs/done ]; do sleep 0.1; done; report")
    elsewhere = tmp_path / "programs" / "elsewhere"
    elsewhere.mkdir()
    notes, second = [], []

    def let_go(event: Event) -> None:
        if isinstance(event, Note) and event.text.startswith("Waiting: "):
            notes.append(event.text)
            (tmp_path / "programs" / "done").touch()

    def start_another(event: Event) -> None:
        if isinstance(event, RunStarted):
            second.append(launch(make_plan(), root=elsewhere, study="second", wait=60, progress=let_go))

    launch(make_plan(workload=[fio], repeats=1), root=tmp_path, study="first", progress=start_another)
    (note,) = notes
    assert note.startswith("Waiting: another launch is using ")
    assert second[0].failures == {}
    assert len(second[0].runs) == 2


def test_error_of_the_callback_ends_the_launch(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    def fail(event: Event) -> None:
        if isinstance(event, RunEnded):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        launch(make_plan(repeats=50), root=tmp_path, study="first", progress=fail)
    made = sorted((tmp_path / RUNS / "first").glob("0*"))
    assert 1 <= len(made) < 50
    for run in made:
        assert_whole(run)
    assert_nothing_else(tmp_path, "first")


UNPRIVILEGED = """
import sys
from pathlib import Path
from fsbench_kit.launch import launch, read_plan, tools
assert not tools.is_administrator()
result = launch(read_plan(Path(sys.argv[1])), root=Path(sys.argv[2]), study="first")
assert not result.failures, result.failures
"""


def test_bundled_first_steps_need_no_privileges(tmp_path: Path) -> None:
    plan = Path(__file__).parents[2] / "plans" / "first-steps.toml"
    text = plan.read_text(encoding="utf-8")
    # Not the machine's own temporary directory, and not its caches: others use them.
    for theirs, mine in (
        ("repeats = 6", "repeats = 1\ndrop_caches = false"),
        ('directory = "/tmp"', f'directory = "{tmp_path}"'),
    ):
        assert theirs in text
        text = text.replace(theirs, mine)
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    drop = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if tools.is_administrator() else ()
    command = [*drop, sys.executable, "-c", UNPRIVILEGED, tmp_path / "plan.toml", tmp_path]
    subprocess.run(command, check=True, timeout=60)
    (run,) = (tmp_path / RUNS / "first").glob("0*")
    assert record(run)["status"] == "ok"
    assert_whole(run)


# ---- order


def test_warm_up_comes_first_and_counts_as_no_round(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    events: list[Event] = []
    result = launch(make_plan(warm_up=2, repeats=1), root=tmp_path, progress=events.append)
    found = [record(run) for run in result.runs]
    assert [(run["stage"], run["round"]) for run in found] == [("warm-up", None)] * 2 + [("measured", 1)]
    assert [event.stage for event in events if isinstance(event, RunStarted)] == ["warm-up"] * 2 + ["measured"]
    seeds = [next(word for word in run["argv"] if word.startswith("--seed=")) for run in found]
    assert len(set(seeds)) == 3


@pytest.mark.slow
def test_preconditioning_is_done_once_on_each_target(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    fill = [
        {"tool": "smallfiles", "name": name, "files": files, "size": "64k"} for name, files in (("a", 4), ("b", 2))
    ]
    there = {**HERE, "name": "there"}
    plan = make_plan(target=[HERE, there], precondition=fill, warm_up=1, repeats=1)
    found = [record(run) for run in launch(plan, root=tmp_path).runs]
    assert [(run["stage"], run["target"], run["workload"], run["round"]) for run in found[:4]] == [
        ("precondition", "here", "a", None),
        ("precondition", "here", "b", None),
        ("precondition", "there", "a", None),
        ("precondition", "there", "b", None),
    ]
    assert [run["stage"] for run in found[4:]] == ["warm-up"] * 2 + ["measured"] * 2


def test_runs_rest_in_between(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    runs = [record(run) for run in launch(make_plan(cool_down=0.3), root=tmp_path).runs]
    gap = datetime.fromisoformat(runs[1]["started_at"]) - datetime.fromisoformat(runs[0]["ended_at"])
    assert gap >= timedelta(seconds=0.3)


def test_reused_directory_is_empty_for_each_run(
    tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    fake_fio('ls -A "${2#--directory=}" >&2; touch "${2#--directory=}/left"; report')
    result = launch(make_plan(workload=[fio], repeats=2, filesystems="reused"), root=tmp_path)
    assert [(run / "stderr.txt").read_text() for run in result.runs] == ["", ""]
    assert_nothing_else(tmp_path, result.study)


def test_trim_that_is_not_possible_is_no_failure(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        pytest.skip("there is no filesystem in memory, which cannot be trimmed")
    directory = memory / tmp_path.name
    directory.mkdir()
    try:
        there = {**HERE, "directory": str(directory)}
        result = launch(make_plan(target=[there], repeats=1, trim=True), root=tmp_path)
    finally:
        shutil.rmtree(directory)
    (run,) = result.runs
    assert record(run)["status"] == "ok"
    assert record(run)["environment"]["before"]["trim"].startswith("not trimmed: ")
