"""The file server's tasks: figures by eye from the transcription, ranges, qualifiers."""

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbench_kit.formats import filetree
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Measurement, Record, Run

LOG = (
    Path(__file__).parents[2] / "raw_results" / "published" / "fileserver-debian-2006" / "tasks.csv"
).read_text()
HEADER = LOG.partition("\n")[0]


def _parse(chars: str) -> tuple[dict[str, Run], list[Diagnostic]]:
    records: list[Record] = list(filetree.parse(Text(chars)))
    runs = {r.filesystem or "": r for r in records if isinstance(r, Run)}
    return runs, [r for r in records if isinstance(r, Diagnostic)]


def _rows(*rows: str) -> tuple[dict[str, Run], list[Diagnostic]]:
    return _parse("\n".join([HEADER, *rows]) + "\n")


def _figure(filesystem: str, operation: str, metric: str) -> Measurement:
    (found,) = (
        m
        for m in _parse(LOG)[0][filesystem].measurements
        if (m.operation, m.metric) == (operation, metric) and m.primary
    )
    return found


def test_one_run_for_each_filesystem() -> None:
    runs, _ = _parse(LOG)
    assert list(runs) == ["ext3", "reiserfs", "jfs", "xfs"]
    assert [(r.tool, r.status, r.start, r.end, r.line) for r in runs.values()] == [
        ("filetree", "ok", 0, len(LOG.rstrip().encode()), 1)
    ] * 4
    assert [len(r.measurements) for r in runs.values()] == [25, 29, 27, 26]


@pytest.mark.parametrize(
    ("figure", "value", "low", "high", "line"),
    [
        (("ext3", "capacity_initial", "capacity"), 0.9277, 0.92765, 0.92775, 2),
        (("xfs", "capacity_initial", "capacity"), 0.9995, 0.99945, 0.99955, 5),
        (("ext3", "mkfs", "elapsed"), 14.7, 14.65, 14.75, 6),
        (("jfs", "mkfs", "cpu"), 0.74, 0.735, 0.745, 11),
        (("reiserfs", "mount", "elapsed"), 2.3, 2.25, 2.35, 13),
        (("reiserfs", "umount", "elapsed"), 0.4, 0.35, 0.45, 16),
        (("xfs", "umount", "cpu"), 0.45, 0.445, 0.455, 18),
        (("jfs", "remove_large_files", "elapsed"), 0.02, 0.015, 0.025, 31),
        (("ext3", "recopy_tree", "elapsed"), 120, 119.5, 120.5, 41),
        (("jfs", "recopy_tree", "cpu"), 0.29, 0.285, 0.295, 45),
        (("ext3", "remove_trees", "elapsed"), 22, 21.5, 22.5, 47),
        (("reiserfs", "list_tree", "cpu"), 0.71, 0.705, 0.715, 62),
        (("reiserfs", "find_in_tree", "elapsed"), 0.8, 0.75, 0.85, 64),
        (("reiserfs", "capacity_residual", "capacity"), 0.9983, 0.99825, 0.99835, 72),
        (("xfs", "large_file_tasks", "minor_faults"), 600, 599.5, 600.5, 81),
        (("reiserfs", "tree_tasks", "minor_faults"), 5843, 5842.5, 5843.5, 83),
    ],
)
def test_figures_by_eye(figure: tuple[str, str, str], value: float, low: float, high: float, line: int) -> None:
    read = _figure(*figure)
    assert (read.value, read.low, read.high) == pytest.approx((value, low, high), rel=1e-12)
    assert (read.state, read.line) == ("measured", line)


@pytest.mark.parametrize(
    ("filesystem", "operation", "metric", "value"),
    [
        ("ext3", "remove_large_files", "cpu", 0.10),
        ("jfs", "remove_trees", "cpu", 0.15),
        ("xfs", "capacity_residual", "capacity_change", -0.0002),
    ],
)
def test_about_leaves_the_interval_open(filesystem: str, operation: str, metric: str, value: float) -> None:
    figure = _figure(filesystem, operation, metric)
    assert (figure.value, figure.low, figure.high) == (pytest.approx(value, rel=1e-12), None, None)
    said = [d for d in _parse(LOG)[1] if d.line == figure.line]
    assert [d.code for d in said] == ["UNKNOWN_ROUNDING"]


