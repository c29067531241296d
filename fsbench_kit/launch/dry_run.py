"""Says what a launch would do, and does none of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.consent import Consent
from fsbench_kit.launch.environment import mount_of
from fsbench_kit.launch.resolve import choose
from fsbench_kit.launch.schedule import schedule
from fsbench_kit.launch.session import BESIDE, TARGET
from fsbench_kit.launch.stopping import PILOT, caution
from fsbench_kit.launch.tools import isolation_problem
from fsbench_kit.launch.workloads import Argv, Ground
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.schedule import Cell
    from fsbench_kit.launch.targets import Target

_DROP_CACHES: Final = ("sh", "-c", "echo 3 > /proc/sys/vm/drop_caches")


@dataclass(frozen=True, slots=True)
class Scene:
    """A run that would be made, or what would be done after the last one.

    Attributes
    ----------
    title
        Which run it is.
    commands
        What would be run for it, in this order. ``target`` stands for the directory where the workload writes,
        and ``beside`` for one that is not on the target.
    """

    title: str
    commands: tuple[Argv, ...]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a launch would do.

    Attributes
    ----------
    notes
        What is left out on this machine or has to stand in, and why.
    scenes
        The runs, in order.
    estimates
        Sentences on the time and the bytes that it takes, as far as that can be known.
    """

    notes: tuple[str, ...]
    scenes: tuple[Scene, ...]
    estimates: tuple[str, ...]


def rehearse(plan: Plan, root: Path, devices: Collection[str] = ()) -> Rehearsal:
    """Say what a launch of a plan would do on this machine. Nothing is written, made or mounted.

    The parameters are those of `fsbench_kit.launch.launch`.

    Raises
    ------
    LaunchError
        If the launch could not start: the same as it would itself.
    """
    chosen, notes = choose(plan, root, isolation_problem=isolation_problem(), consent=Consent.to(devices))
    return Rehearsal(
        notes=tuple(filter(None, (caution(chosen.repeats), *notes))),
        scenes=tuple(_scenes(chosen, root)),
        estimates=tuple(_estimates(chosen)),
    )


def _scenes(plan: Plan, root: Path) -> Iterator[Scene]:
    cells = schedule(plan)
    reused = plan.filesystems == "reused"
    ready: dict[str, Target] = {}
    for order, cell in enumerate(cells, 1):
        target = cell.target
        rest: tuple[Argv, ...] = (("sleep", f"{plan.cool_down:g}"),) if plan.cool_down and order > 1 else ()
        make = () if target.name in ready else target.commands.make
        remove = () if reused else target.commands.remove
        if reused:
            ready[target.name] = target
        stage = cell.stage if cell.round is None else f"round {cell.round}"
        yield Scene(
            f"run {order}/{len(cells)}, {stage}: {cell.workload.name} on {target.name}, in {target.place(root)}",
            (*rest, *make, *_work(plan, cell, root), *remove),
        )
    remove = tuple(command for target in reversed(ready.values()) for command in target.commands.remove)
    if remove:
        yield Scene("after the last run", remove)


def _settling(plan: Plan, target: Target) -> Iterator[Argv]:
    if plan.trims(target):
        yield ("fstrim", "--verbose", str(TARGET))
    yield ("sync",)
    if plan.drop_caches:
        yield _DROP_CACHES


def _work(plan: Plan, cell: Cell, root: Path) -> Iterator[Argv]:
    filesystem = cell.target.expected_filesystem or mount_of(cell.target.place(root)).filesystem
    work = cell.workload.work(Ground(directory=TARGET, beside=BESIDE, filesystem=filesystem, seed=cell.seed))
    yield from work.before
    yield from _settling(plan, cell.target)
    yield work.measured
    yield from work.after


def _estimates(plan: Plan) -> Iterator[str]:
    cells = schedule(plan)
    most = plan.rests + len(cells) * plan.timeout
    yield (
        f"Time: {plan.least_seconds:g} s at least, by what the plan says of runtimes and rests, and no run longer than "
        f"{plan.timeout:g} s, which makes {most:g} s. How long mkfs, mount and work without a time limit take "
        "is known only when they have run."
    )
    if plan.least_written:
        written = humanise(plan.least_written, "B")
        yield f"Bytes: {written} written at least, and what filesystems write for themselves."
    unknown = {cell.workload.name: None for cell in cells if cell.workload.least_written is None}
    if unknown:
        names = ", ".join(f'"{name}"' for name in unknown)
        yield f"Bytes that are unknown until they are written: those of {names}."
    if plan.until is not None:
        before = sum(cell.round is None or cell.round <= PILOT for cell in cells)
        yield f'Runs: {before} at least, and {len(cells)} at most, by the rule "{plan.until}".'
    limits = [
        *([f"{plan.budget.seconds:g} s"] if plan.budget.seconds is not None else []),
        *([f"{humanise(plan.budget.bytes, 'B')} written"] if plan.budget.bytes is not None else []),
    ]
    if limits:
        yield f"Budget: no run starts after {' or '.join(limits)}."
