"""Starts the process that performs a launch, follows its events, and makes sure that it ends."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import tempfile
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.launch.campaign import refuse_other_levels
from fsbench_kit.launch.consent import identities
from fsbench_kit.launch.devices import PROCESSES
from fsbench_kit.launch.events import Event, Finished, Note, Planned, Refused, RunEnded, from_line
from fsbench_kit.launch.guard import guarded
from fsbench_kit.launch.locks import Owner
from fsbench_kit.launch.processes import MARK, end_marked
from fsbench_kit.launch.runner import Request
from fsbench_kit.launch.study import find_study
from fsbench_kit.launch.targets import Folders
from fsbench_kit.launch.tools import ISOLATION, check_system, isolation_problem, program_environment
from fsbench_kit.model.errors import LaunchError, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fsbench_kit.launch.plan import Plan

_RUNNER: Final = (sys.executable, "-P", "-m", "fsbench_kit.launch.runner")
_TIMEOUT: Final = 60.0  # seconds for a runner to clean up; an unmount may have much to write


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """The outcome of a launch.

    Attributes
    ----------
    study
        The study's name.
    folder
        The study's folder, which has one folder for each run.
    planned
        How many runs the plan has.
    done
        How many of them existed before.
    runs
        The folders of the runs that were made, in order.
    failures
        Folder -> why that run failed.
    warnings
        What may have spoilt figures, once per target and workload; the records of the runs have every case.
    notes
        What was left out or replaced.
    stopped
        Why the launch ended before its plan was complete; ``None`` if it did not.

    Examples
    --------
    >>> from pathlib import Path
    >>> result = LaunchResult(
    ...     study="disks",
    ...     folder=Path("disks"),
    ...     planned=2,
    ...     done=0,
    ...     runs=(Path("disks/001-xfs"),),
    ...     failures={},
    ...     warnings=(),
    ...     notes=(),
    ...     stopped="the disk is full",
    ... )
    >>> result.planned - result.done - len(result.runs)
    1
    """

    study: str
    folder: Path
    planned: int
    done: int
    runs: tuple[Path, ...]
    failures: dict[Path, str]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    stopped: str | None


def launch(
    plan: Plan,
    *,
    root: Path,
    to: Path = LAUNCHED,
    study: str | None = None,
    replace: bool = False,
    devices: Sequence[str] = (),
    wait: float = 0,
    progress: Callable[[Event], None] | None = None,
) -> LaunchResult:
    """Make the runs of a plan, and write each to ``<to>/<study>/``.

    A separate process makes the runs, with mount and PID namespaces of its own where possible, so that nothing
    outlives it. Interrupting this call ends that process; finished runs stay.

    Parameters
    ----------
    plan
        What to run.
    root
        The directory to which relative directories in the plan refer.
    to
        The folder for the study, relative to `root` or absolute.
    study
        The study's name. By default it consists of the plan's `id` and the time, so that launching a plan twice
        makes two studies.
    replace
        Whether to replace an earlier launch of the same name. If false, such a launch is an error.
    devices
        The block devices of the plan whose content may be destroyed.
    wait
        Seconds to wait for other launches that use the same device.
    progress
        Called with each event.

    Raises
    ------
    RequestError
        If `study` is not a valid folder name, or `root` is not a directory.
    LaunchError
        If the launch cannot start because a target is not available, space is short, the study exists, or another
        launch uses the same device; or if its process was killed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fsbench_kit.launch import Plan
    >>> here = {"kind": "directory", "name": "here", "directory": "."}
    >>> listing = {"tool": "command", "name": "listing", "command": ["ls", "/"]}
    >>> plan = Plan(id="listing", repeats=2, target=[here], workload=[listing], filesystems="reused")
    >>> with TemporaryDirectory() as folder:
    ...     result = launch(plan, root=Path(folder))
    >>> [run.name for run in result.runs], result.failures, result.stopped
    (['001-here-listing', '002-here-listing'], {}, None)
    """
    name = study_name(plan, study)
    if not root.is_dir():
        raise RequestError("this is not a directory", file=root, hint="Name the project's root.")
    return _run(plan, Folders(root, to), name, progress, devices=devices, replace=replace, wait=wait)


def study_name(plan: Plan, asked: str | None) -> str:
    """Return the name of a plan's study: the requested one, or the plan's `id` and the time.

    Raises
    ------
    RequestError
        If the name is not a valid folder name.
    """
    name = asked or f"{plan.id}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII):
        what = f'"{name}" cannot be the name of a study'
        raise RequestError(what, hint='Use letters, digits, ".", "_" and "-", and begin with a letter or digit.')
    return name


def resume(
    study: str | None = None,
    *,
    root: Path,
    to: Path = LAUNCHED,
    retry_failed: bool = False,
    devices: Sequence[str] = (),
    progress: Callable[[Event], None] | None = None,
) -> LaunchResult:
    """Resume a study whose launch ended before its plan was complete: make the missing runs, in order.

    The plan is the study's own ``plan.toml``. Change it there to add rounds or adjust the budget; the order of the
    existing runs stays the same. Each resumption has the whole budget again.

    Parameters
    ----------
    study
        The study's name. By default, of the studies that are unfinished or have runs to repeat, the one that got a
        run last.
    root, to
        As for `launch`.
    retry_failed
        Whether to repeat failed runs and replace them. If false, they stay as they are.
    devices
        The block devices of the plan whose content may be destroyed.
    progress
        Called with each event.

    Raises
    ------
    RequestError
        If there is no such study.
    InputError
        If its plan cannot be read.
    LaunchError
        If the launch cannot start, as with `launch`; or if the plan no longer matches the existing runs, or the
        machine no longer has everything that the plan names.

    Examples
    --------
    >>> import shutil
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fsbench_kit.launch import Plan
    >>> here = {"kind": "directory", "name": "here", "directory": "."}
    >>> listing = {"tool": "command", "name": "listing", "command": ["ls", "/"]}
    >>> plan = Plan(id="listing", repeats=2, target=[here], workload=[listing], filesystems="reused")
    >>> with TemporaryDirectory() as folder:
    ...     begun = launch(plan, root=Path(folder))
    ...     shutil.rmtree(begun.runs[1])  # as if the machine had stopped
    ...     again = resume(begun.study, root=Path(folder))
    >>> again.done, [run.name for run in again.runs]
    (1, ['002-here-listing'])
    """
    folders = Folders(root, to)
    found = find_study(folders.results, study, retry_failed=retry_failed)
    if found.folder.parent != folders.results:
        folders = Folders(root, found.folder.parent)
    return _run(found.plan, folders, found.name, progress, devices=devices, resume=True, retry_failed=retry_failed)


def _run(
    plan: Plan,
    folders: Folders,
    study: str,
    progress: Callable[[Event], None] | None,
    *,
    devices: Sequence[str],
    replace: bool = False,
    resume: bool = False,
    retry_failed: bool = False,
    wait: float = 0,
) -> LaunchResult:
    check_system()
    refuse_other_levels(plan)
    problem = isolation_problem()
    request = Request(
        plan=plan,
        folders=folders._replace(root=folders.root.resolve()),
        study=study,
        replace=replace,
        resume=resume,
        retry_failed=retry_failed,
        wait=wait,
        owner=Owner.here(),
        isolation_problem=problem,
        devices=frozenset(identities(devices)),
    )
    command = _RUNNER if problem else (*ISOLATION, *_RUNNER)
    outcome = _Outcome()
    with tempfile.TemporaryFile("w+") as errors:
        with (
            guarded(plan.places(request.folders) if plan.tunings else ()) as held,
            _running(command, errors, held) as runner,
        ):
            _ask(runner, request)
            for event in _events(runner):
                outcome.hear(event)
                if progress is not None:
                    progress(event)
        errors.seek(0)
        return outcome.result(runner.returncode, errors.read())


def _ask(runner: subprocess.Popen[bytes], request: Request) -> None:
    if runner.stdin is not None:
        with suppress(BrokenPipeError):  # a runner that could not start explains itself on standard error
            runner.stdin.write(json.dumps(request.model_dump(mode="json")).encode() + b"\n")
            runner.stdin.flush()


def _events(runner: subprocess.Popen[bytes]) -> Iterator[Event]:
    """Yield the runner's events until it ends."""
    if runner.stdout is None:
        return
    rest = b""
    while True:
        # Ctrl-C must interrupt this. It always interrupts a select but not a read: Polars installs a signal
        # handler, after which the kernel restarts the read.
        select.select([runner.stdout], [], [])
        piece = os.read(runner.stdout.fileno(), 65536)
        if not piece:
            return
        *lines, rest = (rest + piece).split(b"\n")
        yield from (from_line(line) for line in lines)


