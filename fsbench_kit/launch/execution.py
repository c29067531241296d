"""Runs one tool, with a timeout, and never lets it outlive this process or the process that started it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.processes import MARK, end_marked
from fsbench_kit.launch.tools import SYSTEM_PROGRAMS, find_program, program_environment
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

STDOUT: Final = "stdout.txt"
STDERR: Final = "stderr.txt"

_LIFELINE: Final = 0  # standard input
_QUOTED_LINES: Final = 6
"""How many lines of a failed tool's output are quoted in the error; the run keeps all of them."""
_GRACE: Final = 3.0  # seconds between SIGTERM and SIGKILL
_TIMEOUT: Final = 10.0  # seconds for the kernel to end a killed process
_TOGETHER: Final = 0.5
"""Seconds to tell a tool's own failure from a batch system that kills all processes of a job at once."""


class LifelineError(Exception):
    """The lifeline has closed: the process that started this one is gone or wants it to end."""


@dataclass(frozen=True, slots=True)
class Execution:
    """The outcome of running a tool.

    Attributes
    ----------
    exit_code
        ``None`` if the tool did not run or was ended; negative for a signal.
    failure
        A sentence, unless the exit code is 0.
    duration
        Seconds.
    """

    argv: tuple[str, ...]
    exit_code: int | None
    failure: str | None
    started_at: datetime
    ended_at: datetime
    duration: float


def guard_lifeline() -> None:
    """Treat a SIGTERM to this process like the end of its lifeline."""
    # /dev/null is always at end of file; a select that waits for the lifeline continues with the new file.
    signal.signal(signal.SIGTERM, lambda *_: os.dup2(os.open(os.devnull, os.O_RDONLY), _LIFELINE))


def rest(seconds: float = 0) -> None:
    """Sleep, raising `LifelineError` if the lifeline closes meanwhile or is closed already."""
    if select.select([_LIFELINE], [], [], seconds)[0]:
        raise LifelineError


def wait_for(descriptor: int, seconds: float | None = None) -> bool:
    """Wait until a descriptor is readable or at its end; return whether that happened within the limit, if any.

    Raises
    ------
    LifelineError
        If the lifeline closes first.
    """
    ready, _, _ = select.select([descriptor, _LIFELINE], [], [], seconds)
    if _LIFELINE in ready and descriptor not in ready:
        raise LifelineError
    return descriptor in ready


def execute(
    argv: Sequence[str],
    folder: Path,
    *,
    timeout: float,
    directory: Path | None = None,
    stdout: str = STDOUT,
    stderr: str = STDERR,
    words: Sequence[str] = (),
) -> Execution:
    """Run a tool in a folder, or in another directory, appending its output to two files in the folder.

    Parameters
    ----------
    words
        A command prefix that runs the tool.

    Raises
    ------
    LifelineError
        If the lifeline closes before the tool ends, or right after it failed. The tool has been ended then.
    LaunchError
        If the tool cannot be killed.
    """
    if find_program(argv[0]) is None:
        now = datetime.now(UTC)
        return Execution(tuple(argv), None, f"{argv[0]} is not installed", now, now, 0.0)
    started_at, start = datetime.now(UTC), time.perf_counter()
    size_before = _size(folder / stderr)
    with (folder / stdout).open("ab") as out, (folder / stderr).open("ab") as err:
        try:
            process = subprocess.Popen(
                [*mortality(), *words, *argv],
                cwd=directory or folder,
                env=program_environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        except OSError as error:
            why = f"cannot start {argv[0]}: {error.strerror}"
            return Execution(tuple(argv), None, why, started_at, datetime.now(UTC), 0.0)
    try:
        in_time = _wait(process, timeout)
        ended_at, duration = datetime.now(UTC), time.perf_counter() - start
    finally:
        end_marked(os.environ[MARK])
        _reap(process)
    exit_code = process.returncode if in_time else None
    failure = None
    if not in_time:
        failure = f"{argv[0]} did not finish within {timeout:g} s and was killed"
    elif exit_code:
        rest(_TOGETHER)
        failure = _failure(argv[0], exit_code, folder / stderr, size_before)
    return Execution(tuple(argv), exit_code, failure, started_at, ended_at, duration)


def mortality() -> tuple[str, ...]:
    """Return a command prefix that makes the kernel end the command when this process ends."""
    return ("setpriv", "--pdeathsig", "KILL") if SYSTEM_PROGRAMS["setpriv"].path else ()


def _wait(process: subprocess.Popen[bytes], timeout: float) -> bool:
    """Wait for a process, ending it after the timeout; return whether it ended in time."""
    ended, in_time = os.pidfd_open(process.pid), False
    try:
        in_time = wait_for(ended, timeout)
    finally:
        if not in_time:
            process.terminate()
            select.select([ended], [], [], _GRACE)
        os.close(ended)
    return in_time


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_TIMEOUT)
    except subprocess.TimeoutExpired:
        what = f"cannot kill process {process.pid}: it seems to be waiting for a device"
        raise LaunchError(what, hint="See the kernel's log: dmesg") from None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _failure(program: str, exit_code: int, stderr: Path, size_before: int) -> str:
    how = f"ended with exit code {exit_code}"
    if exit_code < 0:
        how = f"was killed by {signal.Signals(-exit_code).name}"
    text = stderr.read_bytes()[size_before:].decode("utf-8", errors="replace")
    lines = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if len(lines) > _QUOTED_LINES:  # the first errors and the last
        lines = [*lines[: _QUOTED_LINES // 2], "...", *lines[-_QUOTED_LINES // 2 :]]
    return f"{program} {how}" + (f": {'; '.join(lines)}" if lines else "")
