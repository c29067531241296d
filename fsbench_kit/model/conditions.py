"""Conditions of a launched run that can spoil its measurements.

A condition is one entry: its code, severity, meaning, and a function that examines what the launch recorded
around the run and yields what it found, with the limit it applied. To add a condition, write such a function:
every launched run is checked against it, and readers of ``run.json`` find its code in
`fsbench_kit.model.vocabulary.DIAGNOSTICS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Judge = Callable[["Surroundings"], Iterator[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known about a run besides its log.

    Attributes
    ----------
    before, after
        The machine's state, as recorded around the run.
    memory
        The machine's main memory, in bytes.
    data
        The largest total size of the run's files, in bytes.
    free_at_first
        The free space before the first run of the same workload on the same target.
    """

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    memory: int | None
    data: int | None
    free_at_first: int | None


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that can spoil a run's measurements.

    Attributes
    ----------
    severity, meaning
        As in `fsbench_kit.model.vocabulary.DIAGNOSTICS`.
    judge
        Yields one sentence for each way in which the condition holds for a run.
    """

    severity: Literal["note", "warning"]
    meaning: str
    judge: Judge


CONDITIONS: Final[dict[str, Condition]] = {}
"""Code -> condition."""


def conditions(run: Surroundings) -> Iterator[tuple[str, str]]:
    """Yield the code of each condition that holds for a run, with a sentence about what was found."""
    for code, condition in CONDITIONS.items():
        for sentence in condition.judge(run):
            yield code, sentence


def _condition(code: str, severity: Literal["note", "warning"], meaning: str) -> Callable[[Judge], Judge]:
    def register(judge: Judge) -> Judge:
        CONDITIONS[code] = Condition(severity, meaning, judge)
        return judge

    return register


BUSY: Final = 0.2
"""Largest share of processor time that other work may use directly before a run."""


@_condition("MACHINE_LOADED", "warning", "Other work kept the machine busy directly before the run.")
def _loaded(run: Surroundings) -> Iterator[str]:
    busy = run.before["quiet"]["busy"]
    if busy > BUSY:
        yield (
            f"Directly before the run, other work kept the processors {100 * busy:.0f} % busy, "
            f"more than the limit of {100 * BUSY:.0f} %."
        )


FOREIGN_RATE: Final = 2**20
"""Largest rate, in bytes per second, at which others may use the device directly before a run."""

FOREIGN_SHARE: Final = 0.5
FOREIGN_BYTES: Final = 2**24
"""How much more than the image the disk beneath it may move: a share of the image's bytes, plus fixed bytes."""


@_condition("DEVICE_SHARED", "warning", "Others used the device before or during the run.")
def _shared(run: Surroundings) -> Iterator[str]:
    before, after = run.before, run.after
    quiet = before["quiet"]
    for name, moved in quiet["devices"].items():
        rate = sum(moved.values()) / quiet["seconds"]
        if rate > FOREIGN_RATE:
            yield (
                f"Directly before the run, others moved {humanise(rate, 'B/s')} on {name}, "
                f"more than the limit of {humanise(FOREIGN_RATE, 'B/s')}."
            )
            return
    moved = {
        name: sum(after["devices"][name].values()) - sum(counters.values())
        for name, counters in before["devices"].items()
        if name in after["devices"]
    }
    images = [name for name in moved if name.startswith("loop")]
    disks = [name for name in moved if name not in images]
    ours = sum(moved[name] for name in images)
    all_else = sum(moved[name] for name in disks) - _program_bytes(before, after, images)
    if images and disks and all_else > (1 + FOREIGN_SHARE) * ours + FOREIGN_BYTES:
        yield (
            f"During the run, {' and '.join(disks)} moved {humanise(all_else, 'B')}, and the image on it "
            f"{humanise(ours, 'B')}. The difference is more than {100 * FOREIGN_SHARE:.0f} % of the "
            f"image's bytes and {humanise(FOREIGN_BYTES, 'B')}, the code of the run's programs not counted."
        )


