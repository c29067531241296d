"""Cleans up at once after a launch that was killed, so that its changes to the machine do not linger.

A shell waits for the end of a pipe that the launch's process holds open and that the kernel closes when the
process ends for any reason. The shell then does what the next launch on the machine would do.
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
    """Guard a launch within this context, and beyond it if this process is killed.

    Parameters
    ----------
    places
        The directories of its scratch folders; if there are none, nothing is guarded.

    Yields
    ------
    tuple of int
        Descriptors that the launch's process must hold open; this process closes them.
    """
    if not places:
        yield ()
        return
    awaited, held = os.pipe()
    # Without the launch's mark and in its own session, so that whatever ends the launch does not end the guard.
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
