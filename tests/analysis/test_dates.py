"""Dates and other words in the names of files: repeats over days, times of single runs, days of one group."""

import json
import random
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import fsbench_kit as fsb
from fsbench_kit.data.name_proposals import proposed

FILESYSTEMS = ("ext4", "xfs")
IOPS = {"ext4": 10_000, "xfs": 12_000}
MONDAY = datetime(2026, 11, 2, 9)
NAMES = "{date}/{filesystem}_run{round}.json"


def _report(iops: int, at: datetime | None = None) -> str:
    """What fio writes of ten seconds of random reads, and when it did."""
    requests = 10 * iops
    read = {"io_bytes": 4096 * requests, "bw_bytes": 4096 * iops, "iops": float(iops), "runtime": 10_000}
    options = {"rw": "randread", "bs": "4k", "size": "1g", "ioengine": "libaio", "direct": "1", "iodepth": "32"}
    job = {"jobname": "j", "groupid": 0, "error": 0, "job options": options}
    clock = {} if at is None else {"time": f"{at:%a %b %d %H:%M:%S %Y}"}
    jobs = [{**job, "read": {**read, "total_ios": requests}}]
    return json.dumps({"fio version": "fio-3.33", **clock, "jobs": jobs})


@pytest.fixture
def noise() -> random.Random:
    return random.Random(2)


def _written(folder: Path, names: Iterator[tuple[str, str]], noise: random.Random) -> Path:
    """Write a report under each name, of the filesystem beside it: XFS is a fifth faster than ext4."""
    for name, filesystem in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_report(round(IOPS[filesystem] * noise.gauss(1, 0.01))))
    return folder


def _of_days(days: dict[str, list[int]], runs: int, name: str = NAMES) -> Iterator[tuple[str, str]]:
    for filesystem, own in days.items():
        for day in own:
            at = MONDAY + timedelta(days=day)
            for run in range(1, runs + 1):
                named = name.format(date=f"{at:%Y-%m-%d}", filesystem=filesystem, round=run)
                yield named, filesystem


def _both(days: Iterable[int]) -> dict[str, list[int]]:
    return {filesystem: [*days] for filesystem in FILESYSTEMS}


def _compared(folder: Path, names: str = NAMES, **options: object) -> dict[str, object]:
    found = fsb.compare(fsb.read(folder, names=names), metrics=["iops"], **options)  # type: ignore[arg-type]
    (row,) = found.to_dicts()
    return row


@pytest.mark.parametrize(
    ("days", "runs", "method"),
    [
        (4, 1, "The interval is over 4 dates: the date is the unit."),
        (4, 3, "The groups were compared within each of 4 dates: the ratio is that of these dates."),
        (6, 2, "The interval is over 6 dates: the date is the unit."),
    ],
)
def test_days_that_had_all_filesystems_are_repeats(
    tmp_path: Path, noise: random.Random, days: int, runs: int, method: str
) -> None:
    _written(tmp_path, _of_days(_both(range(days)), runs), noise)
    row = _compared(tmp_path)
    assert (row["n_baseline"], row["n_candidate"], row["verdict"]) == (days * runs, days * runs, "better")
    assert 1.15 < row["ci_low"] < row["ci_high"] < 1.25  # type: ignore[operator]
    assert method in row["footnotes"]  # type: ignore[operator]
    assert row["over"] == ("rounds" if "within" in method else "dates")


def test_a_level_that_days_have_of_their_own_is_not_in_the_interval(tmp_path: Path, noise: random.Random) -> None:
    """By day figures double and halve again; without its days, XFS would be within the noise."""
    for day in range(6):
        for filesystem in FILESYSTEMS:
            path = tmp_path / f"2026-11-0{day + 2}" / f"{filesystem}_run1.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(_report(round(IOPS[filesystem] * (1 + day % 2) * noise.gauss(1, 0.01))))
    row = _compared(tmp_path)
    assert row["verdict"] == "better"
    assert 1.15 < row["ci_low"] < 1.2 < row["ci_high"] < 1.25  # type: ignore[operator]


