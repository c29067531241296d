"""Any number of logs is read in chunks, into a dataset that is whole or says that it is not."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fsbench_kit as fsb
from benchmarks.inputs import other_digits
from fsbench_kit.data import bulk, parallel
from fsbench_kit.data.bulk import compaction, plan, storage, workers
from fsbench_kit.data.written import Request, write_request
from fsbench_kit.model.errors import InputError, RequestError
from tests.command import fsbench
from tests.waiting import wait_for

FSBENCH = Path(sys.executable).with_name("fsbench")
SYSBENCH = "sysbench-rhel72/rndrd-xfs.txt"


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Executor]:
    """Read in this process, and two files in a chunk."""
    monkeypatch.setattr(plan, "FILES", 2)
    with ThreadPoolExecutor(1) as threads:
        yield threads


def _time_log(number: int) -> str:
    return (
        f"real\t{number // 60}m{number % 60}.{number % 1000:03}s\nuser\t0m0.250s\nsys\t0m0.{number % 1000:03}s\n"
    )


def _time_logs(folder: Path, number: int) -> None:
    folder.mkdir()
    for index in range(number):
        (folder / f"{index:05}.txt").write_text(_time_log(index))


def _same(one: fsb.Dataset, other: fsb.Dataset) -> None:
    for name, frame in one.frames.items():
        assert_frame_equal(frame, other.frames[name], check_row_order=False)


def test_a_dataset_in_parts_is_that_of_one_reading(
    published: Path, root: Path, executor: Executor, tmp_path: Path
) -> None:
    shutil.copytree(published / "sysbench-rhel72", tmp_path / "logs" / "study")
    shutil.copytree(root / "raw_results" / "recorded" / "latency-loop-2026", tmp_path / "logs" / "launched")
    for log in (published / "raid1-hdd-2020").glob("*.txt"):
        shutil.copy(log, tmp_path / "logs")
    (tmp_path / "logs" / "broken.json.gz").write_bytes(b"\x1f\x8b\x08")
    scanned = fsb.ingest(tmp_path / "logs", to=tmp_path / "frames", executor=executor)
    data = fsb.read(tmp_path / "logs")
    assert data.diagnostics.filter(code="DAMAGED_ARCHIVE").height == 1
    _same(fsb.read(tmp_path / "frames"), data)
    _same(scanned.collect(), data)
    of_study = pl.scan_parquet(tmp_path / "frames" / "measurements", hive_partitioning=True)
    counts = of_study.filter(study="sysbench-rhel72").select(pl.len()).collect().item()
    assert counts == data.filter(study="sysbench-rhel72").measurements.height
    assert len(list((tmp_path / "frames" / "runs").rglob("*.parquet"))) > 3


def test_a_copy_in_another_chunk_is_the_same_run(published: Path, executor: Executor, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    _time_logs(logs, 6)
    (logs / "00000.txt").write_text((published / SYSBENCH).read_text())
    (logs / "00004.txt").write_text((published / SYSBENCH).read_text())
    shutil.copytree(published / "sysbench-rhel72", logs / "study")
    (logs / "00003.txt").write_text(_time_log(1))  # which tells too little to be known for a copy
    data = fsb.ingest(logs, to=tmp_path / "frames", executor=executor).collect()
    assert data.runs["run_id"].is_unique().all()
    whole = fsb.read(logs)
    assert sorted(data.runs["sha256"]) == sorted(whole.runs["sha256"])
    assert set(data.runs["run_id"]) == set(whole.runs["run_id"])
    sysbench = data.runs.filter(tool="sysbench")
    assert sysbench.height == 8
    assert sysbench["study"].unique().to_list() == ["sysbench-rhel72"]  # which knows more than a file by itself
    assert data.measurements["run_id"].is_in(data.runs["run_id"].implode()).all()
    assert data.diagnostics.filter(code="SAME_RUN").height == 2


def test_files_of_one_name_are_read_together(root: Path, executor: Executor, tmp_path: Path) -> None:
    study = root / "raw_results" / "recorded" / "latency-loop-2026"
    (logs := tmp_path / "logs").mkdir()
    for number, run in enumerate(sorted(study.glob("00[1-3]-*")), 1):
        for path in [run / "fio.json", *run.glob("fio_*.log")]:
            text = path.read_text().replace('_log" : "fio"', f'_log" : "nightly{number}"')
            (logs / path.name.replace("fio", f"nightly{number}", 1)).write_text(text)
    data = fsb.ingest(logs, to=tmp_path / "frames", executor=executor).collect()
    assert data.runs.height == 3
    assert data.series["run_id"].n_unique() == 3
    _same(data, fsb.read(logs))


class _Stopping(Executor):
    """Does what it is asked for, and is interrupted before the third time."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        if self.submitted == 3:
            raise KeyboardInterrupt
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def test_a_part_interrupted_while_it_is_marked_is_not_done(
    executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, frames = tmp_path / "logs", tmp_path / "frames"
    _time_logs(logs, 8)
    sync = os.fsync

    def stopping(file: int) -> None:
        if ".done" in Path(f"/proc/self/fd/{file}").readlink().name:
            raise KeyboardInterrupt
        sync(file)

    monkeypatch.setattr(os, "fsync", stopping)
    with pytest.raises(KeyboardInterrupt):
        fsb.ingest(logs, to=frames, executor=executor)
    with pytest.raises(InputError, match="unfinished: 0 of 8 files were read; to continue, run"):
        fsb.read(frames)
    assert any(path.is_file() for path in frames.glob("unfinished/**/*.done*"))  # it had begun


@pytest.mark.usefixtures("executor")
def test_what_was_interrupted_goes_on(tmp_path: Path) -> None:
    logs, frames = tmp_path / "logs", tmp_path / "my frames"
    _time_logs(logs, 8)
    with pytest.raises(KeyboardInterrupt):
        fsb.ingest(logs, to=frames, executor=_Stopping())
    for door in (fsb.read, fsb.scan):
        with pytest.raises(InputError) as caught:
            door(frames)
        assert "unfinished: 4 of 8 files were read; to continue, run" in str(caught.value)
        assert "Give files" not in str(caught.value)
        assert f"fsbench read {logs} --to '{frames}'" in str(caught.value)
    (logs / "00001.txt").write_text(_time_log(100))  # what was changed is read again, and what was not is not
    again = _Stopping()
    again.submitted = 3
    said: list[tuple[int, int]] = []
    fsb.ingest(logs, to=frames, executor=again, progress=lambda now: said.append((now.read, now.before)))
    assert again.submitted == 3 + 3
    assert said == [(2, 2), (4, 2), (6, 2), (8, 2)]
    _same(fsb.read(frames), fsb.read(logs))
    assert not (frames / "unfinished").exists()


@pytest.mark.usefixtures("executor")
def test_names_are_read_in_bulk_and_after_an_interruption_by_the_same_template(tmp_path: Path) -> None:
    logs, frames, names = tmp_path / "logs", tmp_path / "frames", "{filesystem}{}.txt"
    _time_logs(logs, 8)
    with pytest.raises(KeyboardInterrupt):
        fsb.ingest(logs, to=frames, executor=_Stopping(), names="{host}.txt")
    with pytest.raises(InputError, match=re.escape("--names '{host}.txt' --to")):
        fsb.read(frames)
    with ThreadPoolExecutor(1) as threads:
        fsb.ingest(logs, to=frames, executor=threads, names=names)
    _same(fsb.read(frames), fsb.read(logs, names=names))
    assert fsb.read(frames).runs.select("filesystem", "host").unique().rows() == [("0", None)]


@pytest.mark.usefixtures("executor")
def test_the_dataset_before_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    logs, frames = tmp_path / "logs", tmp_path / "frames"
    _time_logs(logs, 2)
    fsb.read(logs).write(frames)
    before = fsb.read(frames)
    for number in range(2, 8):
        (logs / f"{number:05}.txt").write_text(_time_log(number))
    with pytest.raises(KeyboardInterrupt):
        fsb.ingest(logs, to=frames, executor=_Stopping())
    _same(fsb.read(frames), before)
    with ThreadPoolExecutor(1) as threads:
        fsb.ingest(logs, to=frames, executor=threads)
        _same(fsb.read(frames), fsb.read(logs))
        (logs / "00007.txt").unlink()
        fsb.ingest(logs, to=frames, executor=threads)
    assert fsb.read(frames).runs.height == 7
    named = {path.name for path in frames.rglob("*.parquet")}
    assert len(named) == 4  # parts that are no longer named are gone
    before.write(frames)
    _same(fsb.read(frames), before)
    assert sorted(path.name for path in frames.iterdir()) == sorted(f"{name}.parquet" for name in before.frames)


def _nights(folder: Path, logs: int) -> list[Path]:
    """Make a folder for each night, with a log in each."""
    nights = [folder / "logs" / f"night-{number}" for number in range(logs)]
    for number, night in enumerate(nights):
        night.mkdir(parents=True)
        (night / "time.txt").write_text(_time_log(number))
    return nights


def test_nights_are_appended_and_their_files_made_few(
    monkeypatch: pytest.MonkeyPatch, executor: Executor, tmp_path: Path
) -> None:
    monkeypatch.setattr(compaction, "MANY", 3)
    nights, history = _nights(tmp_path, 8), tmp_path / "history"
    (nights[6] / "time.txt").rename(nights[6] / "other.txt").write_text(_time_log(1))  # equal digits by chance
    (nights[7] / "prose.txt").write_text("XFS is fast.\n")
    fsb.read(nights[0]).write(history)  # six files, which become the first part
    for night in nights[1:]:
        fsb.ingest(night, to=history, append=True, executor=executor)
    whole = fsb.read(tmp_path / "logs")
    assert whole.runs.height == 8
    _same(fsb.read(history), whole)
    assert fsb.scan(history).runs.collect()["run_id"].is_unique().all()
    for frame in ("runs", "measurements"):
        assert len(list(history.glob(f"{frame}/*/*.parquet"))) < 4
    monkeypatch.setattr(compaction, "MANY", 1)
    monkeypatch.setattr(compaction, "SMALL", 2)  # of several rows, a file is a large one, which stays
    fsb.ingest(nights[6], nights[3], to=history, append=True, executor=executor)
    again = fsb.read(history)
    assert again.diagnostics.filter(code="SAME_RUN").height == 2
    _same(replace(again, diagnostics=whole.diagnostics), whole)


def test_small_files_are_merged_into_files_of_at_most_twice_their_size(
    monkeypatch: pytest.MonkeyPatch, executor: Executor, tmp_path: Path
) -> None:
    monkeypatch.setattr(compaction, "MANY", 2)
    monkeypatch.setattr(compaction, "SMALL", 3)
    _time_logs(tmp_path / "logs", 18)  # two in a file
    fsb.ingest(tmp_path / "logs", to=tmp_path / "frames", executor=executor)
    files = {path: pl.read_parquet(path).height for path in (tmp_path / "frames" / "runs").rglob("*.parquet")}
    assert sorted(files.values()) == [6, 6, 6]
    assert all("compacted" in path.name for path in files)
    large = list((tmp_path / "frames" / "measurements").rglob("*.parquet"))
    assert len(large) == 9  # six rows in each
    assert not any("compacted" in path.name for path in large)


def test_each_study_has_files_of_its_own(published: Path, tmp_path: Path) -> None:
    studies = ["iozone-ssd-2015", "sysbench-rhel72"]
    for study in studies:
        shutil.copytree(published / study, tmp_path / "logs" / study)
    frames = tmp_path / "frames"
    fsb.ingest(tmp_path / "logs", to=frames)
    for study in studies:
        own = fsb.read(tmp_path / "logs" / study)
        for name in ("runs", "measurements", "settings"):
            (path,) = (frames / name / f"study={study}").iterdir()
            there = pl.read_parquet(path, columns=["run_id"], hive_partitioning=False)
            assert {*there["run_id"]} == {*own.runs["run_id"]}, (name, study)


@pytest.mark.parametrize("many", [2, 64], ids=["merged", "as-read"])
def test_files_are_sorted_by_what_is_queried_together(
    published: Path, tmp_path: Path, executor: Executor, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(storage, "_ROW_GROUP", 8)
    monkeypatch.setattr(plan, "FILES", 2)
    monkeypatch.setattr(compaction, "MANY", many)
    logs = tmp_path / "logs"
    logs.mkdir()
    for path in sorted((published / "sysbench-rhel72").rglob("*.txt")):
        shutil.copy(path, logs)
    fsb.ingest(logs, to=tmp_path / "frames", executor=executor)
    files = sorted((tmp_path / "frames").glob("measurements/*/*.parquet"))
    assert {"compacted" in path.name for path in files} == {many == 2}
    runs = fsb.read(logs).measurements
    for path in files:
        frame = pl.read_parquet(path, hive_partitioning=False)
        own = runs.filter(pl.col("run_id").is_in(frame["run_id"].implode()))
        assert_frame_equal(frame, own.sort("metric", "statistic", "operation", maintain_order=True))
        assert not frame.equals(own)


def test_a_small_dataset_keeps_the_order_of_its_logs(published: Path, tmp_path: Path) -> None:
    fsb.ingest(published / "raid1-hdd-2020", to=tmp_path)
    assert fsb.read(tmp_path).measurements.equals(fsb.read(published / "raid1-hdd-2020").measurements)


def test_a_query_reads_only_the_row_groups_of_its_metric(
    published: Path,
    tmp_path: Path,
    executor: Executor,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(storage, "_ROW_GROUP", 8)
    fsb.ingest(published / "sysbench-rhel72", to=tmp_path, executor=executor)
    metrics = fsb.read(published / "sysbench-rhel72").measurements["metric"].sort()
    is_wanted = metrics == "latency"
    of_wanted = {row // 8 for row in is_wanted.arg_true()}
    with pl.Config(verbose=True):
        found = fsb.scan(tmp_path).measurements.filter(metric="latency").collect()
    assert found.height == is_wanted.sum() > 0
    said = re.search(r"reading (\d+) / (\d+) row groups", capfd.readouterr().err)
    assert said is not None
    assert [*map(int, said.groups())] == [len(of_wanted), -(-len(metrics) // 8)]


def test_while_files_are_merged_no_process_holds_memory_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "FILES", 2)
    monkeypatch.setattr(bulk.workers.os, "sched_getaffinity", lambda _: {0, 1})
    of_others = {*active_children()}
    at_work: list[int] = []
    read, merge = bulk._read, bulk.compacted

    def count() -> None:
        at_work.append(len({*active_children()} - of_others))

    monkeypatch.setattr(bulk, "_read", lambda *given: (read(*given), count())[0])
    monkeypatch.setattr(bulk, "compacted", lambda *given: count() or merge(*given))
    _time_logs(tmp_path / "logs", 10)
    fsb.ingest(tmp_path / "logs", to=tmp_path / "frames")
    assert at_work == [1, 0]


@pytest.mark.parametrize(
    ("logs", "jobs", "expected"),
    [(20, 1, [0, 0]), (20, 2, [1, 1]), (20, 3, [2, 2]), (10, 2, [1, 1]), (9, 2, [0, 0])],
)
def test_processes_start_while_chunks_are_planned_as_many_as_asked_for_and_worthwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logs: int, jobs: int, expected: list[int]
) -> None:
    monkeypatch.setattr(plan, "FILES", 2)
    of_others = {*active_children()}
    at_work: list[int] = []
    find, read = plan._families, bulk._read

    def count() -> None:
        at_work.append(len({*active_children()} - of_others))

    monkeypatch.setattr(plan, "_families", lambda *given: (find(*given), count())[0])
    monkeypatch.setattr(bulk, "_read", lambda *given: (read(*given), count())[0])
    _time_logs(tmp_path / "logs", logs)
    done = fsbench("read", tmp_path / "logs", "--to", tmp_path / "frames", "--jobs", str(jobs))
    assert (done.returncode, at_work) == (0, expected)  # with this process
    assert fsb.scan(tmp_path / "frames").runs.collect().height == logs


def test_processes_start_for_files_that_are_given_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "FILES", 2)
    _time_logs(tmp_path / "logs", 21)
    expected: list[int] = []
    plan.Plan.of(sorted((tmp_path / "logs").iterdir()), tmp_path / "frames", expected.append)
    assert expected == [0] * 9 + [1] * 10 + [2] * 2


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [([100, 100, 100], 2), ([100], 0), ([10] * 4, 0), ([10] * 5, 1), ([10] * 10, 2), ([2] * 25, 1)],
    ids=["large", "one", "too few", "five", "ten", "small"],
)
def test_processes_start_for_files_that_are_few_but_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: list[int], expected: int
) -> None:
    """A chunk has ten bytes. As many processes start as have a chunk to read, and five full ones in all."""
    monkeypatch.setattr(plan, "BYTES", 10)
    for number, size in enumerate(sizes):
        (tmp_path / f"{number}.txt").write_text("x" * size)
    found: list[int] = []
    planned = plan.Plan.of([tmp_path / "gone.txt", tmp_path], tmp_path / "frames", found.append)
    for _ in zip(range(2), planned.next_chunks(), strict=False):
        pass
    assert max(found) == expected


def test_processes_that_start_have_one_chunk_and_others_two() -> None:
    has_room = threading.Event()
    handed = 0

    class Counted(ThreadPoolExecutor):
        def submit(self, *call: Any) -> Future[Any]:  # type: ignore[override]
            nonlocal handed
            handed += 1
            return super().submit(*call)

    def handed_over_before_this_process_reads() -> int:
        nonlocal handed
        handed = 0
        _, number = next(each(lambda: handed, [()] * 4))
        return number

    with Counted(1) as executor:
        executor.submit(has_room.wait, 10)
        each = workers.Workers(executor, others=1)
        found = [handed_over_before_this_process_reads()]
        each.prepare(2)
        found.append(handed_over_before_this_process_reads())
        has_room.set()
        executor.submit(has_room.wait).result()  # now it has started
        found.append(handed_over_before_this_process_reads())
    assert found == [0, 1, 2]


def test_processes_are_idle_until_they_have_chunks() -> None:
    with ThreadPoolExecutor(1) as executor:
        each = workers.Workers(executor, others=1)
        assert each.idle is executor
        each.prepare(1)
        assert each.idle is None
        assert workers.Workers(executor, others=0).idle is None  # given, and used for chunks alone


def test_processes_start_while_a_folder_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "FILES", 2)
    _time_logs(tmp_path / "logs", 11)
    (tmp_path / "logs" / ".hidden").touch()
    expected: list[int] = []
    plan.Plan.of([tmp_path / "logs"], tmp_path / "frames", expected.append)
    assert expected == [0] * 9 + [1] * 2


