"""The targets of a replication: an image for each of the study's filesystems, set up as in the study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.replicate.published import settings_of
from fsbench_kit.launch.targets.filesystems import FILESYSTEMS, FilesystemTarget
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.replicate.scale import PlanTable
    from fsbench_kit.launch.targets import Target


def images(published: Dataset, memory: int | None = None) -> list[PlanTable]:
    """Return a target for each filesystem of a study, with the study's options where available.

    If memory is limited, ZFS gets a quarter of it for its cache. The targets have no sizes yet; those that this
    machine lacks are left out at launch. If one filesystem of the study records no access times, none does.
    """
    tables: list[PlanTable] = []
    without_atime = any(_is_without_atime(stated) for _, stated in _stated(published))
    for filesystem, stated in _stated(published):
        if filesystem == "zfs":
            table = _zfs(stated, without_atime=without_atime)
            arc_size = min((memory or 0) // 4 // _MIB * _MIB, _MOST_ARC)
            tables.append(table | {"arc_size": arc_size} if arc_size else table)
        elif filesystem in FILESYSTEMS:
            table = {"kind": "loop", "name": filesystem, "filesystem": filesystem, "optional": True}
            options = stated.get("mount_options", "").split(",")
            kept = [option for option in options if _is_passed_on(option, filesystem, options)]
            if without_atime and "noatime" not in kept:
                kept = [_NOATIME, *(option for option in kept if option not in _ATIME)]
            if kept:
                table["mount_options"] = ",".join(kept)
            if words := [word for word in stated.get("mkfs_options", "").split() if word not in _FORCE]:
                table["mkfs_options"] = words
            tables.append(table)
    return tables


def target_changes(published: Dataset, plan: Plan) -> Iterator[str]:
    """Yield sentences about what a study states of its filesystems and a plan's targets lack."""
    targets = {target.expected_filesystem: target for target in plan.target}
    changed = [
        name
        for name, stated in _stated(published)
        if (target := targets.get(name)) is not None and _asks_no_atime(target) and not _is_without_atime(stated)
    ]
    if changed:
        names = ", ".join(changed)
        yield f"No filesystem records access times (noatime); in the study this holds for all but {names}."
    for filesystem, stated in _stated(published):
        if "raid" in stated:
            yield "Each filesystem is on a single image, not on a RAID as in the study."
        if "log_device" in stated:
            yield f"{filesystem} has no separate log device, unlike in the study."
        if (cache := getattr(targets.get(filesystem), "arc_size", None)) is not None:
            yield f"The cache of zfs-fuse (ARC) takes at most {humanise(cache, 'B')} of the memory of a run."
        if filesystem != "zfs" and filesystem not in FILESYSTEMS:
            yield f"{filesystem} is left out: launches do not support it."
        if isinstance(target := targets.get(filesystem), FilesystemTarget):
            options = stated.get("mount_options", "").split(",")
            given = (target.mount_options or "").split(",")
            missing = (option for option in options if option not in given and not _is_implied(option, given))
            without = [option for option in missing if option.partition("=")[0] not in _PLAIN]
            if without:
                yield f"{filesystem} is mounted without {', '.join(without)}, unlike in the study."


def _stated(published: Dataset) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each filesystem with the settings of its first run."""
    known = settings_of(published)
    for (name,), runs in published.runs.drop_nulls("filesystem").group_by("filesystem", maintain_order=True):
        yield str(name), known[runs["run_id"][0]]


_MIB: Final = 2**20
_MOST_ARC: Final = 2**34
"""The largest ARC size that zfs-fuse accepts."""
_FORCE: Final = ("-f", "-F")
"""Options of mkfs that every launch adds."""

_VFS: Final = frozenset(
    {"noatime", "nodiratime", "relatime", "strictatime", "lazytime", "sync", "dirsync", "async"}
)
_OWN: Final = {
    "btrfs": ("ssd", "nossd", "ssd_spread", "nodatacow", "nodatasum", "compress"),
    "ext3": ("data",),
    "ext4": ("data", "delalloc", "nodelalloc", "dioread_nolock"),
    "xfs": ("logbsize", "largeio", "swalloc"),
}
"""Filesystem-specific options that current kernels accept. Barriers are not included: XFS always has them."""
_PLAIN: Final = frozenset({"", "rw", "defaults", "seclabel", "attr2", "inode64", "noquota", "inode32"})
"""Mount options that request nothing special."""


def _is_passed_on(option: str, filesystem: str, options: Sequence[str]) -> bool:
    key = option.partition("=")[0]
    return (key in _VFS or key in _OWN.get(filesystem, ())) and not _is_implied(option, options)


def _is_implied(option: str, options: Sequence[str]) -> bool:
    return option == "nodiratime" and "noatime" in options


def _is_without_atime(stated: Mapping[str, str]) -> bool:
    return _NOATIME in stated.get("mount_options", "").split(",") or stated.get("zfs.atime") == "off"


def _asks_no_atime(target: Target) -> bool:
    if isinstance(target, FilesystemTarget):
        return _NOATIME in (target.mount_options or "").split(",")
    return "atime=off" in getattr(target, "dataset_options", ())


_NOATIME: Final = "noatime"
_ATIME: Final = ("atime", "relatime", "strictatime", "lazytime")
"""Other mount options about access times."""


def _zfs(stated: Mapping[str, str], *, without_atime: bool) -> PlanTable:
    def options(prefix: str) -> dict[str, str]:
        own = {key.partition(".")[2]: value for key, value in stated.items() if key.startswith(f"{prefix}.")}
        return {option: value for option, value in own.items() if option not in _NOT_OPTIONS}

    of_dataset = options("zfs") | ({"atime": "off"} if without_atime else {})
    return {
        "kind": "zfs",
        "name": "zfs",
        "optional": True,
        "pool_options": [f"{option}={value}" for option, value in options("zpool").items()],
        "dataset_options": [f"{option}={value}" for option, value in of_dataset.items()],
    }


_NOT_OPTIONS: Final = frozenset({"mountpoint", "canmount", "altroot", "layout", "arc_size"})
"""Properties that the launch itself decides, such as where pools and datasets lie, and zfs-fuse's cache."""