@pytest.mark.parametrize(("runs", "reasons"), [(1, []), (3, ["BLOCKED_ORDER"])])
def test_days_take_turns_as_rounds_do_whoever_comes_first(
    tmp_path: Path, noise: random.Random, runs: int, reasons: list[str]
) -> None:
    """Each night ext4 comes first, as scripts have it: of one run of each that is a turn, of three a block."""
    for day in range(4):
        at = MONDAY + timedelta(days=day)
        for filesystem in FILESYSTEMS:
            for run in range(1, runs + 1):
                at += timedelta(minutes=1)
                path = tmp_path / f"{at:%Y-%m-%d}" / f"{filesystem}_run{run}.json"
                path.parent.mkdir(exist_ok=True)
                path.write_text(_report(round(IOPS[filesystem] * noise.gauss(1, 0.01)), at))
    assert fsb.read(tmp_path, names=NAMES).runs["ended_at"].null_count() == 0
    assert _compared(tmp_path)["reasons"] == reasons


def test_a_day_that_had_one_filesystem_only_is_left_out(tmp_path: Path, noise: random.Random) -> None:
    _written(tmp_path, _of_days({"ext4": [0, 1, 2, 3, 4], "xfs": [0, 1, 2, 3]}, 3), noise)
    row = _compared(tmp_path)
    assert row["verdict"] == "better"
    assert "3 runs of a date that had only one of the groups were left out." in row["footnotes"]  # type: ignore[operator]


def _with_times(order: list[str]) -> Iterator[tuple[str, str]]:
    """One run every three hours, over days and nights."""
    for number, filesystem in enumerate(order):
        yield f"{MONDAY + number * timedelta(hours=3, minutes=1):%Y%m%d-%H%M%S} {filesystem}.json", filesystem


def test_a_time_of_one_run_is_when_it_began(tmp_path: Path, noise: random.Random) -> None:
    order = [filesystem for _ in range(10) for filesystem in noise.sample(FILESYSTEMS, 2)]
    _written(tmp_path, _with_times(order), noise)
    names = "{date} {filesystem}.json"
    data = fsb.read(tmp_path, names=names)
    assert data.runs["started_at"].to_list() == [MONDAY + n * timedelta(hours=3, minutes=1) for n in range(20)]
    row = _compared(tmp_path, names)
    assert (row["n_baseline"], row["verdict"], row["reasons"], row["footnotes"]) == (10, "better", [], [])
    by_day = fsb.compare(data, "date", metrics=["iops"])
    assert set(by_day["level"]) | set(by_day["baseline"]) == {"2026-11-02", "2026-11-03", "2026-11-04"}


def test_one_filesystem_after_the_other_is_seen_by_the_times_in_names(
    tmp_path: Path, noise: random.Random
) -> None:
    _written(tmp_path, _with_times(["ext4"] * 10 + ["xfs"] * 10), noise)
    assert _compared(tmp_path, "{date} {filesystem}.json")["reasons"] == ["BLOCKED_ORDER"]


def test_a_time_that_runs_share_is_that_of_their_session(tmp_path: Path, noise: random.Random) -> None:
    names = "{date}_{filesystem}_{round}.json"
    shape = names.replace("{date}", "{date}T14-30")
    _written(tmp_path, _of_days(_both(range(3)), 3, shape), noise)
    data = fsb.read(tmp_path, names=names)
    assert data.runs["started_at"].null_count() == 18
    assert set(data.settings.filter(key="date")["value"]) == {f"2026-11-0{day} 14:30" for day in (2, 3, 4)}
    assert _compared(tmp_path, names)["verdict"] == "better"


