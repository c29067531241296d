"""Block devices: which one a name leads to, who uses it, and whether its content may be destroyed.

The answer is no unless everything speaks for it. Nothing here is written.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shlex
import stat
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.environment import mounts
from fsbench_kit.launch.tools import SYSTEM_PROGRAMS, asked, not_installed
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

LABEL: Final = "fsbench"
"""The label of all filesystems that launches make."""

UNKNOWN: Final = "unknown"
"""What a plan calls content without a signature."""

PROCESSES: Final = Path("/proc")

_SYS: Final = Path("/sys/class/block")
_SIGNATURES: Final = ("wipefs", "--no-act", "--json", "--output", "TYPE,LABEL,UUID")
_PARTITION_TABLES: Final = frozenset({"PMBR", "atari", "bsd", "dos", "gpt", "mac", "minix", "sgi", "sun"})

_SECTOR: Final = 512  # the unit of /sys/class/block/*/size, whatever the device's own sectors are
_LOOP_GET_STATUS64: Final = 0x4C05  # linux/loop.h
_PASSING: Final = 2.0  # seconds for which a device may be open: udev looks at each that was written
_PAUSE: Final = 0.1

_ENDS: Final = 2**20
_BLOCKS: Final = 256
_BLOCK: Final = 4096


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells a block device from all others, also from one that gets its name later.

    Attributes
    ----------
    number
        Major and minor number.
    sequence
        The kernel's count of disks (``diskseq``), which goes on with each disk and each medium that is put in;
        ``None`` before Linux 5.15.
    size
        Bytes.
    start
        The byte of its disk at which a partition begins; 0 for a whole disk.
    serial
        The name that the hardware gives itself, or the layer above it; ``None`` where it has none.
    image
        The file under a loop device, by the numbers of its filesystem and inode.
    """

    number: tuple[int, int]
    sequence: int | None
    size: int
    start: int
    serial: str | None
    image: tuple[int, int] | None

    @property
    def lasting(self) -> tuple[int, int, str | None]:
        """What stays the same when the machine starts anew."""
        return self.size, self.start, self.serial

    def is_same_storage(self, other: Identity) -> bool:
        """Whether two devices hold the same bytes: one by two names, by two paths to it, or two of one image."""
        return (
            self.number == other.number
            or (self.image is not None and self.image == other.image)
            or (self.serial is not None and (self.serial, self.start) == (other.serial, other.start))
        )


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature on a device, as ``wipefs`` finds it."""

    type: str
    label: str | None
    uuid: str | None


@dataclass(frozen=True, slots=True)
class Content:
    """What is on a device.

    Attributes
    ----------
    signatures
        Those on it.
    digest
        A hash of samples of it, where it has no signature; ``None`` where all of them are zeros.
    """

    signatures: frozenset[Signature]
    digest: str | None

    @property
    def types(self) -> list[str]:
        """What it holds, in words; empty where it holds nothing."""
        unsigned = {UNKNOWN} if self.digest else set()
        return sorted({signature.type for signature in self.signatures} or unsigned)

    def is_left_from(self, made: Content) -> bool:
        """Whether this is what was made earlier: by label and UUID; without a signature, by its samples."""
        if not self.signatures:
            return self.digest == made.digest
        return self.signatures <= made.signatures and all(found.label and found.uuid for found in self.signatures)


class DeviceError(LaunchError):
    """A block device cannot be looked at, or must not be written."""


def resolved(name: str) -> Path:
    """Return the device node that a name in ``/dev`` leads to, by whatever links."""
    return Path(name).resolve()


def identify(name: str) -> Identity:
    """Tell which device a name leads to at this moment.

    Raises
    ------
    DeviceError
        If it leads to none.
    """
    try:
        status = resolved(name).stat()
    except OSError as error:
        raise DeviceError(f"cannot look up {name}: {error.strerror}") from None
    if not stat.S_ISBLK(status.st_mode):
        raise DeviceError(f"{name} is not a block device")
    number = os.major(status.st_rdev), os.minor(status.st_rdev)
    folder = _folder(number)
    disk = _disk(folder)
    sequence = _first_word(disk / "diskseq")
    return Identity(
        number=number,
        sequence=int(sequence) if sequence else None,
        size=int(_first_word(folder / "size") or 0) * _SECTOR,
        start=int(_first_word(folder / "start") or 0) * _SECTOR,
        serial=next(filter(None, (_first_word(disk / file) for file in _SERIALS)), None),
        image=_below_loop(folder)[0],
    )


_SERIALS: Final = ("wwid", "device/wwid", "serial", "device/serial", "device/cid", "dm/uuid", "md/uuid")
"""Where the kernel tells what a disk calls itself: NVMe, SCSI, virtio, memory cards, what is made of others."""


def device_problem(
    name: str,
    signature: str | None = None,
    *,
    made: Content | None = None,
    processes: Path = PROCESSES,
) -> str | None:
    """Say why a block device must not be overwritten; ``None`` where it may.

    Parameters
    ----------
    name
        A path of it.
    signature
        What is on it and may be destroyed, as ``wipefs`` calls it. It has to be what is found.
    made
        What the launch itself has made there. Then nothing else may be destroyed.
    processes
        Where the processes of the whole machine are shown.
    """
    try:
        number = identify(name).number
        node = resolved(name)
        return (
            _use(node, number)
            or _partitions(node, number)
            or _refusal_of_kernel(node)
            or _holder(node, number, processes)
            or _content_problem(node, signature, made)
        )
    except DeviceError as error:
        return str(error)
    except PermissionError as error:
        return f"cannot tell what uses {name}: {error.filename}: {error.strerror}"


def block_devices() -> tuple[Path, ...]:
    """Return the disks and partitions that the kernel knows, without those of no size."""
    found = sorted(_SYS.iterdir(), key=lambda folder: folder.name) if os.access(_SYS, os.R_OK) else []
    return tuple(Path("/dev", folder.name) for folder in found if _first_word(folder / "size") not in {"", "0"})


# ---- who uses it


def _use(node: Path, number: tuple[int, int]) -> str | None:
    """Name the use that is made of a device, as far as the kernel tells it in words."""
    for mount in mounts():
        if mount.device == number:
            return f"{node} is mounted on {mount.point}"
    swaps = Path("/proc/swaps").read_text(encoding="utf-8").splitlines()[1:]
    if any(Path(line.split()[0]).resolve() == node for line in swaps):
        return f"{node} is swap space in use"
    loops = [folder for folder in Path("/sys/block").glob("loop*") if _below_loop(folder)[1] == number]
    holders = sorted(folder.name for folder in (*loops, *(_folder(number) / "holders").glob("*")))
    if holders:
        return f"{node} is part of {', '.join(holders)}"
    if _first_word(_folder(number) / "ro") == "1":
        return f"{node} is read-only"
    return None


def _partitions(node: Path, number: tuple[int, int]) -> str | None:
    names = sorted(path.parent.name for path in _folder(number).glob("*/partition"))
    return f"{node} has partitions ({', '.join(names)})" if names else None


def _refusal_of_kernel(node: Path) -> str | None:
    """Ask the kernel for the device alone: it says no where anything has it, wherever that is mounted."""
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        if error.errno == errno.EBUSY:
            return f"{node} is in use"
        return f"cannot open {node}: {error.strerror}"
    return None


def _holder(node: Path, number: tuple[int, int], processes: Path) -> str | None:
    """Name a process that has the device open, or the disk of which it is a part, without asking for it alone."""
    numbers = {number, _number(_disk(_folder(number)))}
    end = time.monotonic() + _PASSING
    while (found := _process_with(numbers, processes)) is not None and time.monotonic() < end:
        time.sleep(_PAUSE)
    return f"{node} is open in process {found}" if found else None


def _process_with(numbers: AbstractSet[tuple[int, int] | None], processes: Path) -> str | None:
    this = (processes / "self").readlink().name
    for folder in processes.iterdir():
        if folder.name.isdecimal() and folder.name != this:
            with suppress(OSError):  # it has just ended, or is not ours to look at
                if not numbers.isdisjoint(_open_devices(folder)):
                    words = (folder / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
                    return f"{folder.name} ({shlex.join(words)})"
    return None


def _open_devices(process: Path) -> Iterator[tuple[int, int]]:
    for link in (process / "fd").iterdir():
        with suppress(OSError):  # it has just been closed
            status = link.stat()
            if stat.S_ISBLK(status.st_mode):
                yield os.major(status.st_rdev), os.minor(status.st_rdev)


# ---- what is on it


def content_of(node: Path) -> Content:
    """Look at what is on a device.

    Raises
    ------
    DeviceError
        If that cannot be done.
    """
    if lack := not_installed(SYSTEM_PROGRAMS["wipefs"]):
        raise DeviceError(f"cannot tell what is on {node}: {lack}")
    answer = asked(*_SIGNATURES, node)
    if answer.returncode:
        raise DeviceError(f"cannot tell what is on {node}: {answer.stderr.strip()}")
    found = json.loads(answer.stdout or '{"signatures": []}')["signatures"]
    signatures = frozenset(Signature(entry["type"], entry["label"], entry["uuid"]) for entry in found)
    try:
        return Content(signatures, None if signatures else _digest(node))
    except OSError as error:
        raise DeviceError(f"cannot read {node}: {error.strerror}") from None


def _digest(node: Path) -> str | None:
    """Return a hash of a device's first and last MiB and of blocks at even distances between; of zeros, ``None``.

    All of a disk would take hours to read.
    """
    digest, all_zeros = hashlib.sha256(), True
    with node.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        between = [(size * number // _BLOCKS // _BLOCK * _BLOCK, _BLOCK) for number in range(1, _BLOCKS)]
        for start, length in ((0, _ENDS), *between, (max(0, size - _ENDS), _ENDS)):
            file.seek(start)
            sample = file.read(length)
            digest.update(sample)
            all_zeros = all_zeros and not any(sample)
    return None if all_zeros else digest.hexdigest()


def _content_problem(node: Path, signature: str | None, made: Content | None) -> str | None:
    content = content_of(node)
    found = content.types
    if made is not None:
        if not found or content.is_left_from(made):
            return None
        return f"{node} holds {', '.join(found)}, which this launch did not make"
    if tables := sorted(_PARTITION_TABLES & set(found)):
        return f"{node} has a partition table ({', '.join(tables)})"
    if found == ([signature] if signature else []):
        return None
    if not found:
        return f'{node} is empty, but the plan says signature = "{signature}": is this the right device?'
    what = "data without a signature" if found == [UNKNOWN] else ", ".join(found)
    if signature:
        return f'{node} holds {what}, but the plan says signature = "{signature}"'
    return f'{node} holds {what}; if that may be destroyed, say so in the plan: signature = "{found[0]}"'


# ---- where the kernel tells it


def _folder(number: tuple[int, int]) -> Path:
    return Path(f"/sys/dev/block/{number[0]}:{number[1]}").resolve()


def _disk(folder: Path) -> Path:
    """Return the folder of the whole disk."""
    return folder.parent if _first_word(folder / "partition") else folder


def _number(folder: Path) -> tuple[int, int] | None:
    major, _, minor = _first_word(folder / "dev").partition(":")
    return (int(major), int(minor)) if minor else None


def _below_loop(folder: Path) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Return the filesystem and inode of the file under a loop device, and the number of the device that it is.

    A path would not do: what is under it may be deleted, or have other names.
    """
    status = bytearray(232)  # struct loop_info64
    try:
        if not (folder / "loop").exists():
            return None, None
        descriptor = os.open(Path("/dev", folder.name), os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.ioctl(descriptor, _LOOP_GET_STATUS64, status)
        finally:
            os.close(descriptor)
    except OSError:  # nothing is attached, or it has just been detached
        return None, None
    filesystem, inode, device = struct.unpack_from("=3Q", status)
    return (filesystem, inode), (os.major(device), os.minor(device)) if device else None


def _first_word(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
