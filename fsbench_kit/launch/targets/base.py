"""What a plan says of any target, and what the runner needs to know of it."""

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
        Where the relative directories of a plan begin.
    to
        Where its study goes, relative to that or absolute.
    """

    root: Path
    to: Path = LAUNCHED

    @property
    def results(self) -> Path:
        """The folder for studies."""
        return self.directory(self.to)

    def directory(self, name: str | Path) -> Path:
        """Return a directory that a plan names."""
        return (self.root / name).resolve()

    def command_to_resume(self, *words: str) -> str:
        """Return the command that resumes a study, which words name, or the latest one."""
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
        What its runs are called; without it, as its filesystem or else its kind.
    optional
        Whether it is left out, with a note, where it is not available.
    filesystems
        Where its runs get their filesystem from; without it, as the plan says.
    tuning
        Settings of the kernel for its runs; those that it does not name are the plan's.
    before
        Commands before each of its runs, after those of the plan.
    after
        Commands after each of its runs, before those of the plan.
    """

    isolated: ClassVar[bool] = True
    """Whether it needs mounts of its own, and so root."""

    is_raw: ClassVar[bool] = False
    """Whether it is a device without a filesystem."""

    own_devices: ClassVar[bool] = False
    """Whether it has block devices that were made for it, or that are named twice."""

    own_cache: ClassVar[str | None] = None
    """What it caches besides the kernel, and keeps where the kernel's caches are dropped."""

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

    def is_told(self, key: str) -> bool:
        """Look whether it is the filesystem, which is a column of its own."""
        return key == "filesystem"

    def place(self, folders: Folders) -> Path:
        """Return the directory in which its scratch folder is made: by default, where the results go."""
        return folders.results

    def problem(self, folders: Folders) -> str | None:
        """Say why it is not available on this machine, apart from isolation; ``None`` where it is.

        This only looks, and may be asked at any time.
        """
        if lack := not_installed(*self.programs):
            return lack
        place = self.place(folders)
        if not place.is_dir():  # the folder for results is made when the launch begins
            return None if place == folders.results else f"{place} is not a directory"
        return None if os.access(place, os.W_OK | os.X_OK) else f"{place} cannot be written to"

    def adapted(self) -> tuple[Self, tuple[str, ...]]:
        """Return it without the options that this machine lacks, and a sentence for each of these."""
        return self, ()

    @property
    def block_devices(self) -> dict[str, str | None]:
        """The block devices whose content it destroys, as the plan names them, each with what may be on it."""
        return {}

    @property
    def expected_filesystem(self) -> str | None:
        """The type of filesystem that it will have; ``None`` where that is seen only when it is there."""
        return None

    @property
    def asked_mount_options(self) -> str:
        """The mount options that the plan names."""
        return ""

    @property
    def capacity(self) -> int | None:
        """The bytes that it holds, its filesystem's own included; ``None`` where the plan does not decide it."""
        return None

    @abstractmethod
    def space_needed(self, space: int) -> int:
        """Return the bytes that it takes in its place, for a workload whose files hold `space` bytes."""

    @property
    def ageing(self) -> Ageing | None:
        """How its filesystem is aged before the runs; ``None`` where it is not."""
        return None

    @property
    def ageing_commands(self) -> tuple[Command, ...]:
        """The command that ages it, if it is aged."""
        return ()

    @property
    def written(self) -> int:
        """The bytes that are written to make it ready, as far as they are known."""
        return 0

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs that make it ready; the first of them tells the version of the filesystem's tools."""
        return ()

    @property
    def trims(self) -> bool:
        """Whether the device beneath is to be told, between runs, what its filesystem no longer uses."""
        return True

    @property
    def commands(self) -> Commands:
        """What `ready` runs."""
        return Commands(make=(), directory=".", remove=())

    @abstractmethod
    def ready(self, folder: Path, consent: Consent) -> AbstractContextManager[Ready]:
        """Make it ready in a folder, and take it away again afterwards, which may be after several runs.

        Parameters
        ----------
        folder
            An empty folder in its place, of its own.
        consent
            Which block devices may be overwritten.

        Raises
        ------
        StepError
            On entering, if a command fails.
        """

    @property
    def restoring(self) -> Restoring | None:
        """How each run gets the filesystem that was made for the first; ``None`` where it cannot."""
        return None

    def age(self, made: Ready, folder: Path) -> None:
        """Age what `ready` yielded in a folder, if it is to be aged. The files stay beside those of the runs.

        Raises
        ------
        StepError
            If the level is not reached.
        """
        for command in self.ageing_commands:
            if not made.undo(folder, command):
                raise StepError(made.steps)
        if self.ageing is not None:
            made.settings |= self.ageing.settings

    def keep(self, made: Ready, folder: Path) -> None:
        """Keep the state that a filesystem with snapshots is in, for `restored`."""
        if self.restoring is not None:
            made.run(folder, *self.restoring.keep)

    @contextmanager
    def restored(self, made: Ready, folder: Path) -> Iterator[Ready]:
        """Give a run the state that was kept.

        Parameters
        ----------
        made, folder
            What `ready` yielded in which folder.

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
