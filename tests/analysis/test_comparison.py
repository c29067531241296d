"""Comparisons say what runs can show, and refuse the rest with a reason."""

import cProfile
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import fsbench_kit as fsb
from fsbench_kit.analysis.verdict import REASONS
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.dataset import LazyDataset
from fsbench_kit.data.log import Log
from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.records import Diagnostic, Measurement, Run, Setting

START = datetime(2026, 1, 1)  # logs print no time zone


def _rates(*rates: float, filesystem: str, rounds: bool = False, **facts: object) -> list[Log]:
    """One log for each rate, of one read figure, which lies within half of its last digit if that is given."""
    logs = []
    half = float(str(facts.get("half", 0)))
    for number, rate in enumerate(rates, 1):
        figure = Measurement(
            operation=str(facts.get("operation", "read")),
            metric=str(facts.get("metric", "iops")),
            statistic=str(facts.get("statistic", "value")),
            value=rate,
            unit="1/s",
            low=max(rate - half, 0.0),
            high=rate + half,
            text=str(rate),
            line=1,
        )
        extra = tuple(Setting(key=k, value=v) for k, v in dict(facts.get("settings", {})).items())  # type: ignore[call-overload]
        run = Run(
            tool="fio", start=0, end=8, line=1, filesystem=filesystem, measurements=(figure,), settings=extra
        )
        order = 2 * number + (filesystem == "xfs") * (-1) ** number
        logs.append(
            Log(
                source=f"{filesystem}-{number}",
                data=f"{filesystem}{number:04d}{rate}".encode(),
                records=[run],
                study=str(facts.get("study", "s")),
                stage=facts.get("stage"),  # type: ignore[arg-type]
                round=number if rounds else None,
                target=facts.get("target"),  # type: ignore[arg-type]
                host="h",
                status=str(facts.get("status", "ok")),
                averaged_over=facts.get("averaged_over"),  # type: ignore[arg-type]
                started_at=facts.get("started_at", START + timedelta(minutes=order)),  # type: ignore[arg-type]
                ended_at=facts.get("ended_at", START + timedelta(minutes=order, seconds=30)),  # type: ignore[arg-type]
            )
        )
    return logs


def _rounds(*of_rounds: tuple[float, ...], filesystem: str, host: str | None = None) -> list[Log]:
    """One log for each rate, in rounds of several each; or else on several hosts."""
    return [
        replace(
            log,
            round=None if host else number,
            host=f"{host}{number}" if host else "h",
            source=f"{log.source}.{number}",
        )
        for number, rates in enumerate(of_rounds, 1)
        for log in _rates(*rates, filesystem=filesystem)
    ]


def _many(cells: int, runs: int, *, rounds: bool) -> list[Log]:
    """Logs of a matrix: each run has a figure in each cell."""
    noise = np.random.default_rng(7).normal(0, 0.05, (2, runs, cells))
    logs = []
    for side, (filesystem, rate) in enumerate((("ext4", 100.0), ("xfs", 130.0))):
        for number, log in enumerate(_rates(*[rate] * runs, filesystem=filesystem, rounds=rounds)):
            (run,) = log.records
            assert isinstance(run, Run)
            rates = [rate * float(np.exp(off)) for off in noise[side, number]]
            figures = tuple(
                replace(run.measurements[0], block_size=4096 * cell, value=value, low=value, high=value)
                for cell, value in enumerate(rates, 1)
            )
            logs.append(replace(log, records=[replace(run, measurements=figures)]))
    return logs


def _compared(*logs: list[Log], **options: object) -> pl.DataFrame:
    """What a comparison of some logs says, which is the same where they are not in memory."""
    data = assemble([log for side in logs for log in side])
    on_disk = LazyDataset(**{name: frame.lazy() for name, frame in data.frames.items()})
    table = fsb.compare(data, **options)  # type: ignore[arg-type]
    assert_frame_equal(fsb.compare(on_disk, **options), table)  # type: ignore[arg-type]
    return table


def _row(*logs: list[Log], **options: object) -> dict[str, object]:
    table = _compared(*logs, **options)
    assert table.height == 1
    return table.row(0, named=True)


def test_single_runs_get_a_ratio_its_rounding_and_the_break_even_noise() -> None:
    row = _row(_rates(100, filesystem="ext4", half=0.5), _rates(200, filesystem="xfs", half=0.5))
    assert row["ratio"] == pytest.approx(2)
    assert row["rounding_low"] == pytest.approx(199.5 / 100.5)
    assert row["rounding_high"] == pytest.approx(200.5 / 99.5)
    # ln 2 / (1.96 sqrt 2) = 0.2501 as a log-sd; as a coefficient of variation sqrt(exp(s^2) - 1) = 0.2541
    assert row["break_even_cv"] == pytest.approx(0.2541, abs=5e-4)
    assert row["ci_low"] is row["ci_high"] is row["p"] is row["confidence"] is None
    assert row["verdict"] == "single runs"
    assert row["reasons"] == ["ONE_RUN_NO_REPLICATES"]


def test_published_means_bear_more_noise_than_runs(published: Path) -> None:
    table = fsb.compare(fsb.read(published / "fileserver-debian-2006"))
    row = table.filter(operation="copy_large_file", metric="elapsed", level="jfs").row(0, named=True)
    # 35.1 s against 38.2 s: ln(38.2 / 35.1) / (1.959964 sqrt 2) = 0.0305 for runs, times sqrt 3 for means of three
    assert row["break_even_cv"] == pytest.approx(0.0529, abs=5e-5)
    assert (row["averaged_over_baseline"], row["averaged_over_candidate"]) == (3, 3)
    assert row["footnotes"] == [
        "Each figure is the mean of 3 runs; their spread is not known.",
        "A group has a single mean of several runs, which says nothing about the variation between runs.",
    ]


def test_a_mean_of_runs_beside_a_run() -> None:
    row = _row(_rates(100, filesystem="ext4", averaged_over=3), _rates(200, filesystem="xfs"))
    # (1 + c^2 / 3) (1 + c^2) = exp((ln 2 / 1.959964)^2) = 1.13323: c^2 = -2 + sqrt(4 + 3 * 0.13323) = 0.09754
    assert row["break_even_cv"] == pytest.approx(0.3123, abs=1e-4)
    assert (row["averaged_over_baseline"], row["averaged_over_candidate"]) == (3, None)
    assert "Each figure of ext4 is the mean of 3 runs; their spread is not known." in row["footnotes"]  # type: ignore[operator]


def test_runs_of_the_same_rounds_are_pairs() -> None:
    # log ratios ln 2, ln 2.2, ln 1.8: mean .691333, sd .100406, half-width t_2(.975) * sd / sqrt 3
    row = _row(
        _rates(100, 200, 150, filesystem="ext4", rounds=True), _rates(200, 440, 270, filesystem="xfs", rounds=True)
    )
    logs = [math.log(2), math.log(2.2), math.log(1.8)]
    mean = sum(logs) / 3
    spread = math.sqrt(sum((x - mean) ** 2 for x in logs) / 2)
    half = 4.302652729911275 * spread / math.sqrt(3)
    assert row["n_pairs"] == 3
    assert row["ratio"] == pytest.approx(math.exp(mean), rel=1e-12)
    assert row["ci_low"] == pytest.approx(math.exp(mean - half), rel=1e-9)
    assert row["ci_high"] == pytest.approx(math.exp(mean + half), rel=1e-9)
    assert "pair" in str(row["method"])
    assert row["estimand"] == "geometric mean of paired ratios"
    assert row["verdict"] == "better"


def test_runs_before_the_first_round_are_left_out_and_counted() -> None:
    sides = [_rates(100, 110, filesystem="ext4", rounds=True), _rates(200, 220, filesystem="xfs", rounds=True)]
    warm = [_rates(1, 2, filesystem=name, stage="warm-up") for name in ("ext4", "xfs")]
    fill = _rates(3, filesystem="xfs", stage="precondition")
    row = _row(*sides, *warm, fill)
    assert (row["ratio"], row["n_baseline"], row["n_candidate"]) == (pytest.approx(2), 2, 2)
    assert {"4 warm-up runs were left out.", "1 precondition run was left out."} <= set(row["footnotes"])  # type: ignore[call-overload]


def test_a_rule_that_ended_the_launch_is_named() -> None:
    rule = {"stopping_rule": "half-width 5 %"}
    row = _row(*(_rates(100, 110, filesystem=name, rounds=True, settings=rule) for name in ("ext4", "xfs")))
    assert any('until the rule "half-width 5 %" was met' in note for note in row["footnotes"])  # type: ignore[attr-defined]
    assert row["verdict"] != "not comparable"


def test_targets_of_one_filesystem_can_be_compared_and_of_two_as_well() -> None:
    for filesystems in (("xfs", "xfs"), ("ext4", "xfs")):
        sides = [
            _rates(*rates, filesystem=filesystem, rounds=True, target=target)
            for rates, filesystem, target in zip(((100, 110), (200, 220)), filesystems, ("a", "b"), strict=True)
        ]
        row = _row(*sides, factor="target")
        assert (row["baseline"], row["level"], row["ratio"]) == ("a", "b", pytest.approx(2))


