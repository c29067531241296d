"""NFS on loopback: a folder exported by this machine's own server. Needs root and a running server."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch.targets.base import BaseTarget, Directory, Folders
from fsbench_kit.launch.targets.filesystems import MountWords
from fsbench_kit.launch.targets.steps import UMOUNT, Command, Commands, Ready, unmount
from fsbench_kit.launch.tools import EXPORTFS, MOUNT_NFS, Program, has_mount_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.launch.consent import Consent

_FOLDER: Final = "FOLDER"
_THREADS: Final = Path("/proc/fs/nfsd/threads")


class NfsTarget(BaseTarget):
    """A ``[[target]]`` with ``kind = "nfs"``.

    Attributes
    ----------
    directory
        The parent directory of the exported folder; by default, that of the results.
    mount_options
        The options after ``-o`` of mount, such as ``vers=4.2``.
    export_options
        The options of the export.
    """

    kind: Literal["nfs"]
    directory: Directory | None = None
    mount_options: MountWords | None = None
    export_options: MountWords = "rw,sync,no_root_squash,no_subtree_check"

    def place(self, folders: Folders) -> Path:
        """Return the parent directory of the exported folder."""
        return folders.results if self.directory is None else folders.directory(self.directory)

    def problem(self, folders: Folders) -> str | None:
        """Check for a client and a running server."""
        if not has_mount_type("nfs") and not has_mount_type("nfs4"):
            return "the kernel has no NFS"
        try:
            running = int(_THREADS.read_text(encoding="ascii")) > 0
        except (OSError, ValueError):
            running = False
        return super().problem(folders) if running else "no NFS server is running here"

    @property
    def expected_filesystem(self) -> str:
        """NFS of any version."""
        return "nfs"

    @property
    def asked_mount_options(self) -> str:
        """The plan's mount options."""
        return self.mount_options or ""

    def space_needed(self, space: int) -> int:
        """Return the size of the workload's files."""
        return space

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs that export and mount."""
        return (EXPORTFS, MOUNT_NFS)

    @property
    def trims(self) -> bool:
        """False: the filesystem beneath belongs to somebody else."""
        return False

    @property
    def commands(self) -> Commands:
        """Export a folder and mount it."""
        options = ("-o", self.mount_options) if self.mount_options else ()
        return Commands(
            make=(
                ("exportfs", "-o", self.export_options, self._export),
                ("mount", "-t", "nfs", *options, self._export, "mount"),
            ),
            directory="mount",
            remove=(UMOUNT, self._end),
        )

    @property
    def _export(self) -> str:
        return f"localhost:{_FOLDER}/export"

    @property
    def _end(self) -> Command:
        return ("exportfs", "-u", self._export)

    @contextmanager
    def ready(self, folder: Path, consent: Consent) -> Iterator[Ready]:
        """Export a folder and mount it. The export outlives this process and is found by its folder."""
        del consent
        made = Ready(folder / "mount", filesystem=self.expected_filesystem, names={_FOLDER: str(folder)})
        made.directory.mkdir()
        (folder / "export").mkdir()
        export, mount = self.commands.make
        made.run(folder, export)
        try:
            made.run(folder, mount)
            try:
                yield made
            finally:
                unmount(made.steps, folder)
        finally:
            made.undo(folder, self._end)
