"""What is to be launched: a TOML file, read and checked. Nothing here does any of it.

::

    id = "quick"
    title = "ext4 and XFS in loop images"
    repeats = 10         # of each workload on each target, in rounds with a random order of their own
    seed = 20240501      # decides these orders and the data

    [budget]             # no run starts once either is used up
    seconds = 180
    bytes = "2G"

    [[target]]           # needs root
    kind = "loop"
    filesystem = ["ext4", "xfs"]    # a list is varied: see `matrix`
    size = "512M"

    [[otherwise]]        # replaces all targets where one is not available here
    kind = "directory"
    name = "project"
    directory = "."

    [[workload]]
    tool = "fio"
    name = "randwrite"
    optional = true      # left out where fio is not installed
    rw = ["randread", "randwrite"]
    ...
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, ValidationError, model_validator

from fsbench_kit.launch.ageing import Ageing
from fsbench_kit.launch.argv import Around
from fsbench_kit.launch.matrix import MODELS, expand
from fsbench_kit.launch.named_hosts import Hosts
from fsbench_kit.launch.plan_errors import Place, PlanError, Shape, as_input_error, excerpt
from fsbench_kit.launch.schema import Count, Freshness, Name, PlanTable, Seconds, Size, Truth, Whole
from fsbench_kit.launch.stopping import PILOT, Until
from fsbench_kit.launch.targets import Folders, Target
from fsbench_kit.launch.tuning import TUNING, Tuning
from fsbench_kit.launch.workloads import Argv, Workload
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.suggestions import did_you_mean
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import ASKED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from fsbench_kit.launch.targets.steps import Restoring

IMAGE_SHARE: Final = 0.75
"""The share of an image that a workload may fill: filesystems need room for themselves."""


class Budget(PlanTable):
    """What a launch may use up. A run that has begun is finished.

    Attributes
    ----------
    seconds
        No run starts once this time has passed.
    bytes
        No run starts once so much has been written.
    """

    seconds: Seconds | None = None
    bytes: Size | None = None


class Exclusion(PlanTable):
    """One ``[[exclude]]``: workloads that do not run on a target."""

    target: Annotated[Name, Field(description="the name of a target", examples=["xfs"])]
    workload: Annotated[
        tuple[Name, ...],
        Field(strict=False, min_length=1, description="a list of names of workloads", examples=[["randread"]]),
    ]


def _tables(name: str, *, at_least: int = 0) -> Any:
    description = f"a list of tables, each under a [[{name}]] of its own" + (
        ", and at least one" if at_least else ""
    )
    return Field(strict=False, min_length=at_least, description=description)


class Plan(PlanTable):
    """What to launch.

    Attributes
    ----------
    id
        The name of the study: with the time, also that of its folder.
    title
        The name of the study on pages; without it, its id.
    repeats
        How often each workload runs on each target. One run of each is a round; runs of one round are a block.
    until
        A rule that may end the launch after fewer rounds: ``half-width N %``, when the intervals of all ratios to
        the first target reach no further than N % to either side; ``stein N %``, after as many rounds as that
        takes, judged by the first five.
    seed
        Decides the order of the runs, and the data that they write.
    budget
        What the launch may use up; without it, it goes on until its plan is done.
    tuning
        Settings of the kernel for all runs, which are set back after each.
    timeout
        Seconds after which a run is ended and counts as failed. No workload may be meant to run as long as that.
    warm_up
        Rounds before those that count. Their runs are kept, marked, and left out of comparisons.
    cool_down
        Seconds of rest before each run but the first.
    campaign
        What cannot change within a launch, and is varied between the launches of a campaign: kernels, machines,
        versions of tools, settings of the BIOS. Each key is a setting, and each value one of its levels.
    hosts
        The hosts on each of which all of it is run, as ``ssh`` knows them. After the address may follow the Python
        there that has this package, and the folder in which relative directories of the plan begin.
    filesystems
        Whether each run gets a fresh filesystem, all runs on a target the same one, or each the state in which it
        was made, and aged, for the first (``restored``): by a snapshot of btrfs or ZFS, or by a copy of the image,
        with ``kind = "loop"``. In any case a run begins in an empty directory.
    drop_caches
        Whether the kernel's caches are dropped before each run, where that is permitted. Say ``false`` on a
        machine that others use.
    trim
        Whether, before each run, the device beneath is told what its filesystem does not use. Where the plan does
        not say, that is done for filesystems that the launch made, unless a device is preconditioned.
    before
        Commands before each run and all that its tool prepares. They stand in the run's directory on the target,
        their output is kept with the run, and one that fails fails it.
    after
        Commands after each run, in the same way.
    target
        What to run on.
    otherwise
        What to run on instead, where a target is not available that is not optional.
    workload
        What to run.
    exclude
        What is not run: the combinations of a target and a workload that have all of the values named here.
    precondition
        Workloads that are run once on each target before all else, in this order: to fill an SSD, for example.

    Examples
    --------
    >>> plan = Plan(
    ...     id="random-reads",
    ...     repeats=5,
    ...     target=[{"kind": "directory", "name": "here", "directory": "."}],
    ...     workload=[{"tool": "fio", "name": "randread", "rw": "randread", "bs": "4k", "size": "1G"}],
    ... )
    >>> plan.title, plan.target[0].name, plan.timeout
    ('random-reads', 'here', 300)
    """

    id: Name
    title: Annotated[str, Field(min_length=1, description="a line of text", examples=["ext4 and XFS"])] = Field(
        default_factory=lambda fields: fields.get("id", "")  # which may be wrong: it is named then
    )
    repeats: Count = 10
    until: Until | None = None
    seed: Annotated[
        int, Field(ge=0, lt=2**32, description="a whole number from 0 to 4294967295", examples=[20240501])
    ] = 1
    timeout: Seconds = 300
    warm_up: Whole = 0
    cool_down: Annotated[
        float, Field(ge=0, allow_inf_nan=False, description="a number of seconds of at least 0", examples=[5])
    ] = 0
    campaign: Annotated[
        dict[Name, Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]],
        Field(description='a table of settings, each with its levels, such as kernel = ["6.8", "6.12"]'),
    ] = Field(default_factory=dict)
    hosts: Hosts = Field(default_factory=dict)
    filesystems: Freshness = "fresh"
    drop_caches: Truth = True
    trim: Truth | None = None
    budget: Annotated[Budget, Field(description='a table with "seconds" or "bytes" or both')] = Budget()
    tuning: Annotated[Tuning, TUNING] = Tuning()
    before: Around = ()
    after: Around = ()
    target: Annotated[tuple[Target, ...], _tables("target", at_least=1)]
    otherwise: Annotated[tuple[Target, ...], _tables("otherwise")] = ()
    workload: Annotated[tuple[Workload, ...], _tables("workload", at_least=1)]
    precondition: Annotated[tuple[Workload, ...], _tables("precondition")] = ()
    exclude: Annotated[tuple[Exclusion, ...], _tables("exclude")] = ()

    @model_validator(mode="before")
    @classmethod
    def _expanded(cls, plan: Any) -> Any:
        return expand(plan).tables if isinstance(plan, dict) else plan

    @model_validator(mode="after")
    def _fits_together(self) -> Plan:
        for key in ("target", "otherwise", "workload", "precondition"):
            _refuse_equal_names(key, [table.name for table in getattr(self, key)])
        for key, levels in self.campaign.items():
            if len(set(levels)) < len(levels):
                raise PlanError(
                    f'"{key}" lists a level twice', Place(key="campaign"), hint="Write each level once."
                )
        if self.hosts and "host" in self.campaign:
            what = "the hosts are varied within a launch and between launches"
            hint = "With hosts, each launch is made on all of them: take campaign.host out."
            raise PlanError(what, Place("campaign", key="host"), hint=hint)
        for key in ("target", "otherwise"):
            for number, target in enumerate(getattr(self, key)):
                for workload in self._on(target) if target.capacity is not None else ():
                    _refuse_overfull(Place(key, number, "size"), target, workload)
        for key in ("precondition", "workload"):
            for number, workload in enumerate(getattr(self, key)):
                self._refuse_over_timeout(Place(key, number), workload)
        self._refuse_raw()
        self._refuse_unrestorable()
        if not any(map(self.workloads, self.target)):
            raise PlanError("nothing is left to run", Place(key="exclude"), hint="Exclude less.")
        if self.precondition and self.trim:
            what = "trimming would undo what [[precondition]] does to a device"
            raise PlanError(what, Place(key="trim"), hint="Write: trim = false")
        self._refuse_pointless_rule()
        self._refuse_over_budget()
        return self

    def _refuse_pointless_rule(self) -> None:
        if self.until is None:
            return
        at = Place(key="until")
        if self.rounds <= PILOT:
            what = f"the rule first looks after {PILOT} rounds, and there are {self.rounds} repeats at most"
            raise PlanError(what, at, hint="Raise repeats, the most rounds that there can be, or remove the rule.")
        if len(self.target) == 1:
            what = "the rule looks at ratios to the first target, and this is the only one"
            raise PlanError(what, at, hint="Add a [[target]], or remove the rule.")

    def _refuse_raw(self) -> None:
        """Refuse workloads on devices that cannot run on them."""
        for target in (*self.target, *self.otherwise):
            for key, workloads in (("precondition", self.precondition), ("workload", self.workloads(target))):
                for workload in workloads:
                    if problem := workload.raw_problem(is_raw=target.is_raw):
                        what = f'workload "{workload.name}" cannot run on target "{target.name}": {problem}'
                        at = Place(key, getattr(self, key).index(workload))
                        raise PlanError(
                            what, at, hint="Leave it out there with [[exclude]], or name another target."
                        )

    def _refuse_unrestorable(self) -> None:
        for key in ("target", "otherwise"):
            for number, target in enumerate(getattr(self, key)):
                if self.freshness(target) == "restored" and target.restoring is None:
                    what = (
                        f'target "{target.name}" cannot be restored: its filesystem has no snapshots, '
                        'and it is no image of kind = "loop"'
                    )
                    at = Place(key, number, "filesystems") if target.filesystems else Place(key="filesystems")
                    raise PlanError(what, at, hint='Write for it: filesystems = "fresh" or "reused"')

    @property
    def asked(self) -> dict[str, str]:
        """What a launch of it has of the campaign's levels, as settings."""
        return {f"{ASKED}{key}": level for key, (level,) in self.campaign.items()}

    @property
    def rounds(self) -> int:
        """How many rounds there are at most: a workload with fewer repeats takes part in the first ones."""
        return max(map(self.repeats_of, self.workload))

    def repeats_of(self, workload: Workload) -> int:
        """Return how often a workload runs on each target."""
        return self.repeats if workload.repeats is None else workload.repeats

    def timeout_of(self, workload: Workload) -> float:
        """Return the seconds after which a run of a workload is ended."""
        return self.timeout if workload.timeout is None else workload.timeout

    def drops_caches(self, workload: Workload) -> bool:
        """Whether the kernel's caches are dropped before a run of a workload."""
        return self.drop_caches if workload.drop_caches is None else workload.drop_caches

    def tuning_of(self, *tables: Target | Workload) -> Tuning:
        """Return the settings of the kernel for a target, a workload, or a run of one on the other."""
        tuning = self.tuning
        for table in tables:
            tuning |= table.tuning
        return tuning

    @property
    def tunings(self) -> list[Tuning]:
        """Those of all runs that set any."""
        targets = (*self.target, *self.otherwise)
        pairs = ((target, workload) for target in targets for workload in self._on(target))
        return [tuning for pair in pairs if (tuning := self.tuning_of(*pair)).values]

    def before_run(self, target: Target, workload: Workload) -> Sequence[Argv]:
        """Return the commands before a run of a workload on a target."""
        return (*self.before, *target.before, *workload.before)

    def after_run(self, target: Target, workload: Workload) -> Sequence[Argv]:
        """Return the commands after it."""
        return (*workload.after, *target.after, *self.after)

    def places(self, folders: Folders) -> tuple[Path, ...]:
        """Return the directories in which a launch has scratch folders: that for results comes first."""
        targets = (*self.target, *self.otherwise)
        return tuple(dict.fromkeys([folders.results, *(target.place(folders) for target in targets)]))

    def workloads(self, target: Target) -> list[Workload]:
        """Return the workloads that run on a target."""
        without = {name for rule in self.exclude if rule.target == target.name for name in rule.workload}
        return [workload for workload in self.workload if workload.name not in without]

    def _on(self, target: Target) -> list[Workload]:
        return [*self.precondition, *self.workloads(target)]

    def trims(self, target: Target, workload: Workload) -> bool:
        """Whether the device beneath a target is trimmed before each run of a workload."""
        said = self.trim if workload.trim is None else workload.trim
        return target.trims and not self.precondition if said is None else said

    def freshness(self, target: Target) -> Freshness:
        """Return where the runs on a target get their filesystem from."""
        return target.filesystems or self.filesystems

    def reuses(self, target: Target) -> bool:
        """Whether all runs on a target share one filesystem."""
        return self.freshness(target) == "reused"

    def restoring(self, target: Target) -> Restoring | None:
        """Return how each run on a target gets the filesystem that was made for all of them, if it does."""
        return target.restoring if self.freshness(target) == "restored" else None

    def stays(self, target: Target) -> bool:
        """Whether one filesystem of a target stays mounted for all runs."""
        restoring = self.restoring(target)
        return self.reuses(target) or (restoring is not None and restoring.copied is None)

    def keeps_own_cache(self, target: Target) -> bool:
        """Whether runs on a target find in its own cache what earlier ones have left there."""
        return target.own_cache is not None and self.stays(target)

    def _refuse_over_timeout(self, at: Place, workload: Workload) -> None:
        timeout = self.timeout_of(workload)
        if workload.stated_seconds >= timeout:
            what = (
                f'workload "{workload.name}" runs for {workload.stated_seconds:g} s, '
                f"but the timeout ends each run after {timeout:g} s"
            )
            raise PlanError(what, at, hint="Raise the timeout well above that, or plan shorter runs.")

    def _refuse_over_budget(self) -> None:
        seconds = self.least_seconds
        if self.budget.seconds is not None and seconds > self.budget.seconds:
            what = f"the runs take at least {seconds:g} s, and the budget is {self.budget.seconds:g} s"
            at = Place("budget", key="seconds")
            raise PlanError(what, at, hint="Raise it, or plan fewer repeats or shorter runs.")
        written = self.least_written
        if self.budget.bytes is not None and written > self.budget.bytes:
            what = f"the runs write at least {_bytes(written)}, and the budget is {_bytes(self.budget.bytes)}"
            at = Place("budget", key="bytes")
            raise PlanError(what, at, hint="Raise it, or plan fewer repeats or smaller files.")

    def runs_on(self, target: Target) -> list[Workload]:
        """Return the workloads that run on a target, each as often as it runs there."""
        repeated = [(self.warm_up + self.repeats_of(one)) * [one] for one in self.workloads(target)]
        return [*self.precondition, *chain(*repeated)]

    @property
    def rests(self) -> float:
        """The seconds of rest between all runs."""
        return self.cool_down * (sum(len(self.runs_on(target)) for target in self.target) - 1)

    @property
    def least_seconds(self) -> float:
        """The seconds that its runs and the rests between them take for certain."""
        return self.rests + sum(run.least_seconds for target in self.target for run in self.runs_on(target))

    @property
    def least_written(self) -> int:
        """The bytes that its runs write for certain, and those to make the targets ready for them."""
        written = 0
        for target in self.target:
            runs = self.runs_on(target)
            written += sum(run.least_written or 0 for run in runs)
            aged = target.ageing.written(target.capacity) if target.ageing and target.capacity else 0
            written += (target.written + aged) * (len(runs) if self.freshness(target) == "fresh" else 1)
            restoring = self.restoring(target)
            written += (restoring.copied or 0) * len(runs) if restoring else 0
        return written


