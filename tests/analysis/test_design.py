"""Which runs are compared, what sets groups apart, and what the unit of inference is."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats

import fsbench_kit as fsb
from fsbench_kit.analysis.confounders import between
from fsbench_kit.analysis.design import Evidence
from fsbench_kit.analysis.groups import comparable
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.log import Log
from fsbench_kit.model.records import Measurement, Run, Setting

START = datetime(2026, 1, 1)
NOISE = np.random.default_rng(5).normal(0, 0.03, 400)


def run(filesystem: str, rate: float, minute: float | None, **facts: object) -> Log:
    """A log of one figure, made in some minute; other facts are settings, unless they are the run's."""
    own = ("host", "round", "study", "target", "workload", "order", "source", "stage")
    of_log = {name: facts.pop(name) for name in own if name in facts}
    version = facts.pop("tool_version", None)
    tool, operation = str(facts.pop("tool", "fio")), str(facts.pop("operation", "read"))
    figure = Measurement(
        operation=operation,
        metric="iops",
        value=rate,
        unit="1/s",
        low=rate,  # without rounding, which would widen all intervals
        high=rate,
        text=str(rate),
        line=1,
    )
    settings = tuple(Setting(key=key.replace("__", "."), value=str(value)) for key, value in facts.items())
    record = Run(
        tool=tool, start=0, end=8, line=1, filesystem=filesystem, measurements=(figure,), settings=settings
    )
    name = f"{filesystem} {rate} {minute} {of_log} {version} {facts}"
    at = None if minute is None else START + timedelta(minutes=minute)
    known = {"source": name, "host": "h", "study": "s", "tool_version": version} | of_log
    return Log(
        data=name.encode(),
        records=[record],
        status="ok",
        started_at=at,
        ended_at=at and at + timedelta(seconds=30),
        **known,  # type: ignore[arg-type]
    )


def in_turn(
    of_ext4: Sequence[dict[str, object]], of_xfs: Sequence[dict[str, object]], effect: float = 1.0, **facts: object
) -> list[Log]:
    """Runs of both groups in turn, each 3 % about 1000 times its own ``speed``; xfs is faster by an effect."""
    logs = []
    for number, (a, b) in enumerate(zip(of_ext4, of_xfs, strict=True)):
        for side, (name, own) in enumerate((("ext4", a), ("xfs", b))):
            known = facts | own
            speed = float(str(known.pop("speed", 1.0))) * (effect if side else 1.0)
            rate = 1000 * speed * math.exp(NOISE[2 * number + side])
            logs.append(run(name, rate, 2 * number + (side ^ number % 2), **known))
    return logs


def table(logs: Iterable[Log], **options: object) -> pl.DataFrame:
    return fsb.compare(assemble(list(logs)), **options)  # type: ignore[arg-type]


def row(logs: Iterable[Log], **options: object) -> dict[str, object]:
    found = table(logs, **options)
    assert found.height == 1
    return found.row(0, named=True)


def notes(found: dict[str, object]) -> str:
    return "\n".join(found["footnotes"])  # type: ignore[arg-type]


def test_a_run_counts_in_each_set_of_runs_that_has_it() -> None:
    """Rows of other cells have only some of the runs, and are set apart by the same settings."""
    logs = in_turn([{"kernel": "6.1"}] * 5, [{"kernel": "6.12"}] * 5)
    for log in logs[2:]:  # the first of each group wrote nothing
        (record,) = log.records
        (read,) = record.measurements  # type: ignore[union-attr]
        both = replace(record, measurements=(read, replace(read, operation="write")))  # type: ignore[type-var]
        log.records[:] = [both]
    found = table(logs)
    assert found.select("operation", "n_baseline").rows() == [("read", 5), ("write", 4)]
    assert all("kernel differs: 6.1 against 6.12." in said for said in found["footnotes"])


@pytest.mark.parametrize(("operation", "is_doubtful"), [("read", True), ("delete", False), ("write_sync", False)])
def test_the_cache_is_in_doubt_where_data_are_moved(operation: str, is_doubtful: bool) -> None:
    found = row(in_turn([{}] * 5, [{}] * 5, operation=operation))
    assert ("the page cache cannot be excluded" in notes(found)) is is_doubtful


# ---- groups are pure, or say what they mix

OLD, NEW = {"tool_version": "3.1", "speed": 1.0}, {"tool_version": "3.36", "speed": 1.3}


def test_versions_that_one_group_had_more_of_are_strata() -> None:
    # A is 30 % slower, and in 9 of 10 runs of ext4 and 1 of 10 of xfs: there is no effect of the filesystem
    found = row(in_turn([OLD] * 9 + [NEW], [OLD] + [NEW] * 9))
    assert found["ci_low"] < 1 < found["ci_high"]  # type: ignore[operator]
    assert found["verdict"] in {"inconclusive", "equivalent"}
    assert "tool_version is not balanced: 3.1 in 9 of 10 runs against 1 of 10" in notes(found).replace(" (", ": ")
    assert "within each value" in notes(found)
    assert found["companion_method"] is None


