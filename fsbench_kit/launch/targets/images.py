"""Image files and the loop devices attached to them."""

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
"""How the space of an image is allocated.

``unwritten``: reserved at once, which costs neither time nor bytes, and cannot run out in mid-run. On the first
write to a block, the filesystem beneath has to mark it as written. ``written``: filled with zeros before mkfs, so
that few writes are first writes; each image costs its size in bytes and the time to write it. ``sparse``:
allocated on write.
"""


class ImagesTarget(BaseTarget, ABC):
    """The plan keys of targets on images.

    Attributes
    ----------
    size
        The size of each image.
    allocation
        How the space of images is allocated.
    directory
        The directory of the images; by default, that of the results.
    """

    own_devices: ClassVar = True

    size: Size | None = None
    allocation: Allocation = "unwritten"
    directory: Directory | None = None

    @property
    def member_count(self) -> int:
        """The number of images or devices."""
        return 1

    def place(self, folders: Folders) -> Path:
        """Return the directory for images and mount points."""
        return folders.results if self.directory is None else folders.directory(self.directory)

    @property
    def capacity(self) -> int | None:
        """The size of an image."""
        return self.size

    def space_needed(self, space: int) -> int:
        """Return the space that the images take."""
        if self.size is None:
            return 0
        return self.member_count * (space if self.allocation == "sparse" else self.size)

    @property
    def written(self) -> int:
        """The total size of the images, if they are written in advance."""
        return self.member_count * self.size if self.size is not None and self.allocation == "written" else 0

    @property
    def image_settings(self) -> dict[str, str]:
        """The images' properties, as settings."""
        return {} if self.size is None else {"image_allocation": self.allocation}

    @property
    def trims(self) -> bool:
        """False for images: trimming would deallocate them."""
        return self.size is None


def image_commands(*names: str, size: int, allocation: Allocation) -> tuple[Command, ...]:
    """Return the commands that create image files."""
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

    The second marks it for detaching once nothing has it open: after the last process of this launch has ended,
    for whatever reason.
    """
    return (
        ("losetup", "--find", "--show", image),
        ("losetup", "--detach", loop),
        direct_io_command(loop),
    )


def direct_io_command(loop: str) -> Command:
    """Return the command that switches a loop device to direct I/O on its image.

    Not every backing filesystem supports this. The result is read from ``/sys`` and recorded.
    """
    return ("losetup", "--direct-io=on", loop)


@contextmanager
def attached(made: Ready, folder: Path, loops: Mapping[str, str]) -> Iterator[None]:
    """Attach loop devices to images within this context, using `attach_commands`."""
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
    """Yield the loop devices whose images are in a folder, or were before they were deleted."""
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            image = Path(re.sub(r" \(deleted\)$", "", path.read_text(encoding="utf-8").rstrip("\n")))
        except OSError:
            continue  # just detached
        if image.is_relative_to(folder):
            yield f"/dev/{path.parent.parent.name}"
