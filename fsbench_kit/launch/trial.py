"""Tries out a plan before its launch: prepares each target once, and briefly runs each workload on it.

Targets are small images with a little ageing; nothing is kept. The trial shows what mkfs, mount or a tool refuses,
and what a run costs besides its own time.
"""

from __future__ import annotations

import json
import shutil
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.data.files import RUN_FILE
from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.launch.events import Event, Note
from fsbench_kit.launch.launcher import launch
from fsbench_kit.launch.plan import IMAGE_SHARE, Plan
from fsbench_kit.launch.schedule import schedule
from fsbench_kit.launch.stopping import caution
from fsbench_kit.launch.targets import DeviceTarget, LoopTarget, Target
from fsbench_kit.launch.targets.aged import AgedTarget
from fsbench_kit.launch.targets.images import ImagesTarget
from fsbench_kit.launch.targets.members import MembersTarget
from fsbench_kit.model.units import duration, humanise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


_SECONDS: Final = 20.0
"""Seconds after which a run is stopped here, which does not count against it."""
_IMAGE: Final = 2**30
"""The size of an image, including those in place of devices, unless a workload needs more."""
_AGED: Final = 2**28
"""The bytes to which a filesystem is filled."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of trying a plan.

    Attributes
    ----------
    tried
        How many combinations of a target and a workload were tried.
    failures
        Which of them failed, and why.
    notes
        What was not tried. What was left out or replaced is reported by the launch itself.
    estimates
        Sentences about the time and bytes that the launch will take.

    Examples
    --------
    >>> Trial(tried=4, failures=(), notes=("disk was not tried",), estimates=()).failures
    ()
    """

    tried: int
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    estimates: tuple[str, ...]

    @property
    def success(self) -> str:
        """A sentence saying that nothing failed."""
        if self.tried == 1:
            return "The combination of a target and a workload works."
        return f"All {self.tried} combinations of a target and a workload work."


