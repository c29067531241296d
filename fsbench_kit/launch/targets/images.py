"""Image files, and the loop devices that are attached to them."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fsbench_kit.launch.targets.steps import run_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.launch.targets.steps import Step


def make_images(steps: list[Step], folder: Path, *names: str, size: int, sparse: bool) -> None:
    """Make image files of a size in a folder."""
    for name in names:
        if sparse:
            run_step(steps, folder, "truncate", "--size", str(size), name)
        else:  # The space is allocated at once: so it cannot run out in the middle of a run.
            run_step(steps, folder, "fallocate", "--length", str(size), name)


@contextmanager
def attached(steps: list[Step], folder: Path, images: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Attach loop devices to images, such that the kernel detaches them when nothing has them open any more."""
    with ExitStack() as stack:
        yield tuple(_attach(steps, folder, image, stack) for image in images)


def _attach(steps: list[Step], folder: Path, image: str, stack: ExitStack) -> str:
    run_step(steps, folder, "losetup", "--find", "--show", image)
    device = steps[-1].output.strip()
    descriptor = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    stack.callback(os.close, descriptor)
    # This takes effect when the last one closes it: this process at the latest, however it ends.
    run_step(steps, folder, "losetup", "--detach", device)
    direct_io(steps, folder, device)
    return device


def direct_io(steps: list[Step], folder: Path, device: str) -> None:
    """Have a loop device read and write its image past the page cache.

    Not every backing can do this. What came of it is seen in ``/sys``, and recorded from there.
    """
    run_step(steps, folder, "losetup", "--direct-io=on", device, may_fail=True)


def attached_below(folder: Path) -> Iterator[str]:
    """Yield the loop devices whose images lie in a folder, or did before they were removed."""
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            image = Path(re.sub(r" \(deleted\)$", "", path.read_text(encoding="utf-8").rstrip("\n")))
        except OSError:
            continue  # it has just been detached
        if image.is_relative_to(folder):
            yield f"/dev/{path.parent.parent.name}"
