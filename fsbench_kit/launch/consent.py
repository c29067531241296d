"""What a person has consented to lose: block devices, as they were when they were named, and not their names.

A name may lead to another disk a moment later. So each name is resolved anew directly before each command that
gets it, and what is found there has to be the device that was named. Until the launch ends, that is held open, so
that the kernel gives its number to no other.
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
    """What a launch has made on a device.

    Attributes
    ----------
    lasting
        `Identity.lasting` of the device.
    content
        What it holds since.
    """

    lasting: tuple[int, int, str | None]
    content: Content

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
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
    def from_json(cls, told: dict[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        content = Content(frozenset(Signature(**found) for found in told["signatures"]), told["digest"])
        return cls((told["size"], told["start"], told["serial"]), content)


@dataclass
class Consent:
    """The block devices that a person has given up, and what the launch has made of them.

    Attributes
    ----------
    given
        The devices.
    processes
        Where the processes of the whole machine are shown.
    made
        Name -> what this launch, or an earlier start of it, has made there.
    meant
        Name -> the device that it led to when it was looked at first.
    """

    given: frozenset[Identity] = frozenset()
    processes: Path = PROCESSES
    made: dict[str, Made] = field(default_factory=dict)
    meant: dict[str, Identity] = field(default_factory=dict)

    @classmethod
    def to(cls, names: Iterable[str]) -> Self:
        """Return the consent to lose the block devices to which some names lead at this moment."""
        return cls(frozenset(identities(names)))

    def problem(self, name: str, signature: str | None) -> str | None:
        """Say why a device that a plan names must not be overwritten; ``None`` where it may.

        Parameters
        ----------
        name
            As the plan has it.
        signature
            What may be on it before this launch has made anything there.
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
        """Whether two names of a plan mean one device, or two that hold the same bytes."""
        return name == other or self.meant[name].is_same_storage(self.meant[other])

    @contextmanager
    def held(self, name: str) -> Iterator[None]:
        """Keep a device open, so that its number stays its own.

        Raises
        ------
        DeviceError
            If the name leads elsewhere by now.
        """
        descriptor = os.open(self.node(name), os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.node(name)
            yield
        finally:
            os.close(descriptor)

    def node(self, name: str) -> str:
        """Return where the device is that a plan names. To be asked directly before each write.

        Raises
        ------
        DeviceError
            If the name leads elsewhere by now, or nobody has looked whether the device may be overwritten.
        """
        node = str(resolved(name))
        if identify(node) != self.meant.get(name):
            raise DeviceError(f"{name} is no longer the disk that was named for this launch")
        return node

    def note(self, name: str) -> None:
        """Remember what the launch has just made on a device.

        Raises
        ------
        DeviceError
            If that cannot be seen.
        """
        content = content_of(Path(self.node(name)))
        self.made[name] = Made(self.meant[name].lasting, content)


def identities(names: Iterable[str]) -> Iterator[Identity]:
    """Yield the devices that names lead to. What is no block device is left out."""
    for name in names:
        try:
            yield identify(name)
        except DeviceError:
            continue
