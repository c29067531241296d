"""Reads the lines of a job."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import isnan
from typing import Final

from fsbench_kit.formats.builder import Bounds, Place
from fsbench_kit.formats.fio import (
    CPU,
    DEPTHS,
    LATENCIES,
    Percentile,
    depth_bounds,
    known_quantity,
    latency_bounds,
    report_time,
    uncut_share,
)
from fsbench_kit.formats.fio_normal.figures import ANY, SHORTER, unit_of
from fsbench_kit.formats.fio_normal.phrases import ALL_CLIENTS, PERCENTILE, SHARE, cells, job_name
from fsbench_kit.formats.fio_normal.state import JobPlace, Readers, State
from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.model.units import Rounding, quantity

READERS: Final = Readers()
_LATENCY_UNITS: Final = {"nsec": "ns", "usec": "us", "msec": "ms"}


@READERS.of("job")
def _job(state: State, token: Token) -> None:
    name = job_name(token)
    is_sum = state.has_clients and name == ALL_CLIENTS
    part = state.parts.get(token.start) or state.parts_of_processes.get((name, token["pid"])) or name
    state.place = JobPlace(
        name=None if is_sum else name,
        scope="all" if is_sum else "client" if state.has_clients else "job",
        part=None if is_sum else state.of_client(part),
        jobs=int(token["jobs"]) if token["jobs"] is not None else None,
        block_sizes=state.block_sizes() if is_sum else state.block_sizes(token["group"], name),
    )
    if not is_sum:
        state.wholes["group", state.of_client(token["group"])][state.place.scope, state.place.part] = None
        state.wholes["all", None][state.place.scope, state.place.part] = None
    if int(token["error"] or "") != 0:
        state.failed = True
        state.say(token, "RUN_FAILED", f"The job {name} ended with an error.")
    if token["date"] is not None:
        state.ended_at = report_time(token["date"] or "")


@READERS.of("description")
def _description(state: State, token: Token) -> None:
    state.set("description", token["description"], token, state.place.name)


@READERS.of("rate")
def _rate(state: State, token: Token) -> None:
    operation = token["operation"] or ""
    state.place.operations.append(operation)
    prefix, is_binary, _, _ = unit_of(token, "rate")
    state.place.kb_base = 1024 if is_binary or not prefix else 1000
    place = state.place.of(operation)
    is_one_of_several = len(state.place.operations) > 1 or state.place.name is None
    if operation == "mixed" and token["bytes"] == "0" and is_one_of_several:
        state.say(token, "FIGURES_DISAGREE", "The sum of the reads and writes is printed as 0.")
    else:
        state.figures.add_short(token, place, "iops", "iops", unit="1/s", rounding="down")
        state.figures.add_amount_twice(token, place, "rate")
        state.figures.add_amount(token, place, "bytes")
    state.figures.add(token, place, "runtime", "runtime", unit="ms", rounding="exact")
    state.figures.add(token, place, "resets", "zone_resets", rounding="exact")


@READERS.of("old_rate")
def _old_rate(state: State, token: Token) -> None:
    # Some of fio 1.x and 2.x divide bytes by ms.
    operation = token["operation"] or ""
    state.place.operations.append(operation)
    place = state.place.of(operation)
    state.figures.add_short(token, place, "iops", "iops", unit="1/s", rounding="down")
    moved = state.figures.add_amount(token, place, "bytes")
    runtime = state.figures.add(token, place, "runtime", "runtime", unit="ms", rounding="exact")
    state.figures.counts_bytes_per_ms = False
    rate = state.figures.add_amount(token, place, "rate")
    if rate is not None and unit_of(token, "rate")[1] and state.figures.is_in_bytes_per_ms(rate, moved, runtime):
        state.figures.counts_bytes_per_ms = True
        state.figures.run.amend([rate], factor=SHORTER)


def _latency_place(state: State, token: Token) -> Place:
    operation = "sync" if token["kind"] == "sync" else state.operation()
    if token["priority"] is not None:
        return state.place.of(operation, f"prio {token['priority']}")
    return state.place.of(operation, f"{token['level']} prio" if token["level"] is not None else None)


@READERS.of("latency")
def _latency(state: State, token: Token) -> None:
    metric = LATENCIES[token["kind"] or ""]
    place = _latency_place(state, token)
    unit = _LATENCY_UNITS[token["unit"] or ""]
    for statistic in ("min", "max"):
        rounding: Rounding = "exact" if unit == "ns" else "down"
        state.figures.add_short(token, place, statistic, metric, statistic, unit=unit, rounding=rounding)
    for statistic in ("mean", "stdev"):
        state.figures.add(token, place, statistic, metric, statistic, unit=unit)


@READERS.of("percentiles")
def _percentiles(state: State, token: Token) -> None:
    place = _latency_place(state, token)
    metric = LATENCIES[token["kind"] or ""]
    unit = _LATENCY_UNITS[token["unit"] or ""]
    ticks_per_second = 10**9 if unit == "ns" else state.ticks_per_second
    per_unit = ticks_per_second // {"ns": 10**9, "us": 10**6, "ms": 10**3}[unit]
    for share in ("level_share", "priority_share"):
        state.figures.add(token, place, share, "operation_share", unit="%")
    rule = Percentile(per_unit, ticks_per_second)
    for cell in cells(token, "cells", PERCENTILE):
        rank, printed = cell.groups()
        low, high = _bounds(rule, printed)
        if isnan(low):
            state.not_understood(Token(token.name, token.text, *cell.span(), cell))
        else:
            at, statistic = Printed(printed, cell.start("value")), _statistic_of(rank)
            state.figures.run.add(place, metric, at, statistic, unit=unit, bounds=(low, high), rule=rule, name=ANY)


@lru_cache(maxsize=2**12)
def _bounds(rule: Percentile, printed: str) -> tuple[float, float | None]:
    return rule(int(printed))


@lru_cache(maxsize=2**8)
def _statistic_of(rank: str) -> str:
    return f"p{float(rank):g}"


@READERS.of("bandwidths")
def _bandwidths(state: State, token: Token) -> None:
    prefix, is_binary, unit, _ = unit_of(token, "unit")
    is_shorter = state.figures.counts_bytes_per_ms or (state.place.kb_base == 1000 and prefix == "M")
    name = f"{prefix.upper()}i{unit}/s" if prefix else f"{unit}/s"
    _read_intervals(state, token, "bandwidth", name, factor=SHORTER if is_shorter else None)
    if prefix == "k" and not is_binary:
        state.say(token, "WRONG_HEADING", "fio samples bandwidths in KiB/s, whatever it calls them.")


@READERS.of("iops")
def _iops(state: State, token: Token) -> None:
    _read_intervals(state, token, "iops", "1/s")


def _read_intervals(state: State, token: Token, metric: str, unit: str, factor: float | None = None) -> None:
    place = state.place.of(state.operation())
    of_rate = partial(state.figures.add, token, place, unit=unit, samples=token.printed("samples"), factor=factor)
    for statistic in ("min", "max"):
        of_rate(statistic, metric, statistic, rounding="down")
    for statistic in ("mean", "stdev"):
        of_rate(statistic, metric, statistic)
    share = state.figures.add(token, place, "share", "group_share", unit="%")
    bounds = uncut_share(known_quantity(token["share"], "%"), known_quantity(token["mean"], unit))
    if share is not None and bounds is not None:
        state.figures.run.amend([share], high=bounds[1])


@READERS.of("buckets")
def _buckets(state: State, token: Token) -> None:
    unit = token["unit"] or ""
    per_second = {"nsec": 10**9, "usec": 10**6, "msec": 10**3}[unit]
    # Below 1000 of a unit fio uses buckets of the next smaller unit; before 3.0 it had none in ns.
    first = 0 if unit == "nsec" or (unit == "usec" and state.ticks_per_second == 10**6) else 1
    bounds = partial(latency_bounds, per_second=per_second, first=first)
    _read_shares(state, token, "completion_latency", bounds)


@READERS.of("depths")
def _depths(state: State, token: Token) -> None:
    metric = DEPTHS[" ".join((token["name"] or "").split())]
    _read_shares(state, token, metric, partial(depth_bounds, metric))


def _read_shares(state: State, token: Token, metric: str, bounds: Callable[[str], Bounds]) -> None:
    known = []
    try:
        for cell in cells(token, "shares", SHARE):
            label, share = cell.groups()
            known.append((*bounds(label), quantity(share, "%").value, cell.start(), cell.start("share")))
    finally:  # shares before one that is not understood are kept
        if known:
            lows, highs, shares, positions, printed_at = zip(*known, strict=True)
            place = state.place.of("all")
            state.figures.run.add_bins(
                place, metric, lows, highs, shares=shares, positions=positions, printed_at=printed_at
            )


@READERS.of("cpu")
def _cpu(state: State, token: Token) -> None:
    place = state.place.of("all")
    for group, (metric, unit) in zip(("user", "system", "switches", "major", "minor"), CPU.items(), strict=True):
        state.figures.add(token, place, group, metric, unit=unit, rounding="nearest" if unit else "exact")


@READERS.of("issued")
def _issued(state: State, token: Token) -> None:
    # If reads and writes are reported as one, all of them are counted as reads.
    reported = set(state.place.operations)
    are_first_lines_lost = state.place.name is None and reported <= {"mixed"}
    if are_first_lines_lost and int(token["total_read"] or "0"):
        raise ValueError("the log does not say whether these are reads, or reads and writes")
    first = "mixed" if reported == {"mixed"} else "read"
    for column, operation in (("read", first), ("write", "write"), ("trim", "trim")):
        counts = [token[f"{name}_{column}"] for name in ("total", "short", "dropped")]
        if any(int(count or "0") for count in counts):
            place = state.place.of(operation)
            state.figures.add(token, place, f"total_{column}", "operations", rounding="exact")
            state.figures.add(token, place, f"short_{column}", "short_operations", rounding="exact")
            state.figures.add(token, place, f"dropped_{column}", "dropped_operations", rounding="exact")
    if int(token["total_sync"] or "0"):
        state.figures.add(token, state.place.of("sync"), "total_sync", "operations", rounding="exact")


@READERS.of("errors")
def _errors(state: State, token: Token) -> None:
    state.figures.add(token, state.place.of("all"), "total", "errors", rounding="exact")
    if int(token["total"] or ""):
        state.failed = True
        state.say(token, "RUN_FAILED", f"{token['total']} requests failed.")


@READERS.of("target")
def _target(state: State, token: Token) -> None:
    name = state.place.name
    for key in ("target", "window"):
        state.set(f"fio.latency_{key}", _seconds(token[key] or "", token[f"{key}_unit"]), token, name)
    if (percentile := token.printed("percentile")) is not None:
        state.set("fio.latency_percentile", latency_percentile(percentile.text), token, name, percentile)
    state.set("fio.latency_depth", token["depth"], token, name)


def latency_percentile(printed: str) -> str:
    """Return a percentile as a share."""
    return str(float(printed) / 100)


@READERS.of("steady")
def _steady(state: State, token: Token) -> None:
    name = state.place.name
    state.set("fio.steadystate_attained", "true" if token["attained"] == "yes" else "false", token, name)
    state.set("fio.steadystate_criterion", " ".join((token["criterion"] or "").split()), token, name)
    place = state.place.of("all")
    state.figures.add_amount(token, place, "rate", "steady_mean")
    state.figures.add_short(token, place, "iops", "iops", "steady_mean", unit="1/s", rounding="down")
    if token["latency"] is not None:
        unit = _LATENCY_UNITS[token["unit"] or ""]
        state.figures.add_short(token, place, "latency", "latency", "steady_mean", unit=unit, rounding="down")


def _seconds(value: str, unit: str | None) -> str:
    """Return a time in seconds, or as printed if its unit matters but is not printed."""
    number = float(value)
    if number == 0:
        return "0"
    per_second = {"ns": 10**9, "us": 10**6, "ms": 10**3, "s": 1}
    return str(number / per_second[unit]) if unit is not None else value
