"""Reads the logs of each run right after it, to judge whether the run is valid.

Programs leave arbitrary logs: unreadable ones, or ones so large that reading takes all memory or never ends. A
separate process therefore reads them, after the run and before the next: see `reader`. Because it takes a second
to start, one process reads for all runs; if a log kills it, another is started.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, Self, cast

from fsbench_kit.launch.execution import mortality, wait_for
from fsbench_kit.launch.processes import MARK
from fsbench_kit.launch.tools import program_environment
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fsbench_kit.model.records import Status

SECONDS: Final = 120
"""Time limit for reading, in seconds."""
MEMORY: Final = 2 * 2**30
"""Memory limit for reading, in bytes, beyond what the process already uses."""


_CANNOT: Final = {
    -signal.SIGALRM: "cannot be read within {seconds:g} s",
    -signal.SIGABRT: "takes more than {memory} of memory to read",  # Polars aborts if it gets no memory
}
"""What the exit code of the reading process says about the log."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a run's logs.

    Attributes
    ----------
    status
        ``failed`` also if there is no figure.
    reason
        A sentence, unless the status is ``ok``.
    """

    status: Status
    reason: str | None = None


class LogReader:
    """A process that reads logs. A context manager, which ends it on exit."""

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.kill()

    def _start(self) -> None:
        # Without the launch's mark, so that it is not killed with the processes of a run.
        environment = {name: value for name, value in program_environment().items() if name != MARK}
        self._process = subprocess.Popen(
            (*mortality(), sys.executable, "-P", "-m", "fsbench_kit.launch.reader"),
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._requests = cast("IO[bytes]", self._process.stdin)
        self._answers = cast("IO[bytes]", self._process.stdout)
        self._is_ready = False

    def get_ready(self) -> None:
        """Wait until the process has started, so that it is idle during a run.

        Raises
        ------
        LifelineError
            If the lifeline closes first.
        """
        self._is_ready = self._is_ready or self._answer() != b""

    def read(self, folder: Path, names: Sequence[str]) -> Reading:
        """Read the logs of a run.

        Raises
        ------
        LifelineError
            If the lifeline closes first.
        """
        self.get_ready()
        with suppress(BrokenPipeError):  # its exit code says why it ended
            request = {"folder": str(folder), "names": names, "seconds": SECONDS, "memory": MEMORY}
            self._requests.write(json.dumps(request).encode() + b"\n")
        if answer := self._answer():
            return Reading(**json.loads(answer))
        with self._process:
            exit_code = self._process.wait()
        self._start()
        otherwise = f"cannot be read: the process that reads it ended (exit code {exit_code})"
        why = _CANNOT.get(exit_code, otherwise).format(seconds=SECONDS, memory=humanise(MEMORY, "B"))
        return Reading("failed", f"{names[0]} {why}")

    def _answer(self) -> bytes:
        """Return the next line that the process writes; empty if it has ended."""
        wait_for(self._answers.fileno())
        return self._answers.readline()