def try_plan(
    plan: Plan, root: Path, progress: Callable[[Event], None] | None = None, *, to: Path = LAUNCHED
) -> Trial:
    """Try each workload of a plan on each of its targets, using images in place of block devices.

    Raises
    ------
    LaunchError
        If the launch could not start.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> here = {"kind": "directory", "name": "here", "directory": "."}
    >>> listing = {"tool": "command", "name": "listing", "command": ["ls", "/"]}
    >>> plan = Plan(id="listing", target=[here], workload=[listing], filesystems="reused")
    >>> with TemporaryDirectory() as folder:
    ...     trial = try_plan(plan, Path(folder))
    >>> trial.tried, trial.failures
    (1, ())
    """
    targets = {target.name: tried for target in plan.target if (tried := _small(target, plan)) is not None}
    notes = [
        f'Target "{target.name}" was not tried, because that would overwrite its devices.'
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
        records = [json.loads((run / RUN_FILE).read_text(encoding="utf-8")) for run in result.runs]
    finally:
        shutil.rmtree(root / to / study, ignore_errors=True)
    failures = tuple(
        f"{record['workload']} on {record['target']}: {why}"
        for run, record in zip(result.runs, records, strict=True)
        if (why := result.failures.get(run)) is not None and "did not finish within" not in why
    )
    if result.stopped is not None:
        failures = (*failures, f"{result.planned - len(records)} combinations were not tried after that.")
    return Trial(len(records), failures, tuple(notes), tuple(_estimates(plan, small, records)))


def _small(target: Target, plan: Plan) -> Target | None:
    """Return a target on small images, in place of devices too, that is quick to prepare."""
    spaces = [_short(workload).space for workload in plan.workloads(target)]
    known = [space for space in spaces if space is not None]
    least = max(_IMAGE, *(int(space / IMAGE_SHARE) + 2 * _AGED for space in known)) if known else _IMAGE
    size = target.capacity if target.capacity is not None and len(known) < len(spaces) else least
    if isinstance(target, DeviceTarget):
        table = target.model_dump(exclude={"kind", "device", "signature"})
        target = LoopTarget(kind="loop", size=size, **table)
    elif isinstance(target, MembersTarget) and target.devices:
        target = target.model_copy(update={"devices": (), "signature": None, "size": size})
    elif target.block_devices:
        return None
    if isinstance(target, ImagesTarget) and target.size is not None:
        target = target.model_copy(update={"allocation": "unwritten", "size": min(size, target.size)})
    if isinstance(target, AgedTarget) and target.ageing is not None and target.capacity is not None:
        fill = min(target.ageing.fill, _AGED / target.capacity)
        aged = target.ageing.model_copy(update={"fill": fill, "churn": min(1.0, target.ageing.churn)})
        target = target.model_copy(update={"aged": aged})
    once = plan.freshness(target) == "fresh" and target.own_cache is None
    return target.model_copy(update={"filesystems": "reused"}) if once else target


def _short(workload: Any) -> Any:
    return workload.shortened().model_copy(update={"repeats": None, "timeout": None})


def _estimates(plan: Plan, small: Plan, records: list[dict[str, Any]]) -> list[str]:
    """Estimate the launch's duration from the observed overhead of runs and the plan's own times."""
    around: dict[tuple[str, str], float] = {}
    took: dict[tuple[str, str], float] = {}
    making: dict[str, list[float]] = {}
    for record in records:
        of = record["target"], record["workload"]
        making.setdefault(record["target"], []).append(_making(record, plan, small))
        around[of] = sum(step["duration"] for step in (*record["preparation"], *record["cleanup"]))
        took[of] = record["duration"]
    seconds, open_ended = plan.rests, set()
    for target in plan.target:
        if seen := making.get(target.name):
            # Fresh and reused targets were created once; for restored ones, so was the original.
            again = min(seen) if plan.freshness(target) != "reused" else 0.0
            seconds += max(seen) - again + again * len(plan.runs_on(target))
    for run in schedule(plan):
        of = run.target.name, run.workload.name
        seconds += around.get(of, 0.0) + (run.workload.stated_seconds or took.get(of, 0.0))
        if not run.workload.stated_seconds:
            open_ended.add(run.workload.name)
    least = "at least " if open_ended else ""
    sentences = [f"Time: {least}{duration(seconds)}, from the observed overhead of runs and the plan's run times."]
    sentences += _bytes(plan, records)
    if open_ended:
        names = ", ".join(f'"{name}"' for name in sorted(open_ended))
        sentences.append(f"No time limit: {names}. These were only run in part here.")
    return sentences


def _making(record: dict[str, Any], plan: Plan, small: Plan) -> float:
    """Return the seconds to prepare a run's target at the size and age in the plan."""
    whole, tried = (
        next(target for target in (*one.target, *one.otherwise) if target.name == record["target"])
        for one in (plan, small)
    )
    ageing = [list(command[1:3]) for command in tried.ageing_commands]
    seconds = 0.0
    for step in record["provision"]:
        factor = 1.0
        if step["argv"][1:3] in ageing:
            factor = (_aged(whole) or _aged(tried)) / _aged(tried)
        elif step["argv"][0] == "dd" and whole.capacity and tried.capacity:
            factor = whole.capacity / tried.capacity
        seconds += step["elapsed"] * factor
    return seconds


def _aged(target: Target) -> int:
    """Return the bytes that ageing writes; 0 if unknown, as for devices."""
    return target.ageing.written(target.capacity) if target.ageing and target.capacity else 0


def _bytes(plan: Plan, records: list[dict[str, Any]]) -> Iterator[str]:
    """Estimate how much the launch writes, from the plan and from the observed rates."""
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
        yield f"Bytes: about {humanise(total, 'B')} written, from the plan and the write rates observed here."
    if unknown:
        yield f"Bytes of {', '.join(sorted(unknown))}: known only afterwards."


def _written(record: dict[str, Any]) -> int:
    """Return the bytes that a run wrote: to its own images, or else to its disks."""
    before, after = (record["environment"][when]["devices"] for when in ("before", "after"))
    images = [name for name in before if name.startswith("loop")] or list(before)
    return sum(after[name]["written_bytes"] - before[name]["written_bytes"] for name in images)