def test_settings_that_were_averaged_over_are_named() -> None:
    old = _rates(100, 101, filesystem="ext4", settings={"governor": "old"})
    new = _rates(102, 103, filesystem="ext4", settings={"governor": "new"})
    row = _row(old + new, _rates(100, 101, filesystem="xfs", settings={"governor": "old"}))
    shares = "new in 2 of 4 runs against 0 of 2, old in 2 of 4 runs against 2 of 2"
    assert f"governor is not balanced: {shares}." in row["footnotes"]  # type: ignore[operator]
    assert row["verdict"] == "not comparable"


def test_a_bare_number_is_named_with_its_factor() -> None:
    runs = [
        _rates(*rates, filesystem="xfs", settings={"nr_requests": depth, **own})
        for depth, rates, own in (("64", (100, 300), {"kernel": "6.1"}), ("128", (100, 101), {}))
    ]
    row = _row(*runs, factor="nr_requests")
    assert (row["baseline"], row["level"]) == ("64", "128")
    assert "Known for nr requests 64 only: kernel (6.1)." in row["footnotes"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("key", "values", "said"),
    [
        ("memory_limit", ("8589934592", "1000"), "memory_limit differs: 8 GiB against 1,000 B."),
        ("memory_limit", ("8589934592", "8589934593"), "memory_limit differs: 8589934592 against 8589934593."),
        ("nr_requests", ("64", "128"), "nr_requests differs: 64 against 128."),  # which are no bytes
        (
            "memory_limit",
            ("1073741824", "536870912", "34359738368"),
            "memory_limit is not balanced: 512 MiB in 1 of 2 runs against 0 of 2, "
            "1 GiB in 1 of 2 runs against 0 of 2, 32 GiB in 0 of 2 runs against 2 of 2.",
        ),
    ],
)
def test_settings_are_named_in_natural_order_and_with_units(key: str, values: Sequence[str], said: str) -> None:
    *own, other = values
    one, another = (_rates(rate, filesystem="ext4", settings={key: own[rate % len(own)]}) for rate in (100, 101))
    row = _row(one + another, _rates(100, 101, filesystem="xfs", settings={key: other}))
    assert said in row["footnotes"]  # type: ignore[operator]


def test_runs_without_rounds_are_two_samples() -> None:
    row = _row(_rates(100, 110, 90, filesystem="ext4"), _rates(101, 111, 91, filesystem="xfs"))
    assert row["n_pairs"] is None
    assert "Welch" in str(row["method"])
    assert float(str(row["ci_low"])) < 1 < float(str(row["ci_high"]))
    assert row["verdict"] == "inconclusive"


def test_less_latency_is_better() -> None:
    sides = (
        _rates(100, 101, 102, filesystem="ext4", metric="latency", statistic="mean"),
        _rates(50, 51, 52, filesystem="xfs", metric="latency", statistic="mean"),
    )
    assert _row(*sides)["verdict"] == "better"


def test_equal_is_said_only_within_the_margin() -> None:
    sides = _rates(1000, 1001, 1002, filesystem="ext4"), _rates(1001, 1000, 1002, filesystem="xfs")
    assert _row(*sides)["verdict"] == "equivalent"
    assert _row(*sides, margin=1.0001)["verdict"] == "inconclusive"


Z = [0.0, 1.2649110640673518, -1.2649110640673518, 0.6324555320336759, -0.6324555320336759]
"""Five figures of the mean 0 and the standard deviation 1 that do not drift."""


def _apart(shift: float, log_sd: float, **facts: object) -> list[Log]:
    """Five runs of a side each, of equal spread, whose geometric means are a number of standard errors apart."""
    middle = shift * log_sd * math.sqrt(2 / 5)
    return [
        log
        for name, off in (("ext4", 0.0), ("xfs", middle))
        for log in _rates(*(100 * math.exp(off + log_sd * z) for z in Z), filesystem=name, **facts)
    ]


# The 90 % interval of equal sides reaches t(.95, 8) sqrt(2/5) = 1.1761 standard deviations to either side: the
# margin of 5 % at a deviation of ln 1.05 / 1.1761 = 0.04148. That of 95 % reaches 1.4585.
@pytest.mark.parametrize(("log_sd", "verdict"), [(0.041, "equivalent"), (0.042, "inconclusive")])
def test_equivalence_is_shown_by_an_interval_of_90_percent_within_5(log_sd: float, verdict: str) -> None:
    assert _row(_apart(0, log_sd))["verdict"] == verdict


# t(.975, 8) = 2.306
@pytest.mark.parametrize(("shift", "verdict"), [(2.29, "inconclusive"), (2.32, "better")])
def test_a_difference_is_shown_at_5_percent(shift: float, verdict: str) -> None:
    row = _row(_apart(shift, 0.1))
    assert row["verdict"] == verdict
    assert row["confidence"] == 0.95
    assert (float(str(row["ci_low"])) > 1) is (verdict == "better")


def test_a_verdict_follows_the_p_that_is_adjusted() -> None:
    # p = .04 by itself; beside another test of its family, .08
    alone = _apart(2.45, 0.1)
    assert _row(alone)["verdict"] == "better"
    table = fsb.compare(assemble([*alone, *_apart(2.45, 0.1, operation="write")]))
    assert table["p"].to_list() == pytest.approx([0.04, 0.04], abs=1e-3)
    assert table["p_adjusted"].to_list() == pytest.approx([0.08, 0.08], abs=2e-3)
    assert table["verdict"].to_list() == ["inconclusive"] * 2


def test_one_run_against_several_is_held_to_their_prediction() -> None:
    row = _row(_rates(100, 105, 95, 102, filesystem="ext4"), _rates(200, filesystem="xfs"))
    assert row["ci_low"] is None
    assert row["prediction_low"] is not None
    assert row["reasons"] == ["ONE_RUN_NO_REPLICATES"]
    assert row["verdict"] == "single runs"


def test_one_run_against_two_is_too_little() -> None:
    three = _row(_rates(100, 105, 95, filesystem="ext4"), _rates(200, filesystem="xfs"))
    assert three["prediction_low"] is not None
    row = _row(_rates(100, 105, filesystem="ext4"), _rates(200, filesystem="xfs"))
    assert row["prediction_low"] is None
    assert row["reasons"] == ["ONE_RUN_NO_REPLICATES", "N_BELOW_METHOD_MIN"]


def test_a_setting_that_differs_withholds_the_verdict_and_is_named() -> None:
    row = _row(
        _rates(100, 101, 102, filesystem="ext4", settings={"direct": "true"}),
        _rates(200, 201, 202, filesystem="xfs", settings={"direct": "false"}),
    )
    assert row["reasons"] == ["CONFIG_MISMATCH"]
    assert row["footnotes"][0] == "direct differs: true against false."  # type: ignore[index]
    assert row["ci_low"] is not None
    assert row["verdict"] == "not comparable"


def test_what_comes_with_the_filesystem_is_no_mismatch() -> None:
    row = _row(
        _rates(100, 101, 102, filesystem="ext4", settings={"mount_options": "data=ordered"}),
        _rates(200, 201, 202, filesystem="xfs", settings={"mount_options": "inode64"}),
    )
    assert row["reasons"] == []


def test_all_runs_of_one_side_first_withholds_the_verdict() -> None:
    late = START + timedelta(days=1)
    row = _row(
        _rates(100, 101, 102, filesystem="ext4"),
        _rates(200, 201, 202, filesystem="xfs", started_at=late, ended_at=late + timedelta(seconds=1)),
    )
    assert row["reasons"] == ["BLOCKED_ORDER"]
    assert row["verdict"] == "not comparable"


def test_runs_at_the_same_time_withhold_the_verdict() -> None:
    row = _row(
        _rates(100, filesystem="ext4", started_at=None, ended_at=START),
        _rates(
            200, filesystem="xfs", started_at=START - timedelta(seconds=5), ended_at=START + timedelta(seconds=5)
        ),
    )
    assert "CONCURRENT_RUNS" not in row["reasons"]  # type: ignore[operator]  # the first one's start is not known
    row = _row(
        _rates(100, filesystem="ext4", started_at=START - timedelta(seconds=9), ended_at=START),
        _rates(
            200, filesystem="xfs", started_at=START - timedelta(seconds=5), ended_at=START + timedelta(seconds=5)
        ),
    )
    assert "CONCURRENT_RUNS" in row["reasons"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("facts", "cached"),
    [
        ({"total_size": "1000", "memory": "600"}, True),
        ({"total_size": "1200", "memory": "600"}, False),
        ({"total_size": "1000", "memory": "600", "direct": "true"}, False),
        ({"total_size": "1000"}, False),
        ({"total_size": "127000000000", "memory": "64 GB"}, True),
        ({"total_size": "129000000000", "memory": "64 GB"}, False),
    ],
)
def test_data_that_fit_into_half_the_memory_withhold_the_verdict(facts: dict[str, str], cached: bool) -> None:
    row = _row(_rates(100, filesystem="ext4", settings=facts), _rates(200, filesystem="xfs", settings=facts))
    assert ("CACHED" in row["reasons"]) is cached  # type: ignore[operator]


