"""Which block devices may be overwritten. All devices here are loop devices that the tests make."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from fsbench_kit.launch import dry_run, launch, resume, tools, zfs
from fsbench_kit.launch.consent import Consent
from fsbench_kit.launch.devices import block_devices, device_problem
from fsbench_kit.launch.events import RunEnded
from fsbench_kit.launch.resolve import resolve_plan
from fsbench_kit.launch.targets import Folders
from fsbench_kit.model.errors import LaunchError
from tests.launch.traces import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsbench_kit.launch import Event, Plan

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
        for part in sorted(Path("/sys/block", Path(device).name).glob("*/partition")):
            _without(device, part.read_text().strip())
        call("losetup", "--detach", device)


def _without(device: str, part: str) -> None:
    """Take a partition away; on a busy machine programs may still be looking at it."""
    for _ in range(100):
        if subprocess.run(["delpart", device, part], capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.1)
    pytest.fail(f"{device} keeps its partition {part}")


def resize(device: str, mebibytes: int) -> None:
    image = call("losetup", "--noheadings", "--output", "BACK-FILE", device)
    call("truncate", "--size", f"{mebibytes}M", image)
    call("losetup", "--set-capacity", device)


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
    assert device_problem(absent) == f"cannot look up {absent}: No such file or directory"


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
        assert device_problem(device) == f"{device} is read-only"


def test_partitioned_disk_and_its_partitions(disk: str, tmp_path: Path) -> None:
    name = Path(disk).name
    first, second = f"{disk}p1", f"{disk}p2"
    call("addpart", disk, "1", "2048", "32768")
    call("addpart", disk, "2", "34816", "32768")
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
    assert device_problem(disk, "xfs") == f'{disk} holds {signature}, but the plan says signature = "xfs"'
    assert device_problem(disk, signature) is None
    assert content(disk) == before


def test_several_signatures_are_never_one(disk: str) -> None:
    call("mkfs.ext4", "-q", disk)
    with Path(disk).open("r+b") as file:
        file.seek(0x8000)
        file.write(b"\x01CD001\x01")
    assert str(device_problem(disk)).startswith(f"{disk} holds ext4, iso9660; ")
    assert device_problem(disk, "ext4") == f'{disk} holds ext4, iso9660, but the plan says signature = "ext4"'


def test_signature_that_is_not_there(disk: str) -> None:
    assert device_problem(disk, "ext4") == (
        f'{disk} is empty, but the plan says signature = "ext4": is this the right device?'
    )


@pytest.mark.parametrize("label", ["fsbench", "fsbench-archive"])
def test_label_alone_permits_nothing(disk: str, label: str) -> None:
    call("mkfs.ext4", "-q", "-L", label, disk)
    assert str(device_problem(disk)).startswith(f"{disk} holds ext4; ")


@pytest.mark.parametrize("place", [0, 40 * 2**20, 64 * 2**20 - 1])
def test_data_without_a_signature(disk: str, place: int) -> None:
    with Path(disk).open("r+b") as file:
        file.seek(place)
        file.write(b"x")
    assert device_problem(disk) == (
        f"{disk} holds data without a signature; if that may be destroyed, say so in the plan: "
        'signature = "unknown"'
    )
    assert device_problem(disk, "ext4") == (
        f'{disk} holds data without a signature, but the plan says signature = "ext4"'
    )
    assert device_problem(disk, "unknown") is None


def test_unknown_is_no_word_for_everything(disk: str) -> None:
    assert str(device_problem(disk, "unknown")).startswith(f"{disk} is empty, but the plan says ")
    call("mkfs.ext4", "-q", disk)
    assert device_problem(disk, "unknown") == f'{disk} holds ext4, but the plan says signature = "unknown"'


@contextmanager
def opened_by_another(device: str) -> Iterator[str]:
    """Open a device for writing in another process, as a virtual machine does, and name that."""
    script = "import os, sys; os.open(sys.argv[1], os.O_RDWR); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", script, device]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            yield f"open in process {other.pid} ({shlex.join(command)})"
        finally:
            other.communicate("")


def test_opened_by_a_program_that_shares_it(disk: str) -> None:
    with opened_by_another(disk) as use:
        assert device_problem(disk) == f"{disk} is {use}"
    assert device_problem(disk) is None


def test_whole_disk_opened_beside_a_partition(disk: str) -> None:
    call("addpart", disk, "1", "2048", "32768")
    call("addpart", disk, "2", "34816", "32768")
    with opened_by_another(disk) as use:
        assert device_problem(f"{disk}p1") == f"{disk}p1 is {use}"
    with opened_by_another(f"{disk}p2"):
        assert device_problem(f"{disk}p1") is None  # a neighbour does not matter


def test_program_that_looks_for_a_moment_is_waited_for(disk: str) -> None:
    with subprocess.Popen(
        ["sh", "-c", 'exec 3< "$0"; echo; exec sleep 0.5', disk], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert device_problem(disk) is None


def test_part_of_another_device_by_another_node(disk: str, tmp_path: Path) -> None:
    node = tmp_path / "node"
    number = Path(disk).stat().st_rdev
    call("mknod", node, "b", str(os.major(number)), str(os.minor(number)))
    with attached(node) as upper:
        assert device_problem(disk) == f"{disk} is part of {Path(upper).name}"


# ---- launches on devices


def on(disk: str, **more: object) -> dict[str, object]:
    return {"kind": "device", "name": "disk", "filesystem": "ext4", "device": disk, **more}


@pytest.fixture
def other(tmp_path: Path) -> Iterator[str]:
    """Another disk of the test's own, as large and as empty."""
    path = tmp_path / "other"
    with path.open("wb") as file:
        file.truncate(64 * 2**20)
    with attached(path) as device:
        yield device


