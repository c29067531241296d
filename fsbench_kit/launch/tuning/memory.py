"""Limits the memory of a run, including page cache, with a control group."""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.environment import mounts
from fsbench_kit.launch.tuning.kernel import TuningError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_GROUPS: Final = Path("/proc/self/cgroup")
_PROCESSES: Final = "cgroup.procs"
_LIMITS: Final = ("memory.max", "memory.limit_in_bytes")
"""The file for the limit, in versions 2 and 1 of control groups."""
_ENDING: Final = 2.0  # seconds for the last process of a run to leave its group


class Group:
    """The control group of a run.

    Attributes
    ----------
    enter
        The command prefix that runs a command in it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.enter = ("sh", "-c", 'echo 0 > "$0" && exec "$@"', str(folder / _PROCESSES))

    @property
    def killed(self) -> bool:
        """Return whether the kernel has killed a process in it because the limit was reached."""
        texts = (_read(self._folder / name) for name in ("memory.events", "memory.oom_control"))
        return any(re.search(r"^oom_kill [1-9]", text, re.MULTILINE) for text in texts)


def problem() -> str | None:
    """Return why memory cannot be limited here, or ``None`` if it can be."""
    try:
        _make(f"fsbench-trial-{os.getpid()}")[0].rmdir()
    except TuningError as error:
        return str(error)
    return None


@contextmanager
def limited(limit: int, name: str, others: Iterable[int] = ()) -> Iterator[Group]:
    """Create a named group with a memory limit in bytes, and remove it on exit.

    Parameters
    ----------
    others
        IDs of processes that join it for that time, besides those of the run.

    Raises
    ------
    TuningError
        On entering, if the group cannot be created.
    """
    folder, own = _make(name)
    try:
        file = next(file for file in _LIMITS if (folder / file).exists())
        try:
            (folder / file).write_text(f"{limit}\n", encoding="ascii")
            for process in others:
                _move(process, folder)
        except OSError as error:
            raise TuningError(f"cannot limit the memory to {limit} bytes: {error.strerror}") from None
        yield Group(folder)
    finally:
        for process in others:
            with suppress(OSError):  # the process has ended
                _move(process, own)
        _remove(folder)


def remove_groups(name: str) -> None:
    """Remove the groups of a killed launch, which contain its name."""
    for folder in _named(name):
        _remove(folder)


def remaining(name: str) -> list[str]:
    """Return a line for each remaining group of a launch; a group with a process in it cannot be removed."""
    return [f"control group {folder} is still in use{_users(folder)}" for folder in _named(name)]


def _named(name: str) -> Iterator[Path]:
    for parent in groups():
        yield from parent.glob(f"{name}*")


def _users(folder: Path) -> str:
    """Name the visible processes in a group; a launch has a PID namespace of its own."""
    names = {
        process: _read(Path("/proc", process, "comm")).strip() for process in _read(folder / _PROCESSES).split()
    }
    listed = ", ".join(f"{process} ({name})" for process, name in names.items() if name)
    return f" by process {listed}" * bool(listed)


def _make(name: str) -> tuple[Path, Path]:
    """Create a group, and return it with the group of this process."""
    why = "the kernel has no limits of memory here (no control group with a memory controller)"
    own = parent = Path()
    for group in groups():
        own = own if parent.is_relative_to(group) else group  # the first group in each hierarchy
        parent, folder = group, group / name
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            why = f"a control group cannot be made in {parent}: {error.strerror}"
            continue
        if any((folder / file).exists() for file in _LIMITS):
            return folder, own
        folder.rmdir()  # its parent does not pass the controller on
    raise TuningError(why)


def groups(controller: str = "memory") -> Iterator[Path]:
    """Yield the groups of a controller that contain this process, innermost first."""
    own = {}
    for line in _read(_GROUPS).splitlines():
        _, controllers, path = line.split(":", 2)
        own[controllers] = path.lstrip("/")
    for mount in mounts():
        words = mount.options.split(",")
        if mount.filesystem == "cgroup2":
            path = own.get("", "")
        elif mount.filesystem == "cgroup" and controller in words:
            path = next((path for names, path in own.items() if controller in names.split(",")), "")
        else:
            continue
        folder = mount.point / path
        yield from (
            above for above in (folder, *folder.parents) if above.is_relative_to(mount.point) and above.is_dir()
        )


def _move(process: int, group: Path) -> None:
    (group / _PROCESSES).write_text(f"{process}\n", encoding="ascii")


def _remove(folder: Path) -> None:
    end = time.monotonic() + _ENDING
    while folder.is_dir() and time.monotonic() < end:
        with suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.05)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
