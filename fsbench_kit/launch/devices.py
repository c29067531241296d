"""Block devices: which device a name refers to, what uses it, and whether it may be overwritten.

The answer is no unless everything speaks for yes. Nothing here writes to a device.
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
"""The label of every filesystem that launches create."""

UNKNOWN: Final = "unknown"
"""A plan's word for data without a recognised signature."""

PROCESSES: Final = Path("/proc")

_SYS: Final = Path("/sys/class/block")
_SIGNATURES: Final = ("wipefs", "--no-act", "--json", "--output", "TYPE,LABEL,UUID")
_PARTITION_TABLES: Final = frozenset({"PMBR", "atari", "bsd", "dos", "gpt", "mac", "minix", "sgi", "sun"})

_SECTOR: Final = 512  # the unit of /sys/class/block/*/size, whatever the device's sector size
_LOOP_GET_STATUS64: Final = 0x4C05  # linux/loop.h
_PASSING: Final = 2.0  # seconds that a device may stay open elsewhere: udev probes each device after a write
_PAUSE: Final = 0.1

_ENDS: Final = 2**20
_BLOCKS: Final = 256
_BLOCK: Final = 4096


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies a block device, even among devices that later get its name.

    Attributes
    ----------
    number
        Major and minor number.
    sequence
        The kernel's count of disks (``diskseq``), which increases with each disk and each inserted medium;
        ``None`` before Linux 5.15.
    size
        Bytes.
    start
        The byte offset of a partition on its disk; 0 for a whole disk.
    serial
        The identifier that the hardware, or the layer above it, reports; ``None`` if it has none.
    image
        The file behind a loop device, as the device and inode numbers of the file.
    """

    number: tuple[int, int]
    sequence: int | None
    size: int
    start: int
    serial: str | None
    image: tuple[int, int] | None

    @property
    def lasting(self) -> tuple[int, int, str | None]:
        """The part of the identity that survives a reboot."""
        return self.size, self.start, self.serial

    def is_same_storage(self, other: Identity) -> bool:
        """Return whether two devices share storage: one under two names or paths, or two on one image."""
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
        The signatures found.
    digest
        A hash of samples of the content if there is no signature; ``None`` if all samples are zeros.
    """

    signatures: frozenset[Signature]
    digest: str | None

    @property
    def types(self) -> list[str]:
        """The types of what it holds; empty if it holds nothing."""
        unsigned = {UNKNOWN} if self.digest else set()
        return sorted({signature.type for signature in self.signatures} or unsigned)

    def is_left_from(self, made: Content) -> bool:
        """Return whether this is what was created earlier: same label and UUID, or the same samples."""
        if not self.signatures:
            return self.digest == made.digest
        return self.signatures <= made.signatures and all(found.label and found.uuid for found in self.signatures)


class DeviceError(LaunchError):
    """A block device cannot be examined or must not be written."""


def resolved(name: str) -> Path:
    """Return the device node that a name in ``/dev`` refers to, following all links."""
    return Path(name).resolve()


def identify(name: str) -> Identity:
    """Return the identity of the device that a name refers to at this moment.

    Raises
    ------
    DeviceError
        If the name does not refer to a block device.
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
"""Where the kernel reports a disk's identifier: NVMe, SCSI, virtio, memory cards, composed devices."""


def device_problem(
    name: str,
    signature: str | None = None,
    *,
    made: Content | None = None,
    processes: Path = PROCESSES,
) -> str | None:
    """Return why a block device must not be overwritten, or ``None`` if it may be.

    Parameters
    ----------
    name
        A path of the device.
    signature
        The content that may be overwritten, as ``wipefs`` names it. It must match what is found.
    made
        What the launch itself created there; if given, nothing else may be overwritten.
    processes
        The ``/proc`` that shows the processes of the whole machine.
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
        return f"cannot find out what uses {name}: {error.filename}: {error.strerror}"


def block_devices() -> tuple[Path, ...]:
    """Return the disks and partitions that the kernel knows, except those of size zero."""
    found = sorted(_SYS.iterdir(), key=lambda folder: folder.name) if os.access(_SYS, os.R_OK) else []
    return tuple(Path("/dev", folder.name) for folder in found if _first_word(folder / "size") not in {"", "0"})


# ---- usage


def _use(node: Path, number: tuple[int, int]) -> str | None:
    """Return how a device is used, as far as the kernel reports it."""
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
    """Open the device exclusively: the kernel refuses if it is in use, in whatever mount namespace."""
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        if error.errno == errno.EBUSY:
            return f"{node} is in use"
        return f"cannot open {node}: {error.strerror}"
    return None


def _holder(node: Path, number: tuple[int, int], processes: Path) -> str | None:
    """Name a process that holds the device, or its whole disk, open without exclusive access."""
    numbers = {number, _number(_disk(_folder(number)))}
    end = time.monotonic() + _PASSING
    while (found := _process_with(numbers, processes)) is not None and time.monotonic() < end:
        time.sleep(_PAUSE)
    return f"{node} is open in process {found}" if found else None


def _process_with(numbers: AbstractSet[tuple[int, int] | None], processes: Path) -> str | None:
    this = (processes / "self").readlink().name
    for folder in processes.iterdir():
        if folder.name.isdecimal() and folder.name != this:
            with suppress(OSError):  # it has just ended, or belongs to another user
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


# ---- content


def content_of(node: Path) -> Content:
    """Examine what is on a device.

    Raises
    ------
    DeviceError
        If the device cannot be read.
    """
    if lack := not_installed(SYSTEM_PROGRAMS["wipefs"]):
        raise DeviceError(f"cannot find out what is on {node}: {lack}")
    answer = asked(*_SIGNATURES, node)
    if answer.returncode:
        raise DeviceError(f"cannot find out what is on {node}: {answer.stderr.strip()}")
    found = json.loads(answer.stdout or '{"signatures": []}')["signatures"]
    signatures = frozenset(Signature(entry["type"], entry["label"], entry["uuid"]) for entry in found)
    try:
        return Content(signatures, None if signatures else _digest(node))
    except OSError as error:
        raise DeviceError(f"cannot read {node}: {error.strerror}") from None


def _digest(node: Path) -> str | None:
    """Return a hash of the first and last MiB and of evenly spaced blocks between, or ``None`` if all are zero.

    Reading a whole disk would take hours.
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


# ---- where the kernel reports it


def _folder(number: tuple[int, int]) -> Path:
    return Path(f"/sys/dev/block/{number[0]}:{number[1]}").resolve()


def _disk(folder: Path) -> Path:
    """Return the ``/sys`` folder of the whole disk."""
    return folder.parent if _first_word(folder / "partition") else folder


def _number(folder: Path) -> tuple[int, int] | None:
    major, _, minor = _first_word(folder / "dev").partition(":")
    return (int(major), int(minor)) if minor else None


def _below_loop(folder: Path) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Return the device and inode numbers of the file behind a loop device, and the number of a device behind it.

    A path would not do: the file may have been deleted or have other names.
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
