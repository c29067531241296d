"""Launches on several hosts: namespaces with a name and an sshd of their own, reached over loopback."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fsbench_kit as fsb
from fsbench_kit.data.ssh import AnyOf, Host, SshExecutor, read_hosts
from fsbench_kit.launch import hosts, remote
from fsbench_kit.launch.hosts import Worker
from fsbench_kit.launch.plan import read_plan
from fsbench_kit.launch.remote import Block
from fsbench_kit.model.errors import InputError
from tests.command import fsbench

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
needs_hosts = pytest.mark.skipif(SSHD is None or os.getuid() != 0, reason="needs sshd and root")

PLAN = """
id = "fleet"
repeats = 3
drop_caches = false
[[target]]
kind = "directory"
name = "one"
directory = "."
[[target]]
kind = "directory"
name = "two"
directory = "."
[[workload]]
tool = "smallfiles"
files = 20
size = "4k"
before = [["sleep", "1"]]
"""
SHORT = PLAN.replace("repeats = 3", "repeats = 1").replace("before =", "# before =")
CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/key
AuthorizedKeysFile {folder}/key.pub
StrictModes no
UsePAM no
PidFile none
SetEnv FSBENCH_LOCKS={folder}/locks
"""


class Machine:
    """A stand-in for another machine: processes that end together, with a host name and an sshd."""

    def __init__(self, folder: Path) -> None:
        (folder / "locks").mkdir(parents=True)
        self.folder = folder
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"], check=True)
        (folder / "sshd_config").write_text(CONFIG.format(port=self.port, folder=folder))
        own = ["--uts", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
        begin = ["sh", "-c", f"hostname {folder.name}; exec sleep 600"]
        self.power = subprocess.Popen(["unshare", *own, *begin], start_new_session=True)
        self._network: subprocess.Popen[bytes] | None = None

    def plug_in(self) -> None:
        """Let its sshd run."""
        first = _wait_for(lambda: Path(f"/proc/{self.power.pid}/task/{self.power.pid}/children").read_text())
        _wait_for(lambda: _host_name(first.strip()) == self.folder.name)
        into = ["nsenter", "--target", first.strip(), "--uts", "--pid", "--mount"]
        command = [*into, str(SSHD), "-D", "-e", "-f", str(self.folder / "sshd_config")]
        with (self.folder / "sshd.log").open("ab") as log:
            self._network = subprocess.Popen(command, stderr=log, start_new_session=True)
        _wait_for(self._listens)

    def pull_plug(self) -> None:
        """End its connections, and let none in; what runs there goes on."""
        if self._network is not None:
            own = _space(self.power.pid, "pid_for_children")
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):
                    if (process / "comm").read_text() == "sshd\n" and _space(int(process.name), "pid") == own:
                        os.kill(int(process.name), signal.SIGKILL)
            self._network.kill()
            self._network.wait()

    def lose_power(self) -> None:
        """End all that runs there."""
        self.power.kill()
        self.power.wait()
        if self._network is not None:
            self._network.kill()
            self._network.wait()

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False


def _host_name(process: str) -> str:
    into = ["nsenter", "--target", process, "--uts", "hostname"]
    return subprocess.run(into, capture_output=True, text=True, check=False).stdout.strip()


def _space(process: int, kind: str) -> str:
    return str(Path(f"/proc/{process}/ns/{kind}").readlink())


def _wait_for(what: Callable[[], Any]) -> Any:
    until = time.monotonic() + 60
    while not (found := what()):
        assert time.monotonic() < until
        time.sleep(0.05)
    return found


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Machine]]:
    """Two machines, a and b, that ``hosts.txt`` names and ``ssh`` knows."""
    if not Path("/run/sshd").exists():
        Path("/run/sshd").mkdir(mode=0o755)
    with ExitStack() as stack:
        found = {name: stack.enter_context(_machine(tmp_path / "machines" / name)) for name in ("a", "b")}
        config = "".join(
            f"Host {name}\n HostName 127.0.0.1\n Port {machine.port}\n IdentityFile {machine.folder}/key\n"
            for name, machine in found.items()
        )
        known = "Host *\n IdentitiesOnly yes\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n"
        known += " LogLevel ERROR\n"
        (tmp_path / "ssh_config").write_text(config + known)
        ssh = tmp_path / "bin" / "ssh"
        ssh.parent.mkdir()
        ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/ssh_config "$@"\n')
        ssh.chmod(0o755)
        monkeypatch.setattr(hosts, "_PAUSE", 0.5)
        monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "plan.toml").write_text(PLAN)
        lines = [f"{name} {sys.executable} {machine.folder}/work\n" for name, machine in found.items()]
        (tmp_path / "home" / "hosts.txt").write_text("# two of them\n" + "".join(lines))
        yield found


