"""Has several hosts make a load at the same time, and brings what they say home.

``hosts.json DIRECTORY fio JOB SOCKETS``: a server of fio on each host, which is reached through ``ssh`` alone and
ends with this program; fio begins on all of them at once and sums up. ``hosts.json DIRECTORY command FIGURES LOG
WORDS...``: the command on each host; its time is that until the last one has ended, and each figure has the name
of its host. What each host is, and what it printed, is in files under its name.
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
"""What is written down of each host: its system, its boot, its memory, and what is mounted there."""
_BEGIN: Final = (
    'trap exit HUP PIPE TERM; d=$1; shift; mkdir -p "$d" && cd "$d" || exit 1; '
    f'{{ {_KNOWN}; }} 2>&1; echo "fsbench ready"; '
)
_MEMORY: Final = "/dev/shm/fsbench-"  # noqa: S108 - nobody guesses what follows
"""The prefix of files that a host keeps in memory during a run, so that a loss of power leaves none behind."""
_COMMAND: Final = (
    f"t=$(mktemp -d {_MEMORY}XXXXXXXX) || exit 1; trap 'rm -r \"$t\"' EXIT; "
    'read _; "$@" >"$t/out" 2>"$t/err" </dev/null; echo "ended $?"; read _; sync; echo synced; '
    'wc -c <"$t/out"; cat "$t/out" "$t/err"'
)
"""What it prints stays there until it has ended: the network has nothing to do meanwhile."""
_SERVER: Final = (
    "trap 'kill $p; rm -f \"$1\"' EXIT; "
    'fio --server="sock:$1" >&2 & p=$!; until [ -S "$1" ]; do kill -0 $p || exit 1; sleep 0.1; done; '
    "echo serves; cat >/dev/null"
)
"""It ends when the connection does."""


class Peer:
    """A host that takes part."""

    def __init__(self, name: str, process: subprocess.Popen[bytes]) -> None:
        self.name = name
        self._process = process

    def hear(self, ending: str) -> list[str]:
        """Return the lines that it says, up to one that begins so."""
        said = []
        while line := self._pipe(self._process.stdout).readline():
            said.append(line.decode(errors="replace").rstrip("\n"))
            if said[-1].startswith(ending):
                return said
        raise SystemExit(f"{self.name}: the connection ended before it said: {ending}")

    def tell(self) -> None:
        """Let it go on."""
        pipe = self._pipe(self._process.stdin)
        pipe.write(b"\n")
        pipe.flush()

    def rest(self) -> bytes:
        """Return all that it says from here on."""
        return self._pipe(self._process.stdout).read()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            raise OSError("there is no connection")
        return pipe


@contextmanager
def _peer(name: str, text: str, script: str, words: list[str], forward: str | None) -> Iterator[Peer]:
    """Give a host on which a script has begun, and end the connection after."""
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
    """Have hosts do something together, and return the exit code."""
    named = json.loads(Path(hosts).read_text(encoding="utf-8"))
    place = Path(directory).resolve()
    with ExitStack() as stack:
        peers = []
        for name, text in named.items():
            forward, own, script = None, [str(place / name), *words[2:]], _COMMAND
            if kind == "fio":
                there = f"{_MEMORY}{uuid.uuid4().hex}.sock"
                here = f"/proc/{os.getpid()}/cwd/{words[1]}/{name}"  # a socket's path has to be a short one
                forward, own, script = f"{here}:{there}", [str(place / name), there], _SERVER
            peers.append(stack.enter_context(_peer(name, text, script, own, forward)))
        for peer, said in zip(peers, _all(peers, lambda peer: peer.hear("fsbench ready")), strict=True):
            Path(f"{peer.name}-host.txt").write_text("\n".join([*said[:-1], ""]), encoding="utf-8")
        if kind == "fio":
            _all(peers, lambda peer: peer.hear("serves"))
            return _fio(peers, place, *words)
        return _command(peers, *words)


def _all(peers: list[Peer], what: Callable[[Peer], T]) -> list[T]:
    with ThreadPoolExecutor(len(peers)) as threads:
        return list(threads.map(what, peers))


def _fio(peers: list[Peer], place: Path, job: str, sockets: str) -> int:
    """Have fio's servers begin, each with a job file in which its own directory stands."""
    text = Path(job).read_text(encoding="utf-8")
    command = ["fio", "--output-format=json+", f"--output={Path('fio.json').absolute()}"]
    for peer in peers:
        own = Path(f"{peer.name}-{job}").absolute()
        own.write_text(f"[global]\ndirectory={place / peer.name}\n{text}", encoding="utf-8")
        command += [f"--client=sock:{peer.name}", str(own)]
    return subprocess.run(command, cwd=sockets, stdin=subprocess.DEVNULL, check=False).returncode


def _command(peers: list[Peer], figures: str, log: str, *command: str) -> int:
    """Have all hosts begin, wait for all, have all sync, and write down what it took."""
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
        size, said = int(peer.hear("")[-1]), peer.rest()
        outputs = Path(f"{peer.name}-stdout.txt"), Path(f"{peer.name}-stderr.txt")
        for path, content in zip(outputs, (said[:size], said[size:]), strict=True):
            path.write_bytes(content)
        own = peer.name.lower().replace("-", "_").replace(".", "_")
        lines += [f"figure {name}_{own}: {figure}" for name, figure in found(wanted, *outputs)]
    lines += [f"elapsed: {elapsed:.6f} s, sync: {synced:.6f} s", f"exit code: {max(ended)}"]
    Path(log).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return max(ended)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
