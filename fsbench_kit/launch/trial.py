"""Tries a plan before its launch: each workload runs for a moment on each target, and nothing of it is kept.

What mkfs, mount or a tool refuses is known then, and so is what a run costs besides its own time.
"""

from __future__ import annotations

import json
import shutil
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.launch.events import Note
from fsbench_kit.launch.launcher import launch
from fsbench_kit.launch.run_record import RECORD
from fsbench_kit.launch.schedule import schedule
from fsbench_kit.launch.stopping import caution
from fsbench_kit.launch.targets import DeviceTarget, LoopTarget
from fsbench_kit.launch.targets.images import ImagesTarget
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    from fsbench_kit.launch.events import Event
    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.targets import Target

_SECONDS: Final = 20.0
"""After so long a run is ended here. That says nothing against it."""
_IMAGE: Final = 2**30
"""The size of the image in a device's place."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of trying a plan.

    Attributes
    ----------
    tried
        How many combinations of a target and a workload were tried.
    failures
        Which of them failed, and why.
    notes
        What was not tried; what was left out or replaced is told by the launch itself.
    estimates
        Sentences on the time and the bytes that the launch will take.
    """

    tried: int
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    estimates: tuple[str, ...]


def try_plan(
    plan: Plan, root: Path, progress: Callable[[Event], None] | None = None, *, to: Path = LAUNCHED
) -> Trial:
    """Try each workload of a plan on each of its targets. Block devices are not touched: images stand for them.

    Raises
    ------
    LaunchError
        If the launch could not start at all.
    """
    targets = {target.name: tried for target in plan.target if (tried := _in_images(target)) is not None}
    notes = [
        f'Target "{target.name}" was not tried: that would overwrite its devices.'
        for target in plan.target
        if target.name not in targets
    ]
    small = plan.model_copy(
        update={
            "target": tuple(targets.values()),
            "workload": tuple(_short(workload) for workload in plan.workload),
            "exclude": tuple(rule for rule in plan.exclude if rule.target in targets),
            "precondition": (),
            "repeats": 1,
            "warm_up": 0,
            "cool_down": 0.0,
            "until": None,
            "timeout": _SECONDS,
            "budget": type(plan.budget)(),
        }
    )
    if not targets:
        return Trial(0, (), tuple(notes), ())

    def tell(event: Event) -> None:
        if progress is not None and event != Note(caution(1) or ""):
            progress(event)

    study = f"trial-{uuid.uuid4().hex}"
    try:
        result = launch(small, root=root, to=to, study=study, progress=tell)
        records = [json.loads((run / RECORD).read_text(encoding="utf-8")) for run in result.runs]
    finally:
        shutil.rmtree(root / to / study, ignore_errors=True)
    failures = tuple(
        f"{record['workload']} on {record['target']}: {why}"
        for run, record in zip(result.runs, records, strict=True)
        if (why := result.failures.get(run)) is not None and "did not finish within" not in why
    )
    if result.stopped is not None:
        failures = (*failures, f"{result.planned - len(records)} combinations were not tried after that.")
    return Trial(len(records), failures, tuple(notes), tuple(_estimates(plan, records)))


def _in_images(target: Target) -> Target | None:
    """Return a target with images instead of devices, and without the time that writing them takes."""
    if isinstance(target, DeviceTarget):
        table = target.model_dump(exclude={"kind", "device", "signature"})
        return LoopTarget(kind="loop", size=_IMAGE, **table)
    if target.block_devices:
        return None
    return target.model_copy(update={"allocation": "unwritten"}) if isinstance(target, ImagesTarget) else target


def _short(workload: Any) -> Any:
    return workload.shortened().model_copy(update={"repeats": None, "timeout": None})


def _estimates(plan: Plan, records: list[dict[str, Any]]) -> list[str]:
    """Say how long the launch takes: what was seen around each run here, and the plan's own times."""
    around: dict[tuple[str, str], float] = {}
    took: dict[tuple[str, str], float] = {}
    for record in records:
        of = record["target"], record["workload"]
        steps = sum(step["elapsed"] for step in record["provision"])
        others = sum(step["duration"] for step in (*record["preparation"], *record["cleanup"]))
        around[of], took[of] = steps + others, record["duration"]
    seconds, open_ended = plan.rests, set()
    for run in schedule(plan):
        of = run.target.name, run.workload.name
        seconds += around.get(of, 0.0) + (run.workload.stated_seconds or took.get(of, 0.0))
        if not run.workload.stated_seconds:
            open_ended.add(run.workload.name)
    least = "at least " if open_ended else ""
    said = [f"Time: {least}{humanise(seconds, 's')}, from what was seen around each run and the plan's run times."]
    said += _bytes(plan, records)
    if open_ended:
        names = ", ".join(f'"{name}"' for name in sorted(open_ended))
        said.append(f"No time limit: {names}. Less than the whole was run of these here.")
    return said


def _bytes(plan: Plan, records: list[dict[str, Any]]) -> Iterator[str]:
    """Say how much the launch writes: what the plan is sure of, and what was written here in a second."""
    tried = {workload.name: _short(workload).stated_seconds for workload in plan.workload}
    rates = {
        (record["target"], record["workload"]): _written(record)
        / (tried[record["workload"]] or record["duration"])
        for record in records
        if record["status"] == "ok"
    }
    runs = schedule(plan)
    total = float(plan.least_written)
    unknown = set()
    for run in runs:
        least, seconds = run.workload.least_written, run.workload.stated_seconds
        seen = rates.get((run.target.name, run.workload.name), 0.0) * seconds
        total += max(0.0, seen - (least or 0))
        if not (seen or least is not None):
            unknown.add(run.workload.name)
    if total:
        yield f"Bytes: about {humanise(total, 'B')} written, by the plan and what was written here in a second."
    if unknown:
        yield f"Bytes of {', '.join(sorted(unknown))}: known only afterwards."


def _written(record: dict[str, Any]) -> int:
    """Return the bytes that a run wrote: to its images, which are its own, or else to its disks."""
    before, after = (record["environment"][when]["devices"] for when in ("before", "after"))
    images = [name for name in before if name.startswith("loop")] or list(before)
    return sum(after[name]["written_bytes"] - before[name]["written_bytes"] for name in images)