@pytest.mark.parametrize(
    ("moved", "others", "cached"),
    [
        ({"device_read": "900"}, (), False),
        ({"device_read": "899"}, (), True),
        ({"device_read": "1800", "device_written": "0"}, ("random_read",), False),
        ({"device_read": "1799"}, ("random_read",), True),
        ({"device_read": "900", "device_written": "0"}, ("write",), False),
        ({"device_written": "9000"}, (), True),
        ({"device_read": "9000"}, ("read_sync",), True),
    ],
)
def test_disks_that_account_for_the_work_show_that_it_was_not_cached(
    moved: dict[str, str], others: tuple[str, ...], cached: bool
) -> None:
    facts = {"total_size": "1000", "memory": "600"} | moved
    figures = tuple(
        Measurement(
            operation=operation, metric="bytes", value=1000.0, unit="B", low=1000.0, high=1000.0, text="", line=1
        )
        for operation in ("read", *others)
    )
    sides = [
        replace(log, records=[replace(log.records[0], measurements=(*log.records[0].measurements, *figures))])  # type: ignore[arg-type,union-attr]
        for log in (
            *_rates(100, filesystem="ext4", settings=facts),
            *_rates(200, filesystem="xfs", settings=facts),
        )
    ]
    row = _row(sides)
    assert ("CACHED" in row["reasons"]) is cached  # type: ignore[operator]


@pytest.mark.parametrize(
    ("moved", "is_unknown"), [(("900", "900"), False), (("900", "899"), True), (("899", "899"), True)]
)
def test_disks_that_account_for_each_run_exclude_a_cache_of_unknown_size(
    moved: tuple[str, str], is_unknown: bool
) -> None:
    figure = Measurement(
        operation="read", metric="bytes", value=1000.0, unit="B", low=1000.0, high=1000.0, text="", line=1
    )
    row = _row(
        *(
            _with(_rates(100 + number, filesystem=name, settings={"device_read": read}), figure)
            for name in ("ext4", "xfs")
            for number, read in enumerate(moved)
        )
    )
    assert (row["n_baseline"], row["n_candidate"]) == (2, 2)
    assert _of_unknown_cache(row) is is_unknown


def test_an_unknown_cache_is_that_of_the_cells_whose_runs_it_may_have_served() -> None:
    table = _compared(
        *(
            _rates(100, 101, filesystem=name, operation=operation, settings=facts)
            for name in ("ext4", "xfs")
            for operation, facts in (("read", {}), ("write", {"direct": "true"}))
        )
    )
    said = {row["operation"]: _of_unknown_cache(row) for row in table.rows(named=True)}
    assert said == {"read": True, "write": False}


def _of_unknown_cache(row: dict[str, object]) -> bool:
    return any("the page cache cannot be excluded" in note for note in row["footnotes"])  # type: ignore[attr-defined]


def _with(logs: list[Log], *figures: Measurement, **facts: object) -> list[Log]:
    """Logs with further figures of their run, or other facts of it."""
    return [
        replace(
            log,
            records=[
                replace(record, measurements=(*record.measurements, *figures), **facts)  # type: ignore[arg-type]
                for record in log.records
                if isinstance(record, Run)
            ],
        )
        for log in logs
    ]


def _figure(metric: str, value: float, **facts: object) -> Measurement:
    columns = {"operation": "read", "unit": "1", "text": str(value), "line": 1} | facts
    return Measurement(metric=metric, value=value, **columns)  # type: ignore[arg-type]


def _codes(*logs: list[Log], **options: object) -> set[str]:
    """The reasons of all rows."""
    table = _compared(*logs, **options)
    assert table.height
    return set(table["reasons"].explode().drop_nulls())


@pytest.mark.parametrize(
    ("submission", "engine", "blocking"),
    [
        (0.51, "libaio", True),
        (0.49, "libaio", False),
        (0.51, "io_uring", True),
        (0.51, "posixaio", True),
        (0.99, "sync", False),
        (0.99, "psync", False),
    ],
)
def test_submission_of_more_than_half_of_a_request_is_named(
    submission: float, engine: str, blocking: bool
) -> None:
    times = {"submission_latency": submission, "completion_latency": 1 - submission, "latency": 1.0}
    figures = [_figure(metric, value, statistic="mean", unit="s") for metric, value in times.items()]
    sides = [
        _with(_rates(100, filesystem=name, settings={"engine": engine}), *figures) for name in ("ext4", "xfs")
    ]
    assert ("BLOCKING_SUBMIT" in _codes(*sides, metrics=["completion_latency"])) is blocking
    assert "BLOCKING_SUBMIT" not in _codes(*sides, metrics=["latency"])


@pytest.mark.parametrize(
    ("seconds", "time_based", "unequal"), [(98.9, "false", True), (99.1, "false", False), (98.9, "true", False)]
)
def test_a_run_that_ends_a_hundredth_before_its_limit_did_all_its_work(
    seconds: float, time_based: str, unequal: bool
) -> None:
    facts = {"time_limit": "100", "time_based": time_based}
    sides = [
        [replace(log, duration=duration) for log in _with(logs, _figure("bytes", 1000.0, unit="B"))]
        for logs, duration in (
            (_rates(100, filesystem="ext4", settings=facts), 100.0),
            (_rates(110, filesystem="xfs", settings=facts), seconds),
        )
    ]
    assert ("UNEQUAL_WORK" in _codes(*sides)) is unequal


@pytest.mark.parametrize(
    ("tool", "facts", "cached"),
    [
        # twice the memory are 2000 bytes
        ("smallfiles", {"files": "19", "block_size": "100"}, True),
        ("smallfiles", {"files": "20", "block_size": "100"}, False),
        ("fio", {"file_size": "500", "threads": "3"}, True),
        ("fio", {"file_size": "500", "threads": "4"}, False),
        ("bonnie++", {"file_size": "1999"}, True),
        ("bonnie++", {"file_size": "2000", "threads": "1"}, False),
    ],
)
def test_the_data_of_a_run_are_those_of_all_its_files(tool: str, facts: dict[str, str], cached: bool) -> None:
    facts = facts | {"memory": "1000"}
    sides = [_with(_rates(100, filesystem=name, settings=facts), tool=tool) for name in ("ext4", "xfs")]
    assert ("CACHED" in _codes(*sides)) is cached


@pytest.mark.parametrize(
    ("operation", "cached"),
    [("write", True), ("delete", False), ("create", False), ("sequential_stat", False), ("list_tree", False)],
)
def test_what_moves_no_data_is_not_cached(operation: str, cached: bool) -> None:
    facts = {"total_size": "1000", "memory": "600"}
    sides = [_rates(100, filesystem=name, operation=operation, settings=facts) for name in ("ext4", "xfs")]
    assert ("CACHED" in _codes(*sides)) is cached


@pytest.mark.parametrize("disk", ["log_device", "cache_device"])
def test_a_disk_more_on_one_side_is_named(disk: str) -> None:
    row = _row(_rates(100, filesystem="ext4"), _rates(200, filesystem="zfs", settings={disk: "sdb2"}))
    assert "CONFIG_MISMATCH" in row["reasons"]  # type: ignore[operator]
    assert f"{disk} differs: not known against sdb2." in row["footnotes"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("names", "differ"), [(("loop0", "loop1"), False), (("ram0", "ram1"), False), (("sda", "sdb"), True)]
)
def test_numbers_that_the_kernel_gives_as_it_likes_set_nothing_apart(names: tuple[str, str], differ: bool) -> None:
    sides = [
        _with(_rates(100, filesystem=name), _figure("bytes", 1.0, scope="disk", part=part, primary=False))
        for name, part in zip(("ext4", "xfs"), names, strict=True)
    ]
    assert ("CONFIG_MISMATCH" in _codes(*sides)) is differ


@pytest.mark.parametrize("first", ["ext4", "xfs"])
@pytest.mark.parametrize(("runs", "blocked"), [(1, False), (2, True)])
def test_either_side_can_have_come_first(first: str, runs: int, blocked: bool) -> None:
    sides = []
    for name in ("ext4", "xfs"):
        start = START if name == first else START + timedelta(hours=1)
        logs = _rates(*RATES_A[:runs], filesystem=name, started_at=start, ended_at=start + timedelta(seconds=9))
        sides.append(logs)
    assert ("BLOCKED_ORDER" in _codes(*sides)) is blocked


@pytest.mark.parametrize(("gap", "host", "concurrent"), [(0, "h", False), (-1, "h", True), (-1, "g", False)])
def test_a_run_that_begins_when_another_ends_is_not_beside_it(gap: int, host: str, concurrent: bool) -> None:
    end = START + timedelta(seconds=10)
    start = end + timedelta(seconds=gap)
    a = _rates(100, filesystem="ext4", started_at=START, ended_at=end)
    b = _rates(200, filesystem="xfs", started_at=start, ended_at=start + timedelta(seconds=10))
    assert ("CONCURRENT_RUNS" in _codes(a, [replace(log, host=host) for log in b])) is concurrent


@pytest.mark.parametrize(
    ("first", "second", "concurrent"),
    [
        (10.0, 11.0, False),  # it began after 9.999, and the first one ended after 10: they may have taken turns
        (11.0, 11.0, True),  # it had begun by 11
        (10.2, 11.2, True),  # between 10.199 and 10.2
        (10.2, 11.3, False),
    ],
)
def test_times_in_seconds_show_an_overlap_only_where_every_fraction_would(
    first: float, second: float, concurrent: bool
) -> None:
    a, b = (
        [replace(log, started_at=None, ended_at=START + timedelta(seconds=end), duration=1.001) for log in logs]
        for logs, end in ((_rates(100, filesystem="ext4"), first), (_rates(200, filesystem="xfs"), second))
    )
    assert ("CONCURRENT_RUNS" in _codes(a, b)) is concurrent


