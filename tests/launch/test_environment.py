from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from fsbench_kit.launch import capabilities, environment, facts, tools
from fsbench_kit.launch.facts import machine_facts
from fsbench_kit.launch.targets.filesystems import FILESYSTEMS
from fsbench_kit.model.vocabulary import SETTINGS


def findmnt(column: str, path: Path) -> str:
    command = ["findmnt", "--noheadings", "--output", column, "--target", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("path", [Path("/"), Path("/proc/self"), Path("/dev/null"), Path(__file__)])
def test_mount_is_the_one_that_findmnt_gives(path: Path) -> None:
    mount = environment.mount_of(path)
    assert str(mount.point) == findmnt("TARGET", path)
    assert mount.filesystem == findmnt("FSTYPE", path)
    assert set(mount.options.split(",")) == set(findmnt("OPTIONS", path).split(","))


def test_what_lies_in_memory_has_no_device() -> None:
    assert environment.devices_under(Path("/proc")) == ()
    assert environment.machine_state(Path("/proc"))["devices"] == {}


def test_counters_see_what_is_written(tmp_path: Path) -> None:
    devices = environment.devices_under(tmp_path)
    if not devices:
        pytest.skip("the temporary directory lies on no block device")
    before = devices[-1].counters()
    with (tmp_path / "file").open("wb") as file:
        file.write(os.urandom(2**21))
        file.flush()
        os.fsync(file.fileno())
    after = devices[-1].counters()
    assert after["written_bytes"] - before["written_bytes"] >= 2**21
    assert after["read_bytes"] >= before["read_bytes"]


def test_settings_are_words_of_the_vocabulary(tmp_path: Path) -> None:
    settings = environment.machine_settings() | environment.storage_settings(tmp_path)
    assert settings.keys() <= SETTINGS.keys()
    assert settings["kernel"] == platform.release()
    meminfo = Path("/proc/meminfo").read_text(encoding="ascii")
    assert int(settings["memory"]) == int(meminfo.split()[1]) * 1024


def test_what_a_disk_says_of_its_health_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = tmp_path / "sys" / "nvme7n1"
    (disk / "device").mkdir(parents=True)
    (disk / "queue").mkdir()
    for name, text in {
        "device/state": "live",
        "device/rev": "2B2QEXE7",
        "queue/write_cache": "write back",
    }.items():
        (disk / name).write_text(f"{text}\n", encoding="ascii")
    answer = {
        "smartctl": {"version": [7, 3], "exit_status": 0},
        "smart_status": {"passed": True},
        "serial_number": "S3CR3T",
        "temperature": {"current": 41},
        "nvme_smart_health_information_log": {"percentage_used": 3, "media_errors": 1},
        "ata_smart_attributes": {"table": [{"name": "Reallocated_Sector_Ct", "raw": {"value": 8, "string": "8"}}]},
    }
    program = tmp_path / "smartctl"
    program.write_text(f"#!/bin/sh\n[ \"$5\" = /dev/nvme7n1 ] && echo '{json.dumps(answer)}'\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = machine_facts([environment.Device("nvme7n1", disk, None)])["devices"]["nvme7n1"]
    assert (found["write_cache"], found["firmware"]) == ("write back", "2B2QEXE7")
    assert found["health"] == {
        "state": "live",
        "smart_status": {"passed": True},
        "temperature": {"current": 41},
        "nvme_smart_health_information_log": {"percentage_used": 3, "media_errors": 1},
        "ata_smart_attributes": {"Reallocated_Sector_Ct": "8"},
    }
    program.write_text("#!/bin/sh\necho segmentation fault; exit 139\n", encoding="ascii")
    found = machine_facts([environment.Device("nvme7n1", disk, None)])["devices"]["nvme7n1"]
    assert found["health"] == {"state": "live", "problem": "the output of smartctl cannot be parsed"}


FAKE_SENSORS = {
    "hwmon0/name": "coretemp",
    "hwmon0/temp1_input": "45000",
    "hwmon0/temp1_label": "Package id 0",
    "hwmon0/temp2_input": "43000",
    "hwmon1/name": "nvme",
    "hwmon1/temp1_input": "38850",
    "hwmon1/temp1_label": "Composite",
    "hwmon2/name": "nvme",
    "hwmon2/temp1_input": "41850",
    "hwmon2/temp1_label": "Composite",
    "hwmon3/name": "asleep",
    "hwmon3/temp1_input": "",
}
"""As the kernel has them in /sys/class/hwmon; these are made up, and no machine has said them."""


@pytest.mark.root
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
@pytest.mark.parametrize("sensors", [FAKE_SENSORS, {}])
def test_temperatures_are_those_of_the_sensors_and_null_without_any(
    tmp_path: Path, sensors: dict[str, str]
) -> None:
    (tmp_path / "hwmon").mkdir()
    for name, text in sensors.items():
        path = tmp_path / "hwmon" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}\n", encoding="ascii")
    ask = (
        "import json; from pathlib import Path; from fsbench_kit.launch.environment import machine_state; "
        "print(json.dumps(machine_state(Path('/proc'))['temperatures']))"
    )
    script = 'mount --bind "$0" /sys/class && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, tmp_path, sys.executable, "-c", ask]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    expected = {
        "coretemp Package id 0": 45.0,
        "coretemp 2": 43.0,
        "nvme Composite": 38.85,
        "nvme Composite 2": 41.85,
    }
    assert json.loads(answer) == (expected if sensors else None)


