"""An overlay whose layers are on a fresh filesystem in an image. Needs root.

The lower layer is empty: writes go to the upper one, and each name is looked up in both.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch.targets.filesystems import MountWords
from fsbench_kit.launch.targets.loop import LOOP, ImageTarget
from fsbench_kit.launch.targets.steps import Command, Commands, Ready, unmount
from fsbench_kit.launch.tools import has_mount_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.consent import Consent
    from fsbench_kit.launch.targets.base import Folders

_LAYERS: Final = {"lowerdir": "mount/lower", "upperdir": "mount/upper", "workdir": "mount/work"}


class OverlayTarget(ImageTarget):
    """A ``[[target]]`` with ``kind = "overlay"``.

    Attributes
    ----------
    overlay_options
        Further mount options of the overlay, such as ``metacopy=on``; ``mount_options`` are those of the
        filesystem beneath.
    """

    kind: Literal["overlay"]
    overlay_options: MountWords | None = None

    def problem(self, folders: Folders) -> str | None:
        """Check for overlay support and for what the filesystem beneath needs."""
        return super().problem(folders) if has_mount_type("overlay") else "the kernel has no overlay"

    @property
    def expected_filesystem(self) -> str:
        """The overlay and the filesystem beneath."""
        return f"overlay on {self.filesystem}"

    @property
    def restoring(self) -> None:
        """None: both layers must be on one mount."""

    @property
    def asked_mount_options(self) -> str:
        """The options of the overlay, which is the mount that a run sees."""
        return self.overlay_options or ""

    @property
    def commands(self) -> Commands:
        """Create an image and an overlay on it."""
        make, remove = self._image.make, self._image.remove
        return Commands(make=(*make, *self._lay), directory="overlay", remove=(("umount", "overlay"), *remove))

    @property
    def _lay(self) -> tuple[Command, Command]:
        layers = (f"{option}={place}" for option, place in _LAYERS.items())
        options = ",".join((*layers, *([self.overlay_options] if self.overlay_options else [])))
        return ("mkdir", *_LAYERS.values()), ("mount", "-t", "overlay", "-o", options, "overlay", "overlay")

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Create an image and an overlay on it."""
        with super().ready(folder, consent) as beneath:
            (folder / "overlay").mkdir()
            beneath.run(folder, *self._lay)
            try:
                yield replace(
                    beneath,
                    directory=folder / "overlay",
                    filesystem=self.expected_filesystem,
                    members=(Path(beneath.names[LOOP]),),
                )
            finally:
                unmount(beneath.steps, folder, "overlay")
