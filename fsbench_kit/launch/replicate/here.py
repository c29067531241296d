"""What this machine can replicate, and the replications that come with the package where it cannot."""

from __future__ import annotations

import json
import re
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from fsbench_kit.data.files import RUN_FILE
from fsbench_kit.launch.dry_runs import dry_run
from fsbench_kit.launch.plan import Plan, read_plan
from fsbench_kit.launch.replicate.plan import AGAIN, replication
from fsbench_kit.launch.replicate.published import workloads
from fsbench_kit.launch.replicate.scale import SCALES
from fsbench_kit.launch.replicate.targets import images
from fsbench_kit.launch.study_files import PLAN, launch_notes
from fsbench_kit.launch.tools import not_installed
from fsbench_kit.model.errors import LaunchError, RequestError

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.launch.workloads import Workload


def reason_not_to_run(where: str, plan: Plan, root: Path) -> str | None:
    """Return why a plan cannot be run on this machine, or ``None`` if it can. Nothing is run.

    Parameters
    ----------
    where
        ``recorded`` or a folder with runs, to run nothing; otherwise ``images`` or ``directories``.
    plan
        The plan that would be run.
    root
        The project's root.

    Raises
    ------
    RequestError
        If `where` is anything else.

    Examples
    --------
    >>> from pathlib import Path
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import replication
    >>> again = replication(fsb.read("raw_results/published/sysbench-rhel72"), scale="minutes")
    >>> reason_not_to_run("recorded", again.plan, Path.cwd())
    'the parameter where is "recorded".'
    """
    if where == "recorded":
        return 'the parameter where is "recorded".'
    if (root / where / PLAN).is_file():
        return f"the parameter where names the runs in {where}."
    if where not in ("images", "directories"):
        raise RequestError(
            f"where cannot be {where!r}", hint='Say "recorded", "images", "directories" or the folder of a launch.'
        )
    programs = dict.fromkeys(program for workload in plan.workload for program in workload.programs)
    if lack := not_installed(*programs):
        return f"{lack}."
    try:
        dry_run(plan, root)
    except LaunchError as error:
        return str(error)
    return None


def left_out(published: Dataset, folder: Path) -> dict[str, str]:
    """Return what a launch left out of a replication, and why.

    Parameters
    ----------
    published
        The study's data.
    folder
        The launched replication.

    Returns
    -------
    dict
        Filesystem or tool -> a sentence.

    Examples
    --------
    >>> from pathlib import Path
    >>> import fsbench_kit as fsb
    >>> published = fsb.read("raw_results/published/sysbench-rhel72")
    >>> left_out(published, Path("raw_results/replicated/sysbench-rhel72-again"))
    {}
    """
    known_as = {image["name"]: image["name"] for image in images(published)}
    known_as |= {table["name"]: table["tool"] for table in workloads(published).tables}
    sentences = {}
    for line in launch_notes(folder):
        if (found := _LEFT_OUT.match(line)) is not None and found["name"] in known_as:
            name = known_as[found["name"]]
            sentences[name] = f"{name} was not run: {found['why']}."
    return sentences


_LEFT_OUT: Final = re.compile(
    r'(?:Target|Workload) "(?P<name>[^"]+)" is (?:not available|left out): (?P<why>.*?)\.(?: It is left out\.)?$'
)


def recorded(study: str, root: Path, where: str = "recorded") -> Path:
    """Return the folder of existing runs, relative to the project's root.

    By default this is the replication that comes with the package.

    Raises
    ------
    RequestError
        If it does not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> recorded("sysbench-rhel72", Path.cwd()).as_posix()
    'raw_results/replicated/sysbench-rhel72-again'
    """
    if (root / where / PLAN).is_file():
        return Path(where)
    folder = Path("raw_results", "replicated", f"{study}{AGAIN}")
    if not (root / folder).is_dir():
        raise RequestError(
            f"no replication of {study} comes with the kit",
            hint='To run it on this machine, say where = "images" (as root) or "directories".',
        )
    return folder


def expected_seconds(study: str, plan: Plan, root: Path) -> float | None:
    """Estimate the duration of a replication from the recorded one; ``None`` if there is none.

    The time that recorded runs took beyond their stated time is assumed to grow with the sizes of the workload.

    Parameters
    ----------
    study
        The published study.
    plan
        The plan that would be run.
    root
        The project's root.

    Examples
    --------
    >>> from pathlib import Path
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import replication
    >>> again = replication(fsb.read("raw_results/published/sysbench-rhel72"), scale="minutes")
    >>> round(expected_seconds(again.study, again.plan, Path.cwd()))
    52
    """
    try:
        folder = root / recorded(study, root)
    except RequestError:
        return None
    took, then = _took(folder), {workload.name: workload for workload in read_plan(folder / PLAN).workload}
    seconds = 0.0
    for target in plan.target:
        for run in plan.runs_on(target):
            if run.name not in took:
                return None
            before = then[run.name]
            grown = _amount(run) / _amount(before)
            seconds += (took[run.name] - before.stated_seconds) * grown + run.stated_seconds
    return seconds


def _took(folder: Path) -> dict[str, float]:
    """Return the seconds between the ends of consecutive runs, by the workload of the later one."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob(f"*/{RUN_FILE}")]
    records = sorted((one for one in records if one["ended_at"]), key=lambda one: str(one["ended_at"]))
    took: dict[str, list[float]] = {}
    for before, record in pairwise(records):
        ends = (datetime.fromisoformat(one["ended_at"]) for one in (record, before))
        took.setdefault(record["workload"], []).append((next(ends) - next(ends)).total_seconds())
    return {workload: median(seconds) for workload, seconds in took.items()}


def _amount(workload: Workload) -> int:
    return workload.least_written or workload.space or 1


def space_by_scale(published: Dataset) -> dict[str, int]:
    """Return the bytes that a replication needs at each scale, for an image and for what is copied to it.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> space_by_scale(fsb.read("raw_results/published/sysbench-rhel72"))["minutes"]
    536870912
    """
    return {name: _space(replication(published, scale=name).plan) for name in SCALES}


def _space(plan: Plan) -> int:
    largest = max(workload.space or 0 for workload in plan.workload)
    beside = max(workload.space_beside for workload in plan.workload)
    return max(target.space_needed(largest) for target in plan.target) + beside