@pytest.fixture
def links() -> Iterator[Path]:
    """A folder for links, in ``/dev`` as plans want it."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.mark.parametrize("devices", [(), ("/dev/null", "/tmp")])
def test_device_has_to_be_named_twice(
    disk: str, tmp_path: Path, make_plan: Callable[..., Plan], devices: tuple[str, ...]
) -> None:
    plan = make_plan(target=[on(disk)])
    with pytest.raises(LaunchError) as raised:
        launch(plan, root=tmp_path, devices=devices)
    assert str(raised.value).startswith(
        f'Target "disk" is not available: all data on {disk} would be destroyed; '
        f"to confirm, name it again: --device {disk}."
    )
    assert set(Path(disk).read_bytes()) == {0}
    if not devices:
        assert any(f"--device {disk}" in note for note in dry_run(plan, tmp_path, devices).notes)


def test_disk_that_takes_the_place_of_the_one_that_was_named(
    image: Path, tmp_path: Path, make_plan: Callable[..., Plan]
) -> None:
    """It has the same name and number, and is as large: the kernel's count of disks alone tells."""
    for _ in range(20):  # a test that runs at the same time can take the name
        with attached(image) as disk:
            plan, consent = make_plan(target=[on(disk)]), Consent.to([disk])
            resolve_plan(plan, Folders(tmp_path), isolation_problem=None, consent=consent)
        if is_again := subprocess.run(["losetup", disk, image], check=False).returncode == 0:
            break
    assert is_again
    try:
        with pytest.raises(LaunchError, match=f"{disk} is no longer the disk that was named"):
            resolve_plan(plan, Folders(tmp_path), isolation_problem=None, consent=consent)
    finally:
        call("losetup", "--detach", disk)


def test_device_cannot_hold_two_filesystems_at_once(
    disk: str, tmp_path: Path, make_plan: Callable[..., Plan]
) -> None:
    targets = [on(disk, filesystem=name, name=name) for name in ("ext2", "ext4")]
    dry_run(make_plan(target=targets), tmp_path, [disk])
    reused = make_plan(target=targets, filesystems="reused")
    with pytest.raises(
        LaunchError, match=f'targets "ext2" and "ext4" cannot both keep their filesystem on {disk}'
    ):
        dry_run(reused, tmp_path, [disk])


def test_mirror_of_a_device_with_itself(
    disk: str, image: Path, links: Path, tmp_path: Path, make_plan: Callable[..., Plan]
) -> None:
    link = links / "again"
    link.symlink_to(disk)
    with attached(image) as second:
        for again in (str(link), second):
            mirror = {"kind": "mirror", "name": "mirror", "filesystem": "btrfs", "devices": [disk, again]}
            with pytest.raises(LaunchError, match=f"{disk} and {again} are the same device"):
                dry_run(make_plan(target=[mirror]), tmp_path, [disk, again])