def test_a_run_whose_status_is_not_known_takes_no_part() -> None:
    data = assemble([*_rates(100, 101, filesystem="ext4"), *_rates(200, 201, 202, filesystem="xfs")])
    unknown = pl.when(pl.int_range(pl.len()) == pl.len() - 1).then(None).otherwise("status").alias("status")
    table = fsb.compare(replace(data, runs=data.runs.with_columns(unknown)))
    assert table.select("n_baseline", "n_candidate").row(0) == (2, 2)


def test_runs_at_the_same_time_are_found_behind_runs_that_ended_before() -> None:
    def spans(name: str, *starts: int) -> list[Log]:
        at = [START + timedelta(seconds=start) for start in starts]
        return [
            replace(log, started_at=start, ended_at=start + timedelta(seconds=10))
            for log, start in zip(_rates(*RATES_A[: len(at)], filesystem=name), at, strict=True)
        ]

    turns = spans("ext4", 0, 40), spans("xfs", 20, 60)
    assert "CONCURRENT_RUNS" not in _codes(*turns)
    long = [replace(log, ended_at=START + timedelta(seconds=61)) for log in spans("ext4", 0)]
    assert "CONCURRENT_RUNS" in _codes([*long, *spans("ext4", 40)], spans("xfs", 70, 60))


def test_failed_runs_take_no_part_unless_asked_for() -> None:
    sides = (
        _rates(100, 101, 102, filesystem="ext4"),
        _rates(1, filesystem="xfs", status="failed"),
        _rates(200, 201, filesystem="xfs"),
    )
    row, asked_for = _row(*sides), _row(*sides, include_failed=True)
    assert (row["n_candidate"], asked_for["n_candidate"]) == (2, 3)
    assert "1 failed or partial run of xfs was left out." in row["footnotes"]  # type: ignore[operator]
    assert not any("failed" in note for note in asked_for["footnotes"])  # type: ignore[attr-defined]
    sides += (_rates(2, 3, filesystem="ext4", status="partial"), _rates(2, filesystem="xfs", status="partial"))
    notes = [note for note in _row(*sides)["footnotes"] if "failed" in note]  # type: ignore[attr-defined]
    assert notes == [f"2 failed or partial runs of {name} were left out." for name in ("ext4", "xfs")]


def test_zero_has_no_ratio() -> None:
    row = _row(_rates(0, filesystem="ext4"), _rates(200, filesystem="xfs"))
    assert row["ratio"] is None
    assert row["reasons"] == ["ZERO_OR_FAILED"]
    assert row["verdict"] == "not comparable"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, 5e-324])
@pytest.mark.parametrize("column", ["value", "low", "high"])
def test_a_figure_that_is_none_takes_nothing_from_the_others(value: float, column: str) -> None:
    data = fsb.read("raw_results/published/fio-nvme-2021")
    of_broken = pl.col("metric") == "bandwidth"
    broken = pl.when(of_broken).then(pl.lit(value)).otherwise(column).alias(column)
    found = fsb.compare(replace(data, measurements=data.measurements.with_columns(broken)))
    whole = fsb.compare(data)
    assert_frame_equal(found.filter(~of_broken), whole.filter(~of_broken))
    assert found.height == whole.height
    if column == "value":
        assert found.filter(of_broken).select("ratio", "verdict", "reasons").unique().rows() == [
            (None, "not comparable", ["CONFIG_MISMATCH", "ZERO_OR_FAILED"])
        ]
    else:
        assert found.filter(of_broken)["ratio"].to_list() == whole.filter(of_broken)["ratio"].to_list()


def test_each_study_has_a_baseline_of_its_own() -> None:
    sides = [
        *_rates(100, filesystem="ext4"),
        *_rates(200, filesystem="btrfs"),
        *_rates(100, filesystem="xfs", study="t"),
        *_rates(300, filesystem="zfs", study="t"),
    ]
    table = fsb.compare(assemble(sides))
    assert table.select("study", "baseline", "level").rows() == [("s", "ext4", "btrfs"), ("t", "xfs", "zfs")]


def test_a_level_that_is_none_has_the_article_of_its_factor() -> None:
    rates = {"1": 100, "32": 200}
    sides = [_rates(rates[depth], filesystem="xfs", settings={"iodepth": depth}) for depth in rates]
    data = assemble([one for side in sides for one in side])
    with pytest.raises(RequestError) as caught:
        fsb.compare(data, "iodepth", baseline="7")
    assert str(caught.value) == "'7' is not an iodepth of these runs\nThe choices are: 1, 32."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"baseline": "ext5"},
            "'ext5' is not a filesystem of these runs\nDid you mean ext4? The choices are: ext4, xfs.",
        ),
        ({"factor": "direct"}, "no direct is known for these runs"),
        ({"metrics": ["speed"]}, "'speed' is not a metric"),
        ({"metrics": "file_rate"}, "no run has a figure of file_rate\n"),
        ({"metrics": ["bytes"]}, "neither more nor less of 'bytes' is better"),
        ({"where": {"tools": ["fio"]}}, "'tools' does not name cells"),
        ({"where": {"tool": ["dd"]}}, "no figure has tool 'dd'\nThe choices are: fio."),
        (
            {"where": {"block_size": [1]}},
            "no figure has block_size '1'\nThe choices are: None, 4096, 131072.",
        ),
        ({"where": {"tool": []}}, "no run that counts has a filesystem and all of what was chosen"),
    ],
)
def test_a_request_that_cannot_be_met_says_what_can(options: dict[str, object], message: str) -> None:
    logs = [*_rates(100, filesystem="ext4"), *_rates(200, filesystem="xfs")]
    for rate, size in ((300, "131072"), (400, "4096")):
        logs += _rates(rate, filesystem="ext4", operation="write", settings={"block_size": size})
    data = assemble(logs)
    with pytest.raises(RequestError) as caught:
        fsb.compare(data, **options)  # type: ignore[arg-type]
    assert message in str(caught.value)


@pytest.mark.parametrize("factor", ["filesystem", "kernel"])
def test_failed_runs_are_spoken_of_where_they_would_make_a_difference(factor: str) -> None:
    data = assemble(
        [*_rates(100, filesystem="ext4", status="failed"), *_rates(200, filesystem="xfs", status="failed")]
    )
    for asked_for in (False, True) if factor == "kernel" else (False,):
        with pytest.raises(RequestError) as caught:
            fsb.compare(data, factor, include_failed=asked_for)
        assert ("ailed runs count only if" in str(caught.value)) == (factor == "filesystem")


@pytest.mark.parametrize("include_failed", [False, True])
def test_a_group_without_figures_may_have_failed_unless_failed_runs_take_part(include_failed: bool) -> None:
    other = assemble(_rates(100, 101, filesystem="xfs"))
    runs = assemble(_rates(102, filesystem="ext4"))
    runs = replace(runs, measurements=runs.measurements.clear())
    with pytest.raises(RequestError, match="no run of one has a figure") as caught:
        fsb.compare({"one": runs, "other": other}, include_failed=include_failed)
    assert ("ailed" in str(caught.value)) == (not include_failed)


def test_cells_and_levels_can_be_chosen() -> None:
    sides = [
        *_rates(100, filesystem="ext4", settings={"block_size": "4096"}),
        *_rates(200, filesystem="xfs", settings={"block_size": "4096"}),
        *_rates(300, filesystem="zfs", settings={"block_size": "4096"}),
        *_rates(100, filesystem="ext4", operation="write"),
        *_rates(500, filesystem="xfs", operation="write"),
    ]
    data = assemble(sides)

    def ratios(**where: list[str | int | None]) -> list[float]:
        return fsb.compare(data, where=where)["ratio"].round(6).to_list()

    assert sorted(ratios()) == [2, 3, 5]
    assert ratios(operation=["write"]) == [5]
    assert sorted(ratios(operation=["write", "read"], filesystem=["ext4", "xfs"])) == [2, 5]
    assert sorted(ratios(block_size=[4096])) == sorted(ratios(block_size=["4096"])) == [2, 3]
    assert ratios(block_size=[None]) == [5]


def test_what_other_cells_tell_of_a_run_holds_where_they_are_not_chosen() -> None:
    facts = {"total_size": "1000", "memory": "600", "device_written": "900"}

    def side(rate: float, filesystem: str) -> Log:
        (log,) = _rates(rate, filesystem=filesystem, operation="rewrite", settings=facts)
        run: Run = log.records[0]  # type: ignore[assignment]
        figures = tuple(
            Measurement(operation=name, metric="bytes", value=1000.0, unit="B", text="", line=1)
            for name in ("write", "rewrite")
        )
        return replace(log, records=[replace(run, measurements=(*run.measurements, *figures))])

    data = assemble([side(100, "ext4"), side(200, "xfs")])
    # 900 of 2,000 bytes written: caches had a part in it, of which half the cells alone would know nothing
    assert "CACHED" in fsb.compare(data, where={"operation": ["rewrite"]})["reasons"][0].to_list()


