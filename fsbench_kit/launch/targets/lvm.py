"""A fresh filesystem on an LVM logical volume whose physical volumes are images. Needs root.

LVM is not shown any other disk.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch.schema import Size
from fsbench_kit.launch.targets.filesystems import FilesystemTarget
from fsbench_kit.launch.targets.images import (
    NO_LOOP_DEVICES,
    ImagesTarget,
    attach_commands,
    attached,
    image_commands,
)
from fsbench_kit.launch.targets.steps import UMOUNT, Command, Commands, Ready, launch_name, unmount
from fsbench_kit.launch.tools import LVM, NO_DEVICE_MAPPER, Program, has_device_mapper, has_loop_devices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.targets.base import Folders

_LOOPS: Final = ("/dev/loopN", "/dev/loopM")
_GROUP: Final = "GROUP"
_VOLUME: Final = "/dev/GROUP/data"
_LAYOUTS: Final = {
    "linear": ("linear", "--extents", "100%FREE"),
    "striped": ("striped", "--stripes", "2", "--extents", "100%FREE"),
    "raid1": ("raid1", "--nosync", "--extents", "100%FREE"),
    "thin": ("thin", "--thinpool", "pool", "--extents", "90%FREE", "--virtualsize", "{size}b"),
}


class LvmTarget(FilesystemTarget, ImagesTarget):
    """A ``[[target]]`` with ``kind = "lvm"``.

    Attributes
    ----------
    layout
        The layout of the volume; striped and mirrored volumes have two images.
    """

    kind: Literal["lvm"]
    size: Size
    layout: Literal["linear", "striped", "raid1", "thin"] = "linear"

    @property
    def member_count(self) -> int:
        """Two if striped or mirrored, otherwise one."""
        return 2 if self.layout in {"striped", "raid1"} else 1

    def problem(self, folders: Folders) -> str | None:
        """Check for the device mapper and for what every image needs."""
        if not has_device_mapper():
            return NO_DEVICE_MAPPER
        return super().problem(folders) if has_loop_devices() else NO_LOOP_DEVICES

    @property
    def programs(self) -> tuple[Program, ...]:
        """The filesystem's programs and LVM."""
        return (*super().programs, LVM)

    @property
    def _images(self) -> dict[str, str]:
        return {f"image-{number}": loop for number, loop in enumerate(_LOOPS[: self.member_count], 1)}

    @property
    def _write(self) -> tuple[Command, ...]:
        return image_commands(*self._images, size=self.size, allocation=self.allocation)

    @property
    def _join(self) -> tuple[Command, ...]:
        loops = tuple(self._images.values())
        shown = ",".join(f'"a|^{loop}$|"' for loop in loops)
        # Without udev, LVM creates the device nodes itself, and is finished when it returns.
        config = (
            f'devices {{ filter=[{shown},"r|.*|"] use_devicesfile=0 }} activation {{ udev_sync=0 udev_rules=0 }}'
        )
        layout = tuple(word.format(size=self.size * 9 // 10 // 2**20 * 2**20) for word in _LAYOUTS[self.layout])
        return (
            ("lvm", "vgcreate", "--config", config, _GROUP, *loops),
            ("lvm", "lvcreate", "--config", config, "--yes", "--name", "data", "--type", *layout, _GROUP),
            ("lvm", "vgremove", "--config", config, "--force", "--yes", _GROUP),
        )

    @property
    def commands(self) -> Commands:
        """Create images, a volume group and a logical volume, and format and mount it."""
        *join, leave = self._join
        attach = (command for pair in self._images.items() for command in attach_commands(*pair))
        return Commands(
            make=(*self._write, *attach, *join, *self.format_commands(_VOLUME)),
            directory="mount",
            remove=(UMOUNT, leave),
        )

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Create, format and mount a volume. It outlives this process and is found by its images."""
        del consent
        name = launch_name(folder)
        made = Ready(
            folder / "mount",
            filesystem=self.filesystem,
            settings={"raid": f"LVM {self.layout}"} | self.image_settings,
            names={_VOLUME: f"/dev/{name}/data", _GROUP: name},
        )
        made.directory.mkdir()
        made.run(folder, *self._write)
        *join, leave = self._join
        with attached(made, folder, self._images):
            try:
                made.run(folder, *join, *self.format_commands(_VOLUME))
                try:
                    yield made
                finally:
                    unmount(made.steps, folder)
            finally:
                made.undo(folder, leave)
