"""Which block devices may be overwritten. All devices here are loop devices that the tests make."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.errors import LaunchError
from fsbench_kit.launch import launch, tools
from fsbench_kit.launch.choice import choose
from fsbench_kit.launch.devices import block_devices, device_problem
from fsbench_kit.launch.targets import DeviceTarget, StepError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsbench_kit.launch import Plan

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not tools.is_administrator(), reason="needs root"),
    pytest.mark.skipif(not tools.has_loop_devices(), reason="needs loop devices"),
]


def call(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def attached(image: Path, *options: str) -> Iterator[str]:
    device = call("losetup", "--find", "--show", *options, image)
    try:
        yield device
    finally:
        call("losetup", "--detach", device)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(64 * 2**20)
    return path


@pytest.fixture
def disk(image: Path) -> Iterator[str]:
    """A disk of the test's own, on which nothing is."""
    with attached(image) as device:
        yield device


def content(device: str) -> str:
    with Path(device).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_what_is_no_block_device(tmp_path: Path, image: Path) -> None:
    assert device_problem(str(image)) == f"{image} is not a block device"
    assert device_problem("/dev/null") == "/dev/null is not a block device"
    absent = str(tmp_path / "absent")
    assert device_problem(absent) == f"{absent} cannot be looked at: No such file or directory"


def test_blank_disk_may_be_used_by_any_name(disk: str, tmp_path: Path) -> None:
    link = tmp_path / "by-id"
    link.symlink_to(disk)
    assert device_problem(disk) is None
    assert device_problem(str(link)) is None
    assert Path(disk) in block_devices()


def test_mounted(disk: str, tmp_path: Path) -> None:
    link = tmp_path / "by-id"
    link.symlink_to(disk)
    point = tmp_path / "point"
    point.mkdir()
    call("mkfs.ext4", "-q", disk)
    call("mount", disk, point)
    try:
        assert device_problem(disk, "ext4") == f"{disk} is mounted on {point}"
        assert device_problem(str(link), "ext4") == f"{disk} is mounted on {point}"
    finally:
        call("umount", point)
    assert device_problem(disk, "ext4") is None


def test_mounted_where_nobody_sees_it(disk: str, tmp_path: Path) -> None:
    call("mkfs.ext4", "-q", disk)
    script = 'mount "$0" "$1" && echo mounted && read line'
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, disk, tmp_path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "mounted\n"
        assert device_problem(disk, "ext4") == f"{disk} is in use"
        other.communicate("\n")
    assert device_problem(disk, "ext4") is None


def test_opened_by_a_program_that_wants_it_alone(disk: str) -> None:
    descriptor = os.open(disk, os.O_RDWR | os.O_EXCL)
    try:
        assert device_problem(disk) == f"{disk} is in use"
    finally:
        os.close(descriptor)


def test_swap_in_use(disk: str) -> None:
    call("mkswap", disk)
    if subprocess.run(["swapon", disk], capture_output=True, check=False).returncode:
        pytest.skip("this kernel does not swap")
    try:
        assert device_problem(disk, "swap") == f"{disk} is swap space in use"
    finally:
        call("swapoff", disk)
    assert device_problem(disk, "swap") is None


def test_part_of_another_device(disk: str) -> None:
    with attached(Path(disk)) as upper:
        assert device_problem(disk) == f"{disk} is part of {Path(upper).name}"
        assert device_problem(upper) is None


def test_read_only(image: Path) -> None:
    with attached(image, "--read-only") as device:
        assert device_problem(device) == f"{device} can only be read"


def test_partitioned_disk_and_its_partitions(disk: str, tmp_path: Path) -> None:
    name = Path(disk).name
    first, second = f"{disk}p1", f"{disk}p2"
    call("addpart", disk, "1", "2048", "32768")
    call("addpart", disk, "2", "34816", "32768")
    try:
        for signature in (None, "dos"):
            assert device_problem(disk, signature) == f"{disk} has partitions ({name}p1, {name}p2)"
        call("mkfs.ext4", "-q", first)
        point = tmp_path / "point"
        point.mkdir()
        call("mount", first, point)
        try:
            assert device_problem(first, "ext4") == f"{first} is mounted on {point}"
            assert device_problem(second) is None  # a neighbour does not matter
        finally:
            call("umount", point)
    finally:
        call("delpart", disk, "1")
        call("delpart", disk, "2")


