"""An image file that is formatted and mounted afresh. Needs root.

The loop device is attached by mount itself, with the flag that makes the kernel detach it when the mount ends; so
whatever ends this process, nothing stays mounted or attached.
"""

from __future__ import annotations

from abc import ABC
from contextlib import contextmanager
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

_IMAGE: Final = "image"
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
                *image_commands(_IMAGE, size=self.size, allocation=self.allocation),
                *self.format_commands(_IMAGE, mount=("loop",)),
                direct_io_command(LOOP),
            ),
            directory="mount",
            remove=(UMOUNT,),
        )

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Make, format and mount an image."""
        del consent
        made = Ready(
            folder / self._image.directory,
            filesystem=self.filesystem,
            settings=self.image_settings,
        )
        made.directory.mkdir()
        *make, direct_io = self._image.make
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
