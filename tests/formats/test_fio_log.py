"""Log files of fio: columns, units and bins by what fio's own code prints, and by real runs of fio.

Expected figures come from the rows as they stand in a test, or from fio's JSON report of the same run.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsbench_kit as fsb
from fsbench_kit.formats.fio_log.histograms import Bins
from fsbench_kit.formats.fio_log.layout import LogName
from fsbench_kit.model.errors import InputError, RequestError

Write = Callable[..., Path]
DATA = Path(__file__).parents[1] / "data" / "fio_log"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str | bytes, name: str = "job_clat.1.log") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def _rows(path: Path, kind: Any = None, **more: Any) -> list[tuple[Any, ...]]:
    rows = fsb.scan_fio_log(path, kind, **more).filter(pl.col("unread").is_null())
    return rows.select("time", "value", "operation", "block_size").collect().rows()


# Names


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("nightly_bw.1.log", ("nightly", "bw", 1, ".log")),
        ("a_b_iops.12.log", ("a_b", "iops", 12, ".log")),
        ("x_lat.log", ("x", "lat", None, ".log")),
        ("x_slat.2.log", ("x", "slat", 2, ".log")),
        ("x_clat_hist.3.log", ("x", None, 3, ".log")),
        ("x_bw.1_copy.log", ("x", "bw", 1, "_copy.log")),
        ("iops_3.6.log", ("", "iops", None, "_3.6.log")),
        ("lat_clat.1.log", ("lat", "clat", 1, ".log")),
        ("platform.log", ("platform.log", None, None, "")),
    ],
)
def test_names(name: str, parts: tuple[object, ...]) -> None:
    found = LogName.of(name)
    assert (found.prefix, found.kind, found.job, found.rest) == parts


# Columns


LAYOUTS = {
    "2.x": ("5, 700, 0, 4096\n6, 800, 1, 8192\n", {}),
    "2.x with offsets": ("5, 700, 0, 4096, 12288\n6, 800, 1, 8192, 0\n", {"offset": [12288, 0]}),
    "3.x": ("5, 700, 0, 4096, 0\n6, 800, 1, 8192, 1\n", {"priority": [0, 1]}),
    "log_prio": ("5, 700, 0, 4096, 0x0001\n6, 800, 1, 8192, 0x2004\n", {"priority": [1, 0x2004]}),
    "log_offset": (
        "5, 700, 0, 4096, 12288, 0\n6, 800, 1, 8192, 0, 0\n",
        {"offset": [12288, 0], "priority": [0, 0]},
    ),
    "log_issue_time": (
        "5, 700, 0, 4096, 0, 4000000000\n6, 800, 1, 8192, 0, 5000000000\n",
        {"priority": [0, 0], "issue_time": [4.0, 5.0]},
    ),
    "all": (
        "5, 700, 0, 4096, 12288, 0, 4000000000\n6, 800, 1, 8192, 0, 0, 5000000000\n",
        {"offset": [12288, 0], "priority": [0, 0], "issue_time": [4.0, 5.0]},
    ),
}


@pytest.mark.parametrize(("text", "more"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_columns_are_told_by_what_they_hold(write: Write, text: str, more: dict[str, list[Any]]) -> None:
    frame = fsb.scan_fio_log(write(text), fio_version="3.33").collect()
    assert frame["time"].to_list() == [0.005, 0.006]
    assert frame["value"].to_list() == pytest.approx([700e-9, 800e-9])
    assert frame["operation"].to_list() == ["read", "write"]
    assert frame["block_size"].to_list() == [4096, 8192]
    for name in ("offset", "priority", "issue_time", "largest"):
        assert frame[name].to_list() == more.get(name, [None, None])


@pytest.mark.parametrize("tail", [", 0", ", 0, 0"])
def test_both_values_of_a_window(write: Write, tail: str) -> None:
    text = f"500, 1200, 9000, 0, 0{tail}\n500, 300, 4000, 1, 0{tail}\n"
    frame = fsb.scan_fio_log(write(text)).collect()
    assert frame["value"].to_list() == pytest.approx([1200e-9, 300e-9])
    assert frame["largest"].to_list() == pytest.approx([9000e-9, 4000e-9])
    assert frame["operation"].to_list() == ["read", "write"]


def test_values_beyond_32_bits_and_the_sync_direction(write: Write) -> None:
    rows = _rows(write("5000, 4294967296123, 3, 4096, 0\n5001, 7, 2, 4096, 0\n"))
    assert rows == [
        (5.0, pytest.approx(4294.967296123), "sync", 4096),
        (5.001, pytest.approx(7e-9), "trim", 4096),
    ]


# Units


def test_bandwidth_of_windows_is_in_kib_and_of_requests_in_kb(write: Write) -> None:
    assert _rows(write("500, 1024, 0, 0, 0\n", "x_bw.1.log")) == [(0.5, 1024.0 * 1024, "read", 0)]
    assert _rows(write("500, 1024, 0, 4096, 0\n", "x_bw.1.log")) == [(0.5, 1024.0 * 1000, "read", 4096)]


@pytest.mark.parametrize(("version", "seconds"), [("2.17", 700e-6), ("fio-3.33", 700e-9), ("3.0", 700e-9)])
def test_the_version_decides_the_unit_of_latencies(write: Write, version: str, seconds: float) -> None:
    rows = _rows(write("5, 700, 0, 4096\n"), fio_version=version)
    assert rows == [(0.005, pytest.approx(seconds), "read", 4096)]


def test_logs_of_fio_2() -> None:
    """Four columns, and a fifth for the offset if it was asked for; latencies in µs, windows in KiB/s."""
    version = {"fio_version": "2.2.10"}
    assert _rows(DATA / "2.2.10-requests_clat.1.log", **version) == [
        (0.0, pytest.approx(152e-6), "read", 4096),
        (0.001, pytest.approx(1034e-6), "write", 4096),
        (0.001, pytest.approx(98e-6), "read", 4096),
        (0.002, pytest.approx(187e-6), "read", 4096),
        (0.003, pytest.approx(40213e-6), "write", 4096),
    ]
    assert _rows(DATA / "2.2.10-windows_bw.1.log", **version) == [
        (0.5, 20480 * 1024, "read", 0),
        (0.5, 8192 * 1024, "write", 0),
        (1.0, 20512 * 1024, "read", 0),
        (1.0, 8160 * 1024, "write", 0),
    ]
    offsets = fsb.scan_fio_log(DATA / "2.16-offsets_lat.1.log", fio_version="2.16").collect()
    assert offsets["offset"].to_list() == [8192, 40960, 0]
    assert offsets["priority"].null_count() == 3


def test_rows_that_had_taken_longer_than_the_run_are_in_ns(write: Write) -> None:
    rows = _rows(write("64, 64165618, 0, 131072\n65, 65227485, 0, 131072\n"))
    assert rows[0] == (0.064, pytest.approx(0.064165618), "read", 131072)


def test_where_nothing_tells_the_unit_it_has_to_be_given(write: Write) -> None:
    path = write("5, 700, 0, 4096\n")
    with pytest.raises(RequestError, match="fio_version"):
        fsb.scan_fio_log(path)
    data = fsb.read(path)
    assert set(data.measurements["metric"]) == {"operations", "bytes"}
    assert data.diagnostics["code"].to_list() == ["UNKNOWN_UNIT"]


def test_where_nothing_tells_the_kind_it_has_to_be_given(write: Write) -> None:
    path = write("5, 700, 0, 4096, 0\n", "numbers.log")
    with pytest.raises(RequestError, match="kind: bw, iops, lat, clat, slat"):
        fsb.scan_fio_log(path)
    assert _rows(path, "lat") == [(0.005, pytest.approx(700e-9), "read", 4096)]
    data = fsb.read(path)
    assert sorted(data.measurements.select("metric", "value").rows()) == [("bytes", 4096), ("operations", 1)]
    assert data.diagnostics["code"].to_list() == ["UNKNOWN_KIND"]


def test_numbers_of_something_else_are_no_log(write: Write) -> None:
    with pytest.raises(InputError, match="No log of"):
        fsb.read(write("1600000000, 5, 1, 17\n1600000060, 6, 0, 19\n", "sensor.csv"))


def test_one_log_of_a_run_tells_the_unit_of_the_others(write: Write, tmp_path: Path) -> None:
    write("5, 700, 0, 4096\n", "x_clat.1.log")
    write(_histogram_row(1000, 0, {128: 1}, 1216), "x_clat_hist.1.log")  # µs, as fio 2 has it
    assert fsb.read(tmp_path).measurements.filter(statistic="max")["value"].to_list() == pytest.approx([700e-6])
    write("5, 900, 0, 4096, 0\n", "x_slat.1.log")
    (tmp_path / "x_clat_hist.1.log").unlink()
    assert fsb.read(tmp_path).measurements.filter(statistic="max")["value"].to_list() == pytest.approx(
        [700e-9, 900e-9]
    )


def test_windows_of_an_unknown_kind_are_no_run(write: Write) -> None:
    with pytest.raises(InputError, match=r"name_clat\.1\.log"):
        fsb.read(write("500, 700, 0, 0\n1000, 800, 0, 0\n", "numbers.log"))


@pytest.mark.parametrize(
    "text", ["", "hello\n", "1, 2, 3\n", "1, 2, 7, 4096\n", "1, 2, 0, 3\n", "a\nb\n1, 2, 0, 4096\n"]
)
def test_what_is_no_log(write: Write, text: str) -> None:
    with pytest.raises(InputError, match="not a fio log of"):
        fsb.scan_fio_log(write(text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for scan in (fsb.scan_fio_log, fsb.scan_fio_histograms):
        with pytest.raises(InputError, match="No such file"):
            scan(tmp_path / "x_bw.1.log")


# Damage


BROKEN = """\
$ cat job_clat.1.log
1, 1000, 0, 4096, 0
2, 2000, 0, 4096, 0

