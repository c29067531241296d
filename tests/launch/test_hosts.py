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

import nbformat
import pytest
from distributed import LocalCluster
from nbformat import v4

import fsbench_kit as fsb
from fsbench_kit.data.ssh import AnyOf, Host, SshExecutor, read_hosts
from fsbench_kit.launch import hosts, remote
from fsbench_kit.launch.hosts import Worker
from fsbench_kit.launch.hosts_study import HostsStudy, find_hosts_study
from fsbench_kit.launch.plan import read_plan
from fsbench_kit.launch.remote import Block
from fsbench_kit.model.errors import InputError
from tests.command import fsbench
from tests.ports import free_port
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
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
SetEnv FSBENCH_LOCKS={folder}/locks HOME={folder}
"""


class Machine:
    """A stand-in for another machine: processes that end together, with a host name, a home and an sshd.

    In the home of whoever runs the tests, shells may start programs that must not be killed.
    """

    def __init__(self, folder: Path) -> None:
        (folder / "locks").mkdir(parents=True)
        self.folder = folder
        self.port = free_port()
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"], check=True)
        (folder / "sshd_config").write_text(CONFIG.format(port=self.port, folder=folder))
        own = ["--uts", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
        begin = ["sh", "-c", f"hostname {folder.name}; mount -t tmpfs memory /dev/shm; exec sleep 600"]
        self.power = subprocess.Popen(["unshare", *own, *begin], start_new_session=True)
        self._network: subprocess.Popen[bytes] | None = None

    def plug_in(self) -> None:
        """Let its sshd run."""
        first = wait_for(lambda: Path(f"/proc/{self.power.pid}/task/{self.power.pid}/children").read_text())
        wait_for(lambda: _host_name(first.strip()) == self.folder.name)
        into = ["nsenter", "--target", first.strip(), "--uts", "--pid", "--mount"]
        command = [*into, str(SSHD), "-D", "-e", "-f", str(self.folder / "sshd_config")]
        with (self.folder / "sshd.log").open("ab") as log:
            self._network = subprocess.Popen(command, stderr=log, start_new_session=True)
        wait_for(self._listens)

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

    def in_memory(self) -> list[Path]:
        """Return what runs hold in its memory."""
        children = Path(f"/proc/{self.power.pid}/task/{self.power.pid}/children").read_text()
        return list(Path(f"/proc/{children.strip()}/root/dev/shm").glob("fsbench-*"))

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False


def _host_name(process: str) -> str:
    into = ["nsenter", "--target", process, "--uts", "hostname"]
    return subprocess.run(into, capture_output=True, text=True, check=False).stdout.strip()


def _space(process: int, kind: str) -> str:
    return str(Path(f"/proc/{process}/ns/{kind}").readlink())


def _sockets() -> set[Path]:
    """Return what loads of fio may have left on this machine."""
    return {path for place in ("/tmp", "/dev/shm") for path in Path(place).glob("fsbench-*.sock")}


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
        wait_for(lambda: list(study.glob("b/*/run.json")))
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
        wait_for(lambda: len(list(study.glob("b/*/run.json"))) >= 2)
        machines["b"].lose_power()

    meanwhile = threading.Thread(target=die)
    meanwhile.start()
    result = fsbench(*LAUNCH, "--patience", "2", cwd=home)
    meanwhile.join()
    assert result.returncode == 1
    assert "b: it does not answer" in result.stderr
    assert "of the rounds that b lost" in result.stdout
    runs = fsb.read(study).runs
    of_b = runs.filter(host="b")
    assert 2 <= of_b.height < 6
    lost = 3 - min(of_b.filter(target=target).height for target in ("one", "two"))
    assert runs.filter(host="a").height == 6 + 2 * lost
    assert {path.name for path in study.iterdir()} == {"a", "b", "a-for-b", "hosts.toml"}
    refused = fsbench("launch", "--resume", study / "b", cwd=home)
    assert "this was launched on other hosts" in refused.stderr
    unfit = fsbench(*LAUNCH, "--replace", cwd=home)
    assert "launches on other hosts do not support --retry-failed, --replace or --device" in unfit.stderr


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
def test_an_interrupt_ends_the_launches_and_the_same_command_continues(
    machines: dict[str, Machine], tmp_path: Path
) -> None:
    home, study = tmp_path / "home", tmp_path / "home/raw_results/runs/fleet"
    command = [Path(sys.executable).with_name("fsbench"), *LAUNCH]
    with subprocess.Popen(command, cwd=home, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: list(study.glob("*/*/run.json")))
        second = fsbench(*LAUNCH, cwd=home)
        assert f"another launch is using the study {study} (process {process.pid} of " in second.stderr
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1].splitlines()
    assert process.returncode == 130
    interrupted, _, command = said[-1].partition(" To resume: fsbench ")
    assert interrupted == "Interrupted. The finished runs are kept."
    wait_for(lambda: not any(map(_launches, machines.values())))
    result = fsbench(*command.split(), cwd=home)
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


def _where(folder: Path) -> Path:
    """Write a report of one notebook, which says where it was run."""
    own = "import socket\nprint('made on', socket.gethostname())"
    cells = [v4.new_code_cell("", metadata={"tags": ["parameters"]}), v4.new_code_cell(own)]
    kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
    nbformat.write(v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "where.ipynb")
    spec = folder / "report.toml"
    spec.write_text(f'title = "Where"\n[[notebook]]\nname = "where"\nfile = "{folder}/where.ipynb"\n')
    return spec


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
def test_notebooks_are_run_on_other_hosts(machines: dict[str, Machine], tmp_path: Path) -> None:
    machines["a"].pull_plug()
    site, hosts_file = tmp_path / "site", tmp_path / "home" / "hosts.txt"
    result = fsbench("report", _where(tmp_path), "--to", site, "--ssh", hosts_file, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert "made on b" in (site / "notebooks" / "where.ipynb").read_text()
    assert (site / "where.html").is_file()


@pytest.mark.cluster
def test_the_workers_of_a_scheduler_run_notebooks_and_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local cluster stands in for one that a queue such as SLURM has started: each has an address."""
    monkeypatch.setenv("HOME", str(tmp_path / "there"))
    monkeypatch.setattr(hosts, "_PAUSE", 0.5)
    (tmp_path / "plan.toml").write_text(SHORT.replace("repeats = 1", "repeats = 2"))
    launch = ("launch", "plan.toml", "--study", "fleet")
    runs = tmp_path / "raw_results/runs/fleet/127.0.0.1"
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        to = ("--scheduler", cluster.scheduler_address)
        made = fsbench("report", _where(tmp_path), "--to", tmp_path / "site", *to, cwd=ROOT)
        assert made.returncode == 0, made.stderr
        assert "made on" in (tmp_path / "site" / "notebooks" / "where.ipynb").read_text()
        checked = fsbench(*launch, "--check", *to, cwd=tmp_path)
        assert "127.0.0.1: All 2 combinations of a target and a workload work." in checked.stdout, checked.stderr

        def lose() -> None:
            wait_for(lambda: list(runs.glob("*/run.json")))
            cluster.scale(0)
            wait_for(lambda: not cluster.workers)
            cluster.scale(1)

        meanwhile = threading.Thread(target=lose)
        meanwhile.start()
        result = fsbench(*launch, *to, cwd=tmp_path)
        meanwhile.join()
        shutil.rmtree(next(runs.glob("*/run.json")).parent)
        unnamed = fsbench("launch", "--resume", cwd=tmp_path)
        assert "the hosts of fleet came from a scheduler" in unnamed.stderr
        assert "fsbench launch --resume raw_results/runs/fleet --scheduler ADDRESS" in unnamed.stderr
        resumed = fsbench("launch", "--resume", *to, cwd=tmp_path)
        assert "4 of 4 runs are in" in resumed.stdout, resumed.stderr
    assert result.returncode == 0, result.stdout + result.stderr
    assert "4 of 4 runs are in" in result.stdout
    assert fsb.read(runs.parent).runs.height == 4
    assert len(list((tmp_path / "there/fsbench-launches/fleet/127.0.0.1").glob("*/run.json"))) == 4
    for path in runs.glob("*/run.json"):
        _assert_hashed(path.parent)
    (tmp_path / "plan.toml").write_text('hosts = ["node1"]\n' + SHORT)
    refused = fsbench(*launch, "--scheduler", "tcp://node1:8786", cwd=tmp_path)
    assert "the plan names its hosts" in refused.stderr


