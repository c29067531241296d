"""What plans may say of targets, and the commands that follow; nothing here is formatted or mounted."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from fsbench_kit.launch import cleanup, tools, zfs
from fsbench_kit.launch.resolve import resolve_plan
from fsbench_kit.launch.targets import Folders, Target
from fsbench_kit.launch.targets.images import attached_below
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsbench_kit.launch import Plan

# As the zfs of zfs-fuse 0.7.0 and of OpenZFS 2.1 print it when `zfs get` stands alone, shortened.
ZFS_FUSE = """\
missing property argument

The following properties are supported:

\tPROPERTY       EDIT  INHERIT   VALUES

\tavailable        NO       NO   <size>
\tatime           YES      YES   on | off
\tcasesensitivity  NO      YES   sensitive | insensitive | mixed
\tcompression     YES      YES   on | off | lzjb | gzip | gzip-[1-9] | zle
\tdedup           YES      YES   on | off | verify | sha256[,verify]
\tquota           YES       NO   <size> | none
\trecordsize      YES      YES   512 to 128k, power of 2

Sizes are specified in bytes with standard units such as K, M, G, etc.
"""
OPENZFS = """\
\tcompression     YES      YES   on | off | lzjb | gzip | gzip-[1-9] | lz4 | zstd-[1-19] | zstd-fast-[1-10,20,30]
\trecordsize      YES      YES   512 to 1M, power of 2
\tsync            YES      YES   standard | always | disabled
"""
POOL = """\
\tPROPERTY         EDIT   VALUES