@contextmanager
def _machine(folder: Path) -> Iterator[Machine]:
    machine = Machine(folder)
    try:
        machine.plug_in()
        yield machine
    finally:
        machine.lose_power()


LAUNCH = ("launch", "plan.toml", "--ssh", "hosts.txt", "--study", "fleet")


def _assert_hashed(run: Path) -> None:
    for name, digest in json.loads((run / "run.json").read_text())["sha256"].items():
        assert hashlib.sha256((run / name).read_bytes()).hexdigest() == digest


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
def test_a_connection_is_cut_and_the_launch_goes_on(machines: dict[str, Machine], tmp_path: Path) -> None:
    home, study = tmp_path / "home", tmp_path / "home/raw_results/runs/fleet"

    def cut() -> None:
        _wait_for(lambda: list(study.glob("b/*/run.json")))
        machines["b"].pull_plug()
        time.sleep(4)  # in which it makes runs that nobody asks for
        machines["b"].plug_in()

    meanwhile = threading.Thread(target=cut)
    meanwhile.start()
    result = fsbench(*LAUNCH, cwd=home)
    meanwhile.join()
    assert result.returncode == 0, result.stdout + result.stderr
    assert "b does not answer" in result.stdout
    assert "12 of 12 runs are in" in result.stdout
    data = fsb.read(study)
    counts = data.runs.group_by("host", "target").len().sort("host", "target").rows()
    assert counts == [("a", "one", 3), ("a", "two", 3), ("b", "one", 3), ("b", "two", 3)]
    assert data.runs["study"].unique().to_list() == ["fleet"]
    assert data.diagnostics.filter(code="CHANGED_SINCE_RECORDED").is_empty()
    for run in study.glob("*/*/run.json"):
        _assert_hashed(run.parent)
    orders = {host: [p.name[4:7] for p in sorted(study.glob(f"{host}/0*"))] for host in ("a", "b")}
    assert orders["a"] != orders["b"]
    found = fsb.compare(data, "target", metrics=["file_rate"])
    assert found["n_baseline"].to_list() == [6] * found.height
    again = fsbench(*LAUNCH, cwd=home)
    assert again.returncode == 0
    assert "12 runs in raw_results/runs/fleet; 12 of them exist already" in again.stdout


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
def test_a_host_dies_and_its_rounds_are_made_on_the_other(machines: dict[str, Machine], tmp_path: Path) -> None:
    home, study = tmp_path / "home", tmp_path / "home/raw_results/runs/fleet"

    def die() -> None:
        _wait_for(lambda: len(list(study.glob("b/*/run.json"))) >= 2)
        machines["b"].lose_power()

    meanwhile = threading.Thread(target=die)
    meanwhile.start()
    result = fsbench(*LAUNCH, "--patience", "2", cwd=home)
    meanwhile.join()
    assert result.returncode == 1
    assert "b: it does not answer" in result.stderr
    assert "of the rounds that b has lost" in result.stdout
    runs = fsb.read(study).runs
    of_b = runs.filter(host="b")
    assert 2 <= of_b.height < 6
    lost = 3 - min(of_b.filter(target=target).height for target in ("one", "two"))
    assert runs.filter(host="a").height == 6 + 2 * lost
    assert {path.name for path in study.iterdir()} == {"a", "b", "a-for-b", "hosts.toml"}
    refused = fsbench("launch", "--resume", study / "b", cwd=home)
    assert "this was launched on other hosts" in refused.stderr
    unfit = fsbench(*LAUNCH, "--check", cwd=home)
    assert "--ssh takes a plan, --study, --patience and --to" in unfit.stderr


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
def test_an_interrupt_ends_the_launches_and_the_same_command_continues(
    machines: dict[str, Machine], tmp_path: Path
) -> None:
    home, study = tmp_path / "home", tmp_path / "home/raw_results/runs/fleet"
    command = [Path(sys.executable).with_name("fsbench"), *LAUNCH]
    with subprocess.Popen(command, cwd=home, stderr=subprocess.PIPE, text=True) as process:
        _wait_for(lambda: list(study.glob("*/*/run.json")))
        process.send_signal(signal.SIGINT)
        assert process.communicate()[1].startswith("Interrupted. The finished runs are kept.")
    assert process.returncode == 130
    _wait_for(lambda: not any(map(_launches, machines.values())))
    result = fsbench(*LAUNCH, cwd=home)
    assert result.returncode == 0, result.stderr
    assert "12 of 12 runs are in" in result.stdout
    assert fsb.read(study).runs.height == 12


