"""Commands before and after a run: their output is kept with it, and one that fails fails it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from fsbench_kit.launch import dry_run, launch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Plan

WORK = {"tool": "command", "name": "work", "command": ["ls"]}


def say(word: str) -> list[str]:
    return ["sh", "-c", f"echo {word} | tee {word}"]


def test_they_stand_on_the_target_and_their_words_are_kept(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    here = {"kind": "directory", "name": "here", "directory": ".", "before": [say("target")]}
    work = {**WORK, "before": [say("first"), say("second")], "after": [["ls"]]}
    plan = make_plan(target=[here], workload=[work], before=[say("plan")], after=[say("last")], repeats=1)
    (run,) = launch(plan, root=tmp_path).runs
    assert (run / "preparation.txt").read_text() == "plan\ntarget\nfirst\nsecond\n"
    assert (run / "stdout.txt").read_text() == "first\nplan\nsecond\ntarget\n"
    assert (run / "cleanup.txt").read_text().endswith("target\nlast\n")
    commands = [" ".join(command) for command in dry_run(plan, tmp_path).steps[0].commands]
    assert [" ".join(say("plan")), " ".join(say("last"))] == [commands[0], commands[-1]]


def test_one_that_fails_fails_the_run_with_its_words(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    broken = ["sh", "-c", "echo the disk is asleep >&2; exit 3"]
    early = {**WORK, "name": "early", "before": [["echo", "all well"], broken], "after": [say("done")]}
    late = {**WORK, "name": "late", "after": [broken]}
    result = launch(make_plan(workload=[early, late], repeats=1), root=tmp_path)
    said = {json.loads((run / "run.json").read_text())["workload"]: why for run, why in result.failures.items()}
    assert said == {
        "early": "the preparation failed: sh ended with exit code 3: the disk is asleep",
        "late": "a command after the run failed: sh ended with exit code 3: the disk is asleep",
    }
    (early_run,) = (run for run in result.runs if run.name.endswith("early"))
    assert (early_run / "cleanup.txt").read_text() == "done\n"


def test_they_get_no_device_and_are_varied_by_lists_of_them(make_plan: Callable[..., Plan]) -> None:
    with pytest.raises(ValidationError, match='the word "of=/dev/sda" names a device'):
        make_plan(before=[["dd", "of=/dev/sda"]])
    plan = make_plan(workload=[{**WORK, "before": [[["true"]], []]}])
    assert [(workload.before, workload.asked) for workload in plan.workload] == [
        ((("true",),), {"asked.before": "true"}),
        ((), {"asked.before": "none"}),
    ]
