"""What holds for the records of any text whatever."""

from __future__ import annotations

from typing import Final

from benchmarks.robustness import logs
from fsbench_kit.documents import read_document
from fsbench_kit.formats import sniff
from fsbench_kit.model.records import Block, Diagnostic, Measurement, Run

LONGEST: Final = 20_000
"""Bytes of a log from which a fuzz starts; a longer one would slow it down."""


def violations(data: bytes) -> list[str]:
    """Return what is wrong with the records of a text, whatever it is. None may raise an exception."""
    found = []
    for record in read_document(data, "text"):
        match record:
            case Run():
                if not 0 <= record.start <= record.end <= len(data):
                    found.append(f"the run stands from {record.start} to {record.end}")
                found += [problem for item in record.measurements for problem in _problems(item)]
            case Block():
                if not len(record.times) == len(record.values) == len(record.lines):
                    found.append(f"the columns of {record.metric} differ in length")
            case Diagnostic():
                places = [place for place in (record.start, record.end) if place is not None]
                if places != sorted(places) or not all(0 <= place <= len(data) for place in places):
                    found.append(f"{record.code} stands from {record.start} to {record.end}")
    return found


def _problems(item: Measurement) -> list[str]:
    found = []
    if (item.state == "measured") != (item.value is not None):
        found.append(f"{item.state}, but the value is {item.value}")
    if item.low is not None and item.high is not None and not item.low <= item.high:
        found.append(f"from {item.low} to {item.high}")
    # The ends of an interval are the value plus and minus something, and floats round.
    slack = 1e-9 * abs(item.value or 0)
    if item.value is not None and item.low is not None and not item.low <= item.value + slack:
        found.append(f"{item.value} is below {item.low}")
    if item.value is not None and item.high is not None and not item.value <= item.high + slack:
        found.append(f"{item.value} is above {item.high}")
    return [f"{item.metric} ({item.statistic}) of {item.operation}, {item.text!r}: {problem}" for problem in found]


def seeds(tool: str) -> dict[str, bytes]:
    """Return the logs of a tool that are not too long to start from."""
    texts = {name: path.read_bytes() for name, path in logs().items() if path.stat().st_size <= LONGEST}
    return {
        name: data
        for name, data in texts.items()
        if tool in {owner.TOOL.name for _, owner in sniff(data.decode("utf-8", errors="replace"))}
    }
