"""fio's report in one line. The expected figures are taken from the lines by their numbers in fio's manual."""

import os
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsbench_kit as fsb
from fsbench_kit.documents.encoding import decode
from fsbench_kit.formats import fio_terse, sniff
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Block, Diagnostic, Measurement, Record, Run

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "fio_terse"
LOGS = {path.stem: path.read_text() for path in sorted(DATA.iterdir())}
TWO_JOBS = LOGS["3.33-v3-two-jobs"]

RANKS = [str(rank) for rank in (1, 5, *range(10, 100, 10), 95, 99, 99.5, 99.9, 99.95, 99.99)]


def parse(text: str) -> list[Record]:
    return list(fio_terse.parse(Text(text)))


def runs(records: list[Record]) -> list[Run]:
    return [record for record in records if isinstance(record, Run)]


def codes(records: list[Record]) -> list[str]:
    return [record.code for record in records if isinstance(record, Diagnostic)]


def only_run(text: str) -> Run:
    (run,) = runs(parse(text))
    return run


def figure(run: Run, operation: str, metric: str, statistic: str = "value", **where: object) -> Measurement:
    found = [
        item
        for item in run.measurements
        if (item.operation, item.metric, item.statistic) == (operation, metric, statistic)
        and all(getattr(item, key) == value for key, value in ({"scope": "job"} | where).items())
    ]
    assert len(found) == 1, (operation, metric, statistic, where, found)
    return found[0]


def operations(run: Run) -> set[str]:
    return {item.operation for item in run.measurements if item.scope == "job"}


@pytest.mark.parametrize(
    ("printed", "instead"),
    [("4.411000", "-nan"), ("50.000000%=20", "50.000000%=4099")],
    ids=["no number", "no bin"],
)
def test_what_fio_cannot_have_measured_is_named_with_its_place(printed: str, instead: str) -> None:
    text = LOGS["3.33-v3-two-jobs"].replace(f";{printed};", f";{instead};", 1)
    (unread,) = fsb.read_text(text).diagnostics.filter(code="UNREAD_FIGURE").rows(named=True)
    assert (unread["line"], unread["excerpt"], unread["start"]) == (1, instead, text.index(instead))


@pytest.mark.parametrize(
    ("log", "first", "size", "order"),
    [
        ("3.33-v2-description", 5, 41, ["read", "write", "trim"]),
        ("3.33-v3-two-jobs", 5, 41, ["read", "write"]),
        ("3.33-v4-trim", 5, 41, ["read", "write", "trim"]),
        ("3.33-v4-both", 5, 41, ["read", "write", "trim", "mixed"]),
        ("3.33-v5-two-groups", 5, 47, ["read", "write", "trim"]),
        ("3.33-v5-mixed", 5, 47, ["mixed"]),
    ],
)
def test_each_layout_has_its_own_order(log: str, first: int, size: int, order: list[str]) -> None:
    """Each figure of each direction against the field of its number in the manual."""
    row = next(line for line in LOGS[log].splitlines() if re.match(r"[2-5];", line)).split(";")
    run = only_run(LOGS[log])
    part = next(item.part for item in run.measurements if item.scope == "job")
    done = []
    for number, operation in enumerate(order):
        fields = row[first + number * size :][:size]
        if set(fields[:4]) == {"0"}:
            continue
        done.append(operation)
        of = [item for item in run.measurements if (item.part, item.operation) == (part, operation)]
        texts = {(item.metric, item.statistic): item.text for item in of}
        expected = dict(
            zip([(m, "value") for m in ("bytes", "bandwidth", "iops", "runtime")], fields, strict=False)
        )
        statistics = ("min", "max", "mean", "stdev")
        for metric, at in (("submission_latency", 4), ("completion_latency", 8), ("latency", 32)):
            if any(float(field) for field in fields[at : at + 4]):
                expected |= {(metric, s): f for s, f in zip(statistics, fields[at:], strict=False)}
        percentiles = "completion_latency" if log == "3.33-v3-two-jobs" else "completion_or_total_latency"
        for rank, field in zip(RANKS, fields[12:], strict=False):
            expected[(percentiles, f"p{rank}")] = field.partition("=")[2]
        if float(fields[37]):
            low, high, share, mean, deviation = fields[36:41]
            expected |= {
                ("bandwidth", s): f for s, f in zip(statistics, (low, high, mean, deviation), strict=True)
            }
            expected[("group_share", "value")] = share.rstrip("%")
        if size == 47 and float(fields[46]):
            expected |= {("iops", s): f for s, f in zip(statistics, fields[42:], strict=False)}
        assert texts == expected
    assert {item.operation for item in run.measurements if item.part == part} == {*done, "all"}
    assert done


