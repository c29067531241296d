"""Reads the logs of a run right after it, and says what the run is worth by its logs.

A log is whatever a program has left: nothing that can be read, or so much that reading it takes all memory or does
not end. So a process of its own reads it, after the run has ended and before the next one begins: see `reader`. It
takes a second to start, so it reads for all runs; where a log was its end, another one is started.
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
"""How long reading may take."""
MEMORY: Final = 2 * 2**30
"""How many bytes it may take, beyond what the process has already."""


_CANNOT: Final = {
    -signal.SIGALRM: "cannot be read within {seconds:g} s",
    -signal.SIGABRT: "takes more than {memory} of memory to read",  # as Polars ends where it gets none
}
"""What the exit code of a process that reads says of a log."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a run's logs has shown.

    Attributes
    ----------
    status
        ``failed`` where there is no figure, too.
    reason
        A sentence, where the status is not ``ok``.
    """

    status: Status
    reason: str | None = None


class LogReader:
    """A process that reads logs, from the entry into a context to its exit."""

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.kill()

    def _start(self) -> None:
        # Without the launch's mark, it is not ended with the processes of a run.
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
        """Wait until the process has started, so that it is idle while a run goes on.

        Raises
        ------
        LifelineError
            If the lifeline ends before.
        """
        self._is_ready = self._is_ready or self._answer() != b""

    def read(self, folder: Path, names: Sequence[str]) -> Reading:
        """Read the logs of a run.

        Raises
        ------
        LifelineError
            If the lifeline ends before.
        """
        self.get_ready()
        with suppress(BrokenPipeError):  # its exit code says why it has ended
            request = {"folder": str(folder), "names": names, "seconds": SECONDS, "memory": MEMORY}
            self._requests.write(json.dumps(request).encode() + b"\n")
        if answer := self._answer():
            return Reading(**json.loads(answer))
        with self._process:
            exit_code = self._process.wait()
        self._start()
        otherwise = f"cannot be read: what reads it was ended (exit code {exit_code})"
        why = _CANNOT.get(exit_code, otherwise).format(seconds=SECONDS, memory=humanise(MEMORY, "B"))
        return Reading("failed", f"{names[0]} {why}")

    def _answer(self) -> bytes:
        """Return the next line that the process writes; nothing where it has ended."""
        wait_for(self._answers.fileno())
        return self._answers.readline()
