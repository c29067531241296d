"""Makes a study's missing runs one after another, and records each."""

from __future__ import annotations

import json
import re
import resource
import shutil
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.data.files import RUN_FILE
from fsbench_kit.launch import environment
from fsbench_kit.launch.cleanup import remaining
from fsbench_kit.launch.events import Event, Note, RunEnded, RunStarted
from fsbench_kit.launch.execution import STDERR, STDOUT, Execution, execute, rest
from fsbench_kit.launch.facts import machine_facts
from fsbench_kit.launch.kernel_log import KernelLog
from fsbench_kit.launch.provision import Provision
from fsbench_kit.launch.reading import LogReader
from fsbench_kit.launch.run_record import CLEANUP, PREPARATION, RunRecord, versions
from fsbench_kit.launch.sampling import sampled
from fsbench_kit.launch.scratch import TRIED_AGAIN
from fsbench_kit.launch.stopping_monitor import StoppingMonitor
from fsbench_kit.launch.targets import Folders, Ready, StepError, Target
from fsbench_kit.launch.targets.steps import scratch_name
from fsbench_kit.launch.tuning.applied import applied
from fsbench_kit.launch.tuning.kernel import TuningError
from fsbench_kit.launch.workloads import Argv, RunContext, Work
from fsbench_kit.model.errors import LaunchError
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.launch.consent import Consent, Made
    from fsbench_kit.launch.schedule import PlannedRun
    from fsbench_kit.launch.study import LaunchedStudy

_ROOM: Final = 2**20  # bytes
_BLOCK: Final = 512  # the unit of ru_oublock in Linux
_ENOUGH: Final = 3
"""After this many identical failures in a row, further ones would only waste time."""
TARGET: Final = Path("target")
"""A link in the run's folder to its directory on the target."""
BESIDE: Final = Path("beside")
"""A link to a directory beside the target."""
DEVICE: Final = Path("device")
"""A link to a target that is a device without a filesystem."""


