"""The state of reading the reports of a run."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.fio import part_names
from fsbench_kit.formats.fio_normal.figures import Figures
from fsbench_kit.formats.fio_normal.phrases import ALL_CLIENTS, job_name
from fsbench_kit.formats.fio_normal.reports import Report, choose_results
from fsbench_kit.formats.fio_normal.sizes import one_size
from fsbench_kit.formats.lexer import UNREAD, Printed, Token, unread_figure
from fsbench_kit.formats.totals import Part
from fsbench_kit.model.records import Scope

_VERSION: Final = re.compile(r"(\d+)\.(\d+)")


@dataclass
class JobPlace:
    """The job that figures belong to."""

    name: str | None = None
    scope: Scope = "job"
    part: str | None = None
    jobs: int | None = None
    operations: list[str] = field(default_factory=list)
    block_sizes: dict[str, int | None] = field(default_factory=dict)
    kb_base: int = 1024

    def of(self, operation: str, level: str | None = None) -> Place:
        """Return the place of measurements of this job, or of one of its priority levels."""
        names = [name for name in (self.part, level) if name is not None]
        return Place(
            operation,
            scope=self.scope,
            part="/".join(names) or None,
            block_size=self.block_sizes.get(operation),
            threads=self.jobs,
        )


class Readers(dict[str, Callable[["State", Token], None]]):
    """The functions that read phrases, by the name of the phrase."""

    def of(self, phrase: str) -> Callable[[Callable[[State, Token], None]], Callable[[State, Token], None]]:
        """Register a function that reads a phrase."""

        def register(read: Callable[[State, Token], None]) -> Callable[[State, Token], None]:
            self[phrase] = read
            return read

        return register


class State:
    """What is known about the reports of a run, and what has been read so far.

    Attributes
    ----------
    run
        The contents of the run so far.
    figures
        Adds the figures of the current report to the run, unless it is an interim report.
    report, place, group
        The current report, job and status group.
    wholes
        The parts of each group and of the sum of all clients.
    """

    def __init__(self, reports: list[Report]) -> None:
        self.reports = reports
        choose_results(reports)
        self.results = [report for report in reports if report.result is report]
        self.known = [token for report in reports for token in report.tokens if token.name != UNREAD]
        self.run = RunBuilder(reports[0].tokens[0].text)
        self.failed = False
        self.stopped = False
        self.ended_at: datetime | None = None
        self.group: str | None = None
        self.wholes: dict[Part, dict[Part, None]] = defaultdict(dict)

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
        # Since 3.0 latencies are measured in ns.
        self.ticks_per_second = 10**6 if is_old else 10**9
        self.figures = Figures(self.run, self.version_number, is_old_layout=self.is_old_layout)
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

    def of_client(self, part: str | None) -> str | None:
        """Return the name of a part, prefixed by that of the client in client mode."""
        names = [name for name in (self.report.result.label, part) if name is not None]
        return "/".join(names) or None

    def say(self, token: Token, code: str, message: str) -> None:
        """Add a diagnostic about a phrase."""
        self.run.diagnostics.append(token.diagnostic(code, message))

    def not_understood(self, token: Token) -> None:
        """Report that a phrase was not understood, if it contains a figure."""
        diagnostic = unread_figure(token)
        if diagnostic is not None:
            self.run.diagnostics.append(diagnostic)

    def set(
        self,
        key: str,
        value: str | None,
        token: Token,
        name: str | None = None,
        printed: Printed | None = None,
    ) -> None:
        """Add a setting; that of a job applies to the whole run if it is the only job."""
        is_of_job = name is not None and self.has_several
        scope: Scope = "job" if is_of_job else "all"
        self.run.set(key, value, token.start, scope=scope, part=name if is_of_job else None, printed=printed)

    def block_sizes(self, group: str | None = None, name: str | None = None) -> dict[str, int | None]:
        """Return the block size of each operation of a job, if the headers are unambiguous.

        The figures of a job may be those of a whole group, under the name of its first job.
        """
        if (group, name) not in self.sizes:
            headers = self.headers
            if name is not None:
                others = self.names_of_jobs - {name}
                headers = [h for h in headers if h["group"] == group and job_name(h) not in others]
            known = [one_size(header["sizes"] or "") for header in headers]
            is_clear = bool(known) and all(sizes == known[0] for sizes in known)
            self.sizes[group, name] = known[0] if is_clear else {}
        return self.sizes[group, name]

    def operation(self) -> str:
        """Return the operation whose lines are being read.

        Raises
        ------
        ValueError
            If the log does not name it.
        """
        if not self.place.operations:
            raise ValueError("a figure of an operation that the log does not name")
        return self.place.operations[-1]
