"""How the figures and settings of a run are kept, by the rules of fio's printing."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from fsbench_kit.formats.fio import part_names
from fsbench_kit.formats.fio_normal.phrases import ALL_CLIENTS, job_name
from fsbench_kit.formats.fio_normal.reports import choose_results
from fsbench_kit.formats.lexer import UNREAD, Token, unread_figure
from fsbench_kit.model.records import Bin, Diagnostic, Measurement, Setting
from fsbench_kit.model.units import quantity
from fsbench_kit.model.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from fsbench_kit.formats.fio_normal.reports import Report
    from fsbench_kit.formats.totals import Place
    from fsbench_kit.model.records import Scope
    from fsbench_kit.model.units import Rounding

_VERSION: Final = re.compile(r"(\d+)\.(\d+)")
_FRACTION: Final = re.compile(r"(?P<whole>\d+)\.(?P<fraction>\d+)(?P<suffix>[a-zA-Z]?)")


@dataclass
class JobPlace:
    """What the figures of a job belong to."""

    name: str | None = None
    scope: Scope = "job"
    part: str | None = None
    jobs: int | None = None
    operations: list[str] = field(default_factory=list)
    block_sizes: dict[str, int | None] = field(default_factory=dict)
    kb_base: int = 1024

    def of(self, operation: str, level: str | None = None) -> dict[str, Any]:
        """Return the columns of a measurement of this job, or of one priority level of it."""
        names = [name for name in (self.part, level) if name is not None]
        return {
            "operation": operation,
            "scope": self.scope,
            "part": "/".join(names) or None,
            "threads": self.jobs,
            "block_size": self.block_sizes.get(operation),
        }


class Kept:
    """What is known of the reports of one run, and what was kept of them so far."""

    def __init__(self, reports: list[Report]) -> None:
        self.reports = reports
        choose_results(reports)
        self.results = [report for report in reports if report.result is report]
        self.known = [token for report in reports for token in report.tokens if token.name != UNREAD]
        self.settings: list[Setting] = []
        self.given: set[tuple[str, str, str | None]] = set()
        self.measurements: list[Measurement] = []
        self.bins: list[Bin] = []
        self.series: dict[tuple[str | None, str, str, str], dict[float, tuple[float, int]]] = {}
        self.diagnostics: list[Diagnostic] = []
        self.failed = False
        self.stopped = False
        self.ended_at: datetime | None = None
        self.group: str | None = None
        self.wholes: dict[Place, dict[Place, None]] = defaultdict(dict)

        self.headers = [token for token in self.known if token.name == "header"]
        self.jobs = [job for report in self.results for job in report.jobs]
        names = list(part_names(map(job_name, self.jobs)))
        self.parts = {job.start: name for job, name in zip(self.jobs, names, strict=True)}
        self.parts_of_processes = {
            (job_name(job), job["pid"]): name for job, name in zip(self.jobs, names, strict=True)
        }
        self.names_of_jobs = set(map(job_name, self.jobs))
        self.has_several = len((self.names_of_jobs | set(map(job_name, self.headers))) - {ALL_CLIENTS}) > 1
        self.sizes: dict[tuple[str | None, str | None], dict[str, int | None]] = {}

        hosts = {token["host"] for token in self.known if token.name == "hello"}
        self.host = hosts.pop() if len(hosts) == 1 else None
        self.has_clients = reports[0].has_clients
        if self.has_clients:
            self._name_clients()

        self.version = next((t["version"] for t in self.known if t.name in {"banner", "hello"}), None)
        number = _VERSION.match(self.version or "")
        self.version_number = (int(number[1]), int(number[2])) if number else None
        self.is_old_layout = any(token.name in {"old_rate", "old_total"} for token in self.known)
        is_old = self.version_number < (2, 99) if self.version_number is not None else self.is_old_layout
        # Since 3.0 latencies are taken in ns.
        self.ticks_per_second = 10**6 if is_old else 10**9
        self.counts_bytes_per_ms = False
        self.is_decimal = False
        self.report = reports[0]
        self.place = JobPlace()

    def _name_clients(self) -> None:
        for report in self.results:
            start = report.jobs[0].start if report.jobs else 0
            before = [t["host"] for t in report.tokens if t.name == "client" and t.start < start]
            report.client = None if report.is_sum_of_clients else before[-1] if before else self.host
        of_clients = [report for report in self.results if report.client is not None]
        for report, label in zip(
            of_clients, part_names(report.client or "" for report in of_clients), strict=True
        ):
            report.label = label

    def _of_client(self, part: str | None) -> str | None:
        names = [name for name in (self.report.result.label, part) if name is not None]
        return "/".join(names) or None

    def _not_understood(self, token: Token) -> None:
        diagnostic = unread_figure(token)
        if diagnostic is not None:
            self.diagnostics.append(diagnostic)

    def _figure(
        self, token: Token, place: Mapping[str, Any], group: str, metric: str, statistic: str = "value", **how: Any
    ) -> None:
        """Keep a figure, if the phrase holds it. A deviation of a single value is none, and may be below 0."""
        text = token[group]
        if text is None:
            return
        if text.lstrip("-") in {"nan", "inf"} or (statistic == "stdev" and text.startswith("-")):
            item = Measurement(
                metric=metric,
                statistic=statistic,
                value=None,
                unit=METRICS[metric].unit,
                state="missing",
                text=text,
                line=token.line_of(group),
                **place,
            )
        else:
            item = token.measurement(group, metric=metric, statistic=statistic, **place, **how)
        self.measurements.append(item)

    def _short_figure(
        self,
        token: Token,
        place: Mapping[str, Any],
        group: str,
        metric: str,
        statistic: str = "value",
        *,
        unit: str,
        rounding: Rounding,
        **how: Any,
    ) -> None:
        """Keep a figure that fio shortened to a few digits; `rounding` is that of one without a suffix."""
        text = token[group]
        if text is None:
            return
        if text[-1:].isalpha():
            rounding = "nearest"
        self._figure(token, place, group, metric, statistic, unit=unit, rounding=rounding, **how)
        number = _FRACTION.fullmatch(text)
        if number is not None and (self.is_old_layout or self._may_lack_carry(number)):
            item = self.measurements[-1]
            ends = (int(number["whole"]), int(number["whole"]) + 1)
            low, high = (quantity(f"{end}{number['suffix']}", unit, rounding="exact").value for end in ends)
            # Rounded up to .0 it can be only where the carry is not lost, which an unknown version may do.
            is_known = self.is_old_layout or self.version_number is not None
            self.measurements[-1] = replace(item, low=low if is_known else item.low, high=high)

    def _may_lack_carry(self, number: re.Match[str]) -> bool:
        """Whether this fio may have printed 27.99 as 27.0."""
        has_carry = self.version_number is not None and self.version_number > (3, 25)
        return not has_carry and not int(number["fraction"])

    def _amount_twice(self, token: Token, place: Mapping[str, Any], group: str, statistic: str = "value") -> None:
        """Keep an amount and its second printing, which tells whether the first one lacks its carry."""
        self._amount(token, place, group, statistic)
        first = self.measurements[-1]
        self._amount(token, place, f"{group}_again", statistic, primary=False)
        number = _FRACTION.fullmatch(first.text)
        if self.is_old_layout or number is None or not self._may_lack_carry(number) or not first.value:
            return
        step = first.value / float(first.text) * 10.0 ** -len(number["fraction"])
        carried = replace(first, high=first.value + step / 2)
        if _overlap(carried, self.measurements[-1]):
            self.measurements[-2] = carried
        elif _overlap(first, self.measurements[-1]):
            self.diagnostics.append(
                token.diagnostic("CARRY_LOST", f"{first.text} stands for almost {int(number['whole']) + 1}.")
            )

    def _amount(
        self,
        token: Token,
        place: Mapping[str, Any],
        group: str,
        statistic: str = "value",
        *,
        counted_in: str = "",
        primary: bool = True,
    ) -> None:
        """Keep a number of bytes, or of bytes per second, that has its unit beside it.

        With the prefix in which fio counts it is cut, with a larger one rounded.
        """
        prefix, is_binary, unit, is_rate = unit_of(token, group)
        rounding: Rounding = "nearest"
        if prefix in {"", counted_in}:
            rounding = "down" if is_rate or counted_in else "exact"
        if self.is_old_layout:
            prefix = {"P": "T", "E": "P"}.get(prefix, prefix)
            is_binary = not self.is_decimal
        name = f"{prefix.upper()}i" if prefix and is_binary else prefix.replace("K", "k")
        metric, per_second = ("bandwidth", "/s") if is_rate else ("bytes", "")
        unit = f"{name}{unit}{per_second}"
        self._short_figure(token, place, group, metric, statistic, unit=unit, rounding=rounding, primary=primary)
        if is_rate and self.counts_bytes_per_ms:
            self.measurements[-1] = scaled(self.measurements[-1], 1000 / 1024)

    def _set(self, key: str, value: str | None, token: Token, name: str | None = None) -> None:
        """Keep a setting; one of a job belongs to the whole run where the run has no others."""
        if value is None:
            return
        scope: Scope
        scope, part = ("job", name) if name is not None and self.has_several else ("all", None)
        if (key, value, part) not in self.given:
            self.given.add((key, value, part))
            self.settings.append(Setting(key=key, value=value, scope=scope, part=part, line=token.line))


_UNIT: Final = re.compile(r"(?P<prefix>[kKMGTPE]?)(?P<binary>i?)(?P<unit>B|bit)?(?P<per_second>/s)?")


def unit_of(token: Token, group: str) -> tuple[str, bool, str, bool]:
    """Return the parts of a unit: its prefix, whether that is binary, ``B`` or ``bit``, whether it is a rate."""
    name = group if group == "unit" else f"{group}_unit"
    match = _UNIT.fullmatch("".join((token[name] or "").split()))
    if match is None:
        raise ValueError(f"{token[name]!r} is not a unit")
    is_rate = match["per_second"] is not None or match["unit"] is None
    return match["prefix"], match["binary"] != "", match["unit"] or "B", is_rate


def _overlap(one: Measurement, other: Measurement) -> bool:
    if None in (one.low, one.high, other.low, other.high):
        return True
    return one.low <= other.high and other.low <= one.high  # type: ignore[operator]


def scaled(item: Measurement, factor: float) -> Measurement:
    """Return a figure that was printed in another unit than its name says."""
    value, low, high = (end * factor if end is not None else None for end in (item.value, item.low, item.high))
    return replace(item, value=value, low=low, high=high)


def is_in_bytes_per_ms(rate: Measurement, moved: Measurement, runtime: Measurement) -> bool:
    """Whether a rate that was read as one in KiB/s is 1.024 times too large."""
    seconds = (rate.value or 0) * (runtime.value or 0)
    return bool(moved.value) and abs(seconds / (moved.value or 1) - 1.024) < 0.01