def _program_bytes(before: Mapping[str, Any], after: Mapping[str, Any], images: Sequence[str]) -> int:
    """Return the bytes read for the run but not from its images, such as fio's libraries (60 MB)."""
    if None in (before["fetched"], after["fetched"]):
        return 0
    images_read = sum(
        after["devices"][name]["read_bytes"] - before["devices"][name]["read_bytes"] for name in images
    )
    own: int = after["fetched"] - before["fetched"] - images_read
    return max(0, own)


@_condition(
    "SYNC_NOT_PASSED_ON",
    "warning",
    "Syncs do not reach the filesystem, so their times say nothing about the disk.",
)
def _sync_not_passed_on(run: Surroundings) -> Iterator[str]:
    filesystem = run.before["mount"].partition(" - ")[2].partition(" ")[0]
    if filesystem.partition(".")[0] == "fuse":  # neither fuseblk nor virtiofs, whose servers are asked to sync
        yield (
            f"The kernel does not pass syncs on to {filesystem}, which runs in user space. Data written before "
            "the run may reach the disk during it, and a sync of the whole filesystem waits for nothing."
        )


@_condition("MOUNT_OPTION_NOT_SHOWN", "note", "The mount does not show a requested option.")
def _mount_option_not_shown(run: Surroundings) -> Iterator[str]:
    asked = [word for word in run.before.get("asked_mount_options", "").split(",") if word]
    shown = {word for field in run.before.get("mount", "").split(" ") for word in field.split(",")}
    if missing := [word for word in asked if word not in shown]:
        yield (
            f"The mount does not show {', '.join(missing)}, which the plan asks for: either it is the "
            "filesystem's default, or the filesystem ignored it."
        )


@_condition("KERNEL_ERRORS", "warning", "The kernel logged errors during the run.")
def _kernel_errors(run: Surroundings) -> Iterator[str]:
    if errors := run.after.get("kernel_errors", {}).get("others"):
        yield f"The kernel logged errors during the run: {'; '.join(errors)}."


REACHED: Final = 0.9
"""Smallest share of the requested bytes that must reach the device for a run to count as uncached."""

OVERHEAD: Final = 2**24
"""Allowance for what a program reads and writes besides its work, such as its code and its log, in bytes."""


@_condition(
    "CACHED_RUN", "note", "Less data reached the device than the run requested; the page cache served the rest."
)
def _cached(run: Surroundings) -> Iterator[str]:
    before, after = run.before, run.after
    if run.data is None or run.memory is None or run.data >= 2 * run.memory:
        return
    if None in (before["asked"], after["asked"], before["disks"], after["disks"]):
        return
    for word, name in (("read", "read_bytes"), ("wrote", "written_bytes")):
        asked = after["asked"][name] - before["asked"][name] - OVERHEAD
        reached = after["disks"][name] - before["disks"][name]
        if asked > 0 and reached < REACHED * asked:
            yield (
                f"The run {word} {humanise(asked + OVERHEAD, 'B')}, but only {humanise(reached, 'B')} reached the "
                "device; its data is less than twice the memory."
            )


SPACE_CHANGE: Final = 0.01
"""Largest share of a filesystem by which its free space may change between runs."""


@_condition("SPACE_CHANGED", "note", "The filesystem was not as full as before its first run.")
def _space_changed(run: Surroundings) -> Iterator[str]:
    free, size = run.before["free_bytes"], run.before["size_bytes"]
    if run.free_at_first is not None and abs(free - run.free_at_first) > SPACE_CHANGE * size:
        yield (
            f"{humanise(free, 'B')} is free, and {humanise(run.free_at_first, 'B')} was free before the first "
            f"such run; the difference is more than {100 * SPACE_CHANGE:.0f} % of the filesystem."
        )
