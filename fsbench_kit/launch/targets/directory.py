"""A directory on a mounted filesystem. Needs no privileges."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Literal

from fsbench_kit.launch.environment import mount_of
from fsbench_kit.launch.schema import Truth
from fsbench_kit.launch.targets.base import BaseTarget, Directory, Folders
from fsbench_kit.launch.targets.steps import Ready

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent


class DirectoryTarget(BaseTarget):
    """A ``[[target]]`` with ``kind = "directory"``.

    Runs write to fresh subdirectories, which are removed afterwards.

    Attributes
    ----------
    directory
        Where runs write.
    distinct
        Leave this target out if an earlier target is on the same filesystem.
    """

    isolated: ClassVar[bool] = False

    kind: Literal["directory"]
    directory: Directory
    distinct: Truth = False

    def place(self, folders: Folders) -> Path:
        """Return the directory itself."""
        return folders.directory(self.directory)

    def space_needed(self, space: int) -> int:
        """Return the size of the workload's files."""
        return space

    @property
    def trims(self) -> bool:
        """False: trimming would discard all free space of somebody's filesystem."""
        return False

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Use the folder as it is."""
        del consent
        yield Ready(folder, filesystem=mount_of(folder).filesystem)
