"""Keeps two launches from one device: each would spoil the figures of the other.

A lock is a file that a launch holds open, in a directory that all users of a machine share. The kernel gives it
free when the process ends, however it ends; so a lock file that nobody holds means nothing, and stays for others.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import stat
import sys
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil

from fsbench_kit.launch.environment import devices_under
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCKS: Final = "FSBENCH_LOCKS"
"""The variable of the environment that names the directory for locks, where it is not to be the usual one."""

_SHARED: Final = (Path("/run/lock"), Path("/tmp"))  # noqa: S108
_FOR_ALL: Final = 0o666


class BusyError(LaunchError):
    """Another launch holds what is to be locked."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who does a launch.

    Attributes
    ----------
    process
        The process that a person would end to end the launch.
    command
        Its command line.
    user
        Whose it is.
    """

    process: int
    command: str
    user: str

    @classmethod
    def here(cls) -> Owner:
        """Return this process."""
        return cls(os.getpid(), shlex.join(sys.orig_argv), psutil.Process().username())

    def __str__(self) -> str:
        return f"process {self.process} of {self.user}: {self.command}"


def device_names(directory: Path) -> tuple[str, ...]:
    """Name the disks under a directory, or its filesystem where it has none that the kernel shows."""
    disks = dict.fromkeys(device.disk.name for device in devices_under(directory))
    if disks:
        return tuple(disks)
    number = directory.stat().st_dev
    return (f"filesystem {os.major(number)}:{os.minor(number)}",)


@contextmanager
def locked(what: str, owner: Owner) -> Iterator[None]:
    """Hold something for oneself: a device, or a study.

    Raises
    ------
    BusyError
        If another launch holds it.
    LaunchError
        If it cannot be locked.
    """
    digest = hashlib.sha256(what.encode()).hexdigest()[:16]
    path = shared_directory() / f"fsbench-{digest}.lock"
    holder = path.with_suffix(".json")
    with ExitStack() as stack:
        try:
            # Not by filelock: some versions of it refuse a lock that belongs to another user.
            lock = _opened(path)
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write(holder, json.dumps({"what": what, **asdict(owner)}))
        except BlockingIOError:
            raise BusyError(
                f"another launch is using {what} ({_read(holder)})",
                hint="Wait until it has finished, or end that process.",
            ) from None
        except OSError as error:
            raise LaunchError(f"cannot make a lock: {error.strerror}", file=error.filename or path) from None
        yield


def shared_directory() -> Path:
    """Return the first directory in which any user may make files, but not remove those of others."""
    if stated := os.environ.get(LOCKS):
        return Path(stated)
    for path in _SHARED:
        with suppress(OSError):
            if path.stat().st_mode & (stat.S_ISVTX | stat.S_IWOTH) == stat.S_ISVTX | stat.S_IWOTH:
                return path
    raise LaunchError(
        f"cannot make locks: neither {' nor '.join(map(str, _SHARED))} is a directory that all users share",
        hint=f"Name a directory for locks in the variable {LOCKS}.",
    )


def _opened(path: Path) -> int:
    """Open a file that belongs to whoever came first, and that all may write."""
    with suppress(FileExistsError):
        new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.fchmod(new, _FOR_ALL)
        os.close(new)
    # Without O_CREAT: kernels refuse that for files of others in a shared directory.
    return os.open(path, os.O_WRONLY | os.O_NOFOLLOW)


def _write(path: Path, text: str) -> None:
    file = _opened(path)
    os.truncate(file, 0)
    os.write(file, text.encode())
    os.close(file)


def _read(path: Path) -> str:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return str(Owner(known["process"], known["command"], known["user"]))
    except (OSError, ValueError, LookupError, TypeError):  # it has just begun, or just ended
        return "process unknown"
