"""Kernels forked by a process that has loaded what they need; ordinary kernels if forking is impossible."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import Pipe
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from fsbench_kit.notebooks.fork_server import LARGEST, LAUNCHER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from jupyter_client.connect import KernelConnectionInfo

SERVER: Final = "fsbench_kit.notebooks.fork_server"


class ForkedKernelManager(AsyncKernelManager):
    """Starts kernels with `_ForkedProvisioner`."""

    async def _async_pre_start_kernel(self, **options: Any) -> tuple[list[str], dict[str, Any]]:
        if self.provisioner is None:
            self.provisioner = _ForkedProvisioner(kernel_spec=self.kernel_spec, parent=self)
        return await super()._async_pre_start_kernel(**options)

    async def _async_finish_shutdown(
        self, waittime: float | None = None, pollinterval: float = 0.01, restart: bool = False
    ) -> None:
        # Usually it is asked ten times a second whether the kernel has ended, which takes it less.
        await super()._async_finish_shutdown(waittime, pollinterval, restart)


class _ForkedProvisioner(LocalProvisioner):
    """Forks kernels of this Python; starts others as usual."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        forked = _fork(cmd, options) if cmd[:3] == [sys.executable, "-m", LAUNCHER] else None
        if forked is None:
            return await super().launch_kernel(cmd, **options)
        self.process = forked  # type: ignore[assignment]
        self.pid = self.pgid = forked.pid
        self.cwd = options.get("cwd", Path.cwd())
        return self.connection_info


class _Forked:
    """The process of a kernel, with the part of the interface of `subprocess.Popen` that is used."""

    stdin = stdout = stderr = None

    def __init__(self, line: Connection) -> None:
        self.returncode: int | None = None
        self._line = line
        self.pid: int = line.recv()

    def poll(self) -> int | None:
        if self.returncode is None and self._line.poll():
            self.wait()
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            try:
                self.returncode = self._line.recv()
            except (EOFError, OSError):  # the server ended, and its kernels with it
                self.returncode = -signal.SIGKILL
            self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _fork(command: list[str], options: dict[str, Any]) -> _Forked | None:
    """Request a forked kernel; return ``None`` if that is impossible."""
    environment = options.get("env") or dict(os.environ)
    request = {
        "arguments": command[3:],
        "folder": str(Path(options.get("cwd") or ".").resolve()),
        "environment": environment,
    }
    message = json.dumps(request).encode()
    if len(message) > LARGEST or (server := _server()) is None:
        return None
    ours, theirs = Pipe()
    try:
        with theirs:
            socket.send_fds(server, [message], [theirs.fileno()])
        return _Forked(ours)
    except (EOFError, OSError):
        ours.close()
        return None


_STARTING: Final = Lock()
_SERVER: Final[list[socket.socket | None]] = []
"""The connection to the server of this process, once it has one: another process can give it."""
_UNTIL_THE_END: Final = ExitStack()


def fork_from(server: socket.socket | None) -> None:
    """Make this process fork kernels from a server that another one started, instead of from one of its own."""
    _SERVER[:] = [server]


def _server() -> socket.socket | None:
    with _STARTING:
        if not _SERVER:
            _SERVER.append(_UNTIL_THE_END.enter_context(server()))
        return _SERVER[0]


_ENVIRONMENT: Final = {
    # BLAS would start threads when it is loaded.
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    # A kernel's debugger would warn that it cannot enter Python's own modules.
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}


@contextmanager
def server() -> Iterator[socket.socket | None]:
    """Start a server, and yield the connection to it; ``None`` where nothing can be forked."""
    if sys.platform != "linux":
        yield None
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", SERVER, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env={**os.environ, **_ENVIRONMENT},
            start_new_session=True,
        )
    with process, ours:  # the server ends when all connections are closed
        yield ours
