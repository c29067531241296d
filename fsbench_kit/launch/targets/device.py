"""A block device that the plan names, and the launch's caller once more. Its content is destroyed. Needs root.

It is refused if anything speaks against it (`fsbench_kit.launch.devices`): before anything starts, and again
directly before each mkfs. When the launch is over, it holds the filesystem of its last run.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsbench_kit.launch.devices import device_problem
from fsbench_kit.launch.targets.base import RUNS
from fsbench_kit.launch.targets.filesystems import FilesystemTarget
from fsbench_kit.launch.targets.steps import UMOUNT, Commands, Ready, check_device, clear_command, unmount

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
        description="the type of what is on the device and may be destroyed, as wipefs calls it",
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
        What is on it and may be destroyed.
    """

    kind: Literal["device"]
    device: DevicePath
    signature: Signature | None = None

    def place(self, root: Path) -> Path:
        """Return where the mount point is made."""
        return (root / RUNS).resolve()

    def problem(self, root: Path) -> str | None:
        """Look at the device, and for what any filesystem needs."""
        return super().problem(root) or device_problem(self.device, self.signature)

    @property
    def block_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self.device,)

    @property
    def capacity(self) -> None:
        """The device decides it."""

    def claim(self, space: int) -> int:
        """Return 0: all is on the device."""
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
    def ready(self, folder: Path) -> Iterator[Ready]:
        """Format and mount the device, after another look at it."""
        made = Ready(folder / self.commands.directory, filesystem=self.filesystem)
        made.directory.mkdir()
        check_device(made, self.device, self.signature)
        made.run(folder, *self.commands.make)
        try:
            yield made
        finally:
            unmount(made.steps, folder)