def test_a_change_is_seen_in_files_that_are_read_with_a_folder_of_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "FILES", 2)
    _time_logs(logs := tmp_path / "logs", 8)
    (logs / "00003").mkdir()
    (logs / "00003" / "run.json").write_text("{}")

    def keys() -> list[str]:
        return [chunk.key([]) for chunk in plan.Plan.of([logs], tmp_path / "frames").next_chunks()]

    before = keys()
    for name in ("00003.txt", "00003/run.json"):
        (logs / name).write_text(f"other content of {name}")
        after = keys()
        assert [one == other for one, other in zip(before, after, strict=True)].count(False) == 1, name
        before = after


def test_planning_that_fails_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "FILES", 2)
    of_others = {*active_children()}
    _time_logs(tmp_path / "logs", 10)

    def interrupted(_: object) -> None:
        assert {*active_children()} > of_others
        raise KeyboardInterrupt

    monkeypatch.setattr(plan, "_families", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fsb.ingest(tmp_path / "logs", to=tmp_path / "frames", jobs=2)
    assert {*active_children()} == of_others
    assert not (tmp_path / "frames").exists()


def test_two_may_append_at_once(executor: Executor, tmp_path: Path) -> None:
    nights, history = _nights(tmp_path, 4), tmp_path / "history"

    def append(night: Path) -> None:
        fsb.ingest(night, to=history, append=True, executor=executor)

    with ThreadPoolExecutor(4) as writers:
        assert list(writers.map(append, nights)) == [None] * 4
    _same(fsb.read(history), fsb.read(tmp_path / "logs"))


def test_a_first_night_whose_reading_was_interrupted_is_appended_by_the_same_command(tmp_path: Path) -> None:
    first, second = _nights(tmp_path, 2)
    history = tmp_path / "history"
    (history / "unfinished").mkdir(parents=True)
    write_request(Request([str(first)], 1, append=True), history)
    assert "--append" in (unfinished := fsbench("read", history)).stderr
    assert unfinished.returncode == 2
    for night in (first, second):
        assert (done := fsbench("read", night, "--to", history, "--append")).returncode == 0, done.stderr
    _same(fsb.read(history), fsb.read(tmp_path / "logs"))


@pytest.mark.usefixtures("executor")
def test_a_newer_dataset_is_not_appended_to(tmp_path: Path) -> None:
    first, second = _nights(tmp_path, 2)
    fsb.ingest(first, to=tmp_path / "history")
    manifest = tmp_path / "history" / "dataset.json"
    newer = manifest.read_text().replace('"schema": 1', '"schema": 2').replace('"measurements"', '"figures"')
    manifest.write_text(newer)
    with pytest.raises(InputError, match=r"a newer version of fsbench_kit wrote the dataset \(schema 2"):
        fsb.ingest(second, to=tmp_path / "history", append=True)
    assert manifest.read_text() == newer


def test_no_file_stays_that_the_dataset_does_not_name(
    monkeypatch: pytest.MonkeyPatch, executor: Executor, tmp_path: Path
) -> None:
    """Other programs read whatever stands there. What is not the dataset's own is not touched."""
    first, second = _nights(tmp_path, 2)
    history, kept = tmp_path / "history", tmp_path / "kept.parquet"
    manifest = history / "dataset.json"

    def there() -> set[str]:
        return {str(path.relative_to(history)) for path in history.rglob("*.parquet")}

    def named() -> set[str]:
        return {path for of_frame in json.loads(manifest.read_text())["parts"].values() for path in of_frame}

    def interrupted(*given: Any) -> None:
        storage.write_rows(*given)
        raise KeyboardInterrupt

    kept.touch()
    fsb.ingest(first, to=history, executor=executor)
    for content in ('{"schema": 2, "parts": {"figures": ["../kept.parquet"]}}', "damaged"):
        manifest.write_text(content)
        part = next(history.rglob("*.parquet"))
        part.rename(part.with_name("000000-met.parquet"))
        fsb.ingest(first, to=history, executor=executor)
        assert there() == named()
    with monkeypatch.context() as patch:
        patch.setattr(compaction, "MANY", 2)
        patch.setattr(compaction, "write_rows", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fsb.ingest(second, to=history, append=True, executor=executor)
    _same(fsb.read(history), fsb.read(tmp_path / "logs"))
    assert there() > named()
    fsb.ingest(second, to=history, append=True, executor=executor)
    assert there() == named()
    assert kept.exists()


def test_a_question_to_a_dataset_on_disk_is_that_to_the_logs(published: Path, tmp_path: Path) -> None:
    logs = fsb.read(published / "sysbench-rhel72", published / "raid1-hdd-2020")
    logs.write(tmp_path)
    of_xfs = fsb.scan(tmp_path).filter(pl.col("study") == "sysbench-rhel72", filesystem="xfs")
    _same(of_xfs.collect(), logs.filter(pl.col("study") == "sysbench-rhel72", filesystem="xfs"))
    rows = of_xfs.flat("pattern", "device").filter(metric="latency", statistic="p95").collect()
    assert rows.select("pattern", "value").sort("value", "pattern").rows() == [
        ("seqrd", 0.0001),
        ("seqwr", 0.0001),
        ("rndwr", 0.00012),
        ("rndrd", 0.01048),
    ]
    assert of_xfs.flat("pattern", "pattern").collect_schema() == of_xfs.flat("pattern").collect_schema()
    with pytest.raises(RequestError, match="cannot filter runs"):
        of_xfs.filter(mood="good")
    with pytest.raises(RequestError, match="operation is a column already"):
        of_xfs.flat("operation")


def test_of_a_dataset_on_disk_what_is_asked_for_is_read_once(published: Path, tmp_path: Path) -> None:
    """However many settings it is filtered by: of a million runs, finding their places took most of the time."""
    fsb.read(published / "sysbench-rhel72").write(tmp_path)
    asked = fsb.scan(tmp_path).filter(filesystem="xfs").flat("pattern", "device", "threads_of_tool")
    plan = asked.filter(metric="latency", pattern="rndrd").select("value").explain()
    (which,) = re.findall(r"SCAN \[[^]]*measurements[^]]*\]\n(?: .*\n)*? *SELECTION: (.*)", plan)
    assert plan.count("measurements") == 1
    assert '"latency"' in which


@pytest.mark.parametrize(("jobs", "names"), [(2, ["00001.txt", "00002.txt"]), (1, [])])
def test_processes_that_have_no_chunk_read_slow_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, jobs: int, names: list[str]
) -> None:
    monkeypatch.setattr(parallel, "_WORTH", 1e-9)
    monkeypatch.setattr(parallel, "_LOT", 1)
    _time_logs(tmp_path / "logs", 3)
    for log in (tmp_path / "logs").iterdir():
        log.write_text(f"$ time cp a b\n{log.read_text()}")
    handed: list[str] = []

    def noted(executor: Executor, work: Any, lots: Any, *, at_once: int) -> Any:
        handed.extend(Path(file.path).name for lot in lots for file in lot)
        return in_parallel(executor, work, lots, at_once=at_once)

    in_parallel = parallel._in_parallel
    monkeypatch.setattr(parallel, "_in_parallel", noted)
    dataset = fsb.ingest(tmp_path / "logs", to=tmp_path / "frames", jobs=jobs)
    assert dataset.runs.collect().height == 3
    assert handed == names


def test_a_log_that_breaks_the_reader_stops_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from fsbench_kit.data import batches

    descriptor_of = batches.descriptor_of

    def broken(path: Path | str, **options: Any) -> Any:
        if Path(path).name == "00002.txt":
            raise ZeroDivisionError("division by zero")
        return descriptor_of(path, **options)

    monkeypatch.setattr(batches, "descriptor_of", broken)
    _time_logs(tmp_path / "logs", 5)
    data = fsb.ingest(tmp_path / "logs", to=tmp_path / "frames").collect()
    assert [Path(source).name for source in data.runs["source"]] == [f"0000{n}.txt" for n in (0, 1, 3, 4)]
    (said,) = data.diagnostics.iter_rows(named=True)
    assert (Path(said["source"]).name, said["code"]) == ("00002.txt", "UNREADABLE")
    assert "ZeroDivisionError: division by zero" in said["message"]


def test_a_script_that_reads_in_bulk_runs_once(tmp_path: Path) -> None:
    """Processes that read do not import it, so it needs no guard; and the script stays what it was."""
    _time_logs(tmp_path / "logs", 20)
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\n"
        "print('begun')\n"
        "import fsbench_kit as fsb\n"
        "from fsbench_kit.data.bulk import plan, workers\n"
        "plan.FILES = 2\n"
        "workers.os = type('Machine', (), {'sched_getaffinity': lambda process: range(3)})\n"
        "print(fsb.ingest('logs', to='frames').collect().runs.height)\n"
        "print(sys.modules['__main__'].__file__ == __file__)\n"
    )
    found = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.split()) == (0, ["begun", "20", "True"]), found.stderr


