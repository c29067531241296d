"""Going on with a study that was left unfinished."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.launch import Plan, launch, resume
from fsbench_kit.launch.events import Note, Planned, RunEnded, RunStarted
from fsbench_kit.launch.study import find_study
from fsbench_kit.model.errors import InputError, LaunchError, RequestError
from tests.launch.traces import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Event

RUNS = Path("raw_results", "runs")


def runs(root: Path) -> list[str]:
    return sorted(path.parent.name for path in (root / RUNS / "first").glob("*/run.json"))


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory, make_plan: Callable[..., Plan]) -> Path:
    """Return the study that a launch of the small plan has made, for all who would launch the same."""
    return launch(make_plan(), root=tmp_path_factory.mktemp("complete"), study="first").folder


@pytest.fixture
def leave(tmp_path: Path, make_plan: Callable[..., Plan], complete: Path) -> Callable[..., Path]:
    """Return a function that launches a plan, and takes away all runs but some, as if it had been killed."""

    def start(runs: int, **changes: object) -> Path:
        if changes:
            folder = launch(make_plan(**changes), root=tmp_path, study="first").folder
        else:
            folder = shutil.copytree(complete, tmp_path / RUNS / "first")
        for run in sorted(folder.glob("0*"))[runs:]:
            shutil.rmtree(run)
        return folder

    return start


@pytest.mark.slow
def test_missing_runs_are_made_and_no_other(
    tmp_path: Path, make_plan: Callable[..., Plan], leave: Callable[..., Path]
) -> None:
    twice = [{"tool": "smallfiles", "name": name, "files": 5, "size": "4k"} for name in ("a", "b")]
    whole = launch(make_plan(workload=twice), root=tmp_path, study="whole")
    study = leave(2, workload=twice)
    before = {name: (study / name / "run.json").read_bytes() for name in runs(tmp_path)}
    assert list(before) == [run.name for run in whole.runs[:2]]

    events: list[Event] = []
    result = resume(root=tmp_path, progress=events.append)
    assert (result.study, result.planned, result.done, len(result.runs)) == ("first", 4, 2, 2)
    assert runs(tmp_path) == [run.name for run in whole.runs]
    assert {name: (study / name / "run.json").read_bytes() for name in before} == before
    assert [(r["round"], r["order"]) for r in map(record, result.runs)] == [(2, 3), (2, 4)]
    assert events[0] == Planned("first", str(study), runs=4, done=2)
    assert [event.order for event in events if isinstance(event, RunStarted)] == [3, 4]
    assert [event.remaining is None for event in events if isinstance(event, RunStarted)] == [True, True]

    with pytest.raises(RequestError, match="no study is unfinished"):
        resume(root=tmp_path)
    result = resume("first", root=tmp_path)
    assert (result.done, result.runs, result.stopped) == (4, (), None)
    assert "The study is complete: there is nothing to run." in result.notes


def test_changed_machine_is_named(tmp_path: Path, leave: Callable[..., Path]) -> None:
    study = leave(1)
    path = study / "001-here-small" / "run.json"
    old = record(path.parent)
    old["settings"]["kernel"] = "2.6.32"
    path.write_text(json.dumps(old), encoding="utf-8")
    (note,) = (n for n in resume(root=tmp_path).notes if "machine" in n)
    kernel = os.uname().release
    assert note == f"The machine has changed since the last run: kernel was 2.6.32 and is now {kernel}."


@pytest.fixture
def failing(
    leave: Callable[..., Path], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> tuple[Path, Path]:
    """Return a study of two runs whose first has failed, and the program that failed."""
    fake_fio("echo broken >&2; exit 1")
    study = leave(1, workload=[fio])
    return study, fake_fio("report")


def test_failed_runs_stay(tmp_path: Path, failing: tuple[Path, Path]) -> None:
    study, _ = failing
    assert [run.name for run in resume(root=tmp_path).runs] == ["002-here-random"]
    assert record(study / "001-here-random")["status"] == "failed"


def test_failed_runs_are_made_again_when_asked(tmp_path: Path, failing: tuple[Path, Path]) -> None:
    study, _ = failing
    result = resume(root=tmp_path, retry_failed=True)
    assert [run.name for run in result.runs] == ["001-here-random", "002-here-random"]
    assert record(study / "001-here-random")["status"] == "ok"
    assert (study / "001-here-random" / "stderr.txt").read_text() == ""
    assert sorted(path.name for path in study.parent.iterdir()) == ["first"]


def test_more_rounds_may_be_asked_for_later(tmp_path: Path, leave: Callable[..., Path]) -> None:
    plan = leave(1) / "plan.toml"
    plan.write_text(plan.read_text().replace("repeats = 2", "repeats = 3"), encoding="utf-8")
    assert len(resume(root=tmp_path).runs) == 2
    assert runs(tmp_path) == ["001-here-small", "002-here-small", "003-here-small"]


def test_plan_that_does_not_lead_to_the_runs_is_refused(tmp_path: Path, leave: Callable[..., Path]) -> None:
    plan = leave(1) / "plan.toml"
    plan.write_text(plan.read_text().replace('"here"', '"there"'), encoding="utf-8")
    with pytest.raises(LaunchError, match="its plan has no run 001-here-small"):
        resume("first", root=tmp_path)
    assert runs(tmp_path) == ["001-here-small"]


def test_machine_that_lacks_what_the_plan_names(
    tmp_path: Path, leave: Callable[..., Path], fio: dict[str, object], fake_fio: Callable[[str], Path]
) -> None:
    program = fake_fio("report")
    leave(1, workload=[{**fio, "optional": True}, {"tool": "smallfiles", "name": "s", "files": 5, "size": 1}])
    program.unlink()
    os.environ["PATH"] = str(program.parent)  # which fake_fio puts back
    with pytest.raises(LaunchError) as raised:
        resume(root=tmp_path)
    assert raised.value.what.startswith("cannot resume: this machine no longer has all")
    assert 'Workload "random" is left out' in str(raised.value.hint)


def test_record_that_cannot_be_read_is_named(tmp_path: Path, leave: Callable[..., Path]) -> None:
    path = leave(1) / "001-here-small" / "run.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(LaunchError, match=re.escape(f"{path}: cannot read the run's record")):
        resume(root=tmp_path)
    for text in ("[]", "{}"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(LaunchError, match=re.escape(f"{path}: this is not a run's record")):
            resume(root=tmp_path)


# ---- which study


@pytest.fixture
def studies(tmp_path: Path, make_plan: Callable[..., Plan]) -> Path:
    """Return a folder with an unfinished study, a later complete one, and one that is not readable."""
    from fsbench_kit.launch.plan import plan_text

    for time, name in enumerate(("older", "unfinished", "complete", "strange"), 1):
        run = tmp_path / name / "001-here-small"
        run.mkdir(parents=True)
        (run / "run.json").write_text("{}", encoding="utf-8")
        plan = make_plan(repeats=1 if name == "complete" else 2)
        text = "repeats = 'many'" if name == "strange" else plan_text(plan)
        (tmp_path / name / "plan.toml").write_text(text, encoding="utf-8")
        os.utime(tmp_path / name, (time, time))
    (tmp_path / "loose").mkdir()
    return tmp_path


def test_latest_unfinished_study_is_found(studies: Path) -> None:
    assert find_study(studies, None).name == "unfinished"


def test_study_is_found_by_its_name(studies: Path) -> None:
    assert find_study(studies, "complete").name == "complete"
    with pytest.raises(InputError, match=r"plan\.toml:1"):
        find_study(studies, "strange")


@pytest.mark.parametrize("name", ["absent", "loose", ".."])
def test_study_that_is_not_there(studies: Path, name: str) -> None:
    with pytest.raises(RequestError) as raised:
        find_study(studies, name)
    assert raised.value.what == f'there is no launched study "{name}"'
    assert raised.value.hint == "Launched studies: strange, complete, unfinished, older."


def test_no_study_at_all(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="there is no launched study"):
        find_study(tmp_path / "absent", "first")
    with pytest.raises(RequestError, match="no study is unfinished"):
        find_study(tmp_path / "absent", None)


def test_notes_and_runs_are_told(tmp_path: Path, leave: Callable[..., Path]) -> None:
    leave(1)
    events: list[Event] = []
    resume(root=tmp_path, progress=events.append)
    assert sum(isinstance(event, RunEnded) for event in events) == 1
    assert not [event for event in events if isinstance(event, Note) and "machine" in event.text]
