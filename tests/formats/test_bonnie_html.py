"""Expected figures are written from the logs by eye."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbench_kit.documents import read_document
from fsbench_kit.formats import FORMATS, bonnie
from fsbench_kit.model.records import Measurement, Run
from tests.formats.reading import Reading
from tests.growth import is_linear

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "raw_results/published/raid1-hdd-2020"
LOGS = {path.stem.removeprefix("bonnie-"): path.read_text(encoding="utf-8") for path in STUDY.glob("bonnie-*.txt")}
Key = tuple[str, str, str]

PHASES = ["write_char", "write", "rewrite", "read_char", "read", "seek"]
PHASES += [f"{order}_{work}" for order in ("sequential", "random") for work in ("create", "stat", "delete")]

# For each phase: the rate in the unit in which it is printed, CPU in per cent, latency in s. None: pluses.
PUBLISHED = {
    "ext4": (
        *((424, 97, 0.018630), (90, 12, 8.545), (39, 4, 1.140), (958, 93, 0.042759), (100, 5, 0.289)),
        *((346.1, 5, 0.836), (12255, 36, 326e-6), (None, None, 496e-6), (None, None, 1211e-6)),
        *((23530, 68, 266e-6), (None, None, 12e-6), (None, None, 2516e-6)),
    ),
    "xfs": (
        *((651, 85, 0.010684), (79, 6, 0.018498), (38, 4, 4.093), (896, 94, 0.023959), (105, 5, 0.176)),
        *((232.6, 27, 0.112), (7873, 38, 464e-6), (None, None, 158e-6), (12755, 31, 212e-6)),
        *((8304, 40, 290e-6), (None, None, 15e-6), (12830, 33, 184e-6)),
    ),
    "zfs": (
        *((123, 99, 0.064300), (73, 16, 13.486), (36, 9, 21.657), (255, 99, 0.065773), (122, 13, 3.948)),
        *((113.9, 5, 0.408), (4966, 92, 3486e-6), (None, None, 1152e-6), (1524, 15, 3.105)),
        *((5059, 92, 3541e-6), (None, None, 23e-6), (1237, 13, 3.762)),
    ),
}
UNITS = {
    **dict.fromkeys(PHASES, ("file_rate", 1)),
    **dict.fromkeys(("write", "rewrite", "read"), ("bandwidth", 2**20)),
    **dict.fromkeys(("write_char", "read_char"), ("bandwidth", 2**10)),
    "seek": ("iops", 1),
}


READING = Reading(bonnie)
records = READING.records
runs = READING.runs
run_of = READING.run_of
diagnostics = READING.diagnostics
codes = READING.codes


def figures(run: Run) -> dict[Key, Measurement]:
    by_key = {(m.operation, m.metric, m.statistic): m for m in run.measurements}
    assert len(by_key) == len(run.measurements)
    return by_key


def cells(chars: str, row: int) -> list[str]:
    """Return the cells of a row of the ext4 log, counted from 0, for changing them."""
    return [cell.strip() for cell in chars.splitlines()[row].split("|")]


def with_row(chars: str, row: int, new: list[str]) -> str:
    lines = chars.splitlines()
    lines[row] = " | ".join(new)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("log", PUBLISHED)
def test_all_figures_of_the_published_logs(log: str) -> None:
    expected: dict[Key, float | None] = {}
    for phase, (rate, cpu, latency) in zip(PHASES, PUBLISHED[log], strict=True):
        metric, factor = UNITS[phase]
        expected[phase, metric, "value"] = None if rate is None else rate * factor
        expected[phase, "cpu", "value"] = None if cpu is None else cpu / 100
        expected[phase, "phase_latency", "max"] = latency
    run = run_of(LOGS[log])
    assert {key: m.value for key, m in figures(run).items()} == pytest.approx(expected)
    assert (run.tool, run.tool_version, run.host, run.status, run.line) == ("bonnie++", "1.98", None, "ok", 4)
    assert {m.line for m in run.measurements if m.metric != "phase_latency"} == {4}
    assert {m.line for m in run.measurements if m.metric == "phase_latency"} == {5}
    # 126G, and 16 times 1024 files
    known = {"file_size": str(126 * 2**30), "files": "16384", "threads": "1"}
    assert {item.key: item.value for item in run.settings} == known


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [
        (("write", "bandwidth", "value"), 89.5 * 2**20, 90.5 * 2**20),  # rounded
        (("write_char", "bandwidth", "value"), 424 * 2**10, 425 * 2**10),  # cut off
        (("seek", "iops", "value"), 346.05, 346.15),  # rounded
        (("sequential_create", "file_rate", "value"), 12255, 12256),  # cut off
        (("write", "cpu", "value"), 0.12, 0.13),  # cut off
        (("write", "phase_latency", "max"), 8.545, 8.546),  # cut off
    ],
)
def test_intervals_follow_the_tools_rounding(key: Key, low: float, high: float) -> None:
    figure = figures(run_of(LOGS["ext4"]))[key]
    assert (figure.low, figure.high) == pytest.approx((low, high), rel=1e-12)


@pytest.mark.parametrize("phase", ["sequential_stat", "sequential_delete", "random_stat", "random_delete"])
def test_a_phase_of_under_half_a_second_is_censored(phase: str) -> None:
    found = figures(run_of(LOGS["ext4"]))
    rate, cpu = found[phase, "file_rate", "value"], found[phase, "cpu", "value"]
    # 16384 files in less than 0.5 s
    assert (rate.state, rate.value, rate.low, rate.high, rate.text) == ("censored", None, 32768, None, "+++++")
    assert (cpu.state, cpu.value, cpu.low, cpu.high) == ("missing", None, None, None)


def test_a_damaged_mark_is_read_and_said() -> None:
    damaged = [item for item in diagnostics(LOGS["ext4"]) if item.code == "DAMAGED_MARK"]
    assert [(item.line, item.excerpt) for item in damaged] == [(4, "++")]
    data = LOGS["ext4"].encode()
    assert data[damaged[0].start : damaged[0].end] == b"++"
    assert figures(run_of(LOGS["ext4"]))["random_delete", "cpu", "value"].text == "++"
    assert "DAMAGED_MARK" not in codes(LOGS["xfs"])


def test_the_heading_over_the_rates_by_the_character_is_corrected() -> None:
    (said,) = [item for item in diagnostics(LOGS["xfs"]) if item.code == "WRONG_HEADING"]
    assert (said.line, said.excerpt) == (4, "651")


def test_a_cut_off_block_phase_prints_0_and_is_censored() -> None:
    row = cells(LOGS["ext4"], 3)
    row[4:6] = ["0", "+++"]  # as bon_csv2html turns "+++++" into a number
    rate = figures(run_of(with_row(LOGS["ext4"], 3, row)))["write", "bandwidth", "value"]
    assert (rate.state, rate.value, rate.low, rate.high) == ("censored", None, 126 * 2**30 / 0.5, None)


def test_a_block_rate_that_rounds_to_0_is_a_bound() -> None:
    row = cells(LOGS["ext4"], 3)
    row[4:6] = ["0", "3"]
    rate = figures(run_of(with_row(LOGS["ext4"], 3, row)))["write", "bandwidth", "value"]
    assert (rate.state, rate.value, rate.low, rate.high) == ("censored", None, None, 512 * 1024)


def test_a_phase_that_did_not_run_has_no_figures() -> None:
    rates, latencies = cells(LOGS["ext4"], 3), cells(LOGS["ext4"], 4)
    rates[2:4] = rates[8:10] = ["", ""]  # by the character, as with -f
    rates[4:6] = ["0", ""]  # bon_csv2html has a 0 for an empty field, too
    latencies[1] = latencies[2] = latencies[4] = ""
    chars = with_row(with_row(LOGS["ext4"], 3, rates), 4, latencies)
    assert {m.operation for m in run_of(chars).measurements} == set(PHASES) - {"write_char", "write", "read_char"}
    assert codes(chars) == ["DAMAGED_MARK"]


def test_a_machine_with_a_name_is_the_host() -> None:
    assert run_of(LOGS["ext4"].replace("# | 126G", "fstest | 126G")).host == "fstest"


def test_rows_of_several_machines_stay_apart() -> None:
    rows = LOGS["xfs"].splitlines(keepends=True)[3:]
    first, second = runs(LOGS["ext4"] + "".join(rows).replace("#", "other"))
    assert [m.value for m in first.measurements] == [m.value for m in run_of(LOGS["ext4"]).measurements]
    assert [m.value for m in second.measurements] == [m.value for m in run_of(LOGS["xfs"]).measurements]
    assert second.host == "other"


@pytest.mark.parametrize(
    "change",
    [
        lambda chars: chars.replace("Version 1.98", "Version 1.97"),  # rates in K/sec
        lambda chars: chars.replace("| Per Char", "| Chunk Size | Per Char", 1),  # a column more
        lambda chars: chars.replace("| 424 | 97 |", "| 424 |"),  # a cell less
        lambda chars: chars.replace("346.1", "346").replace("| 424 | 97 |", "| 424 |"),
        lambda chars: chars.replace("| 12255 | 36 |", "| 12255 |"),
        lambda chars: chars.replace("| 424 |", "| 424 | 424 |"),  # a cell more
        lambda chars: chars.replace("| 424 |", "| 4x4 |"),
        lambda chars: chars.replace("+++++ | ++ |", "+++++ | ++ | 17 |"),
        lambda chars: "".join(chars.splitlines(keepends=True)[3:]),  # no headings
    ],
)
def test_a_table_of_another_shape_is_not_read_by_position(change: Callable[[str], str]) -> None:
    chars = change(LOGS["ext4"])
    assert chars != LOGS["ext4"]
    assert runs(chars) == []
    assert "UNREAD_FIGURE" in codes(chars)


@pytest.mark.parametrize("cell", ["8545ms | ", "836ms | ", "326us | ", "12us | "])
def test_a_row_of_latencies_of_another_shape_is_not_read_by_position(cell: str) -> None:
    chars = LOGS["ext4"].replace(cell, "")
    assert len(run_of(chars).measurements) == 24
    assert not any(m.metric == "phase_latency" for m in run_of(chars).measurements)
    assert "UNREAD_FIGURE" in codes(chars)


@pytest.mark.parametrize("log", LOGS)
def test_every_number_is_accounted_for(log: str) -> None:
    run = run_of(LOGS[log])
    number = re.compile(r"\d+(?:\.\d+)?")
    read = {m.text.rstrip("mus") for m in run.measurements} | {run.tool_version}
    read |= {"126", "16"}  # the settings, which another test checks
    assert set(number.findall(LOGS[log])) <= read
    # one by one, in the order of their columns
    texts = [m.text for m in run.measurements if m.line == 4]
    row = cells(LOGS[log], 3)
    assert texts == row[2:14] + row[15:27]


MANGLINGS: dict[str, Callable[[str], str]] = {
    "newlines to spaces": lambda chars: chars.replace("\n", " "),
    "no spaces around bars": lambda chars: re.sub(r" *\| *", "|", chars),
    "no-break spaces": lambda chars: chars.replace(" ", "\u00a0"),
    "blank lines": lambda chars: chars.replace("\n", "\n\n"),
    "carriage returns": lambda chars: chars.replace("\n", "\r\n"),
    "bars at both ends": lambda chars: re.sub(r"(?m)^(.+)$", r"| \1 |", chars),
    "quoted": lambda chars: re.sub(r"(?m)^", "    ", chars),
}


@settings(deadline=None)
@given(st.sampled_from(sorted(LOGS)), st.lists(st.sampled_from(sorted(MANGLINGS)), max_size=4, unique=True))
def test_mangling_changes_no_figure(log: str, manglings: list[str]) -> None:
    chars = LOGS[log]
    for name in manglings:
        chars = MANGLINGS[name](chars)
    intact, mangled = run_of(LOGS[log]), run_of(chars)
    assert [replace(m, line=0) for m in mangled.measurements] == [replace(m, line=0) for m in intact.measurements]
    assert [replace(s, line=0) for s in mangled.settings] == [replace(s, line=0) for s in intact.settings]
    assert mangled.host == intact.host
    assert codes(chars) == codes(LOGS[log])


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("cut", range(6))
def test_a_log_that_is_cut_gives_no_other_figures(log: str, cut: int) -> None:
    lines = LOGS[log].splitlines(keepends=True)
    whole = run_of(LOGS[log]).measurements
    for part in ("".join(lines[:cut]), "".join(lines[cut:])):
        found = [replace(m, line=0) for run in runs(part) for m in run.measurements]
        assert set(found) <= {replace(m, line=0) for m in whole}


@settings(deadline=None)
@given(st.text(alphabet=" \n0123456789.+|#GMus", max_size=40), st.sampled_from(sorted(LOGS)), st.data())
def test_noise_raises_nothing(noise: str, log: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(LOGS[log])))
    records(LOGS[log][:at] + noise + LOGS[log][at:])


HEADINGS = "".join(LOGS["ext4"].splitlines(keepends=True)[:3])
ROW = LOGS["ext4"].splitlines()[3]


@pytest.mark.parametrize("before", [HEADINGS, f"{HEADINGS}{ROW}\nLatency "])
def test_hostile_text_takes_linear_time(before: str) -> None:
    for scrap in ("|", "| ", "|\n", "| 1 ", "|1", "| +++++ ", "| 1:2:3 ", "1 ", "Latency | 1us "):
        assert is_linear(
            lambda chars: (records(before + chars), list(bonnie.signatures(before + chars))), scrap
        ), scrap


@pytest.mark.parametrize("words", ["Version 1.98 | ", "Sequential Output | ", "Per Char | ", "M/sec | % CPU | "])
def test_headings_that_recur_take_linear_time(words: str) -> None:
    assert is_linear(records, words)


def test_it_recognises_its_own_logs_and_no_others() -> None:
    own = {
        path for path in (ROOT / "raw_results/published").rglob("*.*") if list(bonnie.signatures(path.read_text()))
    }
    assert own == set(STUDY.glob("bonnie-*.txt"))
    assert bonnie in FORMATS


class Flattener(HTMLParser):
    """Turns the rows of a table into lines, with a bar between cells."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag == "tr":
            self.rows.append([])
        elif tag == "td":
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = self.in_cell and tag != "td"

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            self.rows[-1][-1] += data


