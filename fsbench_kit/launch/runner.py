"""The process that does a launch: makes the runs of a plan one after the other, and writes each down.

It is started by `fsbench_kit.launch.launcher`, reads what to do from the first line of standard input, and tells
what happens on standard output. The rest of standard input is its lifeline: nothing ever comes there, and when it
ends, whoever started this process is gone or wants it gone. Then the run under way is ended and its traces are
removed; runs that were finished stay.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.errors import LaunchError
from fsbench_kit.launch import environment
from fsbench_kit.launch.choice import choose
from fsbench_kit.launch.events import Finished, Note, Planned, Refused, RunEnded, RunStarted, to_line
from fsbench_kit.launch.execution import (
    STDERR,
    STDOUT,
    LifelineError,
    check_lifeline,
    execute,
    guard_lifeline,
)
from fsbench_kit.launch.observation import CLEANUP, PREPARATION, RECORD, Observation
from fsbench_kit.launch.plan import Plan, plan_text
from fsbench_kit.launch.processes import MARK
from fsbench_kit.launch.schedule import schedule
from fsbench_kit.launch.scratch import scratch
from fsbench_kit.launch.stopping import caution
from fsbench_kit.launch.targets import RUNS, StepError
from fsbench_kit.launch.workloads import Ground
from fsbench_kit.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsbench_kit.launch.events import Event
    from fsbench_kit.launch.execution import Execution
    from fsbench_kit.launch.schedule import Cell
    from fsbench_kit.launch.workloads import Argv, Work

STUDY: Final = "study.toml"
PLAN: Final = "plan.toml"

_BLOCK: Final = 512  # the unit of ru_oublock in Linux


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the launcher asks for.

    Attributes
    ----------
    plan
        A `Plan` as JSON holds it.
    root
        The project's root.
    study, replace
        The study's name, and whether one of that name is to be replaced.
    launcher
        The process that a person would end to end this launch.
    isolation_problem
        Why this process has no mounts and processes of its own, or ``None`` where it has.
    """

    plan: dict[str, Any]
    root: str
    study: str
    replace: bool
    launcher: int
    isolation_problem: str | None


def main() -> int:
    """Do the launch that standard input asks for, and return the exit code."""
    guard_lifeline()
    request = Request(**json.loads(_first_line()))
    try:
        _tell(Finished(_launch(request)))
    except LaunchError as error:
        _tell(Refused(error.what, str(error.file) if error.file else None, error.hint))
        return 1
    except (LifelineError, BrokenPipeError):
        return 1
    return 0


def _first_line() -> bytes:
    """Read a line of standard input, and nothing after it."""
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(sys.stdin.fileno(), 1) or b"\n"
    return line


def _tell(event: Event) -> None:
    sys.stdout.write(to_line(event))
    sys.stdout.flush()


def _launch(request: Request) -> str | None:
    """Do the launch, and return why it ended before its plan was done, if it did."""
    root = Path(request.root)
    runs = (root / RUNS).resolve()
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LaunchError(f"the folder for results cannot be made: {error.strerror}", file=runs) from None
    asked = Plan.model_validate(request.plan)
    plan, notes = choose(asked, root, isolation_problem=request.isolation_problem)
    places = dict.fromkeys([runs, *(target.place(root) for target in plan.target)])
    with ExitStack() as stack:
        scratches = {
            place: stack.enter_context(scratch(place, launcher=request.launcher, mark=os.environ[MARK]))
            for place in places
        }
        study = _Study(plan, request.study, runs / request.study, root, scratches)
        study.create(replace=request.replace)
        try:
            _tell(Planned(study.name, str(study.folder), len(study.cells)))
            for note in filter(None, (caution(plan.repeats), *notes)):
                _tell(Note(note))
            return study.make_runs()
        finally:
            study.discard_if_empty()