\tcapacity           NO   <size>
\tashift            YES   <ashift, 9-13, or 0=default>
\tautoexpand        YES   on | off
"""

IMAGE = {"kind": "loop", "name": "disk", "filesystem": "xfs", "size": 1000}


def target(**table: Any) -> Target:
    made: Target = TypeAdapter(Target).validate_python(table)
    return made


def made_by(**table: Any) -> str:
    return "\n".join(" ".join(command) for command in target(**table).commands.make)


# ---- commands


def test_commands_of_an_image() -> None:
    assert made_by(**IMAGE) == (
        "fallocate --length 1000 image\nmkfs.xfs -f -K -L fsbench image\n"
        "mount -t xfs -o loop image mount\nlosetup --direct-io=on /dev/loopN"
    )
    sparse = made_by(**IMAGE, allocation="sparse", mkfs_options=["-m", "reflink=0"], mount_options="noatime")
    assert sparse == (
        "truncate --size 1000 image\nmkfs.xfs -f -K -L fsbench -m reflink=0 image\n"
        "mount -t xfs -o loop,noatime image mount\nlosetup --direct-io=on /dev/loopN"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-E", "stride=4", "-m", "0"], "-E nodiscard,lazy_itable_init=0,lazy_journal_init=0,stride=4 -m 0"),
        (
            ["-Estride=4", "-E", "root_owner"],
            "-E nodiscard,lazy_itable_init=0,lazy_journal_init=0,stride=4,root_owner",
        ),
        (["-m", "0"], "-E nodiscard,lazy_itable_init=0,lazy_journal_init=0 -m 0"),
    ],
)
def test_extended_options_of_a_plan_do_not_replace_ours(options: list[str], words: str) -> None:
    """mke2fs takes the last -E alone."""
    made = made_by(**{**IMAGE, "filesystem": "ext4"}, mkfs_options=options)
    assert f"mkfs.ext4 -F -L fsbench {words} image\n" in made


def test_commands_of_a_device() -> None:
    made = made_by(kind="device", filesystem="ext2", device="/dev/disk/by-id/one")
    assert made == (
        "wipefs --all /dev/disk/by-id/one\n"
        "mkfs.ext2 -F -L fsbench -E nodiscard,lazy_itable_init=0 /dev/disk/by-id/one\n"
        "mount -t ext2 /dev/disk/by-id/one mount"
    )


def test_commands_of_a_mirror_by_btrfs() -> None:
    made = made_by(kind="mirror", filesystem="btrfs", devices=["/dev/a", "/dev/b"], mount_options="noatime")
    assert made == (
        "wipefs --all /dev/a\nwipefs --all /dev/b\n"
        "mkfs.btrfs -f -K -L fsbench -d raid1 -m raid1 /dev/a /dev/b\n"
        "mount -t btrfs -o device=/dev/a,device=/dev/b,nodiscard,noatime /dev/a mount"
    )


def test_commands_of_a_mirror_by_md() -> None:
    mirror = target(kind="mirror", filesystem="xfs", devices=["/dev/a", "/dev/b"])
    assert [" ".join(command) for command in mirror.commands.make[2:]] == [
        "mdadm --create /dev/mdN --run --level=1 --metadata=1.2 --raid-devices=2 --homehost=any --assume-clean "
        "--name=ARRAY /dev/a /dev/b",
        "mkfs.xfs -f -K -L fsbench /dev/mdN",
        "mount -t xfs /dev/mdN mount",
    ]
    assert [" ".join(command) for command in mirror.commands.remove] == [
        "umount mount",
        "mdadm --stop /dev/mdN",
        "mdadm --zero-superblock /dev/a /dev/b",
    ]


def test_commands_of_a_pool() -> None:
    assert made_by(kind="zfs", size=1000, pool_options=["ashift=12"], dataset_options=["atime=off"]) == (
        "fallocate --length 1000 image-1\n"
        "losetup --find --show image-1\nlosetup --detach /dev/loopN\nlosetup --direct-io=on /dev/loopN\n"
        "zpool create -o cachefile=none -o ashift=12 -O atime=off -m FOLDER/mount POOL /dev/loopN"
    )
    assert made_by(kind="zfs", devices=["/dev/a", "/dev/b"], mirror=True) == (
        "wipefs --all /dev/a\nwipefs --all /dev/b\n"
        "zpool create -o cachefile=none -m FOLDER/mount POOL mirror /dev/a /dev/b"
    )


def test_space_that_targets_take() -> None:
    """Of sparse images what is written, of devices nothing, of mirrors twice."""
    assert target(**IMAGE, allocation="written").space_needed(10) == 1000
    mirror = {"kind": "zfs", "mirror": True}
    assert target(**IMAGE).space_needed(10) == 1000
    assert target(**IMAGE, allocation="sparse").space_needed(10) == 10
    assert target(**mirror, size=1000).space_needed(10) == 2000
    assert target(**mirror, size=1000, allocation="sparse").space_needed(10) == 20
    assert target(**mirror, devices=["/dev/a", "/dev/b"]).space_needed(10) == 0


# ---- mistakes


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "zfs"}, "devices; this target names neither"),
        ({"kind": "zfs", "size": 1, "devices": ["/dev/a"]}, "or devices; this target names both"),
        (
            {"kind": "zfs", "devices": ["/dev/a", "/dev/b"]},
            "1 different devices are needed, and this target names 2",
        ),
        (
            {"kind": "mirror", "filesystem": "btrfs", "devices": ["/dev/a", "/dev/a"]},
            "2 different devices are needed, and this target names 1",
        ),
        ({"kind": "zfs", "size": 1, "dataset_options": ["mountpoint=none"]}, "mountpoint=none"),
        ({"kind": "zfs", "size": 1, "pool_options": ["cachefile=/etc/x"]}, "pool_options"),
        ({"kind": "device", "filesystem": "xfs", "device": "disk.img"}, "device"),
    ],
)
def test_targets_that_make_no_sense(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        target(**table)


# ---- what this machine lacks


def test_optional_target_is_left_out(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    here = {"kind": "directory", "name": "here", "directory": "."}
    lacking = {"kind": "directory", "name": "away", "directory": "absent", "optional": True}
    plan, notes = resolve_plan(make_plan(target=[lacking, here]), Folders(tmp_path), isolation_problem=None)
    assert [chosen.name for chosen in plan.target] == ["here"]
    assert notes == (f'Target "away" is not available: {tmp_path}/absent is not a directory. It is left out.',)
    with pytest.raises(LaunchError, match="no target is left"):
        resolve_plan(make_plan(target=[lacking]), Folders(tmp_path), isolation_problem=None)


@pytest.mark.parametrize("filesystem", ["jfs", "reiserfs", "nilfs2", "f2fs"])
def test_filesystem_that_the_kernel_lacks(filesystem: str, tmp_path: Path) -> None:
    if filesystem in tools.kernel_filesystems():
        pytest.skip("this kernel has it")
    assert (
        target(kind="loop", filesystem=filesystem, size=1).problem(Folders(tmp_path))
        == f"the kernel has no {filesystem}"
    )


def test_md_that_the_kernel_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsbench_kit.launch.targets.mirror.has_md", lambda: False)
    problem = target(kind="mirror", filesystem="ext4", size=1).problem(Folders(tmp_path))
    assert problem == "the kernel has no md, which a mirror with ext4 on it needs (btrfs and ZFS do not)"


def test_no_zfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zfs, "_CONTROL", tmp_path / "absent")
    monkeypatch.setattr(tools, "search_path", lambda: str(tmp_path))
    assert target(kind="zfs", size=1).problem(Folders(tmp_path)) == (
        "the kernel has no ZFS loaded (/dev/zfs is missing), and zfs-fuse is not installed (Debian: zfs-fuse)"
    )


@pytest.mark.parametrize(("filesystems", "said"), [("reused", True), ("fresh", False)])
def test_cache_that_a_reused_pool_keeps_is_named(
    make_plan: Callable[..., Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filesystems: str, said: bool
) -> None:
    monkeypatch.setattr(zfs, "properties", lambda: ({}, {}))
    monkeypatch.setattr("fsbench_kit.launch.targets.zfs.ZfsTarget.problem", lambda *_: None)
    targets = [
        {"kind": "zfs", "name": "pool", "size": "64M"},
        {"kind": "directory", "name": "d", "directory": "."},
    ]
    _, notes = resolve_plan(
        make_plan(target=targets, filesystems=filesystems), Folders(tmp_path), isolation_problem=None
    )
    assert [note for note in notes if "ARC" in note] == [
        'Target "pool": ZFS\'s own cache (ARC) may still hold data of earlier runs, because the '
        'filesystem is reused. To avoid that, write: filesystems = "fresh"'
    ] * said


# ---- space


class Disks:
    """Two disks: one for the results, and one for a target. What is free on each is for a test to say."""

    def __init__(self, root: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free = {root.stat().st_dev: 0, target.stat().st_dev: 0}
        assert len(self.free) == 2
        monkeypatch.setattr(
            "shutil.disk_usage", lambda path: SimpleNamespace(free=self.free[Path(path).stat().st_dev])
        )


TREE = {
    "tool": "filetree",
    "large_file": 10_000,
    "files": 1,
    "directories": 1,
    "smallest": 4096,
    "largest": 4096,
}  # with a tree of two blocks for the file, and one for the directory


def test_space_for_what_is_copied_is_asked_for_where_the_results_go(
    make_plan: Callable[..., Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tempfile.TemporaryDirectory(dir="/dev/shm")
    with elsewhere as folder:
        disks = Disks(tmp_path, Path(folder), monkeypatch)
        results, other = disks.free
        plan = make_plan(target=[{"kind": "directory", "name": "d", "directory": folder}], workload=[TREE])
        disks.free = {results: 10_000 + 3 * 4096, other: 2 * 3 * 4096}
        resolve_plan(plan, Folders(tmp_path), isolation_problem=None)
        disks.free[results] -= 1
        with pytest.raises(LaunchError, match=r"the files to copy need .*, and .* is free"):
            resolve_plan(plan, Folders(tmp_path), isolation_problem=None)
        disks.free = {results: 10_000 + 3 * 4096, other: 2 * 3 * 4096 - 1}
        with pytest.raises(LaunchError, match='target "d" needs 24 KiB; '):
            resolve_plan(plan, Folders(tmp_path), isolation_problem=None)


def test_space_for_what_is_copied_counts_beside_a_target_on_the_same_disk(
    make_plan: Callable[..., Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = 3 * 3 * 4096 + 10_000
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=need))
    resolve_plan(make_plan(workload=[TREE]), Folders(tmp_path), isolation_problem=None)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=need - 1))
    with pytest.raises(LaunchError, match=r'target "here" needs .*, including what is copied to it;'):
        resolve_plan(make_plan(workload=[TREE]), Folders(tmp_path), isolation_problem=None)


# ---- what a ZFS lacks


def test_properties_in_usage() -> None:
    assert zfs.properties_in(ZFS_FUSE).keys() == {
        "atime",
        "casesensitivity",
        "compression",
        "dedup",
        "quota",
        "recordsize",
    }
    assert zfs.properties_in(POOL).keys() == {"ashift", "autoexpand"}


@pytest.mark.parametrize(
    ("usage", "option", "possible"),
    [
        (ZFS_FUSE, "compression=gzip-9", True),
        (ZFS_FUSE, "compression=gzip-0", False),
        (ZFS_FUSE, "compression=lz4", False),
        (OPENZFS, "compression=lz4", True),
        (ZFS_FUSE, "recordsize=128k", True),
        (ZFS_FUSE, "recordsize=1M", False),
        (OPENZFS, "recordsize=1M", True),
        (ZFS_FUSE, "dedup=sha256", True),
        (ZFS_FUSE, "dedup=sha256,verify", True),
        (ZFS_FUSE, "dedup=skein", False),
        (ZFS_FUSE, "quota=10G", True),
        (POOL, "ashift=12", True),
        (POOL, "ashift=14", False),
        (OPENZFS, "compression=zstd-12", True),
        (OPENZFS, "compression=zstd-20", False),
        (OPENZFS, "compression=zstd-fast-10", True),
        (OPENZFS, "compression=zstd-fast-11", False),
        (ZFS_FUSE, "recordsize=many", False),
        (POOL, "ashift=many", False),
    ],
)
def test_values_of_properties(usage: str, option: str, possible: bool) -> None:
    name, _, value = option.partition("=")
    assert zfs.is_value(value, zfs.properties_in(usage)[name]) is possible


def test_options_that_a_zfs_lacks_are_named_and_left_out(
    make_plan: Callable[..., Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zfs, "properties", lambda: (zfs.properties_in(ZFS_FUSE), zfs.properties_in(POOL)))
    monkeypatch.setattr("fsbench_kit.launch.targets.zfs.ZfsTarget.problem", lambda *_: None)
    pool = {
        "kind": "zfs",
        "name": "pool",
        "size": "512M",
        "pool_options": ["ashift=12", "compatibility=openzfs-2.1-linux"],
        "dataset_options": ["atime=off", "compression=lz4", "sync=disabled"],
    }
    plan, notes = resolve_plan(make_plan(target=[pool]), Folders(tmp_path), isolation_problem=None)
    assert plan.target[0].model_dump(include={"pool_options", "dataset_options"}) == {
        "pool_options": ("ashift=12",),
        "dataset_options": ("atime=off",),
    }
    assert notes == (
        'Target "pool": compatibility=openzfs-2.1-linux is left out: '
        'the ZFS here has no pool property "compatibility".',
        'Target "pool": compression=lz4 is left out: the ZFS here allows '
        "on | off | lzjb | gzip | gzip-[1-9] | zle.",
        'Target "pool": sync=disabled is left out: the ZFS here has no dataset property "sync".',
    )


@pytest.mark.root
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
@pytest.mark.skipif(zfs.implementation() != "zfs-fuse", reason="needs zfs-fuse")
def test_zfs_fuse_tells_its_properties() -> None:
    of_datasets, of_pools = zfs.properties()
    assert of_datasets["recordsize"] == "512 to 128k, power of 2"
    assert of_pools["ashift"] == "<ashift, 9-13, or 0=default>"


# ---- what a killed launch leaves


def test_pools_and_arrays_of_a_killed_launch_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    scratch = tmp_path / ".fsbench-scratch-abcd_123"
    calls = tmp_path / "calls"
    for name, answer in (
        ("zpool", "tank\nfsbench-other-target-a\nfsbench-abcd_123-target-a"),
        ("mdadm", "MD_LEVEL=raid1\nMD_NAME=fsbench-abcd_123-target-b"),
    ):
        (programs / name).write_text(
            f'#!/bin/sh\necho "{name} $*" >> {calls}\necho "{answer}"\n', encoding="ascii"
        )
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setattr(cleanup, "implementation", lambda: "kernel module")
    monkeypatch.setattr(cleanup, "has_md", lambda: True)
    monkeypatch.setattr(cleanup, "md_devices", lambda: ("/dev/md127",))
    cleanup.clean_up(scratch)
    assert calls.read_text().splitlines() == [
        "zpool list -H -o name",
        "zpool destroy -f fsbench-abcd_123-target-a",
        "mdadm --detail --export /dev/md127",
        "mdadm --stop /dev/md127",
    ]


@pytest.mark.root
@pytest.mark.skipif(not tools.is_administrator() or not tools.has_loop_devices(), reason="needs loop devices")
def test_loop_devices_of_a_killed_launch_are_detached(tmp_path: Path) -> None:
    scratch, other = tmp_path / ".fsbench-scratch-one", tmp_path / ".fsbench-scratch-two"
    devices = []
    for folder in (scratch, other):
        folder.mkdir()
        (folder / "image").write_bytes(b"\0" * 2**20)
        command = ["losetup", "--find", "--show", str(folder / "image")]
        devices.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    try:
        (scratch / "image").unlink()
        assert list(attached_below(scratch)) == devices[:1]
        cleanup.clean_up(scratch)
        assert list(attached_below(scratch)) == []
        assert list(attached_below(other)) == devices[1:]
    finally:
        subprocess.run(["losetup", "--detach", devices[1]], check=True)
