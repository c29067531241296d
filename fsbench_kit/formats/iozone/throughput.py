"""iozone's throughput mode (``-t``, ``-l``, ``-u``), which runs several processes, and the report of ``-R``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.findings import Finding, greatest, least, number, unequal
from fsbench_kit.formats.iozone.measures import CPU, Measure, add, by_name, spelled
from fsbench_kit.formats.iozone.tables import cells_of
from fsbench_kit.formats.lexer import Printed, Token
from fsbench_kit.model.records import Diagnostic, Measurement, Run, Scope

_TESTS: Final = by_name("processes")
_REPORTED: Final = by_name("summary")
_STATISTICS: Final = {"Min": "min", "Max": "max", "Avg": "mean"}

_RATES: Final = {
    "kB": Measure("bandwidth", "value", "KiB/s", "nearest"),
    "ops": Measure("iops", "value", "1/s", "nearest"),
}
_AMOUNTS: Final = {
    "kB": Measure("bytes", "value", "KiB", "nearest", counts=True),
    "ops": Measure("operations", "value", "", "nearest", counts=True),
}
_WALL: Final = Measure("runtime", "value", "s", "nearest")
_CPU_TIME: Final = Measure("cpu_time", "value", "s", "nearest")

_LAST_DIGIT: Final = 0.011
_PRECISION: Final = 1e-6
"""Tolerances for means and sums over processes: rates are rounded to two decimals."""

_N: Final = r"\d{1,15}(?:\.\d{1,6})?"
_S: Final = r"[^\S\n]"
_UNIT: Final = r"(?P<unit>[kK]B|ops)/sec"
_NAMES: Final = spelled(_TESTS)
_LABELS: Final = spelled(_REPORTED)
_SUM: Final = rf"throughput for (?P<threads>[1-9]\d{{0,5}}) (?P<test>{_NAMES}) = (?P<rate>{_N}) {_UNIT}"

PHRASES: Final = {
    "processes": r"Throughput test with (?P<threads>[1-9]\d{0,5}) (?P<kind>process|thread)(?:es|s)?\b",
    "each": (
        r"Each (?:process|thread) writes a (?P<file>\d{1,12}) [kK][bB]yte file in "
        r"(?P<record>\d{1,12}) [kK][bB]yte records"
    ),
    "children": rf"Children see {_SUM}",
    "parent": rf"Parent sees {_SUM}",
    "per_process": (rf"(?P<statistic>Min|Max|Avg) throughput per (?:process|thread) = (?P<rate>{_N}) {_UNIT}"),
    "min_xfer": rf"Min xfer = (?P<amount>{_N}) (?P<unit>[kK]B|ops)\b",
    "cpu_use": (
        rf"CPU [uU]tilization: Wall time (?P<wall>{_N}) CPU time (?P<time>{_N}) CPU utilization (?P<cpu>{_N}) %"
    ),
    "child": (
        rf"Child\[(?P<child>\d{{1,6}})\] xfer count = (?P<amount>{_N}) (?:[kK]B|ops), "
        rf"Throughput = (?P<rate>{_N}) {_UNIT}"
        rf"(?:, wall= (?P<wall>{_N}), cpu= (?P<time>{_N}), %= (?P<cpu>{_N}))?"
    ),
    "summary": (
        r'"?(?P<what>Throughput|CPU utilization) report Y-axis is type of test '
        r'X-axis is number of (?:processes|threads)"?'
    ),
    "summary_record": r'"Record size = (?P<record>\d{1,12}) [kK][bB]ytes "',
    "summary_unit": r'"Output is in (?:(?P<unit>[kK][bB]ytes|ops)/sec|CPU%)"',
    "summary_row": rf'"\s*(?P<label>{_LABELS})?\s*"(?P<cells>(?:{_S}+{_N}(?!\S))+)',
}


@dataclass
class ThroughputReader:
    """Reads the tests of one run, each of several processes, and the report of their sums.

    Attributes
    ----------
    test, parts, mean
        The operation and number of processes of the lines that follow; the lines read so far; the mean rate.
    counts
        The numbers of processes, in order.
    sums
        The figures that the report repeats: rates and CPU usage by operation and number of processes.
    """

    run: RunBuilder
    file_size: int | None = None
    block_size: int | None = None
    test: tuple[str, int] | None = None
    parts: dict[str, str] = field(default_factory=dict)
    mean: float | None = None
    unit: str | None = None
    counts: list[int] = field(default_factory=list)
    sums: dict[tuple[str, str, int | None], Printed] = field(default_factory=dict)
    summary: str | None = None

    def is_of_another_run(self, children: Token) -> bool:
        """Whether a test was read before, with another result."""
        first = self.sums.get(("Throughput", *_test(children)))
        return first is not None and first.text != children["rate"]

    def read(self, token: Token, given: Mapping[str, str]) -> Iterator[Diagnostic]:
        """Read a phrase of `PHRASES`, given the options of the run."""
        match token.name:
            case "each":
                yield from self._read_sizes(token)
            case "children" | "parent":
                self.file_size = self.file_size or _only(given, "file_size")
                self.block_size = self.block_size or _only(given, "block_size")
                yield from self._read_sum(token)
            case "min_xfer" | "cpu_use":
                yield from self._read_part(token, token.name)
            case "per_process":
                yield from self._read_part(token, _STATISTICS[token["statistic"] or ""])
            case "child":
                yield from self._read_part(token, token["child"] or "")
            case "summary":
                self.summary, self.test = token["what"], None
            case "summary_record":
                self.block_size = self.block_size or _kib(token["record"])
            case "summary_unit":
                # If the title of a report is lost, its rows do not belong to the previous report.
                if (token["unit"] is None) != (self.summary == "CPU utilization"):
                    self.summary = None
                self.unit = self.unit if token["unit"] is None else _unit(token)
            case "summary_row":
                yield from self._read_summary(token, given)

    def _read_sizes(self, token: Token) -> Iterator[Diagnostic]:
        file_size, block_size = _kib(token["file"]), _kib(token["record"])
        if 0 < block_size <= file_size:
            self.file_size, self.block_size = file_size, block_size
        else:
            yield token.diagnostic("UNREAD_FIGURE", "A record is larger than its file; one of the sizes is wrong.")

    def _read_sum(self, token: Token) -> Iterator[Diagnostic]:
        test, self.unit = _test(token), _unit(token)
        if test != self.test or token.name == "children":
            self.test, self.parts, self.mean = test, {}, None
        if token.name == "parent":
            yield from self._add(token, "rate", _RATES[self.unit], part="parent")
            return
        if test[1] not in self.counts:
            self.counts.append(test[1])
        if float(token["rate"] or "") > 0:
            self.mean = float(token["rate"] or "") / test[1]
        yield from self._add(token, "rate", _RATES[self.unit])

    def _read_part(self, token: Token, name: str) -> Iterator[Diagnostic]:
        """Read a line that does not name its test. Each test has one such line of each kind."""
        text = "" if token.match is None else token.match[0]
        if self.test is None or self.parts.setdefault(name, text) != text:
            self.test = None
            yield token.diagnostic("UNREAD_FIGURE", "It is unclear which test these figures belong to.")
            return
        match token.name:
            case "per_process":
                yield from self._read_statistic(token, name)
            case "min_xfer":
                measure = _AMOUNTS[_unit(token)]._replace(statistic="min")
                yield from self._add(token, "amount", measure, scope="thread")
            case "child":
                yield from self._add(token, "amount", _AMOUNTS[_unit(token)], scope="thread", part=name)
                yield from self._add(token, "rate", _RATES[_unit(token)], scope="thread", part=name)
                if token["wall"] is not None:
                    yield from self._add_times(token, scope="thread", part=name)
            case "cpu_use":
                yield from self._add_times(token)

    def _add_times(self, token: Token, scope: Scope = "all", part: str | None = None) -> Iterator[Diagnostic]:
        for group, measure in (("wall", _WALL), ("time", _CPU_TIME), ("cpu", CPU)):
            yield from self._add(token, group, measure, scope=scope, part=part, ran=measure is not CPU)

    def _read_statistic(self, token: Token, statistic: str) -> Iterator[Diagnostic]:
        measure = _RATES[_unit(token)]._replace(statistic=statistic)
        rate = float(token["rate"] or "")
        is_off = self.mean is not None and _is_off(statistic, rate, self.mean)
        if statistic == "min" and (rate == 0 or is_off):
            message = (
                "A process had done nothing when the first one was ready: they did not run at the same time, "
                "and their rates do not add up."
            )
            yield token.diagnostic("NO_OVERLAP", message)
            # The smallest rate is 0, even if iozone prints that of another process.
            yield from self._add(token, "rate", measure, scope="thread", known=False)
            return
        if statistic == "min" and self.mean is None:
            message = "Without the sum of all processes, it is unclear whether this is the smallest rate."
            yield token.diagnostic("UNREAD_FIGURE", message)
            return
        if is_off:
            yield token.diagnostic("FIGURES_DISAGREE", f"All processes together had {self.mean:.2f} on average.")
        yield from self._add(token, "rate", measure, scope="thread")

    def _add(
        self,
        token: Token,
        group: str,
        measure: Measure,
        *,
        scope: Scope = "all",
        part: str | None = None,
        ran: bool = False,
        known: bool = True,
    ) -> Iterator[Diagnostic]:
        """Add a figure of the current test."""
        if self.test is None:
            return
        operation, threads = self.test
        printed, place = token.printed(group), self._place(operation, threads)._replace(scope=scope, part=part)
        samples = threads if scope == "thread" and part is None else None
        first = add(self.run, place, measure, printed, ran=ran, samples=samples, within=token)
        if not known:
            self.run.amend([len(self.run.measurements) - 1], is_missing=True)
        if printed is not None and first is not None:
            known_as = self.run.measurements[first]
            if known_as.text != printed.text:
                message = f"It is printed as {known_as.text} on line {known_as.line}, and again as {printed.text}."
                yield token.diagnostic("DUPLICATE_FIGURE", message)
        elif printed is not None and scope == "all" and part is None and measure not in (_WALL, _CPU_TIME):
            self.sums["CPU utilization" if measure is CPU else "Throughput", operation, threads] = printed

    def _place(self, operation: str, threads: int | None) -> Place:
        return Place(operation, file_size=self.file_size, block_size=self.block_size, threads=threads)

    def _read_summary(self, row: Token, given: Mapping[str, str]) -> Iterator[Diagnostic]:
        cells = (row["cells"] or "").split()
        if row["label"] is None and not any(map(float, cells)):
            return  # iozone omits the name of a test that did not run
        counts = self._counts(given, len(cells))
        if row["label"] is None or counts is None or self.summary is None or self.unit is None:
            yield row.diagnostic("UNREAD_FIGURE", "It is unclear which test or processes these figures belong to.")
            return
        operation = _REPORTED[" ".join(row["label"].split())]
        measure = _RATES[self.unit] if self.summary == "Throughput" else CPU
        for cell, threads in zip(cells_of(row, cells), counts, strict=True):
            add(self.run, self._place(operation, threads), measure, cell)
            first = self.sums.get((self.summary, operation, threads))
            if first is not None and first.text != cell.text:
                line = self.run.line(first.position)
                message = f"The log says {first.text} on line {line}, but the report says {cell.text}."
                yield row.diagnostic("SECOND_PRINTING_DIFFERS", message)

    def _counts(self, given: Mapping[str, str], columns: int) -> Sequence[int | None] | None:
        """Return the numbers of processes for the columns of a report, or ``None`` if they are unknown."""
        if len(self.counts) == columns:
            return self.counts
        if self.counts:
            return None
        limits = given.get("iozone.-l", ""), given.get("iozone.-u", "")
        if all(limit.isdecimal() for limit in limits):
            counts = list(range(int(limits[0]), int(limits[1]) + 1))
        else:
            counts = [int(count) for count in given.get("threads", "").split(",") if count.isdecimal()]
        if len(counts) == columns:
            return counts
        return [None] if columns == 1 and not counts else None


def _is_off(statistic: str, rate: Any, mean: Any) -> Any:
    """Whether a rate cannot be the minimum, maximum or mean over all processes, given their mean."""
    slack = _LAST_DIGIT + _PRECISION * rate
    if statistic == "min":
        return rate > mean + slack
    return rate < mean - slack if statistic == "max" else abs(rate - mean) > slack


def is_plain(run: Run) -> Any:
    """Whether reading the figures of a run in order produces no diagnostics."""
    first: dict[tuple[object, ...], Measurement] = {}
    plain: Any = True
    for item in run.measurements:
        if item.threads is None:
            continue
        test = item.operation, item.metric, item.file_size, item.block_size, item.threads
        known = first.setdefault((*test, item.scope, item.part, item.statistic), item)
        if known is not item:
            plain = plain & (unequal(known.text, item.text) ^ True)
        elif item.scope == "thread" and item.part is None and item.metric in _RATE_METRICS:
            whole = first.get((*test, "all", None, "value"))
            if whole is None or item.state != "measured":
                return False
            mean = number(whole.text) / item.threads
            plain = plain & (_is_off(item.statistic, number(item.text), mean) ^ True)
    return plain


def checks(run: Run) -> Iterator[Finding]:
    """Check the figures of single processes against their sum, minimum and maximum."""
    tests: dict[tuple[object, ...], dict[tuple[Scope, str | None, str], Measurement]] = {}
    for item in run.measurements:
        is_known = item.low is not None and item.high is not None
        if is_known and item.primary and item.metric in _ADDED_UP:
            test = (item.operation, item.threads, item.file_size, item.block_size, item.metric)
            tests.setdefault(test, {})[item.scope, item.part, item.statistic] = item
    for (_, threads, _, _, metric), items in tests.items():
        each = [item for (scope, part, _), item in items.items() if scope == "thread" and part is not None]
        for key, of_all in _OF_ALL.items():
            if key in items and len(each) == threads:
                # If a process did nothing, iozone prints the minimum over others.
                have_all_done = least(item.value for item in each) > 0
                whole = items[key]
                low, high = (of_all(getattr(item, end) for item in each) for end in ("low", "high"))
                slack = _PRECISION * high
                disagree = (whole.low - slack > high) | (low > whole.high + slack)
                message = f"{{}} is not what the processes' {metric} adds up to."
                yield Finding(disagree & have_all_done, "FIGURES_DISAGREE", message, (whole.text,), whole)


_RATE_METRICS: Final = frozenset(measure.metric for measure in _RATES.values())
_ADDED_UP: Final = _RATE_METRICS | {measure.metric for measure in _AMOUNTS.values()}

_OF_ALL: Final[Mapping[tuple[Scope, str | None, str], Callable[[Iterable[Any]], Any]]] = {
    ("all", None, "value"): sum,
    ("thread", None, "min"): least,
    ("thread", None, "max"): greatest,
}
"""Scope, part and statistic of figures over all processes -> how they are computed."""


def _test(token: Token) -> tuple[str, int]:
    return _TESTS[" ".join((token["test"] or "").split())], int(token["threads"] or "")


def _unit(token: Token) -> str:
    return "ops" if token["unit"] == "ops" else "kB"


def _kib(text: str | None) -> int:
    return int(text or "") * 1024


def _only(given: Mapping[str, str], key: str) -> int | None:
    """Return a setting that has a single numeric value."""
    value = given.get(key, "")
    return int(value) if value.isdecimal() else None
