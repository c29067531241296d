"""A filesystem on an encrypted image (dm-crypt), made afresh. Needs root.

The key is random, and gone with the launch.
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
        As ``cryptsetup`` names it.
    key_size
        The size of its key in bits.
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
        """Look for dm-crypt, and what any image needs."""
        return super().problem(folders) if has_device_mapper() else NO_DEVICE_MAPPER

    @property
    def programs(self) -> tuple[Program, ...]:
        """Those of the filesystem, and cryptsetup."""
        return (*super().programs, CRYPTSETUP)

    @property
    def commands(self) -> Commands:
        """Make an image, open it with a key, format and mount what that makes of it."""
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
        """Make, open, format and mount an image. What is open outlives this process, and is found by its name."""
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