def test_filesystems_are_not_mixed_where_something_else_is_compared() -> None:
    sides = [
        *_rates(100, filesystem="ext4", settings={"kernel": "5"}),
        *_rates(900, filesystem="xfs", settings={"kernel": "5"}),
        *_rates(200, filesystem="ext4", settings={"kernel": "6"}),
    ]
    row = _row(sides, factor="kernel")
    assert (row["filesystem"], row["baseline"], row["level"]) == ("ext4", "5", "6")
    assert (row["n_baseline"], row["ratio"]) == (1, pytest.approx(2))


def test_what_makes_a_cell_can_itself_be_the_factor() -> None:
    sides = [
        *_rates(100, filesystem="ext4", settings={"threads": "1"}),
        *_rates(300, filesystem="ext4", settings={"threads": "4"}, started_at=None, ended_at=None),
    ]
    row = _row(sides, factor="threads")
    assert (row["threads"], row["baseline"], row["level"]) == (None, "1", "4")
    assert row["reasons"] == ["ONE_RUN_NO_REPLICATES"]


def test_runs_of_one_level_leave_nothing_to_compare() -> None:
    table = fsb.compare(assemble([*_rates(100, 101, filesystem="ext4")]))
    assert table.is_empty()
    assert "ratio" in table.columns


RATE = st.floats(min_value=1e-3, max_value=1e12)
SIDE = st.lists(RATE, min_size=1, max_size=6)


@settings(max_examples=20)
@given(SIDE, SIDE, st.booleans())
def test_swapping_the_sides_inverts_every_interval(a: list[float], b: list[float], rounds: bool) -> None:
    data = assemble(
        [
            *_rates(*a, filesystem="ext4", rounds=rounds, half=0.5),
            *_rates(*b, filesystem="xfs", rounds=rounds, half=0.5),
        ]
    )
    there = fsb.compare(data, baseline="ext4").row(0, named=True)
    back = fsb.compare(data, baseline="xfs").row(0, named=True)
    assert there["ratio"] * back["ratio"] == pytest.approx(1, rel=1e-12)
    ends = [("ci_low", "ci_high"), ("rounding_low", "rounding_high"), ("prediction_low", "prediction_high")]
    for low, high in [*ends, *((high, low) for low, high in ends)]:
        if there[low] is None:
            assert back[high] is None
        else:
            assert there[low] * back[high] == pytest.approx(1, rel=1e-12)
    opposite = {"better": "worse", "worse": "better"}
    assert back["verdict"] == opposite.get(there["verdict"], there["verdict"])


@settings(max_examples=20)
@given(SIDE, RATE, st.booleans())
def test_one_run_never_has_a_confidence_interval(a: list[float], b: float, rounds: bool) -> None:
    data = assemble([*_rates(*a, filesystem="ext4", rounds=rounds), *_rates(b, filesystem="xfs", rounds=rounds)])
    row = fsb.compare(data).row(0, named=True)
    assert row["ci_low"] is row["ci_high"] is row["confidence"] is row["p"] is None
    assert "ONE_RUN_NO_REPLICATES" in row["reasons"]


@pytest.fixture(scope="session")
def of_published(published: Path) -> pl.DataFrame:
    return fsb.compare(fsb.read(published))


def test_published_logs_give_no_confidence_interval(of_published: pl.DataFrame) -> None:
    assert of_published.height > 100
    assert of_published["ci_low"].null_count() == of_published.height
    with_ratio = of_published.drop_nulls("ratio")
    assert with_ratio["reasons"].list.contains("ONE_RUN_NO_REPLICATES").all()
    assert with_ratio["break_even_cv"].null_count() == 0


def test_sequential_write_of_the_sysbench_study(of_published: pl.DataFrame) -> None:
    # 842.88 / 348.48 MiB/s; the two ran on different hosts
    row = of_published.filter(study="sysbench-rhel72", pattern="seqwr", metric="bandwidth").row(0, named=True)
    assert (row["baseline"], row["level"]) == ("ext4", "xfs")
    assert row["ratio"] == pytest.approx(2.4187, abs=5e-5)
    assert row["rounding_low"] < 842.88 / 348.48 < row["rounding_high"]
    assert row["rounding_high"] - row["rounding_low"] < 2e-4
    assert "CONFIG_MISMATCH" in row["reasons"]
    assert "host differs: host02 against host01." in row["footnotes"]


def test_random_write_of_the_nvme_study(of_published: pl.DataFrame) -> None:
    # 189k and 28.3k IOPS: 85 % fewer
    row = of_published.filter(study="fio-nvme-2021", metric="iops").row(0, named=True)
    assert (row["baseline"], row["level"]) == ("xfs", "zfs")
    assert row["ratio"] == pytest.approx(28.3 / 189)
    assert row["rounding_low"] == pytest.approx(28.25 / 189.5)
    assert row["rounding_high"] == pytest.approx(28.35 / 188.5)


def test_concurrent_runs_of_the_raid_study(of_published: pl.DataFrame) -> None:
    # ext4 ended at 00:29:37 after 600 s, ZFS at 00:31:15 after 600 s, XFS at 00:42:49
    rows = of_published.filter(study="raid1-hdd-2020", tool="fio", block_size=131072, metric="bandwidth")
    concurrent = {row["level"]: "CONCURRENT_RUNS" in row["reasons"] for row in rows.iter_rows(named=True)}
    assert concurrent == {"xfs": False, "zfs": True}


def test_direct_io_of_the_iozone_study(of_published: pl.DataFrame) -> None:
    rows = of_published.filter(study="iozone-ssd-2015", level="zfs", metric="bandwidth", operation="read")
    assert rows.height == 10
    assert rows["footnotes"].list.contains("direct differs: true against false.").all()
    assert rows["footnotes"].list.contains("log_device differs: not known against sdb2.").all()
    assert rows["footnotes"].list.contains("tool_build differs: linux-AMD64 against freebsd.").all()


def test_what_goes_past_direct_io_in_the_iozone_study(of_published: pl.DataFrame) -> None:
    note = "iozone sends these requests through the page cache, although direct I/O was requested."
    rows = of_published.filter(study="iozone-ssd-2015", level="zfs")
    noted = set(rows.filter(pl.col("footnotes").list.contains(note))["operation"])
    assert noted == {"fwrite", "frewrite", "fread", "freread"}


def test_disks_of_the_nvme_study(of_published: pl.DataFrame) -> None:
    # nvme7n1 is in the log's disk statistics, nvme6n1 in the command that made the pool
    rows = of_published.filter(study="fio-nvme-2021")
    assert rows["footnotes"].list.contains("disks differs: nvme7n1 against nvme6n1.").all()


def test_unequal_work_of_the_raid_study(of_published: pl.DataFrame) -> None:
    # 16 KiB: ZFS did its 8 GiB in 519 s (5731 + 2461 MiB), ext4 was cut at 600 s (1247 + 535 MiB)
    rows = of_published.filter(study="raid1-hdd-2020", tool="fio", metric="iops")
    unequal = {
        (row["block_size"], row["level"]): "UNEQUAL_WORK" in row["reasons"] for row in rows.iter_rows(named=True)
    }
    assert unequal == {(16384, "xfs"): False, (16384, "zfs"): True, (131072, "xfs"): False, (131072, "zfs"): False}
    told = rows.filter(block_size=16384, level="zfs")["footnotes"][0].to_list()
    assert "zfs completed its work: 8 GiB in 519 s." in told
    assert "ext4 was stopped by its time limit: 1.74 GiB in 600 s." in told


def test_submission_that_blocked_in_the_raid_study(of_published: pl.DataFrame) -> None:
    # slat 68.985 ms of 68.991 ms
    rows = of_published.filter(study="raid1-hdd-2020", metric="completion_latency", level="zfs", operation="read")
    assert rows.height > 0
    assert rows["reasons"].list.contains("BLOCKING_SUBMIT").all()
    assert "BLOCKING_SUBMIT" not in of_published.filter(metric="latency")["reasons"].explode().to_list()


def test_a_censored_phase_of_bonnie_is_a_bound(published: Path) -> None:
    # ext4 +++++: 16 * 1024 files in under 0.5 s, more than 32768/s; XFS 12755/s
    # had the two been on the same disks
    data = fsb.read(published / "raid1-hdd-2020")
    data = replace(data, settings=data.settings.filter(pl.col("key") != "disks"))
    row = fsb.compare(data).filter(tool="bonnie++", operation="sequential_delete", metric="file_rate", level="xfs")
    (row,) = row.iter_rows(named=True)
    assert row["verdict"] == "bound only"
    assert row["ratio"] is None
    assert row["rounding_high"] == pytest.approx(12756 / 32768)  # bon_csv2html cuts off
    assert row["rounding_low"] is None or row["rounding_low"] == 0


# ---- the method by the data's shape, held against formulas of its own


def _t(df: float) -> float:
    return float(scipy.stats.t.ppf(0.975, df))


