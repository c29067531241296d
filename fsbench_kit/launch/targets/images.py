"""Image files, and the loop devices that are attached to them."""

from __future__ import annotations

import os
import re
from abc import ABC
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from fsbench_kit.launch.schema import Size
from fsbench_kit.launch.targets.base import BaseTarget, Directory, Folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsbench_kit.launch.targets.steps import Command, Ready


NO_LOOP_DEVICES: Final = "the kernel has no loop devices here (/dev/loop-control is missing)"

Allocation = Literal["unwritten", "written", "sparse"]
"""How an image has its space.

``unwritten``: it is reserved at once, which costs neither time nor bytes, and cannot run out in the middle of a
run. At the first write to a block, the filesystem beneath notes that there are data now. ``written``: zeros are
written to all of it before mkfs, so that few writes are the first; each image costs its size in bytes, and the
time for these. ``sparse``: it takes space as it is written.
"""


class ImagesTarget(BaseTarget, ABC):
    """What a plan says of the images on which a target lies.

    Attributes
    ----------
    size
        That of each image.
    allocation
        How images have their space.
    directory
        Where they lie; without it, where the results go.
    """

    own_devices: ClassVar = True

    size: Size | None = None
    allocation: Allocation = "unwritten"
    directory: Directory | None = None

    @property
    def member_count(self) -> int:
        """How many images or devices it has."""
        return 1

    def place(self, folders: Folders) -> Path:
        """Return where images and mount points are made."""
        return folders.results if self.directory is None else folders.directory(self.directory)

    @property
    def capacity(self) -> int | None:
        """The size of an image."""
        return self.size

    def space_needed(self, space: int) -> int:
        """Return what the images take."""
        if self.size is None:
            return 0
        return self.member_count * (space if self.allocation == "sparse" else self.size)

    @property
    def written(self) -> int:
        """The sizes of the images, where they are written."""
        return self.member_count * self.size if self.size is not None and self.allocation == "written" else 0

    @property
    def image_settings(self) -> dict[str, str]:
        """What there is to say of the images."""
        return {} if self.size is None else {"image_allocation": self.allocation}

    @property
    def trims(self) -> bool:
        """Not on images: that would undo their allocation."""
        return self.size is None


def image_commands(*names: str, size: int, allocation: Allocation) -> tuple[Command, ...]:
    """Return the commands that make image files."""
    return tuple(_image_command(name, size, allocation) for name in names)


def _image_command(name: str, size: int, allocation: Allocation) -> Command:
    match allocation:
        case "unwritten":
            return ("fallocate", "--length", str(size), name)
        case "written":
            words = ("bs=1M", f"count={size}", "iflag=count_bytes", "oflag=nocache", "conv=fsync")
            return ("dd", "if=/dev/zero", f"of={name}", *words)
        case "sparse":
            return ("truncate", "--size", str(size), name)


def attach_commands(image: str, loop: str) -> tuple[Command, Command, Command]:
    """Return the commands that attach a loop device to an image.

    The second takes effect when nothing has the device open any more: after the last process of this launch has
    ended, however it ends.
    """
    return (
        ("losetup", "--find", "--show", image),
        ("losetup", "--detach", loop),
        direct_io_command(loop),
    )


def direct_io_command(loop: str) -> Command:
    """Return the command that has a loop device read and write its image past the page cache.

    Not every backing can do this. What came of it is seen in ``/sys``, and recorded from there.
    """
    return ("losetup", "--direct-io=on", loop)


@contextmanager
def attached(made: Ready, folder: Path, loops: Mapping[str, str]) -> Iterator[None]:
    """Run `attach_commands` for images and their loop devices, which stay attached for as long as this lasts."""
    with ExitStack() as stack:
        for image, loop in loops.items():
            attach, detach, direct_io = attach_commands(image, loop)
            made.run(folder, attach)
            made.names[loop] = made.steps[-1].output.strip()
            stack.callback(os.close, os.open(made.names[loop], os.O_RDONLY | os.O_CLOEXEC))
            made.run(folder, detach)
            made.attempt(folder, direct_io)
        yield


def attached_below(folder: Path) -> Iterator[str]:
    """Yield the loop devices whose images lie in a folder, or did before they were removed."""
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            image = Path(re.sub(r" \(deleted\)$", "", path.read_text(encoding="utf-8").rstrip("\n")))
        except OSError:
            continue  # it has just been detached
        if image.is_relative_to(folder):
            yield f"/dev/{path.parent.parent.name}"
