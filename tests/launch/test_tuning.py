"""Settings of the kernel: set for a run, recorded, compared, and set back however the launch ends."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from pydantic import ValidationError

import fsbench_kit as fsb
from fsbench_kit.launch import dry_run, launch, read_plan, tools, zfs
from fsbench_kit.launch.events import RunStarted
from fsbench_kit.launch.plan import plan_text
from fsbench_kit.launch.scratch import sweep_machine
from fsbench_kit.launch.tuning import kernel
from fsbench_kit.model.errors import InputError, LaunchError
from tests.launch.traces import assert_no_traces, eventually, scratch_folders

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Event, Plan

VM = Path("/proc/sys/vm")
IMAGE = {"kind": "loop", "filesystem": "ext4", "size": "64M"}
NAMED = {"tool": "command", "name": "work"}

pytestmark = [pytest.mark.root, pytest.mark.slow, pytest.mark.usefixtures("own_kernel")]
isolated = pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs root")


def machine() -> dict[str, str]:
    """Return the settings that these tests change, as the kernel has them."""
    paths = [*VM.glob("dirty_*[so]"), *Path("/sys/block").glob("loop*/queue/*")]
    names = ("scheduler", "read_ahead_kb", "nr_requests", "wbt_lat_usec")
    found = {}
    for path in paths:
        if path.parent == VM or path.name in names:
            try:
                found[str(path)] = path.read_text(encoding="ascii")
            except OSError:  # wbt_lat_usec, where nothing is throttled
                continue
    return found


def records(result: Any) -> list[dict[str, Any]]:
    return [json.loads((run / "run.json").read_text(encoding="utf-8")) for run in result.runs]


def read_from_image(record: dict[str, Any]) -> int:
    before, after = (
        {name: moved["read_bytes"] for name, moved in record["environment"][when]["devices"].items()}
        for when in ("before", "after")
    )
    return sum(after[name] - read for name, read in before.items() if name.startswith("loop"))


@isolated
def test_scheduler_and_write_back_are_varied_and_set_back(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    seen = "cat /sys/block/$(basename $(findmnt -no SOURCE -T .))/queue/scheduler /proc/sys/vm/dirty_bytes"
    plan = make_plan(
        target=[IMAGE],
        workload=[{**NAMED, "command": ["sh", "-c", seen], "tuning": {"dirty_bytes": ["32M", "64M"]}}],
        tuning={"scheduler": ["none", "bfq"], "read_ahead": "512k"},
        repeats=1,
    )
    before = machine()
    result = launch(plan, root=tmp_path)
    assert result.failures == {}
    assert machine() == before
    printed = {tuple((run / "stdout.txt").read_text().split("\n")[:2]) for run in result.runs}
    assert {(line.partition("[")[2].partition("]")[0], size) for line, size in printed} == {
        (name, str(size * 2**20)) for name in ("none", "bfq") for size in (32, 64)
    }
    for record in records(result):
        settings = record["settings"]
        assert settings["scheduler"].split(", ")[0] == settings["asked.scheduler"]
        assert settings["read_ahead"].split(", ")[0] == str(512 * 1024)
        assert int(settings["dirty_bytes"]) == int(settings["asked.dirty_bytes"].rstrip("M")) * 2**20
        assert "dirty_ratio" not in settings  # the kernel goes by the other
    assert [note for note in result.notes if note.endswith("for the whole machine: dirty_bytes.")]
    table = fsb.compare(fsb.read(result.folder), factor="scheduler", baseline="none")
    assert set(table["level"]) == {"bfq"}


@isolated
def test_memory_that_a_run_may_take_is_limited(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    read_twice = "dd if=/dev/zero of=f bs=1M count=96 conv=fsync; cat f > /dev/null; cat f > /dev/null"
    greedy = f"{sys.executable} -c 'print(len(bytearray(10**6) * 200))'"
    plan = make_plan(
        target=[{**IMAGE, "size": "256M"}],
        workload=[
            {**NAMED, "name": "free", "command": ["sh", "-c", read_twice]},
            {**NAMED, "name": "held", "command": ["sh", "-c", read_twice], "tuning": {"memory_limit": "32M"}},
            {**NAMED, "name": "greedy", "command": ["sh", "-c", greedy], "tuning": {"memory_limit": "32M"}},
        ],
        repeats=1,
    )
    result = launch(plan, root=tmp_path)
    found = {record["workload"]: record for record in records(result)}
    reads = {name: read_from_image(record) for name, record in found.items()}
    assert reads["free"] < 32 * 2**20
    assert reads["held"] > 128 * 2**20
    assert found["held"]["settings"]["memory_limit"] == str(32 * 2**20)
    (failure,) = result.failures.values()
    assert failure.startswith("the run reached its memory limit, and the kernel killed one of its programs")
    assert not list(Path("/sys/fs/cgroup").glob("**/fsbench-*"))


@isolated
@pytest.mark.skipif(zfs.implementation() != "zfs-fuse", reason="needs zfs-fuse")
def test_what_serves_a_filesystem_counts_as_memory_of_its_run(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    """Its daemon caches by itself, and the kernel caches for the daemon what lies on the image."""
    read_twice = "dd if=/dev/zero of=f bs=1M count=300 conv=fsync; cat f > /dev/null; cat f > /dev/null"
    plan = make_plan(
        target=[{"kind": "zfs", "size": "512M", "arc_size": "16M", "filesystems": "reused"}],
        workload=[
            {**NAMED, "name": "free", "command": ["sh", "-c", read_twice]},
            {**NAMED, "name": "held", "command": ["sh", "-c", read_twice], "tuning": {"memory_limit": "128M"}},
        ],
        repeats=2,
    )
    result = launch(plan, root=tmp_path)
    assert result.failures == {}
    for record in records(result):
        assert (read_from_image(record) > 400 * 2**20) == (record["workload"] == "held")
        assert record["settings"]["zfs.arc_size"] == str(16 * 2**20)
    assert not list(Path("/sys/fs/cgroup").glob("**/fsbench-*"))


def test_processors_need_no_root(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    plan = make_plan(workload=[{**NAMED, "command": ["nproc"]}], tuning={"cpu_list": "0"}, repeats=1)
    (run,) = launch(plan, root=tmp_path).runs
    assert (run / "stdout.txt").read_text() == "1\n"
    assert "taskset --cpu-list 0" in " ".join(dry_run(plan, tmp_path).steps[0].commands[-1])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"target": [IMAGE], "tuning": {"scheduler": "cfq"}},
            "the kernel does not offer cfq there, only none, mq-deadline",
        ),
        (
            {"tuning": {"read_ahead": 0}},
            "read_ahead is a device setting, but this target has no device of its own",
        ),
        ({"tuning": {"cpu_list": "0,4095"}}, "cpu_list = 0,4095: there is no processor 4095 here"),
    ],
)
@isolated
def test_what_the_machine_lacks_is_said_before_anything_runs(
    make_plan: Callable[..., Plan], tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(LaunchError, match="is not available") as error:
        launch(make_plan(**changes), root=tmp_path)
    assert sentence in str(error.value)
    optional = {"tool": "smallfiles", "name": "more", "files": 2, "size": "4k", "optional": True}
    plan = make_plan(workload=[{**optional, "tuning": {"cpu_list": "4095"}}, {**optional, "name": "small"}])
    assert (
        'Workload "more" is left out: cpu_list = 4095: there is no processor 4095 here.'
        in dry_run(plan, tmp_path).notes
    )


def test_mistake_is_shown_in_its_line(tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
    path = tmp_path / "plan.toml"
    rest = '[[workload]]\ntool = "smallfiles"\nfiles = 2\nsize = "4k"\n'
    target = '[[target]]\nkind = "directory"\ndirectory = "."\n'
    for text, line, what in (
        (
            f'id = "x"\n{target}tuning.shceduler = "bfq"\n{rest}',
            5,
            '"tuning.shceduler" is not a key of [[target]]',
        ),
        (
            f'id = "x"\n[tuning]\nread_ahead = "5"\n{target}{rest}',
            3,
            '"read_ahead" must be 0, or a size of whole KiB',
        ),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError) as error:
            read_plan(path)
        assert (error.value.line, error.value.what[: len(what)]) == (line, what)
    with pytest.raises(ValidationError, match="dirty_ratio and dirty_bytes exclude each other"):
        make_plan(tuning={"dirty_ratio": 5, "dirty_bytes": "1M"})
    plan = make_plan(tuning={"dirty_ratio": 5}, before=[["sync"]])
    path.write_text(plan_text(plan), encoding="utf-8")
    assert read_plan(path) == plan


@isolated
def test_what_cannot_be_undone_ends_the_launch_and_keeps_the_run(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    """The setting cannot be written where the runs are made; a process of others stays in the control group."""
    setting = VM / "dirty_expire_centisecs"
    before = machine()
    lock = f"mount --bind {VM} {VM} && mount -o remount,bind,ro {VM}"
    plan = make_plan(
        workload=[{**NAMED, "command": ["sh", "-c", lock]}], tuning={"dirty_expire_centisecs": 777}, repeats=2
    )
    result = launch(plan, root=tmp_path)
    assert (len(result.runs), result.failures) == (1, {})
    was = before[str(setting)].strip()
    assert f"{setting} was {was}: Read-only file system" in str(result.stopped)
    assert machine() == before  # by the guard
    assert scratch_folders(tmp_path) == []

    def join(event: Event) -> None:
        if isinstance(event, RunStarted):
            eventually(lambda: bool(group()), lambda: "there is no group")
            (group()[0] / "cgroup.procs").write_text(f"{stranger.pid}\n", encoding="ascii")

    def group() -> list[Path]:
        return list(Path("/sys/fs/cgroup").glob("**/fsbench-*"))

    plan = make_plan(workload=[{**NAMED, "command": ["sleep", "1"]}], tuning={"memory_limit": "64M"}, repeats=1)
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        result = launch(plan, root=tmp_path, progress=join)
        assert (len(result.runs), result.failures) == (1, {})
        assert " is still in use" in str(result.stopped)
        (said,) = sweep_machine()
        assert f"/{group()[0].name} is still in use by process {stranger.pid} (sleep)." in said
    finally:
        stranger.kill()
        stranger.wait()
    assert list(sweep_machine()) == []
    assert (group(), scratch_folders(tmp_path)) == ([], [])


@isolated
@pytest.mark.parametrize(("chosen", "after"), [("bfq", "none"), ("mq-deadline", "mq-deadline")])
def test_loop_device_that_others_got_from_a_killed_launch(tmp_path: Path, chosen: str, after: str) -> None:
    """It has the launch's scheduler still, or one that they have chosen."""
    image = tmp_path / "image"
    image.write_bytes(bytes(2**20))
    device = subprocess.check_output(("losetup", "--find", "--show", image), text=True).strip()
    scheduler = Path("/sys/block", Path(device).name, "queue/scheduler")
    journal = tmp_path / kernel.JOURNAL
    try:
        scheduler.write_text("none", encoding="ascii")
        with kernel.changed({"scheduler": "bfq"}, [scheduler.parents[1]], tmp_path):
            noted = json.loads(journal.read_bytes())
        # As if it had been detached and attached again, which would give others the time to take it.
        journal.write_text(json.dumps([entry | {"sequence": "0"} for entry in noted]), encoding="utf-8")
        scheduler.write_text(chosen, encoding="ascii")
        kernel.restore(tmp_path)
        assert f"[{after}]" in scheduler.read_text(encoding="ascii")
    finally:
        scheduler.write_text("none", encoding="ascii")
        subprocess.run(("losetup", "--detach", device), check=True)


