"""The machine and its state around a run, as the kernel reports them.

Values that a machine does not report are left out.
"""

from __future__ import annotations

import os
import platform
import re
import stat
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psutil

from fsbench_kit.launch.tools import asked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SECTOR: Final = 512  # the unit of /sys/block/*/stat, whatever the device's sector size
_TRIM_TIMEOUT: Final = 120.0
_LOOK: Final = 0.25  # seconds; processor time is counted in hundredths of a second
_DROP_CACHES: Final = Path("/proc/sys/vm/drop_caches")


@dataclass(frozen=True, slots=True)
class Mount:
    """A line of ``/proc/self/mountinfo``.

    Attributes
    ----------
    line
        The line itself.
    point
        The mount point.
    device
        Major and minor number of the filesystem, or of the device that is its source.
    filesystem
        The filesystem type.
    options
        The options of the mount and of the filesystem, without duplicates.
    """

    line: str
    point: Path
    device: tuple[int, int]
    filesystem: str
    options: str


@dataclass(frozen=True, slots=True)
class Device:
    """A block device under a filesystem.

    Attributes
    ----------
    name
        Its kernel name.
    folder
        Its folder in ``/sys``.
    backing_file
        The file behind a loop device.
    """

    name: str
    folder: Path
    backing_file: Path | None

    @property
    def disk(self) -> Path:
        """The ``/sys`` folder of the whole disk, if this is a partition."""
        return self.folder.parent if content_of(self.folder / "partition") else self.folder

    @property
    def scheduler(self) -> str | None:
        """The active I/O scheduler."""
        chosen = re.search(r"\[(\S+)\]", content_of(self.disk / "queue" / "scheduler") or "")
        return chosen[1] if chosen else None

    @property
    def read_ahead(self) -> str | None:
        """The read-ahead of the kernel, in bytes."""
        kib = content_of(self.disk / "queue" / "read_ahead_kb")
        return str(int(kib) * 1024) if kib else None

    @property
    def bypasses_cache(self) -> bool:
        """Whether a loop device uses direct I/O on its backing file."""
        return content_of(self.folder / "loop" / "dio") == "1"

    @property
    def is_lowest(self) -> bool:
        """Whether the device is not composed of other devices that the kernel shows."""
        return self.backing_file is None and not any((self.folder / "slaves").glob("*"))

    @property
    def size(self) -> int | None:
        """The size in bytes."""
        sectors = content_of(self.folder / "size")
        return int(sectors) * _SECTOR if sectors else None

    def counters(self) -> dict[str, int]:
        """Return the bytes read from and written to the device since boot."""
        fields = (self.folder / "stat").read_text(encoding="ascii").split()
        return {"read_bytes": int(fields[2]) * _SECTOR, "written_bytes": int(fields[6]) * _SECTOR}


def mounts() -> Iterator[Mount]:
    """Yield the mounts, in mount order."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        _, _, number, _, point, options, *_ = left.split(" ")
        filesystem, source, more = right.split(" ")
        yield Mount(
            line=line,
            point=Path(_unescaped(point)),
            device=_source_device(_unescaped(source)) or _numbers(number),
            filesystem=filesystem,
            options=",".join(dict.fromkeys(f"{options},{more}".split(","))),
        )


def mount_of(path: Path) -> Mount:
    """Return the mount that a path lies on."""
    path = path.resolve()
    over = [mount for mount in mounts() if path.is_relative_to(mount.point)]
    deepest = max(len(mount.point.parts) for mount in over)
    return [mount for mount in over if len(mount.point.parts) == deepest][-1]  # the last hides earlier ones


def devices_under(*paths: Path) -> tuple[Device, ...]:
    """Return the block devices under paths: those of the filesystem, the devices under these, and so on.

    The path of a block device stands for that device. Filesystems in memory or on a network have none.
    """
    found: list[Device] = []
    waiting = [device for path in paths for device in _devices_of(path)]
    while waiting:
        device = waiting.pop(0)
        if device not in found:
            found.append(device)
            waiting += _devices_below(device)
    return tuple(found)


def size_under(path: Path) -> int | None:
    """Return the size in bytes of an image, or of the block device under a path; ``None`` if it is neither."""
    if path.is_file():
        return path.stat().st_size
    devices = devices_under(path)
    return devices[0].size if devices else None


def content_of(path: Path) -> str | None:
    """Return the content of a kernel file, or ``None`` if it is empty or cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def machine_settings() -> dict[str, str]:
    """Return what is known of the machine, keyed by `fsbench_kit.model.vocabulary.SETTINGS`."""
    model = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    governors = {
        content_of(path) for path in Path("/sys/devices/system/cpu").glob("cpu*/cpufreq/scaling_governor")
    }
    known = {
        "host": platform.node(),
        "os": _operating_system(),
        "kernel": platform.release(),
        "boot": content_of(Path("/proc/sys/kernel/random/boot_id")),
        "cpu": model[1] if model else None,
        "cpus": str(os.cpu_count()),
        "memory": str(psutil.virtual_memory().total),
        "governor": ", ".join(sorted(filter(None, governors))),
    }
    return {key: value for key, value in known.items() if value}


