"""A process that loads what notebooks use, and forks kernels from itself.

    python -m fsbench_kit.notebooks.fork_server FD

The file descriptor is one end of a socket pair. Each message on it is a request, with the descriptor of a
connection over which the id of the kernel's process is returned, and later its exit status. If this connection is
closed, the kernel is killed; if the socket pair is closed, this process ends, and all kernels with it.

A forked process has none of its parent's threads, but all locks that they held. Therefore only packages that start
no thread are loaded here, which excludes Polars and most of fsbench_kit; and if there is a thread nevertheless,
nothing is forked.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import runpy
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final, NamedTuple

LAUNCHER: Final = "ipykernel_launcher"
LOADED: Final = (
    "ipykernel.kernelapp",
    "ipykernel.debugger",  # which every kernel loads
    "ipykernel.zmqshell",
    "altair",
    "numpy.ma",
    "psutil",
    "pydantic.main",  # the package itself loads nothing before its first use
    "pydantic.types",
    "rich.console",
    "rich.table",
    "scipy.special",
)
LARGEST: Final = 1_000_000
"""The maximum size of a request in bytes."""

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


class _Kernel(NamedTuple):
    pid: int
    ended: int
    line: Connection


def main() -> None:
    """Load the packages, and fork kernels until the socket pair is closed."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # what is loaded stays shared between processes
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        return
    kernels: list[_Kernel] = []
    while True:
        ready = wait([requests, *(kernel.ended for kernel in kernels), *(kernel.line for kernel in kernels)])
        for kernel in list(kernels):
            if kernel.ended in ready:
                kernels.remove(kernel)
                _bury(kernel)
            elif kernel.line in ready:  # the connection was closed
                os.kill(kernel.pid, signal.SIGKILL)
        if requests in ready:
            message, descriptors, _, _ = socket.recv_fds(requests, LARGEST, 1)
            if not message:
                return
            line = Connection(descriptors[0])
            pid = os.fork()
            if not pid:
                requests.close()
                line.close()
                for other in kernels:
                    other.line.close()
                    os.close(other.ended)
                _be_kernel(**json.loads(message))
                return
            line.send(pid)
            kernels.append(_Kernel(pid, os.pidfd_open(pid), line))


def _bury(kernel: _Kernel) -> None:
    _, status = os.waitpid(kernel.pid, 0)
    os.close(kernel.ended)
    with suppress(OSError):  # the connection was closed
        kernel.line.send(os.waitstatus_to_exitcode(status))
    kernel.line.close()


def _be_kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Run ``python -m ipykernel_launcher`` in this process."""
    server = os.getppid()
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os.kill(os.getpid(), signal.SIGKILL)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment, JPY_PARENT_PID=str(server))
    if (numpy := sys.modules.get("numpy.random")) is not None:
        numpy.seed()  # otherwise all kernels would draw the same random numbers
    sys.argv = [LAUNCHER, *arguments]
    sys.path[0] = folder
    runpy.run_module(LAUNCHER, run_name="__main__", alter_sys=True)
    _leave()


def _leave() -> None:
    """End as an interpreter does, except that what is loaded is not freed piece by piece, which takes 0.3 s."""
    threading._shutdown()  # type: ignore[attr-defined]  # as multiprocessing ends what it forks
    atexit._run_exitfuncs()
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            stream.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
