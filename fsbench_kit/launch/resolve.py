"""Reduces a plan to what is available on this machine."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.consent import Consent
from fsbench_kit.launch.targets import DirectoryTarget, Folders, Target
from fsbench_kit.launch.tools import not_installed
from fsbench_kit.launch.tuning.applied import NO_DEVICE, problems
from fsbench_kit.launch.tuning.kernel import TuningError
from fsbench_kit.model.errors import LaunchError
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.tuning import Tuning
    from fsbench_kit.launch.workloads import Workload


def resolve_plan(
    plan: Plan, folders: Folders, *, isolation_problem: str | None, consent: Consent | None = None
) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan with the available targets and workloads, and a sentence for each change.

    Parameters
    ----------
    plan
        The plan as written.
    folders
        Where the launch works.
    isolation_problem
        Why there is no mount namespace, or ``None`` if there is one.
    consent
        The block devices whose content may be destroyed, having been confirmed besides the plan.

    Raises
    ------
    LaunchError
        If a target is not available and nothing replaces it, or space is short.
    """
    consent = consent or Consent()
    here = _Here(plan, folders, isolation_problem, consent)
    targets, notes = plan.target, []
    problems = here.problems(targets)
    if problems.needed and plan.otherwise:
        names = ", ".join(f'"{target.name}"' for target in plan.otherwise)
        notes += [*problems.needed, f"The targets under [[otherwise]] replace all others: {names}."]
        targets = plan.otherwise
        problems = here.problems(targets)
    if problems.needed:
        hint = (
            "Fix it, or change the plan: optional = true leaves such a target out, and targets under "
            "[[otherwise]] replace all others."
        )
        if any(target.isolated for target in targets) and isolation_problem is not None:
            hint += ' Without root, measure in directories: kind = "directory".'
        raise LaunchError("\n".join(problems.needed), hint=hint)
    notes += [f"{sentence} It is left out." for sentence in problems.optional.values()]
    targets = tuple(target for target in targets if target.name not in problems.optional)
    if not targets:
        if isolation_problem is not None:
            notes.append("Directories on mounted filesystems need no root: name them as targets instead.")
        raise LaunchError("no target is left", hint="\n".join(notes))

    lacks = {w.name: _lack(plan, targets, w) for w in (*plan.precondition, *plan.workload)}
    kept = {
        key: tuple(w for w in getattr(plan, key) if not (w.optional and lacks[w.name]))
        for key in ("precondition", "workload")
    }
    workloads = kept["workload"]
    notes += [
        f'{key.capitalize()} "{w.name}" is left out: {lacks[w.name]}.'
        for key in kept
        for w in getattr(plan, key)
        if w not in kept[key]
    ]
    if untuned := [f'Workload "{w.name}": {why}.' for w in workloads if (why := _untunable(plan, targets, w))]:
        raise LaunchError("\n".join(untuned), hint=_UNTUNABLE)
    if not workloads:
        raise LaunchError("no workload is left", hint="\n".join(notes))

    apart = _distinct(targets, folders)
    notes += [
        f'Target "{t.name}" is left out: an earlier target is on the same filesystem.'
        for t in targets
        if t not in apart
    ]
    _refuse_shared_devices(plan, apart, consent)
    adapted = []
    for target in apart:
        fitting, sentences = target.adapted()
        adapted.append(fitting)
        notes += [f'Target "{target.name}": {sentence}.' for sentence in sentences]
    notes += [
        f'Target "{t.name}": {t.own_cache} may still hold data of earlier runs, because the '
        f'filesystem is {plan.freshness(t)}. To avoid that, write: filesystems = "fresh"'
        for t in adapted
        if plan.keeps_own_cache(t)
    ]
    if on_all := {key: None for tuning in plan.tunings for key in tuning.of_kernel}:
        notes.append(f"During runs, these settings are changed for the whole machine: {', '.join(on_all)}.")
    notes += [f'Workload "{w.name}": {remark}.' for w in workloads if (remark := w.remark()) is not None]
    kept_names = {table.name for table in (*adapted, *workloads)}
    rules = ((rule, tuple(name for name in rule.workload if name in kept_names)) for rule in plan.exclude)
    exclude = tuple(
        rule.model_copy(update={"workload": left}) for rule, left in rules if left and rule.target in kept_names
    )
    chosen = plan.model_copy(update={"target": tuple(adapted), "otherwise": (), "exclude": exclude, **kept})
    if not any(map(chosen.workloads, chosen.target)):
        raise LaunchError("no run is left", hint="\n".join(notes))
    _refuse_too_little_space(chosen, folders)
    return chosen, tuple(notes)