@contextmanager
def _running(
    command: tuple[str, ...], errors: IO[str], held: tuple[int, ...]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a runner, and end it with everything that it started, whatever happens within the context.

    Parameters
    ----------
    held
        Descriptors for the runner to hold; they are closed here.
    """
    mark = uuid.uuid4().hex
    processes = os.open(PROCESSES, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        runner = subprocess.Popen(
            (*command, *map(str, (processes, *held))),
            env={**program_environment(), MARK: mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            # In its own session, Ctrl-C in a terminal does not reach it; closing its lifeline ends it in order.
            start_new_session=True,
            # In its own PID namespace, its /proc would not show which processes have a device open.
            pass_fds=(processes, *held),
        )
    finally:
        for descriptor in (processes, *held):
            os.close(descriptor)
    try:
        yield runner
    finally:
        try:
            # Its lifeline, and the pipe that it may be blocked on while reporting.
            for pipe in (runner.stdin, runner.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()
            _await_end(runner)
        finally:
            end_marked(mark)
            runner.wait()


def _await_end(runner: subprocess.Popen[bytes]) -> None:
    ended = os.pidfd_open(runner.pid)
    try:
        select.select([ended], [], [], _TIMEOUT)
    finally:
        os.close(ended)


@dataclass
class _Outcome:
    """What a runner has reported so far."""

    planned: Planned | None = None
    ended: list[RunEnded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refused: Refused | None = None
    finished: Finished | None = None

    def hear(self, event: Event) -> None:
        match event:
            case Planned():
                self.planned = event
            case RunEnded():
                self.ended.append(event)
            case Note():
                self.notes.append(event.text)
            case Refused():
                self.refused = event
            case Finished():
                self.finished = event

    def result(self, exit_code: int, errors: str) -> LaunchResult:
        if self.refused is not None:
            raise LaunchError(self.refused.what, file=self.refused.file, hint=self.refused.hint)
        if self.planned is None or self.finished is None:
            done = f"{len(self.ended)} run{'' if len(self.ended) == 1 else 's'}"
            raise LaunchError(
                f"the launch ended unexpectedly after {done} (exit code {exit_code})",
                file=self.planned.folder if self.planned else None,
                excerpt=errors.strip() or None,
                hint="Finished runs are kept. The next launch removes what this one left behind.",
            )
        return LaunchResult(
            study=self.planned.study,
            folder=Path(self.planned.folder),
            planned=self.planned.runs,
            done=self.planned.done,
            runs=tuple(Path(run.folder) for run in self.ended),
            failures={Path(run.folder): run.failure for run in self.ended if run.failure},
            warnings=tuple(line for run in self.ended if run.warning for line in run.warning.splitlines()),
            notes=tuple(self.notes),
            stopped=self.finished.stopped,
        )
