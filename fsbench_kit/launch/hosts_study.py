"""A study made by several hosts: its plan, ``hosts.toml``, and a folder for each host's part.

Rounds that a host has lost are made by others, in folders of their own, such as ``node1-for-node2``.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsbench_kit.launch.plan import Plan, read_plan
from fsbench_kit.launch.study import LaunchedStudy, find_study
from fsbench_kit.launch.study_files import CAMPAIGN, HOSTS, PLAN
from fsbench_kit.model.errors import InputError, LaunchError, RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Part:
    """What a host is to run: a plan, in a folder of the study."""

    host: str
    name: str
    plan: Plan


class HostsStudy:
    """A study that is launched or resumed on several hosts.

    Parameters
    ----------
    folder
        The study's folder; need not exist yet.
    plan
        The plan that each host runs.
    hosts
        The names of the hosts; by default those in the plan or, if a scheduler provided them, those with runs
        here.
    """

    def __init__(self, folder: Path, plan: Plan, hosts: Iterable[str] | None = None) -> None:
        self.folder = folder
        self.plan = plan
        self.hosts = sorted((plan.hosts or self._seen()) if hosts is None else hosts)

    def _seen(self) -> Iterator[str]:
        """Yield the hosts with runs here, not counting runs made in place of others."""
        return (plan.parent.name for plan in self.folder.glob(f"*/{PLAN}") if "-for-" not in plan.parent.name)

    @property
    def recorded_as(self) -> str:
        """The study that its runs belong to: the whole campaign, if this is one of its blocks."""
        whole = self.folder.parent
        return whole.name if (whole / CAMPAIGN).is_file() else self.folder.name

    @property
    def place(self) -> str:
        """The study's folder on each host, relative to the folder for launches there."""
        return "/".join(dict.fromkeys((self.recorded_as, self.folder.name)))

    @property
    def parts(self) -> Iterator[Part]:
        """Yield each host's original part, each with its own order."""
        chance = random.Random(self.plan.seed)  # noqa: S311
        for host in self.hosts:
            own = {"seed": int(chance.random() * 2**32), "hosts": {}}
            yield Part(host, host, self.plan.model_copy(update=own))

    def made_up(self, part: Part, host: str, rounds: int) -> Part:
        """Return the part in which a host makes rounds that another host has lost."""
        seed = int(random.Random(f"{part.plan.seed} {part.name} {host}").random() * 2**32)  # noqa: S311
        workloads = (
            workload.model_copy(update={"repeats": workload.repeats and min(workload.repeats, rounds)})
            for workload in part.plan.workload
        )
        own = {"seed": seed, "repeats": rounds, "until": None, "workload": tuple(workloads)}
        return Part(host, f"{host}-for-{part.name}", part.plan.model_copy(update=own))

    def home(self, part: Part) -> LaunchedStudy:
        """Return the folder for the runs of a part."""
        folder = self.folder / part.name
        # The host's own plan may lack what is not available there.
        return LaunchedStudy(folder, _plan(folder / PLAN) if (folder / PLAN).is_file() else part.plan)

    @property
    def homes(self) -> Iterator[LaunchedStudy]:
        """Yield the folders that have runs here."""
        for plan in sorted(self.folder.glob(f"*/{PLAN}")):
            yield LaunchedStudy(plan.parent, _plan(plan))

    def missing_rounds(self, part: Part) -> set[int]:
        """Return the rounds of which a run is missing here."""
        home = self.home(part)
        if not home.unfinished:
            return set()
        made = set(home.made)
        missing = (run.round for name, run in home.planned_runs.items() if name not in made)
        return {number for number in missing if number is not None}

    @property
    def unfinished(self) -> bool:
        """Whether rounds are missing that no other host has made, or no run is here yet."""
        return not self.hosts or any(self._missing(part) > 0 for part in self.parts)

    def _missing(self, part: Part) -> int:
        """Return how many rounds of a part neither its host nor another has made."""
        lacking = len(self.missing_rounds(part))
        for host in self.hosts:
            name = f"{host}-for-{part.name}"
            if lacking and (self.folder / name / PLAN).is_file():
                other = Part(host, name, _plan(self.folder / name / PLAN))
                lacking -= other.plan.rounds - self._missing(other)
        return lacking


def find_hosts_study(runs: Path, name: str | None) -> HostsStudy | None:
    """Find a study of several hosts to resume, by name or as the latest unfinished one.

    Return ``None`` if this machine's own latest unfinished launch is later, or another kind of study has the name.
    """
    if name is not None:
        return _study(runs / name) if (runs / name / HOSTS).is_file() else None
    places = [runs, *(path.parent for path in runs.glob(f"*/{CAMPAIGN}"))]
    found = [path.parent for place in places for path in place.glob(f"*/{HOSTS}")]
    for folder in sorted(found, key=lambda one: one.stat().st_mtime, reverse=True):
        with suppress(InputError, LaunchError):
            if (study := _study(folder)).unfinished:
                with suppress(RequestError):
                    own = find_study(runs, None)
                    return study if own.folder.stat().st_mtime < folder.stat().st_mtime else None
                return study
    return None


def _study(folder: Path) -> HostsStudy:
    return HostsStudy(folder, _plan(folder / HOSTS))


def _plan(path: Path) -> Plan:
    return read_plan(path, elsewhere=True)