def _welch(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    logs_a, logs_b = np.log(a), np.log(b)
    share_a, share_b = logs_a.var(ddof=1) / len(a), logs_b.var(ddof=1) / len(b)
    df = (share_a + share_b) ** 2 / (share_a**2 / (len(a) - 1) + share_b**2 / (len(b) - 1))
    half, middle = _t(df) * math.sqrt(share_a + share_b), logs_b.mean() - logs_a.mean()
    return math.exp(middle - half), math.exp(middle + half)


def _over(logs: Sequence[float]) -> tuple[float, float]:
    half = _t(len(logs) - 1) * np.std(logs, ddof=1) / math.sqrt(len(logs))
    return math.exp(np.mean(logs) - half), math.exp(np.mean(logs) + half)


RATES_A = [100.0, 104.0, 97.0, 102.0, 99.0, 101.0, 95.0, 103.0, 98.0, 106.0]
RATES_B = [121.0, 118.0, 125.0, 119.5, 123.0, 117.0, 124.0, 120.0, 126.0, 122.0]


@pytest.mark.parametrize(("n_a", "n_b"), [(2, 2), (3, 3), (5, 5), (10, 10), (2, 10), (5, 3), (4, 7)])
def test_two_samples_of_any_sizes(n_a: int, n_b: int) -> None:
    a, b = RATES_A[:n_a], RATES_B[:n_b]
    row = _row(_rates(*a, filesystem="ext4"), _rates(*b, filesystem="xfs"))
    assert row["method"] == "Welch t on logs"
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(_welch(a, b), rel=1e-9)
    if min(n_a, n_b) < 4:
        assert row["companion_method"] is row["companion_low"] is None
    else:
        # all ratios of a run to a run, less as many at either end as the exact distribution of ranks allows
        ratios = sorted(y / x for x in a for y in b)
        arrangements = [sum(ranks) for ranks in itertools.combinations(range(n_a + n_b), n_a)]
        of_rank = [(np.array(arrangements) - n_a * (n_a - 1) // 2 <= k).mean() * 2 for k in range(n_a * n_b)]
        outside = sum(tail <= 0.05 for tail in of_rank)
        assert row["companion_method"] == "Hodges-Lehmann on logs"
        assert (row["companion_low"], row["companion_high"]) == pytest.approx(
            (ratios[outside - 1], ratios[-outside])
        )


def test_pairs_have_the_signed_ranks_beside_them() -> None:
    sides = (_rates(*rates, filesystem=name, rounds=True) for rates, name in ((RATES_A, "ext4"), (RATES_B, "xfs")))
    row = _row(*sides)
    logs = [math.log(b / a) for a, b in zip(RATES_A, RATES_B, strict=True)]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(_over(logs), rel=1e-9)
    # 10 pairs: 8 is the largest sum of ranks with a tail of 2.5 % at most, so the 9th average from either end
    averages = sorted((x + y) / 2 for i, x in enumerate(logs) for y in logs[i:])
    assert row["companion_method"] == "signed rank on logs"
    assert (row["companion_low"], row["companion_high"]) == pytest.approx(
        (math.exp(averages[8]), math.exp(averages[-9]))
    )


@pytest.mark.parametrize("host", [None, "h"])
def test_several_runs_of_a_side_in_a_round_or_on_a_host_are_a_block(host: str | None) -> None:
    a = [(100.0, 104.0), (90.0, 92.0, 95.0), (110.0,), (97.0,), (105.0, 106.0)]
    b = [(121.0,), (108.0, 110.0), (140.0, 138.0), (120.0,), (119.0,)]
    row = _row(_rounds(*a, filesystem="ext4", host=host), _rounds(*b, filesystem="xfs", host=host))
    logs = [float(np.log(y).mean() - np.log(x).mean()) for x, y in zip(a, b, strict=True)]
    assert row["method"] == "t over blocks on logs"
    assert (row["n_baseline"], row["n_candidate"], row["n_pairs"]) == (9, 7, 5)
    assert row["ratio"] == pytest.approx(math.exp(sum(logs) / 5))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(_over(logs), rel=1e-9)


def test_the_rounds_of_two_hosts_are_not_the_same_rounds() -> None:
    a = [*_rates(100, 110, filesystem="ext4", rounds=True)]
    b = [replace(log, host="other") for log in _rates(120, 130, filesystem="xfs", rounds=True)]
    row = _row(a, b)
    assert (row["n_pairs"], row["method"]) == (None, "Welch t on logs")


def test_bimodal_runs_have_ranks_beside_them() -> None:
    modes = [100.0, 100.5, 101.0, 99.5, 60.0, 60.2, 60.4, 59.8]
    row = _row(_rates(*modes, filesystem="ext4"), _rates(*RATES_B[:8], filesystem="xfs"))
    assert row["companion_method"] == "Hodges-Lehmann on logs"
    assert (
        "The runs of ext4 are bimodal, and their mean lies between the modes: look at each run."
        in row["footnotes"]
    )  # type: ignore[operator]


@pytest.mark.parametrize("rounds", [True, False])
def test_few_runs_in_many_cells_borrow_their_spread(rounds: bool) -> None:
    cells, runs = 80, 3
    table = fsb.compare(assemble(_many(cells, runs, rounds=rounds)))
    assert table.height == cells
    assert table["companion_method"].unique().to_list() == [f"moderated {'paired ' if rounds else ''}t on logs"]
    own, borrowed = (
        (table[f"{name}_high"] / table[f"{name}_low"]).log().to_numpy() for name in ("ci", "companion")
    )
    assert np.ptp(borrowed) < np.ptp(own) / 2
    few = fsb.compare(assemble(_many(11, runs, rounds=rounds)))
    assert few["companion_method"].null_count() == few.height


@pytest.mark.parametrize(
    ("runs", "rounds", "confidence", "method"),
    [
        # the widest intervals of ranks: 1 - 2/70 of four against four, 1 - 2/64 of six pairs
        (4, False, 0.97, "Hodges-Lehmann on logs"),
        (4, False, 0.975, None),
        (3, False, 0.5, None),
        (6, True, 0.95, "signed rank on logs"),
        (6, True, 0.968, "signed rank on logs"),
        (6, True, 0.97, None),
        (5, True, 0.5, None),
    ],
)
def test_ranks_stand_beside_where_they_reach_the_confidence(
    runs: int, rounds: bool, confidence: float, method: str | None
) -> None:
    sides = (
        _rates(*rates[:runs], filesystem=name, rounds=rounds)
        for rates, name in ((RATES_A, "ext4"), (RATES_B, "xfs"))
    )
    assert _row(*sides, confidence=confidence)["companion_method"] == method


def test_four_runs_of_many_cells_have_ranks_beside_them() -> None:
    table = fsb.compare(assemble(_many(30, 4, rounds=False)))
    assert table["companion_method"].unique().to_list() == ["Hodges-Lehmann on logs"]


def _renamed(log: Log, number: int, **facts: str) -> Log:
    """The same log of another study, or with another metric, statistic or tool."""
    (run,) = log.records
    assert isinstance(run, Run)
    of_figure = {name: facts[name] for name in ("metric", "statistic") if name in facts}
    run = replace(
        run,
        tool=facts.get("tool", run.tool),
        measurements=tuple(replace(figure, **of_figure) for figure in run.measurements),  # type: ignore[arg-type]
    )
    data = log.data + str(number).encode()
    return replace(
        log, records=[run], data=data, source=f"{log.source}.{number}", study=facts.get("study", log.study)
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"study": "s"}, {"study": "t"}),
        ({"tool": "fio"}, {"tool": "sysbench"}),
        ({"metric": "iops"}, {"metric": "file_rate"}),
        ({"metric": "latency", "statistic": "p50"}, {"metric": "latency", "statistic": "p99"}),
    ],
)
def test_only_cells_of_one_kind_borrow_from_each_other(one: dict[str, str], other: dict[str, str]) -> None:
    # 20 cells of two runs a side have 40 degrees of freedom, and 60 are needed
    logs = _many(20, 2, rounds=False)
    table = fsb.compare(
        assemble([_renamed(log, n, **facts) for n, facts in enumerate((one, other)) for log in logs])
    )
    assert (table.height, table["companion_method"].null_count()) == (40, 40)
    whole = fsb.compare(assemble(_many(40, 2, rounds=False)))
    assert whole["companion_method"].null_count() == 0


def test_where_the_intervals_disagree_a_footnote_says_so() -> None:
    # one odd run widens Welch's interval over 1, and moves no rank that matters
    a, b = RATES_A[:8], [*RATES_B[:7], 40.0]
    row = _row(_rates(*a, filesystem="ext4"), _rates(*b, filesystem="xfs"))
    low, high = row["companion_low"], row["companion_high"]
    assert float(str(row["ci_low"])) < 1 < float(str(row["ci_high"]))
    includes = float(str(low)) <= 1 <= float(str(high))
    assert (f"A second interval, by {row['companion_method']}, excludes 1." in row["footnotes"]) is not includes  # type: ignore[operator]


def test_equal_values_have_a_ratio_and_no_interval() -> None:
    row = _row(_rates(100, 100, 100, filesystem="ext4"), _rates(100, 100, 100, filesystem="xfs"))
    assert row["ratio"] == pytest.approx(1)
    assert row["ci_low"] is row["p"] is row["confidence"] is row["companion_low"] is None
    assert row["verdict"] == "inconclusive"
    assert any("All values of a group are equal" in note for note in row["footnotes"])  # type: ignore[attr-defined]


def test_cells_that_one_side_lacks_are_no_rows() -> None:
    sides = [
        *_rates(100, 101, filesystem="ext4"),
        *_rates(200, 201, filesystem="xfs"),
        *_rates(5, 6, filesystem="xfs", operation="write"),
    ]
    assert fsb.compare(assemble(sides))["operation"].to_list() == ["read"]


