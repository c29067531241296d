"""The filesystems that can be made on one block device or image, and how each is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args

from pydantic import Field

from fsbench_kit.launch.devices import LABEL
from fsbench_kit.launch.targets.base import BaseTarget
from fsbench_kit.launch.tools import MKFS_PROGRAMS, SYSTEM_PROGRAMS, kernel_filesystems

if TYPE_CHECKING:
    from pathlib import Path

    from fsbench_kit.launch.targets.steps import Command
    from fsbench_kit.launch.tools import Program

Filesystem = Literal["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "nilfs2", "reiserfs"]

FilesystemWord = Annotated[
    Filesystem,
    Field(description="one of " + ", ".join(f'"{name}"' for name in get_args(Filesystem)), examples=["xfs"]),
]

MKFS: Final[dict[Filesystem, tuple[str, ...]]] = {
    # Nothing is to be left for later: a lazy initialisation would go on behind the runs.
    # And nothing is to be discarded: that would undo an image's allocation.
    "ext2": ("mkfs.ext2", "-F", "-L", LABEL, "-E", "nodiscard,lazy_itable_init=0"),
    "ext3": ("mkfs.ext3", "-F", "-L", LABEL, "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
    "ext4": ("mkfs.ext4", "-F", "-L", LABEL, "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
    "xfs": ("mkfs.xfs", "-f", "-K", "-L", LABEL),
    "btrfs": ("mkfs.btrfs", "-f", "-K", "-L", LABEL),
    "f2fs": ("mkfs.f2fs", "-f", "-t", "0", "-l", LABEL),
    "jfs": ("mkfs.jfs", "-q", "-L", LABEL),
    "nilfs2": ("mkfs.nilfs2", "-f", "-K", "-L", LABEL),
    "reiserfs": ("mkfs.reiserfs", "-f", "-f", "-q", "-l", LABEL),
}

_MOUNT: Final[dict[Filesystem, tuple[str, ...]]] = {
    # Both tell the device by themselves, and behind the runs, what they no longer use, and images lose their
    # allocation by that. The others do it only when a plan asks.
    "btrfs": ("nodiscard",),
    "f2fs": ("nodiscard",),
}

# No slash in these: a path could name a device, and mkfs or mount would write to it.
MkfsWords = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[^/]+$")], ...],
    Field(strict=False, description='a list of words without "/"', examples=[["-m", "reflink=0"]]),
]
MountWords = Annotated[
    str,
    Field(
        pattern=r"^[\w=.:-]+(,[\w=.:-]+)*$",
        description='mount options with commas between them, without "/"',
        examples=["noatime"],
    ),
]


class FilesystemTarget(BaseTarget):
    """What a plan says of any target with a filesystem that mkfs makes and the kernel mounts.

    Attributes
    ----------
    mkfs_options, mount_options
        Words for mkfs, and what follows mount's ``-o``.
    """

    filesystem: FilesystemWord
    mkfs_options: MkfsWords = ()
    mount_options: MountWords | None = None

    def problem(self, root: Path) -> str | None:
        """Look for the filesystem, the programs and the directory."""
        if self.filesystem not in kernel_filesystems():
            return f"the kernel has no {self.filesystem}"
        return super().problem(root)

    @property
    def expected_filesystem(self) -> str:
        """The one asked for."""
        return self.filesystem

    @property
    def programs(self) -> tuple[Program, ...]:
        """mkfs, and what attaches and mounts."""
        return (MKFS_PROGRAMS[f"mkfs.{self.filesystem}"], *SYSTEM_PROGRAMS.values())

    def format_commands(self, *devices: str, mkfs: Command = (), mount: Command = ()) -> tuple[Command, Command]:
        """Return the commands that make it on devices or an image, and mount it on ``mount``.

        Parameters
        ----------
        mkfs, mount
            Further words for mkfs, and further options of the mount.
        """
        options = [*mount, *_MOUNT.get(self.filesystem, ()), *([self.mount_options] if self.mount_options else [])]
        chosen = ("-o", ",".join(options)) if options else ()
        return (
            (*_with_options(MKFS[self.filesystem], (*mkfs, *self.mkfs_options)), *devices),
            ("mount", "-t", self.filesystem, *chosen, devices[0], "mount"),
        )


def _with_options(mkfs: Command, options: Command) -> Command:
    """Add options to a command. Of several ``-E``, mke2fs takes the last alone; so theirs become part of ours.

    >>> _with_options(("mkfs.ext4", "-E", "nodiscard"), ("-m", "0", "-E", "stride=4"))
    ('mkfs.ext4', '-E', 'nodiscard,stride=4', '-m', '0')
    """
    if "-E" not in mkfs:
        return *mkfs, *options
    extended, others, words = [], [], iter(options)
    for word in words:
        if word.startswith("-E"):
            extended.append(word.removeprefix("-E") or next(words, ""))
        else:
            others.append(word)
    place = mkfs.index("-E") + 1
    return *mkfs[:place], ",".join(filter(None, (mkfs[place], *extended))), *mkfs[place + 1 :], *others
