"""A block device, named in the plan and confirmed by whoever launches it. Its content is destroyed. Needs root.

It is refused if anything speaks against it (`fsbench_kit.launch.devices`), before anything starts and again before
each mkfs. After the launch, it contains the filesystem of its last run.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from fsbench_kit.launch.targets.filesystems import FilesystemTarget
from fsbench_kit.launch.targets.steps import UMOUNT, Commands, Ready, clear_command, unmount

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent

DevicePath = Annotated[
    str,
    Field(
        pattern=r"^/dev/[\w./:@+-]+$",
        description="the path of a block device",
        examples=["/dev/disk/by-id/nvme-Example_1234"],
    ),
]
Signature = Annotated[
    str,
    Field(
        pattern=r"^[\w.-]+$",
        description='the type of the content that may be destroyed, as named by wipefs, or "unknown"',
        examples=["ext4"],
    ),
]


class DeviceTarget(FilesystemTarget):
    """A ``[[target]]`` with ``kind = "device"``.

    Attributes
    ----------
    device
        A disk without partitions, or a partition.
    signature
        The existing content that the first run may destroy. Later runs only overwrite what this launch itself
        created there.
    """

    own_devices: ClassVar = True

    kind: Literal["device"]
    device: DevicePath
    signature: Signature | None = None

    @property
    def block_devices(self) -> dict[str, str | None]:
        """The device."""
        return {self.device: self.signature}

    def space_needed(self, space: int) -> int:
        """Return 0: everything is on the device."""
        del space
        return 0

    @property
    def commands(self) -> Commands:
        """Format and mount the device."""
        return Commands(
            make=(clear_command(self.device), *self.format_commands(self.device)),
            directory="mount",
            remove=(UMOUNT,),
        )

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Format and mount the device."""
        made = Ready(
            folder / self.commands.directory, filesystem=self.filesystem, consent=consent, devices=(self.device,)
        )
        made.directory.mkdir()
        with made.overwriting(self.signature):
            made.run(folder, *self.commands.make)
            made.note()
            try:
                yield made
            finally:
                unmount(made.steps, folder)