def test_figures_of_a_line() -> None:
    run = only_run(TWO_JOBS)
    assert (run.tool_version, run.status, run.line, run.start, run.end) == ("3.33", "ok", 1, 0, len(TWO_JOBS) - 1)
    row = TWO_JOBS.split("\n")[1].split(";")
    bytes_written = figure(run, "write", "bytes", part="load.1")
    assert (bytes_written.low, bytes_written.high) == (int(row[46]) * 1024, (int(row[46]) + 1) * 1024)
    rate = figure(run, "write", "bandwidth", part="load.1")
    assert (rate.low, rate.high, rate.line) == (int(row[47]) * 1024, (int(row[47]) + 1) * 1024, 2)
    largest = figure(run, "write", "completion_latency", "max", part="load.1")
    assert (largest.low, largest.high) == pytest.approx((int(row[55]) / 1e6, (int(row[55]) + 1) / 1e6))
    assert figure(run, "all", "cpu_user", part="load.1").text == row[87].rstrip("%")
    assert figure(run, "all", "minor_faults", part="load.1").text == row[91]
    depths = [item.share for item in run.bins if (item.metric, item.part) == ("depth", "load.1")]
    assert depths == pytest.approx([float(field.rstrip("%")) / 100 for field in row[92:99]])
    buckets = {
        (b.low, b.high): b.share for b in run.bins if (b.metric, b.part) == ("completion_latency", "load.1")
    }
    names = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000]
    shown = {name: float(field.rstrip("%")) / 100 for name, field in zip(names, row[99:109], strict=True)}
    assert buckets.get((50e-6, 100e-6), 0) == pytest.approx(shown[100])
    assert buckets.get((100e-6, 250e-6), 0) == pytest.approx(shown[250])
    utilisation = figure(run, "all", "disk_utilisation", scope="disk", part="vda")
    assert utilisation.text == row[-1].rstrip("%")
    assert {item.threads for item in run.measurements} == {None}  # a line does not tell


def test_a_percentile_is_known_to_its_bin() -> None:
    """6520 µs was cut from the middle of a bin: of 64 per octave, those from 4194304 ns on are 65536 ns wide."""
    line = re.sub(r"99\.900000%=\d+", "99.900000%=6520", TWO_JOBS, count=1)
    run = only_run(f"$ fio --lat_percentiles=1 --minimal load.fio\n{line}")
    item = figure(run, "read", "latency", "p99.9", part="load.0")
    assert (item.low, item.high) == pytest.approx((6488064e-9, 6553600e-9))


def test_percentiles_of_the_total_latency_if_the_command_says_so() -> None:
    run = only_run(f"$ fio --lat_percentiles=1 --minimal load.fio\n{TWO_JOBS}")
    assert figure(run, "read", "latency", "p50", part="load.0").text
    assert not [
        item for item in run.measurements if (item.metric, item.statistic) == ("completion_latency", "p50")
    ]


@pytest.mark.parametrize(
    ("change", "metric"),
    [
        ({}, "completion_or_total_latency"),
        ({12: "0%=0"}, "completion_or_total_latency"),
        ({31: "100.000000%=1892"}, "latency"),  # above 1000, the longest completion
        ({12: "1.000000%=98"}, "completion_latency"),  # below 500, the shortest request
        ({12: "1.000000%=98", 31: "100.000000%=1892"}, "completion_or_total_latency"),  # cannot be either
        ({32: "0", 33: "0", 34: "0.000000", 35: "0.000000"}, "completion_latency"),
        ({8: "0", 9: "0", 10: "0.000000", 11: "0.000000"}, "latency"),
    ],
)
def test_which_latency_the_percentiles_are_of(tmp_path: Path, change: dict[int, str], metric: str) -> None:
    """Completions take 90 to 1000 µs, and whole requests 500 to 1900: what lies in both can be of either."""
    fields = ["4000", "4000", "1000", "1000", "5", "1500", "400.0", "9.0", "90", "1000", "500.0", "9.0"]
    fields += [f"{rank}.000000%=716" for rank in range(1, 21)]
    fields += ["500", "1900", "900.0", "9.0", "0", "0", "0.0%", "0.0", "0.0"]
    for place, text in change.items():
        fields[place] = text
    idle = ["0"] * 4 + ["0", "0", "0.0", "0.0"] * 2 + ["0%=0"] * 20 + ["0", "0", "0.0", "0.0"]
    idle += ["0", "0", "0.0%", "0.0", "0.0"]
    rest = ["1.0%", "2.0%", "10", "0", "20", *["0.1%"] * 29]
    path = tmp_path / "log.terse"
    path.write_text(";".join(["3", "fio-3.33", "load", "0", "0", *fields, *idle, *rest]) + "\n")
    data = fsb.read(path)
    percentiles = data.measurements.filter(pl.col("statistic").str.starts_with("p"))
    assert percentiles["metric"].unique().to_list() == [metric]
    assert percentiles["primary"].all()
    unnamed = metric == "completion_or_total_latency"
    assert ("UNNAMED_LATENCY" in data.diagnostics["code"]) == unnamed


