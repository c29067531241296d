"""What this machine has for launches: programs, filesystems, privileges, loop devices.

Data only; nothing here prints or installs.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable

_CAP_SYS_ADMIN: Final = 21  # linux/capability.h

ISOLATION: Final = (
    *("unshare", "--mount", "--propagation", "private"),
    *("--pid", "--fork", "--kill-child", "--mount-proc"),
)
"""Runs a command with mounts and processes of its own, which the kernel takes away when the command ends."""


def search_path() -> str:
    """Return where programs are looked for. Distributions keep mkfs where a user's PATH does not lead."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])


def find_program(name: str) -> Path | None:
    """Return where a program is, or ``None`` where it is not installed."""
    found = shutil.which(name, path=search_path())
    return Path(found) if found else None


@dataclass(frozen=True, slots=True)
class Program:
    """A program that a launch can use.

    Attributes
    ----------
    name
        As it is called.
    package
        The Debian package that brings it.
    version_flag
        What makes it print its version.
    """

    name: str
    package: str
    version_flag: str

    @property
    def path(self) -> Path | None:
        """Where it is, or ``None`` where it is not installed."""
        return find_program(self.name)

    @property
    def version(self) -> str | None:
        """Its version as it says itself, or ``None`` where it is not installed or does not say."""
        return _version(self)


@cache
def _version(program: Program) -> str | None:
    if program.path is None:
        return None
    try:
        answer = subprocess.run(
            [program.path, program.version_flag],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (line.strip() for line in (answer.stdout + answer.stderr).splitlines())
    return next((line for line in lines if re.search(r"\d\.\d", line)), None)


WORKLOAD_PROGRAMS: Final = {
    name: Program(name, tool.package, tool.version_flag)
    for name, tool in TOOLS.items()
    if tool.package is not None
}

MKFS_PROGRAMS: Final = {
    program.name: program
    for program in (
        Program("mkfs.ext2", "e2fsprogs", "-V"),
        Program("mkfs.ext3", "e2fsprogs", "-V"),
        Program("mkfs.ext4", "e2fsprogs", "-V"),
        Program("mkfs.xfs", "xfsprogs", "-V"),
        Program("mkfs.btrfs", "btrfs-progs", "-V"),
        Program("mkfs.f2fs", "f2fs-tools", "-V"),
        Program("mkfs.jfs", "jfsutils", "-V"),
        Program("mkfs.nilfs2", "nilfs-tools", "-V"),
        Program("mkfs.reiserfs", "reiserfsprogs", "-V"),
    )
}

ZFS_PROGRAMS: Final = {
    program.name: program
    for program in (
        Program("zpool", "zfs-fuse", "version"),
        Program("zfs", "zfs-fuse", "version"),
    )
}

ZFS_FUSE: Final = Program("zfs-fuse", "zfs-fuse", "--help")

MIRROR_PROGRAMS: Final = {"mdadm": Program("mdadm", "mdadm", "--version")}

SYSTEM_PROGRAMS: Final = {
    program.name: program
    for program in (
        Program("dd", "coreutils", "--version"),
        Program("fallocate", "util-linux", "--version"),
        Program("losetup", "mount", "--version"),
        Program("mount", "mount", "--version"),
        Program("setpriv", "util-linux", "--version"),
        Program("truncate", "coreutils", "--version"),
        Program("umount", "mount", "--version"),
        Program("unshare", "util-linux", "--version"),
        Program("wipefs", "util-linux", "--version"),
    )
}


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine can do for a launch.

    Attributes
    ----------
    programs
        The programs that are installed, with their version where they say it. Of mkfs, only those for filesystems
        that the kernel has.
    missing
        The programs that are not.
    filesystems
        The filesystems on block devices that the kernel has, or can load.
    administrator
        Whether this process may mount (it has the capability CAP_SYS_ADMIN).
    isolation_problem
        Why mounts and processes of their own cannot be had, or ``None`` where they can.
    loop_devices
        Whether the kernel has loop devices.
    free_bytes
        Free space where results go, for those who are not root.
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
        """The Debian packages that would bring what is missing."""
        return tuple(sorted({program.package for program in self.missing}))


def machine(root: Path) -> Machine:
    """Look at this machine.

    Parameters
    ----------
    root
        The project's root, where the free space is measured.
    """
    filesystems = kernel_filesystems()
    known = [
        *WORKLOAD_PROGRAMS.values(),
        *(program for name, program in MKFS_PROGRAMS.items() if name.removeprefix("mkfs.") in filesystems),
        *SYSTEM_PROGRAMS.values(),
    ]
    return Machine(
        programs=tuple((program, program.version) for program in known if program.path is not None),
        missing=tuple(program for program in known if program.path is None),
        filesystems=filesystems,
        administrator=is_administrator(),
        isolation_problem=isolation_problem(),
        loop_devices=has_loop_devices(),
        free_bytes=shutil.disk_usage(root).free,
    )


def kernel_filesystems() -> tuple[str, ...]:
    """Return the filesystems on block devices that the kernel has, or has a module for."""
    lines = Path("/proc/filesystems").read_text(encoding="ascii").splitlines()
    present = {line.strip() for line in lines if not line.startswith("nodev")}
    modules = Path("/lib/modules", platform.release(), "modules.dep")
    return tuple(sorted(present | set(_filesystem_modules(modules))))


def _filesystem_modules(dependencies: Path) -> Iterable[str]:
    try:
        text = dependencies.read_text(encoding="utf-8")
    except OSError:
        return ()
    return re.findall(r"^kernel/fs/(\w+)/\1\.ko", text, re.MULTILINE)


def is_administrator() -> bool:
    """Whether this process may mount."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return effective is not None and bool(int(effective[1], 16) >> _CAP_SYS_ADMIN & 1)


def has_loop_devices() -> bool:
    """Whether the kernel has loop devices."""
    return Path("/dev/loop-control").exists()


def has_md() -> bool:
    """Whether the kernel has md, or a module for its mirrors."""
    modules = Path("/lib/modules", platform.release(), "modules.dep")
    return Path("/proc/mdstat").exists() or (modules.is_file() and "/md/raid1.ko" in modules.read_text("utf-8"))


def isolation_problem() -> str | None:
    """Say why a command cannot have mounts and processes of its own; ``None`` where it can."""
    if not is_administrator():
        return "this needs root"
    if SYSTEM_PROGRAMS["unshare"].path is None:
        return "the program unshare is missing (Debian package util-linux)"
    attempt = subprocess.run(
        [*ISOLATION, "true"],
        env=program_environment(),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if attempt.returncode == 0:
        return None
    return f"the kernel refuses a mount namespace here ({attempt.stderr.strip() or 'it does not say why'})"


def program_environment() -> dict[str, str]:
    """Return the environment in which programs are started: they speak English, and all are found."""
    return {**os.environ, "PATH": search_path(), "LC_ALL": "C.UTF-8", "LANGUAGE": ""}
