"""Shows what a launch would do, without doing it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.launch.consent import Consent
from fsbench_kit.launch.environment import caches_problem, mount_of
from fsbench_kit.launch.resolve import resolve_plan
from fsbench_kit.launch.schedule import PlannedRun, schedule
from fsbench_kit.launch.session import BESIDE, DEVICE, TARGET
from fsbench_kit.launch.stopping import PILOT, caution
from fsbench_kit.launch.study import LaunchedStudy
from fsbench_kit.launch.targets import Folders, Target
from fsbench_kit.launch.tools import check_system, isolation_problem
from fsbench_kit.launch.tuning.applied import pinned
from fsbench_kit.launch.tuning.kernel import commands
from fsbench_kit.launch.workloads import Argv, RunContext
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from fsbench_kit.launch.plan import Plan

_SHOWN: Final = 4
"""How many runs are named to show the order."""
_DROP_CACHES: Final = ("sh", "-c", "echo 3 > /proc/sys/vm/drop_caches")


@dataclass(frozen=True, slots=True)
class DryRunStep:
    """A run that would be made, or the steps after the last run.

    Attributes
    ----------
    title
        A description of the run.
    commands
        The commands for it, in order. ``target`` stands for the directory that the workload writes to, and
        ``beside`` for one that is not on the target.
    """

    title: str
    commands: tuple[Argv, ...]


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a launch would do.

    Attributes
    ----------
    notes
        What is left out or replaced on this machine, and why.
    grid
        How often each workload runs on each target, as lines of a table.
    order
        A sentence about the order of the runs.
    steps
        The runs, in order.
    estimates
        Sentences about the time and bytes that the launch takes, as far as they are known.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fsbench_kit.launch import read_plan
    >>> found = dry_run(read_plan(Path("plans/first-steps.toml")), Path.cwd())
    >>> found.grid
    ('runs           project', 'smallfiles-4k        6')
    """

    notes: tuple[str, ...]
    grid: tuple[str, ...]
    order: str
    steps: tuple[DryRunStep, ...]
    estimates: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([*self.notes, *self.grid, self.order, *self.estimates])

    @property
    def commands(self) -> Iterator[str]:
        """Yield every command as a line of text, below the step that it belongs to."""
        for step in self.steps:
            yield f"\n# {step.title}"
            yield from map(shlex.join, step.commands)


def dry_run(
    plan: Plan, root: Path, devices: Collection[str] = (), *, to: Path = LAUNCHED, made: Collection[str] = ()
) -> DryRun:
    """Return what launching a plan would do on this machine, without creating, mounting or keeping anything.

    Parameters
    ----------
    plan, root, devices, to
        As for `fsbench_kit.launch.launch`. Devices need not be confirmed here.
    made
        The names of existing runs, if a study would be resumed.

    Raises
    ------
    LaunchError
        If the launch could not start.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fsbench_kit.launch import read_plan
    >>> found = dry_run(read_plan(Path("plans/first-steps.toml")), Path.cwd())
    >>> print(found.estimates[-1])
    Budget: no run starts after 60 s or 256 MiB written.
    """
    check_system()
    folders = Folders(root, to)
    named = {name for target in (*plan.target, *plan.otherwise) for name in target.block_devices}
    consent = Consent.to({*named, *devices})
    chosen, notes = resolve_plan(plan, folders, isolation_problem=isolation_problem(), consent=consent)
    asked = sorted({name for target in chosen.target for name in target.block_devices} - set(devices))
    kept = caches_problem() if any(map(chosen.drops_caches, chosen.workload)) else None
    notes = (
        *notes,
        *(f"The launch would destroy all data on {name}; confirm with: --device {name}" for name in asked),
        *([f"Finished earlier and kept: {len(made)} of {len(schedule(chosen))} runs."] if made else []),
    )
    return DryRun(
        notes=tuple(filter(None, (caution(min(map(chosen.repeats_of, chosen.workload))), kept, *notes))),
        grid=tuple(_grid(chosen)),
        order=_order(chosen),
        steps=tuple(_steps(chosen, folders, made)),
        estimates=tuple(_estimates(chosen)),
    )


def _grid(plan: Plan) -> Iterator[str]:
    """Yield what is varied, then a table with a row per workload and a column per target."""
    varied: dict[str, dict[str, None]] = {}
    for table in (*plan.target, *plan.workload):
        for key, value in table.varied.items():
            varied.setdefault(key, {})[value] = None
    for key, values in varied.items():
        yield f"{key}: {', '.join(values)}"
    for key, levels in plan.campaign.items():
        yield f"{key}: {', '.join(levels)}" + ", one in each block of a campaign" * (len(levels) > 1)
    heads = ("runs", *(target.name for target in plan.target))
    on = {target.name: plan.workloads(target) for target in plan.target}
    rows = [
        (w.name, *(str(plan.repeats_of(w)) if w in on[name] else "-" for name in heads[1:])) for w in plan.workload
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for first, *others in (heads, *rows):
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells])


