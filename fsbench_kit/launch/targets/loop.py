"""An image file that is formatted and mounted afresh. Needs root.

The loop device is attached by mount itself, with the flag that makes the kernel detach it when the mount ends; so
whatever ends this process, nothing stays mounted or attached.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch.environment import devices_under
from fsbench_kit.launch.schema import Size, Truth
from fsbench_kit.launch.targets.base import RUNS, Directory
from fsbench_kit.launch.targets.filesystems import FilesystemTarget, mkfs
from fsbench_kit.launch.targets.images import direct_io, make_images
from fsbench_kit.launch.targets.steps import Ready, unmount
from fsbench_kit.launch.tools import has_loop_devices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NO_LOOP_DEVICES: Final = "the kernel has no loop devices here (/dev/loop-control is missing)"


class LoopTarget(FilesystemTarget):
    """A ``[[target]]`` with ``kind = "loop"``.

    Attributes
    ----------
    size
        That of the image.
    sparse
        Whether the image takes space only as it is written, and not at once.
    directory
        Where the image lies; without it, where the results go.
    """

    kind: Literal["loop"]
    size: Size
    sparse: Truth = False
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

    def claim(self, space: int) -> int:
        """Return the size of the image, or what is written to it."""
        return space if self.sparse else self.size

    @contextmanager
    def ready(self, folder: Path) -> Iterator[Ready]:
        """Make, format and mount an image."""
        made = Ready(folder / "mount", filesystem=self.filesystem)
        made.directory.mkdir()
        make_images(made.steps, folder, "image", size=self.size, sparse=self.sparse)
        mkfs(made.steps, folder, self, ["image"])
        self.mount(made.steps, folder, "image", "loop")
        try:
            direct_io(made.steps, folder, f"/dev/{devices_under(made.directory)[0].name}")
            yield made
        finally:
            unmount(made.steps, folder)
