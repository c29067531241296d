"""The members of pools and mirrors: images in a scratch folder, or named block devices."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Annotated, Final, Self

from pydantic import Field, model_validator

from fsbench_kit.launch.plan_errors import Place, PlanError
from fsbench_kit.launch.targets.device import DevicePath, Signature
from fsbench_kit.launch.targets.images import NO_LOOP_DEVICES, ImagesTarget, attach_commands, image_commands
from fsbench_kit.launch.targets.steps import Command, clear_command
from fsbench_kit.launch.tools import has_loop_devices

if TYPE_CHECKING:
    from fsbench_kit.launch.targets.base import Folders

DevicePaths = Annotated[
    tuple[DevicePath, ...],
    Field(
        strict=False,
        description="a list of paths of block devices",
        examples=[["/dev/disk/by-id/nvme-One", "/dev/disk/by-id/nvme-Other"]],
    ),
]


_LOOPS: Final = ("/dev/loopN", "/dev/loopM")


class MembersTarget(ImagesTarget, ABC):
    """The plan keys for the members of a pool or mirror.

    Attributes
    ----------
    devices
        Block devices to use as members instead of images, under the same rules as ``kind = "device"``.
    signature
        The existing content of each device that the first run may destroy.
    """

    devices: DevicePaths = ()
    signature: Signature | None = None

    @model_validator(mode="after")
    def _has_members(self) -> Self:
        if (self.size is None) == (not self.devices):
            what = "members are either images (size) or devices; this target names " + (
                "both" if self.devices else "neither"
            )
            hint = 'For images, write: size = "512M"; for devices: devices = [...]'
            raise PlanError(what, Place(key="size" if self.size is not None else "kind"), hint=hint)
        count = len(set(self.devices))
        if self.devices and count != self.member_count:
            what = f"{self.member_count} different devices are needed, and this target names {count}"
            raise PlanError(what, Place(key="devices"), hint="Name each of them once.")
        return self

    @property
    def block_devices(self) -> dict[str, str | None]:
        """The devices."""
        return dict.fromkeys(self.devices, self.signature)

    @property
    def images(self) -> tuple[str, ...]:
        """The names of the images in the target's folder."""
        return () if self.devices else tuple(f"image-{number}" for number in range(1, self.member_count + 1))

    @property
    def loops(self) -> dict[str, str]:
        """The images, with the loop devices to attach to them."""
        return dict(zip(self.images, _LOOPS, strict=False))

    @property
    def members(self) -> tuple[str, ...]:
        """The member block devices, including loop devices."""
        return self.devices or tuple(self.loops.values())

    @property
    def attach_commands(self) -> tuple[Command, ...]:
        """Attach loop devices to the images."""
        return tuple(command for pair in self.loops.items() for command in attach_commands(*pair))

    def problem(self, folders: Folders) -> str | None:
        """Check for loop devices if they are needed."""
        if not self.devices and not has_loop_devices():
            return NO_LOOP_DEVICES
        return super().problem(folders)

    @property
    def member_commands(self) -> tuple[Command, ...]:
        """Create the images, or clear the devices."""
        if self.size is None:
            return tuple(clear_command(name) for name in self.devices)
        return image_commands(*self.images, size=self.size, allocation=self.allocation)