def test_what_cannot_be_read_in_bulk_is_said(tmp_path: Path) -> None:
    _time_logs(tmp_path / "logs", 2)
    (tmp_path / "empty").mkdir()
    (tmp_path / "prose.txt").write_text("XFS is fast.\n")
    frames = tmp_path / "frames"
    given = [tmp_path / name for name in ("logs", "empty", "prose.txt", "gone.txt")]
    data = fsb.ingest(given, to=frames).collect()
    assert set(data.diagnostics.select("source", "code").rows()) == {
        (str(path), code) for path, code in zip(given[1:], ("NO_LOG", "NO_LOG", "UNREADABLE"), strict=True)
    }
    with pytest.raises(InputError, match="There is no log in this folder"):
        fsb.ingest(tmp_path / "empty", to=tmp_path / "other")
    assert not (tmp_path / "other").exists()
    absent = fsbench("read", tmp_path / "gone.txt", "--to", tmp_path / "other")
    assert absent.stderr.startswith(f"fsbench: {tmp_path}/gone.txt: No such file or directory.")
    with pytest.raises(RequestError, match="only files and folders can be read in bulk"):
        fsb.ingest(b"real", to=frames)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="a dataset cannot be read into itself"):
        fsb.ingest(frames, to=frames)
    (frames / "dataset.json").write_text("{}")
    with pytest.raises(InputError, match="the manifest of the dataset is damaged"):
        fsb.read(frames)


