"""What can be launched on this machine, and what not, and why: each kind of target, block device and workload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from fsbench_kit.launch import zfs
from fsbench_kit.launch.devices import block_devices, device_problem
from fsbench_kit.launch.targets import DirectoryTarget, LoopTarget, MirrorTarget, ZfsTarget
from fsbench_kit.launch.targets.filesystems import Filesystem
from fsbench_kit.launch.tools import WORKLOAD_PROGRAMS, isolation_problem

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
    """

    kind: str
    name: str
    problem: str | None


def abilities(root: Path) -> Iterator[Ability]:
    """Look for everything that a plan may name.

    Parameters
    ----------
    root
        The project's root, for targets that are made there.
    """
    isolation = isolation_problem()
    for name, target in _targets():
        problem = isolation if target.isolated and isolation else target.problem(root)
        yield Ability("target", name, problem)
    for node in block_devices():
        yield Ability("device", str(node), isolation or device_problem(str(node)))
    for program in WORKLOAD_PROGRAMS.values():
        lacking = None if program.path else f"it is missing (Debian package {program.package})"
        yield Ability("workload", program.name, lacking)


def _targets() -> Iterator[tuple[str, BaseTarget]]:
    yield "directory", DirectoryTarget(kind="directory", name="any", directory=".")
    for filesystem in get_args(Filesystem):
        yield f"{filesystem} in an image", LoopTarget(kind="loop", name="any", filesystem=filesystem, size=_SIZE)
    yield "btrfs mirror", MirrorTarget(kind="mirror", name="any", filesystem="btrfs", size=_SIZE)
    yield "md mirror (ext4)", MirrorTarget(kind="mirror", name="any", filesystem="ext4", size=_SIZE)
    which = f" ({here})" if (here := zfs.implementation()) else ""
    yield f"ZFS pool, ZFS mirror{which}", ZfsTarget(kind="zfs", name="any", size=_SIZE)
