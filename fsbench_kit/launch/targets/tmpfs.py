"""A filesystem in memory, made afresh. Needs root. It has no device.

What is read and written never leaves memory.
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
        How much it holds; memory is taken as it is filled.
    mount_options
        What follows mount's ``-o``, such as ``huge=always``.
    """

    kind: Literal["tmpfs"]
    size: Size
    mount_options: MountWords | None = None

    def problem(self, folders: Folders) -> str | None:
        """Look whether there is so much memory, besides what any target needs."""
        free = psutil.virtual_memory().available
        if self.size > free:
            return f"{humanise(free, 'B')} of memory is free, and it may take {humanise(self.size, 'B')}"
        return super().problem(folders)

    @property
    def expected_filesystem(self) -> str:
        """The one that it is."""
        return "tmpfs"

    @property
    def asked_mount_options(self) -> str:
        """Those of the plan."""
        return self.mount_options or ""

    @property
    def capacity(self) -> int:
        """What it may hold."""
        return self.size

    def space_needed(self, space: int) -> int:
        """Return 0: all is in memory."""
        del space
        return 0

    @property
    def programs(self) -> tuple[Program, ...]:
        """What mounts it."""
        return (SYSTEM_PROGRAMS["mount"], SYSTEM_PROGRAMS["umount"])

    @property
    def trims(self) -> bool:
        """No: there is no device."""
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
