"""A process that has loaded what notebooks use, and forks itself into kernels.

    python -m fsbench_kit.notebooks.fork_server FD

The file descriptor is one end of a pair of sockets. Each message on it is a request, with the descriptor of a
connection on which the kernel's process is told, and later its exit status. If a connection is closed, its kernel
is killed; if the pair is, this process ends, and with it all kernels.

A fork has none of the threads of its parent, but all the locks that they held. So only what starts no thread is
loaded here, which leaves out Polars, and with it most of fsbench_kit; and where there is a thread all the same,
nothing is forked.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import runpy
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final, NamedTuple

LAUNCHER: Final = "ipykernel_launcher"
LOADED: Final = (
    "ipykernel.kernelapp",
    "ipykernel.zmqshell",
    "altair",
    "numpy.ma",
    "psutil",
    "pydantic.main",  # pydantic alone loads nothing before it is used
    "pydantic.types",
    "rich.console",
    "rich.table",
    "scipy.special",
)
LARGEST: Final = 1_000_000
"""A request has no more bytes."""

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


class _Kernel(NamedTuple):
    pid: int
    ended: int
    line: Connection


def main() -> None:
    """Load, and fork until nobody can ask for it any more."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # what is loaded stays shared
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        return
    kernels: list[_Kernel] = []
    while True:
        ready = wait([requests, *(kernel.ended for kernel in kernels), *(kernel.line for kernel in kernels)])
        for kernel in list(kernels):
            if kernel.ended in ready:
                kernels.remove(kernel)
                _bury(kernel)
            elif kernel.line in ready:  # which is closed: nobody waits for it
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
    with suppress(OSError):  # nobody waits for it
        kernel.line.send(os.waitstatus_to_exitcode(status))
    kernel.line.close()


def _be_kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Do in this process what ``python -m ipykernel_launcher`` does in a new one."""
    server = os.getppid()
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os.kill(os.getpid(), signal.SIGKILL)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment, JPY_PARENT_PID=str(server))
    if (numpy := sys.modules.get("numpy.random")) is not None:
        numpy.seed()  # or the kernels of one server would draw the same numbers
    sys.argv = [LAUNCHER, *arguments]
    sys.path[0] = folder
    runpy.run_module(LAUNCHER, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
