"""What this machine offers for launches: programs, targets, block devices and workloads.

Everything that is missing comes with advice on how to get it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch import zfs
from fsbench_kit.launch.devices import block_devices, device_problem
from fsbench_kit.launch.targets import (
    BaseTarget,
    CryptTarget,
    DirectoryTarget,
    Folders,
    LoopTarget,
    LvmTarget,
    MirrorTarget,
    NfsTarget,
    OverlayTarget,
    TmpfsTarget,
    ZfsTarget,
)
from fsbench_kit.launch.targets.filesystems import FILESYSTEMS
from fsbench_kit.launch.tools import (
    SYSTEM_PROGRAMS,
    ZFS_FUSE,
    Program,
    check_system,
    has_loop_devices,
    is_administrator,
    isolation_problem,
    kernel_filesystems,
)
from fsbench_kit.launch.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


_SIZE: Final = 512 * 2**20


@dataclass(frozen=True, slots=True)
class Machine:
    """The launch facilities of this machine.

    Attributes
    ----------
    programs
        Installed programs, with their versions where known. Of the mkfs programs, only those whose filesystem
        the kernel supports are included.
    missing
        Programs that are not installed.
    filesystems
        Block-device filesystems that the kernel supports or can load.
    administrator
        Whether this process may mount (it has the capability CAP_SYS_ADMIN).
    isolation_problem
        Why launches cannot have mount and PID namespaces of their own; ``None`` if they can.
    loop_devices
        Whether the kernel has loop devices.
    free_bytes
        Free space for results and unprivileged targets.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fsbench_kit.launch import machine
    >>> programs = {program.name for program, version in machine(Path.cwd()).programs}
    >>> programs >= {"cp", "rm"}
    True
    """

    programs: tuple[tuple[Program, str | None], ...]
    missing: tuple[Program, ...]
    filesystems: tuple[str, ...]
    administrator: bool
    isolation_problem: str | None
    loop_devices: bool
    free_bytes: int

    @property
    def packages_to_install(self) -> tuple[str, ...]:
        """The Debian packages that ``fsbench doctor --install`` installs."""
        return tuple(sorted({program.package for program in self.missing if program.install}))


def machine(root: Path) -> Machine:
    """Examine this machine.

    Parameters
    ----------
    root
        The project's root, where free space is measured.

    Raises
    ------
    LaunchError
        If the machine does not run Linux.

    Examples
    --------
    >>> from pathlib import Path
    >>> here = machine(Path.cwd())
    >>> here.free_bytes > 0
    True
    """
    check_system()
    known = dict.fromkeys(
        [
            *(program for workload in WORKLOADS.values() for program in workload.programs),
            *(filesystem.mkfs for filesystem in FILESYSTEMS.values() if filesystem.problem is None),
            *SYSTEM_PROGRAMS.values(),
        ]
    )
    return Machine(
        programs=tuple((program, program.version) for program in known if program.path is not None),
        missing=tuple(program for program in known if program.path is None),
        filesystems=kernel_filesystems(),
        administrator=is_administrator(),
        isolation_problem=isolation_problem(),
        loop_devices=has_loop_devices(),
        free_bytes=shutil.disk_usage(root).free,
    )


@dataclass(frozen=True, slots=True)
class Capability:
    """Something that a plan may name.

    Attributes
    ----------
    kind, name
        The type of thing, and its name.
    problem
        Why it is not available; ``None`` if it is.
    remedy
        How to make it available, or a warning to read before using it.

    Examples
    --------
    >>> Capability("target", "xfs", problem="mkfs.xfs is not installed").problem
    'mkfs.xfs is not installed'
    """

    kind: Literal["target", "device", "workload"]
    name: str
    problem: str | None
    remedy: str | None = None


def list_capabilities(root: Path) -> Iterator[Capability]:
    """Yield everything that a plan may name, with its availability.

    Parameters
    ----------
    root
        The project's root, where targets are created.

    Examples
    --------
    >>> from pathlib import Path
    >>> sorted({each.kind for each in list_capabilities(Path.cwd())})
    ['device', 'target', 'workload']
    """
    isolation = isolation_problem()
    rights = _OTHER_CONTAINER if is_administrator() else _ROOT
    for name, target in _targets():
        if problem := target.problem(Folders(root)):
            yield Capability("target", name, problem, _remedy(target, problem))
        else:
            barred = isolation if target.isolated else None
            yield Capability("target", name, barred, rights if barred else None)
    for node in block_devices():
        if problem := device_problem(str(node)):
            yield Capability("device", str(node), problem, _OTHER_DEVICE)
        else:
            yield Capability("device", str(node), isolation, rights if isolation else _NAMED_TWICE.format(node))
    for tool, workload in WORKLOADS.items():
        missing = [program for program in workload.programs if program.path is None]
        problem = f"{' and '.join(program.name for program in missing)} not found" if missing else None
        yield Capability("workload", tool, problem, _installing(missing) if missing else workload.remark())


_ROOT: Final = "launch as root; a directory needs no rights"
_OTHER_CONTAINER: Final = "allow the container to create mount namespaces; a directory needs none"
_OTHER_KERNEL: Final = "use a kernel that has it; with optional = true a plan runs without it"
_OTHER_DEVICE: Final = "name an empty, unused device"
_NAMED_TWICE: Final = "a launch would destroy all data on it: name it in the plan, and again with --device {}"


def _installing(programs: Iterable[Program]) -> str:
    return f"apt-get install {' '.join(dict.fromkeys(program.package for program in programs))}"


def _remedy(target: BaseTarget, problem: str) -> str:
    """Return what to do about an unavailable target. Kernel features cannot come from a package."""
    missing = [program for program in target.programs if program.path is None]
    if isinstance(target, ZfsTarget) and zfs.implementation() is None:
        return f"load the kernel's ZFS (modprobe zfs), or {_installing([ZFS_FUSE])}"
    if problem.startswith("the kernel has no"):
        return _OTHER_KERNEL
    if missing:
        return _installing(missing)
    if isinstance(target, NfsTarget):
        return "start this machine's NFS server"
    return "name a smaller size" if isinstance(target, TmpfsTarget) else "name a directory that exists"


def _targets() -> Iterator[tuple[str, BaseTarget]]:
    yield "directory", DirectoryTarget(kind="directory", name="any", directory=".")
    for filesystem in FILESYSTEMS:
        yield f"{filesystem} in an image", LoopTarget(kind="loop", name="any", filesystem=filesystem, size=_SIZE)
    yield "overlay (on ext4)", OverlayTarget(kind="overlay", name="any", filesystem="ext4", size=_SIZE)
    yield "dm-crypt (ext4)", CryptTarget(kind="crypt", name="any", filesystem="ext4", size=_SIZE)
    yield "LVM (ext4)", LvmTarget(kind="lvm", name="any", filesystem="ext4", size=_SIZE)
    yield "NFS on loopback", NfsTarget(kind="nfs", name="any")
    yield "tmpfs", TmpfsTarget(kind="tmpfs", name="any", size=_SIZE)
    yield "btrfs mirror", MirrorTarget(kind="mirror", name="any", filesystem="btrfs", size=_SIZE)
    yield "md mirror (ext4)", MirrorTarget(kind="mirror", name="any", filesystem="ext4", size=_SIZE)
    which = f" ({here})" if (here := zfs.implementation()) else ""
    yield f"ZFS pool, ZFS mirror{which}", ZfsTarget(kind="zfs", name="any", size=_SIZE)