def _wait_for(what: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.cluster
def test_logs_are_read_by_the_workers_of_a_scheduler(published: Path, tmp_path: Path) -> None:
    from distributed import LocalCluster

    study, frames = published / "sysbench-rhel72", tmp_path / "frames"
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        assert fsbench("read", study, "--to", frames, "--scheduler", cluster.scheduler_address).returncode == 0
    _same(fsb.read(frames), fsb.read(study))
    gone = fsbench("read", study, "--to", tmp_path / "other", "--scheduler", "no-such-host:1")
    assert gone.returncode == 2
    assert gone.stderr.startswith("fsbench: no-such-host:1: the scheduler does not answer")
    refused = fsbench("read", study, "--scheduler", "tcp://node1:8786")
    assert "reading on other hosts needs a folder to write to" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_command_goes_on(how: signal.Signals, tmp_path: Path) -> None:
    _time_logs(tmp_path / "logs", 11_000)
    command = [FSBENCH, "read", "logs", "--to", "frames"]
    frames = tmp_path / "frames"
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **streams) as process:  # type: ignore[call-overload]
        _wait_for(lambda: any(frames.glob("unfinished/*.done")), process)
        os.kill(process.pid, signal.SIGSTOP)  # it could be finished before the next one says its word
        refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert refused.stderr == "fsbench: frames: another process writes this dataset\n"
        children = _children(process.pid)
        assert children
        os.kill(process.pid, how)
        os.kill(process.pid, signal.SIGCONT)
        _, said = process.communicate()
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    assert ("run the same command to continue" in said) == (how == signal.SIGINT)
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
    unfinished = subprocess.run(
        [FSBENCH, "read", "frames"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert unfinished.returncode == 2
    assert "to continue, run fsbench read logs --to frames" in unfinished.stderr
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    first = again.stderr.splitlines()[0]
    assert first.endswith("of 11,000 files, which were read before")
    data = fsb.read(frames)
    assert data.runs.height == 11_000
    assert data.runs["run_id"].is_unique().all()


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_what_was_odd_is_told_by_kind(published: Path, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    log = (published / SYSBENCH).read_text()
    for number in range(110):
        (tmp_path / "logs" / f"{number:03}.txt").write_text(other_digits(log, random.Random(number)))
    command = [FSBENCH, "read", "logs", "--to", "frames"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"{fsb.read(tmp_path / 'frames').runs.height} runs" in result.stdout
    assert result.stderr.startswith("0 of 110 files\n110 of 110 files, ")
    kinds = [line for line in result.stderr.splitlines() if line.startswith("warning")]
    said = fsb.read(tmp_path / "frames").diagnostics.filter(severity="warning")
    assert len(kinds) == said["code"].n_unique()
    assert said.height > 110
    for code, times, files in (
        said.group_by("code").agg(pl.len(), pl.col("source").n_unique().alias("files")).rows()
    ):
        assert any(line.endswith(f"[{code}; {times - 1} more in {files} files]") for line in kinds)