@pytest.mark.parametrize(
    ("ext4", "xfs", "said"),
    [
        ([0], [1], "2026-11-02 against 2026-11-03."),
        ([0, 1, 2, 3], [4, 5], "2026-11-02, 2026-11-03, 2026-11-04, ... against 2026-11-06, 2026-11-07."),
    ],
)
def test_days_of_their_own_set_filesystems_apart(
    tmp_path: Path, noise: random.Random, ext4: list[int], xfs: list[int], said: str
) -> None:
    _written(tmp_path, _of_days({"ext4": ext4, "xfs": xfs}, 5), noise)
    row = _compared(tmp_path)
    assert (row["verdict"], row["reasons"]) == ("not comparable", ["SEPARATE_DATES"])
    assert f"The groups were run on different dates: {said}" in row["footnotes"]  # type: ignore[operator]


def test_filesystems_that_take_turns_by_days_are_compared_over_days(tmp_path: Path, noise: random.Random) -> None:
    _written(tmp_path, _of_days({"ext4": [0, 3, 4, 7], "xfs": [1, 2, 5, 6]}, 5), noise)
    row = _compared(tmp_path)
    assert (row["verdict"], row["reasons"]) == ("better", [])
    said = "No date has enough of both groups, so the date is the unit, and each counts once."
    assert said in row["footnotes"]  # type: ignore[operator]


def test_a_date_in_names_can_be_the_factor(tmp_path: Path, noise: random.Random) -> None:
    _written(tmp_path, _of_days({"ext4": [0, 1, 2]}, 5), noise)
    found = fsb.compare(fsb.read(tmp_path, names=NAMES), "date", metrics=["iops"])
    assert found.select("baseline", "level", "n_candidate").rows() == [
        ("2026-11-02", "2026-11-03", 5),
        ("2026-11-02", "2026-11-04", 5),
    ]


def test_the_template_that_is_proposed_leaves_days_together(tmp_path: Path, noise: random.Random) -> None:
    _written(tmp_path, _of_days(_both(range(4)), 2), noise)
    found = proposed(sorted(tmp_path.rglob("*.json")))
    assert found is not None
    assert found.template == NAMES
    assert _compared(tmp_path, found.template)["n_baseline"] == 8


@pytest.mark.parametrize(
    ("template", "stages", "said"),
    [
        ("{filesystem}_{stage}.json", ["a", "b", "c"], True),
        ("{filesystem}_{stage}_{round}.json", ["a_1", "a_2", "b_1", "b_2"], False),  # which repeats it
        ("{filesystem}_{iodepth}.json", ["1", "2", "4"], False),  # a setting of the tool
        ("{filesystem}_{round}.json", ["1", "2", "3"], False),
    ],
)
def test_a_word_of_ones_own_that_sets_single_runs_apart_may_count_repeats(
    tmp_path: Path, noise: random.Random, *, template: str, stages: list[str], said: bool
) -> None:
    names = ((f"{filesystem}_{stage}.json", filesystem) for stage in stages for filesystem in FILESYSTEMS)
    data = fsb.read(_written(tmp_path, names, noise), names=template)
    notes = fsb.compare(data, metrics=["iops"])["footnotes"].list.join(" ").to_list()
    sentence = "The file names distinguish these runs by stage: if that counts repeats, write {round} instead."
    assert [sentence in row for row in notes] == [said] * len(notes)


@pytest.mark.parametrize(
    ("names", "verdict"), [("{filesystem}_{number}", "better"), ("{filesystem}_{stage}", "not comparable")]
)
def test_a_word_that_no_two_runs_share_sets_no_groups_apart(
    tmp_path: Path, noise: random.Random, *, names: str, verdict: str
) -> None:
    """As the number of a run in its launch; but a word that one group's runs share does."""
    order = ["ext4", "xfs", "xfs", "ext4", "xfs", "ext4", "ext4", "xfs"]
    files = [
        (
            f"{filesystem}_{number if 'number' in names else filesystem[0]}/{number}.json",
            filesystem,
        )
        for number, filesystem in enumerate(order)
    ]
    data = fsb.read(_written(tmp_path, iter(files), noise), names=f"{names}/{{}}.json")
    (row,) = fsb.compare(data, metrics=["iops"]).to_dicts()
    assert (row["n_baseline"], row["n_candidate"], row["verdict"]) == (4, 4, verdict)
