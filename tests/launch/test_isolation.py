"""Loop images, and what is left when a launch is ended in the middle of a run: nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psutil
import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import Plan, launch, launcher, resume, tools, zfs
from fsbench_kit.launch.schedule import schedule
from fsbench_kit.model.vocabulary import SETTINGS
from tests.launch.traces import RUNS, assert_no_traces, eventually, record, scratch_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def has(program: str) -> bool:
    return tools.find_program(program) is not None


def loop(filesystem: str) -> dict[str, object]:
    return {"kind": "loop", "name": filesystem, "filesystem": filesystem, "size": "512M"}


SPARSE = {"allocation": "sparse"}


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts and processes of its own")
class TestLoopImages:
    @pytest.mark.parametrize("filesystem", ["ext2", "ext3", "ext4", "xfs", "btrfs"])
    def test_runs_on_a_fresh_filesystem(
        self, tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], filesystem: str
    ) -> None:
        if not has(f"mkfs.{filesystem}") or filesystem not in tools.kernel_filesystems():
            pytest.skip(f"this machine has no {filesystem}")
        small = {"tool": "smallfiles", "name": "small", "files": 100, "size": "4k"}
        random = {**fio, "optional": True, "direct": True, "ioengine": "psync"}
        plan = make_plan(target=[loop(filesystem)], workload=[small, random], repeats=1)
        result = launch(plan, root=tmp_path, study="first")
        assert result.failures == {}
        assert_no_traces(tmp_path)
        assert scratch_folders(tmp_path) == []
        found = {record(run)["tool"]: record(run) for run in result.runs}
        assert found.keys() == ({"smallfiles", "fio"} if has("fio") else {"smallfiles"})
        for run in found.values():
            assert run["filesystem"] == filesystem
            assert run["settings"].keys() <= SETTINGS.keys()
            assert run["settings"]["device"].startswith("loop image (")
            provision = [step["argv"][0] for step in run["provision"]]
            assert provision == ["fallocate", f"mkfs.{filesystem}", "mount", "losetup", "umount"]
            assert f" - {filesystem} /dev/loop" in run["environment"]["before"]["mount"]
        if has("fio"):
            self.assert_bytes_reached_both_devices(found["fio"])

    def test_allocation_of_an_image(
        self,
        tmp_path: Path,
        make_plan: Callable[..., Plan],
        fake_fio: Callable[[str], Path],
        fio: dict[str, object],
    ) -> None:
        """It is what the plan says while a run goes on, and sets runs apart."""
        fake_fio(
            'image=$(realpath target/../image); filefrag -v $image > "$OUT/$(basename ${image%/image})"; '
            "echo {} > fio.json".replace("$OUT", str(tmp_path))
        )
        size = 128 * 2**20
        names = ("unwritten", "written", "sparse")
        targets = [{**loop("ext4"), "name": name, "allocation": name, "size": size} for name in names]
        small = {"tool": "smallfiles", "name": "small", "files": 10, "size": "4k"}
        result = launch(make_plan(target=targets, workload=[fio, small], repeats=1), root=tmp_path)
        shares = {}
        for name in names:
            text = (tmp_path / f"target-{name}").read_text()
            rows = [row.split(":") for row in text.splitlines() if row.strip()[:1].isdigit()]
            unwritten = [int(row[3]) * 4096 for row in rows if "unwritten" in row[-1]]
            shares[name] = sum(int(row[3]) * 4096 for row in rows) / size, sum(unwritten) / size
        assert shares["unwritten"] == (1, pytest.approx(1, abs=0.2))
        assert shares["written"] == (1, pytest.approx(0, abs=0.2))  # mkfs has its own ways to zero a journal
        assert shares["sparse"][0] < 0.2

        settings = [record(run)["settings"] for run in result.runs if run.name.endswith("small")]
        assert {run["image_allocation"] for run in settings} == set(names)
        compared = fsb.compare(
            fsb.read(result.folder), factor="target", baseline="written", where={"tool": ["smallfiles"]}
        )
        assert compared.height > 0
        for level, reasons, notes in compared.select("level", "reasons", "footnotes").rows():
            assert "CONFIG_MISMATCH" in reasons
            assert f"image_allocation differs: written against {level}." in notes

    def test_filesystem_does_not_discard_behind_the_runs(
        self, tmp_path: Path, make_plan: Callable[..., Plan]
    ) -> None:
        """That would take from an image what it was given, by and by."""
        if not has("mkfs.btrfs") or "btrfs" not in tools.kernel_filesystems():
            pytest.skip("this machine has no btrfs")
        asked = {**loop("btrfs"), "name": "asked", "mount_options": "discard=async"}
        result = launch(make_plan(target=[loop("btrfs"), asked], repeats=1), root=tmp_path)
        options = {record(run)["target"]: record(run)["settings"]["mount_options"] for run in result.runs}
        assert {name: "discard=async" in said for name, said in options.items()} == {"btrfs": False, "asked": True}

    def test_sparse_image(self, tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
        """An image that is larger than the filesystem on which it lies."""
        space = os.statvfs(tmp_path)
        huge = space.f_blocks * space.f_frsize
        result = launch(
            make_plan(target=[loop("xfs") | {"allocation": "sparse", "size": huge}], repeats=1), root=tmp_path
        )
        assert result.failures == {}
        assert record(result.runs[0])["environment"]["before"]["free_bytes"] > huge / 2
        assert_no_traces(tmp_path)

    def test_mirror_by_btrfs(self, tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object]) -> None:
        if not has("mkfs.btrfs") or "btrfs" not in tools.kernel_filesystems():
            pytest.skip("this machine has no btrfs")
        mirror = {"kind": "mirror", "name": "mirror", "filesystem": "btrfs", "size": "256M"} | SPARSE
        direct = {**fio, "direct": True, "ioengine": "psync"}
        result = launch(make_plan(target=[mirror], workload=[direct], repeats=1), root=tmp_path)
        assert result.failures == {}
        assert_no_traces(tmp_path)
        run = record(result.runs[0])
        assert (run["filesystem"], run["settings"]["raid"]) == ("btrfs", "btrfs raid1")
        assert run["settings"]["device"].startswith("2 x loop image (")
        before, after = (run["environment"][moment]["devices"] for moment in ("before", "after"))
        images = [name for name in after if name.startswith("loop")]
        assert len(images) == 2
        for image in images:
            assert after[image]["written_bytes"] - before[image]["written_bytes"] >= 4 * 2**20

    @pytest.mark.parametrize("mirror", [False, True])
    def test_pool(
        self, tmp_path: Path, make_plan: Callable[..., Plan], fio: dict[str, object], mirror: bool
    ) -> None:
        if zfs.implementation() is None:
            pytest.skip("this machine has no ZFS")
        pool = {
            "kind": "zfs",
            "name": "pool",
            "size": "256M",
            **SPARSE,
            "mirror": mirror,
            "pool_options": ["ashift=12"],
            "dataset_options": ["atime=off", "no.such:option=1"],
        }
        direct = {**fio, "direct": True, "ioengine": "psync", "end_fsync": True}
        result = launch(make_plan(target=[pool], workload=[direct], repeats=2), root=tmp_path)
        assert result.failures == {}
        assert_no_traces(tmp_path)
        assert scratch_folders(tmp_path) == []
        runs = [record(run) for run in result.runs]
        assert {run["filesystem"] for run in runs} == {"zfs"}
        members = "mirror /dev/loopN /dev/loopM" if mirror else "/dev/loopN"
        created = f"zpool create -o cachefile=none -o ashift=12 -O atime=off -m FOLDER/mount POOL {members}"
        assert {run["settings"]["provision"].splitlines()[-1] for run in runs} == {created}
        assert {run["settings"].get("raid") for run in runs} == {"zpool mirror" if mirror else None}
        number = "2 x " if mirror else ""
        assert all(run["settings"]["device"].startswith(f"{number}loop image ") for run in runs)
        assert all(run["environment"]["before"]["devices"] for run in runs)

    def test_pool_that_cannot_be_made(self, tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
        if zfs.implementation() is None:
            pytest.skip("this machine has no ZFS")
        small = {"tool": "smallfiles", "name": "small", "files": 1, "size": 1}
        pool = {"kind": "zfs", "name": "pool", "size": "1M"}  # ZFS wants 64M
        result = launch(make_plan(target=[pool], workload=[small], repeats=1), root=tmp_path)
        (failure,) = result.failures.values()
        assert failure.startswith("cannot prepare the target: zpool create ")
        assert_no_traces(tmp_path)
        assert scratch_folders(tmp_path) == []

    @staticmethod
    def assert_bytes_reached_both_devices(run: dict[str, Any]) -> None:
        before, after = (run["environment"][moment]["devices"] for moment in ("before", "after"))
        image, *backing = after
        assert image.startswith("loop")
        assert backing
        for device in (image, backing[-1]):
            assert after[device]["written_bytes"] - before[device]["written_bytes"] >= 4 * 2**20

    def test_provision_is_the_same_text_for_each_run(self, tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
        target = {**loop("ext4"), "mkfs_options": ["-m", "0"], "mount_options": "noatime"}
        result = launch(make_plan(target=[target], repeats=2), root=tmp_path)
        texts = {record(run)["settings"]["provision"] for run in result.runs}
        assert texts == {
            "fallocate --length 536870912 image\n"
            "mkfs.ext4 -F -L fsbench -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 -m 0 image\n"
            "mount -t ext4 -o loop,noatime image mount\n"
            "losetup --direct-io=on /dev/loopN"
        }
        assert all("noatime" in record(run)["settings"]["mount_options"] for run in result.runs)

    def test_reused_filesystem_is_made_once(self, tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
        result = launch(
            make_plan(target=[loop("ext4")], repeats=2, filesystems="reused", trim=True), root=tmp_path
        )
        assert result.failures == {}
        assert_no_traces(tmp_path)
        assert scratch_folders(tmp_path) == []
        first, second = (record(run) for run in result.runs)
        assert [step["argv"][0] for step in first["provision"]] == ["fallocate", "mkfs.ext4", "mount", "losetup"]
        assert first["provision"] == second["provision"]
        assert "trimmed" in second["environment"]["before"]["trim"]

    def test_resumed_on_another_filesystem_than_before(
        self, tmp_path: Path, make_plan: Callable[..., Plan]
    ) -> None:
        first = launch(make_plan(target=[loop("ext4")], repeats=2, filesystems="reused"), root=tmp_path)
        shutil.rmtree(first.runs[1])
        again = resume(root=tmp_path)
        assert again.failures == {}
        said = "The filesystems of the earlier runs are gone; further runs share new ones."
        assert said in again.notes
        assert said not in first.notes

    def test_target_that_cannot_be_made_ready(self, tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
        wrong = {**loop("ext4"), "name": "wrong", "mkfs_options": ["--no-such-option"]}
        result = launch(make_plan(target=[wrong, loop("ext4")], repeats=1), root=tmp_path)
        assert_no_traces(tmp_path)
        found = {record(run)["target"]: record(run) for run in result.runs}
        assert {name: run["status"] for name, run in found.items()} == {"wrong": "failed", "ext4": "ok"}
        assert found["wrong"]["exit_code"] is None
        assert found["wrong"]["argv"] == found["wrong"]["logs"] == []
        assert "--no-such-option" in found["wrong"]["provision"][-1]["argv"]
        (failure,) = result.failures.values()
        assert failure.startswith("cannot prepare the target: mkfs.ext4 ")
        assert "unrecognized option" in failure or "invalid option" in failure

    def test_mounts_are_seen_by_the_launch_alone(
        self,
        tmp_path: Path,
        make_plan: Callable[..., Plan],
        fake_fio: Callable[[str], Path],
        fio: dict[str, object],
    ) -> None:
        fake_fio(f"cp /proc/self/mountinfo {tmp_path}/inside; cp /proc/self/stat {tmp_path}/stat; report")
        launch(make_plan(target=[loop("ext4")], workload=[fio], repeats=1), root=tmp_path)
        inside = [line for line in (tmp_path / "inside").read_text().splitlines() if str(tmp_path) in line]
        assert len(inside) == 1
        assert int((tmp_path / "stat").read_text().split()[0]) < 100  # numbers of processes start anew


# ---- ended in the middle

DRIVER = """
import sys
from pathlib import Path
from fsbench_kit.launch import launch, read_plan
from fsbench_kit.launch.events import to_line
def tell(event):
    print(to_line(event), end="", flush=True)