def test_a_job_that_only_writes_has_no_reads() -> None:
    run = only_run(LOGS["3.33-v4-no-space"])
    assert operations(run) == {"write", "all"}
    assert run.status == "failed"
    assert codes(parse(LOGS["3.33-v4-no-space"])) == ["OTHER_TEXT", "OTHER_TEXT", "RUN_FAILED"]


def test_the_oldest_layout() -> None:
    records = parse(LOGS["1.57-v2-description"])
    (run,) = runs(records)
    assert codes(records) == []
    assert operations(run) == {"read", "write", "all"}
    rate = figure(run, "read", "bandwidth")
    assert (rate.low, rate.high) == (121836000, 121837000)  # bytes per ms
    assert figure(run, "read", "runtime").value == 60.004
    assert figure(run, "write", "latency", "max").value == pytest.approx(128085e-6)
    assert figure(run, "write", "bandwidth", "stdev").text == "5644.844189"
    assert not [item for item in run.measurements if item.metric == "iops"]
    assert figure(run, "all", "cpu_system").value == pytest.approx(0.19394167)


def test_layout_3_of_an_old_version() -> None:
    """Of fio 2.x: latencies are taken in µs, so that a percentile's bin is of µs too."""
    run = only_run(LOGS["2.2.10-v3"])
    assert run.tool_version == "2.2.10"
    assert operations(run) == {"write", "all"}
    texts = {(item.metric, item.statistic): item.text for item in run.measurements if item.operation == "write"}
    assert (texts["bytes", "value"], texts["runtime", "value"]) == ("40960", "20480")
    assert (texts["bandwidth", "value"], texts["iops", "value"]) == ("2000", "500")
    assert (texts["submission_latency", "max"], texts["latency", "mean"]) == ("61", "1995.300000")
    median = figure(run, "write", "completion_latency", "p50")
    assert (median.low, median.high) == pytest.approx((1680e-6, 1696e-6))
    assert (texts["bandwidth", "mean"], texts["bandwidth", "max"]) == ("2003.250000", "2304")
    assert [item.text for item in run.measurements if item.part == "vda"] == [
        "12",
        "10251",
        "0",
        "3",
        "8",
        "20312",
        "20320",
        "98.50",
    ]


def test_names_and_descriptions_hold_anything() -> None:
    run = only_run(LOGS["3.33-v2-description"])
    known = {item.key: item.value for item in run.settings}
    assert known == {"job_name": "a b;c=1%", "description": "with 2 jobs; x=5%"}
    assert run.end == len(LOGS["3.33-v2-description"].rstrip())
    line = TWO_JOBS.splitlines()[0]
    run = only_run(f"{line};7;5;a test; of 4k = 50%\n")
    assert figure(run, "all", "errors").value == 7
    assert {item.key: item.value for item in run.settings}["description"] == "a test; of 4k = 50%"
    assert run.status == "failed"


