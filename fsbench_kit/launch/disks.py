"""The block devices of this machine: what each holds, what uses it, and how to allow a launch to overwrite it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.devices import DeviceError, block_devices, content_of, device_problem, identify
from fsbench_kit.launch.environment import mounts
from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator

_LASTING: Final = Path("/dev/disk/by-id")


@dataclass(frozen=True, slots=True)
class Disk:
    """A block device.

    Attributes
    ----------
    name
        A persistent name if there is one, otherwise that of the node.
    node
        The node that the name refers to at this moment.
    size
        Size in bytes; ``None`` if unknown.
    holds
        What is on it, in the words of a plan's `signature`; ``None`` if it cannot be read.
    problem
        Why it must not be overwritten, including that nobody has agreed to it; ``None`` if it may be.
    """

    name: str
    node: Path
    size: int | None
    holds: tuple[str, ...] | None
    problem: str | None

    @property
    def is_free(self) -> bool:
        """Return whether the device's content is the only objection to overwriting it."""
        signature = self.holds[0] if self.holds and len(self.holds) == 1 else None
        return self.problem is None or device_problem(self.name, signature) is None

    def __str__(self) -> str:
        what = "cannot be read" if self.holds is None else f"holds {', '.join(self.holds) or 'nothing'}"
        size = "of unknown size" if self.size is None else humanise(self.size, "B")
        described = f"{self.node}  {size}  {what}"
        if not self.is_free:
            return f"{described}\n  not usable: {self.problem}"
        signature = f', signature = "{self.holds[0]}"' if self.holds else ""
        return (
            f'{described}\n  in the plan: kind = "device", device = "{self.name}"{signature}'
            f"\n  this would destroy its data: fsbench launch PLAN --device {self.name}"
        )


def disks() -> Iterator[Disk]:
    """Yield all block devices, without writing to any."""
    names = {link.resolve(): str(link) for link in sorted(_LASTING.glob("*"), reverse=True)}
    for node in block_devices():
        name = names.get(node, str(node))
        try:
            found = identify(name)
        except DeviceError:
            continue  # removed meanwhile
        try:
            holds: tuple[str, ...] | None = tuple(content_of(node).types)
        except DeviceError:  # in use, and the kernel refuses to open it
            holds = tuple({mount.filesystem for mount in mounts() if mount.device == found.number}) or None
        yield Disk(name, node, found.size or None, holds, device_problem(name))
