"""The base class of workloads: plan keys that all tools share, and their interface to the runner."""

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
    """The surroundings of a run.

    Attributes
    ----------
    directory
        An empty directory on the target.
    device
        The target itself, if it is a device without a filesystem.
    beside
        An empty directory beside the results, for what is not under test. It is removed after the run.
    filesystem
        The filesystem mounted on the target, if known.
    device_size
        The size in bytes of the block device under it; ``None`` if there is none or it is unknown.
    seed
        Determines the data and the order of requests. All targets of a round get the same one.
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
    """A key whose value can be scaled down.

    Attributes
    ----------
    of
        What has that size or number, as the beginning of a sentence.
    in_bytes
        Whether it is a size in bytes rather than a number.
    whole
        The value must be a multiple of the product of these keys and numbers; missing keys do not count.
    """

    of: str
    in_bytes: bool = True
    whole: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The keys that scale a workload down.

    Attributes
    ----------
    amounts
        Key -> what it is. All are reduced by one factor.
    time
        The key for the run time in seconds.
    loops
        The key that makes the workload repeat until its time is up, however small its files are.
    """

    amounts: Mapping[str, Amount]
    time: str | None = None
    loops: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The commands of a run: a measured one, and those around it.

    Attributes
    ----------
    measured
        The measured command. Its standard output and standard error are kept unchanged.
    before, after
        Commands that are recorded and timed but not measured. The kernel's caches are dropped after the first
        ones; the last ones run even if another command has failed.
    on_target
        Whether the commands run in the target's directory, for a tool that writes to its working directory. If
        false, they run in the run's own folder, so that logs need no path.
    files
        Files to create in the run's folder beforehand, as name -> content.
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
        The name in run names; by default that of the tool, or of a command's program.
    optional
        Whether to leave the workload out, with a note, if its program is missing. If false, its runs are recorded
        as failed.
    repeats
        How many times this workload runs on each target; by default as the plan says.
    timeout
        Seconds after which a run of this workload is killed; by default as the plan says.
    drop_caches
        Whether to drop the kernel's caches before each of its runs; by default as the plan says.
    trim
        Whether to trim the filesystem before each of its runs; by default as the plan says.
    tuning
        Kernel settings for its runs, which override those of the target and the plan.
    before
        Commands to execute before each of its runs, after those of the plan and the target.
    after
        Commands to execute after each of its runs, before those of the target and the plan.
    """

    programs: ClassVar[tuple[Program, ...]] = ()
    """The programs that must be installed."""

    keeps_finished_steps: ClassVar[bool] = False
    """Whether the log contains the steps finished before a failure, so that a failed run is partial."""

    logs: ClassVar[tuple[str, ...]] = ("stdout.txt",)
    """The files in the run's folder that contain the tool's measurements."""

    scale: ClassVar[Scale | None] = None
    """How to scale it down, if its runs can be planned from their settings."""

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
        tool: str  # each class has its own Literal

    @model_validator(mode="before")
    @classmethod
    def _named(cls, table: Any) -> Any:
        return named(table)

    @property
    def needs(self) -> tuple[Program, ...]:
        """The programs that must be installed for this workload."""
        return self.programs

    def shortened(self) -> Self:
        """Return a quick version of the workload with the same options, or the workload itself."""
        return self

    def raw_problem(self, *, is_raw: bool) -> str | None:
        """Return why it cannot run on a raw device, or on a filesystem, or ``None`` if it can."""
        return f"{self.tool} needs a filesystem" if is_raw else None

    def is_logged(self, key: str) -> bool:
        """Return whether the key is an option of the tool, and so in its log or command line."""
        return key not in BaseWorkload.model_fields and key not in Tuning.model_fields

    def program_error(self) -> PlanError | None:
        """Return what the installed program rejects about the workload, without generating any load."""
        return None

    @classmethod
    def remark(cls) -> str | None:
        """Return what users should know before running it on this machine, such as that it is slower here."""
        return None

    @classmethod
    def table_from(cls, settings: Mapping[str, str], operations: Collection[str]) -> dict[str, Any]:
        """Return the plan table that repeats a run with these settings, for tools with a `scale`.

        Parameters
        ----------
        settings
            The run's settings, keyed by `fsbench_kit.model.vocabulary.SETTINGS`.
        operations
            The operations for which the run has figures.

        Raises
        ------
        RequestError
            If a setting is missing that the run depends on.
        """
        raise NotImplementedError

    @abstractmethod
    def work(self, context: RunContext) -> Work:
        """Return the commands of the workload. This has no side effects and examines nothing."""

    def complete_log(self, folder: Path, steps: Sequence[Step]) -> None:
        """Add to a run's log what is only known after the run, whether it failed or not.

        Parameters
        ----------
        folder
            The run's folder, with the output of its commands.
        steps
            The commands that created the target for this run alone, and removed it.
        """

    @property
    def space(self) -> int | None:
        """The largest total size of its files at any time, in bytes; ``None`` if the plan does not say."""
        return None

    @property
    def is_direct(self) -> bool:
        """Whether all of its I/O bypasses the page cache."""
        return False

    @property
    def most_files(self) -> int:
        """The largest number of files and directories at any time, as far as the plan determines it."""
        return 1

    @property
    def space_beside(self) -> int:
        """The most bytes that it needs beside the results."""
        return 0

    @property
    def least_written(self) -> int | None:
        """A lower bound on the bytes that it writes; ``None`` if the plan gives none."""
        return None

    @property
    def least_seconds(self) -> float:
        """A lower bound on its duration in seconds; 0 if the plan gives none."""
        return 0.0

    @property
    def stated_seconds(self) -> float:
        """The longest duration that the plan states, in seconds; 0 if it states none."""
        return self.least_seconds


def required(settings: Mapping[str, str], *keys: str) -> list[str]:
    """Return settings without which a run cannot be repeated.

    Raises
    ------
    RequestError
        If one is unknown.
    """
    missing = [key for key in keys if key not in settings]
    if missing:
        raise RequestError(
            f"neither the log nor the article states a run's {missing[0].replace('_', ' ')}",
            hint="A run can only be repeated if its settings are known.",
        )
    return [settings[key] for key in keys]


def where_known(settings: Mapping[str, str], *keys: tuple[str, str, Callable[[str], Any]]) -> dict[str, Any]:
    """Return a tool's options whose settings are known. The others are left to the tool, as in the original run.

    Parameters
    ----------
    *keys
        Option, setting, and the function that converts the setting's value.
    """
    return {option: read(settings[key]) for option, key, read in keys if key in settings}


def truth(value: str) -> bool:
    """Convert a setting that is true or false."""
    return value == "true"


def one_word(filesystem: str | None) -> str:
    """Return the name of a filesystem as written in the logs of the package's own workloads.

    >>> one_word("fuse.sshfs"), one_word(None)
    ('fuse_sshfs', 'unknown')
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", filesystem or "unknown")