plan, root, kind = sys.argv[1:]
if kind == "plain":
    from fsbench_kit.launch import launcher
    launcher.isolation_problem = lambda: "the test says so"
launch(read_plan(Path(plan)), root=Path(root), study="first", progress=tell)
"""

PLAN = """
id = "test"
title = "One short run, and one that does not end by itself"
repeats = 1
seed = {seed}
timeout = 100
drop_caches = false
[budget]
seconds = 200
bytes = "10G"
[[target]]
name = "target"
{target}
[[workload]]
tool = "smallfiles"
name = "short"
files = 10
size = "4k"
[[workload]]
tool = "fio"
name = "long"
rw = "randread"
bs = "4k"
size = "1M"
runtime = 90
time_based = true
numjobs = 2
options = {{ rate_iops = 20 }}  # it has to go on, not to keep a core busy
"""


def _asked(question: Callable[[], str]) -> str | None:
    """Return what a process answers, or ``None`` where it has ended meanwhile."""
    try:
        return question()
    except psutil.NoSuchProcess:
        return None


TARGETS = {
    "image": 'kind = "loop"\nfilesystem = "xfs"\nsize = "512M"',
    "mirror": 'kind = "mirror"\nfilesystem = "btrfs"\nsize = "256M"\nallocation = "sparse"',
    "pool": 'kind = "zfs"\nsize = "256M"\nmirror = true\nallocation = "sparse"',
    "plain": 'kind = "directory"\ndirectory = "."',
}


class Launch:
    """A launch in a process of its own, which is in the middle of its second and last run."""

    def __init__(self, root: Path, kind: str) -> None:
        from fsbench_kit.launch import read_plan

        self.root, self.kind = root, kind
        path = root / "plan.toml"
        for seed in range(100):  # some seed puts the short run first
            path.write_text(PLAN.format(seed=seed, target=TARGETS[kind]), encoding="utf-8")
            self.plan = read_plan(path)
            if schedule(self.plan)[0].workload.name == "short":
                break
        self.driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, path, root, kind],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.driver.stdout is not None
        for line in self.driver.stdout:
            event = json.loads(line)
            if event["event"] == "RunStarted" and event["order"] == 2:
                break
        else:
            pytest.fail(self.driver.communicate()[1])
        # fio itself and both of its jobs, so that there is something to end
        try:
            self._begin()
        except BaseException:  # else it would stand in the way of all launches after it
            self.driver.kill()
            raise

    def _begin(self) -> None:
        eventually(lambda: len(self.processes("fio")) == 3, lambda: "fio has not started")
        self.all = psutil.Process(self.driver.pid).children(recursive=True)
        (self.runner,) = (
            process
            for process in self.all
            if process.cmdline()[0] == sys.executable and "fsbench_kit.launch.runner" in process.cmdline()
        )

    def processes(self, name: str) -> list[psutil.Process]:
        found = psutil.Process(self.driver.pid).children(recursive=True)
        return [p for p in found if _asked(p.name) == name]

    def assert_all_ended(self) -> None:
        """No process of the launch is alive, and nothing else is left of it but files."""
        eventually(lambda: self.alive() == [], lambda: f"alive: {self.alive()}")
        assert_no_traces(self.root)

    def alive(self) -> list[psutil.Process]:
        return [p for p in self.all if p.is_running() and _asked(p.status) not in {None, psutil.STATUS_ZOMBIE}]

    def assert_only_the_first_run_is_there(self) -> None:
        study = self.root / RUNS / "first"
        assert {path.name for path in study.iterdir()} == {"plan.toml", "study.toml", "001-target-short"}
        run = study / "001-target-short"
        hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in run.iterdir()}
        del hashes["run.json"]
        assert hashes == record(run)["sha256"]
        assert record(run)["status"] == "ok"


@pytest.fixture(params=TARGETS)
def underway(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Launch]:
    if request.param != "plain" and tools.isolation_problem() is not None:
        pytest.skip("needs mounts and processes of its own")
    if request.param == "pool" and zfs.implementation() is None:
        pytest.skip("needs a ZFS")
    if not has("fio"):
        pytest.skip("needs fio")
    started = Launch(tmp_path, request.param)
    yield started
    started.driver.kill()
    started.driver.communicate()


@pytest.mark.root
@pytest.mark.slow
class TestEndedInTheMiddle:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_process_that_called_is_signalled(self, underway: Launch, number: signal.Signals) -> None:
        underway.driver.send_signal(number)
        _, errors = underway.driver.communicate(timeout=90)
        assert underway.driver.returncode == -number
        if number == signal.SIGINT:
            assert errors.rstrip().endswith("KeyboardInterrupt")
        underway.assert_all_ended()
        # The runner had the time to clean up.
        assert scratch_folders(underway.root) == []
        underway.assert_only_the_first_run_is_there()

    def test_runner_is_asked_to_end(self, underway: Launch) -> None:
        underway.runner.terminate()
        _, errors = underway.driver.communicate(timeout=90)
        assert "the launch ended unexpectedly after 1 run (" in errors
        underway.assert_all_ended()
        assert scratch_folders(underway.root) == []
        underway.assert_only_the_first_run_is_there()

    def test_runner_is_killed(self, underway: Launch, make_plan: Callable[..., Plan]) -> None:
        underway.runner.kill()
        _, errors = underway.driver.communicate(timeout=90)
        assert "the launch ended unexpectedly after 1 run (" in errors
        assert "The next launch removes what this one left behind." in errors
        underway.assert_all_ended()
        underway.assert_only_the_first_run_is_there()
        # It could not clean up its files; the next launch does.
        assert scratch_folders(underway.root) != []
        launch(make_plan(repeats=1), root=underway.root, study="second")
        assert scratch_folders(underway.root) == []

    def test_all_are_killed_at_once(
        self, underway: Launch, make_plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        victims = [psutil.Process(underway.driver.pid), *underway.processes("unshare"), underway.runner]
        for victim in victims:
            victim.suspend()  # so that none can see another end
        for victim in victims:
            victim.kill()
        underway.driver.communicate(timeout=90)
        if underway.kind != "plain":
            underway.assert_all_ended()
        else:  # jobs that fio has forked go on until the next launch of the same kind
            monkeypatch.setattr(launcher, "isolation_problem", lambda: "the test says so")
        underway.assert_only_the_first_run_is_there()
        launch(make_plan(repeats=1), root=underway.root, study="second")
        underway.assert_all_ended()
        assert scratch_folders(underway.root) == []