def test_limits_of_control_groups_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "above" / "own"
    own.mkdir(parents=True)
    for folder, limit in ((own, "max"), (own.parent, "1073741824"), (tmp_path, "9223372036854771712")):
        (folder / "memory.max").write_text(f"{limit}\n", encoding="ascii")
    (own / "cpu.max").write_text("50000 100000\n", encoding="ascii")
    (own.parent / "cpu.max").write_text("max 100000\n", encoding="ascii")
    monkeypatch.setattr(facts, "groups", lambda _: iter([own, own.parent, tmp_path]))
    assert machine_facts([])["cgroup"] == {"memory.max": ["1073741824"], "cpu.max": ["50000 100000"]}


@pytest.mark.parametrize(
    ("drop", "writable", "expected"),
    [(True, True, "dropped"), (False, True, "kept"), (True, False, "kept: No such file or directory")],
)
def test_settling_says_what_became_of_the_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drop: bool, writable: bool, expected: str
) -> None:
    switch = tmp_path / "drop_caches" if writable else tmp_path / "absent" / "drop_caches"
    monkeypatch.setattr(environment, "_DROP_CACHES", switch)
    assert environment.settle(drop_caches=drop) == expected
    assert switch.exists() == (expected == "dropped")


def test_machine_knows_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = capabilities.machine(tmp_path)
    names = {program.name for program, _ in machine.programs} | {program.name for program in machine.missing}
    mkfs = {f"mkfs.{name}" for name in FILESYSTEMS if name in machine.filesystems}
    assert names > {"fio", "bonnie++", "sysbench", "iozone", "cp", *mkfs, *tools.SYSTEM_PROGRAMS}
    assert {name for name in names if name.startswith("mkfs.")} == mkfs
    lines = Path("/proc/filesystems").read_text(encoding="ascii").splitlines()
    assert {line.strip() for line in lines if line.startswith("\t")} <= set(machine.filesystems)
    assert "proc" not in machine.filesystems
    monkeypatch.setattr(tools, "search_path", lambda: str(tmp_path))
    bare = capabilities.machine(tmp_path)
    assert bare.programs == ()
    assert {"fio", "bonnie++", "sysbench", "xfsprogs"} < set(bare.packages_to_install)
    assert not {"iozone3", "coreutils"} & set(bare.packages_to_install)  # not free; there on any Debian


def test_filesystems_of_modules_are_known(tmp_path: Path) -> None:
    dependencies = tmp_path / "modules.dep"
    dependencies.write_text(
        "kernel/fs/xfs/xfs.ko.zst: kernel/lib/crc.ko.zst\nkernel/fs/jfs/jfs.ko:\nkernel/fs/nls/nls_utf8.ko:\n",
        encoding="ascii",
    )
    assert set(tools._filesystem_modules(dependencies)) == {"xfs", "jfs"}
    assert tuple(tools._filesystem_modules(tmp_path / "absent")) == ()
