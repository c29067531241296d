from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from fsbench_kit.formats import totals
from fsbench_kit.formats.findings import diagnostics
from fsbench_kit.model.records import Measurement

if TYPE_CHECKING:
    from fsbench_kit.formats.totals import Wholes

GROUP: dict[str, Any] = {"scope": "group", "part": "0"}
A: dict[str, Any] = {"scope": "job", "part": "a"}
B: dict[str, Any] = {"scope": "job", "part": "b"}
ALONE: Wholes = {("group", "0"): [("job", "a")]}
BOTH: Wholes = {("group", "0"): [("job", "a"), ("job", "b")]}


def figure(metric: str, low: float, high: float | None = None, **more: Any) -> Measurement:
    high = low if high is None else high
    columns = {"operation": "read", "unit": "1", "text": f"{low:g}", "line": 1} | more
    return Measurement(metric=metric, value=(low + high) / 2, low=low, high=high, **columns)


def codes(*measurements: Measurement, wholes: Wholes = BOTH, has_all_parts: bool = True) -> list[str]:
    found = totals.checks(measurements, wholes, has_all_parts=has_all_parts)
    return [item.code for item in diagnostics(found)]


@pytest.mark.parametrize(
    ("metric", "statistic", "right", "wrong"),
    [
        ("bytes", "value", 50, 51),
        ("runtime", "min", 20, 30),
        ("runtime", "max", 30, 31),
        ("bandwidth", "min", 20, 19),
        ("bandwidth", "max", 30, 20),
    ],
)
def test_a_group_is_what_its_jobs_make(metric: str, statistic: str, right: float, wrong: float) -> None:
    jobs = figure(metric, 20, **A), figure(metric, 30, **B), figure(metric, 90, scope="job", part="c")
    assert codes(*jobs, figure(metric, right, statistic=statistic, **GROUP)) == []
    assert codes(*jobs, figure(metric, wrong, statistic=statistic, **GROUP)) == ["FIGURES_DISAGREE"]
    assert codes(*jobs, figure(metric, wrong, statistic=statistic, operation="write", **GROUP)) == []


def test_figures_of_all_clients_are_sums() -> None:
    wholes: Wholes = {("all", None): [("job", "a"), ("job", "b")]}
    jobs = figure("operations", 20, **A), figure("operations", 30, **B)
    assert codes(*jobs, figure("operations", 50), wholes=wholes) == []
    assert codes(*jobs, figure("operations", 40), wholes=wholes) == ["FIGURES_DISAGREE"]


@pytest.mark.parametrize(("total", "expected"), [(60, "INCOMPLETE_LOG"), (40, "FIGURES_DISAGREE")])
def test_jobs_that_are_missing_explain_a_larger_group_alone(total: float, expected: str) -> None:
    jobs = figure("bytes", 20, **A), figure("bytes", 30, **B)
    assert codes(*jobs, figure("bytes", total, **GROUP), has_all_parts=False) == [expected]


def test_sums_are_known_as_far_as_their_parts_are() -> None:
    jobs = figure("bytes", 19, 21, **A), figure("bytes", 29, 31, **B)
    assert codes(*jobs, figure("bytes", 51.9, 53, **GROUP)) == []
    assert codes(*jobs, figure("bytes", 52.4, 53, **GROUP)) == ["FIGURES_DISAGREE"]


def test_a_group_of_one_job_repeats_its_digits() -> None:
    printings = figure("bandwidth", 10, 11, **A), figure("bandwidth", 9.5, 10.2, primary=False, **A)
    for statistic in ("min", "max"):
        assert codes(*printings, figure("bandwidth", 10, 11, statistic=statistic, **GROUP), wholes=ALONE) == []
        again = figure("bandwidth", 10.2, 10.9, statistic=statistic, primary=False, **GROUP)
        assert codes(*printings, again, wholes=ALONE) == ["FIGURES_DISAGREE"]


@pytest.mark.parametrize(
    ("share", "mean", "expected"),
    [(0.5, 5e6, 0), (0.5, 6e6, 1), (1, 11e6, 0), (0.9, 11e6, 1), (0.5, 5e6 + 1000, 0)],
)
def test_a_share_is_that_of_a_group(share: float, mean: float, expected: int) -> None:
    printed = figure("group_share", share, **A), figure("bandwidth", mean, statistic="mean", **A)
    group = figure("bandwidth", 10e6, **GROUP)
    assert codes(group, *printed) == ["FIGURES_DISAGREE"] * expected
    # Where no group is printed, its rate is that of its jobs: 100 MB in 10 s.
    work = [
        figure("bytes", 50e6, **A),
        figure("runtime", 8, **A),
        figure("bytes", 50e6, **B),
        figure("runtime", 10, **B),
    ]
    assert codes(*work, *printed) == ["FIGURES_DISAGREE"] * expected
    assert codes(*work, *printed, has_all_parts=False) == []


def disk(name: str, reads: float, writes: float, queue: float, utilisation: float) -> list[Measurement]:
    """Return a disk's figures, or those of the members of one, which are cut to whole numbers."""
    is_members = name.endswith("/members")
    step, statistic = (1, "mean") if is_members else (0, "value")
    place: dict[str, Any] = {"scope": "disk", "part": name}
    return [
        Measurement(
            operation=operation,
            metric=metric,
            statistic="max" if is_members and metric == "disk_utilisation" else statistic,
            value=value,
            unit="1",
            low=value,
            high=value + (step if metric != "disk_utilisation" else 0),
            text=f"{value:g}",
            line=1,
            **place,
        )
        for operation, metric, value in (
            ("read", "disk_ios", reads),
            ("write", "disk_ios", writes),
            ("all", "disk_queue_time", queue),
            ("all", "disk_utilisation", utilisation),
        )
    ]


def test_members_of_a_disk_make_its_aggregates() -> None:
    each = [*disk("sda", 10, 7, 3, 0.5), *disk("sdb", 11, 9, 4, 0.25), *disk("sdz", 1, 1, 1, 0.1)]
    assert codes(*disk("md0/members", 10, 8, 3, 0.5), *each) == []
    assert codes(*disk("md0/members", 11, 8, 3, 0.5), *each) == ["FIGURES_DISAGREE"]
    assert codes(*disk("md0/members", 10, 8, 3, 0.25), *each) == ["FIGURES_DISAGREE"]


def test_disks_that_have_little_in_common_are_no_members() -> None:
    assert codes(*disk("dm-1/members", 50, 60, 70, 0.5), *disk("sda", 10, 7, 3, 0.5)) == []


def lines_run(groups: int) -> int:
    """Return how many lines of code run to check so many groups of one job each."""
    jobs = [
        figure(metric, 20, scope="job", part=str(job)) for job in range(groups) for metric in ("bytes", "runtime")
    ]
    wholes: Wholes = {("group", str(job)): [("job", str(job))] for job in range(groups)}
    lines = 0

    def count(_frame: object, event: str, _arg: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        assert list(totals.checks(jobs, wholes, has_all_parts=True)) == []
    finally:
        sys.settrace(before)
    return lines


def test_many_groups_take_no_more_work_for_each_than_few() -> None:
    assert lines_run(200) < 2.2 * lines_run(100)
