"""Takes away what a killed launch has left and the kernel has not cleared: pools, arrays, loop devices.

What it has changed of the kernel's settings is set back.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.environment import devices_under
from fsbench_kit.launch.targets.images import attached_below
from fsbench_kit.launch.targets.steps import scratch_name
from fsbench_kit.launch.tools import DMSETUP, EXPORTFS, MDADM, ZPOOL, asked, has_md
from fsbench_kit.launch.tuning import kernel, memory
from fsbench_kit.launch.zfs import implementation

if TYPE_CHECKING:
    from collections.abc import Iterator


_EXPORTED: Final = Path("/var/lib/nfs/etab")


def clean_up(scratch: Path) -> list[str]:
    """Remove what was made for a launch whose processes are gone, and is not a file.

    Parameters
    ----------
    scratch
        Its scratch folder. What was made has its name, or is attached to images in it.

    Returns
    -------
    list of str
        The files of settings of the kernel that were set back.
    """
    name = scratch_name(scratch)
    restored = kernel.restore(scratch)
    memory.remove_groups(name)
    # zfs-fuse and its pools end with the launch's processes.
    if implementation() == "kernel module" and ZPOOL.path is not None:
        for pool in asked("zpool", "list", "-H", "-o", "name").stdout.split():
            if pool.startswith(name):
                asked("zpool", "destroy", "-f", pool)
    if has_md() and MDADM.path is not None:
        for array in _arrays(name):
            asked("mdadm", "--stop", array)
    if DMSETUP.path is not None:
        for mapped in mapped_on(scratch):
            asked("dmsetup", "remove", "--retry", mapped)
    for loop in attached_below(scratch):
        asked("losetup", "--detach", loop)
    if EXPORTFS.path is not None:
        for folder in exported_below(scratch):
            asked("exportfs", "-u", f"localhost:{folder}")
    return restored


def remaining(scratch: Path) -> list[str]:
    """Return a line for each thing that a launch has changed of the machine for its runs and could not undo."""
    return [*kernel.remaining(scratch), *memory.remaining(scratch_name(scratch))]


def mapped_on(scratch: Path) -> list[str]:
    """Return what the device mapper has made of images in a folder, what lies on others first."""
    found = {}
    for folder in Path("/sys/block").glob("dm-*"):
        beneath = devices_under(Path("/dev", folder.name))
        if any(device.backing_file and device.backing_file.is_relative_to(scratch) for device in beneath):
            found[(folder / "dm/name").read_text(encoding="utf-8").strip()] = len(beneath)
    return sorted(found, key=found.__getitem__, reverse=True)


def exported_below(scratch: Path) -> list[Path]:
    """Return the folders in a folder that an NFS server exports."""
    try:
        lines = _EXPORTED.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return [path for line in lines if (path := Path(line.partition("\t")[0])).is_relative_to(scratch)]


def _arrays(name: str) -> Iterator[str]:
    for array in md_devices():
        told = asked("mdadm", "--detail", "--export", array).stdout
        if any(line.startswith("MD_NAME=") and name in line for line in told.splitlines()):
            yield array


def md_devices() -> tuple[str, ...]:
    """Return the arrays that the kernel has."""
    return tuple(f"/dev/{folder.name}" for folder in Path("/sys/block").glob("md*"))