def _order(plan: Plan) -> str:
    """Return how many runs there are and how the first round begins."""
    runs = schedule(plan)
    begin = ", ".join(f"{run.workload.name} on {run.target.name}" for run in runs[:_SHOWN])
    before = [f"{count} to {stage}" for stage in ("precondition", "warm up") if (count := _count(runs, stage))]
    rounds = f"{plan.rounds} round{'s' if plan.rounds > 1 else ''}"
    return (
        f"{len(runs)} run{'s' * (len(runs) > 1)} in {rounds}, each in random order (seed {plan.seed})"
        + (f", including {' and '.join(before)}" if before else "")
        + f". First: {begin}{', ...' if len(runs) > _SHOWN else '.'}"
    )


def _count(runs: Sequence[PlannedRun], stage: str) -> int:
    return sum(run.stage == stage.replace(" ", "-") for run in runs)


def _steps(plan: Plan, folders: Folders, made: Collection[str]) -> Iterator[DryRunStep]:
    runs = LaunchedStudy(folders.results, plan).planned_runs
    ready: dict[str, Target] = {}
    for order, (name, run) in enumerate(runs.items(), 1):
        if name in made:
            continue
        target = run.target
        rest: tuple[Argv, ...] = (("sleep", f"{plan.cool_down:g}"),) if plan.cool_down and order > 1 else ()
        make = () if target.name in ready else (*target.commands.make, *target.ageing_commands)
        remove = () if plan.reuses(target) else target.commands.remove
        if restoring := plan.restoring(target):
            make, remove = (*(make and (*make, *restoring.keep)), *restoring.make), restoring.remove
        if plan.freshness(target) != "fresh":
            ready[target.name] = target
        stage = run.stage if run.round is None else f"round {run.round}"
        yield DryRunStep(
            f"run {order}/{len(runs)}, {stage}: {run.workload.name} on {target.name}, in {target.place(folders)}",
            (*rest, *make, *_tuned(plan, run), *_work(plan, run, folders), *remove),
        )
    kept = (target for target in reversed(ready.values()) if plan.stays(target))
    remove = tuple(command for target in kept for command in target.commands.remove)
    if remove:
        yield DryRunStep("after the last run", remove)


def _tuned(plan: Plan, run: PlannedRun) -> Iterator[Argv]:
    """Yield commands that stand for the kernel settings of a run, all of which are restored after it."""
    tuning = plan.tuning_of(run.target, run.workload)
    for device in run.target.block_devices or ("loopN",):
        yield from commands(tuning.of_device, Path(device).name)
    yield from commands(tuning.of_kernel)
    if tuning.memory_limit is not None:
        yield ("sh", "-c", f"echo {tuning.memory_limit} | tee /sys/fs/cgroup/fsbench/memory.max")


def _settling(plan: Plan, run: PlannedRun) -> Iterator[Argv]:
    if plan.trims(run.target, run.workload):
        yield ("fstrim", "--verbose", str(TARGET))
    yield ("sync",)
    if plan.drops_caches(run.workload):
        yield _DROP_CACHES


def _work(plan: Plan, run: PlannedRun, folders: Folders) -> Iterator[Argv]:
    filesystem = run.target.expected_filesystem or mount_of(run.target.place(folders)).filesystem
    device = DEVICE if run.target.is_raw else None
    context = RunContext(directory=TARGET, beside=BESIDE, filesystem=filesystem, seed=run.seed, device=device)
    work = run.workload.work(context)
    yield from plan.before_run(run.target, run.workload)
    yield from work.before
    yield from _settling(plan, run)
    cpus = plan.tuning_of(run.target, run.workload).cpu_list
    yield (*(() if cpus is None else pinned(cpus)), *work.measured)
    yield from work.after
    yield from plan.after_run(run.target, run.workload)


def _estimates(plan: Plan) -> Iterator[str]:
    runs = schedule(plan)
    most = plan.rests + sum(plan.timeout_of(run.workload) for run in runs)
    least = f"at least {plan.least_seconds:g} s, from the plan's run times and rests, and " * bool(
        plan.least_seconds
    )
    yield (
        f"Time: {least}at most {most:g} s for the runs, because a timeout ends each. How long mkfs, mount and "
        "runs without a time limit take is known only afterwards."
    )
    if plan.least_written:
        written = humanise(plan.least_written, "B")
        yield f"Bytes: at least {written}, plus what the filesystems write for themselves."
    unknown = {run.workload.name: None for run in runs if run.workload.least_written is None}
    if unknown:
        names = ", ".join(f'"{name}"' for name in unknown)
        yield f"Bytes of {names}: known only afterwards."
    if plan.until is not None:
        before = sum(run.is_within(PILOT) for run in runs)
        yield f'Runs: at least {before} and at most {len(runs)}, as the rule "{plan.until}" decides.'
    limits = [
        *([f"{plan.budget.seconds:g} s"] if plan.budget.seconds is not None else []),
        *([f"{humanise(plan.budget.bytes, 'B')} written"] if plan.budget.bytes is not None else []),
    ]
    if limits:
        yield f"Budget: no run starts after {' or '.join(limits)}."