@pytest.mark.parametrize(
    ("figure", "low", "high", "text"),
    [
        (("ext3", "mkfs", "cpu"), 0.585, 0.745, "59,74"),
        (("xfs", "mount", "cpu"), 0.055, 0.095, "6,9"),
        (("jfs", "copy_large_file", "cpu"), 0.455, 0.515, "46,51"),
        (("ext3", "recopy_tree", "cpu"), 0.285, 0.455, "29,45"),
        (("jfs", "tree_tasks", "minor_faults"), 1399.5, 1490.5, "1400,1490"),
        (("xfs", "list_and_find", "minor_faults"), 703.5, 712.5, "704,712"),
    ],
)
def test_a_range_bounds_the_figure_of_each(
    figure: tuple[str, str, str], low: float, high: float, text: str
) -> None:
    read = _figure(*figure)
    assert (read.state, read.value, read.text) == ("censored", None, text)
    assert (read.low, read.high) == pytest.approx((low, high), rel=1e-12)


def test_a_range_is_a_second_printing_of_an_own_figure() -> None:
    runs, diagnostics = _parse(LOG)
    seconds = {(name, m.operation) for name, run in runs.items() for m in run.measurements if not m.primary}
    assert seconds == {("reiserfs", "mkfs"), ("jfs", "mkfs"), ("reiserfs", "recopy_tree"), ("jfs", "recopy_tree")}
    assert not [d for d in diagnostics if d.code in {"SECOND_PRINTING_DIFFERS", "FIGURES_DISAGREE"}]


@pytest.mark.parametrize("value", ["58", "75"])
def test_a_figure_outside_its_range_is_named(value: str) -> None:
    _, diagnostics = _rows(
        f"mkfs,jfs,cpu,{value},,,percent,", "mkfs,ext3 jfs,cpu,,59,74,percent,range over filesystems"
    )
    (diagnostic,) = diagnostics
    assert (diagnostic.code, diagnostic.line) == ("SECOND_PRINTING_DIFFERS", 3)
    assert diagnostic.message == (
        f"cpu of mkfs (ext3, jfs) is 59,74, “range over filesystems”, and {value} on line 2 contradicts it."
    )


def test_no_qualifier_is_lost() -> None:
    _, diagnostics = _parse(LOG)
    said = {d.line: d.message for d in diagnostics}
    for number, row in enumerate(csv.DictReader(LOG.splitlines()), 2):
        for qualifier in filter(None, row["qualifier"].split(", ")):
            if qualifier != "range over filesystems":
                assert qualifier in said[number]
        assert bool(said.get(number)) == (row["qualifier"] not in {"", "range over filesystems"})


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (("mkfs,xfs,elapsed,3,,,s,least", "mkfs,jfs,elapsed,2,,,s,"), 2),
        (("mkfs,xfs,elapsed,3,,,s,most", "mkfs,jfs,elapsed,4,,,s,"), 2),
        (
            (
                "capacity_initial,jfs,capacity,90,,,percent,",
                "capacity_residual,jfs,capacity,89,,,percent,same as initial",
            ),
            3,
        ),
    ],
)
def test_a_qualifier_that_the_figures_contradict_is_named(rows: tuple[str, ...], line: int) -> None:
    _, diagnostics = _rows(*rows)
    assert [(d.code, d.line) for d in diagnostics] == [("QUALIFIED", line), ("FIGURES_DISAGREE", line)]


def test_figures_that_round_alike_contradict_nothing() -> None:
    _, diagnostics = _rows("mkfs,xfs,elapsed,3,,,s,least", "mkfs,jfs,elapsed,3,,,s,", "mount,jfs,elapsed,2,,,s,")
    assert [d.code for d in diagnostics] == ["QUALIFIED"]


def test_every_number_is_a_figure_of_each_filesystem_named() -> None:
    """Read a second time, with the standard library alone."""
    runs, _ = _parse(LOG)
    printed = {(name, m.line, m.text) for name, run in runs.items() for m in run.measurements}
    expected = {
        (name, number, row["value"] or f"{row['low']},{row['high']}")
        for number, row in enumerate(csv.DictReader(LOG.splitlines()), 2)
        for name in row["filesystems"].split()
    }
    assert printed == expected
    assert len(re.findall(r"(?<=,)-?\d[\d.]*(?=,)", LOG)) == len({(line, t) for _, line, t in expected}) + 8