def _launches(machine: Machine) -> list[Path]:
    """Return the launches that go on there."""
    held = (
        Path("/proc/locks").read_text().split(f":{path.stat().st_ino} ")[1:]
        for path in machine.folder.glob("work/fleet/.*.lock")
    )
    return [machine.folder for one in held if one]


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
def test_logs_are_read_on_other_hosts(machines: dict[str, Machine], tmp_path: Path, published: Path) -> None:
    machines["a"].pull_plug()  # its work is done by the other one
    study = published / "sysbench-rhel72"
    result = fsbench("read", study, "--to", tmp_path / "frames", "--ssh", tmp_path / "home" / "hosts.txt")
    assert result.returncode == 0, result.stderr
    assert fsb.read(tmp_path / "frames").runs.equals(fsb.read(study).runs)


class Gone(Executor):
    """A host that does not answer."""

    def submit(self, _: Callable[..., Any], /, *__: Any, **___: Any) -> Future[Any]:
        """Say so, after a moment."""
        time.sleep(0.05)
        answer: Future[Any] = Future()
        answer.set_exception(BrokenExecutor("gone"))
        return answer


def test_no_call_waits_for_hosts_that_are_all_gone() -> None:
    executor = AnyOf({name: Gone() for name in "abc"})
    calls = [executor.submit(len, "") for _ in range(5)]
    ended, waiting = wait(calls, timeout=10)
    executor.shutdown(wait=not waiting)
    assert not waiting
    assert {str(call.exception()) for call in ended} == {"gone"}


@pytest.fixture
def neighbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Executor]:
    """A host that is this one: its ``ssh`` is a shell, which greets."""
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text('#!/bin/sh\nprintf "Welcome!\\n> "\nfor command; do :; done\nexec sh -c "$command"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(hosts, "_PAUSE", 0.5)
    with SshExecutor(Host("a", "a")) as executor:
        yield executor


def test_a_launch_for_another_host_ends_as_any_other(neighbour: Executor, tmp_path: Path) -> None:
    block = Block(str(tmp_path), "fleet", "a")
    neighbour.submit(remote.begin, block, SHORT).result()
    _wait_for(lambda: not neighbour.submit(remote.look, block, ()).result().is_running)
    seen = neighbour.submit(remote.look, block, ()).result()
    assert (seen.exit_code, len(seen.runs)) == (0, 2), seen.said
    assert {json.loads(run["run.json"])["study"] for run in seen.runs.values()} == {"fleet"}


@pytest.mark.slow
def test_what_was_made_for_a_lost_host_is_not_made_again(neighbour: Executor, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(SHORT)
    fleet = {"a": Worker(neighbour, str(tmp_path / "work")), "b": Worker(Gone(), "work")}
    for done, made in ((0, 4), (4, 0)):
        result = hosts.launch_on(
            read_plan(tmp_path / "plan.toml"), fleet, root=tmp_path, to=tmp_path, study="fleet", patience=0
        )
        assert (result.planned, result.done, len(result.runs)) == (6, done, made)
        assert result.stopped == "b: it does not answer (gone); what runs there goes on"


def test_hosts_are_named_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "hosts.txt"
    file.write_text("# racks\nme@node1\nssh://node2:2222 /opt/python /mnt/work  # a disk of its own\n")
    first, second = read_hosts(file)
    assert first == Host("node1", "me@node1")
    assert second == Host("node2-2222", "ssh://node2:2222", "/opt/python", "/mnt/work")
    for text, what in (
        ("", "this names no host"),
        ("a\n-oProxyCommand=sh\n", "hosts.txt:2: this names no host\n    -oProxyCommand=sh"),
        ("a\nyou@a\n", 'hosts.txt:2: a host "a" stands above'),
    ):
        file.write_text(text)
        with pytest.raises(InputError) as caught:
            read_hosts(file)
        assert what in str(caught.value)
