"""Folders for the sockets over which kernels are spoken to: files that only this user can open.

Ports of the machine would be open to all its users.
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

_PREFIX: Final = "fsbench-kernel-"  # followed by the process that made the folder
_LONGEST: Final = 70
"""Of a path to a folder for temporary files: with a socket's own name, an address may have 107 characters."""


@contextmanager
def kernel_sockets() -> Iterator[dict[str, Any]]:
    """Yield what a kernel manager is to be configured with; the folder is removed afterwards.

    Folders that were left by processes which were killed are removed first.
    """
    parent = _parent()
    for folder in parent.glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with suppress(OSError):  # another one's, or just removed
            if owner.isdecimal() and not psutil.pid_exists(int(owner)) and folder.stat().st_uid == os.geteuid():
                shutil.rmtree(folder)
    with TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent) as own:
        yield {"transport": "ipc", "ip": f"{own}/kernel"}


def _parent() -> Path:
    """Return the folder for temporary files, or where its path is too long for sockets, the system's."""
    usual = Path(gettempdir())
    return usual if len(str(usual)) <= _LONGEST else Path("/tmp")  # noqa: S108 (a folder of our own is made there)