@pytest.mark.parametrize(
    "row",
    [
        "mkfs,ext3,elapsed,14.7,,,s",
        "mkfs,ext3,elapsed,14.7,,,s,,",
        "mkfs,ext3,elapsed,fast 14,,,s,",
        "mkfs,ext3,elapsed,,,,s,3",
        "mkfs,ext3,elapsed,14.7,,,hours,",
        "mkfs,ext3,speed,14.7,,,s,",
        "defragment,ext3,elapsed,14.7,,,s,",
        "mkfs,,elapsed,14.7,,,s,",
        "mkfs,ext3,elapsed,14.7,1,2,s,",
        "mkfs,ext3,elapsed,14.7,1,2,s,range over filesystems",
        "mkfs,ext3,elapsed,,1,,s,range over filesystems",
        "mkfs,ext3,elapsed,,2,1,s,range over filesystems",
        'mkfs,ext3,elapsed,14.7,,,s,"about',
        "seen 14.7 s",
    ],
)
def test_a_row_that_is_not_understood_is_named(row: str) -> None:
    runs, diagnostics = _rows("mkfs,jfs,elapsed,1,,,s,", row, "mkfs,xfs,elapsed,2,,,s,")
    assert list(runs) == ["jfs", "xfs"]
    assert [(d.code, d.line, d.excerpt) for d in diagnostics] == [("UNREAD_FIGURE", 3, row)]


def test_diagnostics_give_the_bytes_of_their_row() -> None:
    data = LOG.replace("ext3", "extä").encode()
    _, diagnostics = _parse(data.decode())
    first = diagnostics[0]
    assert data[first.start : first.end].decode() == "remove_large_files,extä,cpu,10,,,percent,about"


@pytest.mark.parametrize("log", [LOG.replace("\n", "\r\n"), LOG.rstrip("\n"), LOG + "\n\n"])
def test_line_ends_do_not_matter(log: str) -> None:
    assert [r.measurements for r in _parse(log)[0].values()] == [r.measurements for r in _parse(LOG)[0].values()]


def test_line_ends_that_are_lost_are_where_tasks_begin() -> None:
    assert list(filetree.signatures(LOG.replace("\n", " "))) == [0]
    found, diagnostics = _parse(LOG.replace("\n", " "))
    whole, said = _parse(LOG)
    assert {
        name: [(m.operation, m.metric, m.low, m.text) for m in run.measurements] for name, run in found.items()
    } == {name: [(m.operation, m.metric, m.low, m.text) for m in run.measurements] for name, run in whole.items()}
    assert [d.code for d in diagnostics] == ["REPAIRED", *(d.code for d in said)]


def test_lines_that_stand_twice_count_once() -> None:
    found, diagnostics = _parse("".join(line * 2 for line in LOG.splitlines(keepends=True)))
    assert [len(run.measurements) for run in found.values()] == [25, 29, 27, 26]
    assert [d.code for d in diagnostics] == ["REPAIRED", *(d.code for d in _parse(LOG)[1])]


def test_what_stands_before_the_header_is_no_part_of_it() -> None:
    found, diagnostics = _parse("Measured on 2 disks:\n\n" + LOG)
    assert [(run.start, run.line) for run in found.values()] == [(22, 3)] * 4
    assert [d.line for d in diagnostics if d.code == "UNREAD_FIGURE"] == [1]


@pytest.mark.parametrize(
    "head",
    ["", "task,filesystems,metric\n", HEADER.upper(), "name,size\na,1\n", f"see {HEADER}\n"],
)
def test_only_its_own_header_is_recognised(head: str) -> None:
    assert list(filetree.signatures(LOG))
    assert not list(filetree.signatures(head))


@settings(max_examples=50, deadline=None)
@given(last=st.integers(1, LOG.count("\n")))
def test_a_log_that_is_cut_has_no_other_figures(last: int) -> None:
    cut, _ = _parse("".join(LOG.splitlines(keepends=True)[:last]))
    whole, _ = _parse(LOG)
    for name, run in cut.items():
        kept = {(m.operation, m.metric, m.text, m.low, m.high) for m in run.measurements}
        assert kept <= {(m.operation, m.metric, m.text, m.low, m.high) for m in whole[name].measurements}


@settings(max_examples=50, deadline=None)
@given(spot=st.integers(0, 3600), length=st.integers(0, 60), junk=st.text(max_size=20))
def test_damage_is_never_an_exception(spot: int, length: int, junk: str) -> None:
    list(filetree.parse(Text(LOG[:spot] + junk + LOG[spot + length :])))
