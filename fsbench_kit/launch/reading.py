"""Reads the log of a run right after it, and says what the run is worth by its log.

A log is whatever a program has left: nothing that can be read, or so much that reading it takes all memory or does
not end. So it is read by a process of its own, with limits on its time and memory, after the run has ended and
before the next one begins. That process is forked from one that has imported all that reads, and has done nothing
else: a new one would take a second or two after each run, and in a fork of the launch's own Polars would wait for
its threads, which a fork does not take along.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from dataclasses import dataclass
from multiprocessing import forkserver, get_context
from typing import TYPE_CHECKING, Final

import psutil

from fsbench_kit.launch.execution import wait_for
from fsbench_kit.launch.processes import MARK
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection
    from pathlib import Path

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.model.records import Status

SECONDS: Final = 120
"""How long reading may take."""
MEMORY: Final = 2 * 2**30
"""How many bytes it may take, beyond what the process has at its start."""

_CONTEXT: Final = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["fsbench_kit.data.reading", "fsbench_kit.launch.runner"])

_SET_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of linux/prctl.h
_TELLING: Final = ("RUN_FAILED", "RUN_STOPPED", "INCOMPLETE_LOG")
"""Diagnostics that say why a run is not ``ok``, the first one first."""


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


def read_logs(folder: Path, names: Sequence[str]) -> Reading:
    """Read the logs of a run, in a process of its own.

    Raises
    ------
    LifelineError
        If the lifeline ends before that process does.
    """
    _start_server()
    end, other = _CONTEXT.Pipe(duplex=False)
    reader = _CONTEXT.Process(target=_answer, args=(other, folder, names, MEMORY), daemon=True)
    reader.start()
    other.close()
    try:
        if not wait_for(end.fileno(), SECONDS):
            return Reading("failed", f"{names[0]} cannot be read within {SECONDS} s")
        answer: Reading = end.recv()
    except EOFError:
        reader.join()
        if reader.exitcode == -signal.SIGABRT:  # as Polars ends where it gets no memory
            return _too_much(names, MEMORY)
        return Reading(
            "failed", f"{names[0]} cannot be read: what reads it was ended (exit code {reader.exitcode})"
        )
    else:
        return answer
    finally:
        reader.kill()
        reader.join()
        end.close()


def _start_server() -> None:
    """Start the process that is forked for each reading, if there is none yet.

    It does not carry the launch's mark, so that it is not ended with the processes of a run. It ends by itself
    when the launch does.
    """
    mark = os.environ.pop(MARK, None)
    try:
        forkserver.ensure_running()
    finally:
        if mark is not None:
            os.environ[MARK] = mark


def _too_much(names: Sequence[str], memory: int) -> Reading:
    return Reading("failed", f"{names[0]} takes more than {humanise(memory, 'B')} of memory to read")


def _answer(end: Connection, folder: Path, names: Sequence[str], memory: int) -> None:
    """Read logs, and send what that has shown."""
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    most = psutil.Process().memory_info().data + memory
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    os.chdir(folder)
    try:
        answer = _read(names)
    except MemoryError:
        answer = _too_much(names, memory)
    except Exception as error:  # a log that breaks the reader must not end the launch
        answer = Reading("failed", f"{names[0]} cannot be read: {type(error).__name__}: {error}")
    end.send(answer)


def _read(names: Sequence[str]) -> Reading:
    from fsbench_kit.data import reading  # noqa: PLC0415  # the launch itself reads nothing

    try:
        data = reading.read(*names)
    except InputError as error:
        return Reading("failed", error.what.splitlines()[0])
    status: Status
    for status in ("failed", "partial"):
        if status in data.runs["status"]:
            return Reading(status, _reason(data))
    if data.measurements.filter(data.measurements["state"] != "missing", primary=True).is_empty():
        return Reading("failed", f"{names[0]} holds no figure")
    return Reading("ok")


def _reason(data: Dataset) -> str:
    told = [row for code in _TELLING for row in data.diagnostics.filter(code=code).rows(named=True)]
    if not told:
        return f"{data.runs['source'][0]} is incomplete"
    found = told[0]
    place = found["source"] if found["line"] is None else f"{found['source']}:{found['line']}"
    return f"{place}: {found['message']}"