@pytest.mark.skipif(shutil.which("bon_csv2html") is None, reason="bonnie++ is not installed")
def test_the_installed_bon_csv2html() -> None:
    """Its table is read back to what its CSV says, which is in KiB/s."""
    csv = (
        "1.98,2.00a,box,1,1600000000,126G,,8192,5,424,97,92671,12,+++++,+++,958,93,102400,5,346.1,5,16,,,,,"
        "12255,36,+++++,+++,4000,50,23530,68,+++++,+++,1237,13,"
        "18630us,8545ms,1140ms,42759us,289ms,120s,326us,496us,1211us,266us,12us,2516us\n"
    )
    table = subprocess.run(["bon_csv2html"], input=csv, check=True, capture_output=True, text=True).stdout
    if not re.search(r"Version (1\.98|2\.00a?)<", table):
        pytest.skip("the installed bon_csv2html is of another version")
    flattener = Flattener()
    flattener.feed(table)
    run = run_of("\n".join(" | ".join(row) for row in flattener.rows))
    found = figures(run)
    assert run.host == "box"
    assert found["write_char", "bandwidth", "value"].value == 424 * 1024
    assert found["read_char", "bandwidth", "value"].value == 958 * 1024
    block = found["write", "bandwidth", "value"]
    assert block.low is not None
    assert block.high is not None
    assert block.low <= 92671 * 1024 < block.high
    assert found["read", "bandwidth", "value"].value == 102400 * 1024
    assert found["rewrite", "bandwidth", "value"].state == "censored"
    assert found["seek", "phase_latency", "max"].value == 120
    assert found["sequential_delete", "file_rate", "value"].value == 4000
    assert found["random_delete", "cpu", "value"].value == 0.13


