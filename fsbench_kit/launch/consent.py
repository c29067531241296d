"""Consent to overwrite block devices, bound to the devices themselves and not to their names.

A name may refer to another disk a moment later. Each name is therefore resolved again directly before each command
that uses it, and must still refer to the device that was named. The device is kept open until the launch ends, so
that the kernel cannot give its number to another one.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fsbench_kit.launch.devices import (
    PROCESSES,
    Content,
    DeviceError,
    Identity,
    Signature,
    content_of,
    device_problem,
    identify,
    resolved,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Made:
    """What a launch has created on a device.

    Attributes
    ----------
    lasting
        `Identity.lasting` of the device.
    content
        The content that the launch left on the device.
    """

    lasting: tuple[int, int, str | None]
    content: Content

    def to_json(self) -> dict[str, Any]:
        """Return a representation for JSON."""
        size, start, serial = self.lasting
        signatures = sorted((asdict(found) for found in self.content.signatures), key=str)
        return {
            "size": size,
            "start": start,
            "serial": serial,
            "signatures": signatures,
            "digest": self.content.digest,
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """Return the object that `to_json` represents."""
        content = Content(frozenset(Signature(**found) for found in record["signatures"]), record["digest"])
        return cls((record["size"], record["start"], record["serial"]), content)


@dataclass
class Consent:
    """The block devices that a person agreed to overwrite, and what the launch has created on them.

    Attributes
    ----------
    given
        The devices.
    processes
        The ``/proc`` that shows the processes of the whole machine.
    made
        Name -> what this launch, or an earlier start of it, has created there.
    meant
        Name -> the device that it referred to when first examined.
    """

    given: frozenset[Identity] = frozenset()
    processes: Path = PROCESSES
    made: dict[str, Made] = field(default_factory=dict)
    meant: dict[str, Identity] = field(default_factory=dict)

    @classmethod
    def to(cls, names: Iterable[str]) -> Self:
        """Return consent to overwrite the block devices that the names refer to at this moment."""
        return cls(frozenset(identities(names)))

    def problem(self, name: str, signature: str | None) -> str | None:
        """Return why a device in a plan must not be overwritten, or ``None`` if it may be.

        Parameters
        ----------
        name
            The device's name in the plan.
        signature
            The content that may be overwritten before the launch has created anything there.
        """
        try:
            if name not in self.meant:
                if (found := identify(name)) not in self.given:
                    return f"all data on {name} would be destroyed; to confirm, name it again: --device {name}"
                self.meant[name] = found
            self.node(name)
        except DeviceError as error:
            return str(error)
        made = self.made.get(name)
        if made is not None and made.lasting != self.meant[name].lasting:
            return f"{name} is not the disk that the earlier runs of this study used"
        content = None if made is None else made.content
        return device_problem(name, signature, made=content, processes=self.processes)

    def are_one(self, name: str, other: str) -> bool:
        """Return whether two names refer to the same device, or to devices with the same storage."""
        return name == other or self.meant[name].is_same_storage(self.meant[other])

    @contextmanager
    def held(self, name: str) -> Iterator[None]:
        """Keep a device open, so that its number cannot be reused.

        Raises
        ------
        DeviceError
            If the name refers to another device by now.
        """
        descriptor = os.open(self.node(name), os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.node(name)
            yield
        finally:
            os.close(descriptor)

    def node(self, name: str) -> str:
        """Return the node of a device that a plan names. Call this directly before each write.

        Raises
        ------
        DeviceError
            If the name refers to another device by now, or it was never checked that it may be overwritten.
        """
        node = str(resolved(name))
        if identify(node) != self.meant.get(name):
            raise DeviceError(f"{name} is no longer the disk that was named for this launch")
        return node

    def note(self, name: str) -> None:
        """Record what the launch has just created on a device.

        Raises
        ------
        DeviceError
            If the content cannot be read.
        """
        content = content_of(Path(self.node(name)))
        self.made[name] = Made(self.meant[name].lasting, content)


def identities(names: Iterable[str]) -> Iterator[Identity]:
    """Yield the devices that names refer to, skipping names that are not block devices."""
    for name in names:
        try:
            yield identify(name)
        except DeviceError:
            continue
