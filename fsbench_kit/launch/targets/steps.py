"""The commands that make a target ready: run one by one, timed, and kept with what they said."""

from __future__ import annotations

import resource
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fsbench_kit.errors import LaunchError
from fsbench_kit.launch.devices import LABEL, device_problem, resolved
from fsbench_kit.launch.tools import program_environment

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT: Final = 120.0

Command = tuple[str, ...]

UMOUNT: Final[Command] = ("umount", "mount")


@dataclass(frozen=True, slots=True)
class Step:
    """A command that made a target ready or took it away, and what it said.

    Attributes
    ----------
    elapsed, user, system
        Seconds, on the clock and of processors.
    minor_faults, major_faults
        Page faults.
    """

    argv: tuple[str, ...]
    output: str
    elapsed: float
    user: float
    system: float
    minor_faults: int
    major_faults: int


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of a target, as they would be typed in an empty folder.

    Attributes
    ----------
    make
        Those that make it ready. What is known only then is called ``/dev/loopN`` and the like.
    directory
        Where a workload may write then, relative to the folder.
    remove
        Those that take it away.
    """

    make: tuple[Command, ...]
    directory: str
    remove: tuple[Command, ...]


@dataclass(slots=True)
class Ready:
    """A target that is ready for a run.

    Attributes
    ----------
    directory
        Where the workload may write.
    steps
        The commands that were run for it so far; after the run, also those that took it away.
    filesystem
        What is mounted there.
    members
        The images or devices that hold its data, where the kernel does not tell.
    settings
        What else there is to say of it, by the words of `fsbench_kit.vocabulary.SETTINGS`.
    names
        What stands in `Commands` -> what is meant by it here and now.
    text
        The commands that made it ready, as they stand in `Commands`: they are the same for each run.
    """

    directory: Path
    steps: list[Step] = field(default_factory=list)
    filesystem: str | None = None
    members: tuple[Path, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    text: str = ""

    def run(self, folder: Path, *commands: Command) -> None:
        """Run commands in a folder.

        Raises
        ------
        StepError
            If one fails.
        """
        for command in commands:
            self._note(command)
            run_step(self.steps, folder, *map(self.meant, command))

    def attempt(self, folder: Path, command: Command) -> None:
        """Run a command that may fail."""
        self._note(command)
        run_step(self.steps, folder, *map(self.meant, command), may_fail=True)

    def _note(self, command: Command) -> None:
        self.text += ("\n" if self.text else "") + " ".join(command)

    def meant(self, word: str) -> str:
        """Put what is meant into a word of a command."""
        for name, here in self.names.items():
            word = word.replace(name, here)
        return word


class StepError(Exception):
    """A target could not be made ready; the last of its steps says why."""

    def __init__(self, steps: list[Step]) -> None:
        super().__init__(" ".join(steps[-1].argv))
        self.steps = steps


def run_step(steps: list[Step], folder: Path, *argv: str, may_fail: bool = False) -> bool:
    """Run one command in a folder, and keep what it says. Return whether it succeeded.

    Raises
    ------
    StepError
        If it fails, unless it may.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
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
            timeout=_TIMEOUT,
            check=False,
        )
        output, succeeded = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired:
        output, succeeded = f"did not end within {_TIMEOUT:g} s", False
    except OSError as error:
        output, succeeded = f"cannot be started: {error.strerror}", False
    elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    steps.append(
        Step(
            argv,
            output,
            elapsed=elapsed,
            user=after.ru_utime - before.ru_utime,
            system=after.ru_stime - before.ru_stime,
            minor_faults=after.ru_minflt - before.ru_minflt,
            major_faults=after.ru_majflt - before.ru_majflt,
        )
    )
    if not (succeeded or may_fail):
        raise StepError(steps)
    return succeeded


def launch_name(folder: Path) -> str:
    """Return the name for what is made in a target's folder and outlives a process: that of its scratch folder.

    By it, `fsbench_kit.launch.leftovers` finds what a killed launch has left.
    """
    return f"{scratch_name(folder.parent)}-{folder.name}"


def scratch_name(scratch: Path) -> str:
    """Return how the names begin of what outlives the launch that a scratch folder belongs to."""
    return f"{LABEL}-{scratch.name.rpartition('-')[2]}"


def check_device(made: Ready, name: str, signature: str | None) -> None:
    """Look once more whether a block device may be overwritten, and let its name mean the node that was looked at.

    Raises
    ------
    StepError
        If it may not.
    """
    problem = device_problem(name, signature)
    if problem is not None:
        made.steps.append(Step(("check", name), problem, 0.0, 0.0, 0.0, 0, 0))
        raise StepError(made.steps)
    made.names[name] = str(resolved(name))


def clear_command(device: str) -> Command:
    """Return the command that removes all signatures from a device, so that none is mistaken for the new one."""
    return ("wipefs", "--all", device)


def unmount(steps: list[Step], folder: Path) -> None:
    """Unmount what is mounted on ``mount`` in a folder.

    Raises
    ------
    LaunchError
        If that cannot be done.
    """
    # A process of the tool may still be about to end, and then the mount is in use.
    if run_step(steps, folder, *UMOUNT, may_fail=True):
        return
    if not run_step(steps, folder, "umount", "--lazy", "mount", may_fail=True):
        raise LaunchError(f"an image cannot be unmounted: {steps[-1].output.strip()}", file=folder)