3, 4w00, 0, 4096, 0
4, 3000, 0
5, 10, 4000, 0, 4096, 0
  6, 5000,0, 4096, 0
Connection closed.
7, 99999999999999999999, 0, 4096, 0
8, 6000, 4, 4096, 0
9, 6000, 0, 4096, 0
10, 7000, 0, 4096, 0
11, 8000, 0, 4096, 0
12, 8000, 0, 4096, 0
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("piece", [50, 2**20])
def test_lines_that_are_no_rows_are_named_and_stop_nothing(
    write: Write, monkeypatch: pytest.MonkeyPatch, newline: str, piece: int
) -> None:
    monkeypatch.setattr("fsbench_kit.formats.fio_log.rows.PIECE_SIZE", piece)
    path = write(BROKEN.replace("\n", newline))
    rows = fsb.scan_fio_log(path).collect()
    unread = rows.filter(pl.col("unread").is_not_null())
    assert unread["line"].to_list() == [1, 5, 6, 7, 9, 10, 11]
    assert unread["value"].null_count() == 7
    assert rows.filter(pl.col("unread").is_null())["line"].to_list() == [2, 3, 8, 12, 13, 14, 15]
    data = fsb.read(path)
    figure = data.measurements.filter(metric="completion_latency", statistic="mean").row(0, named=True)
    assert figure["value"] == pytest.approx((1 + 2 + 5 + 6 + 7 + 8 + 8) / 7 * 1e-6)
    assert figure["samples"] == 7
    said = data.diagnostics.filter(code="UNREAD_FIGURE")
    assert said["line"].to_list() == [1, 5, 6, 7, 9, None]
    assert said["excerpt"].to_list()[:2] == ["$ cat job_clat.1.log", "3, 4w00, 0, 4096, 0"]
    assert "7 lines are not rows" in said["message"][-1]


