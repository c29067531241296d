"""Chooses of a plan what this machine can have."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from fsbench_kit.errors import LaunchError
from fsbench_kit.launch.targets import DirectoryTarget
from fsbench_kit.launch.tools import WORKLOAD_PROGRAMS
from fsbench_kit.units import humanise

if TYPE_CHECKING:
    from pathlib import Path

    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.targets import Target


def choose(plan: Plan, root: Path, *, isolation_problem: str | None) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan with the targets and workloads that this machine can have, and a sentence for each change.

    Parameters
    ----------
    plan
        As it was written.
    root
        The project's root.
    isolation_problem
        Why there is no mount namespace, or ``None`` where there is one.

    Raises
    ------
    LaunchError
        If a target cannot be had and nothing is to stand in for it, or there is too little space.
    """
    targets, notes = plan.target, []
    problems = _problems(targets, root, isolation_problem)
    if problems and plan.otherwise:
        names = ", ".join(f'"{target.name}"' for target in plan.otherwise)
        notes += [*problems, f"{names} from [[otherwise]] stand in for all targets."]
        targets = plan.otherwise
        problems = _problems(targets, root, isolation_problem)
    if problems:
        hint = "Mend this, or say in the plan under [[otherwise]] what may stand in."
        raise LaunchError("\n".join(problems), hint=hint)

    workloads = tuple(w for w in plan.workload if not (w.optional and is_missing(w.program)))
    notes += [
        f'Workload "{w.name}" is left out: the program {w.program} is missing ({_how_to_install(w.program)}).'
        for w in plan.workload
        if w not in workloads
    ]
    if not workloads:
        raise LaunchError("no workload is left to run", hint="\n".join(notes))

    apart = _distinct(targets, root)
    notes += [
        f'Target "{t.name}" is left out: it lies on the same filesystem as one before it.'
        for t in targets
        if t not in apart
    ]
    chosen = plan.model_copy(update={"target": apart, "otherwise": (), "workload": workloads})
    _refuse_too_little_space(chosen, root)
    return chosen, tuple(notes)


def is_missing(program: str | None) -> bool:
    """Whether a workload's program is needed and not installed."""
    return program is not None and WORKLOAD_PROGRAMS[program].path is None


def _problems(targets: tuple[Target, ...], root: Path, isolation_problem: str | None) -> list[str]:
    found = ((target, _problem(target, root, isolation_problem)) for target in targets)
    return [f'Target "{target.name}" cannot be had: {problem}.' for target, problem in found if problem]


def _problem(target: Target, root: Path, isolation_problem: str | None) -> str | None:
    if target.isolated and isolation_problem:
        return f"it needs mounts of its own, and {isolation_problem}"
    return target.problem(root)


def _distinct(targets: tuple[Target, ...], root: Path) -> tuple[Target, ...]:
    kept: list[Target] = []
    seen = set()
    for target in targets:
        if isinstance(target, DirectoryTarget):
            filesystem = target.place(root).stat().st_dev
            if target.distinct and filesystem in seen:
                continue
            seen.add(filesystem)
        kept.append(target)
    return tuple(kept)


def _refuse_too_little_space(plan: Plan, root: Path) -> None:
    largest = max(workload.space or 0 for workload in plan.workload)
    for target in plan.target:
        need = largest if target.capacity is None else target.capacity
        directory = target.place(root)
        free = shutil.disk_usage(directory).free
        if need > free:
            what = f'target "{target.name}" needs {humanise(need, "B")}, and {humanise(free, "B")} are free'
            hint = "Make space, name another directory, or plan a smaller target."
            raise LaunchError(what, file=directory, hint=hint)


def _how_to_install(program: str | None) -> str:
    return f"Debian package {WORKLOAD_PROGRAMS[program].package}" if program else ""
