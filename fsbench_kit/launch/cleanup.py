"""Takes away what a killed launch has left and the kernel has not cleared: pools, arrays, loop devices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fsbench_kit.launch.targets.images import attached_below
from fsbench_kit.launch.targets.steps import scratch_name
from fsbench_kit.launch.tools import MDADM, ZPOOL, asked, has_md
from fsbench_kit.launch.zfs import implementation

if TYPE_CHECKING:
    from collections.abc import Iterator


def clean_up(scratch: Path) -> None:
    """Remove what was made for a launch whose processes are gone, and is not a file.

    Parameters
    ----------
    scratch
        Its scratch folder. What was made has its name, or is attached to images in it.
    """
    name = scratch_name(scratch)
    # zfs-fuse and its pools end with the launch's processes.
    if implementation() == "kernel module" and ZPOOL.path is not None:
        for pool in asked("zpool", "list", "-H", "-o", "name").stdout.split():
            if pool.startswith(name):
                asked("zpool", "destroy", "-f", pool)
    if has_md() and MDADM.path is not None:
        for array in _arrays(name):
            asked("mdadm", "--stop", array)
    for loop in attached_below(scratch):
        asked("losetup", "--detach", loop)


def _arrays(name: str) -> Iterator[str]:
    for array in md_devices():
        told = asked("mdadm", "--detail", "--export", array).stdout
        if any(line.startswith("MD_NAME=") and name in line for line in told.splitlines()):
            yield array


def md_devices() -> tuple[str, ...]:
    """Return the arrays that the kernel has."""
    return tuple(f"/dev/{folder.name}" for folder in Path("/sys/block").glob("md*"))
