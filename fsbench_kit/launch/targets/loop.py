"""An image file with a fresh filesystem on a loop device. Needs root.

mount itself attaches the loop device, with the flag that makes the kernel detach it when the mount ends. However
this process ends, nothing stays mounted or attached.
"""

from __future__ import annotations

import tempfile
from abc import ABC
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch.environment import devices_under
from fsbench_kit.launch.schema import Size
from fsbench_kit.launch.targets.filesystems import FilesystemTarget
from fsbench_kit.launch.targets.images import NO_LOOP_DEVICES, ImagesTarget, direct_io_command, image_commands
from fsbench_kit.launch.targets.steps import UMOUNT, Command, Commands, Ready, Restoring, temporary_folder, unmount
from fsbench_kit.launch.tools import asked, has_loop_devices
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.targets.base import Folders

IMAGE: Final = "image"
"""The name of its image."""
LOOP: Final = "/dev/loopN"
"""A placeholder for its loop device."""
_LARGE: Final = 2**29
"""Images of this size or more are large enough for any filesystem."""


class ImageTarget(FilesystemTarget, ImagesTarget, ABC):
    """The plan keys of targets on a single image."""

    size: Size

    def problem(self, folders: Folders) -> str | None:
        """Check for loop devices, for what every filesystem needs, and whether mkfs accepts so small an image."""
        if not has_loop_devices():
            return NO_LOOP_DEVICES
        return super().problem(folders) or _refused(self.format_commands(IMAGE)[0], self.size)

    @property
    def commands(self) -> Commands:
        """Create, format and mount an image."""
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
        """Create, format and mount an image."""
        del consent
        with self._mounted(self._image, folder) as made:
            yield made

    @contextmanager
    def _mounted(self, commands: Commands | Restoring, folder: Path) -> Iterator[Ready]:
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


@cache
def _refused(mkfs: Command, size: int) -> str | None:
    """Return why mkfs rejects a small image. It is tried, because the limit depends on the program's version."""
    if size >= _LARGE:
        return None
    with tempfile.TemporaryDirectory() as folder:
        with Path(folder, IMAGE).open("wb") as image:
            image.truncate(size)
        answer = asked(*mkfs, folder=Path(folder))
    errors, _, _ = (answer.stderr or answer.stdout).partition("Usage:")
    why = "; ".join(line.strip() for line in errors.splitlines() if line.strip())
    return f"{mkfs[0]} refuses an image of {humanise(size, 'B')}: {why}" if answer.returncode else None


class LoopTarget(ImageTarget):
    """A ``[[target]]`` with ``kind = "loop"``."""

    kind: Literal["loop"]

    @property
    def restoring(self) -> Restoring:
        """Its snapshots, or copies of its image that keep the same allocation for zeros."""
        if (by_snapshots := super().restoring) is not None:
            return by_snapshots
        _, mount = self.format_commands(IMAGE, mount=("loop",))
        copy = ("dd", f"if=../{IMAGE}", f"of={IMAGE}", "bs=64K", "oflag=nocache")
        if self.allocation == "written":
            make: tuple[Command, ...] = ((*copy, "conv=fsync"),)
        else:
            empty = image_commands(IMAGE, size=self.size, allocation=self.allocation)
            make = (*empty, (*copy, "conv=notrunc,sparse,fsync"))
        fill = self.ageing.fill if self.ageing else 0.0
        return Restoring(
            keep=(UMOUNT,),
            make=(*make, mount, direct_io_command(LOOP)),
            directory="mount",
            remove=(UMOUNT,),
            copied=self.size if self.allocation == "written" else int(fill * self.size),
        )

    @contextmanager
    def restored(self, made: Ready, folder: Path) -> Iterator[Ready]:
        """Take a snapshot, or copy the unmounted image."""
        if self.restoring.copied is None:
            with super().restored(made, folder) as ready:
                yield ready
            return
        with temporary_folder(folder / "copy") as own, self._mounted(self.restoring, own) as ready:
            ready.settings = made.settings | ready.settings
            yield ready
