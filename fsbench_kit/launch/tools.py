"""What this machine offers for launches: programs, filesystems, privileges, loop devices.

This module only collects facts; it prints and installs nothing.
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

from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Iterable

_CAP_SYS_ADMIN: Final = 21  # linux/capability.h

ISOLATION: Final = (
    *("unshare", "--mount", "--propagation", "private"),
    *("--pid", "--fork", "--kill-child", "--mount-proc"),
)
"""Runs a command in mount and PID namespaces of its own, which the kernel removes when the command ends."""


def check_system() -> None:
    """Refuse to continue on a system where nothing can be launched.

    Raises
    ------
    LaunchError
        If this is not Linux, which has loop devices and ``/proc``, or if ``/proc`` is not mounted.
    """
    system = platform.system()
    if system != "Linux":
        raise LaunchError(
            f"benchmarks can only be launched on Linux; this is {system}, without loop devices and /proc",
            hint="Launch on a Linux machine and copy its raw_results/runs/ here; everything else works.",
        )
    if not Path("/proc/self/status").exists():
        raise LaunchError(
            "launching needs /proc, which is not mounted here",
            hint="Mount it: mount -t proc proc /proc. Reading, comparing and auditing work without it.",
        )


def search_path() -> str:
    """Return the search path for programs, with the folders of mkfs, which a user's PATH may lack."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])


def find_program(name: str) -> Path | None:
    """Return the path of a program, or ``None`` if it is not installed."""
    found = shutil.which(name, path=search_path())
    return Path(found) if found else None


@dataclass(frozen=True, slots=True)
class Program:
    """A program that a launch can use.

    Attributes
    ----------
    name
        The command name.
    package
        The Debian package that provides it, if known.
    version_flag
        The option that makes it print its version.
    install
        Whether ``fsbench doctor --install`` installs it.
    """

    name: str
    package: str
    version_flag: str = "--version"
    install: bool = False

    @property
    def path(self) -> Path | None:
        """Its path, or ``None`` if it is not installed."""
        return find_program(self.name)

    @property
    def version(self) -> str | None:
        """Its version, or ``None`` if it is not installed or does not print one."""
        return _version(self)


@cache
def _version(program: Program) -> str | None:
    if program.path is None:
        return None
    try:
        answer = asked(program.path, program.version_flag, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (line.strip() for line in (answer.stdout + answer.stderr).splitlines())
    return next((line for line in lines if re.search(r"\d\.\d", line)), None)


ZPOOL: Final = Program("zpool", "zfs-fuse", "version")
ZFS: Final = Program("zfs", "zfs-fuse", "version")
ZFS_FUSE: Final = Program("zfs-fuse", "zfs-fuse", "--help")
MDADM: Final = Program("mdadm", "mdadm")
CRYPTSETUP: Final = Program("cryptsetup", "cryptsetup-bin")
DMSETUP: Final = Program("dmsetup", "dmsetup", "version")
LVM: Final = Program("lvm", "lvm2", "version")
EXPORTFS: Final = Program("exportfs", "nfs-kernel-server")
MOUNT_NFS: Final = Program("mount.nfs", "nfs-common", "-V")

SYSTEM_PROGRAMS: Final = {
    program.name: program
    for program in (
        Program("dd", "coreutils"),
        Program("fallocate", "util-linux"),
        Program("losetup", "mount"),
        Program("mount", "mount"),
        Program("setpriv", "util-linux"),
        Program("truncate", "coreutils"),
        Program("umount", "mount"),
        Program("unshare", "util-linux"),
        Program("wipefs", "util-linux"),
    )
}


def kernel_filesystems() -> tuple[str, ...]:
    """Return the block-device filesystems that the kernel has, or has a module for."""
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


NO_DEVICE_MAPPER: Final = "the kernel has no device mapper, which this needs"


def has_device_mapper() -> bool:
    """Return whether the kernel has the device mapper or a module for it."""
    modules = Path("/lib/modules", platform.release(), "modules.dep")
    return Path("/dev/mapper/control").exists() or (
        modules.is_file() and "/md/dm-mod.ko" in modules.read_text("utf-8")
    )


def has_mount_type(name: str) -> bool:
    """Return whether the kernel has a filesystem that needs no block device, or a module for it."""
    lines = Path("/proc/filesystems").read_text(encoding="ascii").splitlines()
    modules = Path("/lib/modules", platform.release(), "modules.dep")
    return f"nodev\t{name}" in lines or (modules.is_file() and f"/{name}.ko" in modules.read_text("utf-8"))


def not_installed(*programs: Program) -> str | None:
    """Return which of some programs are missing and which packages provide them, or ``None``."""
    missing = [program for program in programs if program.path is None]
    if not missing:
        return None
    names = ", ".join(program.name for program in missing)
    packages = ", ".join(dict.fromkeys(program.package for program in missing if program.package))
    brought = f" (Debian: {packages})" if packages else ""
    return f"{names} {'is' if len(missing) == 1 else 'are'} not installed{brought}"


def is_administrator() -> bool:
    """Return whether this process may mount."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return effective is not None and bool(int(effective[1], 16) >> _CAP_SYS_ADMIN & 1)


def has_loop_devices() -> bool:
    """Return whether the kernel has loop devices."""
    return Path("/dev/loop-control").exists()


def has_md() -> bool:
    """Return whether the kernel has md, or a module for its mirrors."""
    modules = Path("/lib/modules", platform.release(), "modules.dep")
    return Path("/proc/mdstat").exists() or (modules.is_file() and "/md/raid1.ko" in modules.read_text("utf-8"))


def isolation_problem() -> str | None:
    """Return why a command cannot have mount and PID namespaces of its own, or ``None`` if it can."""
    if not is_administrator():
        return "this needs root"
    if lack := not_installed(SYSTEM_PROGRAMS["unshare"]):
        return lack
    attempt = asked(*ISOLATION, "true")
    if attempt.returncode == 0:
        return None
    return f"the kernel refuses a mount namespace here ({attempt.stderr.strip() or 'no reason given'})"


def program_environment() -> dict[str, str]:
    """Return the environment for programs: messages in English, and a complete search path."""
    return {**os.environ, "PATH": search_path(), "LC_ALL": "C.UTF-8", "LANGUAGE": ""}


def asked(
    *words: str | Path, timeout: float | None = None, stdin: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program and return its result.

    Parameters
    ----------
    timeout
        Seconds after which it is killed and `subprocess.TimeoutExpired` is raised.
    stdin
        Its standard input.
    folder
        Its working directory.
    """
    return subprocess.run(
        words,
        cwd=folder,
        env=program_environment(),
        input=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