def storage_settings(directory: Path, members: Sequence[Path] = ()) -> dict[str, str]:
    """Return what is known of the storage under a directory, with the same keys.

    Loop device numbers are left out: they change from run to run and mean nothing.

    Parameters
    ----------
    directory
        A directory on a filesystem.
    members
        The images or devices that hold its data, if the kernel does not show them.
    """
    devices = devices_under(*(members or [directory]))
    files = [f"image on {mount_of(path).filesystem}" for path in members if path.is_file()]
    described = Counter([*files, *map(_description, devices)])
    known = {
        "device": " on ".join(f"{number} x {what}" if number > 1 else what for what, number in described.items()),
        "scheduler": ", ".join(device.scheduler or "unknown" for device in devices),
        "read_ahead": ", ".join(device.read_ahead or "unknown" for device in devices),
        "nr_requests": ", ".join(content_of(device.disk / "queue/nr_requests") or "unknown" for device in devices),
        "mount_options": mount_of(directory).options,
    }
    return {key: value for key, value in known.items() if value}


def machine_state(directory: Path, members: Sequence[Path] = ()) -> dict[str, Any]:
    """Return what changes from run to run: load, memory, free space, temperatures and device counters.

    Parameters are those of `storage_settings`.
    """
    space = os.statvfs(directory)
    devices = {device: device.counters() for device in devices_under(*(members or [directory]))}
    return {
        "load_average": list(os.getloadavg()),
        "memory_available": psutil.virtual_memory().available,
        "free_bytes": space.f_bavail * space.f_frsize,
        "size_bytes": space.f_blocks * space.f_frsize,
        "devices": {device.name: counters for device, counters in devices.items()},
        "disks": _summed([counters for device, counters in devices.items() if device.is_lowest]),
        "asked": _requested(),
        "fetched": _read_from_devices(),
        "pressure": _pressure(),
        "temperatures": _temperatures(),
    }


def _pressure() -> dict[str, dict[str, int]]:
    """Return the microseconds for which some tasks, and all tasks, have been stalled so far (PSI)."""
    found: dict[str, dict[str, int]] = {}
    for path in Path("/proc/pressure").glob("*"):
        lines = re.findall(r"^(some|full) .*total=(\d+)$", content_of(path) or "", re.MULTILINE)
        found[path.name] = {kind: int(total) for kind, total in lines}
    return found


def _temperatures() -> dict[str, float] | None:
    """Return sensor readings in degrees Celsius, or ``None`` if there are none."""
    found: dict[str, float] = {}
    for chip, sensors in psutil.sensors_temperatures().items():
        for number, sensor in enumerate(sensors, 1):
            name = f"{chip} {sensor.label or number}"
            found[f"{name} {number}" if name in found else name] = sensor.current
    return found or None


def quiet(directory: Path, members: Sequence[Path] = ()) -> dict[str, Any]:
    """Measure for a moment what others do while the launch itself is idle.

    Parameters are those of `storage_settings`.

    Returns
    -------
    dict
        ``seconds`` measured; ``busy``, the share of processor time; ``devices``, the bytes that each moved.
    """
    devices = devices_under(*(members or [directory]))
    before, times = {device: device.counters() for device in devices}, psutil.cpu_times()
    time.sleep(_LOOK)
    after, later = {device: device.counters() for device in devices}, psutil.cpu_times()
    idle = later.idle - times.idle + later.iowait - times.iowait
    # Guest time is counted twice: by itself and as part of user time.
    whole = sum(later[:8]) - sum(times[:8])
    return {
        "seconds": _LOOK,
        "busy": max(0.0, 1 - idle / whole) if whole else 0.0,
        "devices": {
            device.name: {key: after[device][key] - counted for key, counted in before[device].items()}
            for device in devices
        },
    }


