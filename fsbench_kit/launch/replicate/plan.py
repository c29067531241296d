"""Turns a published study into a plan, and describes how the plan departs from the study."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.plan import Plan
from fsbench_kit.launch.replicate.memory import LEAST, memory_limit, memory_of, memory_share
from fsbench_kit.launch.replicate.published import only_stated, workloads
from fsbench_kit.launch.replicate.scale import Limits, PlanTable, limits_of, shrunk
from fsbench_kit.launch.replicate.targets import images, target_changes
from fsbench_kit.launch.tuning import memory
from fsbench_kit.launch.workloads import WORKLOADS, Workload
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.data.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Replication:
    """A plan that repeats a study's workload.

    Attributes
    ----------
    study
        The published study.
    plan
        The plan to launch.
    changes
        How the plan departs from the study, as returned by `departures`.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import replication
    >>> again = replication(fsb.read("raw_results/published/sysbench-rhel72"), scale="minutes")
    >>> again.study, again.plan.id, again.changes[0]
    ('sysbench-rhel72', 'sysbench-rhel72-again', 'All files together: 128 MiB instead of 2 GiB.')
    """

    study: str
    plan: Plan
    changes: tuple[str, ...]


def replication(
    published: Dataset,
    *,
    scale: str | Limits = "article",
    repeats: int | None = None,
    directories: Sequence[str] = (),
    seed: int = 1,
    name: str | None = None,
) -> Replication:
    """Derive a plan from the runs of a published study.

    All filesystems get the same workloads with the same flags, on one machine, in rounds with a random order, and
    each run gets a fresh filesystem. If this machine supports it, memory including page cache is limited to the
    same proportion to the files as in the study; nothing else about the machine matters here. Filesystems that it
    lacks are left out when the plan is launched.

    Parameters
    ----------
    published
        The study's data.
    scale
        ``minutes``, ``laptop`` or ``article`` from `fsbench_kit.launch.replicate.SCALES`, or custom limits.
    repeats
        How many times to repeat each run; by default as the scale says, because the study's own number rarely
        allows an interval.
    directories
        Where to run. By default, each of the study's filesystems gets an image of its own, which needs root.
    seed
        The plan's seed.
    name
        The study's name; by default as its runs say.

    Raises
    ------
    RequestError
        If there are runs from several studies, the scale does not exist, no run can be planned, or neither the
        runs nor `directories` say what to run on.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> again = replication(fsb.read("raw_results/published/raid1-hdd-2020"), scale="laptop")
    >>> [workload.name for workload in again.plan.workload]
    ['bonnie', 'randrw-16k', 'randrw-128k', 'smallfiles-4k', 'smallfiles-128k']
    """
    study = name or _study(published)
    limits = limits_of(scale)
    had = memory_of(published)
    tables = [_scaled(table, limits, had) for table in workloads(published).tables]
    unlimited = memory.problem() if any("tuning" in table for table in tables) else None
    if unlimited:
        tables = [{key: value for key, value in table.items() if key != "tuning"} for table in tables]
    made = [_workload(table) for table in tables]
    if directories:
        targets: list[PlanTable] = [
            {"kind": "directory", "name": f"directory-{number}", "directory": directory}
            for number, directory in enumerate(directories, 1)
        ]
    else:
        filled = max(max(workload.space or 0, workload.most_files * _PER_INODE) for workload in made)
        size = max(_LEAST_IMAGE, 2**20 * math.ceil(filled / _FILLED / 2**20))
        least = min((one for w in made if (one := w.tuning.memory_limit)), default=None)
        # fio does not preallocate files for these, so that the filesystem beneath an image would record each block
        # separately, which slows the run and takes minutes to remove.
        scattered = any(getattr(workload, "rw", None) == "randwrite" for workload in made)
        shape: PlanTable = {"size": size}
        if scattered and size <= _WRITTEN:
            shape["allocation"] = "written"
        targets = [image | shape for image in images(published, memory=least)]
        if not targets:
            raise RequestError(
                "it is not known which filesystems these runs were made on",
                hint="Name directories to run in (--directory), or describe the runs: fsbench init FOLDER",
            )
    seconds = max(max(w.stated_seconds, (w.least_written or 0) / _SLOWEST) for w in made)
    plan = Plan.model_validate(
        {
            "id": f"{study}{AGAIN}",
            "title": f"{study}, run again" + ("" if limits == Limits() else " at a smaller scale"),
            "repeats": repeats or limits.repeats,
            "seed": seed,
            "timeout": max(_LEAST_TIMEOUT, 2 * seconds),
            "target": targets,
            "workload": [{**table, "optional": True} for table in tables],
        }
    )
    said = [f"The memory of a run is not limited, so caches may hold its files: {unlimited}."] if unlimited else []
    return Replication(study, plan, (*departures(published, plan), *said))


def _scaled(table: PlanTable, limits: Limits, had: int | None) -> PlanTable:
    """Return a workload within the limits, with memory in the same proportion to its files as in the study."""
    share = memory_share(_workload(shrunk(table, Limits())), had)
    if share is None:
        return shrunk(table, limits)
    smaller = shrunk(table, replace(limits, space=min(limits.space, limits.memory / share)))
    limit = memory_limit(_workload(smaller), share)
    return smaller if limit is None else smaller | {"tuning": {"memory_limit": limit}}


def _workload(table: PlanTable) -> Workload:
    return WORKLOADS[table["tool"]].model_validate(table)


def _study(published: Dataset) -> str:
    studies = published.runs["study"].drop_nulls().unique(maintain_order=True).to_list()
    if len(studies) > 1:
        names = ", ".join(studies)
        raise RequestError(
            f"cannot run {len(studies)} studies again as one: {names}", hint="Name the folder of one."
        )
    return str(studies[0]) if studies else "logs"


AGAIN: Final = "-again"
_LEAST_IMAGE: Final = 512 * 2**20
"""Below this, mkfs treats an image as a small disk, and mkfs.xfs rejects some sizes."""
_LEAST_TIMEOUT: Final = 300
"""The smallest timeout of a run in seconds, even if it should finish much earlier."""
_WRITTEN: Final = 8 * 2**30
"""The most bytes to write into an image beforehand; more would take longer than the runs."""
_SLOWEST: Final = 5e6
"""Bytes per second that the slowest disk writes, for the timeout of runs without a time limit."""
_PER_INODE: Final = 16 * 2**10
"""Image bytes per inode of mkfs.ext4; other filesystems create more, or as many as they need."""
_FILLED: Final = 0.6
"""The largest share of an image, and of its inodes, that files may take."""


def departures(published: Dataset, plan: Plan) -> tuple[str, ...]:
    """Describe how a plan departs from the study, and what is uncertain about that.

    Parameters
    ----------
    published
        The study's data.
    plan
        A plan that `replication` derived from it at any scale, or such a plan as recorded by its launch.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> published = fsb.read("raw_results/published/sysbench-rhel72")
    >>> for said in departures(published, replication(published, scale="minutes").plan)[:2]:
    ...     print(said)
    All files together: 128 MiB instead of 2 GiB.
    Each run: 1 s instead of 180 s.
    """
    ran = workloads(published)
    study = {table["name"]: table for table in ran.tables}
    said = dict.fromkeys((*ran.repaired, *ran.left_out))
    had = memory_of(published)
    smaller: dict[str, list[str]] = {}
    for workload in plan.workload:
        then = study.get(workload.name, {})
        for sentence in (*_smaller(workload, then), *_memory(workload, then, had)):
            smaller.setdefault(sentence, []).append(workload.name)
    for sentence, of in smaller.items():
        of_all = len(of) == len(plan.workload)
        said[sentence if of_all else f"{', '.join(of)}: {sentence[0].lower()}{sentence[1:]}"] = None
    if stated := only_stated(published):
        names = ", ".join(key.replace("_", " ") for key in stated)
        said[f"Known only from the command in the article, not from its logs: {names}."] = None
    sizes = dict.fromkeys(getattr(target, "size", None) for target in plan.target)
    for image in filter(None, sizes):
        said[f"Each filesystem is on an image of {humanise(image, 'B')}, created anew for each run."] = None
        said |= dict.fromkeys(target_changes(published, plan))
    return tuple(said)


def _smaller(workload: Workload, then: PlanTable) -> Iterator[str]:
    """Yield sentences about how much smaller a workload is than in the study."""
    if workload.scale is None or not then:
        return
    now, scale = workload.model_dump(), workload.scale
    for key, amount in scale.amounts.items():
        if key in then and now[key] != then[key]:
            new, old = (
                humanise(value, "B") if amount.in_bytes else f"{value:,}" for value in (now[key], then[key])
            )
            yield f"{amount.of}: {new} instead of {old}."
    if scale.time in then and now[scale.time] != then[scale.time]:
        yield f"Each run: {now[scale.time]:g} s instead of {then[scale.time]:g} s."
    if scale.loops is not None and now[scale.loops] and not then.get(scale.loops):
        yield "Runs repeat until their time is up, although their files would be finished sooner."


def _memory(workload: Workload, then: PlanTable, had: int | None) -> Iterator[str]:
    """Yield sentences about a run's memory limit, or why there is none."""
    if (limit := workload.tuning.memory_limit) is not None:
        times = f"its files are {(workload.space or 0) / limit:.2g} times as large"
        study = "; the study's memory is not known" if had is None else ", as in the study"
        yield f"A run has {humanise(limit, 'B')} of memory, page cache included: {times}{study}."
        return
    share = memory_share(_workload(shrunk(then, Limits())), had) if then else None
    if share is not None and memory_limit(workload, share) is None:
        proportion = "with a quarter of its files" if had is None else "in the study's proportion"
        yield (
            f"The memory of a run is not limited, so caches may hold its files: {proportion}, it would have "
            f"{humanise((workload.space or 0) * share, 'B')}, and programs need {humanise(LEAST, 'B')}."
        )
