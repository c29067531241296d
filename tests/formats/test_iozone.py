"""iozone's table by place, its Excel report as a second printing, its CPU report; figures by eye from the logs."""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbench_kit.formats import iozone
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Measurement, Run
from tests.formats.reading import Reading

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "raw_results" / "published" / "iozone-ssd-2015"
DATA = ROOT / "tests" / "data" / "iozone"
LOGS = {path.stem.removeprefix("iozone-"): path.read_text() for path in sorted(PUBLISHED.glob("iozone-*.txt"))}
LIVE = {
    path.stem.removeprefix("3.489-"): path.read_text()
    for path in sorted(DATA.glob("3.489-*.txt"))
    if "throughput" not in path.name
}

OPERATIONS = [
    *("write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite"),
    *("stride_read", "fwrite", "frewrite", "fread", "freread"),
]
EXTENDED = [*OPERATIONS, "pwrite", "repwrite", "pread", "repread"]
# The last character of each column of 3.4xx, counted from 1; the sizes end at 16 and 24.
ENDS = [33, 42, 51, 60, 69, 78, 87, 97, 107, 116, 125, 134, 143]
TITLES = [
    *("Writer", "Re-writer", "Reader", "Re-Reader", "Random read", "Random write", "Backward read"),
    *("Record rewrite", "Stride read", "Fwrite", "Re-Fwrite", "Fread", "Re-Fread"),
    *("Pwrite", "Re-Pwrite", "Pread", "Re-Pread"),
]

Key = tuple[str, str, int | None, int | None]


READING = Reading(iozone)
_parse = READING.parsed
_run = READING.run_of
_codes = READING.codes


