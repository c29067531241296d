"""Launches a plan on several hosts at once: each host has a launch of its own, whose runs are copied here.

Each host makes one run at a time. The order is random over hosts and rounds: each host has its own seed, drawn
from the plan's. If a connection breaks, the launch continues and is checked again when the host answers. A host
that is silent for too long counts as lost, with the runs that it has not sent; its rounds are made on the other
hosts.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import time
from collections import Counter
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Flag
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fsbench_kit.data.files import RUN_FILE
from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.launch.events import Note, Planned, RunEnded
from fsbench_kit.launch.files import publish
from fsbench_kit.launch.hosts_study import HostsStudy, Part
from fsbench_kit.launch.launcher import LaunchResult, study_name
from fsbench_kit.launch.locks import Owner, locked
from fsbench_kit.launch.plan import plan_text, read_plan
from fsbench_kit.launch.remote import Answer, Block, begin, poll, stop
from fsbench_kit.launch.study_files import HOSTS, PLAN
from fsbench_kit.launch.targets import Folders
from fsbench_kit.model.errors import FsbenchError, LaunchError, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from fsbench_kit.launch.events import Event
    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.remote import LaunchState

PATIENCE: Final = 600.0
"""Seconds for which a host may be silent before it counts as lost."""
_PAUSE: Final = 5.0
"""Seconds between two polls of a host. Each costs a moment of its time, possibly during a measurement."""
_STARTS: Final = 3
"""How many times a launch is started on a host that ends it in mid-run, as a reboot does."""


class Worker(NamedTuple):
    """A host: an executor that makes one call at a time there, and the folder for launches there."""

    executor: Executor
    folder: str


def launch_on(
    plan: Plan,
    hosts: Mapping[str, Worker],
    *,
    root: Path,
    to: Path = LAUNCHED,
    study: str | None = None,
    patience: float = PATIENCE,
    progress: Callable[[Event], None] | None = None,
) -> LaunchResult:
    """Make the runs of a plan on each of several hosts, and copy them to ``<to>/<study>/<host>/``.

    An existing study is continued: runs that are here stay, and launches that are still running are found again.
    Interrupting this call interrupts the launches on all hosts that answer.

    Parameters
    ----------
    plan
        What to run on each host.
    hosts
        The hosts, by name.
    root, to, study
        As for `launch`.
    patience
        Seconds for which a host may be silent before it counts as lost.
    progress
        Called with each event.

    Raises
    ------
    RequestError
        If `study` is not a valid folder name, or the plan cannot run on several hosts.
    LaunchError
        If another plan was launched under that name, the study is in use, or no host could be reached.
    """
    _refuse_unfit(plan)
    folder = Folders(root, to).results / study_name(plan, study)
    with locked(f"the study {folder}", Owner.here()):
        return _Launch(HostsStudy(folder, plan, hosts), hosts, patience, progress or (lambda _: None)).made()


def ask_each(
    plan: Plan, hosts: Mapping[str, Worker], what: Callable[..., Answer], **options: bool
) -> Iterator[tuple[str, Answer]]:
    """Ask all hosts about a plan before its launch, and yield their answers by host name.

    Parameters
    ----------
    what
        `fsbench_kit.launch.remote.try_there` or `fsbench_kit.launch.remote.preview_there`.
    **options
        Its options.

    Raises
    ------
    RequestError
        If the plan cannot run on several hosts.
    """
    _refuse_unfit(plan)
    study = HostsStudy(Path(), plan, hosts)
    asked = {
        part.host: hosts[part.host].executor.submit(what, hosts[part.host].folder, plan_text(part.plan), **options)
        for part in study.parts
    }
    for host, answer in asked.items():
        try:
            yield host, answer.result()
        except BrokenExecutor as error:
            yield host, Answer([], [f"it does not answer ({error})"])
        except FsbenchError as error:
            yield host, Answer([], ["\n".join(filter(None, (error.what, error.hint)))])


def _refuse_unfit(plan: Plan) -> None:
    named = [name for target in (*plan.target, *plan.otherwise) for name in target.block_devices]
    if named:
        hint = "The name may refer to another disk there. Launch the plan on the host itself."
        raise RequestError(f"a launch on several hosts must not overwrite devices such as {named[0]}", hint=hint)
    if together := [workload.name for workload in plan.workload if getattr(workload, "hosts", None)]:
        what = f'workload "{together[0]}" has hosts of its own, which run it together'
        raise RequestError(what, hint="Launch it here: leave out --ssh, --scheduler or the hosts of the plan.")
    for key, levels in plan.campaign.items():
        if len(levels) > 1:
            what = f"this plan varies {key} between the launches of a campaign"
            hint = f"Name the campaign: fsbench launch PLAN --campaign NAME --as {key}={levels[0]}"
            raise RequestError(what, hint=hint)


@dataclass
class _Launch:
    """A running launch on several hosts, each followed by a thread."""

    study: HostsStudy
    hosts: Mapping[str, Worker]
    patience: float
    progress: Callable[[Event], None]
    _ended: list[RunEnded] = field(default_factory=list)
    _problems: list[str] = field(default_factory=list)
    _stop: Flag = field(default_factory=Flag)
    _lost: set[str] = field(default_factory=set)
    _planned: int = 0
    _done: int = 0

    def made(self) -> LaunchResult:
        """Make all runs, copy them here, and return the result."""
        self._begin()
        parts = list(self.study.parts)
        homes = [self.study.home(part) for part in parts]
        self._planned = sum(len(home.planned_runs) for home in homes)
        self._done = sum(len(home.made) for home in homes)
        self.progress(Planned(self.study.folder.name, str(self.study.folder), self._planned, self._done))
        while parts:
            self._make(parts)
            parts = list(self._reassigned(parts))
        return LaunchResult(
            study=self.study.folder.name,
            folder=self.study.folder,
            planned=self._planned,
            done=self._done,
            runs=tuple(Path(run.folder) for run in self._ended),
            failures={Path(run.folder): run.failure for run in self._ended if run.failure},
            warnings=(),
            notes=(),
            stopped="\n".join(self._problems) or None,
        )

    def _begin(self) -> None:
        """Record what is launched, or check that it equals what was launched before."""
        plan = self.study.folder / HOSTS
        if self.study.folder.exists() and not (
            plan.is_file() and _work(read_plan(plan, elsewhere=True)) == _work(self.study.plan)
        ):
            what = f'a study "{self.study.folder.name}" exists already, and raw results are never overwritten'
            raise LaunchError(what, file=self.study.folder, hint="Choose another name.")
        self.study.folder.mkdir(parents=True, exist_ok=True)
        for left in self.study.folder.glob(".new-*"):  # from a process that was killed
            shutil.rmtree(left)
        new = self.study.folder / f".{HOSTS}"
        new.write_text(plan_text(self.study.plan), encoding="utf-8")
        publish(new, plan)

    def _make(self, parts: Sequence[Part]) -> None:
        """Make parts: different hosts in parallel, the parts of one host one after another."""
        signal.siginterrupt(signal.SIGINT, True)  # Polars makes interrupted system calls restart
        by_host: dict[str, list[Part]] = {}
        for part in parts:
            by_host.setdefault(part.host, []).append(part)
        with ThreadPoolExecutor(len(by_host)) as threads:
            running = [threads.submit(self._follow, own) for own in by_host.values()]
            try:
                for each in running:
                    each.result()
            except BaseException:
                self._stop.set()
                raise

    def _reassigned(self, parts: Sequence[Part]) -> Iterator[Part]:
        """Distribute rounds that lost hosts have not sent among the others, and report what is missing."""
        left = sorted(set(self.hosts) - self._lost)
        lost = [part for part in parts if part.host in self._lost]
        for part in lost:
            rounds = self.study.missing_rounds(part)
            if not rounds:
                continue
            if not left:
                self._problems.append(f"{part.host}: no host is left for {len(rounds)} of its rounds.")
                continue
            shares = Counter(left[number % len(left)] for number in range(len(rounds)))
            for host, share in shares.items():
                made_up = self.study.made_up(part, host, share)
                home = self.study.home(made_up)
                self._planned += len(home.planned_runs)
                self._done += len(home.made)
                self._tell(f"{host}: makes {share} of the rounds that {part.host} lost.")
                yield made_up

    # One host

    def _follow(self, parts: Sequence[Part]) -> None:
        """Follow the launches on a host until they end, copying their runs here."""
        for part in parts:
            try:
                self._make_there(part)
            except (FsbenchError, OSError) as error:
                self._lost.add(part.host)
                self._say(part, str(error))
            if self._stop.is_set() or part.host in self._lost:
                return

    def _make_there(self, part: Part) -> None:
        home, worker = self.study.home(part), self.hosts[part.host]
        if home.made and not home.unfinished:
            return
        block = Block(worker.folder, self.study.place, part.name)
        for _ in range(_STARTS):
            self._asked(part, begin, block, plan_text(part.plan), self.study.recorded_as)
            seen = self._polled_to_its_end(part, block)
            if self._stop.is_set():
                worker.executor.submit(stop, block).result()
                return
            if seen.exit_code is not None:
                break
            self._tell(f"{part.host}: the launch ended in mid-run and is resumed.")
        home = self.study.home(part)
        self._tell(f"{part.host}: {len(home.made)} of {len(home.planned_runs)} runs are here.")
        if not home.made:
            raise LaunchError(f"nothing could be run there: {seen.output}")
        if home.unfinished:
            self._say(part, f"made {len(home.made)} of {len(home.planned_runs)} runs: {seen.output[-500:]}")

    def _polled_to_its_end(self, part: Part, block: Block) -> LaunchState:
        """Poll a launch, copying what it has finished, until it has ended."""
        while True:
            seen: LaunchState = self._asked(part, poll, block, self.study.home(part).made)
            self._take(part, seen)
            if (not seen.is_running and seen.is_all) or self._stop.wait(_PAUSE if seen.is_all else 0):
                return seen

    def _asked(self, part: Part, what: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on a host; if it does not answer, retry for up to `patience` seconds."""
        silent_since = None
        while True:
            try:
                return self.hosts[part.host].executor.submit(what, *arguments).result()
            except BrokenExecutor as error:
                if silent_since is None:
                    silent_since = time.monotonic()
                    self._tell(f"{part.host} does not answer ({error}). Its launch continues.")
                if time.monotonic() - silent_since > self.patience or self._stop.wait(_PAUSE):
                    raise LaunchError(f"it does not answer ({error}); its launch continues") from None

    def _take(self, part: Part, seen: LaunchState) -> None:
        """Store what a host has sent."""
        place = self.study.folder / part.name
        if seen.files and not (place / PLAN).is_file():
            place.mkdir(exist_ok=True)
        for name, content in seen.files.items():
            (place / Path(name).name).write_bytes(content)
        for name, files in seen.runs.items():
            self._bring(part, name, files)

    def _bring(self, part: Part, name: str, files: Mapping[str, bytes]) -> None:
        """Store a run, whole or not at all, after checking its files against their hashes."""
        place = self.study.folder / part.name
        record = json.loads(files[RUN_FILE])
        hashes = {file: hashlib.sha256(content).hexdigest() for file, content in files.items() if file != RUN_FILE}
        if name not in self.study.home(part).planned_runs or hashes != record["sha256"]:
            what = f"a run that it sent does not match the hashes that it recorded: {name}"
            raise LaunchError(what, file=place, hint="Compare it with the run's folder there.")
        new = self.study.folder / f".new-{part.name}-{name}"
        shutil.rmtree(new, ignore_errors=True)
        for file, content in files.items():
            path = new / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        publish(new, place / name)
        after = record["environment"]["after"]
        ended = RunEnded(
            order=self._done + len(self._ended) + 1,
            runs=self._planned,
            folder=str(place / name),
            status=record["status"],
            failure=after.get("failure"),
        )
        self._ended.append(ended)
        self.progress(ended)

    def _say(self, part: Part, problem: str) -> None:
        """Report a problem and remember it for the end."""
        self._problems.append(f"{part.host}: {problem}")
        self._tell(self._problems[-1])

    def _tell(self, text: str) -> None:
        self.progress(Note(text))


def _work(plan: Plan) -> Plan:
    """Return a plan without its hosts, because other hosts may continue what some have begun."""
    return plan.model_copy(update={"hosts": {}})
