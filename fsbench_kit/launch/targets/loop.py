"""An image file that is formatted and mounted afresh for each run. Needs root.

The loop device is attached by mount itself, with the flag that makes the kernel detach it when the mount ends; so
whatever ends this process, nothing stays mounted or attached.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args

from pydantic import Field

from fsbench_kit.errors import LaunchError
from fsbench_kit.launch.environment import devices_under
from fsbench_kit.launch.schema import Size
from fsbench_kit.launch.targets.base import RUNS, BaseTarget, Directory, MkfsWords, MountWords
from fsbench_kit.launch.targets.steps import Ready, Step, run_step
from fsbench_kit.launch.tools import MKFS_PROGRAMS, SYSTEM_PROGRAMS, has_loop_devices, kernel_filesystems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fsbench_kit.launch.tools import Program

LoopFilesystem = Literal["ext2", "ext3", "ext4", "xfs", "btrfs"]

MKFS: Final[dict[LoopFilesystem, tuple[str, ...]]] = {
    # Nothing is to be left for later: a lazy initialisation would go on behind the runs.
    # And nothing is to be discarded: that would undo the image's allocation.
    "ext2": ("mkfs.ext2", "-F", "-E", "nodiscard,lazy_itable_init=0"),
    "ext3": ("mkfs.ext3", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
    "ext4": ("mkfs.ext4", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
    "xfs": ("mkfs.xfs", "-f", "-K"),
    "btrfs": ("mkfs.btrfs", "-f", "-K"),
}


class LoopTarget(BaseTarget):
    """A ``[[target]]`` with ``kind = "loop"``.

    Attributes
    ----------
    directory
        Where the image lies; without it, where the results go.
    mkfs_options, mount_options
        Words for mkfs, and what follows mount's ``-o``.
    """

    kind: Literal["loop"]
    filesystem: Annotated[
        LoopFilesystem,
        Field(description="one of " + ", ".join(f'"{f}"' for f in get_args(LoopFilesystem)), examples=["xfs"]),
    ]
    size: Size
    directory: Directory | None = None
    mkfs_options: MkfsWords = ()
    mount_options: MountWords | None = None

    def place(self, root: Path) -> Path:
        """Return where the image is made."""
        return (root / (self.directory or RUNS)).resolve()

    def problem(self, root: Path) -> str | None:
        """Look for the directory, loop devices, the programs and the filesystem."""
        if not self.place(root).is_dir():
            return f"{self.place(root)} is not a directory"
        if not has_loop_devices():
            return "the kernel has no loop devices here (/dev/loop-control is missing)"
        for program in self.programs:
            if program.path is None:
                return f"the program {program.name} is missing (Debian package {program.package})"
        if self.filesystem not in kernel_filesystems():
            return f"the kernel has no {self.filesystem}"
        return None

    @property
    def expected_filesystem(self) -> str:
        """The one asked for."""
        return self.filesystem

    @property
    def capacity(self) -> int:
        """The size of the image."""
        return self.size

    @property
    def programs(self) -> tuple[Program, ...]:
        """mkfs, and what attaches and mounts."""
        return (MKFS_PROGRAMS[f"mkfs.{self.filesystem}"], *SYSTEM_PROGRAMS.values())

    @contextmanager
    def ready(self, folder: Path) -> Iterator[Ready]:
        """Make, format and mount an image."""
        made = Ready(folder / "mount", filesystem=self.filesystem)
        made.directory.mkdir()
        # The space is allocated at once: so it cannot run out in the middle of a run.
        run_step(made.steps, folder, "fallocate", "--length", str(self.size), "image")
        run_step(made.steps, folder, *MKFS[self.filesystem], *self.mkfs_options, "image")
        options = f"loop,{self.mount_options}" if self.mount_options else "loop"
        run_step(made.steps, folder, "mount", "-t", self.filesystem, "-o", options, "image", "mount")
        try:
            loop = devices_under(made.directory)[0]
            # Not every backing can do this. It is recorded what came of it.
            run_step(made.steps, folder, "losetup", "--direct-io=on", f"/dev/{loop.name}", may_fail=True)
            yield made
        finally:
            unmount(made.steps, folder)


def unmount(steps: list[Step], folder: Path) -> None:
    """Unmount what is mounted on ``mount`` in a folder.

    Raises
    ------
    LaunchError
        If that cannot be done.
    """
    # A process of the tool may still be about to end, and then the mount is in use.
    if run_step(steps, folder, "umount", "mount", may_fail=True):
        return
    if not run_step(steps, folder, "umount", "--lazy", "mount", may_fail=True):
        raise LaunchError(f"an image cannot be unmounted: {steps[-1].output.strip()}", file=folder)