def test_partition_table_without_partitions(disk: str) -> None:
    entry = struct.pack("<B3sB3sII", 0, b"\0\0\0", 0x83, b"\0\0\0", 2048, 2048)
    Path(disk).write_bytes(b"\0" * 440 + b"FSKT\0\0" + entry.ljust(64, b"\0") + b"\x55\xaa")
    for signature in (None, "dos"):
        assert device_problem(disk, signature) == f"{disk} has a partition table (dos)"


@pytest.mark.parametrize(
    ("mkfs", "signature"), [(["mkfs.ext4", "-q"], "ext4"), (["mkfs.ext2", "-q"], "ext2"), (["mkswap"], "swap")]
)
def test_signed(disk: str, mkfs: list[str], signature: str) -> None:
    call(*mkfs, disk)
    before = content(disk)
    assert device_problem(disk) == (
        f'{disk} holds {signature}; if that may be destroyed, say so in the plan: signature = "{signature}"'
    )
    assert device_problem(disk, "xfs") == f'{disk} holds {signature}, and the plan says signature = "xfs"'
    assert device_problem(disk, signature) is None
    assert content(disk) == before


def test_several_signatures_are_never_one(disk: str) -> None:
    call("mkfs.ext4", "-q", disk)
    with Path(disk).open("r+b") as file:
        file.seek(0x8000)
        file.write(b"\x01CD001\x01")
    assert str(device_problem(disk)).startswith(f"{disk} holds ext4, iso9660; ")
    assert device_problem(disk, "ext4") == f'{disk} holds ext4, iso9660, and the plan says signature = "ext4"'


def test_signature_that_is_not_there(disk: str) -> None:
    assert device_problem(disk, "ext4") == (
        f'{disk} holds nothing, and the plan says signature = "ext4": is this the device you mean?'
    )


def test_what_a_launch_has_left_may_be_overwritten(disk: str) -> None:
    call("mkfs.ext4", "-q", "-L", "fsbench", disk)
    assert device_problem(disk) is None
    call("mkfs.ext4", "-q", "-F", "-L", "precious", disk)
    assert str(device_problem(disk)).startswith(f"{disk} holds ext4; ")


def test_device_that_has_changed_is_not_formatted(disk: str, tmp_path: Path) -> None:
    call("mkfs.ext4", "-q", disk)
    before = content(disk)
    target = DeviceTarget(kind="device", name="disk", filesystem="ext4", device=disk)
    with pytest.raises(StepError) as raised, target.ready(tmp_path):
        pass
    assert raised.value.steps[-1].output.startswith(f"{disk} holds ext4; ")
    assert content(disk) == before


# ---- launches on devices


def on(disk: str, **more: object) -> dict[str, object]:
    return {"kind": "device", "name": "disk", "filesystem": "ext4", "device": disk, **more}


@pytest.mark.parametrize("devices", [(), ("/dev/null", "/tmp")])
def test_device_has_to_be_named_twice(
    disk: str, tmp_path: Path, make_plan: Callable[..., Plan], devices: tuple[str, ...]
) -> None:
    plan = make_plan(target=[on(disk)])
    with pytest.raises(LaunchError) as raised:
        choose(plan, tmp_path, isolation_problem=None, devices=devices)
    assert str(raised.value).startswith(
        f'Target "disk" cannot be had: all that is on {disk} would be lost, '
        f"so it has to be named once more: --device {disk}."
    )


@pytest.mark.slow
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
class TestLaunchOnADevice:
    def test_signed_device_is_refused_before_anything_starts(
        self, disk: str, tmp_path: Path, make_plan: Callable[..., Plan]
    ) -> None:
        call("mkfs.ext2", "-q", disk)
        before = content(disk)
        with pytest.raises(LaunchError, match=f"{disk} holds ext2; if that may be destroyed"):
            launch(make_plan(target=[on(disk)], repeats=1), root=tmp_path, devices=[disk])
        assert content(disk) == before
        assert list((tmp_path / "raw_results" / "runs").iterdir()) == []

    def test_runs_are_made(self, disk: str, tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
        call("mkfs.ext2", "-q", disk)
        link = tmp_path / "by-id"
        link.symlink_to(disk)
        targets = [on(disk, signature="ext2"), on(disk, name="other", filesystem="ext3", signature="ext2")]
        result = launch(make_plan(target=targets, repeats=2), root=tmp_path, devices=[str(link)])
        assert result.failures == {}
        assert len(result.runs) == 4
        assert call("losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE", disk).endswith("/disk")
        # It holds what the last run has made, and that may be overwritten.
        assert "fsbench" in call("wipefs", "--no-act", "--noheadings", "--output", "LABEL", disk)
        again = launch(make_plan(target=[on(disk)], repeats=1), root=tmp_path, devices=[disk])
        assert again.failures == {}
