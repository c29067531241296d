"""Applies kernel settings for one run."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.tuning import Tuning, kernel, memory
from fsbench_kit.launch.tuning.kernel import TuningError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


NO_DEVICE: Final = "{key} is a device setting, but this target has no device of its own"


@dataclass(frozen=True, slots=True)
class Applied:
    """The settings in effect for a run.

    Attributes
    ----------
    words
        The prefix of each of its commands.
    settings
        The machine's settings, keyed by `fsbench_kit.model.vocabulary.SETTINGS`, and the run's own.
    group
        Its control group, if its memory is limited.
    """

    words: tuple[str, ...]
    settings: dict[str, str]
    group: memory.Group | None

    @property
    def is_out_of_memory(self) -> bool:
        """Return whether the kernel killed a process of the run because of its memory limit."""
        return self.group is not None and self.group.killed


def problems(tuning: Tuning, devices: Collection[Path] = ()) -> Iterator[str]:
    """Yield a sentence for each setting that this machine does not support.

    Parameters
    ----------
    devices
        Block devices to which device settings would be applied.
    """
    for key, value in (tuning.of_device if devices else {}).items():
        if why := kernel.problem(key, value, folders(devices)):
            yield f"{key} = {value}: {why}"
    for key, value in tuning.of_kernel.items():
        if why := kernel.problem(key, value):
            yield f"{key} = {value}: {why}"
    if tuning.memory_limit is not None and (why := memory.problem()):
        yield f"memory_limit: {why}"
    missing = _processors(tuning.cpu_list) - os.sched_getaffinity(0)
    if missing:
        yield f"cpu_list = {tuning.cpu_list}: there is no processor {min(missing)} here"


@contextmanager
def applied(
    tuning: Tuning, devices: Sequence[Path], scratch: Path, name: str, servers: Sequence[int] = ()
) -> Iterator[Applied]:
    """Apply kernel settings within this context.

    Parameters
    ----------
    devices
        The block devices of the run's target that were created for it or named twice.
    scratch, name
        The launch's scratch folder, and the prefix of the names of what it creates.
    servers
        IDs of processes that serve the target's filesystem; their memory counts as the run's.

    Raises
    ------
    TuningError
        On entering, if a setting cannot be applied. What cannot be undone on exit is reported by
        `fsbench_kit.launch.cleanup.remaining`.
    """
    if tuning.of_device and not devices:
        raise TuningError(NO_DEVICE.format(key=next(iter(tuning.of_device))))
    own = folders(devices) if tuning.of_device else []
    with ExitStack() as stack:
        stack.enter_context(kernel.changed(tuning.of_device | tuning.of_kernel, own, scratch))
        group = None
        words: tuple[str, ...] = ()
        if tuning.cpu_list is not None:
            words = pinned(tuning.cpu_list)
        if tuning.memory_limit is not None:
            group = stack.enter_context(memory.limited(tuning.memory_limit, name, servers))
            words = (*group.enter, *words)
        values_set = {key: str(value) for key, value in tuning.values.items() if key not in kernel.KNOBS}
        yield Applied(words, values_set | kernel.settings(), group)


def pinned(cpu_list: str) -> tuple[str, ...]:
    """Return the command prefix that confines a command to some processors."""
    return ("taskset", "--cpu-list", cpu_list)


def folders(devices: Collection[Path]) -> list[Path]:
    """Return the ``/sys`` folders of block devices.

    Raises
    ------
    TuningError
        If one is a partition: its settings are those of the whole disk, which nobody has named.
    """
    found = []
    for device in devices:
        number = device.stat().st_rdev
        folder = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
        if (folder / "partition").exists():
            raise TuningError(
                f"{device} is a partition, and the settings of {folder.parent.name} are those of the whole disk"
            )
        found.append(folder)
    return found


def _processors(text: str | None) -> set[int]:
    """Return the numbers in a list like ``0-3,8``."""
    found: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1)) if first else set()
    return found
