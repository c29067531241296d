"""Launches through a real SLURM of the test's own, whose only node is this machine."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import socket
import subprocess
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import dask
import dask_jobqueue  # noqa: F401 - its defaults come first
import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import hosts
from tests.command import fsbench
from tests.ports import free_port
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

MANUAL = Path(__file__).parents[2] / "docs" / "launching.md"
DAEMONS: Final = [shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("slurmctld", "slurmd")]
CONFIG = """\
ClusterName=fsbench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
KillWait=2
NodeName={node} NodeAddr=127.0.0.1 RealMemory=9000
PartitionName=all Nodes=ALL Default=YES State=UP
"""
PLAN = """
id = "nightly"
repeats = 4
drop_caches = false
[[target]]
kind = "directory"
directory = "{folder}"
[[workload]]
tool = "smallfiles"
files = 20
size = "4k"
before = [["sleep", "1"]]
"""


def _ask(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A SLURM that gives this machine to one job at a time."""
    folder = tmp_path / "slurm"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    ports = [free_port(), free_port()]
    names = {"host": socket.gethostname(), "node": socket.gethostname().partition(".")[0]}
    config = folder / "slurm.conf"
    config.write_text(CONFIG.format(folder=folder, ports=ports, user=getpass.getuser(), **names))
    monkeypatch.setenv("SLURM_CONF", str(config))
    with ExitStack() as stack:
        for daemon in DAEMONS:
            with (folder / f"{Path(str(daemon)).name}.log").open("w") as log:
                process = stack.enter_context(subprocess.Popen([str(daemon), "-D"], stdout=log, stderr=log))
            stack.callback(process.terminate)
        wait_for(lambda: _ask("sinfo", "--noheader", "--format=%t") == "idle")
        yield
        _ask("scancel", "--user", getpass.getuser())
        wait_for(lambda: not _ask("squeue", "--noheader"))


@pytest.mark.cluster
@pytest.mark.skipif(None in DAEMONS, reason="needs slurmctld and slurmd")
@pytest.mark.usefixtures("slurm")
def test_the_hosts_that_slurm_gives_make_a_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the manual has it: of the four jobs one runs, and when it is cancelled the next one takes its place."""
    monkeypatch.setenv("HOME", str(tmp_path / "there"))
    monkeypatch.setattr(hosts, "_PAUSE", 0.5)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disk").mkdir()
    Path("plan.toml").write_text(PLAN.format(folder=tmp_path / "disk"))
    manual = re.search(r"```python\n(from dask_jobqueue.*?)```", MANUAL.read_text(), re.DOTALL)
    assert manual is not None
    told: dict[str, Any] = {}
    here = {"interface": "lo", "log-directory": str(tmp_path), "scheduler-options": {"dashboard_address": ":0"}}
    with dask.config.set({f"jobqueue.slurm.{key}": value for key, value in here.items()}), ExitStack() as stack:
        exec(manual[1], told)  # noqa: S102 - the manual's own lines
        cluster = stack.enter_context(told["cluster"])
        to = ("--scheduler", cluster.scheduler_address)
        launch = ("launch", "plan.toml", "--study", "nightly", *to)
        cluster.wait_for_workers(1, timeout=60)
        previewed = fsbench(*launch, "--dry-run")
        assert "On 127.0.0.1:" in previewed.stdout, previewed.stderr
        checked = fsbench(*launch, "--check")
        assert "127.0.0.1: The combination of a target and a workload works." in checked.stdout, (
            checked.stdout + checked.stderr
        )
        runs = tmp_path / "raw_results/runs/nightly/127.0.0.1"

        def cancel() -> None:
            wait_for(lambda: list(runs.glob("*/run.json")))
            _ask("scancel", "--state=RUNNING", "--user", getpass.getuser())

        meanwhile = threading.Thread(target=cancel)
        meanwhile.start()
        made = fsbench(*launch)
        meanwhile.join()
        assert made.returncode == 0, made.stdout + made.stderr
        assert "4 of 4 runs are in" in made.stdout
        assert "127.0.0.1 does not answer" in made.stdout
        shutil.rmtree(next(runs.glob("*/run.json")).parent)
        resumed = fsbench("launch", "--resume", *to)
        assert "4 of 4 runs are in" in resumed.stdout, resumed.stderr
        read = fsbench("read", runs, "--to", tmp_path / "frames", *to)
        assert read.returncode == 0, read.stderr
    assert fsb.read(tmp_path / "frames").runs.equals(fsb.read(runs.parent).runs)
