"""Splits the phrases of a text into reports, and groups these into runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from fsbench_kit.formats.fio import split_where
from fsbench_kit.formats.fio_normal.phrases import (
    ALL_CLIENTS,
    BESIDE,
    PREAMBLE,
    SET_UP,
    SUMMARY,
    job_name,
)
from fsbench_kit.formats.lexer import Token


class Report:
    """The phrases of one report, and of the text before it.

    Attributes
    ----------
    result
        The final report among all those on the same jobs: this one or a later one.
    is_one_of_many
        Whether there are several such reports.
    client, label
        The host of the report in client mode, and a label that distinguishes it from others of that name.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.names = {token.name for token in tokens}
        self.jobs = [token for token in tokens if token.name == "job"]
        self.rates = [token for token in tokens if token.name in {"rate", "old_rate"}]
        self.is_complete = not self.names.isdisjoint({"group", "total", "old_total"})
        self.runtime = max((int(rate["runtime"] or "") for rate in self.rates), default=0)
        self.result = self
        self.is_one_of_many = False
        self.client: str | None = None
        self.label: str | None = None

    @cached_property
    def identity(self) -> set[tuple[str, str]]:
        """The names and process ids of the jobs, which differ between runs."""
        return {(job_name(job), pid) for job in self.jobs if (pid := job["pid"]) is not None and pid != "0"}

    @property
    def printed_rates(self) -> list[str]:
        """The lines of rates, as printed."""
        return [rate.match[0] for rate in self.rates if rate.match is not None]

    @property
    def is_cut(self) -> bool:
        """Whether it ends inside the figures of a job."""
        if self.is_complete or not self.jobs or int(self.jobs[-1]["error"] or ""):
            return False
        return not any(token.name == "issued" and token.start > self.jobs[-1].start for token in self.tokens)

    @cached_property
    def has_clients(self) -> bool:
        """Whether it was printed in client mode, as opposed to text that contains angle brackets."""
        return "hello" in self.names or any(
            one.name == "client" and other.name in SET_UP | {"job"} for one, other in pairwise(self.tokens)
        )

    @property
    def is_sum_of_clients(self) -> bool:
        """Whether its figures are the sum over all clients."""
        return any(job_name(job) == ALL_CLIENTS for job in self.jobs)


def reports(tokens: Iterable[Token]) -> Iterator[Report]:
    """Split the phrases of a text into reports."""
    current: list[Token] = []
    seen: set[str] = set()
    printed: set[str] = set()
    for token in tokens:
        if current and _is_double(token, current[-1]):
            continue
        figures = _printed_once(token, current, seen)
        if _starts_report(token, seen) or (figures is not None and figures in printed):
            yield Report(current)
            current, seen, printed = [], set(), set()
        current.append(token)
        seen.add(token.name)
        if figures is not None:
            printed.add(figures)
    if current:
        yield Report(current)


def _starts_report(token: Token, seen: set[str]) -> bool:
    if token.name in BESIDE or seen <= BESIDE:
        return False
    if token.name == "command":
        return True
    if token.name == "banner" and "banner" in seen:
        return True
    if token.name in SET_UP:
        return not seen <= PREAMBLE | BESIDE | {"trouble"}
    return token.name not in SUMMARY and not seen.isdisjoint(SUMMARY)


def _is_double(token: Token, before: Token) -> bool:
    """Whether a job line is a duplicate: no two jobs have the same process id."""
    is_job = token.name == before.name == "job" and token["pid"] is not None
    return is_job and token.text.excerpt(token.start, token.end) == before.text.excerpt(before.start, before.end)


def _printed_once(token: Token, current: Sequence[Token], seen: set[str]) -> str | None:
    """Return a key for figures that a report has only once, so that adjacent excerpts of reports are separated.

    A line repeated immediately is a duplicate made by copying.
    """
    if token.name in {"rate", "old_rate"} and "job" not in seen:
        return f"rate {token['operation']}"
    if token.name in {"total", "old_total"} and "group" not in seen:
        return f"total {token['operation']}"
    if token.name == "group" and not (current and current[-1].name == "group"):
        return f"group {token['group']}"
    return None


def runs_of(found: Iterable[Report]) -> Iterator[list[Report]]:
    """Join the reports of each run: those printed repeatedly, and those of several clients."""
    return split_where(found, lambda run, report: not _continues(run, report))


def _continues(run: Sequence[Report], report: Report) -> bool:
    if not report.names.isdisjoint(SET_UP):
        return False
    is_of_client = "client" in report.names or report.is_sum_of_clients
    return bool(run[-1].identity & report.identity) or (is_of_client and run[0].has_clients)


def choose_results(found: Sequence[Report]) -> None:
    """Determine the final report for each set of jobs: the last complete one.

    The runtime decides if copying has changed the order.
    """
    chains: list[list[Report]] = []
    chain_of: dict[tuple[str, str], list[Report]] = {}
    for report in found:
        chain = next((chain_of[key] for key in report.identity if key in chain_of), None)
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(report)
        chain_of |= dict.fromkeys(report.identity, chain)
    for chain in chains:
        result = sorted(chain, key=lambda report: (report.is_complete, report.runtime))[-1]
        for report in chain:
            report.result = result
            report.is_one_of_many = len(chain) > 1
