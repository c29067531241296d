"""A fresh filesystem in memory (tmpfs). Needs root. It has no device.

Its data never leaves memory.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import psutil

from fsbench_kit.launch.schema import Size
from fsbench_kit.launch.targets.aged import AgedTarget
from fsbench_kit.launch.targets.filesystems import MountWords
from fsbench_kit.launch.targets.steps import UMOUNT, Commands, Ready, unmount
from fsbench_kit.launch.tools import SYSTEM_PROGRAMS, Program
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.targets.base import Folders


class TmpfsTarget(AgedTarget):
    """A ``[[target]]`` with ``kind = "tmpfs"``.

    Attributes
    ----------
    size
        The capacity; memory is used as it fills up.
    mount_options
        The options after ``-o`` of mount, such as ``huge=always``.
    """

    kind: Literal["tmpfs"]
    size: Size
    mount_options: MountWords | None = None

    def problem(self, folders: Folders) -> str | None:
        """Check that there is enough memory, and for what every target needs."""
        free = psutil.virtual_memory().available
        if self.size > free:
            return f"{humanise(free, 'B')} of memory is free, but it may take {humanise(self.size, 'B')}"
        return super().problem(folders)

    @property
    def expected_filesystem(self) -> str:
        """Always tmpfs."""
        return "tmpfs"

    @property
    def asked_mount_options(self) -> str:
        """The plan's mount options."""
        return self.mount_options or ""

    @property
    def capacity(self) -> int:
        """The capacity."""
        return self.size

    def space_needed(self, space: int) -> int:
        """Return 0: everything is in memory."""
        del space
        return 0

    @property
    def programs(self) -> tuple[Program, ...]:
        """The program that mounts it."""
        return (SYSTEM_PROGRAMS["mount"], SYSTEM_PROGRAMS["umount"])

    @property
    def trims(self) -> bool:
        """False: there is no device."""
        return False

    @property
    def commands(self) -> Commands:
        """Mount it."""
        options = ",".join(filter(None, (f"size={self.size}", self.mount_options)))
        return Commands(
            make=(("mount", "-t", "tmpfs", "-o", options, "tmpfs", "mount"),), directory="mount", remove=(UMOUNT,)
        )

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Mount it."""
        del consent
        made = Ready(folder / self.commands.directory, filesystem=self.expected_filesystem)
        made.directory.mkdir()
        made.run(folder, *self.commands.make)
        try:
            yield made
        finally:
            unmount(made.steps, folder)
