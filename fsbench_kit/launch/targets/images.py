"""Image files, and the loop devices that are attached to them."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsbench_kit.launch.targets.steps import Command, Ready


def image_commands(*names: str, size: int, sparse: bool) -> tuple[Command, ...]:
    """Return the commands that make image files."""
    if sparse:
        return tuple(("truncate", "--size", str(size), name) for name in names)
    # The space is allocated at once: so it cannot run out in the middle of a run.
    return tuple(("fallocate", "--length", str(size), name) for name in names)


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
