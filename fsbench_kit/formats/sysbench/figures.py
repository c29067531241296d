"""The settings and figures of sysbench's ``fileio`` reports: their phrases, units and rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.lexer import Token
from fsbench_kit.formats.sysbench.histogram import HALF_BUCKET
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Measurement, Scope, Setting
from fsbench_kit.model.units import Rounding, size


def _words(text: str) -> str:
    return " ".join(text.split())


def _bytes(text: str) -> str:
    try:
        return str(size(text))
    except ValueError:
        return text  # rounded by %.5g: not an integer number of bytes


def decimal(text: str) -> str:
    """Return a number without trailing zeros."""
    return f"{float(text):g}"


RATIO: Final = "sysbench.file-rw-ratio"
_PATTERNS: Final = {
    "sequentialwrite(creation)": "seqwr",
    "sequentialrewrite": "seqrewr",
    "sequentialread": "seqrd",
    "randomread": "rndrd",
    "randomwrite": "rndwr",
    "randomr/w": "rndrw",
}
_DIRECTIONS: Final = {
    **dict.fromkeys(("seqrd", "rndrd"), "read"),
    **dict.fromkeys(("seqwr", "seqrewr", "rndwr"), "write"),
}
_ENGINES: Final = {"synchronous": "sync", "asynchronous": "async", "slowmmaped": "mmap", "fastmmaped": "mmap"}

_SETTINGS: Final[dict[str, tuple[str, Callable[[str], str]]]] = {
    "threads": ("threads", str),
    "report_interval": ("sysbench.report-interval", str),
    "report_checkpoints": ("sysbench.report-checkpoints", lambda text: "".join(text.split())),
    "target_rate": ("sysbench.rate", str),
    "debug": ("sysbench.debug", lambda _: "true"),
    "validate": ("sysbench.validate", lambda _: "true"),
    "checksums": ("sysbench.validate", lambda _: "true"),
    "seed": ("seed", str),
    "shutdown": ("sysbench.forced-shutdown", str),
    "warmup": ("sysbench.warmup-time", str),
    "open_flags": ("open_flags", _words),
    "files": ("files", str),
    "file_size": ("file_size", _bytes),
    "total_size": ("total_size", _bytes),
    "block_size": ("block_size", _bytes),
    "merging": ("sysbench.merged-size", _bytes),
    "request_limit": ("request_limit", str),
    "ratio": (RATIO, decimal),
    "fsync": ("fsync", str),
    "final_fsync": ("final_fsync", lambda _: "true"),
    "each_fsync": ("fsync", lambda _: "1"),
    "engine": ("engine", lambda text: _ENGINES["".join(text.split())]),
    "pattern": ("pattern", lambda text: _PATTERNS["".join(text.split())]),
}
"""Group of a phrase -> setting, and a function that converts its value."""


class _Figure(NamedTuple):
    """What a group of a phrase measures.

    The operation ``mixed`` becomes a direction if the test has only one. `unit` is prefixed by what the phrase has
    captured next to the figure.
    """

    operation: str
    metric: str
    statistic: str = "value"
    unit: str = ""
    rounding: Rounding = "nearest"
    digits: int | None = None


_FIGURES: Final = {
    "reads": _Figure("read", "operations", rounding="exact"),
    "writes": _Figure("write", "operations", rounding="exact"),
    "others": _Figure("other", "operations", rounding="exact"),
    "requests": _Figure("all", "operations", rounding="exact"),
    "events": _Figure("mixed", "operations", rounding="exact"),
    "bytes_read": _Figure("read", "bytes", unit="B", digits=5),
    "bytes_written": _Figure("write", "bytes", unit="B", digits=5),
    "bytes_moved": _Figure("all", "bytes", unit="B", digits=5),
    "bandwidth": _Figure("mixed", "bandwidth", unit="B/s", digits=5),
    "request_rate": _Figure("mixed", "iops", unit="1/s"),
    "read_rate": _Figure("read", "iops", unit="1/s"),
    "write_rate": _Figure("write", "iops", unit="1/s"),
    "other_rate": _Figure("other", "iops", unit="1/s"),
    "read_bandwidth": _Figure("read", "bandwidth", unit="MiB/s"),
    "write_bandwidth": _Figure("write", "bandwidth", unit="MiB/s"),
    "read_bandwidth_again": _Figure("read", "bandwidth", unit="MB/s"),
    "write_bandwidth_again": _Figure("write", "bandwidth", unit="MB/s"),
    "total_time": _Figure("all", "runtime", unit="s"),
    "event_time": _Figure("all", "event_time", unit="s"),
    "latency_min": _Figure("all", "latency", "min", unit="ms"),
    "latency_mean": _Figure("all", "latency", "mean", unit="ms"),
    "latency_max": _Figure("all", "latency", "max", unit="ms"),
    "percentile": _Figure("all", "latency", unit="ms"),
    "latency_sum": _Figure("all", "event_time", unit="ms"),
    "thread_events": _Figure("all", "thread_events", "mean"),
    "thread_events_stdev": _Figure("all", "thread_events", "stdev"),
    "thread_time": _Figure("all", "thread_time", "mean", unit="s"),
    "thread_time_stdev": _Figure("all", "thread_time", "stdev", unit="s"),
}
_THREAD_FIGURES: Final = {
    "one_min": _Figure("all", "latency", "min", unit="s"),
    "one_mean": _Figure("all", "latency", "mean", unit="s"),
    "one_max": _Figure("all", "latency", "max", unit="s"),
    "one_events": _Figure("all", "thread_events", rounding="exact"),
    "one_time": _Figure("all", "thread_time", unit="s"),
}
"""The figures that ``--debug`` prints for each thread."""

_COUNTED_BY: Final = {"iops": ("operations", "1"), "bandwidth": ("bytes", "B")}


_SINCE_1_0: Final = frozenset(
    {"read_rate", "write_rate", "read_rates", "write_rates", "read_bandwidth", "write_bandwidth", "latency"}
)
"""Phrases that earlier versions do not print."""


class Report:
    """The figures of one report.

    Attributes
    ----------
    run
        The contents of the report.
    numbers, measured
        The measurement number of the first print of each figure, by its name in `_FIGURES`; what was measured.
    first
        The phrase with the first figure.
    """

    def __init__(self, text: Text, checkpoint: Token | None = None) -> None:
        self.checkpoint = checkpoint
        self.phrases: set[str] = set()
        self.run = RunBuilder(text)
        self.numbers: dict[str, int] = {}
        self.measured: set[tuple[str, str, str]] = set()
        self.first: Token | None = None

    @property
    def measurements(self) -> Sequence[Measurement]:
        """All measurements so far."""
        return self.run.measurements

    @property
    def figures(self) -> dict[str, Measurement]:
        """The first print of each figure, by name."""
        return {name: self.measurements[number] for name, number in self.numbers.items()}


class FigureReader:
    """Reads the settings and figures of one log, which may have several reports.

    Attributes
    ----------
    version
        The version of sysbench.
    phrases
        The phrases that occurred in the log.
    settings, report
        The settings, and the current report.
    undirected
        The phrases with figures that may be of reads or of writes.
    """

    def __init__(self, text: Text) -> None:
        self.version: str | None = None
        self.phrases: set[str] = set()
        self.settings: list[Setting] = []
        self.report = Report(text)
        self.undirected: list[Token] = []

    def read(self, token: Token) -> None:
        """Read the settings and figures of a phrase."""
        self.phrases.add(token.name)
        if token.name == "thread":
            self._read_thread(token)
        for group, found in token.groups.items():
            if group in _SETTINGS:
                self._read_setting(token, group, found)
            elif group in _FIGURES:
                self._read_figure(token, group)

    def setting(self, key: str) -> str | None:
        """Return a setting from the log or, if it is not there, from the command before it."""
        return next((s.value for s in reversed(self.settings) if s.key == key), None)

    def known(self, key: str) -> int | None:
        """Return a numeric setting."""
        value = self.setting(key)
        return int(value) if value is not None and value.isdecimal() else None

    def settle(self) -> None:
        """Mark latencies as missing if there were no requests."""
        report = self.report
        events = report.figures.get("events")
        if events is not None and events.value == 0:
            latencies = enumerate(report.measurements)
            of_none = [number for number, m in latencies if m.metric == "latency" and m.scope == "all"]
            report.run.amend(of_none, is_missing=True)

    def _read_setting(self, token: Token, group: str, text: str) -> None:
        key, convert = _SETTINGS[group]
        value = convert(text)
        if not any((s.key, s.value, s.origin) == (key, value, "log") for s in self.settings):
            start = token.start_of(group)
            line, byte = token.text.line(start), token.text.byte(start)
            self.settings.append(Setting(key=key, value=value, line=line, start=byte))
        flags = text.split()
        if key == "open_flags" and set(flags) & {"(none)", "sync", "dsync", "directio"}:
            # 1.0 prints words; the numbers printed by earlier versions depend on the platform.
            truth = {"direct": "directio" in flags, "sync": "sync" in flags or "dsync" in flags}
            self.settings += [Setting(key=k, value=str(v).lower(), line=token.line) for k, v in truth.items()]

    def _read_figure(self, token: Token, name: str) -> None:
        """Add a figure; it is not primary if the report has printed it before."""
        figure = self._figure(token, name)
        if figure is None:
            self.undirected.append(token)
            return
        report, of = self.report, (figure.operation, figure.metric, figure.statistic)
        if name in report.numbers:
            again = report.measurements[report.numbers[name]].text == token[name]
        else:
            again = of in report.measured
        number = self._add(token, name, figure, primary=not again)
        if number is not None:
            report.numbers.setdefault(name, number)
            report.measured.add(of)
        report.first = report.first or token

    def _read_thread(self, token: Token) -> None:
        is_idle = int(token["one_events"] or "") == 0
        for name, figure in _THREAD_FIGURES.items():
            number = self._add(token, name, figure, scope="thread", part=token["thread"])
            if is_idle and figure.metric == "latency" and number is not None:
                self.report.run.amend([number], is_missing=True)

    def _add(
        self,
        token: Token,
        name: str,
        figure: _Figure,
        *,
        scope: Scope = "all",
        part: str | None = None,
        primary: bool = True,
    ) -> int | None:
        threads = self.known("threads")
        is_of_all = scope == "all" and figure.metric in {"thread_events", "thread_time"}
        return self.report.run.add(
            Place(figure.operation, scope, part, block_size=self.known("block_size"), threads=threads),
            figure.metric,
            token.printed(name),
            figure.statistic,
            unit=figure.unit,
            rounding=figure.rounding,
            digits=figure.digits,
            name=name,
            spread=HALF_BUCKET if name == "percentile" and self._counts_fsyncs else None,
            zero="censored" if figure.metric in {"bandwidth", "iops", "latency"} else "measured",
            samples=threads if is_of_all else None,
            primary=primary,
            within=token,
        )

    def _figure(self, token: Token, name: str) -> _Figure | None:
        """Return what a figure measures, or ``None`` if it may be of reads or of writes."""
        figure = _FIGURES[name]
        if name == "events" and self._counts_fsyncs:
            figure = figure._replace(operation="all")
        if figure.operation == "mixed":
            if self._direction is None:
                return None
            figure = figure._replace(operation=self._direction)
        if name == "percentile":
            figure = figure._replace(statistic=f"p{token['rank'] or token['old_rank']}")
        if figure.metric == "latency":
            figure = figure._replace(unit=token["unit"] or figure.unit)
        if figure.digits is not None and (prefix := token[f"{name}_prefix"]):
            figure = figure._replace(unit=f"{prefix}i{figure.unit}")
        if figure.operation in self._unused and figure.metric in _COUNTED_BY and not float(token[name] or ""):
            metric, unit = _COUNTED_BY[figure.metric]
            figure = figure._replace(metric=metric, unit=unit, rounding="exact", digits=None)
        return figure

    @property
    def _direction(self) -> str | None:
        """The direction of the test: ``read``, ``write``, or ``mixed`` for both; ``None`` if it is unknown."""
        pattern = self.setting("pattern")
        if pattern is not None:
            return _DIRECTIONS.get(pattern, "mixed")
        done = {"read": 0.0, "write": 0.0}
        for item in self.report.figures.values():
            if item.operation in done and item.scope == "all":
                done[item.operation] += item.value or 0
        counted = {m.operation for m in self.report.figures.values() if m.metric in {"operations", "bytes"}}
        if done["read"] and done["write"]:
            return "mixed"
        if not done.keys() <= counted:
            return None
        return next((operation for operation, amount in done.items() if amount), "mixed")

    @property
    def _unused(self) -> set[str]:
        """The operations that the test does not perform."""
        return {"read": {"write", "other"}, "write": {"read"}}.get(self._direction or "", set())

    @property
    def _counts_fsyncs(self) -> bool:
        """Whether fsyncs count as events, as in 1.0 and later."""
        if self.version is not None:
            return not self.version.startswith("0.")
        return bool(self.phrases & _SINCE_1_0)
