"""Logs of a file server's tasks: ``mkfs``, ``mount``, copying a large file, listing a tree, ... on a filesystem.

The log is a CSV file with one figure per row, which applies to one or several filesystems::

    task,filesystems,metric,value,low,high,unit,qualifier
    mkfs,ext3,elapsed,14.7,,,s,
    mkfs,reiserfs,cpu,59,,,percent,
    mkfs,ext3 reiserfs jfs xfs,cpu,,59,74,percent,range over filesystems

Lines like ``# files = 7500`` below the heading, which the package's own workload writes, are settings of all runs.

Each filesystem is a run; the runs share the file. Figures are rounded to the last digit printed. A ``percent``
of ``cpu`` refers to one processor's time, one of ``capacity`` to the partition.

Qualifiers:

- ``range over filesystems``: `low` and `high` are the smallest and largest figure of the filesystems listed,
  between which the figure of each lies. It is censored at both ends. If a filesystem also has a row of its own,
  the range is a second print.
- ``about``: the rounding of the figure is unknown.
- ``same as initial``: stated instead of a figure; the initial one was entered. Checked against it.
- ``least``, ``most``: of all filesystems. Checked against theirs.
- ``total``: over the tasks that the row combines.

Each qualifier other than a range becomes a diagnostic, so that its meaning is not lost.

Rows begin at the name of a task, so that copies that lost their line breaks have the same rows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from fsbench_kit.formats.builder import Place, RunBuilder
from fsbench_kit.formats.lexer import Printed, Token, unread_figure
from fsbench_kit.formats.repairs import without_repeats
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Edit, Text
from fsbench_kit.formats.tool import Tool
from fsbench_kit.model.operations import OPERATIONS
from fsbench_kit.model.records import Diagnostic, Record, Setting
from fsbench_kit.model.units import Quantity, Rounding, quantity
from fsbench_kit.model.vocabulary import SETTINGS

TOOL: Final = Tool(name="filetree")
SIGN: Final = "task,filesystems,metric"

_HEADER: Final = "task,filesystems,metric,value,low,high,unit,qualifier"

_METRICS: Final = {
    "elapsed": "elapsed",
    "cpu": "cpu",
    "capacity": "capacity",
    "capacity_change": "capacity_change",
    "minor_page_faults": "minor_faults",
    "major_page_faults": "major_faults",
}
_UNITS: Final = {"s": "s", "percent": "%", "count": ""}
_CHANGE: Final = "_change"
_RANGE: Final = "range over filesystems"
_ABOUT: Final = "about"


_ROW: Final = rf"(?:{'|'.join(OPERATIONS)})(?:{_CHANGE})?,[^,\n]{{1,200}},(?:{'|'.join(_METRICS)}),"
signatures: Final = Signatures({_HEADER: rf"^[^\S\n]*{_HEADER}(?=[^\S\n]*$|[^\S\n]+{_ROW})"}, re.MULTILINE)
_SETTING: Final = re.compile(r"[^\S\n]*\# (?P<key>[a-z_]{1,40}) = (?P<value>\d{1,18}(?:\.\d{1,9})?)(?!\S)")
_LOST_LINE_END: Final = re.compile(rf"(?<=\S)[^\S\n]+(?={_ROW})")


def parse(text: Text) -> Iterator[Record]:
    """Yield a run for each filesystem, and diagnostics about the rows."""
    text, repairs = _repaired(text)
    yield from repairs
    rows: list[_Row] = []
    settings: list[Setting] = []
    for line in _lines(text):
        if (setting := _SETTING.match(text.chars, line.start, line.end)) is not None:
            key = setting["key"]
            known = key if key in SETTINGS else f"{TOOL.name}.{key}"
            settings.append(Setting(key=known, value=setting["value"], line=line.line))
            continue
        try:
            rows.append(_Row.from_line(line))
        except (ValueError, csv.Error):
            if (diagnostic := unread_figure(line)) is not None:
                yield diagnostic
    header = text.chars.find(_HEADER)
    start = min([row.line.start for row in rows] + [header] * (header >= 0), default=0)
    end = max((row.line.end for row in rows), default=0)
    for filesystem in dict.fromkeys(name for row in rows for name in row.filesystems):
        own = [row for row in rows if filesystem in row.filesystems]
        printed = {row.key for row in own if not row.is_range}
        run = RunBuilder(text)
        run.settings += settings
        for row in own:
            row.add_to(run, primary=not row.is_range or row.key not in printed)
        yield run.build(TOOL.name, start, end, filesystem=filesystem)
    for row in rows:
        yield from _remarks(row, rows)


def _repaired(text: Text) -> tuple[Text, list[Diagnostic]]:
    """Return the text with each row once and on its own line, and diagnostics about these repairs."""
    text, repairs = without_repeats(text)
    lost = [match.span() for match in _LOST_LINE_END.finditer(text.chars)]
    if lost:
        first = Token("row", text, *lost[0])
        repairs.append(first.diagnostic("REPAIRED", f"{len(lost)} rows follow another row on the same line."))
    return text.edited(Edit(start, end, "\n") for start, end in lost), repairs


def _lines(text: Text) -> Iterator[Token]:
    """Yield the lines except the header."""
    start = 0
    for line in text.chars.split("\n"):
        if line.strip() and line.strip() != _HEADER:
            yield Token("row", text, start, start + len(line.rstrip()))
        start += len(line) + 1


class _Row(NamedTuple):
    """A row of the log, which applies to each of its filesystems."""

    line: Token
    filesystems: tuple[str, ...]
    operation: str
    metric: str
    printed: Printed
    unit: str
    rounding: Rounding
    amounts: tuple[Quantity, Quantity]
    qualifiers: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.operation, self.metric

    @property
    def is_range(self) -> bool:
        return _RANGE in self.qualifiers

    @classmethod
    def from_line(cls, line: Token) -> _Row:
        """Parse a row.

        Raises
        ------
        ValueError, csv.Error
            If it does not have eight fields, or one of them is not understood.
        """
        chars = line.text.chars[line.start : line.end]
        (fields,) = csv.reader([chars.strip()], strict=True)
        task, filesystems, metric, value, low, high, unit, qualifier = fields
        qualifiers = tuple(filter(None, (part.strip() for part in qualifier.split(","))))
        ranged = _RANGE in qualifiers
        if not filesystems.split() or unit not in _UNITS:
            raise ValueError("a row names its filesystems and its unit")
        if (bool(value), bool(low), bool(high)) != (not ranged, ranged, ranged):
            raise ValueError("a row has a value, or else both ends of a range")
        numbers = (low, high) if ranged else (value,)
        rounding: Rounding = "unknown" if _ABOUT in qualifiers else "nearest"
        amounts = [quantity(number, _UNITS[unit], rounding=rounding) for number in numbers]
        if amounts[0].value > amounts[-1].value:
            raise ValueError("the ends of the range are the wrong way round")
        text = ",".join(numbers)
        printed = Printed(text, line.start + max(chars.find(text, chars.find(f",{metric},")), 0))
        ends = amounts[0], amounts[-1]
        operation, metric = _words(task, metric)
        return cls(
            line, tuple(filesystems.split()), operation, metric, printed, _UNITS[unit], rounding, ends, qualifiers
        )

    def add_to(self, run: RunBuilder, *, primary: bool) -> None:
        """Add the figure of the row to the run of one of its filesystems."""
        place, (low, high) = Place(self.operation), self.amounts
        if self.is_range:
            run.add_unmeasured(
                place, self.metric, self.printed, state="censored", low=low.low, high=high.high, primary=primary
            )
        else:
            run.add(place, self.metric, self.printed, unit=self.unit, rounding=self.rounding, primary=primary)


def _words(task: str, metric: str) -> tuple[str, str]:
    """Return the operation and the metric of a row; a change of capacity is a separate metric."""
    if task.endswith(_CHANGE):
        task, metric = task.removesuffix(_CHANGE), metric + _CHANGE
    if task not in OPERATIONS or metric not in _METRICS:
        raise ValueError(f"{task!r} or {metric!r} is not known")
    return task, _METRICS[metric]


def _remarks(row: _Row, rows: list[_Row]) -> Iterator[Diagnostic]:
    """Report a row's qualifiers, and the rows that contradict them."""
    of = f"{row.metric} of {row.operation} ({', '.join(row.filesystems)})"
    for qualifier in row.qualifiers:
        if qualifier == _ABOUT:
            yield row.line.diagnostic("UNKNOWN_ROUNDING", f"{of} is given as “about {row.printed.text}”.")
        elif qualifier != _RANGE:
            yield row.line.diagnostic("QUALIFIED", f"{of}: the source says “{qualifier}”.")
        for other in rows:
            if _contradicts(qualifier, row, other):
                code = "SECOND_PRINTING_DIFFERS" if qualifier == _RANGE else "FIGURES_DISAGREE"
                message = (
                    f"{of} is {row.printed.text}, “{qualifier}”, "
                    f"and {other.printed.text} on line {other.line.line} contradicts it."
                )
                yield row.line.diagnostic(code, message)


def _contradicts(qualifier: str, row: _Row, other: _Row) -> bool:
    """Whether another row contradicts a qualifier of a row."""
    if qualifier == "same as initial":
        initial = other.key == ("capacity_initial", row.metric) and other.filesystems == row.filesystems
        return initial and other.amounts[0].value != row.amounts[0].value
    if other.key != row.key:
        return False
    if qualifier == _RANGE:
        shared = not other.is_range and set(other.filesystems) & set(row.filesystems)
        return bool(shared) and (_above(row, other) or _above(other, row))
    return (qualifier == "least" and _above(row, other)) or (qualifier == "most" and _above(other, row))


def _above(row: _Row, other: _Row) -> bool:
    """Whether the whole interval of a row's figure is above that of another."""
    low, high = row.amounts[0].low, other.amounts[1].high
    return low is not None and high is not None and low >= high  # rounding cannot turn 2 into 3
