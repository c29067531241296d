"""Locks that keep two launches from using the same device, where each would distort the other's figures.

A lock is a file that a launch holds open, in a directory that all users of a machine share. The kernel releases it
when the process ends for any reason, so a lock file that nobody holds means nothing and may stay.
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
"""The environment variable that names a different directory for locks."""

_SHARED: Final = (Path("/run/lock"), Path("/tmp"))  # noqa: S108
_FOR_ALL: Final = 0o666


class BusyError(LaunchError):
    """Another launch holds the lock."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that performs a launch.

    Attributes
    ----------
    process
        The process that a person would kill to end the launch.
    command
        Its command line.
    user
        The user it belongs to.
    """

    process: int
    command: str
    user: str

    @classmethod
    def here(cls) -> Owner:
        """Return this process as the owner."""
        return cls(os.getpid(), shlex.join(sys.orig_argv), psutil.Process().username())

    def __str__(self) -> str:
        return f"process {self.process} of {self.user}: {self.command}"


def device_names(directory: Path) -> tuple[str, ...]:
    """Return the names of the disks under a directory, or of its filesystem if the kernel shows no disk."""
    disks = dict.fromkeys(device.disk.name for device in devices_under(directory))
    if disks:
        return tuple(disks)
    number = directory.stat().st_dev
    return (f"filesystem {os.major(number)}:{os.minor(number)}",)


@contextmanager
def locked(what: str, owner: Owner) -> Iterator[None]:
    """Lock a device or a study.

    Raises
    ------
    BusyError
        If another launch holds the lock.
    LaunchError
        If the lock cannot be created.
    """
    digest = hashlib.sha256(what.encode()).hexdigest()[:16]
    path = shared_directory() / f"fsbench-{digest}.lock"
    holder = path.with_suffix(".json")
    with ExitStack() as stack:
        try:
            # Not with filelock: some versions of it refuse a lock file that belongs to another user.
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
    """Return the first directory in which all users may create files, but not remove those of others."""
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
    """Open a lock file that belongs to whoever created it and that everybody may write."""
    with suppress(FileExistsError):
        new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.fchmod(new, _FOR_ALL)
        os.close(new)
    # Without O_CREAT, which kernels refuse for other users' files in a shared directory.
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
    except (OSError, ValueError, LookupError, TypeError):  # the owner has just started or just ended
        return "process unknown"
