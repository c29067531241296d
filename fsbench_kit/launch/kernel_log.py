"""What the kernel says of a run's devices while it goes on."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

_LOG: Final = Path("/dev/kmsg")
_RECORD: Final = 8192  # bytes: the kernel gives one record at a time, and none is longer
_ERROR: Final = 3  # of syslog's levels; what is more serious has a smaller number


class KernelLog:
    """The kernel's log from now on. Where it cannot be read, nothing is known."""

    def __init__(self) -> None:
        try:
            self._descriptor: int | None = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError:
            self._descriptor = None

    def errors(self, devices: Collection[str]) -> list[str]:
        """Return the errors that name one of some devices since the log was opened, and close it."""
        if self._descriptor is None:
            return []
        found = []
        names = re.compile(rf"\b({'|'.join(map(re.escape, devices)) or '(?!)'})\b")
        try:
            while True:
                head, _, text = os.read(self._descriptor, _RECORD).decode(errors="replace").partition(";")
                line = text.partition("\n")[0]
                if int(head.partition(",")[0]) & 7 <= _ERROR and names.search(line):
                    found.append(line)
        except (BlockingIOError, ValueError):
            pass  # that was all
        except OSError:
            found.append("the kernel's log has overflowed")
        finally:
            os.close(self._descriptor)
            self._descriptor = None
        return found
