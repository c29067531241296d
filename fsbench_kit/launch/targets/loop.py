"""An image file that is formatted and mounted afresh. Needs root.

The loop device is attached by mount itself, with the flag that makes the kernel detach it when the mount ends; so
whatever ends this process, nothing stays mounted or attached.
"""

from __future__ import annotations

from abc import ABC
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch.environment import devices_under
from fsbench_kit.launch.schema import Size
from fsbench_kit.launch.targets.filesystems import FilesystemTarget
from fsbench_kit.launch.targets.images import NO_LOOP_DEVICES, ImagesTarget, direct_io_command, image_commands
from fsbench_kit.launch.targets.steps import UMOUNT, Commands, Ready, unmount
from fsbench_kit.launch.tools import has_loop_devices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.targets.base import Folders
    from fsbench_kit.launch.targets.steps import Command

IMAGE: Final = "image"
"""What its image is called."""
LOOP: Final = "/dev/loopN"
"""What stands for its loop device."""


class ImageTarget(FilesystemTarget, ImagesTarget, ABC):
    """What a plan says of any target with one image."""

    size: Size

    def problem(self, folders: Folders) -> str | None:
        """Look for loop devices, and what any filesystem needs."""
        if not has_loop_devices():
            return NO_LOOP_DEVICES
        return super().problem(folders)

    @property
    def commands(self) -> Commands:
        """Make, format and mount an image."""
        return self._image

    @property
    def _image(self) -> Commands:
        return Commands(
            make=(
                *image_commands(IMAGE, size=self.size, allocation=self.allocation),
                *self.format_commands(IMAGE, mount=("loop",)),
                direct_io_command(LOOP),
            ),
            directory="mount",
            remove=(UMOUNT,),
        )

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Make, format and mount an image."""
        del consent
        with self._mounted(self._image, folder) as made:
            yield made

    @contextmanager
    def _mounted(self, commands: Commands, folder: Path) -> Iterator[Ready]:
        made = Ready(
            folder / commands.directory,
            filesystem=self.filesystem,
            settings=self.image_settings,
        )
        made.directory.mkdir()
        *make, direct_io = commands.make
        made.run(folder, *make)
        try:
            made.names[LOOP] = f"/dev/{devices_under(made.directory)[0].name}"
            made.attempt(folder, direct_io)
            yield made
        finally:
            unmount(made.steps, folder)


class LoopTarget(ImageTarget):
    """A ``[[target]]`` with ``kind = "loop"``."""

    kind: Literal["loop"]

    @property
    def copied(self) -> int:
        """The bytes that are certainly written to copy its image."""
        fill = self.ageing.fill if self.ageing else 0.0
        return self.size if self.allocation == "written" else int(fill * self.size)

    def restoring(self, image: str) -> Commands:
        """Return the commands that copy an image and mount the copy. What is all zeros has its space alike."""
        _, mount = self.format_commands(IMAGE, mount=("loop",))
        copy = ("dd", f"if={image}", f"of={IMAGE}", "bs=64K", "oflag=nocache")
        if self.allocation == "written":
            make: tuple[Command, ...] = ((*copy, "conv=fsync"),)
        else:
            empty = image_commands(IMAGE, size=self.size, allocation=self.allocation)
            make = (*empty, (*copy, "conv=notrunc,sparse,fsync"))
        return replace(self._image, make=(*make, mount, direct_io_command(LOOP)))

    @contextmanager
    def restored(self, folder: Path, image: str) -> Iterator[Ready]:
        """Copy an image, whose path is relative to the folder, and mount the copy."""
        with self._mounted(self.restoring(image), folder) as made:
            yield made
