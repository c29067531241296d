"""What can be run again on this machine, and what comes with the kit where it cannot."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.dry_runs import dry_run
from fsbench_kit.launch.replicate.plan import AGAIN, replication
from fsbench_kit.launch.study import launch_notes
from fsbench_kit.launch.tools import not_installed
from fsbench_kit.model.errors import LaunchError, RequestError

if TYPE_CHECKING:
    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.launch.plan import Plan


def reason_not_to_run(where: str, plan: Plan, root: Path) -> str | None:
    """Say why a plan is not run on this machine; ``None`` where it can be. Nothing is run.

    Parameters
    ----------
    where
        ``recorded`` where nothing is to be run, else ``images`` or ``directories``.
    plan
        What would be run.
    root
        The project's root.

    Raises
    ------
    RequestError
        If `where` is another.
    """
    if where == "recorded":
        return 'the parameter where is "recorded".'
    if where not in ("images", "directories"):
        raise RequestError(f"where cannot be {where!r}", hint='Say "recorded", "images" or "directories".')
    programs = dict.fromkeys(program for workload in plan.workload for program in workload.programs)
    if lack := not_installed(*programs):
        return f"{lack}."
    try:
        dry_run(plan, root)
    except LaunchError as error:
        return str(error)
    return None


def left_out(published: Dataset, folder: Path) -> dict[str, str]:
    """Say what a launch left out of a replication, and why.

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
    """
    asked = replication(published).plan
    known_as = {target.name: target.expected_filesystem or target.name for target in asked.target}
    known_as |= {workload.name: workload.tool for workload in asked.workload}
    said = {}
    for line in launch_notes(folder):
        if (found := _LEFT_OUT.match(line)) is not None and found["name"] in known_as:
            name = known_as[found["name"]]
            said[name] = f"{name} was not run: {found['why']}."
    return said


_LEFT_OUT: Final = re.compile(
    r'(?:Target|Workload) "(?P<name>[^"]+)" is (?:not available|left out): (?P<why>.*?)\.(?: It is left out\.)?$'
)


def recorded(study: str, root: Path) -> Path:
    """Return the folder of the replication of a study that comes with the kit, from the project's root.

    Raises
    ------
    RequestError
        If there is none.
    """
    folder = Path("raw_results", "replicated", f"{study}{AGAIN}")
    if not (root / folder).is_dir():
        raise RequestError(
            f"no replication of {study} comes with the kit",
            hint='To run it on this machine, say where = "images" (as root) or "directories".',
        )
    return folder
