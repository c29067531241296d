"""Makes a plan of what a published study ran, and says how the plan departs from that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.plan import Plan
from fsbench_kit.launch.replicate.published import images, only_stated, settings_of, workloads
from fsbench_kit.launch.workloads import WORKLOADS
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.launch.replicate.published import PlanTable
    from fsbench_kit.launch.workloads.base import Scale


@dataclass(frozen=True, slots=True)
class Replication:
    """A plan that runs a study's workload again.

    Attributes
    ----------
    study
        The published study.
    plan
        What is to be run.
    changes
        What `departures` says of the plan.
    """

    study: str
    plan: Plan
    changes: tuple[str, ...]


def replication(
    published: Dataset,
    *,
    file_scale: float = 1.0,
    time_scale: float = 1.0,
    repeats: int = 6,
    directories: Sequence[str] = (),
    seed: int = 1,
) -> Replication:
    """Derive a plan from the runs of a published study. Nothing is looked at but these.

    Parameters
    ----------
    published
        The study's data.
    file_scale, time_scale
        The shares of its file sizes and of its run times, above 0 and up to 1.
    repeats
        How often each run is made; the study's own number hardly ever allows an interval.
    directories
        Where to run. Without any, each of the study's filesystems gets an image of its own, which needs root.
    seed
        Of the plan.

    Raises
    ------
    RequestError
        If the data are not of one study, a scale is out of range, or a run cannot be planned from its settings.
    """
    studies = published.runs["study"].drop_nulls().unique().to_list()
    if len(studies) != 1:
        raise RequestError(f"cannot run {len(studies)} studies again as one", hint="Read the folder of one study.")
    for name, scale in (("file_scale", file_scale), ("time_scale", time_scale)):
        if not 0 < scale <= 1:
            raise RequestError(f"{name} is {scale:g}", hint="A scale is above 0 and at most 1: 0.1 is a tenth.")
    tables = [_smaller(table, file_scale, time_scale) for table in workloads(published)]
    made = [WORKLOADS[table["tool"]].model_validate(table) for table in tables]
    if directories:
        targets: list[PlanTable] = [
            {"kind": "directory", "name": f"directory-{number}", "directory": directory}
            for number, directory in enumerate(directories, 1)
        ]
    else:
        space = max(workload.space or 0 for workload in made)
        size = max(_LEAST_IMAGE, 2**20 * math.ceil(space / _FILLED / 2**20))
        targets = [{**image, "size": size} for image in images(published)]
    plan = Plan.model_validate(
        {
            "id": f"{studies[0]}{AGAIN}",
            "title": f"{studies[0]}, run again{' at a smaller scale' if min(file_scale, time_scale) < 1 else ''}",
            "repeats": repeats,
            "seed": seed,
            "timeout": max([_LEAST_TIMEOUT, *(2 * workload.stated_seconds for workload in made)]),
            "target": targets,
            "workload": tables,
        }
    )
    return Replication(studies[0], plan, departures(published, plan))


AGAIN: Final = "-again"
_LEAST_IMAGE: Final = 512 * 2**20
"""Below this mkfs takes an image for a small disk, and mkfs.xfs refuses some."""
_LEAST_TIMEOUT: Final = 300
"""Seconds that a run is given, even where it should be done much earlier."""
_FILLED: Final = 0.6
"""The share of an image that the files fill at most."""


def _smaller(table: PlanTable, file_scale: float, time_scale: float) -> PlanTable:
    """Return a workload of smaller files, each of one unit or more, and of fewer whole seconds."""
    scale = _scale(table)
    unit = math.prod(table[key] for key in scale.whole)
    smaller = {scale.size: max(unit, math.floor(table[scale.size] * file_scale / unit) * unit)}
    if scale.time in table:
        smaller[scale.time] = max(1, round(table[scale.time] * time_scale))
    return table | smaller


def _scale(table: PlanTable) -> Scale:
    scale = WORKLOADS[table["tool"]].scale
    if scale is None:
        raise RequestError(f"runs of {table['tool']} cannot be run again from their logs yet")
    return scale


def departures(published: Dataset, plan: Plan) -> tuple[str, ...]:
    """Say how a plan departs from what a study did, and what is not certain about that.

    Parameters
    ----------
    published
        The study's data.
    plan
        One that `replication` derived from it, at any scale; also as a launch of it wrote it down.
    """
    study = {table["name"]: table for table in workloads(published)}
    said: dict[str, None] = {}
    for workload in plan.workload:
        then = study.get(workload.name, {})
        now = workload.model_dump()
        scale = _scale(now)
        size, time = scale.size, scale.time
        if size in then and now[size] != then[size]:
            said[f"{scale.of}: {humanise(now[size], 'B')} instead of {humanise(then[size], 'B')}."] = None
        if time in then and now[time] != then[time]:
            said[f"Each run: {now[time]:g} s instead of {then[time]:g} s."] = None
    if stated := only_stated(published):
        names = ", ".join(key.replace("_", " ") for key in stated)
        said[f"Known only from the command in the article, and not from its logs: {names}."] = None
    sizes = dict.fromkeys(getattr(target, "size", None) for target in plan.target)
    for image in filter(None, sizes):
        said[f"Each filesystem is on an image of {humanise(image, 'B')}, made afresh for each run."] = None
        if any("mount_options" in values for values in settings_of(published).values()):
            said["Each is mounted with default options, and not with those of the study."] = None
    return tuple(said)
