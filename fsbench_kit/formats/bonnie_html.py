"""The HTML table of bonnie++ 1.98 and 2.00 (``bon_csv2html``), with its cells flattened to ``|``.

Sources: ``bon_csv2html.cpp``, ``bon_time.cpp``, ``bonnie.h`` and the manuals of bonnie++ 1.98 to 2.00a.

``bonnie++`` cuts rates and CPU shares off to whole numbers; seeks are rounded, to one decimal below 1000.
``bon_csv2html`` then turns KiB/s into MiB/s, to the nearest whole number, for *Block* and *Rewrite* alone: **the
two "Per Char" columns stay in KiB/s, although "M/sec" stands above them.** (That test moves 3 MiB unless told
otherwise; above 6144 KiB/s it would end in under 0.5 s and have no figure.)

``+++++``
    The phase took under 0.5 s. Its rate is censored: above the phase's work over 0.5 s, where that work is known.
    Its CPU share, ``+++``, is missing. *Block* and *Rewrite* have ``0`` in place of the mark, which is also what
    they have when the phase did not run; the CPU share is empty then.
*Num Files*
    In units of 1024 files. *Read*, among the file operations, is a ``stat()``.
*Latency*
    The longest single operation of a phase, cut off to whole µs, ms or s.

The columns are those that the table has by default; concurrency, chunk size and sizes of files would add more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from fsbench_kit.formats.lexer import UNREAD, Lexer, Token, unread_figure
from fsbench_kit.records import Diagnostic, Measurement, Run, Setting
from fsbench_kit.units import Rounding, size
from fsbench_kit.vocabulary import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.formats.text import Text
    from fsbench_kit.records import Record

TOOL: Final = "bonnie++"


class _Phase(NamedTuple):
    """How the rate of a phase is printed, and what it is the rate of.

    `work` is ``size`` for the whole file, ``files`` for all files, and ``None`` where the table does not tell.
    """

    metric: str
    unit: str
    rounding: Rounding
    work: Literal["size", "files"] | None


_PER_CHAR: Final = _Phase("bandwidth", "KiB/s", "down", None)
_BLOCK: Final = _Phase("bandwidth", "MiB/s", "nearest", "size")
_FILES: Final = _Phase("file_rate", "1/s", "down", "files")
_PHASES: Final = {
    "write_char": _PER_CHAR,
    "write": _BLOCK,
    "rewrite": _BLOCK,
    "read_char": _PER_CHAR,
    "read": _BLOCK,
    "seek": _Phase("iops", "1/s", "nearest", None),
    "sequential_create": _FILES,
    "sequential_stat": _FILES,
    "sequential_delete": _FILES,
    "random_create": _FILES,
    "random_stat": _FILES,
    "random_delete": _FILES,
}
"""The phases in the order of their columns."""
_IO_PHASES: Final = [name for name, phase in _PHASES.items() if phase is not _FILES]
_FILE_PHASES: Final = [name for name, phase in _PHASES.items() if phase is _FILES]

_SHORTEST_PHASE: Final = 0.5
"""Seconds; of a shorter phase bonnie++ prints no rate (``MinTime``)."""
_FILES_UNIT: Final = 1024

_HEADINGS: Final = [
    *("Sequential Output", "Sequential Input", "Random Seeks", "Sequential Create", "Random Create"),
    *("Size", "Per Char", "Block", "Rewrite", "Per Char", "Block", "Num Files"),
    *(("Create", "Read", "Delete") * 2),
    *(("M/sec", "% CPU") * 5),
    *(("/sec", "% CPU") * 7),
]


def _rates(phases: list[str]) -> str:
    """Return the expression for cells with a rate and a CPU share each, or their marks."""
    return "".join(rf" \| (?P<{name}>\d+(?:\.\d+)?|\+*) \| (?P<{name}_cpu>\d+|\+*)" for name in phases)


def _latencies(phases: list[str]) -> str:
    return "".join(rf" \| (?:(?P<{name}_latency>\d+)(?P<{name}_unit>[mu]?s))?" for name in phases)


_END_OF_ROW: Final = r"(?![\w.+])[\s|]*+(?![\d+])"
"""No further figures: a row with more cells than headings is not read."""

_LEXER: Final = Lexer(
    heading=r"Version (?P<version>1\.98|2\.00a?)[\s|]+" + r"[\s|]*".join(_HEADINGS),
    row=(
        r"(?P<machine>[^|\n]{0,100})\| (?P<size>\d+[MG])"
        rf"{_rates(_IO_PHASES)} \| (?P<files>\d*){_rates(_FILE_PHASES)}{_END_OF_ROW}"
        rf"(?P<latencies>Latency{_latencies(_IO_PHASES)} \|[\s|]*Latency{_latencies(_FILE_PHASES)}{_END_OF_ROW})?"
    ),
)


_MARKS: Final = re.compile(r"Version\s*[\w.]+[\s|]*\|[\s|]*Sequential\s*Output[\s|]*\|[\s|]*Sequential\s*Input")


def marks(chars: str) -> Iterator[int]:
    """Yield where in a text something stands that only a log of this format has."""
    return (match.start() for match in _MARKS.finditer(chars))


def parse(text: Text) -> Iterator[Record]:
    """Yield a run for each row of the table, and a diagnostic for what holds a figure and is not understood."""
    version: str | None = None
    for token in _LEXER.tokens(text):
        if token.name == UNREAD:
            if (diagnostic := unread_figure(token)) is not None:
                yield diagnostic
        elif token.name == "heading":
            version = token["version"]
        elif version is None:
            yield token.diagnostic("UNREAD_FIGURE", "No headings say what the figures of this row are.")
        elif not (row := _Row(token)).fits:
            yield token.diagnostic("UNREAD_FIGURE", "The cells of this row do not fit its headings.")
        else:
            yield row.run(version)
            yield from row.diagnostics()


@dataclass(frozen=True, slots=True)
class _Row:
    """A machine's figures, and its latencies in the row below."""

    token: Token

    @property
    def fits(self) -> bool:
        """Whether each rate has its CPU share, or its mark; where a cell is lost, all that follow are shifted."""
        cells = [
            (phase, self.token[name] or "", self.token[f"{name}_cpu"] or "") for name, phase in _PHASES.items()
        ]
        return all(_kind(rate) == _kind(cpu) or (phase is _BLOCK and rate == "0") for phase, rate, cpu in cells)

    @property
    def _latencies_fit(self) -> bool:
        """Whether there is a latency for each phase that ran, and for no other."""
        return all(bool(self.token[f"{name}_latency"]) == bool(self.token[f"{name}_cpu"]) for name in _PHASES)

    def run(self, version: str) -> Run:
        token = self.token
        machine = (token["machine"] or "").strip()
        settings = [Setting(key="file_size", value=str(self._file_size), line=token.line_of("size"))]
        if self._files is not None:
            settings.append(Setting(key="files", value=str(self._files), line=token.line_of("files")))
        return Run(
            tool=TOOL,
            tool_version=version,
            start=token.text.byte(token.start),
            end=token.text.byte(token.end),
            line=token.line_of("size"),
            host=machine if re.search(r"\w", machine) else None,  # "#" in place of a name that was taken out
            settings=tuple(settings),
            measurements=tuple(figure for name in _PHASES for figure in self._figures(name)),
        )

    @property
    def _file_size(self) -> int:
        return size(self.token["size"] or "")

    @property
    def _files(self) -> int | None:
        files = self.token["files"]
        return int(files) * _FILES_UNIT if files else None

    def _figures(self, name: str) -> Iterator[Measurement]:
        phase, cpu = _PHASES[name], self.token[f"{name}_cpu"]
        if cpu:  # or else the phase did not run
            yield self._cut_short(name, phase) if "+" in cpu else self._rate(name, phase)
            yield self._cpu(name, cpu)
        if self.token[f"{name}_latency"] and self._latencies_fit:
            unit = self.token[f"{name}_unit"] or ""
            yield self.token.measurement(
                f"{name}_latency",
                operation=name,
                metric="phase_latency",
                statistic="max",
                unit=unit,
                rounding="down",
            )

    def _rate(self, name: str, phase: _Phase) -> Measurement:
        rate = self.token.measurement(
            name, operation=name, metric=phase.metric, unit=phase.unit, rounding=phase.rounding
        )
        # A printed 0 is a rate below half of what is printed as 1: a bound, and no rate of 0.
        return rate if rate.value else replace(rate, value=None, state="censored", low=None)

    def _cut_short(self, name: str, phase: _Phase) -> Measurement:
        work = {"size": self._file_size, "files": self._files, None: None}[phase.work]
        return Measurement(
            operation=name,
            metric=phase.metric,
            value=None,
            unit=METRICS[phase.metric].unit,
            state="censored",
            low=work / _SHORTEST_PHASE if work is not None else None,
            text=self.token[name] or "",
            line=self.token.line_of(name),
        )

    def _cpu(self, name: str, cpu: str) -> Measurement:
        if cpu.isdecimal():
            return self.token.measurement(f"{name}_cpu", operation=name, metric="cpu", unit="%", rounding="down")
        line = self.token.line_of(f"{name}_cpu")
        return Measurement(
            operation=name, metric="cpu", value=None, unit="1", state="missing", text=cpu, line=line
        )

    def diagnostics(self) -> Iterator[Diagnostic]:
        for name in _PHASES:
            for cell, mark in ((name, "+++++"), (f"{name}_cpu", "+++")):
                text = self.token[cell] or ""
                if "+" in text and text != mark:
                    yield self._cell(cell).diagnostic("DAMAGED_MARK", f"{text} was read as {mark}.")
        if self.token["latencies"] and not self._latencies_fit:
            message = "The cells of this row do not fit the phases above them."
            yield self._cell("latencies").diagnostic("UNREAD_FIGURE", message)
        if self.token["write_char_cpu"]:
            message = "M/sec stands above the rates by the character, which bon_csv2html prints in KiB/s."
            yield self._cell("write_char").diagnostic("WRONG_HEADING", message)

    def _cell(self, group: str) -> Token:
        match = self.token.match
        start, end = match.span(group) if match is not None else (self.token.start, self.token.end)
        return Token(group, self.token.text, start, end)


def _kind(cell: str) -> Literal["mark", "figure", "nothing"]:
    return "mark" if "+" in cell else "figure" if cell else "nothing"