@dataclass
class Session:
    """One start of a launch: the first of its study, or one that resumes it.

    Attributes
    ----------
    folders
        Where it works.
    scratches
        Place -> the scratch folder there. One place is the parent of the study's folder.
    tell
        Called with each event.
    consent
        The block devices that may be overwritten.
    begun
        Whether the study's folder is in place.
    made
        Names of the existing runs, which are not made again.
    rounds
        The number of rounds, as far as it is decided.
    """

    study: LaunchedStudy
    folders: Folders
    scratches: Mapping[Path, Path]
    tell: Callable[[Event], None]
    consent: Consent
    begun: bool = False
    made: list[str] = field(default_factory=list)
    rounds: int = field(init=False)
    _free_at_first: dict[tuple[str, str], int] = field(default_factory=dict)
    _kept: dict[str, Made] = field(default_factory=dict)
    _warned: set[tuple[str, str, str]] = field(default_factory=set)
    _failures: dict[str, list[tuple[int | None, str] | None]] = field(default_factory=dict)
    _took: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    _stop_reason: str | None = None
    _reader: LogReader = field(default_factory=LogReader)

    def __post_init__(self) -> None:
        self.rounds = self.study.plan.rounds

    @property
    def scratch(self) -> Path:
        """The scratch folder from which finished folders can be moved to their place."""
        return self.scratches[self.study.folder.parent]

    def resume(self, *, retry_failed: bool) -> None:
        """Take over the existing runs."""
        self.begun = True
        records = {name: self.study.record(name) for name in self.study.made}
        self.made += [name for name, run in records.items() if run["status"] == "ok" or not retry_failed]
        if len(self.made) == len(self.study.planned_runs):
            self.tell(Note("The study is complete: there is nothing to run."))
            return
        for run in records.values():
            if "free_bytes" in run["environment"]["before"]:
                of = run["target"], run["workload"]
                self._free_at_first.setdefault(of, run["environment"]["before"]["free_bytes"])
        for sentence in self._changes(records.values()):
            self.tell(Note(sentence))
        plan = self.study.plan
        if any(plan.freshness(target) != "fresh" and target.commands.make for target in plan.target):
            self.tell(Note("The filesystems of the earlier runs are gone; further runs share new ones."))

    def _changes(self, records: Iterable[dict[str, Any]]) -> Iterator[str]:
        """Yield what has changed on the machine since the latest existing run."""
        before: dict[str, str] = {}
        for run in records:
            before |= run["settings"] | run["environment"]["before"]["versions"] | {"host": run["host"]}
        for key, value in (environment.machine_settings() | versions(*self.study.plan.workload)).items():
            if before.get(key, value) == value:
                continue
            if key == "boot":
                yield "The machine was restarted since the last run: later runs are from another boot."
            else:
                yield f"The machine has changed since the last run: {key} was {before[key]} and is now {value}."

    def make_runs(self) -> str | None:
        """Make all missing runs; return why it ended before the last one, or ``None``."""
        try:
            with (
                self._reader,
                Provision(self._scratch_of, self.study.plan, consent=self.consent) as provision,
            ):
                return self._make_runs(provision)
        finally:
            self._keep_made()

    def _scratch_of(self, target: Target) -> Path:
        return self.scratches[target.place(self.folders)]

    def _make_runs(self, provision: Provision) -> str | None:
        start = time.monotonic()
        missing = [item for item in enumerate(self.study.planned_runs.items(), 1) if item[1][0] not in self.made]
        monitor = StoppingMonitor(self.study, self.scratch)
        for done, (order, (name, planned)) in enumerate(missing):
            if self._stop_reason is not None:
                return self._stop_reason
            if planned.round is not None:
                self._ask(monitor, planned.round - 1)
            if not planned.is_within(self.rounds):
                break
            rest(self.study.plan.cool_down if done else 0)
            self._refuse_without_room()
            elapsed = time.monotonic() - start
            if used_up := self._used_up(elapsed):
                return f"The budget of {used_up} was used up after {done} run{'' if done == 1 else 's'}."
            self.tell(
                RunStarted(
                    order=order,
                    runs=self._runs,
                    stage=planned.stage,
                    round=planned.round,
                    target=planned.target.name,
                    workload=planned.workload.name,
                    elapsed=elapsed,
                    remaining=self._remaining([run for _, (_, run) in missing[done:]]),
                )
            )
            begun = time.monotonic()
            self._make_run(order, name, planned, provision)
            self._took.setdefault((planned.target.name, planned.workload.name), []).append(
                time.monotonic() - begun
            )
        else:
            self._ask(monitor, self.rounds)
        return self._stop_reason

    def _remaining(self, missing: Sequence[PlannedRun]) -> float | None:
        """Estimate the seconds that runs will take, from similar runs or else from the plan."""
        took = {of: fmean(times) for of, times in self._took.items()}
        seconds = 0.0
        for planned in missing:
            if not planned.is_within(self.rounds):
                continue
            own = took.get((planned.target.name, planned.workload.name))
            like = [time for (_, workload), time in took.items() if workload == planned.workload.name]
            expected = own or (fmean(like) if like else planned.workload.stated_seconds)
            if not expected:
                return None
            seconds += expected + self.study.plan.cool_down
        return seconds

    def _ask(self, monitor: StoppingMonitor, rounds: int) -> None:
        """After a round, ask the stopping rule how many rounds to make."""
        decision = monitor.after(rounds)
        if decision is not None:
            self.rounds, note = decision
            self.study.settle(self.scratch, self.rounds)
            if note is not None:
                self.tell(Note(note))

    @property
    def _runs(self) -> int:
        """The number of runs in all, including existing ones."""
        return sum(planned.is_within(self.rounds) for planned in self.study.planned_runs.values())

    def _refuse_without_room(self) -> None:
        """Refuse to continue if there is hardly space to record the next run."""
        free = shutil.disk_usage(self.scratch).free
        if free < _ROOM:
            raise LaunchError(
                f"the disk for the results is full: only {humanise(free, 'B')} is free",
                file=self.scratch.parent,
                hint="Finished runs are kept. Free space, then run: "
                + self.folders.command_to_resume(self.study.name),
            )

    def _used_up(self, elapsed: float) -> str | None:
        """Return which budget is used up, if any. Each start of a launch has the full budget of its plan."""
        budget = self.study.plan.budget
        if budget.seconds is not None and elapsed > budget.seconds:
            return f"{budget.seconds:g} s"
        if budget.bytes is not None and _written() > budget.bytes:
            return f"{humanise(budget.bytes, 'B')} written"
        return None

    def _make_run(self, order: int, name: str, planned: PlannedRun, provision: Provision) -> None:
        """Make one run. Its folder appears when it is finished, or not at all."""
        new = self.scratch / name
        new.mkdir()
        record = self._record(planned, new, provision)
        if record.execution is not None:
            fresh = self.study.plan.freshness(planned.target) == "fresh"
            planned.workload.complete_log(new, record.steps if fresh else ())
            if record.logs:
                record.reading = self._reader.read(new, record.logs)
        failure = record.failure  # while the run's files are still here
        content = record.to_json(study=self.study.recorded_as, order=order)
        (new / RUN_FILE).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        if self.begun:
            self.study.add(self.scratch, new)
        else:
            self.study.begin(self.scratch, new)
            self.begun = True
        self._keep_made()
        self.made.append(name)
        folder = str(self.study.folder / name)
        self._count(planned, failure, content["exit_code"])
        self.tell(
            RunEnded(
                order=order,
                runs=self._runs,
                folder=folder,
                status=content["status"],
                failure=failure,
                warning=self._warning(record),
            )
        )

    def _count(self, planned: PlannedRun, failure: str | None, exit_code: int | None) -> None:
        """Stop the launch if too many runs in a row have failed in the same way."""
        # Process IDs and times in the message may differ.
        kind = (exit_code, re.sub(r"\d+", "", failure)) if failure is not None else None
        for runs in (f"runs of {planned.workload.name} on {planned.target.name}", "runs"):
            last = self._failures.setdefault(runs, [])
            last.append(kind)
            if kind is not None and last[-_ENOUGH:] == [kind] * _ENOUGH:
                self._stop_reason = (
                    f"{_ENOUGH} {runs} in a row failed for the same reason, so the launch was stopped: {failure}\n"
                    f"Fix that, then run: {self.folders.command_to_resume('--retry-failed', self.study.name)}"
                )
                return

    def _keep_made(self) -> None:
        """Record what was created on block devices, for when the launch is resumed."""
        if self.begun and self.consent.made != self._kept:
            self.study.keep(self.scratch, self.consent.made)
            self._kept = self.consent.made.copy()

    def _warning(self, record: RunRecord) -> str | None:
        """Return a run's conditions that are new for its target and workload; the records have all of them."""
        target, workload = record.planned.target.name, record.planned.workload.name
        new = [found for found in record.conditions if (found[0], target, workload) not in self._warned]
        self._warned |= {(code, target, workload) for code, _ in new}
        return "\n".join(f"{workload} on {target}: {sentence}" for _, sentence in new) or None

    def _record(self, planned: PlannedRun, folder: Path, provision: Provision) -> RunRecord:
        """Prepare the target, run the tool on it, and return the facts about both."""
        plan = self.study.plan
        record = RunRecord(planned, folder)
        if plan.until is not None:
            record.settings["stopping_rule"] = plan.until
        record.settings |= plan.asked
        scratch = str(self._scratch_of(planned.target))
        try:
            with (
                provision.ready(planned.target) as target,
                applied(
                    plan.tuning_of(planned.target, planned.workload),
                    target.nodes,
                    self.scratch,
                    scratch_name(self.scratch),
                    target.servers,
                ) as tuned,
            ):
                self._keep_made()
                record.steps, record.filesystem = target.steps, target.filesystem
                record.tuned = tuned
                record.settings |= tuned.settings
                record.settings |= environment.storage_settings(target.directory, target.members)
                record.settings |= target.settings
                if target.steps:
                    record.settings["provision"] = target.text
                mount = "" if target.node else environment.mount_of(target.directory).line.replace(scratch, "")
                record.before["mount"] = mount
                record.before["machine"] = machine_facts(_devices(target))
                record.before["asked_mount_options"] = planned.target.asked_mount_options
                if target.node:
                    del record.settings["mount_options"]  # those of the filesystem for the results
                context = RunContext(
                    directory=TARGET,
                    beside=BESIDE,
                    filesystem=target.filesystem,
                    device_size=environment.size_under((*target.members, target.directory)[0]),
                    seed=planned.seed,
                    device=None if target.node is None else DEVICE,
                )
                with (
                    TemporaryDirectory(dir=self.scratch) as beside,
                    _link(folder / TARGET, target.directory),
                    _link(folder / BESIDE, Path(beside)),
                    nullcontext() if target.node is None else _link(folder / DEVICE, target.node),
                ):
                    self._work(planned.workload.work(context), target, record)
        except StepError as error:
            record.steps, record.problem = error.steps, f"cannot prepare the target: {error}"
        except TuningError as error:
            record.problem = str(error)
        except OSError as error:  # the device is gone, or the filesystem has failed
            record.problem = f"the target failed: {error.strerror}"
        if plan.tunings and (left := remaining(self.scratch)):
            self._stop_reason = (
                f"The launch was stopped because changes for a run could not be undone: {'; '.join(left)}\n"
                + TRIED_AGAIN
            )
        return record

    def _work(self, work: Work, target: Ready, record: RunRecord) -> None:
        """Run the commands of a run, and record the machine around the measured one."""
        plan, directory = self.study.plan, record.folder / TARGET if work.on_target else record.folder
        workload, timeout = record.planned.workload, self.study.plan.timeout_of(record.planned.workload)
        of_run = record.planned.target, workload

        def run(argv: Argv, stdout: str, stderr: str, directory: Path = directory) -> Execution:
            return execute(
                argv,
                record.folder,
                timeout=timeout,
                directory=directory,
                stdout=stdout,
                stderr=stderr,
                words=record.tuned.words if record.tuned else (),
            )

        for name, text in work.files.items():
            (record.folder / name).write_text(text, encoding="utf-8")
        own = [(argv, record.folder / TARGET) for argv in plan.before_run(*of_run)]
        for argv, where in (*own, *((argv, directory) for argv in work.before)):
            record.preparation.append(run(argv, PREPARATION, PREPARATION, where))
            if record.preparation[-1].failure is not None:
                break
        else:
            if plan.trims(record.planned.target, workload):
                record.before["trim"] = environment.trim(target.directory)
                if "image_allocation" in record.settings:  # trimming changes it
                    record.settings["image_allocation"] += ", trimmed"
            self._reader.get_ready()
            record.before["caches"] = environment.settle(drop_caches=plan.drops_caches(workload))
            if plan.keeps_own_cache(record.planned.target):
                record.before["caches"] += f"; {record.planned.target.own_cache} may have kept more"
            record.before["quiet"] = environment.quiet(target.directory, target.members)
            record.before |= environment.machine_state(target.directory, target.members)
            free = record.before["free_bytes"]
            # The files that a workload prepares take the same space each time.
            of = record.planned.target.name, record.planned.workload.name
            record.free_at_first = self._free_at_first.setdefault(of, free)
            devices = _devices(target)
            log = KernelLog()
            try:
                with sampled(devices, record.folder) as sampler:
                    record.execution = run(work.measured, STDOUT, STDERR)
                record.after |= environment.machine_state(target.directory, target.members)
                record.after["sampling"] = sampler.cost
                if record.after["asked"] is not None:  # by the run's programs, not by what observes them
                    record.after["asked"]["read_bytes"] -= sampler.read_bytes
            finally:
                record.kernel_errors = log.errors(devices)
            record.out_of_memory = record.tuned is not None and record.tuned.is_out_of_memory
        for argv in work.after:
            record.cleanup.append(run(argv, CLEANUP, CLEANUP))
        for argv in plan.after_run(*of_run):
            record.cleanup.append(run(argv, CLEANUP, CLEANUP, record.folder / TARGET))
            if (why := record.cleanup[-1].failure) is not None:
                record.problem = record.problem or f"a command after the run failed: {why}"


def _devices(target: Ready) -> tuple[environment.Device, ...]:
    return environment.devices_under(*(target.members or [target.directory]))


@contextmanager
def _link(link: Path, directory: Path) -> Iterator[None]:
    """Link a name to the target, so that commands are the same in all runs and reveal nothing of this machine."""
    link.symlink_to(directory)
    try:
        yield
    finally:
        link.unlink()


def _written() -> int:
    """Return the bytes written by the programs started so far, ignoring other activity."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock * _BLOCK