def _figures(run: Run, *, primary: bool = True) -> dict[Key, Measurement]:
    """Figures by operation, metric, record size and file size, both in kB."""
    return {
        (m.operation, m.metric, m.block_size and m.block_size // 1024, m.file_size and m.file_size // 1024): m
        for m in run.measurements
        if m.primary == primary
    }


def _setting(run: Run, key: str, origin: str = "log") -> list[str]:
    return [s.value for s in run.settings if (s.key, s.origin) == (key, origin)]


# By eye


@pytest.mark.parametrize(
    ("log", "record", "row"),
    [
        (
            "ext4",
            32,
            "134418 137172 375562 384119 86187 136983 88777 121142 85634 928787 1422844 7479780 8053423",
        ),
        (
            "ext4",
            128,
            "76223 246728 478150 476280 132230 232430 133712 218963 141642 1270394 1430517 7054489 7655208",
        ),
        (
            "ext4",
            16384,
            "360667 370847 456841 465093 458894 380607 455677 390324 460216 1357927 1439198 4670778 5244898",
        ),
        (
            "btrfs",
            32,
            "123755 124696 266012 259530 81904 118866 85865 125944 81506 1000642 1223436 7518993 7328625",
        ),
        (
            "btrfs",
            8192,
            "370117 377368 447627 435809 421917 377948 424365 374778 427770 1374963 1478975 5108439 5320885",
        ),
        (
            "zfs-freebsd",
            32,
            "325355 107915 143338 149964 35394 15052 74398 3285408 35786 60713 90725 140505 141348",
        ),
        (
            "zfs-freebsd",
            128,
            "179099 165956 341052 342761 140638 117313 142163 9670310 144940 113754 175801 307036 315640",
        ),
        (
            "zfs-freebsd",
            1024,
            "198035 211504 374475 372747 295725 203285 293102 8605003 300160 197968 178176 347560 343489",
        ),
    ],
)
def test_rows_by_eye(log: str, record: int, row: str) -> None:
    figures = _figures(_run(LOGS[log]))
    read = [figures[operation, "bandwidth", record, 2097152] for operation in OPERATIONS]
    assert [m.text for m in read] == row.split()
    assert [m.value for m in read] == [int(text) * 1024.0 for text in row.split()]


@pytest.mark.parametrize(
    ("log", "operation", "record", "percent"),
    [
        ("zfs-freebsd", "random_read", 16384, 50.72),
        ("zfs-freebsd", "write", 64, 6.19),
        ("zfs-freebsd", "record_rewrite", 8192, 99.32),
        ("ext4", "write", 256, 92.41),
        ("ext4", "freread", 16384, 100.00),
        ("btrfs", "read", 32, 67.37),
        ("btrfs", "fread", 1024, 98.37),
    ],
)
def test_cpu_by_eye(log: str, operation: str, record: int, percent: float) -> None:
    figure = _figures(_run(LOGS[log]))[operation, "cpu", record, 2097152]
    assert figure.value == pytest.approx(percent / 100, rel=1e-12)
    assert (figure.unit, figure.low, figure.high) == (
        "1",
        pytest.approx((percent - 0.005) / 100),
        pytest.approx((percent + 0.005) / 100),
    )


def test_a_figure_is_cut_off_and_not_rounded() -> None:
    figure = _figures(_run(LOGS["zfs-freebsd"]))["record_rewrite", "bandwidth", 128, 2097152]
    assert (figure.unit, figure.low, figure.high) == ("B/s", 9670310 * 1024.0, 9670311 * 1024.0)
    assert (figure.block_size, figure.file_size) == (131072, 2147483648)
    assert (figure.scope, figure.state, figure.line) == ("all", "measured", 37)


@pytest.mark.parametrize(
    ("log", "build", "direct", "began"),
    [
        ("ext4", "linux-AMD64", "true", datetime(2015, 11, 30, 1, 47, 40)),
        ("btrfs", "linux-AMD64", "true", datetime(2015, 11, 30, 2, 13, 32)),
        ("zfs-freebsd", "freebsd", "false", datetime(2015, 12, 1, 10, 36, 48)),
    ],
)
def test_what_the_header_says(log: str, build: str, direct: str, began: datetime) -> None:
    run = _run(LOGS[log])
    assert (run.tool, run.tool_version, run.started_at, run.status) == ("iozone", "3.434", began, "ok")
    assert _setting(run, "tool_build") == [build]
    assert _setting(run, "os") == []
    assert _setting(run, "direct") == [direct]
    assert _setting(run, "direct", "command") == ([direct] if direct == "true" else [])
    known = {
        "iozone.-y": "32768",
        "iozone.-q": "16777216",
        "iozone.-n": "2147483648",
        "iozone.-g": "2147483648",
        "iozone.-S": "1048576",
        "iozone.-L": "32",
        "iozone.time_resolution": "0.000001",
        "iozone.cpu_time_resolution": "0.000",
        "iozone.mode": "64 bit",
        "stride": "17",
    }
    assert {key: _setting(run, key)[0] for key in known} == known
    for key in ("iozone.-y", "iozone.-q", "iozone.-n", "iozone.-g", "iozone.-a", "iozone.-R", "iozone.-+u"):
        assert _setting(run, key) == _setting(run, key, "command")
    assert _setting(run, "directory", "command") == ["/data01/test"]


@pytest.mark.parametrize("log", LOGS)
def test_each_log_has_every_figure_once(log: str) -> None:
    run = _run(LOGS[log])
    counts = Counter((m.operation, m.metric, m.primary) for m in run.measurements)
    assert counts == Counter(
        {
            (operation, metric, primary): 10
            for operation in OPERATIONS
            for metric, primary in (("bandwidth", True), ("bandwidth", False), ("cpu", True))
        }
    )


def test_direct_io_does_not_reach_the_c_library() -> None:
    assert [_codes(LOGS[log]) for log in ("ext4", "btrfs", "zfs-freebsd")] == [["NOT_DIRECT"], ["NOT_DIRECT"], []]


@pytest.mark.parametrize("log", LOGS)
def test_the_run_is_the_whole_file(log: str) -> None:
    data = LOGS[log].encode()
    run = _run(LOGS[log])
    assert (run.start, run.line) == (0, 1)
    assert data[run.end :].strip() == b""


# Against a second reading


def _matrices(log: str) -> dict[tuple[str, int, int], str]:
    """Read all matrices after the table: title, record size, file size -> text."""
    found = {}
    title, records = "", [""]
    for line in log.partition("Excel output is below:")[2].splitlines():
        if "report" in line:
            title, records = line.split('"')[1].partition(" report")[0], []
        elif line.startswith(" "):
            records = line.replace('"', " ").split()
        elif line.startswith('"'):
            file_size, *cells = line.replace('"', " ").split()
            for record, cell in zip(records, cells, strict=False):
                found[title, int(record), int(file_size)] = cell
    return found


@pytest.mark.parametrize("log", [*LOGS, *LIVE])
def test_the_excel_report_says_what_the_table_says(log: str) -> None:
    chars = (LOGS | LIVE)[log]
    run = _run(chars)
    figures = _figures(run)
    seconds = _figures(run, primary=False)
    matrices = _matrices(chars)
    metric = {"ops": "iops", "microseconds": "latency"}.get(log, "bandwidth")
    for (title, record, file_size), text in matrices.items():
        operation = EXTENDED[TITLES.index(title.removesuffix(" CPU utilization"))]
        if title.endswith(" CPU utilization"):
            assert figures[operation, "cpu", record, file_size].text == text
        else:
            key = (operation, metric, record, file_size)
            assert figures[key].text == text
            assert key not in seconds or seconds[key].text == text
    assert len(matrices) == sum(m.metric == "cpu" for m in run.measurements) + (
        0 if "Excel output" not in chars else sum(m.metric == metric for m in run.measurements) - _cells(chars)
    )


def _cells(log: str) -> int:
    """Count the figures of the table, of which those of eight or nine digits run into the one before."""
    rows = (line.split() for line in log.partition("reclen")[2].splitlines())
    tables = (row[2:] for row in rows if row and all(word.isdigit() for word in row))
    return sum(_numbers_in(word) for row in tables for word in row)


def _numbers_in(word: str) -> int:
    """Count figures that run together; a 0 is one by itself."""
    after_zeros = word.lstrip("0")
    return len(word) - len(after_zeros) + (max(1, round(len(after_zeros) / 8)) if after_zeros else 0)


def test_a_second_printing_that_differs_is_named() -> None:
    damaged = LOGS["ext4"].replace('"2097152"   134418 ', '"2097152"   134419 ')
    (diagnostic,) = [d for d in _parse(damaged)[1] if d.code == "SECOND_PRINTING_DIFFERS"]
    assert diagnostic.message == "The table says 134418 on line 36, but the report says 134419."
    assert damaged.encode()[diagnostic.start : diagnostic.end].startswith(b'"2097152"   134419')
    assert _figures(_run(damaged))["write", "bandwidth", 32, 2097152].text == "134418"


def _unaccounted(chars: str, runs: list[Run], diagnostics: list[Diagnostic]) -> list[str]:
    """List the numbers of a log that are in no figure, size, setting or diagnostic."""
    by_line: dict[int, set[str]] = {}
    for run in runs:
        for m in run.measurements:
            sizes = {str(size // 1024) for size in (m.block_size, m.file_size) if size is not None}
            by_line.setdefault(m.line, set()).update({m.text}, sizes)
        for s in run.settings:
            words = set(re.findall(r"\d+(?:\.\d+)?", s.value))
            sizes = {str(int(size) // 1024) for size in s.value.split(",") if size.isdigit()}
            by_line.setdefault(s.line or 0, set()).update(words, sizes)
    left = []
    offset = 0
    for number, line in enumerate(chars.split("\n"), 1):
        # Read apart: the version and the date; the record sizes over a matrix, which its rows have as keys;
        # the command at the prompt, which the log repeats; the second and further -s or -r.
        apart = r'Version \$Revision|Run began|^ +"\d|^\[?root@|File size set|Record Size'
        for match in re.finditer(r"\d+(?:\.\d+)?", line):
            at = offset + len(line[: match.start()].encode())
            covered = any((d.start or 0) <= at < (d.end or 0) for d in diagnostics)
            if not covered and match[0] not in by_line.get(number, set()) and not re.search(apart, line):
                left.append(f"{number}: {match[0]}")
        offset += len(f"{line}\n".encode())
    return left


@pytest.mark.parametrize("log", [*LOGS, *LIVE])
def test_no_number_is_dropped(log: str) -> None:
    chars = (LOGS | LIVE)[log]
    assert _unaccounted(chars, *_parse(chars)) == []


def test_the_account_of_numbers_can_fail() -> None:
    runs, diagnostics = _parse(LOGS["ext4"])
    less = replace(runs[0], measurements=runs[0].measurements[1:], settings=runs[0].settings[1:])
    assert _unaccounted(LOGS["ext4"], [less], diagnostics) == ["4: 64", "36: 134418"]


# Dialects that iozone 3.489 printed here


def test_operations_per_second() -> None:
    figures = _figures(_run(LIVE["ops"]))
    figure = figures["backward_read", "iops", 64, 4096]
    assert (figure.text, figure.value, figure.unit) == ("161629", 161629.0, "1/s")
    assert (figure.low, figure.high) == (161629.0, 161630.0)
    assert {key[0] for key in figures} == {"write", "rewrite", "random_read", "random_write", "backward_read"}
    assert _setting(_run(LIVE["ops"]), "block_size") == ["4096,65536"]
    assert _setting(_run(LIVE["ops"]), "block_size", "command") == ["4096,65536"]


def test_microseconds_per_operation() -> None:
    figures = _figures(_run(LIVE["microseconds"]))
    figure = figures["write", "latency", 8, 4096]
    assert (figure.statistic, figure.text, figure.value, figure.unit) == ("mean", "3", pytest.approx(3e-6), "s")
    assert (figure.low, figure.high) == (pytest.approx(3e-6), pytest.approx(4e-6))
    below = figures["random_read", "latency", 4, 4096]
    assert (below.state, below.value, below.low, below.high) == ("censored", None, None, 1e-6)


def test_tests_that_did_not_run_are_missing() -> None:
    figures = _figures(_run(LIVE["no-retest"]))
    states = {key[:2]: (m.state, m.value, m.low, m.high) for key, m in figures.items()}
    nothing = ("missing", None, None, None)
    assert states["rewrite", "bandwidth"] == states["reread", "bandwidth"] == nothing
    assert states["rewrite", "cpu"] == states["reread", "cpu"] == nothing
    assert states["write", "bandwidth"] == ("measured", 4404184 * 1024.0, 4404184 * 1024.0, 4404185 * 1024.0)
    assert states["read", "cpu"][0] == "measured"
    in_report = _figures(_run(LIVE["mmap-cpu"]))
    assert in_report["fwrite", "bandwidth", 4, 4096].state == "missing"
    assert in_report["record_rewrite", "bandwidth", 8, 4096].text == "163921140"


def test_a_rate_of_0_is_below_1() -> None:
    log = LOGS["ext4"].replace("  2097152      32   134418", "  2097152      32        0")
    figure = _figures(_run(log))["write", "bandwidth", 32, 2097152]
    assert (figure.state, figure.value, figure.low, figure.high) == ("censored", None, None, 1024.0)


def test_extended_tests_and_their_options() -> None:
    run = _run(LIVE["extended"])
    figures = _figures(run)
    assert [figures[o, "bandwidth", 4, 4096].text for o in ("pwrite", "repwrite", "pread", "repread")] == [
        "1027331",
        "1416802",
        "804722",
        "1025553",
    ]
    assert len(figures) == 17
    assert _setting(run, "iozone.-e") == _setting(run, "iozone.-c") == ["true"]


def test_columns_that_were_left_out_stay_empty() -> None:
    figures = _figures(_run(LIVE["direct"]))
    assert {key[0] for key in figures} == {"write", "rewrite", "fwrite", "frewrite"}
    assert figures["frewrite", "bandwidth", 64, 128].text == "14200794"
    assert figures["fwrite", "bandwidth", 128, 128].text == "303350"
    assert ("write", "bandwidth", 128, 64) not in figures
    assert _codes(LIVE["direct"]) == ["NOT_DIRECT"]


def test_an_interrupted_run_is_partial() -> None:
    run = _run(LIVE["interrupted"])
    assert run.status == "partial"
    assert {(m.operation, m.state) for m in run.measurements} == {("write", "missing"), ("rewrite", "missing")}
    assert _codes(LIVE["interrupted"]) == ["INCOMPLETE_LOG", "INCOMPLETE_LOG"]


def test_the_machine_line_names_host_and_kernel() -> None:
    header = "\n\tMachine = Linux tub 6.1.0-9-amd64 #1 SMP Debian 6.1.27-1 x86_64 GNU/Linux\n\tAuto Mode\n"
    run = _run(LIVE["ops"].replace("\n\tAuto Mode\n", header))
    assert (run.host, _setting(run, "kernel")) == ("tub", ["6.1.0-9-amd64"])
    assert len(run.measurements) == 20


# Damage


TABLE = LOGS["ext4"].partition("iozone test complete.")[0] + "iozone test complete.\n"


def _blank(column: int) -> str:
    """Return the log with one column blank in all rows."""
    lines = TABLE.split("\n")
    start = 24 if column == 0 else ENDS[column - 1]
    for number, line in enumerate(lines):
        if re.match(r" +2097152 ", line):
            lines[number] = line[:start] + " " * (ENDS[column] - start) + line[ENDS[column] :]
    return "\n".join(lines)


@pytest.mark.parametrize("column", range(13))
def test_a_blank_column_shifts_no_other(column: int) -> None:
    whole = {key: m.text for key, m in _figures(_run(TABLE)).items()}
    left = {key: m.text for key, m in _figures(_run(_blank(column))).items()}
    assert left == {key: text for key, text in whole.items() if key[0] != OPERATIONS[column]}
    assert len(left) == 120


@pytest.mark.parametrize("log", LOGS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_log_that_is_cut_has_no_other_figures(log: str, data: st.DataObject) -> None:
    lines = LOGS[log].split("\n")
    first = data.draw(st.integers(0, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    whole = {(key, m.text) for key, m in _figures(_run(LOGS[log])).items()}
    runs, _ = _parse("\n".join(lines[first:last]))
    for run in runs:
        for primary in (True, False):
            assert {(key, m.text) for key, m in _figures(run, primary=primary).items()} <= whole


@settings(max_examples=50, deadline=None)
@given(
    log=st.sampled_from([*LOGS.values(), *LIVE.values()]),
    spot=st.integers(0, 9000),
    length=st.integers(0, 200),
    junk=st.text('0123456789 \n\t".$:[]#kBreln%é', max_size=20),
)
def test_damage_is_never_an_exception(log: str, spot: int, length: int, junk: str) -> None:
    damaged = log[:spot] + junk + log[spot + length :]
    size = len(damaged.encode())
    for record in iozone.parse(Text(damaged)):
        assert isinstance(record, Run | Diagnostic)
        assert 0 <= (record.start or 0) < (record.end or 0) <= size


@pytest.mark.parametrize("length", [13, 400, 5000])
def test_sizes_that_are_none_are_unread(length: int) -> None:
    row = f"{'9' * length:>16}{'4':>8}{'1':>9}"
    assert "UNREAD_FIGURE" in _codes(TABLE.replace("\n\niozone test", f"\n{row}\n\niozone test"))


def test_lost_spacing_is_read_by_order_where_every_column_is_full() -> None:
    squeezed = re.sub(r"[ \t]+", " ", LOGS["ext4"])
    assert {(k, m.text) for k, m in _figures(_run(squeezed)).items()} == {
        (k, m.text) for k, m in _figures(_run(LOGS["ext4"])).items()
    }
    assert sorted(_codes(squeezed)) == ["NOT_DIRECT", "REPAIRED"]


def test_lost_spacing_with_an_empty_column_is_not_guessed_at() -> None:
    squeezed = re.sub(r"[ \t]+", " ", _blank(4))
    assert _figures(_run(squeezed)) == {}
    assert _codes(squeezed).count("UNREAD_FIGURE") == 10
    assert _run(squeezed).status == "partial"


@pytest.mark.parametrize("indent", [str.lstrip, lambda line: f"    {line}"], ids=["none", "more"])
def test_another_indent_changes_nothing(indent: Callable[[str], str]) -> None:
    moved = "\n".join(map(indent, _blank(4).split("\n")))
    assert {k: m.text for k, m in _figures(_run(moved)).items()} == {
        k: m.text for k, m in _figures(_run(_blank(4))).items()
    }
    assert _codes(moved) == ["NOT_DIRECT"]


def test_figures_that_run_together_are_told_apart_by_their_columns() -> None:
    row = "         2097152      32   134418   137172   375562   384119    86187"
    wide = "         2097152      32   134418   137172   375562   384119123456789"
    figures = _figures(_run(TABLE.replace(row, wide)))
    assert figures["reread", "bandwidth", 32, 2097152].text == "384119"
    assert figures["random_read", "bandwidth", 32, 2097152].text == "123456789"
    assert figures["random_write", "bandwidth", 32, 2097152].text == "136983"


def test_figures_that_overrun_their_column_are_not_guessed_at() -> None:
    row = "         2097152      32   134418   137172   375562   384119    86187"
    wide = "         2097152      32   134418   137172   375562   3841191234567890"
    log = TABLE.replace(row, wide)
    assert "UNREAD_FIGURE" in _codes(log)
    assert not [key for key in _figures(_run(log)) if key[2] == 32]


def test_a_row_that_ends_inside_a_figure_is_unread() -> None:
    cut = LOGS["ext4"].partition("  1439198  4670778  5244898")[0] + "  1439198  4670778  5244"
    assert _codes(cut) == ["UNREAD_FIGURE", "INCOMPLETE_LOG", "NOT_DIRECT"]
    assert not [key for key in _figures(_run(cut)) if key[2] == 16384]


def test_a_row_that_is_longer_than_its_heading_is_unread() -> None:
    log = TABLE.replace("   fwrite frewrite    fread  freread", "   fwrite frewrite    fread")
    assert _figures(_run(log)) == {}
    assert _codes(log).count("UNREAD_FIGURE") == 10


def test_a_report_row_that_is_longer_than_its_heading_is_unread() -> None:
    log = LOGS["ext4"].replace('"32"  "64"  "128"', '"64"  "128"', 1)
    (diagnostic,) = [d for d in _parse(log)[1] if d.code == "UNREAD_FIGURE"]
    assert diagnostic.line == 52
    assert len(_figures(_run(log), primary=False)) == 120


def test_a_row_with_a_message_inside_is_unread() -> None:
    log = TABLE.replace("   134418   137172 ", "   134418[ 12.3] usb 1-1: reset 137172 ")
    (diagnostic,) = [d for d in _parse(log)[1] if d.code == "UNREAD_FIGURE"]
    assert diagnostic.line == 36
    assert not [key for key in _figures(_run(log)) if key[2] == 32]
    assert len(_figures(_run(log))) == 117


def test_an_unknown_heading_is_not_guessed_at() -> None:
    log = TABLE.replace("   fwrite frewrite", " frewrite   fwrite")
    assert _figures(_run(log)) == {}
    log = TABLE.replace("random    random     bkwd    record", "random    random   record      bkwd")
    assert _figures(_run(log)) == {}


def test_a_date_in_another_language_is_none_and_named() -> None:
    log = TABLE.replace("Mon Nov 30 01:47:40 2015", "Mo 30. Nov 01:47:40 CET 2015")
    assert _run(log).started_at is None
    assert "UNREAD_FIGURE" in _codes(log)
    assert _run(TABLE.replace("Nov 30 01", "Nov 31 01")).started_at is None


def test_without_its_header_a_log_does_not_know_about_direct_io() -> None:
    table = LOGS["zfs-freebsd"].partition("stride size set to 17 * record size.\n")[2]
    run = _run(table)
    assert (_setting(run, "direct"), run.status) == ([], "ok")
    assert len(_figures(run)) == 260
    (diagnostic,) = _parse(table)[1]
    assert (diagnostic.code, diagnostic.line) == ("UNIT_ASSUMED", 1)
    assert "kBytes/sec" in diagnostic.message


def test_a_log_that_stops_early_is_partial() -> None:
    lines = LOGS["ext4"].split("\n")
    run = _run("\n".join(lines[:40]))
    assert run.status == "partial"
    assert len(_figures(run)) == 13 * 5
    assert "INCOMPLETE_LOG" in _codes("\n".join(lines[:40]))


def test_a_report_without_its_table_holds_the_figures() -> None:
    report = LOGS["ext4"].partition("Excel output is below:")[2]
    run = _run(report)
    assert _figures(run, primary=False) == {}
    assert _figures(run)["freread", "bandwidth", 64, 2097152].text == "8586657"


def test_several_runs_in_one_file() -> None:
    both = LOGS["ext4"] + LOGS["zfs-freebsd"]
    runs, _ = _parse(both)
    assert [(len(_figures(run)), run.line) for run in runs] == [(260, 1), (260, 153)]
    assert both.encode()[runs[1].start :].startswith(b"root@:~/iozone3_434")
    report = LOGS["ext4"].partition("Excel output is below:")[2]
    assert [len(_figures(run)) for run in _parse(report + both)[0]] == [260, 260, 260]
    tables = TABLE.partition("record size.\n")[2]
    assert len(_parse(tables + tables)[0]) == 2


def test_another_command_at_the_prompt_is_named() -> None:
    log = LOGS["ext4"].replace("./iozone -Ra -I", "./iozone -Ra", 1)
    assert "SETTINGS_DISAGREE" in _codes(log)
    assert _setting(_run(log), "direct", "command") == ["true"]
    assert _codes(LOGS["ext4"].replace("/data01/test.wks\n", "/data01/test.wks > log.txt\n", 1)) == ["NOT_DIRECT"]


def test_a_line_that_is_printed_twice_counts_once() -> None:
    """iozone 3.489 does so with -M."""
    line = "\tCPU utilization Resolution = 0.000 seconds.\n"
    log = LIVE["mmap-cpu"].replace(line, line * 2)
    assert _setting(_run(log), "iozone.cpu_time_resolution") == ["0.000"]


def test_the_older_layout() -> None:
    """3.3xx has narrower columns, and says KB."""
    log = (
        "\tOutput is in Kbytes/sec\n"
        "\tProcessor cache size set to 512 Kbytes.\n"
        "                                                            random  random    bkwd   record   stride\n"
        "              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read"
        "   fwrite frewrite   fread  freread\n"
        "              64       4  211111  322222   433333   544444  655555  766666  877777   988888   199999"
        "  1000001  1000002 1000003  1000004\n"
        "              64       8                                    65555518766666                          "
        "  1000001  1000002                 \n"
    )
    figures = _figures(_run(log))
    assert [figures[o, "bandwidth", 4, 64].text for o in OPERATIONS] == [
        *("211111", "322222", "433333", "544444", "655555", "766666", "877777", "988888", "199999"),
        *("1000001", "1000002", "1000003", "1000004"),
    ]
    assert {key[0]: m.text for key, m in figures.items() if key[2] == 8} == {
        "random_read": "655555",
        "random_write": "18766666",
        "fwrite": "1000001",
        "frewrite": "1000002",
    }
    assert _setting(_run(log), "iozone.-S") == ["524288"]


# Against the tool itself, and other people's logs


@pytest.mark.skipif(shutil.which("iozone") is None, reason="iozone is not installed")
@pytest.mark.parametrize(
    "mode",
    [
        "-O -+u -i 0 -i 2 -i 7",
        *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("", "-N", "-+u", "-B", "-E", "-+n", "-I")),
    ],
)
def test_what_iozone_prints_here(tmp_path: Path, mode: str) -> None:
    # Smaller files would be read at over 100 GB/s by some processors, and so long figures run together.
    options = f"-a -n 512 -g 1024 -R {mode} -f iozone.tmp"
    log = subprocess.run(
        ["iozone", *options.split()], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    run = _run(log)
    assert run.status == "ok"
    assert set(_codes(log)) <= {"QUALIFIED", "NOT_DIRECT"}
    began = re.search(r"Run began: (.*)", log)
    assert began is not None
    assert run.started_at == datetime.strptime(began[1], "%a %b %d %H:%M:%S %Y")
    metric = "iops" if "-O" in mode else "latency" if "-N" in mode else "bandwidth"
    figures, again = _figures(run), _figures(run, primary=False)
    matrices = _matrices(log)
    for (title, record, file_size), text in matrices.items():
        operation = EXTENDED[TITLES.index(title.removesuffix(" CPU utilization"))]
        if title.endswith("utilization"):
            assert figures[operation, "cpu", record, file_size].text == text
        elif (operation, metric, record, file_size) in figures:  # -B fills reports of tests that it leaves out
            assert figures[operation, metric, record, file_size].text == text
            if text != "0":
                assert again[operation, metric, record, file_size].text == text
    assert len(run.measurements) == len(matrices) + _cells(log)


CORPUS = Path(os.environ.get("FSBENCH_CORPUS", "/nonexistent")) / "iozone"


@pytest.mark.skipif(not CORPUS.is_dir(), reason="FSBENCH_CORPUS names no folder with iozone logs")
def test_other_peoples_logs_lose_no_number() -> None:
    for path in sorted([*CORPUS.glob("auto/*"), *CORPUS.glob("excel/*"), *CORPUS.glob("other/*")]):
        log = path.read_text()
        assert list(iozone.signatures(log)), path
        runs, diagnostics = _parse(log)
        assert runs, path
        assert _unaccounted(log, runs, diagnostics) == [], path
