"""Reads and checks plans: TOML files that say what to launch. Nothing here runs any of it.

::

    id = "quick"
    title = "ext4 and XFS in loop images"
    repeats = 10         # of each workload on each target, in rounds with a random order each
    seed = 20240501      # determines these orders and the data

    [budget]             # no run starts once either limit is reached
    seconds = 180
    bytes = "2G"

    [[target]]           # needs root
    kind = "loop"
    filesystem = ["ext4", "xfs"]    # a list is varied: see `matrix`
    size = "512M"

    [[otherwise]]        # replaces all targets if one is not available here
    kind = "directory"
    name = "project"
    directory = "."

    [[workload]]
    tool = "fio"
    name = "randwrite"
    optional = true      # left out if fio is not installed
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
"""The share of an image that a workload may fill; filesystems need the rest for themselves."""


class Budget(PlanTable):
    """Limits on what a launch may use. A run that has started is finished.

    Attributes
    ----------
    seconds
        No run starts once this time has passed.
    bytes
        No run starts once this many bytes have been written.
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
        The name of the study. Its folder has this name and the time.
    title
        The title of the study on pages; by default its id.
    repeats
        How many times each workload runs on each target. One run of each makes a round; its runs form a block.
    until
        A rule that may end the launch after fewer rounds. ``half-width N %``: stop when the intervals of all
        ratios to the first target reach at most N % to either side. ``stein N %``: make as many rounds as the
        first five suggest are needed for that.
    seed
        Determines the order of the runs and the data that they write.
    budget
        Limits on what the launch may use; by default it runs until its plan is complete.
    tuning
        Kernel settings for all runs, restored after each.
    timeout
        Seconds after which a run is killed and counts as failed. Must exceed the run time of every workload.
    warm_up
        Rounds to make before those that count. Their runs are kept, marked, and left out of comparisons.
    cool_down
        Seconds to rest before each run except the first.
    campaign
        What cannot change within a launch and is varied between the launches of a campaign, such as kernels,
        machines, tool versions or BIOS settings. Each key is a setting, and its list has the levels.
    hosts
        The hosts that each run the whole plan, named as ``ssh`` knows them. The address may be followed by a
        Python on that host that has this package, and by the folder to which relative directories in the plan
        refer.
    filesystems
        Where each run's filesystem comes from. ``fresh``: a new one for each run; ``reused``: one for all runs on
        a target; ``restored``: made and aged once, and returned to that state for each run by a snapshot (btrfs,
        ZFS) or a copy of the image (``kind = "loop"``). In any case a run starts in an empty directory.
    drop_caches
        Whether to drop the kernel's caches before each run, where permitted. Set this to ``false`` on a machine
        that others use.
    trim
        Whether to discard the unused blocks of the filesystem before each run. By default, this is done for
        filesystems that the launch created, unless a device is preconditioned.
    before
        Commands to execute before each run and anything that its tool prepares, in the run's directory on the
        target. Their output is kept with the run; if a command fails, the run fails.
    after
        Commands to execute after each run, in the same way.
    target
        What to run on.
    otherwise
        What to run on instead, if a target that is not optional is not available.
    workload
        What to run.
    exclude
        Combinations of a target and a workload to skip: those that have all of the values given here.
    precondition
        Workloads that run once on each target before everything else, in this order, for example to fill an SSD.

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
        default_factory=lambda fields: fields.get("id", "")  # which may be invalid and is reported then
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
            what = "the hosts are varied both within a launch and between launches"
            hint = "With hosts, each launch runs on all of them: remove campaign.host."
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
            what = f"the rule first looks after {PILOT} rounds, but there are at most {self.rounds} repeats"
            raise PlanError(what, at, hint="Raise repeats, which limits the number of rounds, or remove the rule.")
        if len(self.target) == 1:
            what = "the rule looks at ratios to the first target, but there is only one target"
            raise PlanError(what, at, hint="Add a [[target]], or remove the rule.")

    def _refuse_raw(self) -> None:
        """Refuse raw-device targets for workloads that need a filesystem."""
        for target in (*self.target, *self.otherwise):
            for key, workloads in (("precondition", self.precondition), ("workload", self.workloads(target))):
                for workload in workloads:
                    if problem := workload.raw_problem(is_raw=target.is_raw):
                        what = f'workload "{workload.name}" cannot run on target "{target.name}": {problem}'
                        at = Place(key, getattr(self, key).index(workload))
                        raise PlanError(
                            what, at, hint="Leave out the combination with [[exclude]], or name another target."
                        )

    def _refuse_unrestorable(self) -> None:
        for key in ("target", "otherwise"):
            for number, target in enumerate(getattr(self, key)):
                if self.freshness(target) == "restored" and target.restoring is None:
                    what = (
                        f'target "{target.name}" cannot be restored: its filesystem has no snapshots, '
                        'and it is not an image of kind = "loop"'
                    )
                    at = Place(key, number, "filesystems") if target.filesystems else Place(key="filesystems")
                    raise PlanError(what, at, hint='Write for it: filesystems = "fresh" or "reused"')

    @property
    def asked(self) -> dict[str, str]:
        """The levels of the campaign that this plan asks for, as settings."""
        return {f"{ASKED}{key}": level for key, (level,) in self.campaign.items()}

    @property
    def rounds(self) -> int:
        """The maximum number of rounds; a workload with fewer repeats takes part in the first ones."""
        return max(map(self.repeats_of, self.workload))

    def repeats_of(self, workload: Workload) -> int:
        """Return how many times a workload runs on each target."""
        return self.repeats if workload.repeats is None else workload.repeats

    def timeout_of(self, workload: Workload) -> float:
        """Return the timeout of a workload's runs, in seconds."""
        return self.timeout if workload.timeout is None else workload.timeout

    def drops_caches(self, workload: Workload) -> bool:
        """Return whether the kernel's caches are dropped before a workload's runs."""
        return self.drop_caches if workload.drop_caches is None else workload.drop_caches

    def tuning_of(self, *tables: Target | Workload) -> Tuning:
        """Return the kernel settings for a target, a workload, or a run of one on the other."""
        tuning = self.tuning
        for table in tables:
            tuning |= table.tuning
        return tuning

    @property
    def tunings(self) -> list[Tuning]:
        """The kernel settings of all runs that have any."""
        targets = (*self.target, *self.otherwise)
        pairs = ((target, workload) for target in targets for workload in self._on(target))
        return [tuning for pair in pairs if (tuning := self.tuning_of(*pair)).values]

    def before_run(self, target: Target, workload: Workload) -> Sequence[Argv]:
        """Return the commands before a run of a workload on a target."""
        return (*self.before, *target.before, *workload.before)

    def after_run(self, target: Target, workload: Workload) -> Sequence[Argv]:
        """Return the commands after a run of a workload on a target."""
        return (*workload.after, *target.after, *self.after)

    def places(self, folders: Folders) -> tuple[Path, ...]:
        """Return the directories in which a launch has scratch folders, starting with that for results."""
        targets = (*self.target, *self.otherwise)
        return tuple(dict.fromkeys([folders.results, *(target.place(folders) for target in targets)]))

    def workloads(self, target: Target) -> list[Workload]:
        """Return the workloads that run on a target."""
        without = {name for rule in self.exclude if rule.target == target.name for name in rule.workload}
        return [workload for workload in self.workload if workload.name not in without]

    def _on(self, target: Target) -> list[Workload]:
        return [*self.precondition, *self.workloads(target)]

    def trims(self, target: Target, workload: Workload) -> bool:
        """Return whether the filesystem on a target is trimmed before each run of a workload."""
        wanted = self.trim if workload.trim is None else workload.trim
        return target.trims and not self.precondition if wanted is None else wanted

    def freshness(self, target: Target) -> Freshness:
        """Return where the runs on a target get their filesystem from."""
        return target.filesystems or self.filesystems

    def reuses(self, target: Target) -> bool:
        """Return whether all runs on a target share one filesystem."""
        return self.freshness(target) == "reused"

    def restoring(self, target: Target) -> Restoring | None:
        """Return how a target's filesystem is restored for each run, or ``None`` if it is not."""
        return target.restoring if self.freshness(target) == "restored" else None

    def stays(self, target: Target) -> bool:
        """Return whether a target's filesystem stays mounted for all runs."""
        restoring = self.restoring(target)
        return self.reuses(target) or (restoring is not None and restoring.copied is None)

    def keeps_own_cache(self, target: Target) -> bool:
        """Return whether a target has a cache of its own that keeps data from earlier runs."""
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
            what = f"the runs take at least {seconds:g} s, but the budget is {self.budget.seconds:g} s"
            at = Place("budget", key="seconds")
            raise PlanError(what, at, hint="Raise it, or plan fewer repeats or shorter runs.")
        written = self.least_written
        if self.budget.bytes is not None and written > self.budget.bytes:
            what = f"the runs write at least {_bytes(written)}, but the budget is {_bytes(self.budget.bytes)}"
            at = Place("budget", key="bytes")
            raise PlanError(what, at, hint="Raise it, or plan fewer repeats or smaller files.")

    def runs_on(self, target: Target) -> list[Workload]:
        """Return the workloads that run on a target, each repeated once per run."""
        repeated = [(self.warm_up + self.repeats_of(one)) * [one] for one in self.workloads(target)]
        return [*self.precondition, *chain(*repeated)]

    @property
    def rests(self) -> float:
        """The total rest between runs, in seconds."""
        return self.cool_down * (sum(len(self.runs_on(target)) for target in self.target) - 1)

    @property
    def least_seconds(self) -> float:
        """A lower bound on the time of all runs and rests, in seconds."""
        return self.rests + sum(run.least_seconds for target in self.target for run in self.runs_on(target))

    @property
    def least_written(self) -> int:
        """A lower bound on the bytes that all runs write, including the preparation of targets."""
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
        The plan's file.
    elsewhere
        Whether the plan is for other hosts, so that it is not checked against this machine's programs and memory.
        This is implied if the plan names hosts.

    Raises
    ------
    InputError
        If the file cannot be read or is not a valid plan. The message names the file and line, what is wrong, and
        what is allowed there.

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
    except ValueError as error:  # a TOMLDecodeError, or a number with thousands of digits
        line = re.search(r"at line (\d+)", str(error))
        number = int(line[1]) if line else len(text.splitlines())
        raise InputError(
            f"this is not TOML: {error}",
            file=path,
            line=number,
            excerpt=excerpt(text, number) if path.suffix == ".toml" else None,  # another file may contain secrets
            hint="Strings need quotes; a table starts with [name], an entry in a list of tables with [[name]].",
        ) from None
    if not tables:
        raise InputError("the plan is empty", file=path, hint="Start from one of the plans in plans/.")
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
    """Refuse a plan with a workload that the installed version of its program rejects."""
    for key in ("precondition", "workload"):
        for number, workload in enumerate(getattr(plan, key)):
            found = workload.program_error()
            if found is not None:
                line = replace(found.at, table=key, number=origins[key][number]).line(text)
                shown = excerpt(text, line) if line else None
                raise InputError(str(found), file=path, line=line, excerpt=shown, hint=found.hint)


def plan_text(plan: Plan) -> str:
    """Return a plan as TOML that `read_plan` can read, with all defaults explicit and all sizes in bytes."""
    values = plan.model_dump(mode="json", exclude_none=True)
    return "".join(_toml(values))


def _toml(values: Mapping[str, Any], name: str = "", header: str = "") -> Iterator[str]:
    if header:
        yield f"\n{header}\n"
    for key, value in values.items():
        # A key that takes a list is empty by default, so that an empty list need not be written.
        if not isinstance(value, dict) and not _is_tables(value) and value != []:
            # JSON's strings, numbers, booleans and lists of them are valid TOML
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
            + (f" that is already filled to {100 * fill:.0f} %" if fill else "")
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
"""Explains errors in a plan: what is wrong, on which line, and what is allowed there."""