def read_plan(path: Path, *, elsewhere: bool = False) -> Plan:
    """Read and check a plan.

    Parameters
    ----------
    path
        Its file.
    elsewhere
        Whether it is for other hosts, so that the programs and the memory of this machine say nothing of it. It is
        in any case where it names hosts.

    Raises
    ------
    InputError
        If the file cannot be read, or is no plan. It names the file and line, what is wrong there, and what may
        stand there.

    Examples
    --------
    >>> from pathlib import Path
    >>> plan = read_plan(Path("plans/quick.toml"), elsewhere=True)
    >>> plan.repeats, [target.name for target in plan.target]
    (8, ['ext4', 'xfs', 'btrfs'])
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        hint = did_you_mean(path.name, (other.name for other in path.parent.glob("*.toml"))) or None
        raise InputError(f"cannot read the plan: {error.strerror}", file=path, hint=hint) from None
    except UnicodeDecodeError as error:
        what = f"this is not UTF-8 text (byte {error.start} is 0x{error.object[error.start]:02x})"
        raise InputError(what, file=path, hint="A plan is a text file in TOML, like those in plans/.") from None
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise InputError("this is nested too deeply for a plan", file=path) from None
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        line = re.search(r"at line (\d+)", str(error))
        number = int(line[1]) if line else len(text.splitlines())
        raise InputError(
            f"this is not TOML: {error}",
            file=path,
            line=number,
            excerpt=excerpt(text, number) if path.suffix == ".toml" else None,  # another file may hold secrets
            hint="Text needs quotes, a table starts with [name], an entry of a list of tables with [[name]].",
        ) from None
    if not tables:
        raise InputError("the plan is empty", file=path, hint="Start from one of those in plans/.")
    try:
        plan = Plan.model_validate(tables, context=path.parent)
    except ValidationError as error:
        raise as_input_error(error, text, path, replace(_SHAPE, origins=_origins(tables))) from None
    if not (elsewhere or plan.hosts):
        _refuse_what_programs_refuse(plan, text, path, _origins(tables))
    return plan


def _origins(tables: dict[str, Any]) -> dict[str, list[int]]:
    try:
        return expand(tables).origins
    except PlanError:
        return {}


def _refuse_what_programs_refuse(plan: Plan, text: str, path: Path, origins: Mapping[str, Sequence[int]]) -> None:
    """Refuse a plan with a workload that its own program, as it is installed here, does not understand."""
    for key in ("precondition", "workload"):
        for number, workload in enumerate(getattr(plan, key)):
            found = workload.program_error()
            if found is not None:
                line = replace(found.at, table=key, number=origins[key][number]).line(text)
                shown = excerpt(text, line) if line else None
                raise InputError(str(found), file=path, line=line, excerpt=shown, hint=found.hint)


def plan_text(plan: Plan) -> str:
    """Write a plan as TOML that `read_plan` reads back: all defaults explicit, all sizes in bytes."""
    values = plan.model_dump(mode="json", exclude_none=True)
    return "".join(_toml(values))


def _toml(values: Mapping[str, Any], name: str = "", header: str = "") -> Iterator[str]:
    if header:
        yield f"\n{header}\n"
    for key, value in values.items():
        # An empty list is what a key that takes a list has without being said.
        if not isinstance(value, dict) and not _is_tables(value) and value != []:
            # JSON's text, numbers, truth and lists of these are TOML's
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
    for key, value in values.items():
        path = f"{name}.{key}" if name else key
        if isinstance(value, dict) and value:
            yield from _toml(value, path, f"[{path}]")
        elif _is_tables(value):
            for table in value:
                yield from _toml(table, path, f"[[{path}]]")


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _refuse_equal_names(key: str, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            what = f'two [[{key}]] are named "{name}"'
            raise PlanError(what, Place(key, number, "name"), hint="Give each a name of its own.")


def _refuse_overfull(at: Place, target: Target, workload: Workload) -> None:
    fill = target.ageing.fill if target.ageing else 0.0
    share = IMAGE_SHARE * (1 - fill)
    if workload.space is not None and target.capacity is not None and workload.space > share * target.capacity:
        what = (
            f'workload "{workload.name}" needs {_bytes(workload.space)}, '
            f"which is too much for an image of {_bytes(target.capacity)}"
            + (f" that is filled to {100 * fill:.0f} % before" if fill else "")
        )
        need = int(workload.space / share / 2**20) + 1
        raise PlanError(what, at, hint=f'Write for example: size = "{need}M"')


def _bytes(number: int) -> str:
    return humanise(number, "B")


_SHAPE: Final = Shape(
    Plan,
    tables={"budget": Budget, "tuning": Tuning, "aged": Ageing},
    lists={**MODELS, "exclude": ("", {"": Exclusion})},
)
"""Says what is wrong in a plan, and where: in the file's own lines, with what may stand there instead."""
