"""The process that reads the logs of runs, on behalf of `fsbench_kit.launch.reading`.

Each line on standard input requests a reading, and is answered by a line on standard output. The process limits
itself: where a log takes too much, the kernel or Polars ends it. It also ends with its standard input.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import psutil

from fsbench_kit.data.reading import read
from fsbench_kit.launch.reading import Reading
from fsbench_kit.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.model.records import Status

_NOT_OK: Final = ("RUN_FAILED", "RUN_STOPPED", "INCOMPLETE_LOG")
"""Diagnostics that explain why a run is not ``ok``, in order of precedence."""


def main() -> None:
    """Answer the requests on standard input until its end."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(flush=True)  # noqa: T201  # signals that all imports are done
    for line in sys.stdin:
        print(json.dumps(asdict(_answer(**json.loads(line)))), flush=True)  # noqa: T201


def _answer(folder: str, names: Sequence[str], seconds: float, memory: int) -> Reading:
    """Read logs within the limits. If the limits are exceeded, this does not return."""
    most, hard = psutil.Process().memory_info().data + memory, resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    os.chdir(folder)
    try:
        return _read(names)
    except MemoryError:
        os.abort()
    except Exception as error:  # a log that breaks the reader must not end the launch
        return Reading("failed", f"{names[0]} cannot be read: {type(error).__name__}: {error}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.chdir("/")


def _read(names: Sequence[str]) -> Reading:
    try:
        data = read(*names, cache=False)
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
    problems = [row for code in _NOT_OK for row in data.diagnostics.filter(code=code).rows(named=True)]
    if not problems:
        return f"{data.runs['source'][0]} is incomplete"
    found = problems[0]
    place = found["source"] if found["line"] is None else f"{found['source']}:{found['line']}"
    return f"{place}: {found['message']}"


if __name__ == "__main__":
    main()
