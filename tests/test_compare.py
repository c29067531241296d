"""Comparisons say what runs can show, and refuse the rest with a reason."""

import math
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsbench_kit as fsb
from fsbench_kit.dataset import Log, assemble
from fsbench_kit.errors import RequestError
from fsbench_kit.records import Measurement, Run, Setting

START = datetime(2026, 1, 1)  # logs print no time zone


def _rates(*rates: float, filesystem: str, rounds: bool = False, **facts: object) -> list[Log]:
    """One log for each rate, of one read figure in whole requests per second."""
    logs = []
    for number, rate in enumerate(rates, 1):
        figure = Measurement(
            operation=str(facts.get("operation", "read")),
            metric=str(facts.get("metric", "iops")),
            statistic=str(facts.get("statistic", "value")),
            value=rate,
            unit="1/s",
            low=max(rate - 0.5, 0.0),
            high=rate + 0.5,
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
                started_at=facts.get("started_at", START + timedelta(minutes=order)),  # type: ignore[arg-type]
                ended_at=facts.get("ended_at", START + timedelta(minutes=order, seconds=30)),  # type: ignore[arg-type]
            )
        )
    return logs


def _row(*logs: list[Log], **options: object) -> dict[str, object]:
    table = fsb.compare(assemble([log for side in logs for log in side]), **options)  # type: ignore[arg-type]
    assert table.height == 1
    return table.row(0, named=True)


def test_single_runs_get_a_ratio_its_rounding_and_the_break_even_noise() -> None:
    row = _row(_rates(100, filesystem="ext4"), _rates(200, filesystem="xfs"))
    assert row["ratio"] == pytest.approx(2)
    assert row["rounding_low"] == pytest.approx(199.5 / 100.5)
    assert row["rounding_high"] == pytest.approx(200.5 / 99.5)
    # ln 2 / (1.96 sqrt 2) = 0.2501 as a log-sd; as a coefficient of variation sqrt(exp(s^2) - 1) = 0.2541
    assert row["break_even_cv"] == pytest.approx(0.2541, abs=5e-4)
    assert row["ci_low"] is row["ci_high"] is row["p"] is row["confidence"] is None
    assert row["verdict"] == "single runs"
    assert row["reasons"] == ["ONE_RUN_NO_REPLICATES"]


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
    assert row["footnotes"][:2] == ["4 warm-up runs were left out.", "1 precondition runs were left out."]  # type: ignore[index]


def test_a_rule_that_ended_the_launch_is_named() -> None:
    rule = {"stopping_rule": "half-width 5 %"}
    row = _row(*(_rates(100, 110, filesystem=name, rounds=True, settings=rule) for name in ("ext4", "xfs")))
    assert 'Rounds were made until the rule "half-width 5 %" was content' in row["footnotes"][0]  # type: ignore[index]
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
    old = _rates(100, 101, filesystem="ext4", settings={"kernel": "6.1"})
    new = _rates(102, 103, filesystem="ext4", settings={"kernel": "6.5"})
    row = _row(old + new, _rates(100, 101, filesystem="xfs", settings={"kernel": "6.1"}))
    assert "The runs of ext4 differ among themselves in kernel: 6.1, 6.5." in row["footnotes"]
    assert not [note for note in row["footnotes"] if "runs of xfs" in note]


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


def test_one_run_against_several_is_held_to_their_prediction() -> None:
    row = _row(_rates(100, 105, 95, 102, filesystem="ext4"), _rates(200, filesystem="xfs"))
    assert row["ci_low"] is None
    assert row["prediction_low"] is not None
    assert row["reasons"] == ["ONE_RUN_NO_REPLICATES"]
    assert row["verdict"] == "single runs"


def test_one_run_against_two_is_too_little() -> None:
    row = _row(_rates(100, 105, filesystem="ext4"), _rates(200, filesystem="xfs"))
    assert row["prediction_low"] is None
    assert row["reasons"] == ["ONE_RUN_NO_REPLICATES", "N_BELOW_METHOD_MIN"]


def test_a_setting_that_differs_withholds_the_verdict_and_is_named() -> None:
    row = _row(
        _rates(100, 101, 102, filesystem="ext4", settings={"direct": "true"}),
        _rates(200, 201, 202, filesystem="xfs", settings={"direct": "false"}),
    )
    assert row["reasons"] == ["CONFIG_MISMATCH"]
    assert row["footnotes"] == ["direct differs: true against false."]
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


def test_failed_runs_take_no_part_unless_asked_for() -> None:
    sides = (
        _rates(100, 101, 102, filesystem="ext4"),
        _rates(1, filesystem="xfs", status="failed"),
        _rates(200, 201, filesystem="xfs"),
    )
    assert _row(*sides)["n_candidate"] == 2
    assert _row(*sides, include_failed=True)["n_candidate"] == 3


def test_zero_has_no_ratio() -> None:
    row = _row(_rates(0, filesystem="ext4"), _rates(200, filesystem="xfs"))
    assert row["ratio"] is None
    assert row["reasons"] == ["ZERO_OR_FAILED"]
    assert row["verdict"] == "not comparable"


def test_each_study_has_a_baseline_of_its_own() -> None:
    sides = [
        *_rates(100, filesystem="ext4"),
        *_rates(200, filesystem="btrfs"),
        *_rates(100, filesystem="xfs", study="t"),
        *_rates(300, filesystem="zfs", study="t"),
    ]
    table = fsb.compare(assemble(sides))
    assert table.select("study", "baseline", "level").rows() == [("s", "ext4", "btrfs"), ("t", "xfs", "zfs")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "ext5"}, "'ext5' is not a filesystem of these runs\nChoose one of: ext4, xfs."),
        ({"factor": "direct"}, "no direct is known of these runs"),
        ({"metrics": ["speed"]}, "'speed' is not a metric"),
        ({"metrics": ["bytes"]}, "neither more nor less of it is better"),
    ],
)
def test_a_request_that_cannot_be_met_says_what_can(options: dict[str, object], message: str) -> None:
    data = assemble([*_rates(100, filesystem="ext4"), *_rates(200, filesystem="xfs")])
    with pytest.raises(RequestError) as caught:
        fsb.compare(data, **options)  # type: ignore[arg-type]
    assert message in str(caught.value)


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


@settings(max_examples=60, deadline=None)
@given(SIDE, SIDE, st.booleans())
def test_swapping_the_sides_inverts_every_interval(a: list[float], b: list[float], rounds: bool) -> None:
    data = assemble([*_rates(*a, filesystem="ext4", rounds=rounds), *_rates(*b, filesystem="xfs", rounds=rounds)])
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


@settings(max_examples=60, deadline=None)
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
    note = "iozone makes these requests through the page cache, although direct I/O was asked for."
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
    assert "zfs did all its work: 8 GiB in 519 s." in told
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