def test_members_of_a_disk() -> None:
    disks = "dm-0;0;110;0;0;0;4;4;0.15%;slaves;0;118;0;28;0;23;0;0.25%;sde;0;118;0;28;0;23;0;0.00%"
    run = only_run(TWO_JOBS.splitlines()[0].rpartition(";vda;")[0] + f";{disks}\n")
    members = [item for item in run.measurements if item.part == "dm-0/members"]
    assert {(item.metric, item.operation, item.statistic): item.text for item in members} == {
        ("disk_ios", "read", "mean"): "0",
        ("disk_ios", "write", "mean"): "118",
        ("disk_merges", "read", "mean"): "0",
        ("disk_merges", "write", "mean"): "28",
        ("disk_ticks", "read", "mean"): "0",
        ("disk_ticks", "write", "mean"): "23",
        ("disk_queue_time", "all", "mean"): "0",
        ("disk_utilisation", "all", "max"): "0.25",
    }
    assert {item.part for item in run.measurements if item.scope == "disk"} == {"dm-0", "dm-0/members", "sde"}


# Runs


def with_disk(line: str, ios: int) -> str:
    return re.sub(r";vda;.*", f";vda;{ios};0;0;0;5;0;5;1.00%", line)


def test_lines_with_the_same_disks_are_jobs_of_one_run() -> None:
    one, other = TWO_JOBS.splitlines()
    records = parse("\n".join([with_disk(one, 9), with_disk(other, 9)]))
    (run,) = runs(records)
    assert {item.part for item in run.measurements if item.scope == "job"} == {"load.0", "load.1"}
    assert len([item for item in run.measurements if item.scope == "disk"]) == 8
    assert codes(records) == []
    assert codes(parse(TWO_JOBS)) == ["AMBIGUOUS_RUNS"]  # its disk did nothing


def test_a_new_report_is_another_run() -> None:
    one, other = TWO_JOBS.splitlines()
    for text in (
        f"{with_disk(one, 9)}\n{with_disk(other, 10)}\n",  # other disks
        f"{one}\nsecond run:\n{other}\n",
        f"{one}\n$ fio --minimal again.fio\n{other}\n",
        f"{one}\n{other.replace('fio-3.33', 'fio-3.36')}\n",
        f"{one.replace('load;0;0', 'load;1;0')}\n{other}\n",  # a smaller number of the group
    ):
        assert len(runs(parse(text))) == 2, text
    names = [one.replace("load", name) for name in ("a", "b", "a", "b")]
    assert len(runs(parse("\n".join(names)))) == 2
    assert len(runs(parse(f"> {one}\n> {other}\n"))) == 1


def later(line: str, kib: int, ms: int) -> str:
    """Return a line with other counts of its writes, and other figures of its disk."""
    fields = with_disk(line, ms).split(";")
    fields[46], fields[49] = str(kib), str(ms)
    return ";".join(fields)


@pytest.mark.parametrize("shows_disk", [True, False])
def test_reports_of_a_run_that_goes_on_are_its_series(shows_disk: bool) -> None:
    moments = [(1790, 894), (3788, 1893), (4004, 2001)]
    rows = [later(line, kib, ms) for kib, ms in moments for line in TWO_JOBS.splitlines()]
    if not shows_disk:
        rows = [row.partition(";vda;")[0] for row in rows]
    records = parse("\n".join(rows))
    (run,) = runs(records)
    assert codes(records).count("INTERIM_REPORT") == 2
    assert figure(run, "write", "bytes", part="load.1").text == "4004"
    series = {(b.part, b.operation): b for b in records if isinstance(b, Block)}
    assert set(series) == {(part, operation) for part in ("load.0", "load.1") for operation in ("read", "write")}
    writes = series["load.1", "write"]
    assert (list(writes.times), list(writes.values)) == ([0.894, 1.893, 2.001], [n * 1024 for n, _ in moments])
    assert list(writes.lines) == [2, 4, 6]


def test_runs_of_one_job_are_not_its_series() -> None:
    """Each of them started from nothing and ran for the same time."""
    line = TWO_JOBS.splitlines()[0]
    rows = [later(line, kib, ms) for kib, ms in ((4100, 2001), (4140, 2002), (4180, 2003))]
    assert len(runs(parse("\n".join(rows)))) == 3


# Damage


def texts(run: Run) -> list[tuple[object, ...]]:
    return [(item.part, item.operation, item.metric, item.statistic, item.text) for item in run.measurements]


LINE = with_disk(TWO_JOBS.splitlines()[1], 9)


@pytest.mark.parametrize("width", [20, 72, 80, 100])
@pytest.mark.parametrize("prefix", ["", "> ", "    +", "# ", "// "])
def test_a_wrapped_line_is_put_together(width: int, prefix: str) -> None:
    rows = [prefix + LINE[at : at + width] for at in range(0, len(LINE), width)]
    records = parse("\n".join(rows) + "\n")
    (run,) = runs(records)
    assert texts(run) == texts(only_run(LINE))
    assert codes(records) == ["REPAIRED"]