@pytest.mark.parametrize("rounds", [False, True])
def test_kernels_that_one_group_had_more_of_are_strata(rounds: bool) -> None:
    old, new = {"kernel": "6.1", "speed": 1.0}, {"kernel": "6.12", "speed": 1.3}
    logs = in_turn([old] * 9 + [new], [old] + [new] * 9)
    if rounds:
        for number, log in enumerate(logs):
            object.__setattr__(log, "round", number // 2 + 1)
    found = row(logs)
    assert found["ci_low"] < 1 < found["ci_high"]  # type: ignore[operator]
    assert "6.1 in 9 of 10 runs against 1 of 10" in notes(found)


def test_the_ratio_within_strata_is_that_of_a_linear_model() -> None:
    of_ext4, of_xfs = [OLD] * 6 + [NEW] * 2, [OLD] * 3 + [NEW] * 5
    logs = in_turn(of_ext4, of_xfs, effect=1.1)
    found = row(logs)
    rates = [(log.filesystem or log.source.split()[0], float(log.source.split()[1])) for log in logs]
    versions = [log.tool_version for log in logs]
    # log rate on the version, the filesystem and the version within each filesystem, by normal equations
    y = np.log([rate for _, rate in rates])
    xfs, new = (
        np.array([float(x) for x in mask])
        for mask in ([n == "xfs" for n, _ in rates], [v == "3.36" for v in versions])
    )
    full = np.stack([np.ones_like(y), new, xfs, xfs * new], axis=1)
    residual = y - full @ np.linalg.lstsq(full, y, rcond=None)[0]
    variance, df = residual @ residual / (y.size - 4), y.size - 4
    plain = full[:, :3]
    coefficient = np.linalg.lstsq(plain, y, rcond=None)[0][2]
    error = math.sqrt(variance * np.linalg.inv(plain.T @ plain)[2, 2])
    half = scipy.stats.t.ppf(0.975, df) * error
    assert found["ratio"] == pytest.approx(math.exp(coefficient))
    assert found["ci_low"] == pytest.approx(math.exp(coefficient - half))
    assert found["ci_high"] == pytest.approx(math.exp(coefficient + half))
    assert found["p"] == pytest.approx(2 * scipy.stats.t.sf(abs(coefficient) / error, df))


def test_a_version_that_one_group_lacks_withholds_the_verdict_and_is_counted() -> None:
    found = row(in_turn([OLD] * 9 + [NEW], [OLD] * 10))
    assert found["reasons"] == ["UNBALANCED"]
    assert "3.36 in 1 of 10 runs against 0 of 10" in notes(found)
    assert found["verdict"] == "not comparable"
    assert found["ci_low"] is not None


def test_versions_in_equal_shares_are_harmless_and_said() -> None:
    found = row(in_turn([OLD, NEW] * 5, [OLD, NEW] * 5, effect=1.5))
    assert found["reasons"] == []
    assert found["verdict"] == "better"
    assert "in equal shares of both groups" in notes(found)


def test_versions_that_disagree_on_the_effect_are_shown_one_by_one() -> None:
    fast, slow = {"tool_version": "3.1"}, {"tool_version": "3.36"}
    of_xfs = [fast | {"speed": 1.5}] * 3 + [slow | {"speed": 0.7}] * 5
    found = row(in_turn([fast] * 5 + [slow] * 3, of_xfs))
    assert found["reasons"] == ["STRATA_DISAGREE"]
    assert found["verdict"] == "not comparable"
    assert "(tool_version 3.1)" in notes(found)
    assert "(tool_version 3.36)" in notes(found)


def test_targets_of_one_filesystem_are_not_pooled() -> None:
    of_ext4 = [{"target": "ext4"}, {"target": "ext4-sync", "mount_options": "rw,sync", "speed": 0.01}] * 5
    found = row(in_turn(of_ext4, [{"target": "xfs", "mount_options": "rw"}] * 10))
    assert found["verdict"] == "not comparable"
    assert "UNBALANCED" in found["reasons"]  # type: ignore[operator]
    assert "split by target" in notes(found)
    by_target = table(in_turn(of_ext4, [{"target": "xfs"}] * 10), factor="target", baseline="ext4")
    assert set(by_target["level"]) == {"ext4-sync", "xfs"}
    assert by_target.filter(level="xfs")["reasons"].item().to_list() == []


def test_targets_of_which_each_cell_has_its_own_are_no_mix() -> None:
    def reasons(of_ext4: list[str]) -> list[str]:
        logs = [
            log
            for files, target in enumerate(of_ext4, 1)
            for log in in_turn(
                [{"target": "ext4"}, {"target": target}] * 3,
                [{"target": f"xfs-{files}"}] * 6,
                files=files,
                speed=files,
            )
        ]
        found = fsb.geometric_mean(assemble(logs)).row(0, named=True)
        assert found["cells"] == len(of_ext4)
        return list(found["reasons"])

    assert "UNBALANCED" in reasons(["ext4", "ext4-sync"])
    assert "UNBALANCED" not in reasons(["ext4", "ext4"])


@pytest.mark.parametrize(
    ("of_ext4", "of_xfs", "differs"),
    [
        ("rw,nobarrier", "rw,barrier", "mount option barrier differs: nobarrier against barrier."),
        ("rw,nobarrier", "rw,inode64", "mount option barrier differs: nobarrier against barrier."),
        ("rw,barrier=0", "rw", "mount option barrier differs: nobarrier against barrier."),
        ("rw,sync", "rw", "mount option sync differs: sync against async."),
        ("rw,noatime", "rw,relatime", "mount option atime differs: noatime against relatime."),
        ("rw,discard", "rw", "mount option discard differs: discard against nodiscard."),
        ("rw,data=journal", "rw", "mount option data differs: data=journal against data=ordered."),
        ("rw,relatime,data=ordered,barrier=1", "rw,inode64,logbufs=8", None),
    ],
)
def test_mount_options_that_mean_the_same_anywhere_count(of_ext4: str, of_xfs: str, differs: str | None) -> None:
    found = row(in_turn([{"mount_options": of_ext4}] * 5, [{"mount_options": of_xfs}] * 5, effect=2))
    assert found["reasons"] == ([] if differs is None else ["CONFIG_MISMATCH"])
    assert (differs or "against inode64,logbufs=8, which come with the filesystem.") in notes(found)


def test_mount_options_of_one_filesystem_all_count() -> None:
    logs = [
        log
        for number in range(5)
        for log in (
            run("ext4", 1000 + number, 2 * number, governor="a", mount_options="rw,commit=5"),
            run("ext4", 1100 + number, 2 * number + 1, governor="b", mount_options="rw,commit=60"),
        )
    ]
    found = row(logs, factor="governor")
    assert "mount_options differs: commit=5 against commit=60." in notes(found)
    assert found["reasons"] == ["CONFIG_MISMATCH"]


def test_names_and_reports_and_what_follows_from_the_factor_set_nothing_apart() -> None:
    # as bench-fio names its files
    logs = [
        run(
            "ext4",
            1000 * depth + number,
            2 * number + (depth == 8),
            iodepth=depth,
            fio__latency_depth=depth,
            fio__write_bw_log=f"/tmp/out/randread-iodepth-{depth}",
            fio__write_iops_log=f"/tmp/out/randread-iodepth-{depth}",
            fio__log_avg_msec=500 * depth,
            fio__filename=f"/mnt/{depth}/file",
            fio__section=f"iodepth-{depth}",
            directory=f"/mnt/{depth}",
            description=f"depth {depth}",
            workload=f"randread-{depth}",
        )
        for number in range(5)
        for depth in (1, 8)
    ]
    found = row(logs, factor="iodepth")
    assert found["reasons"] == []
    assert found["verdict"] == "better"


def test_files_that_are_devices_set_groups_apart() -> None:
    found = row(in_turn([{"fio__filename": "/dev/sda"}] * 5, [{"fio__filename": "/dev/sdb"}] * 5))
    assert found["reasons"] == ["CONFIG_MISMATCH"]
    assert "fio.filename differs: /dev/sda against /dev/sdb." in notes(found)


def test_a_setting_that_is_known_of_one_group_is_said() -> None:
    found = row(in_turn([{"kernel": "6.1", "direct": "true"}] * 5, [{"scheduler": "none"}] * 5, effect=2))
    assert found["reasons"] == []
    assert [said for said in notes(found).splitlines() if said.startswith("Known for ")] == [
        "Known for ext4 only: direct (true), kernel (6.1).",
        "Known for xfs only: scheduler (none).",
    ]


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"rate_iops": "1500"}, "fio.rate_iops differs: not given against 1500."),
        ({"direct": "1"}, "direct differs: false against true."),
        ({"fsync": "1"}, "fsync differs: not given against 1."),
        ({"ioengine": "libaio"}, "engine differs: not given against libaio."),
        ({"fsync": "0"}, None),
        ({"direct": "0"}, None),
        ({"random_distribution": "random", "randrepeat": "1", "norandommap": "0"}, None),
        ({"group_reporting": "1", "write_bw_log": "bw"}, None),
    ],
)
def test_an_option_that_a_list_lacks_was_not_given(tmp_path: Path, own: dict[str, str], said: str | None) -> None:
    for place, options, rate in (("ext4", {}, 2000), ("xfs", own, 1000)):
        (tmp_path / place).mkdir()
        for number, noise in enumerate((0, 3, -2, 1, -1, 2)):
            job: dict[str, object] = {
                "jobname": "r",
                "error": 0,
                "job options": {"rw": "randread", "bs": "4k", "runtime": "10", **options},
                "read": {"total_ios": (rate + noise) * 10, "runtime": 10000, "iops": float(rate + noise)},
            }
            log = {"fio version": "fio-3.33", "timestamp": 1_700_000_000 + 60 * number + rate // 50, "jobs": [job]}
            (tmp_path / place / f"{number}.json").write_text(json.dumps(log), encoding="utf-8")
    (found,) = fsb.compare(fsb.read(tmp_path, names="{filesystem}/{round}.json")).filter(metric="iops").to_dicts()
    assert found["reasons"] == ([] if said is None else ["CONFIG_MISMATCH"])
    assert found["verdict"] == ("worse" if said is None else "not comparable")
    assert said is None or said in notes(found).splitlines()


@pytest.mark.parametrize(("options", "is_said"), [("rw,async,relatime", False), ("rw,nobarrier", True)])
def test_mount_options_as_they_are_unasked_are_not_said_of_one_group_only(options: str, is_said: bool) -> None:
    found = row(in_turn([{"mount_options": options}] * 10, [{}] * 10))
    assert ("Known for ext4 only" in notes(found)) is is_said


@pytest.mark.parametrize(
    ("facts", "unknown"),
    [
        ({}, True),
        ({"direct": "false"}, True),
        ({"direct": "true"}, False),
        ({"memory": 1000, "total_size": 3000}, False),
    ],
)
def test_a_cache_that_nothing_excludes_is_said(facts: dict[str, object], unknown: bool) -> None:
    found = row(in_turn([facts] * 3, [facts] * 3, tool="sysbench"))
    assert ("the page cache cannot be excluded" in notes(found)) is unknown
    deleted = row(in_turn([facts] * 3, [facts] * 3, operation="delete"))
    assert "the page cache cannot be excluded" not in notes(deleted)


@pytest.mark.parametrize(
    "operations", [("delete", "read"), ("read", "delete"), ("read", "read"), ("delete", "create")]
)
def test_a_cache_counts_for_each_operation_of_a_sum(operations: tuple[str, str]) -> None:
    data = assemble(
        log
        for number, operation in enumerate(operations)
        for log in in_turn([{}] * 3, [{}] * 3, operation=operation, files=number)
    )
    both = [comparable(data, "filesystem").filter(level=name) for name in ("ext4", "xfs")]
    _, besides = between([both], Evidence(data, "filesystem"))
    assert any("the page cache cannot be excluded" in said for said in besides) is ("read" in operations)


def test_memory_differs_by_more_than_what_a_kernel_keeps() -> None:
    for other, reasons in ((25276502016 - 10**6, []), (33 * 10**9, ["CONFIG_MISMATCH"])):
        found = row(
            in_turn([{"memory": 25276502016, "direct": "true"}] * 3, [{"memory": other, "direct": "true"}] * 3)
        )
        assert found["reasons"] == reasons


# ---- order

DRIFT = [1.2 ** (place / 9) for place in range(10)]


def test_order_is_judged_on_each_host() -> None:
    logs = [
        run(name, 1000 * speed * DRIFT[place], 100 * number + place, host=f"h{number}")
        for number, speed in enumerate((1.0, 1.4, 0.8))
        for place, name in enumerate(["ext4"] * 5 + ["xfs"] * 5)
    ]
    found = row(logs)
    assert "BLOCKED_ORDER" in found["reasons"]  # type: ignore[operator]
    assert found["verdict"] == "not comparable"


@pytest.mark.parametrize(("host", "reasons"), [("h", ["CONCURRENT_RUNS"]), (None, [])])
def test_runs_at_the_same_time_are_said_where_nobody_knows_on_which_machine(
    host: str | None, reasons: list[str]
) -> None:
    logs = [
        replace(log, host=host, ended_at=log.started_at + timedelta(minutes=3))
        for log in in_turn([{}] * 5, [{}] * 5)
        if log.started_at is not None
    ]
    found = row(logs)
    assert found["reasons"] == reasons
    assert ("their hosts are not known" in notes(found)) == (host is None)
    assert not any("overlapped" in text for text in row(in_turn([{}] * 5, [{}] * 5))["footnotes"])  # type: ignore[attr-defined]


def test_order_is_judged_in_each_launch() -> None:
    # the groups change places between the launches of one folder each: neither comes first in all
    logs = [
        run(name, 1000 * DRIFT[place], 100 * number + place, order=place, source=f"l{number}/{place}/log")
        for number in range(2)
        for place, name in enumerate(["ext4"] * 5 + ["xfs"] * 5 if number else ["xfs"] * 5 + ["ext4"] * 5)
    ]
    assert "BLOCKED_ORDER" in row(logs)["reasons"]  # type: ignore[operator]


def test_groups_that_hardly_alternate_are_in_blocks() -> None:
    names = ["ext4"] * 9 + ["xfs", "ext4"] + ["xfs"] * 9
    logs = [run(name, 1000 * 1.2 ** (place / 19), place) for place, name in enumerate(names)]
    assert row(logs)["reasons"] == ["BLOCKED_ORDER"]


# Of 924 orders of six and six, 12 have three stretches of one group or fewer; of 12870 of eight and eight, 16.
@pytest.mark.parametrize(("half", "runs", "reasons"), [(3, 6, []), (4, 8, ["BLOCKED_ORDER"])])
def test_an_order_is_in_blocks_where_one_in_a_hundred_is_as_much_so(
    half: int, runs: int, reasons: list[str]
) -> None:
    order = ["ext4"] * half + ["xfs"] * runs + ["ext4"] * half
    logs = [run(name, 1000 * math.exp(NOISE[minute]), 2 * minute) for minute, name in enumerate(order)]
    assert row(logs)["reasons"] == reasons


def test_random_order_is_rarely_taken_for_blocks() -> None:
    rng = np.random.default_rng(3)
    logs = [
        run("xfs" if place % 2 else "ext4", 1000 + float(rng.normal(0, 5)), int(minute), study=f"s{study}")
        for study in range(200)
        for place, minute in enumerate(rng.permutation(12))
    ]
    blocked = table(logs)["reasons"].list.contains("BLOCKED_ORDER").sum()
    assert blocked <= 6


def test_an_order_that_nothing_tells_is_said() -> None:
    logs = [run(name, 1000 + number, None) for name in ("ext4", "xfs") for number in range(4)]
    assert "It is not known when the runs were made" in notes(row(logs))
    timed = [
        run(name, 1000 + 2 * number, 2 * number + (name == "xfs"))
        for name in ("ext4", "xfs")
        for number in range(4)
    ]
    assert "It is not known when" not in notes(row(timed))


# ---- cells


def test_workloads_that_differ_in_any_setting_are_cells_of_their_own() -> None:
    logs = [
        log
        for files in range(1, 21)
        for log in in_turn([{}] * 5, [{}] * 5, effect=1.0, files=files, workload=f"w{files}", speed=files)
    ]
    found = table(logs)
    assert found.height == 20
    assert found.select("n_baseline", "n_candidate").unique().rows() == [(5, 5)]
    assert set(found["work"]) == {f"files {number}" for number in range(1, 21)}
    assert found["ratio"].is_between(0.9, 1.1).all()


def test_work_that_each_group_did_alone_is_a_difference_and_no_cell() -> None:
    of_ext4 = [{"engine": "sync", "files": files} for files in (16, 32)] * 4
    of_xfs = [{"engine": "libaio", "files": files} for files in (16, 32)] * 4
    found = table(in_turn(of_ext4, of_xfs))
    assert found["work"].to_list() == ["files 16", "files 32"]
    assert found["reasons"].to_list() == [["CONFIG_MISMATCH"]] * 2
    assert all("engine differs: sync against libaio." in notes for notes in found["footnotes"])


@pytest.mark.parametrize("swapped", [False, True])
def test_work_that_one_group_did_more_of_stays_apart(swapped: bool) -> None:
    one, two = [{"engine": "sync", "files": 16}] * 8, [{"engine": "libaio", "files": 16 * n} for n in (1, 2)] * 4
    found = row(in_turn(two, one) if swapped else in_turn(one, two))
    assert found["work"] == "files 16"
    assert (found["n_baseline"], found["n_candidate"]) == ((4, 8) if swapped else (8, 4))


# ---- units


def rounds_of(launches: Iterable[str], filesystems: Sequence[str], count: int, **facts: object) -> list[Log]:
    return [
        run(
            name,
            1000 * math.exp(NOISE[(7 * place + 3 * number + len(launch)) % 400]),
            1000 * place + 2 * number + (side ^ number % 2),
            round=number + 1,
            study=launch,
            **facts,
        )
        for place, launch in enumerate(launches)
        for number in range(count)
        for side, name in enumerate(filesystems)
    ]


def test_rounds_of_two_launches_are_no_pairs() -> None:
    logs = [
        *rounds_of(["first"], ["ext4"], 6, kernel="6.1"),
        *rounds_of(["second"], ["ext4"], 6, kernel="6.12", n=1),
    ]
    found = row(logs, factor="kernel")
    assert (found["study"], found["n_pairs"], found["method"]) == (None, None, "Welch t on logs")
    assert "No launch has enough of both groups" in notes(found)


@pytest.mark.parametrize(
    ("factor", "values"), [("host", ("a", "b")), ("tool_version", ("3.1", "3.36")), ("governor", ("x", "y"))]
)
def test_launches_of_one_level_each_are_compared(factor: str, values: tuple[str, str]) -> None:
    logs = [
        log for value in values for log in rounds_of([f"launch-{value}"], ["ext4", "xfs"], 4, **{factor: value})
    ]
    found = table(logs, factor=factor)
    assert found.select("filesystem", "baseline", "level", "n_baseline").rows() == [
        ("ext4", *values, 4),
        ("xfs", *values, 4),
    ]
    within = table(logs)  # and filesystems within each launch
    assert set(within["study"]) == {f"launch-{value}" for value in values}


def test_several_launches_of_each_level_are_the_unit() -> None:
    logs = [
        run(
            "ext4",
            1000 * speed * math.exp(NOISE[5 * place + number]),
            100 * place + number,
            study=f"l{place}",
            kernel=kernel,
        )
        for place, (kernel, speed) in enumerate(
            [("6.1", 1.0), ("6.12", 1.3), ("6.1", 1.2), ("6.12", 0.9), ("6.1", 0.8), ("6.12", 1.1)]
        )
        for number in range(5)
    ]
    found = row(logs, factor="kernel")
    means = {
        kernel: [
            np.mean([math.log(float(log.source.split()[1])) for log in logs if log.study == f"l{place}"])
            for place in places
        ]
        for kernel, places in (("6.1", (0, 2, 4)), ("6.12", (1, 3, 5)))
    }
    expected = scipy.stats.ttest_ind(means["6.12"], means["6.1"], equal_var=False)
    assert found["p"] == pytest.approx(expected.pvalue)
    assert "the launch is the unit" in notes(found)


def test_two_shared_rounds_do_not_beat_thirty_runs() -> None:
    logs = [
        run(
            name,
            1000 * effect * math.exp(NOISE[2 * number + side]),
            2 * number + (side ^ number % 2),
            round=number + 1 + 28 * side,
        )
        for number in range(30)
        for side, (name, effect) in enumerate((("ext4", 1.0), ("xfs", 1.1)))
    ]
    found = row(logs)
    assert (found["method"], found["n_pairs"], found["verdict"]) == ("Welch t on logs", None, "better")
    assert "Only 4 of 60 runs have a partner in their round, so rounds were not paired." in notes(found)


@pytest.mark.parametrize(("alone", "method"), [(2, "paired t on logs"), (3, "Welch t on logs")])
def test_pairs_keep_four_fifths_of_the_runs(alone: int, method: str) -> None:
    # of 10 rounds, some have one group only
    logs = [
        run(name, 1000 * math.exp(NOISE[2 * number + side]), 2 * number + (side ^ number % 2), round=number)
        for number in range(1, 7 + alone if alone < 3 else 9)
        for side, name in enumerate(("ext4", "xfs"))
        if not (side and number > 6)
    ]
    if alone == 3:
        logs += [run("ext4", 1003, 50, round=50), run("ext4", 1001, 51, round=51)]
    assert row(logs)["method"] == method


def on_hosts(hosts: int, effects: Sequence[float], rounds: bool = False) -> list[Log]:
    return [
        run(
            name,
            1000
            * (1 + host)
            * (effects[host % len(effects)] if side else 1.0)
            * math.exp(NOISE[40 * host + 2 * number + side]),
            100 * host + 2 * number + (side ^ number % 2),
            host=f"h{host}",
            **({"round": number + 1} if rounds else {}),
        )
        for host in range(hosts)
        for number in range(5)
        for side, name in enumerate(("ext4", "xfs"))
    ]


def test_five_hosts_are_units_and_fewer_are_strata() -> None:
    found = row(on_hosts(5, [1.2]))
    assert (found["method"], found["n_pairs"]) == ("t over blocks on logs", 5)
    assert "The interval is over 5 hosts" in notes(found)
    found = row(on_hosts(3, [1.2]))
    assert found["method"] == "t within strata on logs"
    assert found["companion_method"] == "t over blocks on logs"
    width, in_general = (
        float(str(found[f"{name}_high"])) / float(str(found[f"{name}_low"])) for name in ("ci", "companion")
    )
    assert in_general != pytest.approx(width)
    assert "within each of 3 hosts: the ratio is that of these hosts" in notes(found)
    assert found["verdict"] == "better"


def test_rounds_on_few_hosts_are_pairs_within_strata() -> None:
    logs = on_hosts(2, [1.2], rounds=True)
    found = row(logs)
    assert (found["method"], found["n_pairs"]) == ("paired t within strata on logs", 10)
    rates = {(log.host, log.round, log.source.split()[0]): float(log.source.split()[1]) for log in logs}
    logs_of = [
        [math.log(rates[f"h{host}", n, "xfs"] / rates[f"h{host}", n, "ext4"]) for n in range(1, 6)]
        for host in range(2)
    ]
    mean = np.mean(logs_of)
    variance = sum(np.var(of_host, ddof=1) for of_host in logs_of) / 2
    half = scipy.stats.t.ppf(0.975, 8) * math.sqrt(variance / 10)
    assert found["ci_low"] == pytest.approx(math.exp(mean - half))
    assert found["ci_high"] == pytest.approx(math.exp(mean + half))


def test_hosts_that_disagree_are_shown_one_by_one() -> None:
    found = row(on_hosts(2, [1.3, 0.8]))
    assert found["reasons"] == ["STRATA_DISAGREE"]
    assert "(host h0)" in notes(found)
    assert "(host h1)" in notes(found)


def test_runs_on_a_host_of_one_group_are_left_out() -> None:
    extra = [run("xfs", 9000 + n, 500 + n, host="fast") for n in range(5)]
    found = row([*on_hosts(1, [1.0]), *extra])
    assert found["ratio"] == pytest.approx(1.0, abs=0.1)
    assert "5 runs on a host that ran only one of the groups were left out." in notes(found)
    assert found["reasons"] == []  # what the host has of its own sets the others not apart


def test_launches_are_units_as_hosts_are() -> None:
    for count, method in ((6, "t over blocks on logs"), (3, "t within strata on logs")):
        logs = [
            run(
                name,
                1000 * (1 + launch) * math.exp(NOISE[20 * launch + 2 * number + side]),
                100 * launch + 2 * number + (side ^ number % 2),
                order=number,
                source=f"l{launch}/{number}-{name}/log",
            )
            for launch in range(count)
            for number in range(4)
            for side, name in enumerate(("ext4", "xfs"))
        ]
        found = row(logs)
        assert found["method"] == method


# ---- over cells


def matrix(hosts: int, rounds: int, cells: int, seed: int, spread: float = 0.05) -> list[Log]:
    """Rounds on some hosts, which differ in the effect; each run has a figure in each cell."""
    rng = np.random.default_rng(seed)
    logs = []
    for host in range(hosts):
        effect = rng.normal(0, spread)
        for number in range(rounds):
            for side, name in enumerate(("ext4", "xfs")):
                log = run(
                    name, 1000, 100 * host + 2 * number + (side ^ number % 2), host=f"h{host}", round=number + 1
                )
                (record,) = log.records
                assert isinstance(record, Run)
                figures = tuple(
                    replace(record.measurements[0], block_size=4096 * cell, value=rate, low=rate, high=rate)
                    for cell, rate in enumerate(1000 * np.exp(side * effect + rng.normal(0, 0.01, cells)), 1)
                )
                logs.append(replace(log, records=[replace(record, measurements=figures)]))
    return logs


def test_hosts_are_the_unit_over_cells() -> None:
    logs = matrix(6, 4, 5, seed=1)
    (found,) = fsb.geometric_mean(assemble(logs)).rows(named=True)
    of_host = {
        (host, name): np.mean(
            [
                math.log(figure.value)
                for log in logs
                if log.host == host and log.source.startswith(name)
                for figure in log.records[0].measurements  # type: ignore[union-attr]
            ]
        )
        for host in {str(log.host) for log in logs}
        for name in ("ext4", "xfs")
    }
    ratios = [of_host[host, "xfs"] - of_host[host, "ext4"] for host in {host for host, _ in of_host}]
    interval = scipy.stats.ttest_1samp(ratios, 0).confidence_interval()
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert (found["n_pairs"], found["cells"]) == (6, 5)
    assert any("over 6 hosts" in note for note in found["footnotes"])


def test_intervals_over_cells_hold_where_hosts_differ() -> None:
    held = 0
    for seed in range(40):
        (found,) = fsb.geometric_mean(assemble(matrix(5, 3, 2, seed=seed))).rows(named=True)
        held += found["ci_low"] < 1 < found["ci_high"]
    assert held >= 34  # 38 are expected


def test_few_hosts_that_disagree_have_no_common_ratio_over_cells() -> None:
    (found,) = fsb.geometric_mean(assemble(matrix(3, 4, 5, seed=2, spread=0.2))).rows(named=True)
    assert found["reasons"] == ["STRATA_DISAGREE"]


def test_a_further_cell_is_predicted_by_how_cells_differ() -> None:
    rng = np.random.default_rng(4)
    effects = rng.normal(0.1, 0.2, 12)
    logs = []
    for log in matrix(1, 6, 12, seed=4, spread=0):
        (record,) = log.records
        assert isinstance(record, Run)
        rates = [
            replace(figure, value=(figure.value or 0) * math.exp(effect * log.source.startswith("xfs")))
            for figure, effect in zip(record.measurements, effects, strict=True)
        ]
        logs.append(replace(log, records=[replace(record, measurements=tuple(rates))]))
    (found,) = fsb.geometric_mean(assemble(logs)).rows(named=True)
    # cells differ by far more than their errors, so that it is the prediction of a sample of 12
    reach = scipy.stats.t.ppf(0.975, 11) * effects.std(ddof=1)
    assert math.log(found["prediction_high"] / found["ratio"]) == pytest.approx(reach, rel=0.05)
    assert found["prediction_low"] < found["ci_low"] < found["ci_high"] < found["prediction_high"]


def test_the_end_of_a_run_and_its_duration_tell_the_order_too() -> None:
    logs = [
        replace(
            run(name, 1000 + place, place),
            started_at=None,
            ended_at=START + timedelta(minutes=place),
            duration=9.0,
        )
        for place, name in enumerate(["ext4"] * 5 + ["xfs"] * 5)
    ]
    assert row(logs)["reasons"] == ["BLOCKED_ORDER"]


def test_shares_that_are_equal_on_one_host_only_are_not_balanced() -> None:
    # on the first host both groups have both versions once; on the second the new one is all but one of xfs
    logs = [
        *in_turn([OLD, NEW], [OLD, NEW], host="h0"),
        *in_turn([OLD] * 5 + [NEW], [OLD] + [NEW] * 5, host="h1", speed=1),
    ]
    found = row(logs)
    assert found["ci_low"] < 1 < found["ci_high"]  # type: ignore[operator]
    assert "3.1 in 6 of 8 runs against 2 of 8" in notes(found)
    assert "within each value" in notes(found)


def test_rounds_under_two_kernels_are_no_pairs() -> None:
    logs = [
        run(
            "ext4", 1000 * math.exp(NOISE[3 * number + side]), 100 * side + number, round=number + 1, kernel=kernel
        )
        for number in range(6)
        for side, kernel in enumerate(("6.1", "6.12"))
    ]
    found = row(logs, factor="kernel")
    assert (found["study"], found["n_pairs"], found["method"]) == ("s", None, "Welch t on logs")


def test_a_prediction_knows_that_its_middle_is_not_quite_known() -> None:
    (found,) = fsb.geometric_mean(assemble(matrix(1, 6, 12, seed=1, spread=0))).rows(named=True)
    of_mean, of_cell = (math.log(found[f"{name}_high"] / found["ratio"]) for name in ("ci", "prediction"))
    # cells differ by less than their errors here: what is left is the error of the mean, with df of cells
    expected = of_mean * scipy.stats.t.ppf(0.975, 11) / scipy.stats.t.ppf(0.975, 5)
    assert of_cell == pytest.approx(expected)


def test_a_size_that_one_log_of_several_tells_makes_no_other_cell() -> None:
    # fio names the size of its files where it lays them out, which is in the first run
    logs = [
        run(name, rate + n, 2 * n + place, round=n + 1)
        for place, (name, rate) in enumerate((("ext4", 1000), ("xfs", 1100)))
        for n in range(3)
    ]
    logs[0] = run("ext4", 1000, 0, round=1, file_size=4194304)
    found = row(logs)
    assert (found["n_baseline"], found["n_candidate"], found["file_size"]) == (3, 3, None)
    sizes = fsb.compare(
        assemble(
            [
                run(name, 1000 + n, 4 * n + place, file_size=2**n)
                for place, name in enumerate(("ext4", "xfs"))
                for n in (20, 21)
            ]
        )
    )
    assert sizes["file_size"].to_list() == [2**20, 2**21]


@pytest.mark.parametrize("fact", ["kernel", "host"])
def test_a_single_run_beside_the_other_group_is_no_reason_to_leave_out_the_rest(fact: str) -> None:
    logs = [
        run(
            name,
            1000 * math.exp(NOISE[number]),
            number,
            **{fact: "old" if name == "ext4" and number > 1 else "new"},
        )
        for number, name in enumerate(["ext4", "xfs"] * 6)
    ]
    row = fsb.compare(assemble(logs)).row(0, named=True)
    assert (row["n_baseline"], row["n_candidate"], row["verdict"]) == (6, 6, "not comparable")
    assert row["reasons"] == [{"kernel": "UNBALANCED", "host": "CONFIG_MISMATCH"}[fact]]
