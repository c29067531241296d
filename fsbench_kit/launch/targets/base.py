"""The base class of targets: plan keys that all kinds share, and their interface to the runner."""

from __future__ import annotations

import os
import shlex
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import Field, model_validator

from fsbench_kit.data.project import LAUNCHED
from fsbench_kit.launch.argv import Around
from fsbench_kit.launch.schema import Freshness, Name, Truth, VariedTable, named
from fsbench_kit.launch.targets.steps import Command, Commands, Ready, Restoring, StepError
from fsbench_kit.launch.tools import Program, not_installed
from fsbench_kit.launch.tuning import TUNING, Tuning
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.ageing import Ageing
    from fsbench_kit.launch.consent import Consent


class Folders(NamedTuple):
    """Where a launch works.

    Attributes
    ----------
    root
        The directory to which relative directories in a plan refer.
    to
        The folder for its study, relative to `root` or absolute.
    """

    root: Path
    to: Path = LAUNCHED

    @property
    def results(self) -> Path:
        """The folder for studies."""
        return self.directory(self.to)

    def directory(self, name: str | Path) -> Path:
        """Return the path of a directory that a plan names."""
        return (self.root / name).resolve()

    def command_to_resume(self, *words: str) -> str:
        """Return the command that resumes a study, given its name and options, or else the latest one."""
        to = [] if self.to == LAUNCHED else ["--to", str(self.to)]
        return shlex.join(["fsbench", "launch", "--resume", *words, *to])


Directory = Annotated[
    str,
    Field(
        min_length=1,
        description="a directory, absolute or relative to where you start the launch",
        examples=["scratch"],
    ),
]


class BaseTarget(VariedTable, ABC):
    """One ``[[target]]`` of a plan.

    Attributes
    ----------
    name
        The name in run names; by default that of the filesystem or kind.
    optional
        Whether to leave the target out, with a note, if it is not available.
    filesystems
        Where its runs get their filesystem from; by default as the plan says.
    tuning
        Kernel settings for its runs, which override the plan's.
    before
        Commands to execute before each of its runs, after those of the plan.
    after
        Commands to execute after each of its runs, before those of the plan.
    """

    isolated: ClassVar[bool] = True
    """Whether the target needs a mount namespace of its own, and so root."""

    is_raw: ClassVar[bool] = False
    """Whether the target is a device without a filesystem."""

    own_devices: ClassVar[bool] = False
    """Whether the target has block devices that were created for it or named twice."""

    own_cache: ClassVar[str | None] = None
    """A cache besides the kernel's, which survives dropping the kernel's caches."""

    name: Name
    optional: Truth = False
    filesystems: Freshness | None = None
    tuning: Annotated[Tuning, TUNING] = Tuning()
    before: Around = ()
    after: Around = ()

    @model_validator(mode="before")
    @classmethod
    def _named(cls, table: Any) -> Any:
        return named(table)

    def is_logged(self, key: str) -> bool:
        """Return whether runs report the key; the filesystem has a column of its own."""
        return key == "filesystem"

    def place(self, folders: Folders) -> Path:
        """Return the directory for the target's scratch folder; by default, that of the results."""
        return folders.results

    def problem(self, folders: Folders) -> str | None:
        """Return why the target is not available on this machine, apart from isolation, or ``None`` if it is.

        This has no side effects and may be called at any time.
        """
        if lack := not_installed(*self.programs):
            return lack
        place = self.place(folders)
        if not place.is_dir():  # the folder for results is created when the launch starts
            return None if place == folders.results else f"{place} is not a directory"
        return None if os.access(place, os.W_OK | os.X_OK) else f"{place} cannot be written to"

    def adapted(self) -> tuple[Self, tuple[str, ...]]:
        """Return the target without options that this machine lacks, and a sentence for each of them."""
        return self, ()

    @property
    def block_devices(self) -> dict[str, str | None]:
        """The block devices that it overwrites, as named in the plan, with the content that may be destroyed."""
        return {}

    @property
    def expected_filesystem(self) -> str | None:
        """The filesystem type it will have; ``None`` if this is only known once it is mounted."""
        return None

    @property
    def asked_mount_options(self) -> str:
        """The mount options in the plan."""
        return ""

    @property
    def capacity(self) -> int | None:
        """The size in bytes, including metadata; ``None`` if the plan does not determine it."""
        return None

    @abstractmethod
    def space_needed(self, space: int) -> int:
        """Return the bytes that it takes in its place, for a workload whose files hold `space` bytes."""

    @property
    def ageing(self) -> Ageing | None:
        """How the filesystem is aged before the runs; ``None`` if it is not."""
        return None

    @property
    def ageing_commands(self) -> tuple[Command, ...]:
        """The command that ages it, if it is aged."""
        return ()

    @property
    def written(self) -> int:
        """The bytes that preparing it writes, as far as they are known."""
        return 0

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs that prepare it; the first determines the version of the filesystem's tools."""
        return ()

    @property
    def trims(self) -> bool:
        """Whether to discard unused blocks of the filesystem between runs."""
        return True

    @property
    def commands(self) -> Commands:
        """The commands that `ready` executes."""
        return Commands(make=(), directory=".", remove=())

    @abstractmethod
    def ready(self, folder: Path, consent: Consent) -> AbstractContextManager[Ready]:
        """Prepare the target in a folder, and remove it on exit, possibly after several runs.

        Parameters
        ----------
        folder
            An empty folder of its own, in its place.
        consent
            The block devices that may be overwritten.

        Raises
        ------
        StepError
            On entering, if a command fails.
        """

    @property
    def restoring(self) -> Restoring | None:
        """How the filesystem is restored for each run; ``None`` if it cannot be."""
        return None

    def age(self, made: Ready, folder: Path) -> None:
        """Age a prepared target, if it is to be aged. The files stay beside those of the runs.

        Raises
        ------
        StepError
            If the fill level is not reached.
        """
        for command in self.ageing_commands:
            if not made.undo(folder, command):
                raise StepError(made.steps)
        if self.ageing is not None:
            made.settings |= self.ageing.settings

    def keep(self, made: Ready, folder: Path) -> None:
        """Save the current state of a filesystem with snapshots, for `restored`."""
        if self.restoring is not None:
            made.run(folder, *self.restoring.keep)

    @contextmanager
    def restored(self, made: Ready, folder: Path) -> Iterator[Ready]:
        """Provide a run with the saved state.

        Parameters
        ----------
        made, folder
            What `ready` yielded, and in which folder.

        Raises
        ------
        StepError
            On entering, if a command fails.
        """
        if self.restoring is None:
            raise NotImplementedError
        ready = replace(made, directory=folder / self.restoring.directory, steps=[], text="")
        ready.run(folder, *self.restoring.make)
        try:
            yield ready
        finally:
            for command in self.restoring.remove:
                if not ready.undo(folder, command):
                    what = f"cannot remove a snapshot: {ready.steps[-1].output.strip()}"
                    raise LaunchError(what, file=folder)