def runs_of_page(name: str) -> list[Run]:
    page = (ROOT / "tests/data/bonnie" / name).read_bytes()
    return [record for record in read_document(page, name) if isinstance(record, Run)]


@pytest.mark.parametrize("name", ["2.00a-page.html", "2.00a-page-piped.txt"])
def test_a_page_of_three_runs_with_all_columns(name: str) -> None:
    """Made by bon_csv2html 2.00a of three lines written for it; figures by eye, from those lines."""
    found = runs_of_page(name)
    assert [run.host for run in found] == ["my box", "small", "files-only"]
    rows = [
        {
            (m.operation, m.metric): m.text
            for m in run.measurements
            if m.metric in {"bandwidth", "iops", "file_rate"}
        }
        for run in found
    ]
    io, files = ["write_char", "write", "rewrite", "read_char", "read", "seek"], PHASES[6:]
    # 95 MiB/s is 97280 KiB/s, and so on; rates by the character stay in KiB/s
    assert [rows[0][name, "iops" if name == "seek" else "bandwidth"] for name in io] == [
        *("651", "95", "57", "1072", "126", "393.1"),
    ]
    assert not any(metric == "file_rate" for _, metric in rows[0])
    assert [rows[1][name, "file_rate"] for name in files] == ["11", "22", "33", "44", "55", "66"]
    assert [rows[2][name, "file_rate"] for name in files] == ["12", "23", "34", "45", "56", "67"]
    assert {metric for _, metric in rows[2]} == {"file_rate"}
    known = [{item.key: item.value for item in run.settings} for run in found]
    assert [k.get("threads") for k in known] == ["3", "1", "1"]
    assert [k.get("block_size") for k in known] == [str(64 * 2**10), None, None]
    latencies = {m.operation: m.value for m in found[0].measurements if m.metric == "phase_latency"}
    assert latencies["seek"] == pytest.approx(0.0025)


