"""Reads the lines of a job."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.formats.fio import (
    DEPTHS,
    LATENCIES,
    depth_bounds,
    has_bin,
    latency_bounds,
    percentile_bounds,
    report_time,
    uncut_share,
)
from fsbench_kit.formats.fio_normal.builder import JobPlace, is_in_bytes_per_ms, scaled, unit_of
from fsbench_kit.formats.fio_normal.phrases import ALL_CLIENTS, cells, job_name
from fsbench_kit.formats.fio_normal.setup import SetUp
from fsbench_kit.model.records import Bin

if TYPE_CHECKING:
    from fsbench_kit.formats.lexer import Token

_LATENCY_UNITS: Final = {"nsec": "ns", "usec": "us", "msec": "ms"}
_SHARE: Final = r"(?P<label>(?:>=)?\d+)=\s*(?P<share>\d[\d.]*)%"


class JobLines(SetUp):
    """Reads what fio says of each job."""

    def _read_job(self, token: Token) -> None:
        name = job_name(token)
        is_sum = self.has_clients and name == ALL_CLIENTS
        part = self.parts.get(token.start) or self.parts_of_processes.get((name, token["pid"])) or name
        self.place = JobPlace(
            name=None if is_sum else name,
            scope="all" if is_sum else "client" if self.has_clients else "job",
            part=None if is_sum else self._of_client(part),
            jobs=int(token["jobs"]) if token["jobs"] is not None else None,
            block_sizes=self._block_sizes() if is_sum else self._block_sizes(token["group"], name),
        )
        if not is_sum:
            self.wholes["group", self._of_client(token["group"])][self.place.scope, self.place.part] = None
            self.wholes["all", None][self.place.scope, self.place.part] = None
        if int(token["error"] or "") != 0:
            self.failed = True
            self.diagnostics.append(token.diagnostic("RUN_FAILED", f"The job {name} ended with an error."))
        if token["date"] is not None:
            self.ended_at = report_time(token["date"] or "")

    def _read_description(self, token: Token) -> None:
        self._set("description", token["description"], token, self.place.name)

    def _read_rate(self, token: Token) -> None:
        operation = token["operation"] or ""
        self.place.operations.append(operation)
        self.place.kb_base = 1024 if unit_of(token, "rate")[1] or not unit_of(token, "rate")[0] else 1000
        place = self.place.of(operation)
        is_one_of_several = len(self.place.operations) > 1 or self.place.name is None
        if operation == "mixed" and token["bytes"] == "0" and is_one_of_several:
            self.diagnostics.append(
                token.diagnostic("FIGURES_DISAGREE", "The sum of the reads and writes is printed as 0.")
            )
        else:
            self._short_figure(token, place, "iops", "iops", unit="1/s", rounding="down")
            self._amount_twice(token, place, "rate")
            self._amount(token, place, "bytes")
        self._figure(token, place, "runtime", "runtime", unit="ms", rounding="exact")
        self._figure(token, place, "resets", "zone_resets", rounding="exact")

    def _read_old_rate(self, token: Token) -> None:
        operation = token["operation"] or ""
        self.place.operations.append(operation)
        place = self.place.of(operation)
        self._short_figure(token, place, "iops", "iops", unit="1/s", rounding="down")
        self._amount(token, place, "bytes")
        self._figure(token, place, "runtime", "runtime", unit="ms", rounding="exact")
        self.counts_bytes_per_ms = False
        self._amount(token, place, "rate")
        moved, runtime, rate = self.measurements[-3:]
        if unit_of(token, "rate")[1] and is_in_bytes_per_ms(rate, moved, runtime):
            self.counts_bytes_per_ms = True
            self.measurements[-1] = scaled(rate, 1000 / 1024)

    def _operation(self) -> str:
        """Return the operation whose lines are being read."""
        if not self.place.operations:
            raise ValueError("a figure of an operation that the log does not name")
        return self.place.operations[-1]

    def _latency_place(self, token: Token) -> dict[str, Any]:
        operation = "sync" if token["kind"] == "sync" else self._operation()
        if token["priority"] is not None:
            return self.place.of(operation, f"prio {token['priority']}")
        return self.place.of(operation, f"{token['level']} prio" if token["level"] is not None else None)

    def _read_latency(self, token: Token) -> None:
        metric = LATENCIES[token["kind"] or ""]
        place = self._latency_place(token)
        unit = _LATENCY_UNITS[token["unit"] or ""]
        for statistic in ("min", "max"):
            self._short_figure(
                token, place, statistic, metric, statistic, unit=unit, rounding="exact" if unit == "ns" else "down"
            )
        for statistic in ("mean", "stdev"):
            self._figure(token, place, statistic, metric, statistic, unit=unit)

    def _read_percentiles(self, token: Token) -> None:
        place = self._latency_place(token)
        unit = _LATENCY_UNITS[token["unit"] or ""]
        ticks_per_second = 10**9 if unit == "ns" else self.ticks_per_second
        per_unit = ticks_per_second // {"ns": 10**9, "us": 10**6, "ms": 10**3}[unit]
        for share in ("level_share", "priority_share"):
            self._figure(token, place, share, "operation_share", unit="%")
        for cell in cells(token, "cells", r"(?P<p>\d+(?:\.\d+)?)th=\s*\[\s*(?P<value>\d+)\s*\]"):
            printed = int(cell["value"] or "")
            smallest, largest = max(0, (printed - 1) * per_unit + 1), printed * per_unit
            if ticks_per_second == 10**9 and not has_bin(smallest, largest):  # fio 2.x has printed others
                self._not_understood(cell)
                continue
            item = cell.measurement(
                "value",
                metric=LATENCIES[token["kind"] or ""],
                statistic=f"p{float(cell['p'] or ''):g}",
                unit=unit,
                **place,
            )
            low, high = percentile_bounds(smallest, largest)
            self.measurements.append(
                replace(item, low=low / ticks_per_second, high=high / ticks_per_second)
                if high is not None
                else replace(item, state="censored", value=None, low=low / ticks_per_second, high=None)
            )

    def _read_bandwidths(self, token: Token) -> None:
        prefix, is_binary, unit, _ = unit_of(token, "unit")
        known = len(self.measurements)
        self._interval_statistics(token, "bandwidth", unit=f"{prefix.upper()}i{unit}/s" if prefix else f"{unit}/s")
        if self.counts_bytes_per_ms or (self.place.kb_base == 1000 and prefix == "M"):
            rates = [item for item in self.measurements[known:] if item.metric == "bandwidth"]
            self.measurements[known : known + len(rates)] = [scaled(item, 1000 / 1024) for item in rates]
        if prefix == "k" and not is_binary:
            self.diagnostics.append(
                token.diagnostic("WRONG_HEADING", "fio samples bandwidths in KiB/s, whatever it calls them.")
            )

    def _read_iops(self, token: Token) -> None:
        self._interval_statistics(token, "iops", unit="1/s")

    def _interval_statistics(self, token: Token, metric: str, unit: str) -> None:
        place = self.place.of(self._operation())
        samples = int(token["samples"]) if token["samples"] is not None else None
        job = partial(self._figure, token, place, unit=unit, samples=samples)
        for statistic in ("min", "max"):
            job(statistic, metric, statistic, rounding="down")
        for statistic in ("mean", "stdev"):
            job(statistic, metric, statistic)
        self._figure(token, place, "share", "group_share", unit="%")
        uncut_share(self.measurements)

    def _read_buckets(self, token: Token) -> None:
        unit = token["unit"] or ""
        per_second = {"nsec": 10**9, "usec": 10**6, "msec": 10**3}[unit]
        # Below 1000 of a unit the buckets of the next smaller one are used; fio before 3.0 had none of ns.
        first = 0 if unit == "nsec" or (unit == "usec" and self.ticks_per_second == 10**6) else 1
        for cell in cells(token, "shares", _SHARE):
            bounds = latency_bounds(cell["label"] or "", per_second, first=first)
            self._share(cell, "completion_latency", bounds)

    def _read_depths(self, token: Token) -> None:
        metric = DEPTHS[" ".join((token["name"] or "").split())]
        for cell in cells(token, "shares", _SHARE):
            self._share(cell, metric, depth_bounds(metric, cell["label"] or ""))

    def _share(self, cell: Token, metric: str, bounds: tuple[float | None, float | None]) -> None:
        share = cell.measurement("share", operation="all", metric=metric, unit="%").value
        self.bins.append(
            Bin(
                operation="all",
                metric=metric,
                low=bounds[0],
                high=bounds[1],
                share=share,
                line=cell.line,
                scope=self.place.scope,
                part=self.place.part,
            )
        )

    def _read_cpu(self, token: Token) -> None:
        job = partial(self._figure, token, self.place.of("all"))
        job("user", "cpu_user", unit="%")
        job("system", "cpu_system", unit="%")
        job("switches", "context_switches", rounding="exact")
        job("major", "major_faults", rounding="exact")
        job("minor", "minor_faults", rounding="exact")

    def _read_issued(self, token: Token) -> None:
        # Where reads and writes are reported as one, all of them are counted as reads.
        reported = set(self.place.operations)
        are_first_lines_lost = self.place.name is None and reported <= {"mixed"}
        if are_first_lines_lost and int(token["total_read"] or "0"):
            raise ValueError("whether these are reads, or reads and writes, the log does not say")
        first = "mixed" if reported == {"mixed"} else "read"
        for column, operation in (("read", first), ("write", "write"), ("trim", "trim")):
            counts = [token[f"{name}_{column}"] for name in ("total", "short", "dropped")]
            if any(int(count or "0") for count in counts):
                job = partial(self._figure, token, self.place.of(operation), rounding="exact")
                job(f"total_{column}", "operations")
                job(f"short_{column}", "short_operations")
                job(f"dropped_{column}", "dropped_operations")
        if int(token["total_sync"] or "0"):
            self._figure(token, self.place.of("sync"), "total_sync", "operations", rounding="exact")

    def _read_errors(self, token: Token) -> None:
        self._figure(token, self.place.of("all"), "total", "errors", rounding="exact")
        if int(token["total"] or ""):
            self.failed = True
            self.diagnostics.append(token.diagnostic("RUN_FAILED", f"{token['total']} requests failed."))

    def _read_target(self, token: Token) -> None:
        name = self.place.name
        for key in ("target", "window"):
            self._set(f"fio.latency_{key}", _seconds(token[key] or "", token[f"{key}_unit"]), token, name)
        self._set("fio.latency_percentile", str(float(token["percentile"] or "") / 100), token, name)
        self._set("fio.latency_depth", token["depth"], token, name)

    def _read_steady(self, token: Token) -> None:
        name = self.place.name
        self._set("fio.steadystate_attained", "true" if token["attained"] == "yes" else "false", token, name)
        self._set("fio.steadystate_criterion", " ".join((token["criterion"] or "").split()), token, name)
        place = self.place.of("all")
        self._amount(token, place, "rate", "steady_mean")
        self._short_figure(token, place, "iops", "iops", "steady_mean", unit="1/s", rounding="down")
        if token["latency"] is not None:
            unit = _LATENCY_UNITS[token["unit"] or ""]
            self._short_figure(token, place, "latency", "latency", "steady_mean", unit=unit, rounding="down")


def _seconds(value: str, unit: str | None) -> str:
    """Return a time in seconds, or as printed where its unit is not printed and matters."""
    number = float(value)
    if number == 0:
        return "0"
    per_second = {"ns": 10**9, "us": 10**6, "ms": 10**3, "s": 1}
    return str(number / per_second[unit]) if unit is not None else value
