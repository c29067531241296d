"""What a plan says of any workload, and what the runner needs to know of it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import model_validator

from fsbench_kit.launch.argv import Around
from fsbench_kit.launch.schema import Count, Name, Seconds, Truth, VariedTable, named
from fsbench_kit.launch.tools import Program
from fsbench_kit.launch.tuning import TUNING, Tuning
from fsbench_kit.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from fsbench_kit.launch.plan_errors import PlanError
    from fsbench_kit.launch.targets import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What a run is made on.

    Attributes
    ----------
    directory
        An empty directory on the target.
    device
        The target itself, where it is a device without a filesystem.
    beside
        An empty directory where the results go, for what is not under test. It is removed after the run.
    filesystem
        What is mounted on the target, where that is known.
    device_size
        The bytes of the block device under it; ``None`` where there is none or it is not known.
    seed
        Decides the data and the order of requests. All targets of a round have the same.
    """

    directory: Path
    beside: Path
    filesystem: str | None
    device_size: int | None = None
    seed: int
    device: Path | None = None


Argv = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A key whose value may be made smaller.

    Attributes
    ----------
    of
        What has that size or number, as a sentence begins.
    in_bytes
        Whether it is a size, and not a number of things.
    whole
        The keys and numbers of whose product it has to be a multiple; keys that a table lacks do not count.
    """

    of: str
    in_bytes: bool = True
    whole: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Which keys make a workload smaller.

    Attributes
    ----------
    amounts
        Key -> what it is. All are made smaller by one factor.
    time
        The key for the seconds that it runs.
    loops
        The key that makes it go on for its time, however small its files are.
    """

    amounts: Mapping[str, Amount]
    time: str | None = None
    loops: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is run: one command that is measured, and what has to be done around it.

    Attributes
    ----------
    measured
        Its standard output and standard error are kept as they are.
    before, after
        Commands that are recorded and timed, and measure nothing. The machine's caches are dropped after the
        first ones; the last ones are run even where another command has failed.
    on_target
        Whether the commands are run in the target's directory, as for a tool that writes where it stands. Else
        they are run in the run's own folder, so that a log can be named by its name alone.
    files
        Texts that are put into the run's folder before anything else, by their names.
    """

    measured: Argv
    before: tuple[Argv, ...] = ()
    after: tuple[Argv, ...] = ()
    on_target: bool = False
    files: Mapping[str, str] = field(default_factory=dict)


class BaseWorkload(VariedTable, ABC):
    """One ``[[workload]]`` of a plan.

    Attributes
    ----------
    name
        What its runs are called; without it, as its tool, or the program of a command.
    optional
        Whether it is left out, with a note, where its program is missing. Otherwise its runs are recorded as
        failed there.
    repeats
        How often this workload runs on each target; without it, as the plan says.
    timeout
        Seconds after which a run of this workload is ended; without it, as the plan says.
    drop_caches
        Whether the kernel's caches are dropped before each of its runs; without it, as the plan says.
    trim
        Whether the device is trimmed before each of its runs; without it, as the plan says.
    tuning
        Settings of the kernel for its runs; those that it does not name are the target's, or else the plan's.
    before
        Commands before each of its runs, after those of the plan and the target.
    after
        Commands after each of its runs, before those of the target and the plan.
    """

    programs: ClassVar[tuple[Program, ...]] = ()
    """The programs that have to be installed."""

    keeps_finished_steps: ClassVar[bool] = False
    """Whether its log holds what was finished before it failed, so that a failed run is partial."""

    logs: ClassVar[tuple[str, ...]] = ("stdout.txt",)
    """The files in the run's folder that hold the tool's measurements."""

    scale: ClassVar[Scale | None] = None
    """What makes it smaller, where runs of it can be planned from their settings."""

    name: Name
    optional: Truth = False
    repeats: Count | None = None
    timeout: Seconds | None = None
    drop_caches: Truth | None = None
    trim: Truth | None = None
    tuning: Annotated[Tuning, TUNING] = Tuning()
    before: Around = ()
    after: Around = ()
    if TYPE_CHECKING:
        tool: str  # each has its own, as a Literal

    @model_validator(mode="before")
    @classmethod
    def _named(cls, table: Any) -> Any:
        return named(table)

    @property
    def needs(self) -> tuple[Program, ...]:
        """The programs that have to be installed for this one."""
        return self.programs

    def shortened(self) -> Self:
        """Return a workload with the same options that takes a moment, or this one."""
        return self

    def raw_problem(self, *, is_raw: bool) -> str | None:
        """Say why it cannot run on a device without a filesystem, or on one with it; ``None`` where it can."""
        return f"{self.tool} needs a filesystem" if is_raw else None

    def is_told(self, key: str) -> bool:
        """Look whether it is an option of the tool."""
        return key not in BaseWorkload.model_fields and key not in Tuning.model_fields

    def program_error(self) -> PlanError | None:
        """Return what the program, where it is installed, does not understand of this. No load is made for it."""
        return None

    @classmethod
    def remark(cls) -> str | None:
        """Return what users should know before it is run on this machine, for example that it is slower here."""
        return None

    @classmethod
    def table_from(cls, settings: Mapping[str, str], operations: Collection[str]) -> dict[str, Any]:
        """Return the table of a plan that makes a run with these settings again; for tools with a `scale`.

        Parameters
        ----------
        settings
            What is known of the run, by the words of `fsbench_kit.model.vocabulary.SETTINGS`.
        operations
            Those of which the run has figures.

        Raises
        ------
        RequestError
            If a setting is missing without which the run cannot be made.
        """
        raise NotImplementedError

    @abstractmethod
    def work(self, context: RunContext) -> Work:
        """Return the commands that make this load. Nothing is done by this, and nothing looked at."""

    def complete_log(self, folder: Path, steps: Sequence[Step]) -> None:
        """Complete the log in a run's folder, where that needs what is known only after the run, failed or not.

        Parameters
        ----------
        folder
            The run's folder, with what its commands have written.
        steps
            The commands that made the target for this run alone, and took it away.
        """

    @property
    def space(self) -> int | None:
        """The most bytes that its files hold at any time; ``None`` where the plan does not tell."""
        return None

    @property
    def is_direct(self) -> bool:
        """Whether all of its data go past the page cache."""
        return False

    @property
    def most_files(self) -> int:
        """The most files and directories that it has at any time, as far as the plan tells."""
        return 1

    @property
    def space_beside(self) -> int:
        """The most bytes that it needs where the results go."""
        return 0

    @property
    def least_written(self) -> int | None:
        """The bytes that it is sure to write; ``None`` where the plan does not tell."""
        return None

    @property
    def least_seconds(self) -> float:
        """The seconds that it is sure to take; 0 where the plan does not tell."""
        return 0.0

    @property
    def stated_seconds(self) -> float:
        """The seconds up to which it runs by what the plan says of times; 0 where that says nothing."""
        return self.least_seconds


def required(settings: Mapping[str, str], *keys: str) -> list[str]:
    """Return settings without which a run cannot be made again.

    Raises
    ------
    RequestError
        If one is not known.
    """
    missing = [key for key in keys if key not in settings]
    if missing:
        raise RequestError(
            f"neither the log nor the article tells a run's {missing[0].replace('_', ' ')}",
            hint="A run can be made again only where its settings are known.",
        )
    return [settings[key] for key in keys]


def where_known(settings: Mapping[str, str], *keys: tuple[str, str, Callable[[str], Any]]) -> dict[str, Any]:
    """Return a tool's options whose setting is known; the others are left to the tool, as they were then.

    Parameters
    ----------
    *keys
        The option, the setting, and what makes the one of the other.
    """
    return {option: read(settings[key]) for option, key, read in keys if key in settings}


def truth(value: str) -> bool:
    """Read a setting that is true or false."""
    return value == "true"


def one_word(filesystem: str | None) -> str:
    """Return the name of a filesystem as the logs of the kit's own workloads have it.

    >>> one_word("fuse.sshfs"), one_word(None)
    ('fuse_sshfs', 'unknown')
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", filesystem or "unknown")