_CELL = st.one_of(
    st.integers(0, 9),
    st.integers(0, 2**64),
    st.sampled_from(["4096", "0x0001", "-1", "x", "", "0", "1", " 7 ", "99999999999999999999999"]),
)
_LINE = st.lists(_CELL, min_size=3, max_size=8).map(lambda cells: ", ".join(map(str, cells)))


@given(st.lists(_LINE, min_size=1, max_size=6), st.sampled_from(["x_bw.1.log", "x_clat.log", "x_iops.log", "x"]))
@settings(max_examples=60, deadline=None)
def test_any_rows_of_numbers_are_read_or_refused(lines: list[str], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text("\n".join(lines))
        with contextlib.suppress(InputError):
            data = fsb.read(path)
            assert data.measurements["value"].drop_nulls().ge(0).all()


def test_a_prefix_that_all_lines_have(write: Write) -> None:
    text = "".join(f"node1: {time}, {time * 100}, 0, 4096, 0\n" for time in range(1, 4))
    assert _rows(write(text)) == [
        (time / 1000, pytest.approx(time * 100e-9), "read", 4096) for time in range(1, 4)
    ]


def test_a_last_line_without_its_end_may_be_cut(write: Write) -> None:
    data = fsb.read(write("1, 1000, 0, 4096, 0\n2, 2000, 0, 4096, 0"))
    assert data.diagnostics["code"].to_list() == ["INCOMPLETE_LOG"]
    assert fsb.read(write("1, 1000, 0, 4096, 0\n")).diagnostics.is_empty()


ROWS = [
    f"{index // 4}, {40_000 + 977 * index % 90_000}, {index % 2}, 4096, {4096 * index}, 0" for index in range(1500)
]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="of Windows"),
        pytest.param(lambda text: text.replace(", ", "\t ,  "), id="wide"),
        pytest.param(lambda text: text.replace(", 0\n", ", 0x0000\n"), id="hexadecimal priorities"),
        pytest.param(lambda text: text.replace("\n", "\n\n", 100), id="empty lines"),
        pytest.param(lambda text: f"{text}400, 4w000, 1, 4096, 0, 0\n", id="damaged"),
        pytest.param(lambda text: f"{text}400, 99999999999999999999, 1, 4096, 0, 0\n", id="too large"),
        pytest.param(lambda text: f"{text}400, 40000, 9, 4096, 0, 0\n", id="no direction"),
        pytest.param(lambda text: f"{text}400, +40000, 1, 4096, 0, 0\n", id="a sign"),
        pytest.param(lambda text: f"{text}400, 40000, 1, 4096, , 0\n", id="a cell is missing"),
        pytest.param(lambda text: f"{text}400, 40000, 1, 4096, 0\n", id="a column is missing"),
        pytest.param(lambda text: f"{text}400, 40000, 1, 4096, 0, 0, 0\n", id="a column too many"),
    ],
)
@pytest.mark.parametrize("copies", [1, 20])
def test_rows_are_the_same_however_they_are_written(
    write: Write, tmp_path: Path, other: Callable[[str], str], copies: int
) -> None:
    plain = "".join(f"{row}\n" for row in copies * ROWS)
    write(plain)
    expected = fsb.read(tmp_path)
    write(other(plain))
    data = fsb.read(tmp_path)
    for name in ("measurements", "distributions", "series"):
        frame, like = getattr(data, name), getattr(expected, name)
        assert frame.drop("run_id").equals(like.drop("run_id"))


