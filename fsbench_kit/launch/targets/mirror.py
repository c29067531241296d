"""A mirror of two members: btrfs raid1, or md with another filesystem on it. Needs root.

ZFS mirrors are targets of ``kind = "zfs"``.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch.targets.filesystems import FilesystemTarget
from fsbench_kit.launch.targets.images import attached
from fsbench_kit.launch.targets.members import MembersTarget
from fsbench_kit.launch.targets.steps import UMOUNT, Command, Commands, Ready, launch_name, unmount
from fsbench_kit.launch.tools import MDADM, Program, has_md

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.targets.base import Folders

_NAME_LENGTH: Final = 32  # the longest name of an array
_ARRAY: Final = "/dev/mdN"
_NAME: Final = "ARRAY"


class MirrorTarget(FilesystemTarget, MembersTarget):
    """A ``[[target]]`` with ``kind = "mirror"``."""

    kind: Literal["mirror"]

    @property
    def member_count(self) -> int:
        """Two."""
        return 2

    def problem(self, folders: Folders) -> str | None:
        """Check for md if it is needed, and for what the members and the filesystem need."""
        if not self._of_btrfs and not has_md():
            return (
                f"the kernel has no md, which a mirror with {self.filesystem} on it needs (btrfs and ZFS do not)"
            )
        return super().problem(folders)

    @property
    def programs(self) -> tuple[Program, ...]:
        """The filesystem's programs, and mdadm for md mirrors."""
        return super().programs if self._of_btrfs else (*super().programs, MDADM)

    @property
    def _of_btrfs(self) -> bool:
        return self.filesystem == "btrfs"

    @property
    def commands(self) -> Commands:
        """Create and join the members, then format and mount the mirror."""
        array = () if self._of_btrfs else (self._create,)
        return Commands(
            make=(*self.member_commands, *self.attach_commands, *array, *self._format),
            directory="mount",
            remove=(UMOUNT, *(() if self._of_btrfs else self._stop)),
        )

    @property
    def _format(self) -> tuple[Command, Command]:
        if self._of_btrfs:
            members = tuple(f"device={member}" for member in self.members)
            return self.format_commands(*self.members, mkfs=("-d", "raid1", "-m", "raid1"), mount=members)
        return self.format_commands(_ARRAY)

    @property
    def _create(self) -> Command:
        # Without --assume-clean, one member would be copied to the other during the runs.
        words = ("--run", "--level=1", "--metadata=1.2", "--raid-devices=2", "--homehost=any", "--assume-clean")
        return ("mdadm", "--create", _ARRAY, *words, f"--name={_NAME}", *self.members)

    @property
    def _stop(self) -> tuple[Command, Command]:
        return ("mdadm", "--stop", _ARRAY), ("mdadm", "--zero-superblock", *self.members)

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Create the mirror and mount it."""
        raid = "btrfs raid1" if self._of_btrfs else "md raid1"
        made = Ready(
            folder / self.commands.directory,
            filesystem=self.filesystem,
            settings={"raid": raid} | self.image_settings,
            consent=consent,
            devices=self.devices,
        )
        made.directory.mkdir()
        with made.overwriting(self.signature):
            made.run(folder, *self.member_commands)
            with (
                attached(made, folder, self.loops),
                nullcontext() if self._of_btrfs else self._array(made, folder),
            ):
                made.run(folder, *self._format)
                made.note()
                try:
                    yield made
                finally:
                    unmount(made.steps, folder)

    @contextmanager
    def _array(self, made: Ready, folder: Path) -> Iterator[None]:
        """Join the members with md. The array outlives this process and is found by its name."""
        taken = {path.name for path in Path("/sys/block").glob("md*")}
        free = next(number for number in range(127, 0, -1) if f"md{number}" not in taken)
        made.names |= {_ARRAY: f"/dev/md{free}", _NAME: launch_name(folder)[:_NAME_LENGTH]}
        made.run(folder, self._create)
        try:
            yield
        finally:
            for command in self._stop:
                made.undo(folder, command)
