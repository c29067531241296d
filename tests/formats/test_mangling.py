"""Every log of the project, damaged in the ways of copies: it is read as far as it goes, nothing is invented."""

import random
import re
from collections.abc import Iterator

import pytest

from benchmarks.robustness import DAMAGES, collapsed, doubled, flipped, garbled, lines, shuffled, unindented
from tests.damage import LOGS, figures, intact, invented, lost_in_silence, read

CUTS = 4
COPIES = 2
MESSAGES = 2
MANY = 30

REPEATED_REPORTS = {
    "fio_json/3.33-status-interval.json",
    "fio_normal/3.33-status-interval.txt",
    "sysbench/0.5-checkpoints.txt",
    "sysbench/1.0.20-checkpoints-histogram.txt",
}
"""Logs that report again and again: cut between two reports, one is that of a shorter run."""

UNIT_IN_THE_HEADER = {
    "iozone/3.430-interrupted-ops-report.txt",
    "iozone/3.489-microseconds.txt",
    "iozone/3.489-ops.txt",
}
"""Logs whose tables are of kB/s like all others without what stands above them, which is assumed, and said."""

MESSAGE = b"[12345.678901] EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: (null)\n"


def cuts(data: bytes, most: int, chance: random.Random) -> Iterator[tuple[bytes, bytes]]:
    """Yield what stands before and behind some line ends."""
    rows = lines(data)
    places = range(1, len(rows))
    for place in sorted(chance.sample(places, min(most, len(places)))):
        yield b"".join(rows[:place]), b"".join(rows[place:])


def holds_when_cut(name: str, most: int) -> None:
    for head, rest in cuts(LOGS[name].read_bytes(), most, random.Random(name)):
        assert invented(name, read(head)) == [], head[-200:]
        if name not in UNIT_IN_THE_HEADER:
            assert invented(name, read(rest)) == [], rest[:200]


@pytest.mark.parametrize("name", sorted(LOGS.keys() - REPEATED_REPORTS))
def test_its_end_or_its_beginning_can_be_lost(name: str) -> None:
    holds_when_cut(name, CUTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LOGS.keys() - REPEATED_REPORTS))
def test_it_can_be_cut_between_any_lines(name: str) -> None:
    holds_when_cut(name, MANY)


def test_a_table_that_has_lost_its_header_is_said_to_have_an_assumed_unit() -> None:
    for name in UNIT_IN_THE_HEADER:
        _, _, table = LOGS[name].read_bytes().partition(b"File stride size set to 17 * record size.\n")
        damaged = read(table)
        assert invented(name, damaged) != []
        assert "UNIT_ASSUMED" in {one.code for one in damaged.diagnostics}


@pytest.mark.parametrize("name", LOGS)
def test_its_layout_can_be_lost(name: str) -> None:
    for damage in (doubled, collapsed, unindented):
        damaged = read(damage(LOGS[name].read_bytes()))
        assert invented(name, damaged) == [], damage
        assert lost_in_silence(name, damaged) == [], damage


def survives(name: str, copies: int) -> None:
    chance = random.Random(name)
    for damage in DAMAGES.values():
        for _ in range(copies):
            read(damage(LOGS[name].read_bytes(), chance))


@pytest.mark.parametrize("name", LOGS)
def test_whatever_happens_to_it_it_is_read(name: str) -> None:
    survives(name, COPIES)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
def test_whatever_happens_to_it_often_it_is_read(name: str) -> None:
    survives(name, MANY)


# Messages of the kernel on the console that shows the run

CONSOLES = [name for name in LOGS if re.match(r"(?:bonnie|fio_normal|iozone|sysbench)/.*\.txt", name)]


def interrupted(name: str, most: int, put: bytes) -> Iterator[bytes]:
    """Yield a log with a message in the middle of some of its lines that hold figures."""
    data = LOGS[name].read_bytes()
    places = [match.start() + 1 for match in re.finditer(rb"(?<=[\d ,=])[\d ](?=[\d ])", data)]
    for place in sorted(random.Random(name).sample(places, min(most, len(places)))):
        yield data[:place] + put + data[place:]


@pytest.mark.parametrize("name", CONSOLES)
def test_what_the_kernel_says_in_the_middle_of_a_line_changes_no_figure(name: str) -> None:
    for put in (MESSAGE, MESSAGE + MESSAGE.replace(b"12345", b"12346")):
        for damaged in interrupted(name, MESSAGES, put):
            assert figures(read(damaged)) == figures(intact(name)), damaged


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CONSOLES if name.startswith(("bonnie/1.03", "iozone/"))])
def test_a_row_in_two_pieces_with_a_message_between_them_is_put_together_or_lost(name: str) -> None:
    for damaged in interrupted(name, MANY, b"\n" + MESSAGE):
        assert invented(name, read(damaged)) == [], damaged


def test_the_damage_is_what_it_says() -> None:
    data = b"a 1\n  b 22\nc\n"
    assert doubled(data) == b"a 1\na 1\n  b 22\n  b 22\nc\nc\n"
    assert collapsed(data) == b"a 1   b 22 c "
    assert unindented(data) == b"a 1\nb 22\nc\n"
    assert list(cuts(data, 9, random.Random(1))) == [(b"a 1\n", b"  b 22\nc\n"), (b"a 1\n  b 22\n", b"c\n")]
    assert sorted(lines(shuffled(data, random.Random(1)))) == sorted(lines(data))
    for damage in (flipped, garbled):
        changed = damage(data, random.Random(1))
        assert sum(old != new for old, new in zip(data, changed, strict=True)) == 1
    assert LOGS["sysbench/1.0.20-seqwr.txt"].exists()
    assert next(interrupted("sysbench/1.0.20-seqwr.txt", 1, MESSAGE)).count(MESSAGE) == 1