@dataclass(frozen=True, slots=True)
class _Problems:
    """Sentences about unavailable targets: the required ones, and the optional ones by name."""

    needed: tuple[str, ...]
    optional: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Here:
    """The machine that targets are checked against."""

    plan: Plan
    folders: Folders
    isolation_problem: str | None
    consent: Consent

    def problems(self, targets: tuple[Target, ...]) -> _Problems:
        found = [(target, problem) for target in targets if (problem := self._problem(target))]
        missing = [(target, f'Target "{target.name}" is not available: {problem}.') for target, problem in found]
        return _Problems(
            needed=tuple(sentence for target, sentence in missing if not target.optional),
            optional={target.name: sentence for target, sentence in missing if target.optional},
        )

    def _problem(self, target: Target) -> str | None:
        if target.isolated and self.isolation_problem:
            return f"it needs a mount namespace of its own: {self.isolation_problem}"
        for name, signature in target.block_devices.items():
            if problem := self.consent.problem(name, signature):
                return problem
        for one, other in combinations(target.block_devices, 2):
            if self.consent.are_one(one, other):
                return f"{one} and {other} are the same device"
        return target.problem(self.folders) or _tuning_problem(self.plan.tuning_of(target), target)


_UNTUNABLE: Final = "Remove it from the plan, or set optional = true for what needs it."


def _lack(plan: Plan, targets: Sequence[Target], workload: Workload) -> str | None:
    """Return what a workload needs and this machine lacks, or ``None``."""
    return not_installed(*workload.needs) or _untunable(plan, targets, workload)


def _untunable(plan: Plan, targets: Sequence[Target], workload: Workload) -> str | None:
    """Return which kernel setting of a workload cannot be applied, or ``None``."""
    if workload.tuning.of_device:
        found = (_tuning_problem(plan.tuning_of(target, workload), target) for target in targets)
        return next(filter(None, found), None)
    return next(problems(workload.tuning), None)


def _tuning_problem(tuning: Tuning, target: Target) -> str | None:
    if tuning.of_device and not target.own_devices:
        return NO_DEVICE.format(key=next(iter(tuning.of_device)))
    # Every loop device has the same settings.
    nodes = [Path(name) for name in target.block_devices] or sorted(Path("/dev").glob("loop[0-9]*"))[:1]
    try:
        return next(problems(tuning, nodes), None)
    except TuningError as error:
        return str(error)


def _distinct(targets: tuple[Target, ...], folders: Folders) -> tuple[Target, ...]:
    kept: list[Target] = []
    seen = set()
    for target in targets:
        if isinstance(target, DirectoryTarget):
            filesystem = target.place(folders).stat().st_dev
            if target.distinct and filesystem in seen:
                continue
            seen.add(filesystem)
        kept.append(target)
    return tuple(kept)


def _refuse_shared_devices(plan: Plan, targets: tuple[Target, ...], consent: Consent) -> None:
    """Refuse targets that share a device, unless they use it in turn with a fresh filesystem each."""
    for one, other in combinations(targets, 2):
        for name, again in product(one.block_devices, other.block_devices):
            if not consent.are_one(name, again):
                continue
            if name != again:
                what = f'{name} and {again} are the same device (targets "{one.name}" and "{other.name}")'
                hint = "Name another device; or to share it in turn, give it the same name in both."
                raise LaunchError(what, hint=hint)
            if plan.stays(one) or plan.stays(other):
                what = f'targets "{one.name}" and "{other.name}" cannot both keep their filesystem on {name}'
                hint = 'Give each a device of its own, or write: filesystems = "fresh"'
                raise LaunchError(what, hint=hint)


def _refuse_too_little_space(plan: Plan, folders: Folders) -> None:
    workloads = (*plan.precondition, *plan.workload)
    largest = max(workload.space or 0 for workload in workloads)
    results = _existing(folders.results)
    beside = max(workload.space_beside for workload in workloads)
    for target in plan.target:
        restoring = plan.restoring(target)
        images = 2 if restoring and restoring.copied is not None else 1  # the original and its copy
        place, need = _existing(target.place(folders)), images * target.space_needed(largest)
        besides = ""
        if beside and place.stat().st_dev == results.stat().st_dev:
            need, besides = need + beside, ", including what is copied to it"
        free = shutil.disk_usage(place).free
        if need > free:
            what = f'target "{target.name}" needs {humanise(need, "B")}{besides}; {humanise(free, "B")} is free'
            hint = "Free some space, name another directory, or plan a smaller target."
            raise LaunchError(what, file=place, hint=hint)
    if beside > (free := shutil.disk_usage(results).free):
        what = f"the files to copy need {humanise(beside, 'B')}, and {humanise(free, 'B')} is free"
        raise LaunchError(what, file=results, hint="Free some space, or plan a smaller large_file and tree.")


def _existing(place: Path) -> Path:
    """Return a directory, or its nearest existing ancestor."""
    return next(path for path in (place, *place.parents) if path.is_dir())