def _summed(counters: Sequence[dict[str, int]]) -> dict[str, int] | None:
    """Return the total of several devices' counters, or ``None`` if there are no devices."""
    if not counters:
        return None
    return {key: sum(counted[key] for counted in counters) for key in counters[0]}


def _requested() -> dict[str, int] | None:
    """Return the bytes read and written by system calls of this process and its finished children."""
    known = _io()
    return {"read_bytes": known["rchar"], "written_bytes": known["wchar"]} if known else None


def _read_from_devices() -> int | None:
    """Return the bytes fetched from devices for these processes: files and program code."""
    return _io().get("read_bytes")


def _io() -> dict[str, int]:
    """Return the kernel's I/O accounting of this process and its finished children; empty without accounting."""
    lines = (content_of(Path("/proc/self/io")) or "").splitlines()
    return {name: int(count) for name, count in (line.split(": ") for line in lines)}


def caches_problem() -> str | None:
    """Return what it means that the kernel's caches cannot be dropped, or ``None`` if they can be."""
    if os.access(_DROP_CACHES, os.W_OK):
        return None
    return "Caches are kept, because dropping them needs root: reads may be served from memory."


def settle(*, drop_caches: bool) -> str:
    """Flush dirty data to disk and, if requested, drop the kernel's caches.

    Returns
    -------
    str
        The fate of the caches: ``dropped``, ``kept`` on request, or ``kept: <why>``.
    """
    os.sync()
    if not drop_caches:
        return "kept"
    try:
        _DROP_CACHES.write_text("3\n", encoding="ascii")  # page cache, directory entries and inodes
    except OSError as error:
        return f"kept: {error.strerror}"
    return "dropped"


def trim(directory: Path) -> str:
    """Discard the unused blocks of the filesystem under a directory.

    Returns
    -------
    str
        The output of ``fstrim``, or why the trim was not possible.
    """
    try:
        done = asked("fstrim", "--verbose", directory, timeout=_TRIM_TIMEOUT)
    except FileNotFoundError:
        return "not trimmed: fstrim is not installed"
    except subprocess.TimeoutExpired:
        return f"not trimmed: fstrim did not finish within {_TRIM_TIMEOUT:g} s"
    output = (done.stdout + done.stderr).strip().removeprefix("fstrim: ").removeprefix(f"{directory}: ")
    return output if done.returncode == 0 else f"not trimmed: {output}"


def _operating_system() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _devices_of(path: Path) -> Iterator[Device]:
    status = path.stat()
    is_device = stat.S_ISBLK(status.st_mode)
    number = (os.major(status.st_rdev), os.minor(status.st_rdev)) if is_device else mount_of(path).device
    link = Path(f"/sys/dev/block/{number[0]}:{number[1]}")
    if content_of(link / "dev") is None:  # absent or not visible
        return
    yield _device(link)
    # btrfs may have several devices, of which the kernel names one as the mount's source.
    for sibling in Path("/sys/fs/btrfs").glob(f"*/devices/{link.resolve().name}"):
        yield from (_device(other) for other in sorted(sibling.parent.iterdir()) if other != sibling)


def _devices_below(device: Device) -> Iterator[Device]:
    if device.backing_file is not None:
        yield from _devices_of(device.backing_file)
    yield from (_device(folder) for folder in sorted((device.folder / "slaves").glob("*")))


def _device(link: Path) -> Device:
    folder = link.resolve()
    backing = content_of(folder / "loop" / "backing_file")
    return Device(folder.name, folder, Path(backing) if backing else None)


def _description(device: Device) -> str:
    if device.backing_file is not None:
        cache = "past the page cache" if device.bypasses_cache else "through the page cache"
        return f"loop image ({cache}) on {mount_of(device.backing_file).filesystem}"
    model = content_of(device.disk / "device" / "model")
    return f"{device.name} ({model})" if model else device.name


def _source_device(source: str) -> tuple[int, int] | None:
    """Return the device numbers of a source in ``/dev``; some filesystems (btrfs) report others for the mount."""
    if not source.startswith("/dev/"):
        return None
    try:
        number = Path(source).stat().st_rdev
    except OSError:
        return None
    return os.major(number), os.minor(number)


def _numbers(text: str) -> tuple[int, int]:
    major, minor = text.split(":")
    return int(major), int(minor)


def _unescaped(text: str) -> str:
    r"""Undo the kernel's escaping of white space and backslashes as ``\040``."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
