"""A study's folder: its plan, and a folder for each run that appears whole or not at all.

The study's folder appears with its first run. The plan alone determines which runs to make and what they are
called, so that an unfinished study can be resumed.
"""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.data.files import RUN_FILE
from fsbench_kit.launch.consent import Made
from fsbench_kit.launch.files import publish
from fsbench_kit.launch.plan import Plan, plan_text, read_plan
from fsbench_kit.launch.schedule import PlannedRun, schedule
from fsbench_kit.launch.study_files import CAMPAIGN, DECISION, DEVICES, HOSTS, NOTES, PLAN, SHARED, STUDY
from fsbench_kit.model.errors import InputError, LaunchError, RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


_NEEDED: Final = {"status", "target", "workload", "settings", "environment", "host"}
"""What a run's record must contain for its study to be resumed."""


class LaunchedStudy:
    """A study that is launched or resumed.

    Parameters
    ----------
    folder
        The study's folder; need not exist yet.
    plan
        The plan of the study.
    notes
        Remarks about the plan.

    Attributes
    ----------
    planned_runs
        Name -> run, in the order in which the runs are made.
    """

    def __init__(self, folder: Path, plan: Plan, notes: Sequence[str] = ()) -> None:
        self.folder = folder
        self.plan = plan
        self.notes = notes
        planned_runs = schedule(plan)
        digits = max(3, len(str(len(planned_runs))))
        self.planned_runs: dict[str, PlannedRun] = {
            f"{order:0{digits}d}-{planned.target.name}-{planned.workload.name}": planned
            for order, planned in enumerate(planned_runs, 1)
        }

    @property
    def name(self) -> str:
        """The study's name."""
        return self.folder.name

    @property
    def recorded_as(self) -> str:
        """The study that its runs belong to: the whole one, if this is a block of a campaign or a host's part."""
        whole = self.folder.parent
        if (whole / SHARED).is_file():
            return (whole / SHARED).read_text(encoding="utf-8")
        return whole.name if (whole / CAMPAIGN).is_file() else self.name

    @property
    def made(self) -> tuple[str, ...]:
        """The existing runs, in order.

        Raises
        ------
        LaunchError
            If there are runs that the plan does not have.
        """
        found = sorted(path.parent.name for path in self.folder.glob(f"*/{RUN_FILE}"))
        strange = [name for name in found if name not in self.planned_runs]
        if strange:
            what = f"its plan has no run {strange[0]}"
            hint = "Undo the changes to the study's plan.toml, or launch the plan as a new study."
            raise LaunchError(what, file=self.folder, hint=hint)
        return tuple(found)

    def record(self, name: str) -> dict[str, Any]:
        """Return the record of a run.

        Raises
        ------
        LaunchError
            If it cannot be read.
        """
        path = self.folder / name / RUN_FILE
        hint = "Move the run's folder away to repeat the run."
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise LaunchError(f"cannot read the run's record: {error}", file=path, hint=hint) from None
        if not (isinstance(record, dict) and record.keys() >= _NEEDED):
            raise LaunchError("this is not a run's record", file=path, hint=hint)
        return record

    @property
    def unfinished(self) -> bool:
        """Whether runs are missing from the rounds to be made."""
        made, rounds = set(self.made), self._settled_rounds
        return any(name not in made and planned.is_within(rounds) for name, planned in self.planned_runs.items())

    @property
    def has_failures(self) -> bool:
        """Whether an existing run is not ``ok``."""
        return any(self.record(name).get("status") != "ok" for name in self.made)

    def settle(self, scratch: Path, rounds: int) -> None:
        """Record the number of rounds that the plan's stopping rule has decided on.

        Parameters
        ----------
        scratch
            An existing folder on the same filesystem.
        rounds
            The number of rounds to make.
        """
        self._put(scratch, DECISION, {**self._rule, "rounds": rounds})

    def keep(self, scratch: Path, made: Mapping[str, Made]) -> None:
        """Record what the launch has created on block devices.

        Parameters
        ----------
        scratch
            An existing folder on the same filesystem.
        made
            What was created, keyed by the devices' names in the plan.
        """
        self._put(scratch, DEVICES, {name: found.to_json() for name, found in made.items()})

    def _put(self, scratch: Path, name: str, content: dict[str, Any]) -> None:
        new = scratch / name
        new.write_text(json.dumps(content) + "\n", encoding="utf-8")
        publish(new, self.folder / name)

    @property
    def _rule(self) -> dict[str, Any]:
        """What a decision was based on. It does not hold for any other rule."""
        return {"until": self.plan.until, "repeats": self.plan.rounds}

    @property
    def _settled_rounds(self) -> int:
        """The number of rounds to make, as far as it is decided."""
        try:
            decision = json.loads((self.folder / DECISION).read_text(encoding="utf-8"))
            rounds = decision.pop("rounds")
        except (OSError, ValueError, LookupError, AttributeError, TypeError):
            return self.plan.rounds
        return rounds if decision == self._rule else self.plan.rounds

    def refuse_to_overwrite(self, *, replace: bool) -> None:
        """Refuse a new study if its name is taken.

        Raises
        ------
        LaunchError
            If the existing study is not to be replaced, or is not a launched study.
        """
        if not self.folder.exists():
            return
        if not replace:
            what = f'a study "{self.name}" exists already, and raw results are never overwritten'
            hint = (
                "Resume it (--resume), replace it (--replace), or choose another name; "
                "without a name, a study is named by its plan and the time."
            )
            raise LaunchError(what, file=self.folder, hint=hint)
        if not (self.folder / PLAN).is_file():
            what = "cannot replace this: it was not made by a launch"
            raise LaunchError(what, file=self.folder, hint="Choose another name.")

    def begin(self, scratch: Path, run: Path) -> None:
        """Put the study in place with its first run, replacing what is there.

        Parameters
        ----------
        scratch
            An existing folder on the same filesystem.
        run
            The folder of the first run, in the scratch folder.
        """
        new = scratch / "study"
        new.mkdir()
        titles = {"id": self.recorded_as, "title": self.plan.title}
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in titles.items()]
        (new / STUDY).write_text("".join(["[study]\n", *lines]), encoding="utf-8")
        (new / PLAN).write_text(plan_text(self.plan), encoding="utf-8")
        if self.notes:
            (new / NOTES).write_text("".join(f"{note}\n" for note in self.notes), encoding="utf-8")
        publish(run, new / run.name)
        if self.folder.exists():
            self.folder.rename(scratch / "replaced")
        publish(new, self.folder)

    def add(self, scratch: Path, run: Path) -> None:
        """Put a run in place, replacing what is there."""
        place = self.folder / run.name
        if place.exists():
            place.rename(scratch / f"replaced-{run.name}")
        publish(run, place)