def test_a_page_whose_headings_have_no_version() -> None:
    """Written after the script of 1.03; figures by eye."""
    found = runs_of_page("1.03e-page.html")
    assert [(run.host, run.tool_version, run.status) for run in found] == [
        ("gamma", "1.03e", "ok"),
        ("gamma-2", "1.03e", "ok"),
        ("delta", "1.03e", "ok"),
    ]
    rates = [{m.operation: m.text for m in run.measurements if m.metric != "cpu"} for run in found]
    io = ("12291", "13041", "9984", "34332", "63191", "540.3")
    files = ("2345", "+++++", "3456", "2401", "+++++", "998")
    assert rates[0] == dict(zip(PHASES, io + files, strict=True))
    assert rates[1] == {"write": "152312", "rewrite": "24878", "read": "61231", "seek": "1236"}
    assert rates[2] == dict(zip(PHASES[6:], ("812", "1911", "+++++", "806", "2405", "1530"), strict=True))
    write = figures(found[0])["write", "bandwidth", "value"]
    assert (write.value, write.low, write.high) == (13041 * 1024, 13041 * 1024, 13042 * 1024)
    assert figures(found[0])["seek", "cpu", "value"].value == 0.01
    assert [{s.key: s.value for s in run.settings} for run in found] == [
        {"file_size": str(12 * 2**30), "files": "16384"},
        {"file_size": str(2 * 2**30), "block_size": str(256 * 2**10)},
        {
            "files": "16384",
            "bonnie++.largest-file": "1024",
            "bonnie++.smallest-file": "512",
            "bonnie++.directories": "10",
        },
    ]


def test_a_page_without_any_version() -> None:
    page = (ROOT / "tests/data/bonnie/1.03e-page.html").read_text().replace(" V1.03e", "")
    found = [record for record in read_document(page.encode(), "page.html") if isinstance(record, Run)]
    assert [run.tool_version for run in found] == [None] * 3
    assert {m.threads for run in found for m in run.measurements} == {None}