@dataclass
class _Study:
    """A study under way.

    Attributes
    ----------
    folder
        Where its runs go.
    scratches
        Place -> the scratch folder there. One place is the parent of `folder`.
    """

    plan: Plan
    name: str
    folder: Path
    root: Path
    scratches: Mapping[Path, Path]
    cells: tuple[Cell, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.cells = schedule(self.plan)

    @property
    def scratch(self) -> Path:
        """The scratch folder from which finished folders can be moved to their place."""
        return self.scratches[self.folder.parent]

    def create(self, *, replace: bool) -> None:
        """Make the study's folder with its two descriptions.

        Raises
        ------
        LaunchError
            If there is one of that name, which is not to be replaced or is no launched study.
        """
        if self.folder.exists():
            if not replace:
                what = f'there is a study "{self.name}" already, and raw results are not overwritten'
                hint = "Name the study differently, give no name to have the time in it, or ask to replace it."
                raise LaunchError(what, file=self.folder, hint=hint)
            if not (self.folder / PLAN).is_file():
                what = "this was not made by a launch, so it is not replaced"
                raise LaunchError(what, file=self.folder, hint="Name the study differently.")
            self.folder.rename(self._replaced)
        new = self.scratch / "study"
        new.mkdir()
        titles = {"id": self.name, "title": self.plan.title}
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in titles.items()]
        (new / STUDY).write_text("".join(["[study]\n", *lines]), encoding="utf-8")
        (new / PLAN).write_text(plan_text(self.plan), encoding="utf-8")
        _publish(new, self.folder)

    def discard_if_empty(self) -> None:
        """Remove the study if it has no run, and put back the one that it replaced."""
        if any(self.folder.glob(f"*/{RECORD}")):
            return
        shutil.rmtree(self.folder)
        if self._replaced.exists():
            self._replaced.rename(self.folder)

    @property
    def _replaced(self) -> Path:
        return self.scratch / "replaced"

    def make_runs(self) -> str | None:
        """Make all runs, and return why it ended before the last, if it did."""
        start = time.monotonic()
        budget = self.plan.budget
        for order, cell in enumerate(self.cells, 1):
            check_lifeline()
            elapsed = time.monotonic() - start
            if budget.seconds is not None and elapsed > budget.seconds:
                return f"The budget of {budget.seconds:g} s was used up after {order - 1} runs."
            if budget.bytes is not None and _written() > budget.bytes:
                return f"The budget of {humanise(budget.bytes, 'B')} written was used up after {order - 1} runs."
            mean = elapsed / (order - 1) if order > 1 else None
            _tell(
                RunStarted(
                    order=order,
                    runs=len(self.cells),
                    round=cell.round,
                    target=cell.target.name,
                    workload=cell.workload.name,
                    elapsed=elapsed,
                    remaining=mean * (len(self.cells) - order + 1) if mean is not None else None,
                )
            )
            self._make_run(order, cell)
        return None

    def _make_run(self, order: int, cell: Cell) -> None:
        """Make one run. Its folder appears when it is finished, or not at all."""
        name = f"{order:0{max(3, len(str(len(self.cells))))}d}-{cell.target.name}-{cell.workload.name}"
        new = self.scratch / name
        new.mkdir()
        seen = self._observe(cell, new)
        if seen.execution is not None and seen.execution.failure is None:
            cell.workload.conclude(new, seen.steps)
        failure = seen.failure
        record = seen.record(study=self.name, order=order)
        (new / RECORD).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        _publish(new, self.folder / name)
        _tell(
            RunEnded(
                order=order,
                runs=len(self.cells),
                folder=str(self.folder / name),
                failure=failure,
            )
        )

    def _observe(self, cell: Cell, folder: Path) -> Observation:
        """Make the target ready, run the tool on it, and return what there is to say of both."""
        seen = Observation(cell, folder)
        scratch_folder = self.scratches[cell.target.place(self.root)]
        try:
            with (
                _folder(self.scratch / "beside") as beside,
                _folder(scratch_folder / "target") as place,
                cell.target.ready(place) as target,
            ):
                seen.steps, seen.filesystem = target.steps, target.filesystem
                seen.settings |= environment.storage_settings(target.directory)
                if target.steps:
                    seen.settings["provision"] = target.text
                seen.before["mount"] = environment.mount_of(target.directory).line
                devices = environment.devices_under(target.directory)
                ground = Ground(
                    directory=target.directory,
                    beside=beside,
                    filesystem=target.filesystem,
                    device_size=devices[0].size if devices else None,
                    seed=self.plan.seed + cell.round,  # all targets get the same work within a round
                )
                self._work(cell.workload.work(ground), ground, seen)
        except StepError as error:
            seen.steps = error.steps
        return seen

    def _work(self, work: Work, ground: Ground, seen: Observation) -> None:
        """Run the commands of a run, and observe the machine around the one that is measured."""
        directory = ground.directory if work.on_target else seen.folder

        def run(argv: Argv, stdout: str, stderr: str) -> Execution:
            paths = {"stdout": seen.folder / stdout, "stderr": seen.folder / stderr}
            return execute(argv, directory, timeout=self.plan.timeout, **paths)

        for name, text in work.files.items():
            (seen.folder / name).write_text(text, encoding="utf-8")
        for argv in work.before:
            seen.preparation.append(run(argv, PREPARATION, PREPARATION))
            if seen.preparation[-1].failure is not None:
                break
        else:
            seen.before["caches"] = environment.settle(drop_caches=self.plan.drop_caches)
            seen.before |= environment.state(ground.directory)
            seen.execution = run(work.measured, STDOUT, STDERR)
            seen.after |= environment.state(ground.directory)
        for argv in work.after:
            seen.cleanup.append(run(argv, CLEANUP, CLEANUP))


@contextmanager
def _folder(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _written() -> int:
    """Return the bytes that the programs started so far have written. What else goes on is not counted."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock * _BLOCK


def _publish(folder: Path, place: Path) -> None:
    """Move a folder that is finished to its place, whole, and see to it that it outlives a crash."""
    for path in (*folder.iterdir(), folder):
        _flush(path)
    folder.rename(place)
    _flush(place.parent)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())
