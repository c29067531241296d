"""What pools and mirrors are made of: images in a scratch folder, or block devices that are named."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.schema import Size
from fsbench_kit.launch.targets.base import RUNS, BaseTarget, Directory
from fsbench_kit.launch.targets.device import DevicePath, Signature
from fsbench_kit.launch.targets.images import Allocation, image_commands
from fsbench_kit.launch.targets.steps import clear_command

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from fsbench_kit.launch.targets.steps import Command

DevicePaths = Annotated[
    tuple[DevicePath, ...],
    Field(
        strict=False,
        description="a list of paths of block devices",
        examples=[["/dev/disk/by-id/nvme-One", "/dev/disk/by-id/nvme-Other"]],
    ),
]


class MembersTarget(BaseTarget, ABC):
    """What a plan says of the members of a pool or mirror.

    Attributes
    ----------
    size
        That of each image; for images.
    allocation
        How images have their space: see `fsbench_kit.launch.targets.images.Allocation`.
    directory
        Where images lie; without it, where the results go.
    devices
        Block devices to be members instead of images. They are treated as `DeviceTarget` treats its own.
    signature
        What is on each of them and may be destroyed by the first run.
    """

    size: Size | None = None
    allocation: Allocation = "unwritten"
    directory: Directory | None = None
    devices: DevicePaths = ()
    signature: Signature | None = None

    @property
    @abstractmethod
    def member_count(self) -> int:
        """How many members it has."""

    @model_validator(mode="after")
    def _has_members(self) -> Self:
        if (self.size is None) == (not self.devices):
            what = "members are images (size) or devices: this target names " + (
                "both" if self.devices else "neither"
            )
            hint = 'Write for images: size = "512M"; for devices: devices = [...]'
            raise PlanError(what, Place(key="size" if self.size is not None else "kind"), hint=hint)
        count = len(set(self.devices))
        if self.devices and count != self.member_count:
            what = f"{self.member_count} different devices are needed, and this target names {count}"
            raise PlanError(what, Place(key="devices"), hint="Name each of them once.")
        return self

    def place(self, root: Path) -> Path:
        """Return where images and mount points are made."""
        return (root / (self.directory or RUNS)).resolve()

    @property
    def block_devices(self) -> dict[str, str | None]:
        """The devices."""
        return dict.fromkeys(self.devices, self.signature)

    @property
    def capacity(self) -> int | None:
        """The size of an image."""
        return self.size

    def space_needed(self, space: int) -> int:
        """Return what the images take."""
        if self.size is None:
            return 0
        return self.member_count * (space if self.allocation == "sparse" else self.size)

    @property
    def written(self) -> int:
        """The sizes of the images, where they are written."""
        return self.member_count * self.size if self.size is not None and self.allocation == "written" else 0

    @property
    def image_settings(self) -> dict[str, str]:
        """What there is to say of the images."""
        return {} if self.size is None else {"image_allocation": self.allocation}

    @property
    def images(self) -> tuple[str, ...]:
        """The names of the images in the target's folder."""
        return () if self.devices else tuple(f"image-{number}" for number in range(1, self.member_count + 1))

    @property
    def trims(self) -> bool:
        """Not where members are images: that would undo their allocation."""
        return bool(self.devices)

    @property
    def member_commands(self) -> tuple[Command, ...]:
        """Make the images, or clear the devices."""
        if self.size is None:
            return tuple(clear_command(name) for name in self.devices)
        return image_commands(*self.images, size=self.size, allocation=self.allocation)
