"""A mirror of two members: of btrfs's own (raid1), or of md with another filesystem on it. Needs root.

Mirrors of ZFS are targets of ``kind = "zfs"``.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from fsbench_kit.launch.targets.filesystems import FilesystemTarget, mkfs
from fsbench_kit.launch.targets.images import attached
from fsbench_kit.launch.targets.loop import NO_LOOP_DEVICES
from fsbench_kit.launch.targets.members import MembersTarget
from fsbench_kit.launch.targets.steps import Ready, launch_name, run_step, unmount
from fsbench_kit.launch.tools import MIRROR_PROGRAMS, has_loop_devices, has_md

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.launch.targets.steps import Step
    from fsbench_kit.launch.tools import Program

_NAME_LENGTH: Final = 32  # of an array
_RAID1: Final = ("-d", "raid1", "-m", "raid1")


class MirrorTarget(FilesystemTarget, MembersTarget):
    """A ``[[target]]`` with ``kind = "mirror"``."""

    kind: Literal["mirror"]

    @property
    def member_count(self) -> int:
        """Two."""
        return 2

    def problem(self, root: Path) -> str | None:
        """Look for md or loop devices where these are needed, and what members and filesystem need."""
        if not self._of_btrfs and not has_md():
            return (
                f"the kernel has no md, which a mirror with {self.filesystem} on it needs (btrfs and ZFS do not)"
            )
        if not self.devices and not has_loop_devices():
            return NO_LOOP_DEVICES
        return super().problem(root)

    @property
    def programs(self) -> tuple[Program, ...]:
        """Those of the filesystem; and mdadm, where md makes the mirror."""
        return (*super().programs, *(() if self._of_btrfs else MIRROR_PROGRAMS.values()))

    @property
    def _of_btrfs(self) -> bool:
        return self.filesystem == "btrfs"

    @contextmanager
    def ready(self, folder: Path) -> Iterator[Ready]:
        """Make the mirror, and mount it."""
        raid = "btrfs raid1" if self._of_btrfs else "md raid1"
        made = Ready(folder / "mount", filesystem=self.filesystem, settings={"raid": raid})
        made.directory.mkdir()
        names = self.make_members(made.steps, folder)
        with attached(made.steps, folder, () if self.devices else names) as loops:
            devices = loops or names
            if self._of_btrfs:
                mkfs(made.steps, folder, self, devices, *_RAID1)
                self.mount(made.steps, folder, devices[0], *(f"device={device}" for device in devices))
                try:
                    yield made
                finally:
                    unmount(made.steps, folder)
            else:
                with _array(made.steps, folder, devices) as array:
                    mkfs(made.steps, folder, self, [array])
                    self.mount(made.steps, folder, array)
                    try:
                        yield made
                    finally:
                        unmount(made.steps, folder)


@contextmanager
def _array(steps: list[Step], folder: Path, devices: Sequence[str]) -> Iterator[str]:
    """Make an array of md. It outlives this process, and is found by its name then."""
    taken = {path.name for path in Path("/sys/block").glob("md*")}
    number = next(number for number in range(127, 0, -1) if f"md{number}" not in taken)
    array = f"/dev/md{number}"
    words = ("--run", "--level=1", "--metadata=1.2", f"--raid-devices={len(devices)}", "--homehost=any")
    # Without --assume-clean, the members would be copied onto each other behind the runs.
    name = f"--name={launch_name(folder)[:_NAME_LENGTH]}"
    run_step(steps, folder, "mdadm", "--create", array, *words, "--assume-clean", name, *devices)
    try:
        yield array
    finally:
        run_step(steps, folder, "mdadm", "--stop", array, may_fail=True)
        run_step(steps, folder, "mdadm", "--zero-superblock", *devices, may_fail=True)