DRIVER = """
import sys
from pathlib import Path
from fsbench_kit.launch import launch, read_plan
def tell(event):
    print(type(event).__name__, flush=True)
launch(read_plan(Path(sys.argv[1]) / "plan.toml"), root=Path(sys.argv[1]), progress=tell)
"""


@isolated
@pytest.mark.parametrize("how", ["interrupt", "terminate", "kill", "kill the runner", "kill both"])
def test_killed_at_any_moment_the_settings_are_those_from_before(
    make_plan: Callable[..., Plan], tmp_path: Path, how: str
) -> None:
    plan = make_plan(
        target=[IMAGE],
        workload=[{**NAMED, "command": ["sleep", "600"]}],
        tuning={"scheduler": "bfq", "dirty_bytes": "16M", "dirty_expire_centisecs": 777, "memory_limit": "64M"},
    )
    (tmp_path / "plan.toml").write_text(plan_text(plan), encoding="utf-8")
    before = machine()
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, tmp_path], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    next(line for line in driver.stdout if line == "RunStarted\n")
    changed = VM / "dirty_expire_centisecs"
    eventually(lambda: changed.read_text() == "777\n", lambda: "nothing was set")
    time.sleep(random.Random(how).uniform(0, 0.2))
    process = psutil.Process(driver.pid)
    runners = [one for one in process.children(recursive=True) if "launch.runner" in " ".join(one.cmdline())]
    victims = {"kill the runner": runners, "kill both": [process, *runners]}.get(how, [process])
    if how == "interrupt":
        process.send_signal(2)
    for victim in victims if how != "interrupt" else ():
        (victim.terminate if how == "terminate" else victim.kill)()
    driver.communicate()
    eventually(lambda: machine() == before, lambda: f"{machine().items() ^ before.items()}")
    assert_no_traces(tmp_path)
    eventually(lambda: scratch_folders(tmp_path) == [], lambda: "a scratch folder is left")
    assert not list(Path("/sys/fs/cgroup").glob("**/fsbench-*"))
