"""Says under which conditions a run was made that can spoil its figures.

Each condition has a limit that its sentence states, and is judged by what is recorded of the run besides; so the
sentences can be checked against the record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.model.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

BUSY: Final = 0.2
"""The share of the processors' time that others may use directly before a run."""

FOREIGN_RATE: Final = 2**20
"""The bytes per second that others may move on the device directly before a run."""

FOREIGN_SHARE: Final = 0.5
FOREIGN_BYTES: Final = 2**24
"""How much more than an image the disk beneath may move: a share of the image's bytes, and bytes besides."""

REACHED: Final = 0.9
"""The share of the bytes that a run asked for which has to reach the device, unless caches had a part in it."""

OVERHEAD: Final = 2**24
"""The bytes that a program may read and write besides its work: its own code, its log."""

SPACE_CHANGE: Final = 0.01
"""The share of a filesystem by which its free space may change between runs."""

Condition = tuple[str, str]
"""A key of `fsbench_kit.model.vocabulary.DIAGNOSTICS`, and the sentence that says what was seen."""


def conditions(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    memory: int | None,
    data: int | None,
    free_at_first: int | None,
) -> Iterator[Condition]:
    """Yield what may spoil the figures of a run.

    Parameters
    ----------
    before, after
        What was recorded of the machine around the run.
    memory
        The machine's, in bytes.
    data
        The most bytes that the run's files hold.
    free_at_first
        The free space before the first run of the same workload on the same target.
    """
    quiet = before["quiet"]
    if quiet["busy"] > BUSY:
        yield (
            "MACHINE_LOADED",
            f"Directly before the run the processors were {quiet['busy']:.0%} busy with other work, "
            f"which is more than {BUSY:.0%}.",
        )
    yield from _shared(before, after)
    filesystem = before["mount"].partition(" - ")[2].partition(" ")[0]
    if filesystem.partition(".")[0] == "fuse":  # neither fuseblk nor virtiofs, whose servers are asked to sync
        yield (
            "SYNC_NOT_PASSED_ON",
            f"The kernel does not pass sync on to {filesystem}, which runs in user space. What was written before "
            "the run may reach the disk during it, and a sync of the whole filesystem waits for nothing.",
        )
    if data is not None and memory is not None and data < 2 * memory:
        yield from _cached(before, after)
    free, size = before["free_bytes"], before["size_bytes"]
    if free_at_first is not None and abs(free - free_at_first) > SPACE_CHANGE * size:
        yield (
            "SPACE_CHANGED",
            f"{humanise(free, 'B')} are free, and before the first such run it was "
            f"{humanise(free_at_first, 'B')}; the difference is more than {SPACE_CHANGE:.0%} of the filesystem.",
        )


def _shared(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Condition]:
    """Tell whether others moved bytes on a device under the target."""
    quiet = before["quiet"]
    for name, moved in quiet["devices"].items():
        rate = sum(moved.values()) / quiet["seconds"]
        if rate > FOREIGN_RATE:
            yield (
                "DEVICE_SHARED",
                f"Directly before the run others moved {humanise(rate, 'B/s')} on {name}, "
                f"which is more than {humanise(FOREIGN_RATE, 'B/s')}.",
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
    all_else = sum(moved[name] for name in disks) - _of_programs(before, after, images)
    if images and disks and all_else > (1 + FOREIGN_SHARE) * ours + FOREIGN_BYTES:
        yield (
            "DEVICE_SHARED",
            f"During the run {' and '.join(disks)} moved {humanise(all_else, 'B')}, and the image on it "
            f"{humanise(ours, 'B')}: more than {FOREIGN_SHARE:.0%} and {humanise(FOREIGN_BYTES, 'B')} besides, "
            "the code of the run's programs not counted.",
        )


def _of_programs(before: Mapping[str, Any], after: Mapping[str, Any], images: Sequence[str]) -> int:
    """Return the bytes that were read for the run and not from its images: with fio's libraries, 60 MB."""
    if None in (before["fetched"], after["fetched"]):
        return 0
    images_read = sum(
        after["devices"][name]["read_bytes"] - before["devices"][name]["read_bytes"] for name in images
    )
    own: int = after["fetched"] - before["fetched"] - images_read
    return max(0, own)


def _cached(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Condition]:
    """Tell whether the devices moved less than the run asked for, where both are known."""
    if None in (before["asked"], after["asked"], before["disks"], after["disks"]):
        return
    for word, name in (("read", "read_bytes"), ("wrote", "written_bytes")):
        asked = after["asked"][name] - before["asked"][name] - OVERHEAD
        reached = after["disks"][name] - before["disks"][name]
        if asked > 0 and reached < REACHED * asked:
            yield (
                "CACHED_RUN",
                f"The run {word} {humanise(asked + OVERHEAD, 'B')}, of which {humanise(reached, 'B')} reached the "
                "device; its data are less than twice the memory.",
            )
