"""Targets: what runs are made on. Each kind checks its availability, is prepared for a run, and is removed again.

Nothing is ever written outside a scratch folder. Commands only get block devices that were created here, or that a
person has named twice and that pass `fsbench_kit.launch.devices`; `steps` enforces this.

To add a kind, write a module like `loop` and list its class here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fsbench_kit.launch.targets.base import BaseTarget, Folders
from fsbench_kit.launch.targets.crypt import CryptTarget
from fsbench_kit.launch.targets.device import DeviceTarget
from fsbench_kit.launch.targets.directory import DirectoryTarget
from fsbench_kit.launch.targets.loop import LoopTarget
from fsbench_kit.launch.targets.lvm import LvmTarget
from fsbench_kit.launch.targets.mirror import MirrorTarget
from fsbench_kit.launch.targets.nfs import NfsTarget
from fsbench_kit.launch.targets.overlay import OverlayTarget
from fsbench_kit.launch.targets.raw import RawTarget
from fsbench_kit.launch.targets.steps import Commands, Ready, Step, StepError
from fsbench_kit.launch.targets.tmpfs import TmpfsTarget
from fsbench_kit.launch.targets.zfs import ZfsTarget

__all__ = [
    "BaseTarget",
    "Commands",
    "CryptTarget",
    "DeviceTarget",
    "DirectoryTarget",
    "Folders",
    "LoopTarget",
    "LvmTarget",
    "MirrorTarget",
    "NfsTarget",
    "OverlayTarget",
    "RawTarget",
    "Ready",
    "Step",
    "StepError",
    "Target",
    "TmpfsTarget",
    "ZfsTarget",
]

Target = Annotated[
    DirectoryTarget
    | LoopTarget
    | OverlayTarget
    | TmpfsTarget
    | MirrorTarget
    | CryptTarget
    | LvmTarget
    | ZfsTarget
    | NfsTarget
    | DeviceTarget
    | RawTarget,
    Field(discriminator="kind"),
]
