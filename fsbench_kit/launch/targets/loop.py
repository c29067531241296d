"""An image file that is formatted and mounted afresh. Needs root.

The loop device is attached by mount itself, with the flag that makes the kernel detach it when the mount ends; so
whatever ends this process, nothing stays mounted or attached.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch.environment import devices_under
from fsbench_kit.launch.schema import Size
from fsbench_kit.launch.targets.base import RUNS, Directory
from fsbench_kit.launch.targets.filesystems import FilesystemTarget
from fsbench_kit.launch.targets.images import Allocation, direct_io_command, image_commands
from fsbench_kit.launch.targets.steps import UMOUNT, Commands, Ready, unmount
from fsbench_kit.launch.tools import has_loop_devices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent

_IMAGE: Final = "image"
_LOOP: Final = "/dev/loopN"
NO_LOOP_DEVICES: Final = "the kernel has no loop devices here (/dev/loop-control is missing)"


class LoopTarget(FilesystemTarget):
    """A ``[[target]]`` with ``kind = "loop"``.

    Attributes
    ----------
    size
        That of the image.
    allocation
        How the image has its space: see `fsbench_kit.launch.targets.images.Allocation`.
    directory
        Where the image lies; without it, where the results go.
    """

    kind: Literal["loop"]
    size: Size
    allocation: Allocation = "unwritten"
    directory: Directory | None = None

    def place(self, root: Path) -> Path:
        """Return where the image is made."""
        return (root / (self.directory or RUNS)).resolve()

    def problem(self, root: Path) -> str | None:
        """Look for loop devices, and what any filesystem needs."""
        if not has_loop_devices():
            return NO_LOOP_DEVICES
        return super().problem(root)

    @property
    def capacity(self) -> int:
        """The size of the image."""
        return self.size

    def space_needed(self, space: int) -> int:
        """Return the size of the image, or what is written to it."""
        return space if self.allocation == "sparse" else self.size

    @property
    def written(self) -> int:
        """The size of the image, where that is written."""
        return self.size if self.allocation == "written" else 0

    @property
    def trims(self) -> bool:
        """No: that would undo the image's allocation."""
        return False

    @property
    def commands(self) -> Commands:
        """Make, format and mount an image."""
        return Commands(
            make=(
                *image_commands(_IMAGE, size=self.size, allocation=self.allocation),
                *self.format_commands(_IMAGE, mount=("loop",)),
                direct_io_command(_LOOP),
            ),
            directory="mount",
            remove=(UMOUNT,),
        )

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Make, format and mount an image."""
        del consent
        made = Ready(
            folder / self.commands.directory,
            filesystem=self.filesystem,
            settings={"image_allocation": self.allocation},
        )
        made.directory.mkdir()
        *make, direct_io = self.commands.make
        made.run(folder, *make)
        try:
            made.names[_LOOP] = f"/dev/{devices_under(made.directory)[0].name}"
            made.attempt(folder, direct_io)
            yield made
        finally:
            unmount(made.steps, folder)
