"""Reads the text after the jobs: the status of groups, disks, idle processors."""

from __future__ import annotations

from functools import partial
from typing import Final

from fsbench_kit.formats.builder import Place
from fsbench_kit.formats.fio_normal.figures import SHORTER, unit_of
from fsbench_kit.formats.fio_normal.phrases import ALL_CLIENTS, IDLE, cells, job_name
from fsbench_kit.formats.fio_normal.state import Readers, State
from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.model.units import Rounding

READERS: Final = Readers()


@READERS.of("group")
def _group(state: State, token: Token) -> None:
    state.group = token["group"]


def _group_place(state: State, token: Token) -> Place:
    part = state.of_client(state.group)
    if not state.jobs:
        state.wholes["group", part]["job", None] = None
    jobs = [job["jobs"] for job in state.jobs if job["group"] == state.group and job_name(job) != ALL_CLIENTS]
    is_known = jobs and None not in jobs and len(state.results) == 1
    threads = sum(int(count or "") for count in jobs) if is_known else None
    return Place((token["operation"] or "").lower(), scope="group", part=part, threads=threads)


@READERS.of("total")
def _total(state: State, token: Token) -> None:
    place = _group_place(state, token)
    for name, statistic in (("rate", "value"), ("min", "min"), ("max", "max")):
        state.figures.add_amount_twice(token, place, name, statistic)
    state.figures.add_amount_twice(token, place, "bytes")
    state.figures.add(token, place, "shortest", "runtime", "min", unit="ms", rounding="exact")
    state.figures.add(token, place, "longest", "runtime", "max", unit="ms", rounding="exact")


@READERS.of("old_total")
def _old_total(state: State, token: Token) -> None:
    place = _group_place(state, token)
    is_1 = (
        state.version_number is not None
        and state.version_number < (2, 0)
        and not state.figures.counts_bytes_per_ms
    )
    ends = partial(
        state.figures.add_amount,
        token,
        place,
        counted_in="K",
        is_shorter=is_1,
        may_be_shorter=not is_1 and not _min_is_in_kib(state, token),
    )
    rate = state.figures.add_amount(token, place, "rate", counted_in="K")
    rates = rate, ends("min", "min"), ends("max", "max")
    moved = state.figures.add_amount(token, place, "bytes", counted_in="K")
    state.figures.add(token, place, "shortest", "runtime", "min", unit="ms", rounding="exact")
    longest = state.figures.add(token, place, "longest", "runtime", "max", unit="ms", rounding="exact")
    is_told_by_jobs = "old_rate" in state.report.names or not unit_of(token, "rate")[1]
    if not is_told_by_jobs and state.figures.is_in_bytes_per_ms(rate, moved, longest):
        state.figures.run.amend([number for number in rates if number is not None], factor=SHORTER)


def _min_is_in_kib(state: State, total: Token) -> bool:
    """Whether ``minb`` and ``maxb`` certainly have the unit of ``aggrb``: for a single job they are equal."""
    is_new = state.version_number is not None and state.version_number >= (2, 1)
    return is_new or total["rate"] in {total["min"], total["max"]}


@READERS.of("disk")
def _disk(state: State, token: Token) -> None:
    name = state.of_client(token["name"]) or ""
    _read_disk(state, token, "", name, statistic="value", most="value", rounding="exact")
    if token["members"] is not None:
        _read_disk(state, token, "all_", f"{name}/members", statistic="mean", most="max", rounding="down")


def _read_disk(
    state: State, token: Token, prefix: str, part: str, *, statistic: str, most: str, rounding: Rounding
) -> None:
    for operation in ("read", "write"):
        place = Place(operation, scope="disk", part=part)
        for name, metric, unit in (
            ("ios", "disk_ios", ""),
            ("sectors", "disk_sectors", ""),
            ("merge", "disk_merges", ""),
            ("ticks", "disk_ticks", "ms"),
        ):
            group = f"{prefix}{name}_{operation}"
            state.figures.add(token, place, group, metric, statistic, unit=unit, rounding=rounding)
    place = Place("all", scope="disk", part=part)
    state.figures.add(token, place, f"{prefix}queue", "disk_queue_time", statistic, unit="ms", rounding=rounding)
    state.figures.add(token, place, f"{prefix}util", "disk_utilisation", most, unit="%")


@READERS.of("idleness")
def _idleness(state: State, token: Token) -> None:
    place = Place("all")
    state.figures.add(token, place, "system", "cpu_idle", unit="%")
    for number, cell in enumerate(cells(token, "each", IDLE)):
        printed = Printed(cell["share"], cell.start("share"))
        state.figures.run.add(place._replace(part=f"cpu-{number}"), "cpu_idle", printed, unit="%")
    for statistic in ("mean", "stdev"):
        state.figures.add(token, place, statistic, "idle_unit_time", statistic, unit="us")


@READERS.of("lifetimes")
def _lifetimes(state: State, token: Token) -> None:
    state.say(token, "OTHER_TEXT", "How often blocks were trimmed does not measure speed, and is not kept.")
