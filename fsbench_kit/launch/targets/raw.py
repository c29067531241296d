"""A block device without a filesystem, named in the plan and confirmed by whoever launches it. Needs root.

Its content is destroyed, under the same rules as in `fsbench_kit.launch.targets.device`. Only workloads that write
to a device can use it. Its signatures are removed before each run. What a run leaves is recorded; a device that
something else has changed since then is refused.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from fsbench_kit.launch.targets.base import BaseTarget
from fsbench_kit.launch.targets.device import DevicePath, Signature
from fsbench_kit.launch.targets.steps import Commands, Ready, clear_command
from fsbench_kit.launch.tools import SYSTEM_PROGRAMS, Program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.consent import Consent

RAW: Final = "raw"
"""Used in place of a filesystem's name."""


class RawTarget(BaseTarget):
    """A ``[[target]]`` with ``kind = "raw"``.

    Attributes
    ----------
    device
        The device that fio writes to.
    signature
        As for ``kind = "device"``.
    """

    is_raw: ClassVar = True
    own_devices: ClassVar = True

    kind: Literal["raw"]
    device: DevicePath
    signature: Signature | None = None

    @property
    def block_devices(self) -> dict[str, str | None]:
        """The device."""
        return {self.device: self.signature}

    @property
    def expected_filesystem(self) -> str:
        """A placeholder, since there is no filesystem."""
        return RAW

    def space_needed(self, space: int) -> int:
        """Return 0: everything is on the device."""
        del space
        return 0

    @property
    def programs(self) -> tuple[Program, ...]:
        """The program that removes signatures."""
        return (SYSTEM_PROGRAMS["wipefs"],)

    @property
    def trims(self) -> bool:
        """False: there is no filesystem to know unused blocks."""
        return False

    @property
    def commands(self) -> Commands:
        """Remove the signatures."""
        return Commands(make=(clear_command(self.device),), directory=".", remove=())

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Remove the signatures, and yield the device node found at this moment."""
        made = Ready(folder, filesystem=RAW, consent=consent, devices=(self.device,))
        with made.overwriting(self.signature):
            made.run(folder, *self.commands.make)
            made.note()
            made.node = Path(consent.node(self.device))
            made.members = (made.node,)
            yield made
