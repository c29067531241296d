"""Uses other hosts as executors: each has a process that is started by the system's ``ssh`` and receives calls.

Functions and their results are sent as pickles, so hosts must be trusted and must have the same version of this
package.
"""

from __future__ import annotations

import os
import pickle
import platform
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from fsbench_kit.model.errors import InputError, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

T = TypeVar("T")

FOLDER: Final = "fsbench-launches"

SSH: Final = ("ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "ConnectTimeout=15")
"""Never asks for a password, and notices within a minute that a host is gone."""
_SIZE: Final = struct.Struct(">Q")
_READY: Final = b"fsbench is ready\n"
"""Anything before this line is output of the remote shell as it starts."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host to work on.

    Attributes
    ----------
    name
        Its name here.
    destination
        The destination for ``ssh``.
    python
        The Python on the host that has this package.
    folder
        The working folder of launches there, relative to the home directory.
    """

    name: str
    destination: str
    python: str = sys.executable
    folder: str = FOLDER

    def __str__(self) -> str:
        """Return the text that `host` parses."""
        if self.folder != FOLDER:
            return f"{self.destination} {self.python} {self.folder}"
        return self.destination if self.python == sys.executable else f"{self.destination} {self.python}"


def host(text: str, name: str | None = None) -> Host:
    """Parse a host written as ``DESTINATION [PYTHON [FOLDER]]``; paths may begin with ``~/``.

    Parameters
    ----------
    text
        The text to parse.
    name
        The name of the host; by default that of its destination.

    Raises
    ------
    ValueError
        If the text does not name a host.

    Examples
    --------
    >>> host("me@node1 ~/fsbench/bin/python /mnt/scratch")
    Host(name='node1', destination='me@node1', python='fsbench/bin/python', folder='/mnt/scratch')
    """
    destination, *paths = text.split() or [""]
    name = name or re.sub(r"[^\w.-]", "-", re.sub(r"^ssh://|^[^@]*@", "", destination), flags=re.ASCII).strip(
        ".-_"
    )
    if not name or len(paths) > 2 or destination.startswith("-") or any(map(_OF_OTHERS.match, paths)):
        raise ValueError("this names no host")
    # Commands and launches start in the home directory; only the remote shell would expand `~`.
    return Host(name, destination, *(re.sub("^~(/+|$)", "", path) or "." for path in paths))


_OF_OTHERS: Final = re.compile("~[^/]")
HINT: Final = "Write for example: user@node1 /opt/fsbench/bin/python /mnt/scratch"


def read_hosts(path: Path) -> list[Host]:
    """Read a file with a host in each line, written as for `host`.

    Raises
    ------
    InputError
        If the file cannot be read, or names no host, or names one twice.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        hint = "Give a text file with a host in each line."
        raise InputError(f"cannot read the hosts: {why}", file=path, hint=hint) from None
    hosts: dict[str, Host] = {}
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            found = host(text)
        except ValueError as error:
            raise InputError(str(error), file=path, line=number, excerpt=line.strip(), hint=HINT) from None
        if found.name in hosts:
            what = f'a host "{found.name}" is listed above'
            hint = "Name each host once, or give it another name in ~/.ssh/config."
            raise InputError(what, file=path, line=number, excerpt=line.strip(), hint=hint)
        hosts[found.name] = found
    if not hosts:
        raise InputError("this names no host", file=path, hint="Write one in each line, as ssh knows it.")
    return list(hosts.values())


class SshExecutor(Executor):
    """Runs calls on a host, one after the other.

    If the connection breaks, the current call raises `BrokenExecutor`, and it is unknown whether the call was
    completed. The next call reconnects.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self._calls = ThreadPoolExecutor(1)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call a function of this package on the host."""
        return self._calls.submit(self._call, fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the process on the host once it has finished its calls."""
        self._calls.shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self._disconnect()
            self._errors.close()

    def _call(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        try:
            process = self._connected()
            _send(_pipe(process.stdin), (fn, args, kwargs))
            is_result, result = _receive(_pipe(process.stdout))
        except (OSError, EOFError) as error:
            raise BrokenExecutor(self._disconnect() or str(error)) from error
        if not is_result:
            raise result
        returned: T = result
        return returned

    def _connected(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        self._errors.seek(0)
        self._errors.truncate()
        command = shlex.join([self.host.python, "-P", "-m", __name__])
        self._process = subprocess.Popen(
            [*SSH, self.host.destination, command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C here must not reach it
        )
        answers = _pipe(self._process.stdout)
        while not (line := answers.readline()).endswith(_READY):
            if not line:
                raise EOFError("the connection broke")
        there, here = _receive(answers), _versions()
        if there != here:
            self._disconnect()
            what = f"{self.host.name} has {' and '.join(there)}, and this machine {' and '.join(here)}"
            raise RequestError(what, hint=f"Install the same on both: {self.host.python} -m pip install ...")
        return self._process

    def _disconnect(self) -> str:
        """End the connection, and return the last line that ssh printed."""
        process, self._process = self._process, None
        if process is None:
            return ""
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                _pipe(pipe).close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else f"the connection to {self.host.name} broke"


class AnyOf(Executor):
    """Several executors as one: a call goes to a free one, and is repeated in another if that one is broken."""

    def __init__(self, executors: Mapping[str, Executor]) -> None:
        self._free: SimpleQueue[Executor] = SimpleQueue()
        self._left = len(executors)
        self._calls = ThreadPoolExecutor(self._left)
        for executor in executors.values():
            self._free.put(executor)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call a function in one of the executors."""
        return self._calls.submit(self._call, fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the calls; whoever created the executors shuts them down."""
        self._calls.shutdown(wait, cancel_futures=cancel_futures)

    def _call(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        while True:
            executor = self._free.get()
            try:
                result = executor.submit(fn, *args, **kwargs).result()
            except BrokenExecutor:
                self._left -= 1
                if self._left < 1:
                    self._free.put(executor)  # so that other waiting calls fail as well
                    raise
            except BaseException:
                self._free.put(executor)
                raise
            else:
                self._free.put(executor)
                return result


@contextmanager
def connected(hosts: list[Host]) -> Iterator[dict[str, Executor]]:
    """Yield an executor for each host, by name."""
    with ExitStack() as stack:
        yield {host.name: stack.enter_context(SshExecutor(host)) for host in hosts}


def _versions() -> tuple[str, str]:
    """Return the versions that must be equal at both ends."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"fsbench_kit {version('fsbench-kit')}", f"Python {python}"


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("there is no connection")
    return pipe


def _send(pipe: IO[bytes], what: object) -> None:
    data = pickle.dumps(what)
    pipe.write(_SIZE.pack(len(data)) + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    return pickle.loads(_read(pipe, _SIZE.unpack(_read(pipe, _SIZE.size))[0]))  # noqa: S301 - from a trusted host


def _read(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError("the connection broke")
    return data


def _main() -> None:
    """Run the calls from standard input until it ends; their output goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    answers.write(_READY)
    _send(answers, _versions())
    while True:
        try:
            fn, args, kwargs = _receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = (True, fn(*args, **kwargs))
        except Exception as error:  # it is raised at the other end
            answer = (False, error)
        _send(answers, answer)


if __name__ == "__main__":
    _main()
