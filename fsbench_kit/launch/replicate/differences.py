"""Differences between a replication and the published study, and their possible effect on the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.analysis.settings import NOT_KNOWN, effective, known, values_of
from fsbench_kit.launch.replicate.memory import memory_of
from fsbench_kit.launch.replicate.plan import replication
from fsbench_kit.model.units import humanise
from fsbench_kit.model.vocabulary import SETTINGS, setting_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.data.dataset import Dataset
    from fsbench_kit.launch.plan import Plan
    from fsbench_kit.launch.workloads import Workload


def differences(published: Dataset, replicated: Dataset) -> pl.DataFrame:
    """List the settings that differ between a replication and its study, as far as the study states them.

    Returns
    -------
    pl.DataFrame
        Columns ``filesystem``, ``setting``, ``kind``, ``published``, ``replicated``: one row per setting of the
        workload, the system or the target that the study states and the replication does not share. ``filesystem``
        is null for differences that apply to all filesystems.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> published = fsb.read("raw_results/published/fio-nvme-2021")
    >>> again = fsb.read("raw_results/replicated/fio-nvme-2021-again")
    >>> differences(published, again).filter(setting="time_limit").select("published", "replicated").row(0)
    ('300', '5')
    """
    theirs, again = (
        {str(name): values_of(known(data), runs["run_id"]) for (name,), runs in data.runs.group_by("filesystem")}
        for data in (published, replicated)
    )
    shared = sorted(theirs.keys() & again.keys())
    rows: list[tuple[str, ...]] = []
    for filesystem in shared:
        for key, values in theirs[filesystem].items():
            kind, found = setting_kind(key), again[filesystem].get(key)
            if (
                kind != "label"
                and found != values
                and (key in SETTINGS or kind == "target")
                and key != "provision"
            ):
                rows.append((filesystem, key, kind, " | ".join(values), " | ".join(found or [NOT_KNOWN])))
    names = ("filesystem", "setting", "kind", "published", "replicated")
    return (
        pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
        .group_by("setting", "kind", "published", "replicated", maintain_order=True)
        .agg(pl.col("filesystem"))
        .with_columns(
            filesystem=pl.when(pl.col("filesystem").list.len() < len(shared)).then(
                pl.col("filesystem").list.join(", ")
            )
        )
        .sort(pl.col("kind").replace_strict(_KINDS, range(len(_KINDS))), "setting", maintain_order=True)
        .select(names)
    )


_KINDS: Final = ("workload", "system", "target")


def caveats(replicated: Dataset) -> list[str]:
    """Return warnings about implementations that differ from what a filesystem's name suggests.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> caveats(fsb.read("raw_results/replicated"))[0].partition(":")[0]
    "The replication's zfs is zfs-fuse, pool version 23"
    """
    known = (
        effective(replicated.settings)
        .filter(pl.col("key") == "filesystem_version")
        .join(replicated.runs.select("run_id", "filesystem"), on="run_id")
    )
    return [
        f"The replication's {filesystem} is {version}: a program outside the kernel, which is slower than the "
        "filesystem of that name in the kernel."
        for filesystem, version in known.select("filesystem", "value").unique().sort("filesystem", "value").rows()
        if "fuse" in version
    ]


def effects_of_scale(published: Dataset, plan: Plan, replicated: Dataset) -> tuple[str, ...]:
    """Describe how different sizes, times and memory may have created or hidden effects in a replication.

    Parameters
    ----------
    published, replicated
        The runs of both.
    plan
        The replication's plan.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.launch.replicate import replication
    >>> published = fsb.read("raw_results/published/sysbench-rhel72")
    >>> replicated = fsb.read("raw_results/replicated/sysbench-rhel72-again")
    >>> (said,) = effects_of_scale(published, replication(published, scale="minutes").plan, replicated)
    >>> print(said.partition(":")[0])
    Runs of 1 s instead of 180 s end before slow effects show
    """
    then = {workload.name: workload for workload in replication(published, directories=["."]).plan.workload}
    pairs = [(workload, then.get(workload.name)) for workload in plan.workload]
    of_memory = _memory_effects(pairs, memory_of(published), memory_of(replicated))
    return (*of_memory, *_time_effects(pairs), *_startup_effects(replicated))


def _memory_effects(
    pairs: Sequence[tuple[Workload, Workload | None]], then: int | None, machine: int | None
) -> Iterator[str]:
    """Yield a sentence for each workload whose files now fit into memory, saying whether the study's did."""
    for workload, before in pairs:
        now = workload.tuning.memory_limit or machine
        if now is None or not workload.space or workload.space > 2 * now or workload.is_direct:
            continue
        said = f"{workload.name}: {humanise(workload.space, 'B')} of files, and {humanise(now, 'B')} of memory"
        if before is None or not before.space or then is None:
            yield f"{said}. Caches can hold all of them."
        elif before.space > then:
            yield (
                f"{said}; in the study {humanise(before.space, 'B')}, and {humanise(then, 'B')} of memory. "
                "Caches can hold all of these files, but could not hold the study's."
            )
        else:
            yield f"{said}. Caches can hold all of these files, as they could in the study."


def _time_effects(pairs: Sequence[tuple[Workload, Workload | None]]) -> Iterator[str]:
    """Yield a sentence for each run time that is shorter than the study's."""
    shorter = {
        (workload.stated_seconds, before.stated_seconds): None
        for workload, before in pairs
        if before is not None and workload.stated_seconds < before.stated_seconds
    }
    for now, before in shorter:
        yield (
            f"Runs of {now:g} s instead of {before:g} s end before slow effects show: a cache or a journal that "
            "fills up, files that get fragmented, a device that slows down."
        )


_SHORT: Final = 0.05
"""Seconds below which a program's start-up time, one or two milliseconds, is a noticeable part of the result."""


def _startup_effects(replicated: Dataset) -> Iterator[str]:
    times = replicated.measurements.filter("primary", metric="elapsed", statistic="value", state="measured")
    short = (
        times.filter(~pl.col("operation").str.ends_with("_sync"))
        .group_by("operation", maintain_order=True)
        .agg(pl.col("value").median())
        .filter(pl.col("value") < _SHORT)
    )
    if short.height:
        names = ", ".join(name.replace("_", " ") for name in short["operation"])
        yield (
            f"Took less than {humanise(_SHORT, 's')}: {names}. At this scale, the start of a program, one or "
            "two milliseconds, matters too, and brings ratios closer to 1."
        )
