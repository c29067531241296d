"""What a damaged log may say: figures of the intact one alone, and of each that it lost that it is lost."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.robustness import logs
from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Diagnostic, Run

if TYPE_CHECKING:
    from fsbench_kit.model.records import Measurement

LOGS = {name: path for name, path in logs().items() if not name.startswith("gnu_time/")}

NOT_OF_A_LOSS = {"PROGRESS", "OTHER_TEXT", "INTERIM_REPORT", "UNIT_ASSUMED", "NOT_DIRECT"}
"""Diagnostics that do not say that a figure is lost; neither do those of repairs."""

Kind = tuple[str, str, str, str, str]
"""Tool, operation, metric, statistic and state of a figure."""


class Read(NamedTuple):
    """What was read of a log: the figures of each run, by their kinds, and what was said."""

    runs: list[dict[Kind, list[Measurement]]]
    diagnostics: list[Diagnostic]
    data: bytes


def read(data: bytes) -> Read:
    """Read a log; what holds neither a value nor a lower bound is no figure: 0.00 is below 0.005 in any case."""
    runs, diagnostics = [], []
    for record in read_document(data, "log"):
        if isinstance(record, Diagnostic):
            diagnostics.append(record)
        if isinstance(record, Run):
            runs.append(figures := {})
            for item in record.measurements:
                if (item.value, item.low) != (None, None):
                    kind = record.tool, item.operation, item.metric, item.statistic, item.state
                    figures.setdefault(kind, []).append(item)
    return Read(runs, diagnostics, data)


@cache
def intact(name: str) -> Read:
    """Read a log of the project."""
    return read(LOGS[name].read_bytes())


def figures(log: Read) -> Counter[tuple[object, ...]]:
    """Return the figures of all runs, whatever part they stand for."""
    return Counter((*kind, item.value) for run in log.runs for kind, items in run.items() for item in items)


def invented(name: str, damaged: Read) -> list[str]:
    """Return the figures of each run of a damaged log that no run of the intact one has, in full."""
    found = []
    for run in damaged.runs:
        others = [_others(run, whole) for whole in intact(name).runs]
        found += min(others, key=len, default=_others(run, {}))
    return [f"{' '.join(kind)} {item.text} on line {item.line}" for kind, item in found]


def _others(
    run: dict[Kind, list[Measurement]], whole: dict[Kind, list[Measurement]]
) -> list[tuple[Kind, Measurement]]:
    return [
        (kind, item)
        for kind, items in run.items()
        for item in items
        if not any(_is_same(item, true) for true in whole.get(kind, ()))
    ]


def _is_same(item: Measurement, true: Measurement) -> bool:
    """Whether a figure is the true one, though less may be known of it: not all sizes, or wider bounds."""
    known = [(item.file_size, true.file_size), (item.block_size, true.block_size)]
    if item.scope != "group":  # whose processes are counted together from the lines of its jobs
        known.append((item.threads, true.threads))
    if any(one is not None and one != other for one, other in known):
        return False
    if item.value is None or true.value is None or None in (item.low, item.high):
        return item.value == true.value
    return item.value == true.value or item.low <= true.value <= item.high  # type: ignore[operator]


def lost_in_silence(name: str, damaged: Read) -> list[str]:
    """Return the figures that a damaged log, which still holds them, has lost where no diagnostic shows them."""
    whole = intact(name)
    said_before = Counter((one.code, one.excerpt) for one in whole.diagnostics)
    said = []
    for one in damaged.diagnostics:
        is_new = said_before[one.code, one.excerpt] == 0
        said_before[one.code, one.excerpt] -= 1
        if is_new and one.code not in NOT_OF_A_LOSS and not one.code.startswith("REPAIRED"):
            said.append(_plain(_stretch(one, damaged.data)))
    words = "".join(said)  # a figure can be broken between two stretches
    printed = _plain(damaged.data.decode(errors="replace"))
    return [
        f"{' '.join(kind)} {item.text} of line {item.line}"
        for run in whole.runs
        for kind, items in run.items()
        for item in items
        if not any(_is_same(true, item) for other in damaged.runs for true in other.get(kind, ()))
        and _plain(item.text) in printed
        and _plain(item.text) not in words
    ]


def _stretch(diagnostic: Diagnostic, data: bytes) -> str:
    if diagnostic.code == "NO_LOG":
        return data.decode(errors="replace")
    if diagnostic.start is not None and diagnostic.end is not None:
        return data[diagnostic.start : diagnostic.end].decode(errors="replace")
    if diagnostic.line is not None:
        return data.decode(errors="replace").split("\n")[diagnostic.line - 1]
    return ""


def _plain(text: str) -> str:
    """Return a text without what damage changes: blanks, line ends, separators of thousands and decimals."""
    return re.sub(r"[\s.,]", "", text)
