"""What can be launched on this machine, and what not, why, and what to do: targets, block devices, workloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from fsbench_kit.launch import zfs
from fsbench_kit.launch.devices import block_devices, device_problem
from fsbench_kit.launch.targets import DirectoryTarget, LoopTarget, MirrorTarget, ZfsTarget
from fsbench_kit.launch.targets.filesystems import Filesystem
from fsbench_kit.launch.tools import (
    WORKLOAD_PROGRAMS,
    ZFS_FUSE,
    find_program,
    has_loop_devices,
    has_md,
    is_administrator,
    isolation_problem,
    kernel_filesystems,
)
from fsbench_kit.launch.workloads.filetree.__main__ import PROGRAMS as FILETREE_PROGRAMS
from fsbench_kit.launch.workloads.smallfiles import WITHOUT_COMPILER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fsbench_kit.launch.targets import BaseTarget

_SIZE: Final = 512 * 2**20


@dataclass(frozen=True, slots=True)
class Ability:
    """Something that a plan may name.

    Attributes
    ----------
    kind
        ``target``, ``device`` or ``workload``.
    name
        What it is.
    problem
        Why it cannot be had; ``None`` where it can.
    remedy
        What to do about that.
    """

    kind: str
    name: str
    problem: str | None
    remedy: str | None = None


def abilities(root: Path) -> Iterator[Ability]:
    """Look for everything that a plan may name.

    Parameters
    ----------
    root
        The project's root, for targets that are made there.
    """
    isolation = isolation_problem()
    rights = _OTHER_CONTAINER if is_administrator() else _ROOT
    for name, target in _targets():
        if problem := target.problem(root):
            yield Ability("target", name, problem, _remedy(target))
        else:
            barred = isolation if target.isolated else None
            yield Ability("target", name, barred, rights if barred else None)
    for node in block_devices():
        if problem := device_problem(str(node)):
            yield Ability("device", str(node), problem, _OTHER_DEVICE)
        else:
            yield Ability("device", str(node), isolation, rights if isolation else _NAMED_TWICE.format(node))
    for program in WORKLOAD_PROGRAMS.values():
        if program.path is None:
            yield Ability("workload", program.name, "the program is missing", _installing(program.package))
        else:
            yield Ability("workload", program.name, None)
    without_c = None if find_program("cc") else f"{WITHOUT_COMPILER}: {_installing('gcc libc6-dev')}"
    yield Ability("workload", "smallfiles (the kit's own)", None, without_c)
    lacking = [name for name in FILETREE_PROGRAMS if find_program(name) is None]
    yield Ability(
        "workload",
        "filetree (the kit's own)",
        f"missing: {', '.join(lacking)}" if lacking else None,
        _installing("coreutils findutils") if lacking else None,
    )


_ROOT: Final = "launch as root; a directory needs no rights"
_OTHER_CONTAINER: Final = "let the container make mount namespaces; a directory needs none"
_OTHER_KERNEL: Final = "take a kernel that has it; optional = true lets a plan go on without"
_OTHER_DEVICE: Final = "name one that is empty and in nobody's use"
_NAMED_TWICE: Final = "all on it would be lost: name it in the plan, and again by --device {}"


def _installing(packages: str) -> str:
    return f"apt-get install {packages}"


def _remedy(target: BaseTarget) -> str:
    """Say what to do for a target that cannot be had. What the kernel lacks, no package brings."""
    packages = _installing(" ".join(dict.fromkeys(p.package for p in target.programs if p.path is None)))
    match target:
        case ZfsTarget() if zfs.implementation() is None:
            return f"load the kernel's ZFS (modprobe zfs), or {_installing(ZFS_FUSE.package)}"
        case LoopTarget() | MirrorTarget() if target.filesystem not in kernel_filesystems():
            return _OTHER_KERNEL
        case MirrorTarget(filesystem="btrfs") | LoopTarget() | ZfsTarget():
            return packages if has_loop_devices() else _OTHER_KERNEL
        case MirrorTarget():
            return packages if has_md() and has_loop_devices() else _OTHER_KERNEL
    return "name a directory that is there"


def _targets() -> Iterator[tuple[str, BaseTarget]]:
    yield "directory", DirectoryTarget(kind="directory", name="any", directory=".")
    for filesystem in get_args(Filesystem):
        yield f"{filesystem} in an image", LoopTarget(kind="loop", name="any", filesystem=filesystem, size=_SIZE)
    yield "btrfs mirror", MirrorTarget(kind="mirror", name="any", filesystem="btrfs", size=_SIZE)
    yield "md mirror (ext4)", MirrorTarget(kind="mirror", name="any", filesystem="ext4", size=_SIZE)
    which = f" ({here})" if (here := zfs.implementation()) else ""
    yield f"ZFS pool, ZFS mirror{which}", ZfsTarget(kind="zfs", name="any", size=_SIZE)