def test_rows_as_fio_prints_them_are_not_matched_line_by_line(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fsbench_kit.formats.fio_log.rows.scan_rows", None)
    data = fsb.read(write("".join(f"{row}\n" for row in ROWS)))
    assert data.measurements.filter(metric="operations")["value"].to_list() == [750, 750]


@pytest.mark.parametrize("piece", [1, 2**20])
def test_rows_of_several_runs_in_one_file(write: Write, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr("fsbench_kit.formats.fio_log.rows.PIECE_SIZE", piece)
    one = "".join(f"{time}, 1000, 0, 4096, 0\n" for time in range(100, 1000, 100))
    data = fsb.read(write(one * 3))
    assert data.diagnostics.select("code", "message").rows() == [
        (
            "TIME_FALLS_BACK",
            "Times go back 2 times: the rows of several jobs or runs follow each other.",
        )
    ]


def test_doubled_lines_are_noticed(write: Write) -> None:
    doubled = "".join(f"{time}, {time + 700}, 0, 4096, 0\n" * 2 for time in range(1, 9))
    assert fsb.read(write(doubled)).diagnostics["code"].to_list() == ["DOUBLED_ROWS"]
    alike = "1, 1, 0, 4096, 0\n" * 8  # requests of one millisecond
    assert fsb.read(write(alike, "x_iops.1.log")).diagnostics.is_empty()


# Statistics


def test_statistics_over_windows_are_called_so(write: Write) -> None:
    rows = [(1000, 5089, 0), (2000, 5305, 0), (2000, 5182, 1), (3000, 5249, 0)]
    data = fsb.read(write("".join(f"{t}, {v}, {d}, 0, 0\n" for t, v, d in rows), "x_iops.1.log"))
    figures = data.measurements.filter(operation="read")
    assert set(data.measurements["metric"]) == {"iops"}
    values = dict(figures.select("statistic", "value").rows())
    assert values == {
        "window_mean": pytest.approx((5089 + 5305 + 5249) / 3),
        "window_min": 5089,
        "window_max": 5305,
        "window_stdev": pytest.approx(112.0952, rel=1e-6),
    }
    assert figures["samples"].unique().to_list() == [3]
    assert figures["scope"].unique().to_list() == ["job"]
    assert figures["part"].unique().to_list() == ["1"]
    assert data.series.filter(operation="read").select("time", "value").rows() == [
        (1.0, 5089.0),
        (2.0, 5305.0),
        (3.0, 5249.0),
    ]


def test_the_largest_latency_of_windows_is_the_largest_of_all(write: Write) -> None:
    data = fsb.read(write("500, 1200, 9000, 0, 0, 0\n999, 300, 4000, 0, 0, 0\n"))
    values = dict(data.measurements.select("statistic", "value").rows())
    assert values["max"] == pytest.approx(9e-6)
    assert values["window_max"] == pytest.approx(1.2e-6)
    assert set(data.series["statistic"]) == {"value", "max"}


def test_percentiles_are_those_of_the_values_themselves(write: Write) -> None:
    values = [(7919 * index) % 100_003 + 150 for index in range(5000)]
    text = "".join(f"{index}, {value}, 1, 4096, 0\n" for index, value in enumerate(values))
    figures = fsb.read(write(text)).measurements.filter(metric="completion_latency")
    known = dict(figures.select("statistic", "value").rows())
    ordered = sorted(values)
    for statistic, rank in (("p1", 50), ("p50", 2500), ("p95", 4750), ("p99", 4950), ("p99.99", 5000)):
        assert known[statistic] == pytest.approx(ordered[rank - 1] * 1e-9)


def test_the_distribution_has_the_bins_of_fio(write: Write) -> None:
    data = fsb.read(write("1, 127, 0, 4096, 0\n2, 2433, 0, 4096, 0\n3, 2463, 0, 4096, 0\n4, 2464, 0, 4096, 0\n"))
    bins = data.distributions.select("low", "high", "count").rows()
    assert [(round(low * 1e9), round(high * 1e9), count) for low, high, count in bins] == [
        (127, 127, 1),
        (2432, 2464, 2),
        (2464, 2496, 1),
    ]


def test_a_long_log_is_left_to_the_scan(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsbench_kit.formats.fio_log.figures.SERIES_LIMIT", 3)
    data = fsb.read(write("1, 1000, 0, 4096, 0\n" * 2 + "2, 1000, 0, 4096, 0\n2, 1200, 0, 4096, 0\n"))
    assert data.series.is_empty()
    assert data.diagnostics["code"].to_list() == ["SERIES_LEFT"]


def test_pieces_of_a_file_come_to_the_whole(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    values = [(7919 * index) % 100_003 + 150 for index in range(999)]
    path = write("".join(f"{index}, {value}, {index % 2}, 4096, 0\n" for index, value in enumerate(values)))
    whole = fsb.read(path).measurements.drop("run_id")
    monkeypatch.setattr("fsbench_kit.formats.fio_log.rows.PIECE_SIZE", 1000)
    parts = fsb.read(path).measurements.drop("run_id")
    assert parts.select(pl.all().exclude("value", "low", "high", "text")).equals(
        whole.select(pl.all().exclude("value", "low", "high", "text"))
    )
    assert parts["value"].to_list() == pytest.approx(whole["value"].to_list(), rel=1e-12)


# Histograms


def _middle_of_bin(index: int) -> float:
    """Return the middle of a bin, as ``plat_idx_to_val`` of fio's stat.c computes it."""
    if index < 128:
        return index
    error_bits = (index >> 6) - 1
    return float((1 << (error_bits + 6)) + int((index % 64 + 0.5) * (1 << error_bits)))


@pytest.mark.parametrize(("unit", "number"), [("us", 1216), ("ns", 1856)])
def test_bounds_of_bins_hold_the_middles_of_fio(unit: Any, number: int) -> None:
    bounds = Bins(unit, 1).bounds()
    per_second = {"us": 1e6, "ns": 1e9}[unit]
    assert bounds.height == number
    for index, (low, high) in enumerate(bounds.rows()):
        if high is not None:
            assert (low + high) / 2 * per_second == pytest.approx(_middle_of_bin(index), rel=1e-12)
    assert bounds["high"].null_count() == 1


def _histogram_row(time: int, direction: int, counts: dict[int, int], number: int) -> str:
    return ", ".join(map(str, (time, direction, 4096, *(counts.get(index, 0) for index in range(number))))) + "\n"


@pytest.mark.parametrize("coarseness", range(7))
@pytest.mark.parametrize(("whole", "per_second"), [(1216, 1e6), (1856, 1e9)])
def test_histograms_of_any_coarseness(write: Write, whole: int, per_second: float, coarseness: int) -> None:
    number = whole >> coarseness
    text = _histogram_row(1000, 0, {5: 2, 6: 1}, number) + _histogram_row(2000, 0, {5: 1}, number)
    path = write(text, "x_clat_hist.1.log")
    frame = fsb.merged_histogram(fsb.scan_fio_histograms(path))
    assert frame.select("operation", "count").rows() == [("read", 3), ("read", 1)]
    low, high = frame.select("low", "high").row(0)
    step = 2**coarseness
    values = [value for value in range(10_000) if _index(value) // step == 5]
    assert round(low * per_second) == min(values)
    assert round(high * per_second) in {max(values), max(values) + 1}


def _index(value: int) -> int:
    """Return the bin of a value, as ``plat_val_to_idx`` of fio's stat.c computes it."""
    if value < 128:
        return value
    error_bits = value.bit_length() - 7
    return ((error_bits + 1) << 6) + ((value >> error_bits) & 63)


def test_damaged_histograms_are_named(write: Write) -> None:
    row = _histogram_row(1000, 1, {200: 7}, 1856)
    path = write(row + row[:300] + "\nhello\n" + row.replace(", 7,", ", x,") + row * 2, "x_clat_hist.1.log")
    frame = fsb.scan_fio_histograms(path).collect()
    assert frame.filter(pl.col("unread").is_not_null())["line"].to_list() == [2, 3, 4]
    assert frame["count"].sum() == 21
    data = fsb.read(path)
    assert data.diagnostics["line"].to_list() == [2, 3, 4]
    assert data.distributions.select("operation", "count").rows() == [("write", 21)]


@pytest.mark.parametrize("count", [6 * 10**18, 2 * 10**19, 2 * 10**9])
def test_a_window_that_counts_more_than_its_time_allows_is_refused(write: Write, count: int) -> None:
    """A second has 10^9 ns; and two counts of 6 x 10^18 together are more than 64 bits hold."""
    honest = _histogram_row(1000, 0, {1592: 6, 1603: 1}, 1856)
    path = write(honest + _histogram_row(1000, 0, {1592: count, 1603: count}, 1856) + honest, "x_clat_hist.1.log")
    data = fsb.read(path)
    (item,) = data.diagnostics.rows(named=True)
    assert (item["code"], item["line"]) == ("UNREAD_FIGURE", 2)
    assert f"counts {2 * count} requests" in item["message"]
    assert item["excerpt"].startswith("1000, 0, 4096")
    assert data.distributions["count"].to_list() == [12, 2]
    assert set(data.measurements["samples"]) == {14}


def test_histograms_that_come_to_more_than_a_run_can_make_give_no_percentiles(write: Write) -> None:
    """Each row passes by its time, which is that of an epoch; all of them together do not fit into 64 bits."""
    row = _histogram_row(1_700_000_000_000, 0, {200: 10**18}, 1856)
    path = write(row * 20, "x_clat_hist.1.log")
    with pytest.raises(InputError, match="20000000000000000000 requests"):
        fsb.merged_histogram(fsb.scan_fio_histograms(path))
    with pytest.raises(InputError, match="20000000000000000000 requests"):
        fsb.read(path)


def test_a_histogram_is_held_against_a_log_of_its_requests(tmp_path: Path) -> None:
    """The histogram of a window counts the requests until its end: five of the seven that were logged."""
    requests = "".join(f"{time}, 52000, 0, 4096, 0, 0\n" for time in (10, 20, 30, 40, 90, 150, 180))
    (tmp_path / "x_clat.1.log").write_text(requests)
    for count, codes in ((5, set()), (4, {"FIGURES_DISAGREE"}), (6, {"FIGURES_DISAGREE"})):
        (tmp_path / "x_clat_hist.1.log").write_text(_histogram_row(100, 0, {700: count}, 1856))
        found = fsb.read(tmp_path).diagnostics
        assert set(found["code"]) == codes
        assert found["source"].to_list() == [str(tmp_path / "x_clat_hist.1.log")] * len(codes)


def test_no_histograms(write: Write) -> None:
    with pytest.raises(InputError, match="not a histogram log"):
        fsb.scan_fio_histograms(write("1, 2, 0, 4096\n"))


def test_the_last_bin_has_no_upper_end(write: Write) -> None:
    data = fsb.read(write(_histogram_row(1000, 0, {1855: 3}, 1856), "x_clat_hist.1.log"))
    assert data.distributions["high"].to_list() == [None]
    figure = data.measurements.filter(statistic="p50").row(0, named=True)
    assert (figure["state"], figure["value"], figure["high"]) == ("censored", None, None)