RESTLESS = [400.0, 320.0, 250.0, 200.0, 150.0, 120.0]


@pytest.mark.parametrize(
    ("rates", "codes"),
    [
        (RESTLESS, ["NON_STEADY"]),
        ([100.0, 130.0, 90.0, 125.0, 95.0, 120.0], []),  # ranges too far, and drifts nowhere
        ([100.0, 99.0, 98.0, 97.0, 96.0, 95.0], []),  # drifts, and not far
    ],
)
def test_rounds_that_drift_and_do_not_come_to_rest_withhold_the_verdict(
    rates: list[float], codes: list[str]
) -> None:
    row = _row(_rates(*rates, filesystem="ext4", rounds=True), _rates(*RATES_B[:6], filesystem="xfs", rounds=True))
    assert row["reasons"] == codes
    assert (row["verdict"] == "not comparable") is bool(codes)
    drifts = any("The figures of ext4 drift" in note for note in row["footnotes"])  # type: ignore[attr-defined]
    assert drifts is (rates == sorted(rates, reverse=True))


def test_rounds_that_rise_are_no_steadier_than_those_that_fall() -> None:
    sides = (
        _rates(*RESTLESS[::-1], filesystem="ext4", rounds=True),
        _rates(*RATES_B[:6], filesystem="xfs", rounds=True),
    )
    assert _row(*sides)["reasons"] == ["NON_STEADY"]


def test_runs_without_rounds_may_drift_and_keep_their_verdict() -> None:
    row = _row(_rates(*RESTLESS, filesystem="ext4"), _rates(*RATES_B[:6], filesystem="xfs"))
    assert row["reasons"] == []
    assert any("The figures of ext4 drift" in note for note in row["footnotes"])  # type: ignore[attr-defined]


