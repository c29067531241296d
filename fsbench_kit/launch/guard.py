"""Cleans up after a launch that was killed, at once: what it has changed of the machine should not wait.

A shell waits for the end of a pipe that the launch's process holds, and which the kernel closes when that process
ends, however it ends. Then it does what the next launch on the machine would do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.processes import MARK
from fsbench_kit.launch.scratch import sweep
from fsbench_kit.launch.tools import program_environment

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_WAIT: Final = ("sh", "-c", 'read -r nothing; exec "$@"', "fsbench-guard")
_TIMEOUT: Final = 60.0  # seconds


@contextmanager
def guarded(places: Collection[Path]) -> Iterator[tuple[int, ...]]:
    """Watch over a launch for as long as this lasts, and longer where this process is killed.

    Parameters
    ----------
    places
        Where its scratch folders are; without any, nothing is to be watched over.

    Yields
    ------
    tuple of int
        Descriptors for the launch's process to hold for as long as it lives, and to be closed here.
    """
    if not places:
        yield ()
        return
    awaited, held = os.pipe()
    # Without the launch's mark, and in a session of its own, so that nothing that ends the launch ends it.
    environment = {name: value for name, value in program_environment().items() if name != MARK}
    guard = subprocess.Popen(
        (*_WAIT, sys.executable, "-P", "-m", __name__, *map(str, places)),
        env=environment,
        stdin=awaited,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(awaited)
    try:
        yield (held,)
    finally:
        with suppress(subprocess.TimeoutExpired):
            guard.wait(_TIMEOUT)


if __name__ == "__main__":
    for place in sys.argv[1:]:
        sweep(Path(place), patient=True)
