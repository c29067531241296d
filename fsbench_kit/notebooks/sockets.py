"""Folders for the sockets of kernels, which only the current user can open.

Network ports would be open to all users of the machine.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any, Final

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFIX: Final = "fsbench-kernel-"  # followed by the id of the process that created the folder
_LONGEST: Final = 70
"""The maximum length of the path of a temporary folder: an address has at most 107 characters, including the
socket's own name."""


@contextmanager
def kernel_sockets() -> Iterator[dict[str, Any]]:
    """Yield the configuration of a kernel manager, and remove the folder afterwards.

    Folders left behind by killed processes are removed first.
    """
    parent = _parent()
    for folder in parent.glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with suppress(OSError):  # it belongs to another user, or was just removed
            if owner.isdecimal() and not psutil.pid_exists(int(owner)) and folder.stat().st_uid == os.geteuid():
                shutil.rmtree(folder)
    with TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent) as own:
        yield {"transport": "ipc", "ip": f"{own}/kernel"}


def _parent() -> Path:
    """Return the folder for temporary files, or the system's if its path is too long for sockets."""
    usual = Path(gettempdir())
    return usual if len(str(usual)) <= _LONGEST else Path("/tmp")  # noqa: S108 (a folder of our own is made there)
