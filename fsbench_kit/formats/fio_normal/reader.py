"""Turns the reports of a run into records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from fsbench_kit.formats import totals
from fsbench_kit.formats.builder import RunBuilder
from fsbench_kit.formats.checks import cross_checks, figures_by_part
from fsbench_kit.formats.findings import Finding, diagnostics
from fsbench_kit.formats.fio import highest_share, series_so_far
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_normal import jobs, setup, summary
from fsbench_kit.formats.fio_normal.phrases import ONLY_MARKS
from fsbench_kit.formats.fio_normal.reports import Report
from fsbench_kit.formats.fio_normal.state import JobPlace, State
from fsbench_kit.formats.fio_requests import are_over_intervals, over_requests
from fsbench_kit.formats.totals import Part
from fsbench_kit.model.records import Diagnostic, Measurement, Record, Run, Status

_READERS: Final = setup.READERS | jobs.READERS | summary.READERS


def records(reports: list[Report]) -> Iterator[Record]:
    """Yield the run of its reports, unless it has neither figures nor an error, and diagnostics."""
    state = State(reports)
    so_far = [_read_report(state, report) for report in reports]
    setup.read_threads(state)
    run = state.run
    run.diagnostics += over_requests(run)
    contradictions = list(_contradictions_of_wholes(state))
    if run.measurements or state.failed:
        run.series += series_so_far(so_far)
        yield from _run(state)
    if state.known:
        _note_gaps(state)
        run.diagnostics += diagnostics(cross_checks(run.measurements))
        run.diagnostics += contradictions
    yield from run.diagnostics


class Jobs(NamedTuple):
    """The parts of each group and of the sum of all clients, and whether all parts are present."""

    wholes: Mapping[Part, Sequence[Part]]
    has_all: bool


def _jobs(state: State) -> Jobs:
    return Jobs({whole: list(parts) for whole, parts in state.wholes.items()}, _has_all_jobs(state))


def checks(run: Run) -> Iterator[Finding]:
    """Check the figures of a run against each other."""
    yield from cross_checks(run.measurements)
    yield from _checks_of_wholes(run.measurements, run.jobs)


def is_as_it_seems(run: Run) -> Any:
    """Whether figures over intervals are genuine, and no job is missing; a column for columns."""
    answer = are_over_intervals(run.measurements)
    if not run.jobs.has_all:
        for finding in _checks_of_wholes(run.measurements, run.jobs):
            if finding.code == "INCOMPLETE_LOG":
                answer &= finding.fails ^ True
    return answer


def settle(run: Run) -> None:
    """Set the upper ends of shares of a group's bandwidth, which depend on the bandwidth."""
    for *_, figures in figures_by_part(run.measurements).items():
        share, mean = figures.get(("group_share", "value")), figures.get(("bandwidth", "mean"))
        if share is not None and mean is not None and share.high is not None and mean.low is not None:
            column: Any = share.high
            column[:] = highest_share(column, mean.low)


def _checks_of_wholes(measurements: Sequence[Measurement], jobs: Jobs) -> Iterator[Finding]:
    return totals.checks(measurements, jobs.wholes, has_all_parts=jobs.has_all)


def _read_report(state: State, report: Report) -> Sequence[Measurement]:
    """Read a report, and return its figures if the run has several reports."""
    state.report = report
    state.place = JobPlace(block_sizes=state.block_sizes())
    is_interim = report.result is not report
    state.figures.run = RunBuilder(state.run.text) if is_interim else state.run
    known, ended_at = len(state.figures.run.measurements), state.ended_at
    for token in report.tokens:
        try:
            if token.name not in ONLY_MARKS:
                _READERS[token.name](state, token)
        except ValueError:
            state.not_understood(token)
    if is_interim:
        state.ended_at = ended_at
        _note_interim(state, report)
    return state.figures.run.measurements[known:] if report.is_one_of_many else ()


def _contradictions_of_wholes(state: State) -> Iterator[Diagnostic]:
    """Check groups and clients against their jobs; if jobs are missing, a group's thread count is unknown."""
    measurements = state.run.measurements
    lacking = set()
    for diagnostic in diagnostics(_checks_of_wholes(measurements, _jobs(state))):
        yield diagnostic
        if diagnostic.code == "INCOMPLETE_LOG":
            lacking.add(diagnostic.line)
    is_job_unnamed = any((item.scope, item.part) == ("job", None) for item in measurements)
    groups = [
        number
        for number, item in enumerate(measurements)
        if item.scope == "group" and (item.line in lacking or is_job_unnamed)
    ]
    if groups:
        state.run.amend(groups, lacks_threads=True)


def _note_interim(state: State, report: Report) -> None:
    if report.printed_rates == report.result.printed_rates:
        code, message = "SAME_RUN", "This report appears in the log twice; it counts once."
    else:
        code, message = "INTERIM_REPORT", "The run was still going on."
    state.run.diagnostics.append(report.jobs[0].diagnostic(code, message))


def _run(state: State) -> Iterator[Record]:
    first, last = state.known[0], state.known[-1]
    runtimes = [
        item.value for item in state.run.measurements if item.metric == "runtime" and item.value is not None
    ]
    identifying = [
        (name, printed)
        for name, group in (("process id", "pid"), ("date", "date"))
        for job in state.jobs
        if (printed := job.printed(group)) is not None and printed.text != "0"
    ]
    yield state.run.build(
        TOOL.name,
        first.start,
        last.start + len(last.text.chars[last.start : last.end].rstrip()),
        tool_version=state.version,
        host=state.host or next((token["host"] for token in state.known if token.name == "command"), None),
        ended_at=state.ended_at,
        identity=tuple((name, printed.text) for name, printed in identifying),
        identity_starts=tuple(state.run.text.byte(printed.position) for _, printed in identifying),
        jobs=_jobs(state),
        duration=max(runtimes, default=None),
        status=_status(state),
    )
    yield from state.run.series


def _status(state: State) -> Status:
    if state.failed:
        return "failed"
    last = state.reports[-1]
    groups = {token["group"] for token in state.jobs if token["group"] is not None}
    unreported = {header["group"] for header in state.headers} - groups if groups else set()
    is_cut = not last.is_complete and (last.result is not last or bool(unreported) or _lacks_jobs(state))
    return "partial" if state.stopped or is_cut or last.is_cut else "ok"


def _lacks_jobs(state: State) -> bool:
    """Whether fio started more processes than the job lines account for."""
    started, identifying = _processes(state)
    return bool(started and identifying) and started > identifying


def _has_all_jobs(state: State) -> bool:
    """Whether the job lines account for all processes that fio started."""
    started, identifying = _processes(state)
    return 0 < started == identifying and not state.has_clients


def _processes(state: State) -> tuple[int, int]:
    """Return the number of processes that fio started, 0 if unknown, and the number on the job lines."""
    started = [token["what"] or "" for token in state.known if token.name == "started"]
    counts = [int(job["jobs"] or "1") for job in state.jobs]
    return sum(map(int, re.findall(r"\d+", started[0]))) if started else 0, sum(counts)


def _note_gaps(state: State) -> None:
    present = {token.name for token in state.known}
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
        state.run.diagnostics.append(
            state.known[0].diagnostic("INCOMPLETE_LOG", f"The log lacks {', '.join(gaps)}.")
        )