def made_on_devices(folder: Path) -> dict[str, Made]:
    """Return what earlier starts of a launch have created on block devices, by the devices' names in the plan.

    Raises
    ------
    LaunchError
        If it cannot be read.
    """
    path = folder / DEVICES
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
        return {name: Made.from_json(found) for name, found in made.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, LookupError, AttributeError, TypeError) as error:
        what = f"cannot read what the launch made on block devices: {error}"
        raise LaunchError(what, file=path, hint="Launch the plan as a new study.") from None


def find_study(runs: Path, name: str | None, *, retry_failed: bool = False) -> LaunchedStudy:
    """Find a study to resume: by name, or the latest that is unfinished or has runs to repeat.

    Raises
    ------
    RequestError
        If there is none.
    """
    if name is not None:
        if (runs / HOSTS).is_file():
            hint = f"Resume all of it: {shlex.join(['fsbench', 'launch', '--resume', str(runs)])}"
            raise RequestError("this was launched on other hosts", file=runs / name, hint=hint)
        if not (runs / name / PLAN).is_file():
            known = ", ".join(folder.name for folder in _folders(runs))
            hint = f"Launched studies: {known}." if known else "Launch a plan first."
            raise RequestError(f'there is no launched study "{name}"', file=runs, hint=hint)
        return LaunchedStudy(runs / name, read_plan(runs / name / PLAN))
    for folder in _folders(runs):
        with suppress(InputError, LaunchError):  # from another version; requested by name, it raises the error
            study = LaunchedStudy(folder, read_plan(folder / PLAN))
            if study.unfinished or (retry_failed and study.has_failures):
                return study
    failed = " or has failed runs" if retry_failed else ""
    raise RequestError(f"nothing to resume: no study is unfinished{failed}", file=runs, hint="Launch a plan.")


def _folders(runs: Path) -> list[Path]:
    """Return the launched studies in a folder, including those of campaigns, most recent run first."""
    places = [runs, *(path.parent for path in runs.glob(f"*/{CAMPAIGN}"))]
    plans = (plan for place in places for plan in place.glob(f"*/{PLAN}"))
    found = [plan.parent for plan in plans if not plan.parent.name.startswith(".")]
    return sorted(found, key=lambda folder: folder.stat().st_mtime, reverse=True)
