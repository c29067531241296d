"""Every log of the project, damaged in the ways of copies: it is read as far as it goes, nothing is invented."""

import random
from functools import cache

import pytest

from benchmarks.robustness import (
    DAMAGES,
    Reading,
    collapsed,
    doubled,
    flipped,
    garbled,
    lines,
    logs,
    reading,
    shuffled,
    unindented,
)

LOGS = logs()
MOST_CUTS = 60
DAMAGED_COPIES = 15

NOT_OF_A_FIGURE = {"PROGRESS", "OTHER_TEXT"}
"""Diagnostics that a change of a figure cannot hide behind."""


@cache
def intact(name: str) -> Reading:
    return reading(LOGS[name].read_bytes())


def invented(name: str, damaged: Reading) -> list[str]:
    """Return the figures of a damaged log that the intact one does not have, unless something is said about it."""
    new = damaged.figures - intact(name).figures
    said = damaged.diagnostics - intact(name).diagnostics
    return sorted(map(str, new)) if new and not set(said) - NOT_OF_A_FIGURE else []


GROWING = {"fio_normal/3.33-status-interval.txt"}
"""A log that reports again and again: cut between two reports, it is that of a shorter run."""


@pytest.mark.parametrize("name", sorted(LOGS.keys() - GROWING))
def test_it_can_be_cut_off_after_any_line(name: str) -> None:
    rows = lines(LOGS[name].read_bytes())
    step = max(1, len(rows) // MOST_CUTS)
    for end in range(1, len(rows), step):
        assert invented(name, reading(b"".join(rows[:end]))) == [], f"cut after line {end}"


@pytest.mark.parametrize("name", LOGS)
def test_its_beginning_can_be_lost(name: str) -> None:
    rows = lines(LOGS[name].read_bytes())
    step = max(1, len(rows) // MOST_CUTS)
    for start in range(1, len(rows), step):
        assert invented(name, reading(b"".join(rows[start:]))) == [], f"cut before line {start + 1}"


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("damage", [doubled, collapsed, unindented])
def test_its_layout_can_be_lost(name: str, damage: object) -> None:
    assert invented(name, reading(damage(LOGS[name].read_bytes()))) == []  # type: ignore[operator]


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_happens_to_it_it_is_read(name: str, damage: str) -> None:
    chance = random.Random(name)
    for _ in range(DAMAGED_COPIES):
        reading(DAMAGES[damage](LOGS[name].read_bytes(), chance))


def test_the_damage_is_what_it_says() -> None:
    data = b"a 1\n  b 22\nc\n"
    assert doubled(data) == b"a 1\na 1\n  b 22\n  b 22\nc\nc\n"
    assert collapsed(data) == b"a 1   b 22 c "
    assert unindented(data) == b"a 1\nb 22\nc\n"
    assert sorted(lines(shuffled(data, random.Random(1)))) == sorted(lines(data))
    for damage in (flipped, garbled):
        changed = damage(data, random.Random(1))
        assert sum(old != new for old, new in zip(data, changed, strict=True)) == 1
    assert LOGS["sysbench/1.0.20-seqwr.txt"].exists()
