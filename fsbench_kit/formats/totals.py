"""Checks fio's totals against their parts: groups, clients, members of disks.

fio adds up bytes and requests; the runtime of a total is that of its longest part, and its minimum and maximum of
bandwidth and runtime are those of some part (``__show_run_stats`` and ``sum_thread_stats`` in its ``stat.c``). The
share of a job in its group is the mean of its bandwidth over the bandwidth of the group; some versions truncate
one or both to KiB/s first. The ``aggr...`` figures of a disk are means over its members, truncated to integers,
and the largest utilisation (``diskutil.c``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final

import numpy as np

from fsbench_kit.formats.checks import Figures, Interval, apart, differ, figures_by_part, name_of, reach
from fsbench_kit.formats.findings import Finding, either, greatest, least
from fsbench_kit.model.records import Measurement

Part = tuple[str, str | None]
"""Scope and name of a part."""
Wholes = Mapping[Part, Sequence[Part]]
"""The parts of each total."""

_SUMS: Final[dict[str, dict[tuple[str, str], Callable[[Iterable[Any]], Any]]]] = {
    "group": {
        ("bytes", "value"): sum,
        ("runtime", "min"): least,
        ("runtime", "max"): greatest,
        ("bandwidth", "min"): least,
        ("bandwidth", "max"): greatest,
    },
    "all": {("bytes", "value"): sum, ("operations", "value"): sum, ("runtime", "value"): greatest},
}
"""How the figures of a total are computed from the values of its parts that have the same metric."""
_SUMMED: Final = {
    (metric, name) for made in _SUMS.values() for metric, statistic in made for name in (statistic, "value")
}


def checks(measurements: Sequence[Measurement], wholes: Wholes, *, has_all_parts: bool) -> Iterator[Finding]:
    """Yield a finding for each figure of a total that may not be the result of its parts.

    A total is a group, or the sum of all clients. If it is not known to have all its parts, missing ones may
    explain a difference.
    """
    yield from _sums(measurements, wholes, has_all_parts=has_all_parts)
    yield from _shares(measurements, wholes, has_all_parts=has_all_parts)
    yield from _members(measurements)


def _sums(measurements: Iterable[Measurement], wholes: Wholes, *, has_all_parts: bool) -> Iterator[Finding]:
    prints: dict[tuple[Part, str], dict[tuple[str, str], list[Measurement]]] = defaultdict(dict)
    for item in measurements:
        if (item.metric, item.statistic) in _SUMMED:
            figures = prints[(item.scope, item.part), item.operation]
            figures.setdefault((item.metric, item.statistic), []).append(item)
    operations = defaultdict(list)
    for place, operation in prints:
        operations[place].append(operation)
    for place, parts in wholes.items():
        for operation in operations[place]:
            each = [prints.get((part, operation), {}) for part in parts]
            for (metric, statistic), combine in _SUMS[place[0]].items():
                whole = prints[place, operation].get((metric, statistic), [])
                known = [figures[metric, "value"] for figures in each if (metric, "value") in figures]
                yield from _sum(whole, known, combine, has_all_parts=has_all_parts)


def _sum(
    whole: Sequence[Measurement],
    parts: Sequence[Sequence[Measurement]],
    combine: Callable[[Iterable[Any]], Any],
    *,
    has_all_parts: bool,
) -> Iterator[Finding]:
    """Check the prints of a figure of a total against its parts, up to the first that is wrong."""
    spans = [span for part in parts if (span := reach(part[0])) is not None]
    if not parts or len(spans) < len(parts):
        return
    made = combine(low for low, _ in spans), combine(high for _, high in spans)
    has_failed: Any = False
    for item in whole:
        if (span := reach(item)) is None:
            continue
        fails = apart(span, made)
        for other in parts[0] if len(parts) == 1 else ():
            fails |= differ(item, other)
        fails &= has_failed ^ True
        has_failed |= fails
        lacks_parts: Any = False
        if not has_all_parts:
            lacks_parts = span[1] < made[0] if combine is least else span[0] > made[1]
        message = f"{name_of(item)} of all jobs, {{}}, does not match their own figures"
        words, first = (item.text,), parts[0][0]
        why = f"{message}: jobs are missing, or one of the figures is wrong."
        yield Finding(fails & lacks_parts, "INCOMPLETE_LOG", why, words, item, first)
        yield Finding(fails & (lacks_parts ^ True), "FIGURES_DISAGREE", f"{message}.", words, item, first)


# Shares of a group's bandwidth

_CUT: Final = 1024
"""In B/s: fio may have truncated the bandwidths that it divides to KiB/s."""


def _shares(measurements: Iterable[Measurement], wholes: Wholes, *, has_all_parts: bool) -> Iterator[Finding]:
    """Check the share of each job in its group against the mean of its bandwidth and that of the group.

    If the bandwidth of the group is not printed, it is computed from all its jobs.
    """
    figures = figures_by_part(measurements)
    operations = list(dict.fromkeys(operation for *_, operation in figures))
    for (scope, part), parts in wholes.items():
        for operation in operations if scope == "group" else ():
            jobs = [figures[*job, operation] for job in parts if (*job, operation) in figures]
            printed = figures.get((scope, part, operation), {}).get(("bandwidth", "value"))
            rate = reach(printed) if printed is not None else _rate(jobs) if has_all_parts else None
            if rate is not None:
                for job in jobs:
                    yield from _share(job, rate)


def _rate(jobs: Sequence[Figures]) -> Interval | None:
    """Return the bandwidth of a group: the bytes of all jobs over the longest of their runtimes."""
    known = [(job.get(("bytes", "value")), job.get(("runtime", "value"))) for job in jobs]
    spans = [
        (*moved, *time)
        for amount, runtime in known
        if amount and runtime and (moved := reach(amount)) and (time := reach(runtime))
    ]
    if not spans or len(spans) < len([item for item, _ in known if item]):
        return None
    # In a column, the figures of a job that did nothing are NaN.
    spans = [tuple(either(np.isnan(end), 0.0, end) for end in span) for span in spans]
    longest = greatest(span[2] for span in spans)
    longest = either(longest > 0, longest, inf)
    return sum(span[0] for span in spans) / longest, sum(span[1] for span in spans) / longest


def _share(job: Figures, rate: Interval) -> Iterator[Finding]:
    share, mean = job.get(("group_share", "value")), job.get(("bandwidth", "mean"))
    if share is None or mean is None or not (part := reach(share)) or not (known := reach(mean)):
        return
    # fio limits shares to 100 %.
    of_group = part[0] * (rate[0] - _CUT), either(part[1] < 1, part[1] * rate[1], inf)
    disagree = (rate[0] > _CUT) & apart(of_group, (known[0] - _CUT, known[1]))
    message = f"{{}} % of the group's bandwidth is not {name_of(mean)}, {{}}."
    yield Finding(disagree, "FIGURES_DISAGREE", message, (share.text, mean.text), share, mean)


# Disks that consist of others

_MEMBERS: Final = "/members"
_TELLING: Final = 3
"""The number of nonzero figures that must be the results of some disks to identify these as the members."""

Disk = dict[tuple[str, str], "Measurement"]


def _members(measurements: Iterable[Measurement]) -> Iterator[Finding]:
    """Check the figures of a disk's members together against those of each.

    fio lists the members after the disk, but neither prints their number nor repeats one that was listed before.
    """
    disks: dict[str, Disk] = {}
    for item in measurements:
        if item.scope == "disk" and item.part is not None:
            disks.setdefault(item.part, {})[item.operation, item.metric] = item
    names = list(disks)
    for index, name in enumerate(names):
        if not name.endswith(_MEMBERS):
            continue
        others = [disks[other] for other in names[index + 1 :] if not other.endswith(_MEMBERS)]
        wrong = _wrong(disks[name], others)
        agreeing: Any = sum(
            (item.value != 0) & (wrong.get(key, False) ^ True)
            for key, item in disks[name].items()
            if item.value is not None
        )
        for key, fails in wrong.items():
            item = disks[name][key]
            message = f"{name_of(item)} of the members of the disk, {{}}, does not match their own figures."
            yield Finding(
                fails & (agreeing >= _TELLING), "FIGURES_DISAGREE", message, (item.text,), item, others[0][key]
            )


def _wrong(whole: Disk, others: Sequence[Disk]) -> dict[tuple[str, str], Any]:
    """Return which figures of a disk's members do not result from the first disks, of the best-fitting number."""
    best: dict[tuple[str, str], Any] = {}
    fewest: Any = inf
    for number in range(1, len(others) + 1):
        wrong = _not_made(whole, others[:number])
        count = sum(wrong.values())
        is_better = count < fewest
        best = {key: either(is_better, wrong.get(key, False), best.get(key, False)) for key in wrong | best}
        fewest = either(is_better, count, fewest)
    return best


def _not_made(whole: Disk, parts: Sequence[Disk]) -> dict[tuple[str, str], Any]:
    """Return, for each figure that all of the given disks have, whether it does not result from them."""
    found = {}
    for key, item in whole.items():
        spans = [span for part in parts if key in part and (span := reach(part[key])) is not None]
        if len(spans) == len(parts):
            combine = greatest if item.statistic == "max" else _mean
            found[key] = apart(reach(item), (combine(low for low, _ in spans), combine(high for _, high in spans)))
    return found


def _mean(values: Iterable[Any]) -> Any:
    known = list(values)
    return sum(known) / len(known)
