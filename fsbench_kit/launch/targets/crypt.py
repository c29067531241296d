"""A fresh filesystem on an encrypted image (dm-crypt). Needs root.

The key is random and disappears with the launch.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from fsbench_kit.launch.targets.images import attach_commands, attached, image_commands
from fsbench_kit.launch.targets.loop import LOOP, ImageTarget
from fsbench_kit.launch.targets.steps import UMOUNT, Command, Commands, Ready, launch_name, unmount
from fsbench_kit.launch.tools import CRYPTSETUP, NO_DEVICE_MAPPER, Program, has_device_mapper

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.targets.base import Folders

_NAME: Final = "NAME"
_MAPPED: Final = "/dev/mapper/NAME"


class CryptTarget(ImageTarget):
    """A ``[[target]]`` with ``kind = "crypt"``.

    Attributes
    ----------
    cipher
        The cipher, as ``cryptsetup`` names it.
    key_size
        The key size in bits.
    """

    kind: Literal["crypt"]
    cipher: Annotated[
        str,
        Field(
            pattern=r"^[\w:()-]+$", description="a cipher, as cryptsetup names it", examples=["aes-xts-plain64"]
        ),
    ] = "aes-xts-plain64"
    key_size: Annotated[
        int, Field(ge=128, le=1024, multiple_of=64, description="a number of bits", examples=[512])
    ] = 512

    def problem(self, folders: Folders) -> str | None:
        """Check for dm-crypt and for what every image needs."""
        return super().problem(folders) if has_device_mapper() else NO_DEVICE_MAPPER

    @property
    def programs(self) -> tuple[Program, ...]:
        """The filesystem's programs and cryptsetup."""
        return (*super().programs, CRYPTSETUP)

    @property
    def commands(self) -> Commands:
        """Create an image, open it with a key, and format and mount the resulting device."""
        return Commands(
            make=(*self._write, *attach_commands("image", LOOP), self._open, *self.format_commands(_MAPPED)),
            directory="mount",
            remove=(UMOUNT, ("cryptsetup", "close", _NAME)),
        )

    @property
    def _write(self) -> tuple[Command, ...]:
        return image_commands("image", size=self.size, allocation=self.allocation)

    @property
    def _open(self) -> Command:
        key = ("--key-file", "/dev/urandom", "--key-size", str(self.key_size), "--cipher", self.cipher)
        return ("cryptsetup", "open", "--type", "plain", "--batch-mode", *key, LOOP, _NAME)

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Create, open, format and mount an image. The open device outlives this process, but is found by name."""
        del consent
        name = launch_name(folder)
        made = Ready(
            folder / "mount",
            filesystem=self.filesystem,
            settings={"raid": f"dm-crypt {self.cipher}"} | self.image_settings,
            names={_MAPPED: f"/dev/mapper/{name}", _NAME: name},
        )
        made.directory.mkdir()
        made.run(folder, *self._write)
        with attached(made, folder, {"image": LOOP}):
            made.run(folder, self._open)
            try:
                made.run(folder, *self.format_commands(_MAPPED))
                try:
                    yield made
                finally:
                    unmount(made.steps, folder)
            finally:
                made.undo(folder, ("cryptsetup", "close", _NAME))
