"""The kernel's log during a run."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fsbench_kit.launch.environment import Device

_LOG: Final = Path("/dev/kmsg")
_NUMBER: Final = os.makedev(1, 11)
"""The device number of the kernel's log. Containers may have something else in its place."""
_RECORD: Final = 8192  # bytes; the kernel returns one record per read, and none is longer
_ERROR: Final = 3  # syslog level; more serious levels have smaller numbers
_BLOCK_DEVICES: Final = Path("/sys/class/block")
_LIMIT_REACHED: Final = "Memory cgroup out of memory: "
"""A control group reached its own limit. The run's group is checked directly; other groups do not matter."""


@dataclass(frozen=True, slots=True)
class KernelErrors:
    """The errors in the kernel's log.

    Attributes
    ----------
    own
        Errors that name a device of the run, or what it is attached to.
    others
        Errors that name no block device.
    """

    own: list[str]
    others: list[str]


class KernelLog:
    """The kernel's log from this moment on. If it cannot be read, nothing is known."""

    def __init__(self) -> None:
        self._descriptor: int | None = None
        try:
            if _LOG.stat().st_rdev == _NUMBER:
                self._descriptor = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError:
            return

    def errors(self, devices: Sequence[Device]) -> KernelErrors | None:
        """Return the errors since the log was opened, and close it; return ``None`` if it cannot be read.

        Errors of other block devices are ignored.
        """
        if self._descriptor is None:
            return None
        own = {part for device in devices for part in device.folder.parts if re.search(r"\d", part)}
        own |= {part for device in devices for part in (device.name, device.disk.name)}
        others = (
            {folder.name for folder in _BLOCK_DEVICES.iterdir()} if os.access(_BLOCK_DEVICES, os.R_OK) else set()
        )
        names, other_names = _names(own), _names(others - own)
        lines = list(dict.fromkeys(self._lines(self._descriptor)))
        os.close(self._descriptor)
        self._descriptor = None
        found = [line for line in lines if names.search(line)]
        return KernelErrors(found, [line for line in lines if line not in found and not other_names.search(line)])

    def _lines(self, descriptor: int) -> Iterator[str]:
        while True:
            try:
                head, _, text = os.read(descriptor, _RECORD).decode(errors="replace").partition(";")
            except BlockingIOError:
                return  # no more records
            except BrokenPipeError:
                yield "the kernel's log overflowed, and earlier messages were lost"
                continue
            if int(head.partition(",")[0]) & 7 <= _ERROR and not text.startswith(_LIMIT_REACHED):
                yield text.partition("\n")[0]


def _names(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the names as a whole word."""
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, names)) or '(?!)'})(?![\w-])")
