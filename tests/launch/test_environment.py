from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest

from fsbench_kit.launch import capabilities, environment, tools
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
