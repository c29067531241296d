"""A figure that a log prints twice, or that others of it determine, cannot be changed without being noticed."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from benchmarks.robustness import Key, key, logs, told_twice
from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Diagnostic, Record, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.model.records import Measurement

LOGS = logs()
CHANGES = 8

OF_THE_WHOLE_RUN = {"sysbench/0.5-checkpoints.txt": {"latency", "event_time"}}
"""Metrics that do not determine each other where a log's last report counts from the last checkpoint on."""

Place = tuple[int, Key, bool]


def figures(records: list[Record]) -> dict[Place, Measurement]:
    """Return the figures that are told twice, by run, what they stand for, and which printing it is."""
    runs = [record for record in records if isinstance(record, Run)]
    return {
        (number, key(item), item.primary): item
        for number, run in enumerate(runs)
        for twice in [told_twice(run)]
        for item in run.measurements
        if key(item) in twice
    }


def warnings(records: list[Record]) -> list[str]:
    """Return what is said of a log, except of what stands beside its runs."""
    said = [record for record in records if isinstance(record, Diagnostic)]
    return sorted(item.code for item in said if item.code not in {"PROGRESS", "OTHER_TEXT"})


def changed_digits(data: bytes, chance: random.Random) -> Iterator[tuple[bytes, str]]:
    """Yield the log with the first digit changed of one number after another, and where that is."""
    first_digits = [match.end() - 1 for match in re.finditer(rb"(?<![\w.])[0.]*[1-9]", data)]
    for at in sorted(chance.sample(first_digits, min(CHANGES, len(first_digits)))):
        digit = (data[at] - ord("0")) % 9 + 1
        line = data[:at].count(b"\n") + 1
        yield data[:at] + b"%d" % digit + data[at + 1 :], f"line {line}, byte {at}: {digit}"


def is_another(one: Measurement, other: Measurement) -> bool:
    """Whether two figures cannot be the same within what their prints allow."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.high < other.low or other.high < one.low


@pytest.mark.parametrize("folder", sorted({name.split("/")[0] for name in LOGS}))
def test_a_changed_figure_is_noticed(folder: str) -> None:
    missed, told = [], 0
    for name in (name for name in LOGS if name.startswith(f"{folder}/")):
        data = LOGS[name].read_bytes()
        intact = list(read_document(data, "log"))
        known = figures(intact)
        told += len(known)
        for changed, place in changed_digits(data, random.Random(name)) if known else ():
            records = list(read_document(changed, "log"))
            if warnings(records) != warnings(intact):
                continue
            after = figures(records)
            missed += [
                (name, place, item.metric, item.statistic, item.text)
                for where, item in known.items()
                if where in after and is_another(item, after[where])
                if item.metric not in OF_THE_WHOLE_RUN.get(name, ())
            ]
    assert missed == []
    if folder in {"bonnie", "fio_json", "fio_normal", "fio_terse", "iozone", "sysbench", "published"}:
        assert told
