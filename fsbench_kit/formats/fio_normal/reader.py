"""Makes records of the reports of a run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from fsbench_kit.formats import totals
from fsbench_kit.formats.checks import cross_checks
from fsbench_kit.formats.fio import statistic_so_far
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_normal.builder import JobPlace
from fsbench_kit.formats.fio_normal.phrases import ONLY_MARKS
from fsbench_kit.formats.fio_normal.summary import Summary
from fsbench_kit.formats.fio_requests import over_requests
from fsbench_kit.model.records import Block, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.formats.fio_normal.reports import Report
    from fsbench_kit.model.records import Diagnostic, Measurement, Record, Status


class Reader(Summary):
    """Reads the reports of one run."""

    def records(self) -> Iterator[Record]:
        """Yield the run, unless it has neither figures nor an error, its series, and the diagnostics."""
        for report in self.reports:
            self._read_report(report)
        self._read_threads()
        self.measurements, said = over_requests(self.measurements)
        self.diagnostics += said
        contradictions = list(self._contradictions_of_wholes())
        if self.measurements or self.failed:
            yield self._run()
            yield from self._blocks()
        if self.known:
            self._note_gaps()
            self.diagnostics += cross_checks(self.measurements)
            self.diagnostics += contradictions
        yield from self.diagnostics

    def _contradictions_of_wholes(self) -> Iterator[Diagnostic]:
        """Hold groups and clients against their jobs; where some are missing, a group has an unknown number."""
        wholes = {whole: list(parts) for whole, parts in self.wholes.items()}
        lacking = set()
        for diagnostic in totals.checks(self.measurements, wholes, has_all_parts=self._has_all_jobs()):
            yield diagnostic
            if diagnostic.code == "INCOMPLETE_LOG":
                lacking.add(diagnostic.line)
        is_job_unnamed = any((item.scope, item.part) == ("job", None) for item in self.measurements)
        self.measurements = [
            replace(item, threads=None)
            if item.scope == "group" and (item.line in lacking or is_job_unnamed)
            else item
            for item in self.measurements
        ]

    def _read_report(self, report: Report) -> None:
        self.report = report
        self.place = JobPlace(block_sizes=self._block_sizes())
        known, binned, ended_at = len(self.measurements), len(self.bins), self.ended_at
        for token in report.tokens:
            try:
                if token.name not in ONLY_MARKS:
                    getattr(self, f"_read_{token.name.lower()}")(token)
            except ValueError:
                self._not_understood(token)
        if report.is_one_of_many:
            self._add_to_series(self.measurements[known:])
        if report.result is not report:
            del self.measurements[known:], self.bins[binned:]
            self.ended_at = ended_at
            self._note_interim(report)

    def _add_to_series(self, measurements: Sequence[Measurement]) -> None:
        runtimes = {
            (m.part, m.operation): m.value for m in measurements if m.metric == "runtime" and m.scope != "group"
        }
        for item in measurements:
            time = runtimes.get((item.part, item.operation))
            statistic = statistic_so_far(item)
            if statistic is not None and time is not None:
                points = self.series.setdefault((item.part, item.operation, item.metric, statistic), {})
                points[time] = (item.value, item.line)  # type: ignore[assignment]

    def _note_interim(self, report: Report) -> None:
        if report.printed_rates == report.result.printed_rates:
            code, message = "SAME_RUN", "This report stands in the log twice, and counts once."
        else:
            code, message = "INTERIM_REPORT", "The run was still going on."
        self.diagnostics.append(report.jobs[0].diagnostic(code, message))

    def _run(self) -> Run:
        first, last = self.known[0], self.known[-1]
        runtimes = [
            item.value for item in self.measurements if item.metric == "runtime" and item.value is not None
        ]
        return Run(
            tool=TOOL.name,
            tool_version=self.version,
            start=first.text.byte(first.start),
            end=last.text.byte(last.start + len(last.text.chars[last.start : last.end].rstrip())),
            line=first.line,
            host=self.host or next((token["host"] for token in self.known if token.name == "command"), None),
            ended_at=self.ended_at,
            identity=tuple(
                (name, job[group] or "")
                for name, group in (("process id", "pid"), ("date", "date"))
                for job in self.jobs
                if job[group] not in {None, "0"}
            ),
            duration=max(runtimes, default=None),
            status=self._status(),
            settings=tuple(self.settings),
            measurements=tuple(self.measurements),
            bins=tuple(self.bins),
        )

    def _status(self) -> Status:
        if self.failed:
            return "failed"
        last = self.reports[-1]
        groups = {token["group"] for token in self.jobs if token["group"] is not None}
        unreported = {header["group"] for header in self.headers} - groups if groups else set()
        is_cut = not last.is_complete and (last.result is not last or bool(unreported) or self._lacks_jobs())
        return "partial" if self.stopped or is_cut or last.is_cut else "ok"

    def _lacks_jobs(self) -> bool:
        """Whether fio started more processes than the jobs' lines account for."""
        started, told = self._processes()
        return bool(started and told) and started > told

    def _has_all_jobs(self) -> bool:
        """Whether the jobs' lines account for all the processes that fio started."""
        started, told = self._processes()
        return 0 < started == told and not self.has_clients

    def _processes(self) -> tuple[int, int]:
        """Return how many processes fio started, or 0 if it does not say, and how many the jobs' lines are of."""
        started = [token["what"] or "" for token in self.known if token.name == "started"]
        counts = [int(job["jobs"] or "1") for job in self.jobs]
        return sum(map(int, re.findall(r"\d+", started[0]))) if started else 0, sum(counts)

    def _blocks(self) -> Iterator[Block]:
        for (part, operation, metric, statistic), points in self.series.items():
            times = sorted(points)
            yield Block(
                operation=operation,
                metric=metric,
                statistic=statistic,
                part=part,
                times=times,
                values=[points[time][0] for time in times],
                lines=[points[time][1] for time in times],
            )

    def _note_gaps(self) -> None:
        present = {token.name for token in self.known}
        parts = {
            "the jobs' headers": {"header"},
            "fio's version": {"banner", "hello"},
            "the jobs' lines": {"job"},
            "the jobs' figures": {"rate", "old_rate"},
            "the jobs' counts": {"issued"},
            "the groups' status": {"total", "old_total"},
        }
        gaps = [name for name, tokens in parts.items() if present.isdisjoint(tokens)]
        if gaps:
            self.diagnostics.append(
                self.known[0].diagnostic("INCOMPLETE_LOG", f"The log lacks {', '.join(gaps)}.")
            )
