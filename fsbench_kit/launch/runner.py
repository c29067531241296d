"""The process that performs a launch: it makes the runs of a plan one after another and records each.

`fsbench_kit.launch.launcher` starts it, passing a descriptor of the ``/proc`` that shows the whole machine and,
optionally, one whose closing tells `fsbench_kit.launch.guard` that the process has ended. The first line on
standard input holds the request; events go to standard output. The rest of standard input is the lifeline: nothing
is ever sent there, and when it closes, the process that started this one is gone or wants it to end. The current
run is then ended and its traces are removed; finished runs stay.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from fsbench_kit.launch import environment
from fsbench_kit.launch.consent import Consent
from fsbench_kit.launch.devices import Identity
from fsbench_kit.launch.events import Event, Finished, Note, Planned, Refused, to_line
from fsbench_kit.launch.execution import LifelineError, guard_lifeline, rest
from fsbench_kit.launch.locks import BusyError, Owner, device_names, locked
from fsbench_kit.launch.plan import Plan
from fsbench_kit.launch.processes import MARK
from fsbench_kit.launch.resolve import resolve_plan
from fsbench_kit.launch.scratch import scratch, sweep_machine
from fsbench_kit.launch.session import Session
from fsbench_kit.launch.stopping import caution
from fsbench_kit.launch.study import LaunchedStudy, made_on_devices
from fsbench_kit.launch.targets import Folders
from fsbench_kit.model.errors import LaunchError

_PAUSE: Final = 1.0
"""Seconds between two checks whether another launch has finished."""


class Request(BaseModel):
    """What the launcher asks for.

    Attributes
    ----------
    folders
        Where the launch works.
    study
        The study's name.
    replace
        Whether to replace a study of the same name.
    resume, retry_failed
        Whether to resume a study of that name, and whether to repeat its failed runs.
    wait
        Seconds to wait for other launches on the same devices.
    isolation_problem
        Why this process has no mount and PID namespaces of its own; ``None`` if it has them.
    devices
        The block devices that were confirmed besides the plan.
    """

    plan: Plan
    folders: Folders
    study: str
    replace: bool
    resume: bool
    retry_failed: bool
    wait: float
    owner: Owner
    isolation_problem: str | None
    devices: frozenset[Identity]


def main() -> int:
    """Perform the launch that standard input requests, and return the exit code."""
    guard_lifeline()
    for descriptor in sys.argv[1:]:
        os.set_inheritable(int(descriptor), False)
    request = Request.model_validate(json.loads(_first_line()))
    try:
        _tell(Finished(_launch(request)))
    except (LifelineError, BrokenPipeError):
        return 1
    except LaunchError as error:
        _tell(Refused(error.what, str(error.file) if error.file else None, error.hint))
        return 1
    except OSError as error:  # the disk for the results is full or gone
        hint = f"Finished runs are kept. Fix this, then run: {request.folders.command_to_resume(request.study)}"
        _tell(Refused(f"cannot continue the launch: {error.strerror}", error.filename, hint))
        return 1
    return 0


def _first_line() -> bytes:
    """Read one line of standard input and nothing after it."""
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(sys.stdin.fileno(), 1) or b"\n"
    return line


def _tell(event: Event) -> None:
    sys.stdout.write(to_line(event))
    sys.stdout.flush()


def _launch(request: Request) -> str | None:
    """Perform the launch; return why it ended before its plan was complete, or ``None``."""
    for sentence in sweep_machine():
        _tell(Note(sentence))
    asked, folders = request.plan, request.folders
    runs = folders.results
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "Name another one: fsbench launch --to FOLDER"
        raise LaunchError(
            f"cannot create the folder for results: {error.strerror}", file=runs, hint=hint
        ) from None
    consent = Consent(
        request.devices,
        processes=Path(f"/proc/self/fd/{sys.argv[1]}"),
        made=made_on_devices(runs / request.study) if request.resume else {},
    )
    plan, notes = resolve_plan(asked, folders, isolation_problem=request.isolation_problem, consent=consent)
    if request.resume and plan != asked:
        what = "cannot resume: this machine no longer has all that the plan names"
        raise LaunchError(what, file=runs / request.study, hint="\n".join(notes))
    study = LaunchedStudy(runs / request.study, plan, notes)
    with ExitStack() as stack:
        _lock(stack, study, folders, request.owner, time.monotonic() + request.wait)
        if not request.resume:
            study.refuse_to_overwrite(replace=request.replace)
        scratches = {
            place: stack.enter_context(scratch(place, mark=os.environ[MARK])) for place in plan.places(folders)
        }
        for name in {name for target in plan.target for name in target.block_devices}:
            stack.enter_context(consent.held(name))
        session = Session(study, folders, scratches, _tell, consent)
        if request.resume:
            session.resume(retry_failed=request.retry_failed)
        _tell(Planned(study.name, str(study.folder), len(study.planned_runs), done=len(session.made)))
        kept = environment.caches_problem() if any(map(plan.drops_caches, plan.workload)) else None
        for note in filter(None, (caution(min(map(plan.repeats_of, plan.workload))), kept, *notes)):
            _tell(Note(note))
        return session.make_runs()


def _lock(stack: ExitStack, study: LaunchedStudy, folders: Folders, owner: Owner, deadline: float) -> None:
    """Lock the study and all devices that its runs write to."""
    paths = {
        path for target in study.plan.target for path in (target.place(folders), *map(Path, target.block_devices))
    }
    devices = {name for path in paths for name in device_names(path)}
    if any(tuning.of_kernel for tuning in study.plan.tunings):
        devices.add("the settings of this machine's kernel")
    # In a fixed order, so that two launches never wait for each other.
    for name in (f"the study {study.folder}", *sorted(devices)):
        _lock_in_turn(stack, name, owner, deadline)


def _lock_in_turn(stack: ExitStack, name: str, owner: Owner, deadline: float) -> None:
    """Acquire a lock, waiting until the deadline for the launch that holds it."""
    last = None
    while True:
        try:
            stack.enter_context(locked(name, owner))
        except BusyError as error:
            if time.monotonic() >= deadline:
                raise
            if error.what != last:
                last = error.what
                _tell(Note(f"Waiting: {last}."))
            rest(_PAUSE)
        else:
            return


if __name__ == "__main__":
    sys.exit(main())
