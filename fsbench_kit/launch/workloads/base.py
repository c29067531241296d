"""What a plan says of any workload, and what the runner needs to know of it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import model_validator

from fsbench_kit.launch.schema import Name, Table, Truth, named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fsbench_kit.launch.mistakes import MistakeError
    from fsbench_kit.launch.targets import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a run is made on.

    Attributes
    ----------
    directory
        An empty directory on the target.
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


Argv = tuple[str, ...]


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


class BaseWorkload(Table, ABC):
    """One ``[[workload]]`` of a plan.

    Attributes
    ----------
    name
        What its runs are called; without it, as its tool.
    optional
        Whether it is left out, with a note, where its program is missing. Otherwise its runs are recorded as
        failed there.
    """

    program: ClassVar[str | None] = None
    """The program that has to be installed; ``None`` where the kit brings it."""

    logs: ClassVar[tuple[str, ...]] = ("stdout.txt",)
    """The files in the run's folder that hold the tool's figures."""

    name: Name
    optional: Truth = False

    @model_validator(mode="before")
    @classmethod
    def _named(cls, table: Any) -> Any:
        return named(table, "tool")

    def mistake(self) -> MistakeError | None:
        """Return what the program, where it is installed, does not understand of this. No load is made for it."""
        return None

    def remark(self) -> str | None:
        """Return what is to be said before it is run on this machine, where it runs otherwise than it could."""
        return None

    @abstractmethod
    def work(self, ground: Ground) -> Work:
        """Return the commands that make this load. Nothing is done by this, and nothing looked at."""

    def conclude(self, folder: Path, steps: Sequence[Step]) -> None:
        """Complete the log in a run's folder, where that needs what is known only after the run, failed or not.

        Parameters
        ----------
        folder
            The run's folder, with what its commands have written.
        steps
            The commands that made the target for this run alone, and took it away.
        """

    @property
    @abstractmethod
    def space(self) -> int | None:
        """The most bytes that its files hold at any time; ``None`` where the plan does not tell."""

    @property
    def space_beside(self) -> int:
        """The most bytes that it needs where the results go."""
        return 0

    @property
    @abstractmethod
    def least_written(self) -> int | None:
        """The bytes that it is sure to write; ``None`` where the plan does not tell."""

    @property
    @abstractmethod
    def least_seconds(self) -> float:
        """The seconds that it takes at least."""

    @property
    def stated_seconds(self) -> float:
        """The seconds up to which it runs by what the plan says of times; 0 where that says nothing."""
        return self.least_seconds


def one_word(filesystem: str | None) -> str:
    """Return the name of a filesystem as the logs of the kit's own workloads have it.

    >>> one_word("fuse.sshfs"), one_word(None)
    ('fuse_sshfs', 'unknown')
    """
    return re.sub(r"[^A-Za-z0-9_]", "_", filesystem or "unknown")
