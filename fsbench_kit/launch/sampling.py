"""Samples the machine once a second during a run: its devices, processors, memory and pressure (PSI).

A thread of the launch's own process reads kernel counters from files that stay open. It starts no program and
writes nothing until the run has ended, so that it disturbs no device, and it ends with its process. Its own cost
is measured. `fsbench_kit.formats.machine_samples` reads its output.
"""

from __future__ import annotations

import os
import re
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.data.files import SAMPLES_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fsbench_kit.launch.environment import Device

_INTERVAL: Final = 1.0  # seconds
_MOST: Final = 1024  # bytes; the values of interest are at the start of each file
_SECTOR: Final = 512
_CPU: Final = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_MEMORY: Final = ("MemAvailable", "Cached", "Dirty", "Writeback")


@dataclass(frozen=True, slots=True)
class _Source:
    """A kernel file.

    Attributes
    ----------
    file
        An open descriptor.
    columns
        The names of the values taken from it.
    values
        Extracts the values, in the base units of `fsbench_kit.model.units`; an empty string for a missing one.
    """

    file: int
    columns: tuple[str, ...]
    values: Callable[[str], Sequence[object]]

    def sample(self) -> tuple[Sequence[object], int]:
        """Return the current values, and how many bytes were read for them."""
        try:
            text = os.pread(self.file, _MOST, 0)
            return self.values(text.decode("ascii", "replace")), len(text)
        except (OSError, LookupError, ValueError):  # the device is gone
            return [""] * len(self.columns), 0


class Sampler:
    """Takes samples until it is stopped.

    Parameters
    ----------
    devices
        The block devices of the run, and those under them.
    """

    def __init__(self, devices: Sequence[Device]) -> None:
        self._sources = [source for found in (_machine(), _of_devices(devices)) for source in found]
        self._rows: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._processor_seconds = 0.0
        self._start = 0.0
        self.read_bytes = 0
        """Bytes read from kernel files, which count among the bytes that this process has read."""

    def start(self) -> None:
        """Take a sample now and one every second."""
        self._start = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Take the last sample and stop."""
        self._stop.set()
        self._thread.join()
        for source in self._sources:
            os.close(source.file)

    @property
    def cost(self) -> dict[str, Any]:
        """Return the cost of sampling, for the record of the run."""
        return {"samples": len(self._rows), "processor_seconds": self._processor_seconds}

    def write(self, folder: Path) -> None:
        """Write the samples to a file in a folder."""
        head = ",".join(["time", *(name for source in self._sources for name in source.columns)])
        (folder / SAMPLES_FILE).write_text("\n".join([head, *self._rows, ""]), encoding="utf-8")

    def _work(self) -> None:
        stopped = False
        while not stopped:
            self._sample()
            # Not one second after the previous sample, which would drift.
            passed = time.monotonic() - self._start
            stopped = self._stop.wait(_INTERVAL - passed % _INTERVAL)
        self._sample()
        self._processor_seconds = time.thread_time()

    def _sample(self) -> None:
        values: list[object] = [f"{time.monotonic() - self._start:.6f}"]
        for source in self._sources:
            found, size = source.sample()
            values += found
            self.read_bytes += size
        self._rows.append(",".join(map(str, values)))


@contextmanager
def sampled(devices: Sequence[Device], folder: Path) -> Iterator[Sampler]:
    """Take samples within this context, and leave them in a folder."""
    sampler = Sampler(devices)
    sampler.start()
    try:
        yield sampler
    finally:
        sampler.stop()
        sampler.write(folder)


def _machine() -> Iterator[_Source]:
    ticks = os.sysconf("SC_CLK_TCK")
    yield from _source(
        "/proc/stat",
        [f"cpu.{name}" for name in _CPU],
        lambda text: [int(word) / ticks for word in text.split(maxsplit=len(_CPU) + 1)[1 : len(_CPU) + 1]],
    )

    def memory(text: str) -> list[object]:
        known = dict(re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE))
        return [int(known[name]) * 1024 if name in known else "" for name in _MEMORY]

    yield from _source("/proc/meminfo", [f"memory.{name}" for name in _MEMORY], memory)

    def pressure(text: str) -> list[object]:
        known = dict(re.findall(r"^(some|full) .*total=(\d+)$", text, re.MULTILINE))
        return [int(known[kind]) / 1e6 if kind in known else "" for kind in ("some", "full")]

    for name in ("cpu", "io", "memory"):
        yield from _source(
            f"/proc/pressure/{name}", [f"pressure.{name}.{kind}" for kind in ("some", "full")], pressure
        )


def _of_devices(devices: Sequence[Device]) -> Iterator[_Source]:
    """Yield device counters. Images are numbered, because the numbers of loop devices mean nothing."""
    images = [device for device in devices if device.backing_file is not None]

    def counters(text: str) -> list[object]:
        reads, _, sectors_read, _, writes, _, sectors_written, _, _, busy, *_ = map(int, text.split())
        return [reads, sectors_read * _SECTOR, writes, sectors_written * _SECTOR, busy / 1e3]

    for device in devices:
        name = device.name
        if device in images:
            name = "image" if len(images) == 1 else f"image {images.index(device) + 1}"
        columns = [f"device.{name}.{what}" for what in ("reads", "read_bytes", "writes", "written_bytes", "busy")]
        yield from _source(str(device.folder / "stat"), columns, counters)


def _source(path: str, columns: Sequence[str], values: Callable[[str], Sequence[object]]) -> Iterator[_Source]:
    """Yield a kernel file, if this kernel has it."""
    with suppress(OSError):
        yield _Source(os.open(path, os.O_RDONLY | os.O_CLOEXEC), tuple(columns), values)