def test_runs_of_two_machines_have_no_line_over_time() -> None:
    logs = [replace(log, host="hg"[n % 2]) for n, log in enumerate(_rates(*RESTLESS, filesystem="ext4"))]
    row = _row(logs, [replace(log, host="i") for log in _rates(*RATES_B[:6], filesystem="xfs")])
    assert not any("drift" in note for note in row["footnotes"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(("third", "apart"), [(112.0, True), (136.2, False)])
def test_three_runs_can_lie_far_apart_and_show_no_modes(third: float, apart: bool) -> None:
    row = _row(_rates(136.0, 136.1, third, filesystem="ext4"), _rates(120, 121, 122, filesystem="xfs"))
    notes = " ".join(row["footnotes"])  # type: ignore[arg-type]
    assert ("The runs of ext4 lie far apart" in notes) is apart
    assert "bimodal" not in notes


def test_two_shared_rounds_make_pairs_and_one_makes_none() -> None:
    sides = (
        _rates(*rates, filesystem=name, rounds=True) for rates, name in (((100, 110), "ext4"), ((120, 130), "xfs"))
    )
    assert _row(*sides)["n_pairs"] == 2
    # rounds 1 and 2 against 2 and 3
    b = [
        replace(log, round=log.round and log.round + 1) for log in _rates(120, 130, filesystem="xfs", rounds=True)
    ]
    row = _row(_rates(100, 110, filesystem="ext4", rounds=True), b)
    assert (row["n_pairs"], row["method"]) == (None, "Welch t on logs")


def test_rounds_of_two_hosts_are_no_pairs_where_hosts_are_compared() -> None:
    sides = [
        [replace(log, host=host) for log in _rates(*rates, filesystem="ext4", rounds=True)]
        for host, rates in (("a", (100.0, 110.0, 105.0)), ("b", (121.0, 130.0, 128.0)))
    ]
    row = _row(*sides, factor="host")
    assert (row["n_pairs"], row["method"]) == (None, "Welch t on logs")


def test_iops_and_bandwidth_of_a_job_count_once() -> None:
    sides = []
    for operation, factor in (("read", 1.0), ("write", 1.01)):
        for metric, scale in (("iops", 1.0), ("bandwidth", 4096.0)):
            a, b = [scale * x for x in RATES_A[:5]], [scale * factor * x for x in RATES_B[:5]]
            facts = {"operation": operation, "metric": metric}
            sides += [*_rates(*a, filesystem="ext4", **facts), *_rates(*b, filesystem="xfs", **facts)]
    table = fsb.compare(assemble(sides))
    assert table.height == 4
    # Holm over two tests: twice the smaller p, and no less for the larger one
    smaller, larger = sorted(table.filter(metric="iops")["p"])
    expected = {smaller: 2 * smaller, larger: max(2 * smaller, larger)}
    for p, adjusted in table.select("p", "p_adjusted").rows():
        assert adjusted == pytest.approx(expected[min(expected, key=lambda known: abs(known - p))], rel=1e-9)


def test_iops_of_one_job_and_bandwidth_of_another_are_one_family() -> None:
    sides = [*_apart(3, 0.1, operation="read"), *_apart(4, 0.1, operation="write", metric="bandwidth")]
    table = fsb.compare(assemble(sides)).sort("p")
    smaller, larger = table["p"]
    assert table["p_adjusted"].to_list() == pytest.approx([2 * smaller, max(2 * smaller, larger)])


def test_the_p_of_the_bandwidth_is_that_of_the_job() -> None:
    table = fsb.compare(assemble([*_apart(3, 0.1), *_apart(4, 0.1, metric="bandwidth")]))
    p = table.filter(metric="bandwidth")["p"].item()
    assert table["p_adjusted"].to_list() == pytest.approx([p] * 2)


@pytest.mark.parametrize("other", [{"metric": "latency", "statistic": "p99"}, {"metric": "cpu"}])
def test_what_is_no_function_of_the_rate_is_another_test(other: dict[str, object]) -> None:
    table = fsb.compare(assemble([*_apart(3, 0.1), *_apart(3, 0.1, **other)]))
    assert table.height == 2
    assert table["p_adjusted"].to_list() == pytest.approx((2 * table["p"]).to_list())


def _without_unit(logs: list[Log]) -> list[Log]:
    remark = Diagnostic(code="UNIT_ASSUMED", message="Nothing tells.", line=1, start=0)
    return [replace(log, records=[*log.records, remark]) for log in logs]


def test_percentiles_of_jobs_are_compared_job_by_job_and_never_averaged() -> None:
    def with_jobs(log: Log, factor: float) -> Log:
        (run,) = (record for record in log.records if isinstance(record, Run))
        (figure,) = run.measurements
        jobs = {"a": 1.0, "b": 5.0}
        figures = tuple(
            replace(
                figure, metric="latency", statistic="p99", unit="s", scope="job", part=part, value=times * factor
            )
            for part, times in jobs.items()
        )
        return replace(log, records=[replace(run, measurements=figures)])

    logs = [with_jobs(log, 1.0) for log in _rates(*RATES_A[:3], filesystem="ext4")]
    logs += [with_jobs(log, 2.0) for log in _rates(*RATES_B[:3], filesystem="xfs")]
    table = fsb.compare(assemble(logs)).sort("part")
    assert table.select("part", "statistic", "value_baseline", "value_candidate").rows() == [
        ("a", "p99", pytest.approx(1), pytest.approx(2)),
        ("b", "p99", pytest.approx(5), pytest.approx(10)),
    ]
    assert fsb.geometric_mean(assemble(logs))["cells"].to_list() == [2]


def test_units_that_may_differ_give_no_ratio() -> None:
    a, b = (_rates(100, 101, filesystem=name, metric="bandwidth") for name in ("ext4", "xfs"))
    # one of two runs is enough to spoil a side, and both runs of both sides to make them alike
    for sides in ((_without_unit(a[:1]) + a[1:], b), (_without_unit(a[:1]) + a[1:], _without_unit(b))):
        assert _row(*sides)["reasons"] == ["UNIT_AMBIGUOUS"]
    row = _row(_without_unit(a), b)
    assert (row["ratio"], row["rounding_low"], row["reasons"]) == (None, None, ["UNIT_AMBIGUOUS"])
    assert row["verdict"] == "not comparable"
    row = _row(_without_unit(a), _without_unit(b))
    assert (row["ratio"], row["reasons"]) == (pytest.approx(1), [])
    assert "the same unit is assumed for both" in row["footnotes"][0]  # type: ignore[index]


@pytest.mark.parametrize(("operation", "reasons"), [("write_sync", ["UNSYNCED"]), ("write", [])])
def test_a_sync_of_which_a_filesystem_is_not_told_withholds_the_verdict(
    operation: str, reasons: list[str]
) -> None:
    a, b = (_rates(100, 101, filesystem=name, operation=operation) for name in ("ext4", "xfs"))
    remark = Diagnostic(code="SYNC_NOT_PASSED_ON", message="It runs in user space.", line=1, start=0)
    row = _row(a, [replace(log, records=[*log.records, remark]) for log in b])
    assert row["reasons"] == reasons
    assert (row["verdict"] == "not comparable") is bool(reasons)


def _with_sync(write: float, sync: float, filesystem: str, *records: Diagnostic, operation: str = "write") -> Log:
    """One log with the seconds of a task, and of the sync after it, each printed without a decimal."""
    (log,) = _rates(write, filesystem=filesystem, metric="elapsed", operation=operation, half=0.5)
    run: Run = log.records[0]  # type: ignore[assignment]
    (figure,) = run.measurements
    after = replace(figure, operation=f"{operation}_sync", value=sync, low=sync - 0.5, high=sync + 0.5)
    facts = (Setting(key="total_size", value="1000"), Setting(key="memory", value="600"))
    return replace(log, records=[replace(run, measurements=(figure, after), settings=facts), *records])


def test_a_task_and_its_sync_are_compared_together() -> None:
    data = assemble([_with_sync(10, 30, "ext4"), _with_sync(20, 12, "xfs")])
    rows = fsb.compare(data).rows_by_key(["operation", "metric"], named=True, unique=True)
    assert rows.keys() == {("write", "elapsed"), ("write_sync", "elapsed"), ("write", "elapsed_with_sync")}
    # 20 + 12 s against 10 + 30, each of them within half a second
    row = rows["write", "elapsed_with_sync"]
    assert (row["value_baseline"], row["value_candidate"], row["ratio"]) == (40, 32, pytest.approx(0.8))
    assert (row["rounding_low"], row["rounding_high"]) == (pytest.approx(31 / 41), pytest.approx(33 / 39))
    # data that fit into memory have reached the disk when the sync is over, and not before
    assert {key: "CACHED" in row["reasons"] for key, row in rows.items()} == {
        ("write", "elapsed"): True,
        ("write_sync", "elapsed"): False,
        ("write", "elapsed_with_sync"): False,
    }
    # and all cells together do not count the same seconds twice
    assert fsb.geometric_mean(data).select("metric", "cells").rows() == [("elapsed", 2), ("elapsed_with_sync", 1)]


def test_each_size_has_its_own_sync() -> None:
    def sizes(*seconds: tuple[float, float], filesystem: str) -> Log:
        logs = [_with_sync(task, sync, filesystem) for task, sync in seconds]
        figures = [
            replace(figure, block_size=4096 * number)
            for number, log in enumerate(logs, 1)
            for figure in log.records[0].measurements  # type: ignore[union-attr]
        ]
        return replace(logs[0], records=[replace(logs[0].records[0], measurements=tuple(figures))])  # type: ignore[type-var]

    data = assemble([sizes((10, 30), (20, 5), filesystem="ext4"), sizes((30, 30), (40, 1), filesystem="xfs")])
    rows = fsb.compare(data, metrics=["elapsed_with_sync"])
    assert rows["block_size"].to_list() == [4096, 8192]
    assert rows["value_baseline"].to_list() == pytest.approx([40, 25])
    assert rows["value_candidate"].to_list() == pytest.approx([60, 41])


@pytest.mark.parametrize("operation", ["copy_tree", "remove_large_files", "delete"])
def test_what_copies_or_removes_has_something_to_sync(operation: str) -> None:
    data = assemble([_with_sync(10, 30, name, operation=operation) for name in ("ext4", "xfs")])
    assert set(fsb.compare(data)["metric"]) == {"elapsed", "elapsed_with_sync"}


def test_versions_of_a_tool_set_two_sides_apart() -> None:
    sides = [
        _with(_rates(100, filesystem=name), tool_version=version)
        for name, version in (("ext4", "3.33"), ("xfs", "3.36"))
    ]
    row = _row(*sides)
    assert row["footnotes"][0] == "tool_version differs: 3.33 against 3.36."  # type: ignore[index]
    assert row["verdict"] == "not comparable"


def test_what_writes_nothing_is_not_compared_with_its_sync() -> None:
    data = assemble([_with_sync(10, 30, name, operation="read") for name in ("ext4", "xfs")])
    assert set(fsb.compare(data)["metric"]) == {"elapsed"}


def test_a_task_with_a_sync_of_which_a_filesystem_is_not_told_has_no_verdict() -> None:
    remark = Diagnostic(code="SYNC_NOT_PASSED_ON", message="It runs in user space.", line=1, start=0)
    data = assemble([_with_sync(10, 30, "ext4"), _with_sync(20, 12, "xfs", remark)])
    (row,) = fsb.compare(data, metrics=["elapsed_with_sync"]).rows(named=True)
    assert "UNSYNCED" in row["reasons"]


def test_the_same_data_give_the_same_frame_in_any_order_of_logs() -> None:
    logs = _many(20, 4, rounds=True)
    once, again = fsb.compare(assemble(logs)), fsb.compare(assemble(logs))
    assert once.equals(again)
    turned = fsb.compare(assemble(logs[::-1]))
    assert_frame_equal(once.sort("block_size"), turned.sort("block_size"), rel_tol=1e-12)


# ---- all cells together


@pytest.mark.parametrize("rounds", [True, False])
def test_the_run_is_the_unit_over_many_cells(rounds: bool) -> None:
    logs = _many(30, 4, rounds=rounds)
    row = fsb.geometric_mean(assemble(logs)).row(0, named=True)
    means = {
        name: [
            float(np.mean([math.log(m.value) for m in log.records[0].measurements]))  # type: ignore[union-attr,arg-type]
            for log in logs
            if log.source.startswith(name)
        ]
        for name in ("ext4", "xfs")
    }
    apart = [b - a for a, b in zip(means["ext4"], means["xfs"], strict=True)]
    expected = _over(apart) if rounds else _welch(*(np.exp(means[name]).tolist() for name in ("ext4", "xfs")))
    assert (row["cells"], row["cells_dropped"], row["n_baseline"], row["n_candidate"]) == (30, 0, 4, 4)
    assert row["ratio"] == pytest.approx(math.exp(np.mean(apart)))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, rel=1e-9)
    assert row["reasons"] == []


def test_half_of_the_cells_lie_between_the_quartiles() -> None:
    # ratios 1, 2, 4, 8, 16
    logs = []
    for name, base in (("ext4", 1.0), ("xfs", 2.0)):
        (log,) = _rates(1.0, filesystem=name)
        (run,) = log.records
        assert isinstance(run, Run)
        figures = tuple(replace(run.measurements[0], block_size=4096 << n, value=base**n) for n in range(5))
        logs.append(replace(log, records=[replace(run, measurements=figures)]))
    row = fsb.geometric_mean(assemble(logs)).row(0, named=True)
    assert [row[name] for name in ("quartile_low", "ratio", "quartile_high")] == pytest.approx([2, 4, 8])


def test_two_runs_of_many_cells_have_an_interval_of_95_percent_over_them() -> None:
    row = fsb.geometric_mean(assemble(_many(30, 2, rounds=False))).row(0, named=True)
    assert (row["confidence"], row["reasons"]) == (0.95, [])
    assert row["ci_low"] < row["ratio"] < row["ci_high"]


def test_a_run_that_lacks_a_cell_leaves_none_over_all() -> None:
    first, *rest = _many(10, 3, rounds=False)
    run: Run = first.records[0]  # type: ignore[assignment]
    less = replace(first, records=[replace(run, measurements=run.measurements[:9])])
    row = fsb.geometric_mean(assemble([less, *rest])).row(0, named=True)
    assert (row["cells"], row["ci_low"], row["reasons"]) == (10, None, ["N_BELOW_METHOD_MIN"])


def test_a_cell_with_a_zero_is_dropped() -> None:
    first, *rest = _many(10, 3, rounds=False)
    run: Run = first.records[0]  # type: ignore[assignment]
    zero = (replace(run.measurements[0], value=0.0), *run.measurements[1:])
    row = fsb.geometric_mean(assemble([replace(first, records=[replace(run, measurements=zero)]), *rest])).row(
        0, named=True
    )
    assert (row["cells"], row["cells_dropped"]) == (9, 1)


def test_cells_that_a_side_lacks_are_dropped_and_counted() -> None:
    logs = _many(10, 3, rounds=False)
    less = [
        replace(log, records=[replace(log.records[0], measurements=log.records[0].measurements[:8])])  # type: ignore[union-attr,type-var,call-arg]
        if log.source.startswith("xfs")
        else log
        for log in logs
    ]
    row = fsb.geometric_mean(assemble(less)).row(0, named=True)
    assert (row["cells"], row["cells_dropped"], row["reasons"]) == (8, 2, ["SET_MISMATCH"])
    same = fsb.geometric_mean(assemble(logs).filter(pl.lit(value=True))).row(0, named=True)
    assert (same["cells"], same["reasons"]) == (10, [])


def test_one_run_of_many_cells_has_no_interval_over_them() -> None:
    row = fsb.geometric_mean(assemble(_many(50, 1, rounds=False))).row(0, named=True)
    assert (row["cells"], row["ci_low"], row["reasons"]) == (50, None, ["ONE_RUN_NO_REPLICATES"])
    assert row["quartile_low"] < row["ratio"] < row["quartile_high"]


def test_more_cells_take_no_more_calls() -> None:
    calls = []
    for cells in (40, 400):
        data = assemble(_many(cells, 5, rounds=False))
        fsb.compare(data)  # what is computed once is no part of it
        profile = cProfile.Profile()
        profile.runcall(fsb.compare, data)
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert calls[1] < 1.2 * calls[0]


def test_every_reason_of_a_comparison_is_explained(published: Path) -> None:
    said = set(fsb.compare(fsb.read(published)).explode("reasons")["reasons"].drop_nulls())
    assert {"CONFIG_MISMATCH", "ONE_RUN_NO_REPLICATES", "CENSORED"} <= said <= REASONS.keys()
    assert all(REASONS[code].kind != "footnote" and REASONS[code].meaning.endswith(".") for code in said)
