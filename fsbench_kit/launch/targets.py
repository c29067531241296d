"""Makes the targets of a plan ready for one run, and takes them away again.

Nothing is ever written outside a scratch folder, and no block device is named to any command but a loop device
that was made here. Loop devices are attached by mount itself, with the flag that makes the kernel detach them when
the mount ends; so whatever ends this process, nothing stays mounted or attached.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.errors import LaunchError
from fsbench_kit.launch.environment import devices_under, mount_of
from fsbench_kit.launch.plan import DirectoryTarget, LoopTarget, Plan
from fsbench_kit.launch.tools import (
    MKFS_PROGRAMS,
    SYSTEM_PROGRAMS,
    WORKLOAD_PROGRAMS,
    has_loop_devices,
    kernel_filesystems,
    program_environment,
)
from fsbench_kit.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.plan import LoopFilesystem, Target

RUNS: Final = Path("raw_results", "runs")
"""Where studies that are launched here go, below the project's root."""

_STEP_TIMEOUT: Final = 120.0

_MKFS: Final[dict[LoopFilesystem, tuple[str, ...]]] = {
    # Nothing is to be left for later: a lazy initialisation would go on behind the runs.
    # And nothing is to be discarded: that would undo the image's allocation.
    "ext2": ("mkfs.ext2", "-F", "-E", "nodiscard,lazy_itable_init=0"),
    "ext3": ("mkfs.ext3", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
    "ext4": ("mkfs.ext4", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
    "xfs": ("mkfs.xfs", "-f", "-K"),
    "btrfs": ("mkfs.btrfs", "-f", "-K"),
}


# ---- what can be had on this machine


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


def place(target: Target, root: Path) -> Path:
    """Return the directory in which a target's scratch folder is made."""
    return (root / (target.directory or RUNS)).resolve()


def is_missing(program: str | None) -> bool:
    """Whether a workload's program is needed and not installed."""
    return program is not None and WORKLOAD_PROGRAMS[program].path is None


def _problems(targets: tuple[Target, ...], root: Path, isolation_problem: str | None) -> list[str]:
    found = ((target, _problem(target, root, isolation_problem)) for target in targets)
    return [f'Target "{target.name}" cannot be had: {problem}.' for target, problem in found if problem]


def _problem(target: Target, root: Path, isolation_problem: str | None) -> str | None:
    directory = place(target, root)
    if not directory.is_dir():
        return f"{directory} is not a directory"
    if isinstance(target, DirectoryTarget):
        return None
    if isolation_problem:
        return f"loop images need mounts of their own, and {isolation_problem}"
    if not has_loop_devices():
        return "the kernel has no loop devices here (/dev/loop-control is missing)"
    for program in (MKFS_PROGRAMS[f"mkfs.{target.filesystem}"], *SYSTEM_PROGRAMS.values()):
        if program.path is None:
            return f"the program {program.name} is missing (Debian package {program.package})"
    if target.filesystem not in kernel_filesystems():
        return f"the kernel has no {target.filesystem}"
    return None


def _distinct(targets: tuple[Target, ...], root: Path) -> tuple[Target, ...]:
    kept: list[Target] = []
    seen = set()
    for target in targets:
        if isinstance(target, DirectoryTarget):
            filesystem = place(target, root).stat().st_dev
            if target.distinct and filesystem in seen:
                continue
            seen.add(filesystem)
        kept.append(target)
    return tuple(kept)


def _refuse_too_little_space(plan: Plan, root: Path) -> None:
    largest = max(workload.space for workload in plan.workload)
    for target in plan.target:
        need = target.size if isinstance(target, LoopTarget) else largest
        directory = place(target, root)
        free = shutil.disk_usage(directory).free
        if need > free:
            what = f'target "{target.name}" needs {humanise(need, "B")}, and {humanise(free, "B")} are free'
            hint = "Make space, name another directory, or plan a smaller target."
            raise LaunchError(what, file=directory, hint=hint)


def _how_to_install(program: str | None) -> str:
    return f"Debian package {WORKLOAD_PROGRAMS[program].package}" if program else ""


# ---- making one ready


@dataclass(frozen=True, slots=True)
class Step:
    """A command that made a target ready, and what it said."""

    argv: tuple[str, ...]
    output: str


@dataclass(slots=True)
class Ready:
    """A target that is ready for a run.

    Attributes
    ----------
    directory
        Where the workload may write.
    steps
        The commands that were run for it so far.
    filesystem
        What is mounted there.
    """

    directory: Path
    steps: list[Step] = field(default_factory=list)
    filesystem: str | None = None

    @property
    def text(self) -> str:
        """The commands, as they would be typed in an empty directory."""
        lines = "\n".join(" ".join(step.argv) for step in self.steps)
        return re.sub(r"/dev/loop\d+", "/dev/loopN", lines)


class StepError(Exception):
    """A target could not be made ready; the last of its steps says why."""

    def __init__(self, steps: list[Step]) -> None:
        super().__init__(" ".join(steps[-1].argv))
        self.steps = steps


@contextmanager
def ready(target: Target, folder: Path) -> Iterator[Ready]:
    """Make a target ready in a new folder, and remove both afterwards.

    Parameters
    ----------
    target
        What the plan says.
    folder
        Does not exist yet, and lies in a scratch folder.

    Raises
    ------
    StepError
        On entering, if a command fails.
    """
    folder.mkdir()
    try:
        if isinstance(target, DirectoryTarget):
            yield Ready(folder, filesystem=mount_of(folder).filesystem)
        else:
            with _mounted(target, folder) as made:
                yield made
    finally:
        shutil.rmtree(folder)


@contextmanager
def _mounted(target: LoopTarget, folder: Path) -> Iterator[Ready]:
    made = Ready(folder / "mount", filesystem=target.filesystem)
    made.directory.mkdir()
    # The space is allocated at once: so it cannot run out in the middle of a run.
    _run(made.steps, folder, "fallocate", "--length", str(target.size), "image")
    _run(made.steps, folder, *_MKFS[target.filesystem], *target.mkfs_options, "image")
    options = f"loop,{target.mount_options}" if target.mount_options else "loop"
    _run(made.steps, folder, "mount", "-t", target.filesystem, "-o", options, "image", "mount")
    try:
        loop = devices_under(made.directory)[0]
        # Not every backing can do this. It is recorded what came of it.
        _run(made.steps, folder, "losetup", "--direct-io=on", f"/dev/{loop.name}", may_fail=True)
        yield made
    finally:
        _unmount(folder)


def _unmount(folder: Path) -> None:
    # A process of the tool may still be about to end, and then the mount is in use.
    for words in (("umount", "mount"), ("umount", "--lazy", "mount")):
        done = subprocess.run(
            words,
            cwd=folder,
            env=program_environment(),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode == 0:
            return
    raise LaunchError(f"an image cannot be unmounted: {done.stderr.strip()}", file=folder)


def _run(steps: list[Step], folder: Path, *argv: str, may_fail: bool = False) -> None:
    """Run one command in a folder and keep what it says."""
    try:
        done = subprocess.run(
            argv,
            cwd=folder,
            env=program_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_STEP_TIMEOUT,
            check=False,
        )
        output, failed = done.stdout, done.returncode != 0
    except subprocess.TimeoutExpired:
        output, failed = f"did not end within {_STEP_TIMEOUT:g} s", True
    steps.append(Step(argv, output))
    if failed and not may_fail:
        raise StepError(steps)
