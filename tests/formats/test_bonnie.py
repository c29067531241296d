"""Expected figures are written from the logs by eye, or come from another printing of the same run."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fsbench_kit.documents import read_document
from fsbench_kit.formats import FORMATS, bonnie
from fsbench_kit.formats.bonnie.phases import PHASES
from fsbench_kit.model.records import Diagnostic, Measurement, Run
from tests.formats.reading import Reading
from tests.growth import is_linear

DATA = Path(__file__).parents[1] / "data" / "bonnie"
LOGS = {
    path.stem: path.read_text(encoding="utf-8") for path in sorted(DATA.glob("*.[tc]*")) if "page" not in path.name
}
KIB, MIB, GIB = 2**10, 2**20, 2**30

INSTALLED = pytest.mark.skipif(shutil.which("bonnie++") is None, reason="bonnie++ is not installed")


READING = Reading(bonnie)
records = READING.records
runs = READING.runs
run_of = READING.run_of
codes = READING.codes


def figures(run: Run, *, primary: bool = True) -> dict[tuple[str, str], Measurement]:
    found = [m for m in run.measurements if m.primary == primary]
    by_key = {(m.operation, m.metric): m for m in found}
    assert len(by_key) == len(found)
    return by_key


def rates(run: Run) -> dict[str, float | str]:
    """Return the rate of each phase, in the unit of the CSV line, or why there is none."""
    found = {}
    for (operation, metric), m in figures(run).items():
        if metric in {"bandwidth", "iops", "file_rate"}:
            found[operation] = m.state if m.value is None else m.value / (KIB if metric == "bandwidth" else 1)
    return found


def values(run: Run, metric: str) -> dict[str, float | None]:
    return {key[0]: m.value for key, m in figures(run).items() if key[1] == metric}


def settings(run: Run) -> dict[str, str]:
    return {item.key: item.value for item in run.settings}


def by_phase(*items: float | str | None) -> dict[str, float | str]:
    return {name: item for name, item in zip(PHASES, items, strict=False) if item is not None}


CUT = "censored"
NEW_RATES = by_phase(651, 101525, 61141, 1072, 66183, 393.0, 18315, CUT, CUT, 29574, CUT, 999)
EXPECTED: dict[str, list[dict[str, float | str]]] = {
    "1.03e-report": [
        by_phase(41230, 152311, 24877, 40112, 61230, 1234.6, 2345, CUT, 3456, 2400, CUT, 999),
    ],
    "1.03e-chunk-and-sizes": [by_phase(None, 152311, 24877, None, 61230, 1235, 2345, CUT, 3456, 2400, CUT, 999)],
    "1.96-report": [NEW_RATES],
    "1.97-report": [NEW_RATES],
    "1.97-concurrency-chunk-sizes": [
        {name: rate for name, rate in NEW_RATES.items() if not name.endswith("_char")},
    ],
    "1.98-report": [{**NEW_RATES, "rewrite": 1468006, "read": 745124}],
    "2.00a-report": [by_phase(824, 128633, 111797, 1864, 318524, CUT, 112, CUT, 118, 99, CUT, 112)],
    "2.00a-fast-no-files": [by_phase(None, 111305, 58492, None, 123078, CUT)],
    "2.00a-two-runs": [
        by_phase(1969, CUT, CUT, 3668, CUT, CUT, 392, CUT, 1530, 316, CUT, CUT),
        by_phase(1501, CUT, CUT, 2047, CUT, CUT, 171, CUT, CUT, CUT, CUT, CUT),
    ],
    "2.00a-two-machines": [
        by_phase(1969, CUT, CUT, 3668, CUT, CUT, 392, CUT, 1530, 316, CUT, CUT),
        by_phase(None, CUT, CUT, None, CUT, CUT),
    ],
    "2.00a-no-space": [{}],
    "2.00a-csv2txt-three-runs": [
        by_phase(824, 126 * KIB, 109 * KIB, 1864, 311 * KIB, CUT, 112, CUT, 118, 99, CUT, 112),
        by_phase(1969, CUT, CUT, 3668, CUT, CUT, 392, CUT, 1530, 316, CUT, CUT),
        by_phase(1501, CUT, CUT, 2047, CUT, CUT, 171, CUT, CUT, CUT, CUT, CUT),
    ],
    "2.00a-csv2txt-run-without-files": [
        by_phase(824, 126 * KIB, 109 * KIB, 1864, 311 * KIB, CUT),
        by_phase(None, 109 * KIB, 57.1 * KIB, None, 120 * KIB, CUT),
        by_phase(1969, CUT, CUT, 3668, CUT, CUT),
        by_phase(1501, CUT, CUT, 2047, CUT, CUT),
        by_phase(*[None] * 6, 112, CUT, 118, 99, CUT, 112),
        by_phase(*[None] * 6, 392, CUT, 1530, 316, CUT, CUT),
        by_phase(*[None] * 6, 171, CUT, CUT, CUT, CUT, CUT),
    ],
}


def test_every_log_of_the_tests_is_expected() -> None:
    assert EXPECTED.keys() == LOGS.keys()
    assert bonnie in FORMATS


@pytest.mark.parametrize("log", EXPECTED)
def test_all_rates(log: str) -> None:
    assert [rates(run) for run in runs(LOGS[log])] == [pytest.approx(expected) for expected in EXPECTED[log]]


def test_cpu_shares_latencies_and_settings() -> None:
    run = run_of(LOGS["1.97-report"])
    cpu = by_phase(0.95, 0.14, 0.11, 0.99, 0.05, 1.12, 0.80, None, None, 0.79, None, 0.12)
    assert {name: value for name, value in values(run, "cpu").items() if value is not None} == pytest.approx(cpu)
    assert figures(run)["random_stat", "cpu"].state == "missing"
    latencies = by_phase(0.013211, 1.992, 2.372, 0.098765, 120, 0.289)
    latencies |= dict(zip(list(PHASES)[6:], (12265e-6, 804e-6, 541e-6, 837e-6, 170e-6, 3.105), strict=True))
    assert values(run, "phase_latency") == pytest.approx(latencies)
    assert settings(run) == {"file_size": str(5 * GIB), "files": "16384", "threads": "1", "seed": "1576316721"}
    assert (run.tool_version, run.host, run.status, run.line) == ("1.97", "newbox", "ok", 1)


def test_all_that_a_size_can_say() -> None:
    of_files = {
        "bonnie++.largest-file": "1024",
        "bonnie++.smallest-file": "512",
        "bonnie++.directories": "10",
        "files": "16384",
    }
    assert settings(run_of(LOGS["1.03e-chunk-and-sizes"])) == of_files | {
        "file_size": str(2 * GIB),
        "block_size": str(256 * KIB),
    }
    new = run_of(LOGS["1.97-concurrency-chunk-sizes"])
    assert settings(new) == of_files | {
        "file_size": str(5 * GIB),
        "block_size": str(64 * KIB),
        "threads": "4",
        "seed": "1576316721",
    }
    assert {m.threads for m in new.measurements} == {4}
    assert figures(new)["write", "bandwidth"].file_size == 5 * GIB
    text = LOGS["2.00a-report"].replace("box 300M:256::20000", "  300M:256:4:2k:7  ")
    text = "".join(text.splitlines(keepends=True)[:-1])
    assert {key: settings(run_of(text))[key] for key in ("threads", "bonnie++.seeks", "bonnie++.seekers")} == {
        "threads": "4",
        "bonnie++.seeks": "2k",
        "bonnie++.seekers": "7",
    }


def test_a_censored_rate_is_above_the_work_in_half_a_second() -> None:
    found = figures(runs(LOGS["2.00a-two-runs"])[0])
    bounds = {
        "write": 64 * MIB / 0.5,
        "seek": 8192 / 0.5,
        "sequential_stat": 1024 / 0.5,
    }
    for name, low in bounds.items():
        assert (found[name, METRICS[name]].low, found[name, METRICS[name]].high) == (low, None)
    old = LOGS["1.03e-report"].replace("41230,98", "+++++,+++").replace("41230  98", "+++++ +++")
    assert figures(run_of(old))["write_char", "bandwidth"].low == 4 * GIB / 0.5  # in 1.03 it writes the whole file
    new = LOGS["1.97-report"].replace(",651,95,", ",+++++,+++,").replace("  651  95", "+++++ +++")
    assert figures(run_of(new))["write_char", "bandwidth"].low is None


METRICS = dict(PHASES)


@pytest.mark.parametrize(
    ("change", "state", "high"),
    [("0,0", "censored", KIB), ("-2147483648,-2147483648", "missing", None), ("-nan,-nan", "missing", None)],
)
def test_what_is_no_rate(change: str, state: str, high: float | None) -> None:
    line = LOGS["1.97-report"].splitlines()[-1].replace("101525,14", change)
    rate = figures(run_of(line))["write", "bandwidth"]
    assert (rate.state, rate.value, rate.high) == (state, None, high)


TWO_PRINTINGS = [log for log in LOGS if re.search(r"(?m)^[^ ]+,\w+", LOGS[log]) and "Version" in LOGS[log]]


@pytest.mark.parametrize("log", TWO_PRINTINGS)
def test_the_text_says_what_the_csv_line_says(log: str) -> None:
    *text, line = LOGS[log].splitlines(keepends=True)
    both, printed, exported = run_of(LOGS[log]), run_of("".join(text)), run_of(line)
    # two fields of the CSV line are not in the text, and 1.03 has no version in the line
    assert rates(both) == rates(exported)
    assert not {"SECOND_PRINTING_DIFFERS", "UNREAD_FIGURE"} & set(codes(LOGS[log]))
    assert figures(printed).keys() == figures(exported).keys()
    for key, figure in figures(printed).items():
        other = figures(exported)[key]
        assert (figure.file_size, figure.threads, figure.unit) == (other.file_size, other.threads, other.unit)
        if figure.state == other.state == "measured":
            assert figure.low <= other.high
            assert other.low <= figure.high
        elif key[1] == "file_rate" and printed.tool_version >= "1.98" and other.state == "measured":
            assert figure.state == "missing"  # the text has another number there
        else:
            assert figure.state == other.state
    repeats = figures(both, primary=False)
    assert repeats.keys() == figures(both).keys()


def test_the_rates_of_files_that_98_prints_as_text_are_none() -> None:
    chars = LOGS["1.98-report"]
    text = "".join(chars.splitlines(keepends=True)[:-1])
    rate = figures(run_of(text))["sequential_create", "file_rate"]
    assert (rate.state, rate.value, rate.text) == ("missing", None, "16384")
    assert codes(text) == codes(chars) == ["WRONG_FIGURE"]
    assert figures(run_of(text))["sequential_create", "cpu"].value == 0.80
    assert "WRONG_FIGURE" not in codes(LOGS["2.00a-two-machines"])  # which bon_csv2txt prints


def test_whose_files_a_row_is_of_where_a_run_of_the_same_name_had_none() -> None:
    assert codes(LOGS["2.00a-csv2txt-three-runs"]) == []
    assert codes(LOGS["2.00a-csv2txt-run-without-files"]) == ["AMBIGUOUS_RUNS"] * 3


def test_rates_with_a_suffix() -> None:
    text = "".join(LOGS["1.98-report"].splitlines(keepends=True)[:-1])
    found = figures(run_of(text))
    expected = {"write_char": (651, 652, KIB), "write": (99.05, 99.15, MIB), "rewrite": (1.35, 1.45, GIB)}
    for name, (low, high, unit) in expected.items():
        figure = found[name, "bandwidth"]
        assert (figure.low, figure.high) == pytest.approx((low * unit, high * unit))
    without = text.replace(" 651k", "  651")  # of which unit?
    assert figures(run_of(without))["write_char", "bandwidth"].state == "missing"


def test_printings_that_contradict_each_other() -> None:
    chars = LOGS["1.97-report"].replace(
        "1.97,newbox,1,1576316721,5G,,651,95,101525", "1.97,newbox,1,1,5G,,651,95,1"
    )
    assert rates(run_of(chars))["write"] == 1
    assert codes(chars) == ["SECOND_PRINTING_DIFFERS"]
    chars = LOGS["1.97-report"].replace(",5G,,651,95,", ",5G,,+++++,+++,")
    assert codes(chars) == ["SECOND_PRINTING_DIFFERS"] * 2


@pytest.mark.parametrize(
    ("printed", "changed"),
    [("Concurrency   4", "Concurrency   6"), ("5G:64k", "5G:84k"), ("16:1024:512/10", "96:1024:512/10")],
)
def test_printings_that_contradict_each_other_on_a_setting(printed: str, changed: str) -> None:
    chars = LOGS["1.97-concurrency-chunk-sizes"]
    assert codes(chars) == []
    assert codes(chars.replace(printed, changed)) == ["SETTINGS_DISAGREE"]
    of_the_line = settings(run_of(chars))
    assert settings(run_of(chars.replace(printed, changed))) == of_the_line


def test_a_row_has_one_row_of_latencies() -> None:
    *_, latencies, rest = LOGS["1.97-report"].rpartition("Latency ")
    first, line = LOGS["1.97-report"].split("289ms\n")[0] + "289ms\n", latencies + rest
    assert codes(first) == []
    assert codes(first + line.splitlines()[0] + "\n") == ["UNREAD_FIGURE"]


def test_runs_that_differ_stay_apart() -> None:
    old, new = LOGS["1.03e-report"], LOGS["1.97-report"]
    assert [run.tool_version for run in runs(old + new + old)] == ["1.03e", "1.97", "1.03e"]


def test_a_line_right_below_a_table_that_says_all_else() -> None:
    *table, line = LOGS["1.97-report"].splitlines(keepends=True)
    other = re.sub(r"(?<=,)\d+(?=[,um])", lambda number: str(3 * int(number[0])), line)
    both = "".join(table) + other.replace(",15G,", ",5G,")
    assert rates(run_of(both))["write"] == 304575
    assert codes(both).count("SECOND_PRINTING_DIFFERS") > 20
    apart = "".join(table) + "\nand on another day:\n" + other
    assert [rates(run)["write"] for run in runs(apart)] == [101525, 304575]
    assert "SECOND_PRINTING_DIFFERS" not in codes(apart)
    other_machine = "".join(table) + other.replace("newbox", "another")
    assert [rates(run)["write"] for run in runs(other_machine)] == [101525, 304575]
    assert codes(other_machine) == ["SECOND_PRINTING_DIFFERS"]


def test_tables_of_two_runs_then_their_lines() -> None:
    *table, line = LOGS["1.97-report"].splitlines(keepends=True)
    tables = ["".join(table), "".join(table).replace("101525", "111111")]
    lines = [line, line.replace("101525", "111111")]
    found = runs("".join(tables + lines))
    assert [rates(run)["write"] for run in found] == [101525, 111111]
    assert all(figures(run, primary=False) for run in found)


# Damage


def without(chars: str, *words: str) -> str:
    return "\n".join(line for line in chars.splitlines() if not any(word in line for word in words)) + "\n"


MANGLINGS: dict[str, Callable[[str], str]] = {
    "newlines to spaces": lambda chars: chars.replace("\n", " "),
    "one space": lambda chars: re.sub(r" +", " ", chars),
    "no indentation": lambda chars: re.sub(r"(?m)^ +", "", chars),
    "indented": lambda chars: re.sub(r"(?m)^", "    ", chars),
    "blank lines": lambda chars: chars.replace("\n", "\n\n"),
    "carriage returns": lambda chars: chars.replace("\n", "\r\n"),
    "no-break spaces": lambda chars: chars.replace(" ", "\u00a0"),
}


OF_SEVERAL_MACHINES = {log for log in LOGS if "csv2txt" in log} | {"2.00a-two-machines"}
"""Tables in which the name of a machine stands on its row alone."""


@pytest.mark.parametrize("mangling", MANGLINGS)
def test_mangling_changes_no_rate(mangling: str) -> None:
    for log in sorted(LOGS.keys() - OF_SEVERAL_MACHINES - {"2.00a-no-space"}):
        chars, expected = MANGLINGS[mangling](LOGS[log]), EXPECTED[log]
        if log == "1.03e-chunk-and-sizes" and mangling == "one space":
            # two phases are missing from a row, and nothing tells which
            expected = [{k: v for k, v in expected[0].items() if PHASES[k] == "file_rate"}]
            assert codes(chars) == ["UNREAD_FIGURE"]
        assert [rates(run) for run in runs(chars)] == [pytest.approx(of_run) for of_run in expected], log


FAST = """\
Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   4     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
{row}
Latency                        1992ms    2372ms              1200ms     289ms
"""
FAST_RATES = by_phase(None, 1108834, 50598, None, 204522, 393.0)


@pytest.mark.parametrize(
    "row",
    [
        "mybox          16G           1108834  25 50598  11           204522   9 393.0   4",
        "16G           1108834  25 50598  11           204522   9 393.0   4",
        "my           16G           1108834  25 50598  11           204522   9 393.0   4",
        "mybox          16G           **1108834**  25 50598  11           <b>204522</b>   9 393.0   4",
    ],
)
def test_blank_cells_are_told_by_the_blanks_before_a_cell(row: str) -> None:
    assert rates(run_of(FAST.format(row=row))) == pytest.approx(FAST_RATES)
    assert values(run_of(FAST.format(row=row)), "phase_latency") == pytest.approx(
        by_phase(None, 1.992, 2.372, None, 1.2, 0.289)
    )


def test_blank_cells_are_told_by_the_headings_where_the_size_was_moved() -> None:
    row = "16G                           108834  25 50598  11           204522   9 393.0   4"
    assert rates(run_of(FAST.format(row=row))) == {}
    row = "16G                           10883  25 50598  11           20452   9 393.0   4"
    assert rates(run_of(FAST.format(row=row))) == by_phase(None, 10883, 50598, None, 20452, 393.0)


@pytest.mark.parametrize(
    "row",
    [
        "mybox 16G 108834 25 50598 11 204522 9 393.0 4",
        "mybox          16G           108834  25 50598  11           204522   9 393.0",
        "mybox          16G           108834  25 50598                204522   9 393.0   4",
        "mybox          16G  108834  25 50598  11  204522   9  393.0   4",
        "mybox          16G 1 108834  25 50598  11  1 1 1 1 204522   9  393.0   4 5",
    ],
)
def test_what_cannot_be_told_is_lost_and_said(row: str) -> None:
    chars = FAST.format(row=row)
    assert [rates(run) for run in runs(chars)] in ([], [{}])
    assert all(run.status == "partial" for run in runs(chars))
    assert "UNREAD_FIGURE" in codes(chars)


def test_a_name_that_touches_the_size() -> None:
    chars = LOGS["1.97-report"].replace("newbox           5G", "newbox5G")
    assert settings(run_of(chars))["file_size"] == str(5 * GIB)  # from the CSV line
    assert rates(run_of(chars)) == NEW_RATES
    text = "".join(chars.splitlines(keepends=True)[:-1])
    assert settings(run_of(text))["file_size"] == str(5 * GIB)
    assert (run_of(text).host, rates(run_of(text))) == ("newbox", NEW_RATES)
    assert codes(text) == ["REPAIRED"]


@pytest.mark.parametrize(
    ("name", "known", "size"),
    [
        ("newbox1", "newbox1", 32184),  # from the heading over the files
        ("newbox1", "newbox12", None),  # newbox1 and 32184M, or newbox and 132184M?
    ],
)
def test_a_name_with_digits_that_touches_the_size(name: str, known: str, size: int | None) -> None:
    chars = LOGS["1.97-report"].replace("newbox           5G", f"{name}32184M")
    text = "".join(chars.splitlines(keepends=True)[:-1]).replace("\nnewbox ", f"\n{known} ")
    assert settings(run_of(text)).get("file_size") == (None if size is None else str(size * MIB))
    assert rates(run_of(text)) == NEW_RATES
    assert codes(text) == ["UNREAD_FIGURE" if size is None else "REPAIRED"]


def test_the_size_in_the_csv_line_parts_it_from_the_name() -> None:
    chars = LOGS["1.97-report"].replace("newbox           5G", "newbox132184M")
    chars = chars.replace("newbox,1,1576316721,5G", "newbox1.example.org,1,1576316721,32184M")
    chars = chars.replace("\nnewbox             ", "\nnewbox1.example.org")
    run = run_of(chars)
    assert (run.host, settings(run)["file_size"]) == ("newbox1.example.org", str(32184 * MIB))
    assert {m.file_size for m in run.measurements if m.metric == "bandwidth"} == {32184 * MIB}
    assert codes(chars) == ["REPAIRED"]


def test_a_heading_without_the_machine() -> None:
    chars = (
        "     ------Sequential Output------ --Sequential Input- --Random-\n"
        "     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n"
        "Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n"
        "  2G 41230  95 152311  21 24877  8 40112  93 61230  7 +++++ +++\n"
    )
    assert rates(run_of(chars)) == by_phase(41230, 152311, 24877, 40112, 61230, CUT)
    assert codes(chars.replace("K/sec", "/sec")) == ["UNREAD_FIGURE"]  # kilobytes?


def test_without_a_file_a_line_of_96_has_a_field_too_few() -> None:
    line = (
        "1.96,1.96,newbox,1,1374655110,,,,,,,,,,,,,,60,32,16,,,1702,14,2025,12,1332,4,1873,16,2047,13,1266,3,"
        ",,,,,,3874ms,6645ms,8659ms,505ms,7257ms,9627ms\n"
    )
    run = run_of(line)
    assert rates(run) == by_phase(None, None, None, None, None, None, 1702, 2025, 1332, 1873, 2047, 1266)
    assert values(run, "phase_latency")["random_delete"] == 9.627
    assert settings(run)["files"] == str(60 * 1024)
    assert codes(line) == []


def test_machines_of_one_name_in_both_tables() -> None:
    table = "".join(LOGS["1.97-report"].splitlines(keepends=True)[:-1])
    io, files = table[: table.rindex("Version")], table[table.rindex("Version") :]
    io_row = "".join(io.splitlines(keepends=True)[-2:])
    alone = io_row.replace("newbox", "oldbox")
    file_row = "".join(files.splitlines(keepends=True)[-2:])
    named = file_row.replace("                 16", "newbox           16")
    both = io + io_row.replace("101525", "111111") + alone + files.replace(file_row, named) + named
    assert [len(rates(run)) for run in runs(both)] == [12, 12, 6]


def test_the_older_tool_of_that_name_is_not_taken_for_this_one() -> None:
    chars = (
        "File './Bonnie.2276', size: 1073741824\n"
        "Writing with putc()...  done:  72692 kB/s  83.7 %CPU\n"
        "Rewriting...            done:  25355 kB/s  12.0 %CPU\n"
        "Writing intelligently...done: 103022 kB/s  40.5 %CPU\n"
        "Seeker 2...Seeker 1...Seeker 3...start 'em...done...done...done...\n"
    )
    assert runs(chars) == []
    assert list(bonnie.signatures(chars)) == []


def test_a_table_in_which_only_one_row_is_damaged() -> None:
    chars = LOGS["1.97-report"].replace("18315  80 +++++", "18315  80 +++")
    text = "".join(chars.splitlines(keepends=True)[:-1])
    assert rates(run_of(text)) == NEW_RATES
    assert codes(text) == ["DAMAGED_MARK"]
    lost = text.replace("18315  80 +++ ", "18315 ")
    assert set(rates(run_of(lost))) == set(list(PHASES)[:6])
    assert "UNREAD_FIGURE" in codes(lost)


def test_a_latency_that_is_lost() -> None:
    chars = without(LOGS["1.97-report"], ",newbox,").replace("   2372ms", "")
    assert set(values(run_of(chars), "phase_latency")) == set(list(PHASES)[6:])
    assert codes(chars) == ["UNREAD_FIGURE"]


@pytest.mark.parametrize("width", [40, 60, 72, 76])
def test_a_csv_line_that_is_broken(width: int) -> None:
    line = LOGS["1.97-report"].splitlines()[-1]
    broken = "\n".join(line[start : start + width] for start in range(0, len(line), width))
    assert rates(run_of(broken)) == NEW_RATES
    assert set(codes(broken)) <= {"REPAIRED", "INCOMPLETE_LOG"}
    assert "REPAIRED" in codes(broken)


def test_a_csv_line_that_is_cut_off() -> None:
    line = LOGS["1.97-report"].splitlines()[-1]
    for length in range(40, 250, 3):
        for run in runs(line[:length]):
            assert rates(run).items() <= NEW_RATES.items(), length
            assert run.status == ("partial" if length < len(line) else "ok"), length
        cut = codes(line[:length])
        assert "INCOMPLETE_LOG" in cut or length >= len(line) or not runs(line[:length]), length


def test_a_csv_line_with_a_field_less_is_not_read_by_position() -> None:
    line = LOGS["1.97-report"].splitlines()[-1]
    for field in (",651,", ",95,", ",101525,", ",393.0,", ",+++++,"):
        damaged = line.replace(field, ",", 1)
        assert all(not set(rates(run).items()) - set(NEW_RATES.items()) for run in runs(damaged))
        assert {"UNREAD_FIGURE", "INCOMPLETE_LOG"} & set(codes(damaged))


@pytest.mark.parametrize("quote", ['"', "'", "`", ""])
def test_a_csv_line_in_a_command(quote: str) -> None:
    for log in ("1.03e-report", "1.97-report"):
        line = LOGS[log].splitlines()[-1]
        chars = f"echo {quote}{line}{quote} | bon_csv2html > out.html\n"
        assert rates(run_of(chars)) == EXPECTED[log][0]
        assert codes(chars) == []


def test_what_a_converter_could_not_process() -> None:
    chars = re.sub(r"(?m)^", "Can't process: ", without(LOGS["1.97-report"], ",newbox,"))
    assert rates(run_of(chars)) == NEW_RATES
    assert codes(chars) == []


def test_broken_off() -> None:
    (run,) = runs(LOGS["2.00a-no-space"])
    assert (run.status, run.measurements) == ("failed", ())
    assert codes(LOGS["2.00a-no-space"]) == ["RUN_FAILED"]
    progress = "".join(LOGS["1.97-report"].splitlines(keepends=True)[:4])
    assert [run.status for run in runs(progress)] == ["partial"]
    assert codes(progress) == ["INCOMPLETE_LOG"]
    after = LOGS["1.97-report"] + LOGS["2.00a-no-space"]
    assert [run.status for run in runs(after)] == ["ok", "failed"]
    before = LOGS["2.00a-no-space"] + LOGS["1.97-report"]
    assert [run.status for run in runs(before)] == ["failed", "ok"]
    assert [run.line for run in runs(before)] == [1, 4]


def test_progress_apart_from_the_figures_is_no_run() -> None:
    progress, line = LOGS["1.97-report"].split("Version", 1)[0], LOGS["1.97-report"].splitlines()[-1]
    for chars in (f"{line}\n{line}\n{progress}{progress}", f"{progress}{progress}{line}\n{line}\n"):
        assert [run.status for run in runs(chars)] == ["ok", "ok"]


@pytest.mark.parametrize("before", [FAST.format(row=""), "a,16G,1,"])
def test_hostile_text_takes_linear_time(before: str) -> None:
    for scrap in ("-", " ", "1 ", "1,", "+", "| 1 ", "16G ", "**1", "<b>1", "Latency 1us "):
        assert is_linear(
            lambda chars: (records(before + chars), list(bonnie.signatures(before + chars))), scrap
        ), scrap


# The installed tool


def converted(program: str, line: str) -> str:
    return subprocess.run([program], input=line, check=True, capture_output=True, text=True).stdout


@INSTALLED
@pytest.mark.parametrize("log", ["2.00a-report", "2.00a-fast-no-files", "2.00a-two-runs"])
def test_bon_csv2txt_says_what_the_csv_line_says(log: str) -> None:
    line = LOGS[log].splitlines(keepends=True)[-1]
    printed, exported = run_of(converted("bon_csv2txt", line)), run_of(line)
    assert figures(printed).keys() == figures(exported).keys()
    assert settings(exported).items() - settings(printed).items() <= {("seed", settings(exported)["seed"])}
    for key, figure in figures(printed).items():
        other = figures(exported)[key]
        assert (figure.state, figure.threads, figure.file_size) == (other.state, other.threads, other.file_size)
        if figure.state == "measured":
            assert figure.low <= other.high
            assert other.low <= figure.high
    assert len(runs(line + converted("bon_csv2txt", line))) == 1


@INSTALLED
@pytest.mark.parametrize(
    "options",
    [
        ["-f", "-n", "0"],
        pytest.param(["-f", "-n", "1", "-c", "2"], marks=pytest.mark.slow),
        pytest.param(["-f", "-n", "0", "-x", "2"], marks=pytest.mark.slow),
        pytest.param(["-s", "0", "-n", "1:64:8:2"], marks=pytest.mark.slow),
    ],
)
def test_the_installed_bonnie(options: list[str], tmp_path: Path) -> None:
    command = ["bonnie++", "-d", str(tmp_path), "-s", "64M", "-r", "32", "-u", "root", "-m", "box", "-q", *options]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    if result.returncode:
        pytest.skip(f"bonnie++ does not run here: {result.stderr}")
    exported = runs(result.stdout)
    assert len(exported) == (2 if "-x" in options else 1)
    for run in exported:
        assert (run.host, run.status) == ("box", "ok")
        assert settings(run)["threads"] == ("2" if "-c" in options else "1")
        ran = set(values(run, "cpu"))
        skipped = "-s" if "0" in options[:2] and "-s" in options else "-n" if "0" in options else None
        assert ("write" in ran, "random_stat" in ran) == (skipped != "-s", skipped != "-n")
        assert ("write_char" in ran) == (skipped != "-s" and "-f" not in options)
    if "-x" not in options:
        (printed,) = runs(result.stderr)
        assert set(values(printed, "cpu")) == set(values(exported[0], "cpu"))
        assert values(printed, "phase_latency") == values(exported[0], "phase_latency")
        assert len(runs(result.stderr + result.stdout)) == 1


# Logs of other people

CORPUS = Path(os.environ.get("FSBENCH_CORPUS", "/nonexistent")) / "bonnie"
IN_CORPUS = pytest.mark.skipif(not CORPUS.is_dir(), reason="FSBENCH_CORPUS names no folder")

OF_THE_CORPUS = {
    "csv/amber_ubuntu_1.03_csvline.csv": [by_phase(423, 435, 417, 20307, 54421, 201.4, *[CUT] * 6)],
    "html/phaus_1.1_cantprocess.html": [
        by_phase(141, 105481, 47185, 410, 107987, 138.8, 16839, CUT, 18418, 15962, CUT, 16326)
    ],
    "text/ceph_test_linux_1.97.txt": [
        by_phase(651, 101525, 61141, 1072, 66183, 3794, 18315, CUT, CUT, 29574, CUT, CUT)
    ],
    "text/drobo_spongebob_1.03c_htmltags.txt": [
        by_phase(10260, 14116, 8107, 16746, 18169, 61.5, 10085, CUT, CUT, 26325, CUT, CUT)
    ],
    "text/freebsd_zfs_single_1.97_f_b.txt": [by_phase(None, 108834, 50598, None, 204522, 393.0)],
    "text/lkml_gollum_1.02b_hardwrap.txt": [
        by_phase(4681, 37827, 17590, 4888, 39400, 310.4, 310, CUT, 21319, 329, CUT, 1766)
    ],
    "text/mg_1.96_indent4_csv_truncated.txt": [
        by_phase(624, 83917, 40261, 2015, 999552, 2840, 28438, CUT, CUT, 14767, CUT, 26551)
    ],
    "text/myserver_1.96_redacted_shift.txt": [
        by_phase(754, 64825, 31211, 3479, 102054, 258.5, 18344, CUT, CUT, CUT, CUT, CUT)
    ],
    "text/phaus_1.1_old.txt": [
        by_phase(142, 101761, 45570, 436, 93022, 92.9, 23836, CUT, 24088, 20242, CUT, 23937)
    ],
    "text/phaus_4.4.txt": [by_phase(139, 180895, 82425, 428, 181920, 546.1, 16401, CUT, 16681, 20234, CUT, 16820)],
    "text/virtiotest_1.03c_three_runs_separators.txt": [
        by_phase(28462, 29208, 34808, 56499, 362458, 3790.7, *[CUT] * 6),
        by_phase(27075, 27448, 50246, 62734, 243664, 3123.7, *[CUT] * 6),
        by_phase(65971, 86969, 42273, 38865, 91063, 451.1, *[CUT] * 6),
    ],
    "text/wifo3_02_1.97_a.txt": [
        by_phase(1905, 364656, 119264, 3457, 306391, 439.5, 8891, CUT, 17536, 11535, CUT, 19876)
    ],
}


@IN_CORPUS
def test_every_log_of_the_corpus_is_expected() -> None:
    assert {str(path.relative_to(CORPUS)) for path in CORPUS.glob("*/*")} == OF_THE_CORPUS.keys()


@IN_CORPUS
@pytest.mark.parametrize("name", OF_THE_CORPUS)
def test_a_log_of_other_people(name: str) -> None:
    found = list(read_document((CORPUS / name).read_bytes(), name))
    assert [rates(run) for run in found if isinstance(run, Run)] == [pytest.approx(e) for e in OF_THE_CORPUS[name]]
    said = {record.code for record in found if isinstance(record, Diagnostic)}
    assert "SECOND_PRINTING_DIFFERS" not in said
    if not name.startswith("html"):
        assert "UNREAD_FIGURE" not in said


def test_a_version_is_read_without_its_word() -> None:
    log = LOGS["1.03e-report"].partition("Version")[2]
    log = f"Version{log}".replace("Version 1.03e", "1.02b        ".rstrip() + " " * 8).split("\n\n")[0]
    assert run_of(log).tool_version == "1.02b"
    assert "UNREAD_FIGURE" not in codes(log)


@pytest.mark.parametrize(("before", "after"), [("2G:256k ", "2G:256k  "), ("2G:256k  ", "2G:256k ")])
def test_a_row_that_is_shifted_by_a_character_keeps_its_columns(before: str, after: str) -> None:
    log = LOGS["1.03e-chunk-and-sizes"]
    assert rates(run_of(log.replace(before, after))) == rates(run_of(log))


def test_a_row_that_is_shifted_further_is_reported() -> None:
    log = LOGS["1.03e-chunk-and-sizes"].replace("2G:256k ", "2G:256k      ")
    assert {"write", "rewrite", "read"}.isdisjoint(rates(run_of(log)))
    assert "UNREAD_FIGURE" in codes(log)


def test_the_end_of_a_row_is_not_taken_for_a_row() -> None:
    log = LOGS["1.03e-chunk-and-sizes"].replace("10  2345  40 ", "10  2345  4\n0 ")
    assert not [name for run in runs(log) for name in rates(run) if name.startswith(("sequential", "random"))]
    assert "UNREAD_FIGURE" in codes(log)