def test_a_launch_of_which_a_scheduler_gave_no_host_yet_is_unfinished(tmp_path: Path) -> None:
    study = tmp_path / "raw_results/runs/fleet"
    study.mkdir(parents=True)
    (study / "hosts.toml").write_text(SHORT)
    unnamed = fsbench("launch", "--resume", cwd=tmp_path)
    assert "the hosts of fleet came from a scheduler" in unnamed.stderr


def test_hosts_that_a_scheduler_gave_are_those_of_which_something_is_here(tmp_path: Path) -> None:
    (tmp_path / "fleet").mkdir()
    (tmp_path / "fleet" / "hosts.toml").write_text(SHORT)
    for name in ("node1", "node2", "node1-for-node3"):
        (tmp_path / "fleet" / name).mkdir()
        (tmp_path / "fleet" / name / "plan.toml").write_text(SHORT)
    found = find_hosts_study(tmp_path, None)
    assert found is not None
    assert found.hosts == ["node1", "node2"]
    assert [part.host for part in found.parts if found.missing_rounds(part)] == ["node1", "node2"]


TOGETHER = """
id = "shared"
repeats = 1
timeout = 30
drop_caches = false
[[target]]
kind = "directory"
directory = "."
"""


def _together(workload: str, machines: dict[str, Machine]) -> str:
    return TOGETHER + "[[workload]]\n" + workload + "".join(f'hosts.{name} = "{name}"\n' for name in machines)


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
def test_hosts_make_a_load_of_fio_together(
    machines: dict[str, Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, study = tmp_path / "home", tmp_path / "home/raw_results/runs/shared"
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    load = 'tool = "fio"\nrw = "randwrite"\nbs = "4k"\nsize = "4M"\nruntime = 5\ntime_based = true\n'
    (home / "plan.toml").write_text(_together(load, machines))
    before = _sockets()
    made = fsbench("launch", "plan.toml", "--study", "shared", cwd=home)
    assert made.returncode == 0, made.stdout + made.stderr
    (run,) = study.glob("*/run.json")
    report = (run.parent / "fio.json").read_text()
    *clients, whole = json.loads(report[report.index("{") :])["client_stats"]
    done = {f"{client['hostname']}/fio": client["write"]["total_ios"] for client in clients}
    data = fsb.read(study)
    assert data.runs["status"].to_list() == ["ok"]
    found = data.measurements.filter(metric="operations", operation="write", primary=True)
    assert dict(found.filter(scope="client").select("part", "value").rows()) == done
    assert found.filter(scope="all")["value"].to_list() == [whole["write"]["total_ios"]] == [sum(done.values())]
    assert set(done) == {"a/fio", "b/fio"}
    for name in machines:
        assert (run.parent / f"{name}-host.txt").read_text().split()[1] == name
    _assert_hashed(run.parent)
    for machine in machines.values():
        wait_for(lambda machine=machine: not machine.in_memory())
    assert _sockets() <= before

    def die() -> None:
        wait_for(lambda: list(home.glob("**/b/*.0.0")))
        assert machines["b"].in_memory()
        machines["b"].lose_power()

    dies = threading.Thread(target=die)
    dies.start()
    failed = fsbench("launch", "plan.toml", "--study", "broken", cwd=home)
    dies.join()
    assert failed.returncode == 1
    (run,) = study.with_name("broken").glob("*/run.json")
    assert json.loads(run.read_text())["status"] in {"failed", "partial"}
    assert (run.parent / "b-host.txt").is_file()
    assert _sockets() <= before  # that of b went with it
    machines.pop("b")
    slow = load.replace("runtime = 5\ntime_based = true", "options = { rate_iops = 50 }")
    (home / "plan.toml").write_text(_together(slow, machines).replace("timeout = 30", "timeout = 3"))
    late = fsbench("launch", "plan.toml", "--study", "late", cwd=home)
    assert "did not finish within 3 s" in late.stdout + late.stderr
    wait_for(lambda: not machines["a"].in_memory())
    assert list(temporary.iterdir()) == []


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
def test_hosts_begin_a_command_together(machines: dict[str, Machine], tmp_path: Path) -> None:
    home, study = tmp_path / "home", tmp_path / "home/raw_results/runs/shared"
    script = "date +began=%s.%N; touch $(hostname); sleep 1; echo made 12.5; test ! -e ../fails"
    load = f'tool = "command"\ncommand = ["sh", "-c", "{script}"]\n'
    figures = "figures.made = { pattern = 'made ([0-9.]+)', unit = \"1/s\" }\n"
    figures += "figures.began = { pattern = 'began=([0-9.]+)', unit = \"s\" }\n"
    (home / "plan.toml").write_text(_together(load + figures, machines))
    made = fsbench("launch", "plan.toml", "--study", "shared", cwd=home)
    assert made.returncode == 0, made.stdout + made.stderr
    data = fsb.read(study)
    assert data.runs["status"].to_list() == ["ok"]
    found = {(row["operation"], row["metric"]): row["value"] for row in data.measurements.iter_rows(named=True)}
    assert found["made_a", "rate"] == found["made_b", "rate"] == 12.5
    assert abs(found["began_a", "elapsed"] - found["began_b", "elapsed"]) < 0.5
    assert 1 <= found["command", "elapsed"] < 10
    (run,) = study.glob("*/run.json")
    assert "made 12.5" in (run.parent / "b-stdout.txt").read_text()
    _assert_hashed(run.parent)
    refused = fsbench("launch", "plan.toml", "--ssh", "hosts.txt", cwd=home)
    assert 'workload "sh" has hosts of its own' in refused.stderr


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
    neighbour.submit(remote.begin, block, SHORT, "fleet").result()
    wait_for(lambda: not neighbour.submit(remote.poll, block, ()).result().is_running)
    seen = neighbour.submit(remote.poll, block, ()).result()
    assert (seen.exit_code, len(seen.runs)) == (0, 2), seen.output
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
        assert result.stopped == "b: it does not answer (gone); its launch continues"
    assert not HostsStudy(tmp_path / "fleet", read_plan(tmp_path / "plan.toml"), ["a", "b"]).unfinished


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
def test_a_plan_names_its_hosts(machines: dict[str, Machine], tmp_path: Path) -> None:
    home, study = tmp_path / "home", tmp_path / "home/raw_results/runs/fleet"
    lines = (home / "hosts.txt").read_text().splitlines()[1:]
    table = "".join(f'hosts.{name} = "{line}"\n' for name, line in zip(("left", "right"), lines, strict=True))
    (home / "plan.toml").write_text(table + SHORT)
    launch = ("launch", "plan.toml", "--study", "fleet")
    twice = fsbench(*launch, "--ssh", "hosts.txt", cwd=home)
    assert "the plan names its hosts" in twice.stderr
    previewed = fsbench(*launch, "--dry-run", "--commands", cwd=home)
    assert previewed.returncode == 0, previewed.stderr
    assert (
        previewed.stdout.count("# ")
        > previewed.stdout.count("On left:")
        == previewed.stdout.count("On right:")
        == 1
    )
    checked = fsbench(*launch, "--check", cwd=home)
    assert checked.returncode == 0, checked.stderr
    for host in ("left", "right"):
        assert f"{host}: All 2 combinations of a target and a workload work." in checked.stdout
    left = {str(path) for machine in machines.values() for path in (machine.folder / "work").rglob("*")}
    assert not [path for path in left if "scratch" not in path]
    assert not study.exists()
    machines["b"].pull_plug()
    missing = fsbench(*launch, "--check", cwd=home)
    assert (missing.returncode, "right: it does not answer" in missing.stderr) == (1, True)
    machines["b"].plug_in()
    result = fsbench(*launch, cwd=home)
    assert result.returncode == 0, result.stderr
    assert "4 of 4 runs are in" in result.stdout
    runs = fsb.read(study).runs
    assert runs.group_by("host").len().sort("host").rows() == [("a", 2), ("b", 2)]
    assert {path.parent.name for path in study.glob("*/plan.toml")} == {"left", "right"}
    assert "hosts" not in (study / "left" / "plan.toml").read_text()
    assert "nothing to resume" in fsbench("launch", "--resume", cwd=home).stderr
    shutil.rmtree(next(study.glob("right/001*")))
    resumed = fsbench("launch", "--resume", cwd=home)
    assert "4 runs in raw_results/runs/fleet; 3 of them exist already" in resumed.stdout, resumed.stderr
    assert fsb.read(study).runs.height == 4


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
@pytest.mark.usefixtures("machines")
def test_the_blocks_of_a_campaign_are_made_on_hosts(tmp_path: Path) -> None:
    home, campaign = tmp_path / "home", tmp_path / "home/raw_results/runs/fleet"
    (home / "plan.toml").write_text('campaign.bios = ["fast", "quiet"]\n' + SHORT)
    begin = ("launch", "plan.toml", "--campaign", "fleet", "--ssh", "hosts.txt")
    unnamed = fsbench(*LAUNCH, cwd=home)
    assert "Name the campaign" in unnamed.stderr
    said = fsbench(*begin, "--dry-run", cwd=home).stdout
    assert "On b:" in said
    for number in (1, 2):
        level = said.partition("Next: bios=")[2].partition(".\n")[0]
        words = begin if number == 1 else ("launch", "--campaign", "fleet")
        made = fsbench(*words, "--as", f"bios={level}", cwd=home)
        assert made.returncode == 0, made.stderr
        said = made.stdout
    assert "Campaign fleet: 2 blocks in " in said
    assert "1 of bios=fast, 1 of bios=quiet." in said
    runs = fsb.read(campaign).runs
    assert runs.group_by("host", "study").len().sort("host").rows() == [("a", "fleet", 4), ("b", "fleet", 4)]
    found = fsb.compare(fsb.read(campaign), "bios", metrics=["file_rate"])
    assert set(found["n_baseline"]) == {4}
    shutil.rmtree(next(campaign.glob("001-*/b/001*")))
    refused = fsbench("launch", "--campaign", "fleet", cwd=home)
    assert "is unfinished\nResume it: fsbench launch --campaign fleet --resume" in refused.stderr
    resumed = fsbench("launch", "--campaign", "fleet", "--resume", cwd=home)
    assert resumed.returncode == 0, resumed.stderr
    assert "4 of 4 runs are in" in resumed.stdout
    assert fsb.read(campaign).runs.height == 8


@pytest.mark.cluster
@pytest.mark.root
@needs_hosts
@pytest.mark.usefixtures("machines")
def test_what_a_host_makes_of_a_plan_is_judged_there(tmp_path: Path) -> None:
    """As far as here and there differ: a program that is in the plan's path here alone, and says no."""
    home = tmp_path / "home"
    fio = tmp_path / "bin" / "fio"
    fio.write_text("#!/bin/sh\necho no such option >&2\nexit 1\n")
    fio.chmod(0o755)
    workload = '[[workload]]\ntool = "fio"\nrw = "read"\nbs = "4k"\nsize = "1M"\n'
    (home / "plan.toml").write_text(SHORT.partition("[[workload]]")[0] + workload)
    assert "no such option" in fsbench("launch", "plan.toml", "--check", cwd=home).stderr
    there = fsbench(*LAUNCH, "--check", cwd=home)
    assert there.returncode == 0, there.stderr
    assert fsbench(*LAUNCH, cwd=home).returncode == 0
    small = '[[workload]]\ntool = "bonnie++"\nsize = "1M"\n'
    (home / "plan.toml").write_text(SHORT.partition("[[workload]]")[0] + small)
    refused = fsbench(*LAUNCH, "--check", cwd=home)
    assert "a: bonnie++ refuses a file of 1 MiB with " in refused.stderr


def test_hosts_are_named_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "hosts.txt"
    file.write_text("# racks\nme@node1\nssh://node2:2222 /opt/python /mnt/work  # a disk of its own\n")
    first, second = read_hosts(file)
    assert first == Host("node1", "me@node1")
    assert second == Host("node2-2222", "ssh://node2:2222", "/opt/python", "/mnt/work")
    file.write_text("node3 ~/fsb/bin/python ~\n")
    assert read_hosts(file) == [Host("node3", "node3", "fsb/bin/python", ".")]
    for text, what in (
        ("", "this names no host"),
        ("node1 ~other/bin/python", "hosts.txt:1: this names no host"),
        ("me@", "hosts.txt:1: this names no host"),
        ("a\n-oProxyCommand=sh\n", "hosts.txt:2: this names no host\n    -oProxyCommand=sh"),
        ("a\nyou@a\n", 'hosts.txt:2: a host "a" is listed above'),
    ):
        file.write_text(text)
        with pytest.raises(InputError) as caught:
            read_hosts(file)
        assert what in str(caught.value)