def test_an_annotated_line_is_put_together() -> None:
    fields = LINE.split(";")
    rows = [f"#   {';'.join(fields[at : at + 9])}; ({at}) [{at}, {at + 1}]" for at in range(0, len(fields), 9)]
    records = parse("\n".join(rows)[: -len("; (117) [117, 118]")] + "\n# a test of 16 jobs, once more\n")
    (run,) = runs(records)
    assert texts(run) == texts(only_run(LINE))
    assert codes(records) == ["REPAIRED", "OTHER_TEXT"]


def test_lines_on_one_line() -> None:
    assert texts(only_run(" ".join(TWO_JOBS.splitlines()))) == texts(only_run(TWO_JOBS))
    assert texts(only_run(f"{LINE} $ echo 17 done")) == texts(only_run(LINE))


@pytest.mark.parametrize("log", LOGS)
def test_a_line_can_be_cut_anywhere(log: str) -> None:
    """No figure of what is left differs from the whole line's, and what is missing is said."""
    line = next(row for row in LOGS[log].splitlines() if re.match(r"[2-5];", row))
    whole = {(m.operation, m.metric, m.statistic): m.text for m in only_run(line).measurements if m.scope == "job"}
    fixed = [i for i, char in enumerate(line) if char == ";"][-1 - 9 * line.count(";vda;")]
    for end in range(20, fixed, 3):
        records = parse(line[:end])
        for run in runs(records):
            assert run.status in {"partial", "failed"}
            for item in run.measurements:
                assert whole[(item.operation, item.metric, item.statistic)] == item.text, end
        assert {"INCOMPLETE_LOG", "UNREAD_FIGURE"} & set(codes(records)), end


def test_a_damaged_field_is_not_jumped_over() -> None:
    damaged = LINE.replace(";99.900000%=", ";99.9*=", 1)
    records = parse(damaged)
    assert runs(records) == []
    assert codes(records) == ["UNREAD_FIGURE"]
    head, tail = LINE.rsplit("99.900000%=", 1)
    records = parse(f"{head}99.9*={tail}")
    assert operations(runs(records)[0]) == {"read"}
    assert sorted(codes(records)) == ["INCOMPLETE_LOG", "UNREAD_FIGURE"]


def test_only_its_own_lines_are_recognised() -> None:
    for text in LOGS.values():
        assert fio_terse in {log_format for _, log_format in sniff(text)}
    for folder in ("fio_normal", "fio_json", "sysbench", "iozone"):
        for path in (ROOT / "tests" / "data" / folder).iterdir():
            assert not list(fio_terse.signatures(path.read_text())), path


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_lines_never_raise(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(list(LOGS.values())))
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 40)))
    insert = data.draw(st.sampled_from(["", ";", "-1", "nan%", "0%=0", "\n", "3;fio-3;", "99999999999999999999"]))
    for run in runs(parse(text[:start] + insert + text[stop:])):
        assert all(item.low is not None or item.high is None for item in run.measurements)


CORPUS = os.environ.get("FSBENCH_CORPUS")


@pytest.mark.skipif(CORPUS is None, reason="FSBENCH_CORPUS names no folder of real logs")
def test_real_lines_are_understood() -> None:
    read = {}
    for path in sorted(
        [*Path(CORPUS or "", "fio", "terse").iterdir(), *Path(CORPUS or "", "fio", "mixed").iterdir()]
    ):
        text = decode(path.read_bytes(), path.name)
        assert text is not None
        read[path.name.partition("_")[0]] = [
            (run.tool_version, run.status, operations(run)) for run in runs(list(fio_terse.parse(text)))
        ]
    assert read["ruby"] == [("2.1.10", "ok", {"read", "write", "all"})]
    assert read["pvc"] == [("3.12", "ok", {"read", "all"}), ("3.12", "ok", {"write", "all"})]
    assert read["cn"] == [("3.32", "ok", {"read", "all"})]


def test_a_percentile_of_2_begins_no_line() -> None:
    log = LOGS["3.33-v5-percentile-of-2"]
    assert len(list(fio_terse.signatures(log))) == log.count("\n") == 3
    run = only_run(log)
    assert [figure(run, "write", "bytes", part=f"load.{job}").text for job in range(3)] == [
        "32896",
        "33032",
        "33048",
    ]
