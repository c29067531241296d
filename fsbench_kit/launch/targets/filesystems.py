"""The filesystems that can be created on a single block device or image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from fsbench_kit.launch.devices import LABEL
from fsbench_kit.launch.targets.aged import AgedTarget
from fsbench_kit.launch.targets.steps import Command, Restoring
from fsbench_kit.launch.tools import SYSTEM_PROGRAMS, Program, kernel_filesystems

if TYPE_CHECKING:
    from fsbench_kit.launch.targets.base import Folders


@dataclass(frozen=True, slots=True)
class Filesystem:
    """A filesystem that mkfs creates on a device or image and the kernel mounts.

    Attributes
    ----------
    name
        The kernel's name for it.
    mkfs
        The program that creates it.
    mkfs_options
        Options that prevent questions and deferred work: lazy initialisation would continue during the runs, and a
        discard would undo an image's allocation. The last one sets the label.
    mount_options
        Options that prevent background work during the runs.
    restoring
        How to restore the state for each run, if the filesystem has snapshots; it is mounted on ``mount``.
    """

    name: str
    mkfs: Program
    mkfs_options: tuple[str, ...]
    mount_options: tuple[str, ...] = ()
    restoring: Restoring | None = None

    @property
    def problem(self) -> str | None:
        """Why the kernel cannot mount it; ``None`` if it can."""
        return None if self.name in kernel_filesystems() else f"the kernel has no {self.name}"


def _mkfs(name: str, package: str, *, install: bool = False) -> Program:
    return Program(f"mkfs.{name}", package, "-V", install)


_SUBVOLUME: Final = "mount/state"
_BY_SUBVOLUMES: Final = Restoring(
    keep=(),
    make=(("btrfs", "subvolume", "snapshot", "mount", _SUBVOLUME),),
    directory=_SUBVOLUME,
    # Deleted subvolumes are cleaned up in the background, during whatever comes next, unless one waits for it.
    remove=(
        ("btrfs", "subvolume", "delete", "--commit-after", _SUBVOLUME),
        ("btrfs", "subvolume", "sync", "mount"),
    ),
)

_EXT: Final = "nodiscard,lazy_itable_init=0"
_EXT_JOURNAL: Final = f"{_EXT},lazy_journal_init=0"

FILESYSTEMS: Final = {
    filesystem.name: filesystem
    for filesystem in (
        Filesystem("ext2", _mkfs("ext2", "e2fsprogs", install=True), ("-F", "-L", LABEL, "-E", _EXT)),
        Filesystem("ext3", _mkfs("ext3", "e2fsprogs", install=True), ("-F", "-L", LABEL, "-E", _EXT_JOURNAL)),
        Filesystem("ext4", _mkfs("ext4", "e2fsprogs", install=True), ("-F", "-L", LABEL, "-E", _EXT_JOURNAL)),
        Filesystem("xfs", _mkfs("xfs", "xfsprogs", install=True), ("-f", "-K", "-L", LABEL)),
        # btrfs and f2fs discard unused blocks by themselves, which would deallocate images.
        Filesystem(
            "btrfs",
            _mkfs("btrfs", "btrfs-progs", install=True),
            ("-f", "-K", "-L", LABEL),
            ("nodiscard",),
            _BY_SUBVOLUMES,
        ),
        Filesystem("f2fs", _mkfs("f2fs", "f2fs-tools"), ("-f", "-t", "0", "-l", LABEL), ("nodiscard",)),
        Filesystem("bcachefs", _mkfs("bcachefs", "bcachefs-tools"), ("--force", f"--fs_label={LABEL}")),
        Filesystem("exfat", _mkfs("exfat", "exfatprogs"), ("-L", LABEL)),
        Filesystem("jfs", _mkfs("jfs", "jfsutils"), ("-q", "-L", LABEL)),
        Filesystem("nilfs2", _mkfs("nilfs2", "nilfs-tools"), ("-f", "-K", "-L", LABEL)),
        Filesystem("reiserfs", _mkfs("reiserfs", "reiserfsprogs"), ("-f", "-f", "-q", "-l", LABEL)),
    )
}
"""Name -> filesystem. To add one, add its entry here."""

FilesystemName = Annotated[
    str,
    Field(
        pattern=f"^({'|'.join(FILESYSTEMS)})$",
        description="one of " + ", ".join(f'"{name}"' for name in FILESYSTEMS),
        examples=["xfs"],
    ),
]

# No slashes here: a path could name a device, and mkfs or mount would write to it.
MkfsWords = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[^/]+$")], ...],
    Field(strict=False, description='a list of words without "/"', examples=[["-m", "reflink=0"]]),
]
MountWords = Annotated[
    str,
    Field(
        pattern=r"^([\w=.:-]+(,[\w=.:-]+)*)?$",
        description='comma-separated mount options without "/"',
        examples=["noatime"],
    ),
]


class FilesystemTarget(AgedTarget):
    """The plan keys of targets with a filesystem that mkfs creates and the kernel mounts.

    Attributes
    ----------
    filesystem
        The filesystem to create.
    mkfs_options
        Further options for mkfs.
    mount_options
        The options after ``-o`` of mount.
    """

    filesystem: FilesystemName
    mkfs_options: MkfsWords = ()
    mount_options: MountWords | None = None

    def problem(self, folders: Folders) -> str | None:
        """Check for the filesystem, its programs and the directory."""
        return self._kind.problem or super().problem(folders)

    @property
    def _kind(self) -> Filesystem:
        return FILESYSTEMS[self.filesystem]

    @property
    def expected_filesystem(self) -> str:
        """The requested filesystem."""
        return self.filesystem

    @property
    def asked_mount_options(self) -> str:
        """The plan's mount options, which the kernel may ignore."""
        return self.mount_options or ""

    @property
    def restoring(self) -> Restoring | None:
        """The filesystem's snapshots, if it has any."""
        return self._kind.restoring

    @property
    def programs(self) -> tuple[Program, ...]:
        """mkfs, and the programs that attach and mount."""
        return (self._kind.mkfs, *SYSTEM_PROGRAMS.values())

    def format_commands(self, *devices: str, mkfs: Command = (), mount: Command = ()) -> tuple[Command, Command]:
        """Return the commands that create the filesystem on devices or an image, and mount it on ``mount``.

        Parameters
        ----------
        mkfs, mount
            Further arguments for mkfs, and further mount options.
        """
        options = [*mount, *self._kind.mount_options, *([self.mount_options] if self.mount_options else [])]
        made = (self._kind.mkfs.name, *self._kind.mkfs_options)
        chosen = ("-o", ",".join(options)) if options else ()
        return (
            (*_with_options(made, (*mkfs, *self.mkfs_options)), *devices),
            ("mount", "-t", self.filesystem, *chosen, devices[0], "mount"),
        )


def _with_options(mkfs: Command, options: Command) -> Command:
    """Add options to a command. mke2fs only uses the last ``-E``, so that those of both are merged into one.

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
