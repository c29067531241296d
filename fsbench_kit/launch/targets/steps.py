"""The commands that make a target ready: run one by one, timed, and kept with what they said."""

from __future__ import annotations

import re
import resource
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.tools import program_environment

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT: Final = 120.0


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
