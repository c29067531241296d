"""Removes what a killed launch left behind and the kernel did not clean up: pools, arrays, loop devices.

Kernel settings that the launch changed are restored.
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
    """Remove everything except files that a launch created, once its processes are gone.

    Parameters
    ----------
    scratch
        The scratch folder of the launch. What it created bears the folder's name or is attached to images in it.

    Returns
    -------
    list of str
        The kernel settings that were restored, as paths.
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
    """Return a line for each change to the machine that a launch could not undo."""
    return [*kernel.remaining(scratch), *memory.remaining(scratch_name(scratch))]


def mapped_on(scratch: Path) -> list[str]:
    """Return the device-mapper devices on images in a folder, topmost first."""
    found = {}
    for folder in Path("/sys/block").glob("dm-*"):
        beneath = devices_under(Path("/dev", folder.name))
        if any(device.backing_file and device.backing_file.is_relative_to(scratch) for device in beneath):
            found[(folder / "dm/name").read_text(encoding="utf-8").strip()] = len(beneath)
    return sorted(found, key=found.__getitem__, reverse=True)


def exported_below(scratch: Path) -> list[Path]:
    """Return the directories below a folder that an NFS server exports."""
    try:
        lines = _EXPORTED.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return [path for line in lines if (path := Path(line.partition("\t")[0])).is_relative_to(scratch)]


def _arrays(name: str) -> Iterator[str]:
    for array in md_devices():
        details = asked("mdadm", "--detail", "--export", array).stdout
        if any(line.startswith("MD_NAME=") and name in line for line in details.splitlines()):
            yield array


def md_devices() -> tuple[str, ...]:
    """Return the names of the kernel's md arrays."""
    return tuple(f"/dev/{folder.name}" for folder in Path("/sys/block").glob("md*"))