def test_targets_on_one_device_by_two_names(
    disk: str, links: Path, tmp_path: Path, make_plan: Callable[..., Plan]
) -> None:
    link = links / "again"
    link.symlink_to(disk)
    plan = make_plan(target=[on(disk), on(str(link), name="second")])
    with pytest.raises(LaunchError) as raised:
        dry_run(plan, tmp_path, [disk])
    assert raised.value.what == f'{disk} and {link} are the same device (targets "disk" and "second")'


@pytest.mark.slow
@pytest.mark.skipif(tools.isolation_problem() is not None, reason="needs mounts of its own")
class TestLaunchOnADevice:
    def test_signed_device_is_refused_before_anything_starts(
        self, disk: str, tmp_path: Path, make_plan: Callable[..., Plan]
    ) -> None:
        call("mkfs.ext2", "-q", "-L", "fsbench-archive", disk)
        before = content(disk)
        with pytest.raises(LaunchError, match=f"{disk} holds ext2; if that may be destroyed"):
            launch(make_plan(target=[on(disk)], repeats=1), root=tmp_path, devices=[disk])
        assert content(disk) == before
        assert list((tmp_path / "raw_results" / "runs").iterdir()) == []

    def test_runs_are_made(self, disk: str, links: Path, tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
        call("mkfs.ext2", "-q", disk)
        link = links / "by-id"
        link.symlink_to(disk)
        targets = [on(disk, signature="ext2"), on(disk, name="other", filesystem="xfs", signature="ext2")]
        resize(disk, 512)
        result = launch(make_plan(target=targets, repeats=2), root=tmp_path, study="s", devices=[str(link)])
        assert result.failures == {}
        assert len(result.runs) == 4
        assert call("losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE", disk).endswith("/disk")

        # Another launch may not overwrite what it has left, but a later start of the same one may.
        assert "fsbench" in call("wipefs", "--no-act", "--noheadings", "--output", "LABEL", disk)
        with pytest.raises(LaunchError, match=f"{disk} holds "):
            launch(make_plan(target=[on(disk)], repeats=1), root=tmp_path, devices=[disk])
        shutil.rmtree(result.runs[-1])
        again = resume("s", root=tmp_path, devices=[disk])
        assert (again.failures, len(again.runs)) == ({}, 1)

    def test_signature_permits_the_first_format_only(
        self, disk: str, tmp_path: Path, make_plan: Callable[..., Plan]
    ) -> None:
        call("mkfs.ext2", "-q", disk)
        plan = make_plan(target=[on(disk, signature="ext2")], repeats=2)
        first = launch(plan, root=tmp_path, study="s", devices=[disk])
        assert first.failures == {}
        shutil.rmtree(first.runs[-1])
        call("mkfs.ext2", "-q", "-F", "-L", "fsbench", disk)
        before = content(disk)
        with pytest.raises(LaunchError, match=f"{disk} holds ext2, which this launch did not make"):
            resume("s", root=tmp_path, devices=[disk])
        assert content(disk) == before

    def test_launch_that_is_killed_knows_what_it_made_last(
        self, disk: str, tmp_path: Path, make_plan: Callable[..., Plan]
    ) -> None:
        """That is of no run that is there."""
        noted = tmp_path / "raw_results" / "runs" / "s" / "devices.json"

        def kill_when_noted(before: str) -> None:
            eventually(lambda: noted.read_text() != before, noted.read_text)
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    if "fsbench_kit.launch.runner" in process.cmdline():
                        process.kill()

        def watch(event: Event) -> None:
            if isinstance(event, RunEnded):
                before = noted.read_text()
                threading.Thread(target=kill_when_noted, args=(before,)).start()

        plan = make_plan(target=[on(disk)], cool_down=1)
        with pytest.raises(LaunchError, match="the launch ended unexpectedly after 1 run \\("):
            launch(plan, root=tmp_path, study="s", devices=[disk], progress=watch)
        again = resume("s", root=tmp_path, devices=[disk])
        assert (again.failures, again.done, len(again.runs)) == ({}, 1, 1)

    def test_study_goes_on_with_its_own_disk(
        self, disk: str, other: str, links: Path, tmp_path: Path, make_plan: Callable[..., Plan]
    ) -> None:
        link = links / "disk"
        link.symlink_to(disk)
        first = launch(make_plan(target=[on(str(link))]), root=tmp_path, study="s", devices=[str(link)])
        shutil.rmtree(first.runs[-1])
        link.unlink()
        link.symlink_to(other)
        resize(other, 65)
        with pytest.raises(LaunchError, match=f"{link} is not the disk that the earlier runs"):
            resume("s", root=tmp_path, devices=[str(link)])

    def test_link_that_is_pointed_to_another_disk(
        self, disk: str, other: str, links: Path, tmp_path: Path, make_plan: Callable[..., Plan]
    ) -> None:
        link = links / "disk"
        link.symlink_to(disk)
        before = content(other)

        def point_elsewhere(event: Event) -> None:
            if isinstance(event, RunEnded) and event.order == 1:
                link.unlink()
                link.symlink_to(other)

        plan = make_plan(target=[on(str(link))], repeats=2, cool_down=1)
        result = launch(plan, root=tmp_path, devices=[str(link)], progress=point_elsewhere)
        (failure,) = result.failures.values()
        assert f"{link} is no longer the disk that was named for this launch" in failure
        assert content(other) == before

    def test_link_that_is_pointed_to_another_disk_after_the_last_look(
        self,
        disk: str,
        links: Path,
        tmp_path: Path,
        make_plan: Callable[..., Plan],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        link, programs = links / "disk", tmp_path / "programs"
        link.symlink_to(disk)
        programs.mkdir()
        wipefs = programs / "wipefs"
        looks = f'[ "$1" = --no-act ] && echo >> {tmp_path}/looks'
        call("truncate", "--size", "64M", tmp_path / "second")
        with attached(tmp_path / "second") as second:
            swap = (
                f"[ $(wc -l < {tmp_path}/looks) = 2 ] && ln -sfn {second} {link}"  # the first is before all runs
            )
            wipefs.write_text(f'#!/bin/sh\n{tools.find_program("wipefs")} "$@"; {looks} && {swap}; true\n')
            wipefs.chmod(0o755)
            monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
            plan = make_plan(target=[on(str(link))], repeats=1)
            result = launch(plan, root=tmp_path, devices=[str(link)])
            (failure,) = result.failures.values()
            assert f": wipefs --all {link}: {link} is no longer the disk" in failure
            assert not any(Path(second).read_bytes())

    def test_process_that_opens_a_device_between_two_runs_is_named(
        self, disk: str, tmp_path: Path, make_plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The launch has processes of its own, and sees those of the machine all the same."""
        monkeypatch.setattr("fsbench_kit.launch.devices._PASSING", 0)
        with ExitStack() as stack:
            uses = []

            def use(event: Event) -> None:
                if isinstance(event, RunEnded) and event.order == 1:
                    # The launch holds the device all the time, so that its number stays its own.
                    assert "fsbench_kit.launch.runner" in str(device_problem(disk))
                    uses.append(stack.enter_context(opened_by_another(disk)))

            plan = make_plan(target=[on(disk)], repeats=2, cool_down=1)
            result = launch(plan, root=tmp_path, devices=[disk], progress=use)
        (failure,) = result.failures.values()
        assert failure.endswith(f"{disk} is {uses[0]}")

    def test_device_whose_name_begins_like_that_of_another(
        self, disk: str, other: str, links: Path, tmp_path: Path, make_plan: Callable[..., Plan]
    ) -> None:
        """In the command for both, neither name is to become a part of the other's."""
        for name, device in (("a", disk), ("a1", other)):
            (links / name).symlink_to(device)
            resize(device, 256)
        devices = [str(links / name) for name in ("a", "a1")]
        mirror = {"kind": "mirror", "name": "mirror", "filesystem": "btrfs", "devices": devices}
        result = launch(make_plan(target=[mirror], repeats=2), root=tmp_path, devices=devices)
        assert result.failures == {}

    def test_pool_on_a_device(self, disk: str, tmp_path: Path, make_plan: Callable[..., Plan]) -> None:
        if zfs.implementation() is None:
            pytest.skip("this machine has no ZFS")
        resize(disk, 128)
        pool = {"kind": "zfs", "name": "pool", "devices": [disk]}
        result = launch(make_plan(target=[pool], repeats=4), root=tmp_path, devices=[disk])
        assert result.failures == {}
