"""Reads what follows the jobs: the status of each group, the disks, the idle processors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fsbench_kit.formats.fio_normal.builder import is_in_bytes_per_ms, scaled, unit_of
from fsbench_kit.formats.fio_normal.jobs import JobLines
from fsbench_kit.formats.fio_normal.phrases import ALL_CLIENTS, cells, job_name

if TYPE_CHECKING:
    from fsbench_kit.formats.lexer import Token
    from fsbench_kit.model.units import Rounding


class Summary(JobLines):
    """Reads the end of a report."""

    def _read_group(self, token: Token) -> None:
        self.group = token["group"]

    def _group_place(self, token: Token) -> dict[str, Any]:
        if not self.jobs:
            self.wholes["group", self._of_client(self.group)]["job", None] = None
        jobs = [job["jobs"] for job in self.jobs if job["group"] == self.group and job_name(job) != ALL_CLIENTS]
        is_known = jobs and None not in jobs and len(self.results) == 1
        return {
            "operation": (token["operation"] or "").lower(),
            "scope": "group",
            "part": self._of_client(self.group),
            "threads": sum(int(count or "") for count in jobs) if is_known else None,
        }

    def _read_total(self, token: Token) -> None:
        place = self._group_place(token)
        for name, statistic in (("rate", "value"), ("min", "min"), ("max", "max")):
            self._amount_twice(token, place, name, statistic)
        self._amount_twice(token, place, "bytes")
        self._figure(token, place, "shortest", "runtime", "min", unit="ms", rounding="exact")
        self._figure(token, place, "longest", "runtime", "max", unit="ms", rounding="exact")

    def _read_old_total(self, token: Token) -> None:
        place = self._group_place(token)
        self._amount(token, place, "rate", counted_in="K")
        for name in ("min", "max"):
            self._amount(token, place, name, name, counted_in="K")
            item = self.measurements[-1]
            in_thousands = scaled(item, 1000 / 1024)
            if self.version_number is not None and self.version_number < (2, 0) and not self.counts_bytes_per_ms:
                self.measurements[-1] = in_thousands
            elif not self._min_is_in_kib(token):
                self.measurements[-1] = replace(item, low=in_thousands.low)
        self._amount(token, place, "bytes", counted_in="K")
        self._figure(token, place, "shortest", "runtime", "min", unit="ms", rounding="exact")
        self._figure(token, place, "longest", "runtime", "max", unit="ms", rounding="exact")
        if "old_rate" not in self.report.names and unit_of(token, "rate")[1]:
            self._read_bytes_per_ms()

    def _read_bytes_per_ms(self) -> None:
        """Scale the rates of a group that are bytes per ms, where no job's line told it before."""
        *rates, moved, _, longest = self.measurements[-6:]
        if is_in_bytes_per_ms(rates[0], moved, longest):
            self.measurements[-6:-3] = [scaled(rate, 1000 / 1024) for rate in rates]

    def _min_is_in_kib(self, total: Token) -> bool:
        """Whether ``minb`` and ``maxb`` are surely of the unit of ``aggrb``: a lone job's are equal to it."""
        is_new = self.version_number is not None and self.version_number >= (2, 1)
        return is_new or total["rate"] in {total["min"], total["max"]}

    def _read_disk(self, token: Token) -> None:
        name = self._of_client(token["name"]) or ""
        self._disk(token, "", part=name, statistic="value", most="value", rounding="exact")
        if token["members"] is not None:
            self._disk(token, "all_", part=f"{name}/members", statistic="mean", most="max", rounding="down")

    def _read_idleness(self, token: Token) -> None:
        place: dict[str, Any] = {"operation": "all"}
        self._figure(token, place, "system", "cpu_idle", unit="%")
        for number, cell in enumerate(cells(token, "each", r"(?P<share>[\d.]+)%")):
            self._figure(cell, place | {"part": f"cpu-{number}"}, "share", "cpu_idle", unit="%")
        for statistic in ("mean", "stdev"):
            self._figure(token, place, statistic, "idle_unit_time", statistic, unit="us")

    def _read_lifetimes(self, token: Token) -> None:
        self.diagnostics.append(
            token.diagnostic("OTHER_TEXT", "How often blocks were trimmed is no figure of speed, and is not kept.")
        )

    def _disk(
        self, token: Token, prefix: str, *, part: str, statistic: str, most: str, rounding: Rounding
    ) -> None:
        def disk(operation: str, group: str, metric: str, **how: Any) -> None:
            place = {"scope": "disk", "part": part, "operation": operation}
            self._figure(token, place, prefix + group, metric, **how)

        how = {"statistic": statistic, "rounding": rounding}
        for operation in ("read", "write"):
            disk(operation, f"ios_{operation}", "disk_ios", **how)
            disk(operation, f"sectors_{operation}", "disk_sectors", **how)
            disk(operation, f"merge_{operation}", "disk_merges", **how)
            disk(operation, f"ticks_{operation}", "disk_ticks", unit="ms", **how)
        disk("all", "queue", "disk_queue_time", unit="ms", **how)
        disk("all", "util", "disk_utilisation", unit="%", statistic=most)
