"""Has several hosts generate load at the same time, and collects their output.

``hosts.json DIRECTORY fio JOB SOCKETS``: a fio server on each host, which is reachable only through ``ssh`` and
ends with this program; fio starts all of them at once and adds up their results. ``hosts.json DIRECTORY command
FIGURES LOG WORDS...``: the command on each host; its time ends when the last host is done, and each figure's name
includes its host. For each host, files under its name say what it is and what it printed.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypeVar

from fsbench_kit.data.ssh import SSH, host
from fsbench_kit.launch.workloads.command.__main__ import found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_KNOWN: Final = 'uname -snrm; cat /proc/sys/kernel/random/boot_id; grep MemTotal /proc/meminfo; findmnt -n -T "$d"'
"""Prints what is recorded of each host: its system, boot, memory, and the mount under the directory."""
_BEGIN: Final = (
    'trap exit HUP PIPE TERM; d=$1; shift; mkdir -p "$d" && cd "$d" || exit 1; '
    f'{{ {_KNOWN}; }} 2>&1; echo "fsbench ready"; '
)
_MEMORY: Final = "/dev/shm/fsbench-"  # noqa: S108 - nobody guesses what follows
"""Prefix of files that a host keeps in memory during a run, so that a power loss leaves none behind."""
_COMMAND: Final = (
    f"t=$(mktemp -d {_MEMORY}XXXXXXXX) || exit 1; trap 'rm -r \"$t\"' EXIT; "
    'read _; "$@" >"$t/out" 2>"$t/err" </dev/null; echo "ended $?"; read _; sync; echo synced; '
    'wc -c <"$t/out"; cat "$t/out" "$t/err"'
)
"""Output is buffered until the command ends, so that the network is idle meanwhile."""
_SERVER: Final = (
    "trap 'kill $p; rm -f \"$1\"' EXIT; "
    'fio --server="sock:$1" >&2 & p=$!; until [ -S "$1" ]; do kill -0 $p || exit 1; sleep 0.1; done; '
    "echo serves; cat >/dev/null"
)
"""The server ends when the connection does."""


class Peer:
    """A participating host."""

    def __init__(self, name: str, process: subprocess.Popen[bytes]) -> None:
        self.name = name
        self._process = process

    def hear(self, ending: str) -> list[str]:
        """Return the lines that the host prints, up to one with the given beginning."""
        heard = []
        while line := self._pipe(self._process.stdout).readline():
            heard.append(line.decode(errors="replace").rstrip("\n"))
            if heard[-1].startswith(ending):
                return heard
        raise SystemExit(f"{self.name}: the connection ended before this output: {ending}")

    def tell(self) -> None:
        """Tell the host to continue."""
        pipe = self._pipe(self._process.stdin)
        pipe.write(b"\n")
        pipe.flush()

    def rest(self) -> bytes:
        """Return the remaining output."""
        return self._pipe(self._process.stdout).read()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            raise OSError("there is no connection")
        return pipe


@contextmanager
def _peer(name: str, text: str, script: str, words: list[str], forward: str | None) -> Iterator[Peer]:
    """Yield a host on which a script has started, closing the connection afterwards."""
    options = ["-o", "ExitOnForwardFailure=yes", "-L", forward] if forward else []
    command = shlex.join(["sh", "-c", _BEGIN + script, "sh", *words])
    with subprocess.Popen(
        [*SSH, *options, host(text, name).destination, command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield Peer(name, process)
        finally:
            process.stdin.close() if process.stdin else None
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def main(hosts: str, directory: str, kind: str, *words: str) -> int:
    """Run the load on all hosts, and return the exit code."""
    named = json.loads(Path(hosts).read_text(encoding="utf-8"))
    place = Path(directory).resolve()
    with ExitStack() as stack:
        peers = []
        for name, text in named.items():
            forward, own, script = None, [str(place / name), *words[2:]], _COMMAND
            if kind == "fio":
                there = f"{_MEMORY}{uuid.uuid4().hex}.sock"
                here = f"/proc/{os.getpid()}/cwd/{words[1]}/{name}"  # paths of sockets must be short
                forward, own, script = f"{here}:{there}", [str(place / name), there], _SERVER
            peers.append(stack.enter_context(_peer(name, text, script, own, forward)))
        for peer, heard in zip(peers, _all(peers, lambda peer: peer.hear("fsbench ready")), strict=True):
            Path(f"{peer.name}-host.txt").write_text("\n".join([*heard[:-1], ""]), encoding="utf-8")
        if kind == "fio":
            _all(peers, lambda peer: peer.hear("serves"))
            return _fio(peers, place, *words)
        return _command(peers, *words)


def _all(peers: list[Peer], what: Callable[[Peer], T]) -> list[T]:
    with ThreadPoolExecutor(len(peers)) as threads:
        return list(threads.map(what, peers))


def _fio(peers: list[Peer], place: Path, job: str, sockets: str) -> int:
    """Start the load on all fio servers, each with a job file that names its own directory."""
    text = Path(job).read_text(encoding="utf-8")
    command = ["fio", "--output-format=json+", f"--output={Path('fio.json').absolute()}"]
    for peer in peers:
        own = Path(f"{peer.name}-{job}").absolute()
        own.write_text(f"[global]\ndirectory={place / peer.name}\n{text}", encoding="utf-8")
        command += [f"--client=sock:{peer.name}", str(own)]
    return subprocess.run(command, cwd=sockets, stdin=subprocess.DEVNULL, check=False).returncode


def _command(peers: list[Peer], figures: str, log: str, *command: str) -> int:
    """Start the command on all hosts, wait for all, sync all, and write down the times."""
    start = time.perf_counter()
    for peer in peers:
        peer.tell()
    ended = _all(peers, lambda peer: int(peer.hear("ended ")[-1].split()[1]))
    elapsed = time.perf_counter() - start
    for peer in peers:
        peer.tell()
    _all(peers, lambda peer: peer.hear("synced"))
    synced = time.perf_counter() - start - elapsed
    wanted = json.loads(Path(figures).read_text(encoding="utf-8"))
    lines = [f"fsbench command 1: {shlex.join(command)}".replace("\n", " ")]
    for peer in peers:
        size, output = int(peer.hear("")[-1]), peer.rest()
        outputs = Path(f"{peer.name}-stdout.txt"), Path(f"{peer.name}-stderr.txt")
        for path, content in zip(outputs, (output[:size], output[size:]), strict=True):
            path.write_bytes(content)
        own = peer.name.lower().replace("-", "_").replace(".", "_")
        lines += [f"figure {name}_{own}: {figure}" for name, figure in found(wanted, *outputs)]
    lines += [f"elapsed: {elapsed:.6f} s, sync: {synced:.6f} s", f"exit code: {max(ended)}"]
    Path(log).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return max(ended)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
