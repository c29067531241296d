"""Several processes read what one reads, each its share."""

import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fsbench_kit as fsb
from fsbench_kit.data import batches, parallel
from fsbench_kit.data.bulk.parts import read_chunk
from fsbench_kit.data.bulk.plan import Entry
from fsbench_kit.data.sharing import shared
from fsbench_kit.model.errors import InputError
from tests.data.test_batches import mixed_logs


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a folder with 25 logs, of which five cannot be read together with others."""
    mixed_logs(tmp_path)
    for name in ("006.txt", "009.txt", "012.txt"):
        (tmp_path / name).write_text((tmp_path / name).read_text()[:900])
    return tmp_path


class Elsewhere(ThreadPoolExecutor):
    """An executor to which all comes and from which all goes as bytes, as with a process."""

    def submit(self, *call: Any) -> Future[Any]:  # type: ignore[override]
        function, *given = _sent(call)
        return super().submit(lambda: _sent(function(*given)))


def _sent(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))  # noqa: S301  # which was here before


@pytest.mark.parametrize(
    "executor",
    [
        Elsewhere,
        pytest.param(
            partial(ProcessPoolExecutor, mp_context=get_context("forkserver")),
            marks=pytest.mark.slow,
            id="processes",
        ),
    ],
)
def test_an_executor_reads_the_same(
    logs: Path, executor: Callable[[int], Executor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "ENOUGH", 20)
    (logs / "run_bw.1.log").write_text("".join(f"{time}, {time % 77}, 0, 0\n" for time in range(500, 9000, 500)))
    alone = fsb.read(logs)
    with executor(2) as started:
        beside = fsb.read(logs, executor=started)
    for name, frame in alone.frames.items():
        assert_frame_equal(frame, beside.frames[name])


def test_each_processor_reads_its_share_at_one_go(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every batch some logs of each kind are read one by one before the others are.

    The files are few, and large. This process reads one share of them, and the executor the others.
    """
    size = sum(path.stat().st_size for path in logs.iterdir())
    monkeypatch.setattr(parallel, "ENOUGH_BYTES", size)
    monkeypatch.setattr(parallel, "_PROCESSORS", 3)
    shares = []
    read_batch = parallel.read_batch

    def seen(files: list[batches.File]) -> batches.Batch:
        shares.append((len(files), threading.current_thread() is threading.main_thread()))
        return read_batch(files)

    monkeypatch.setattr(parallel, "read_batch", seen)
    with ThreadPoolExecutor(2) as executor:
        assert fsb.read(logs, executor=executor, cache=False).runs.height == 24
        assert sorted(number for number, _ in shares) == [7, 9, 9]
        assert {is_here for _, is_here in shares} == {True, False}
        monkeypatch.setattr(parallel, "ENOUGH_BYTES", size + 1)
        assert fsb.read(logs, executor=executor, cache=False).runs.height == 24
    assert shares[3:] == []


def test_large_files_are_read_in_smaller_batches(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    largest = max(path.stat().st_size for path in logs.iterdir())
    monkeypatch.setattr(parallel, "_BYTES", 2 * largest)
    sizes = []
    read_batch = parallel.read_batch

    def seen(files: list[batches.File]) -> batches.Batch:
        sizes.append(sum(Path(file.path).stat().st_size for file in files))
        return read_batch(files)

    monkeypatch.setattr(parallel, "read_batch", seen)
    assert fsb.read(logs).runs.height == 24
    assert max(sizes) <= 2 * largest < sum(sizes)


def test_few_files_are_not_handed_to_an_executor(logs: Path) -> None:
    """It would have to start first."""
    with ThreadPoolExecutor(2) as executor:
        executor.shutdown()
        assert fsb.read(logs, executor=executor).runs.height == 24


def test_files_that_are_slow_to_read_are_shared_even_if_they_are_few(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two more are large. A pipe can only be read once. The other files are read together in three batches."""
    monkeypatch.setattr(parallel, "TOGETHER", 10)
    monkeypatch.setattr(parallel, "_WORTH", 1e-9)
    monkeypatch.setattr(parallel, "_LOT", 1)
    for name in ("large.txt", "larger.txt"):
        (logs / name).write_text((logs / "005.txt").read_text() + "\n" * 2**18)
    given = [*sorted(logs.iterdir()), logs / "pipe"]
    os.mkfifo(logs / "pipe")
    found = []
    for executor in (Elsewhere, None):
        with ThreadPoolExecutor(1) as writer, executor(1) if executor is not None else nullcontext() as started:
            writer.submit((logs / "pipe").write_text, (logs / "010.txt").read_text())
            found.append(fsb.read(given, executor=started, cache=False))
    for name, frame in found[0].frames.items():
        assert_frame_equal(frame, found[1].frames[name])
    assert found[0].diagnostics.filter(pl.col("source").str.ends_with("pipe"))["code"].to_list() == ["SAME_RUN"]


@pytest.mark.parametrize("is_folder", [True, False], ids=["folder", "files"])
@pytest.mark.parametrize("seconds", [1e-9, 1e9])
def test_only_what_takes_long_is_handed_over(
    logs: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, is_folder: bool
) -> None:
    """Each file is larger than what is handed over at once, also if its size was not known before."""
    monkeypatch.setattr(parallel, "_WORTH", seconds)
    monkeypatch.setattr(parallel, "_LOT_BYTES", 1)
    calls = []

    class Counted(Elsewhere):
        def submit(self, function: Any, *given: Any) -> Future[Any]:  # type: ignore[override]
            calls.append((function, [Path(file.path).name for file in given[0]]))
            return super().submit(function, *given)

    with Counted(1) as executor:
        given = [logs] if is_folder else sorted(logs.iterdir())
        assert fsb.read(given, executor=executor, cache=False).runs.height == 24
    assert calls == ([(batches.read_one_by_one, [f"{number:03}.txt"]) for number in (6, 9, 12) if seconds < 1])


def test_another_process_is_started_for_every_second_or_two_of_work(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four lots are left, of a second each, and a process is worthwhile for one and a half."""
    clock = iter(range(100))
    monkeypatch.setattr(parallel, "monotonic", lambda: next(clock))
    monkeypatch.setattr(parallel, "_LOT", 1)
    found = []
    monkeypatch.setattr(
        parallel,
        "shared",
        lambda _, at_once, *given, **named: found.append(at_once()) or shared(_, at_once, *given, **named),
    )
    with Elsewhere(1) as executor:
        assert fsb.read(logs, executor=executor, cache=False).runs.height == 24
    assert found == [4]


def test_what_no_other_process_begins_is_taken_back() -> None:
    """Such as those that have yet to start. One call has begun, and is waited for."""
    is_done = threading.Event()
    here = threading.get_ident()

    def work(number: int) -> tuple[int, int]:
        if number == 1:
            is_done.wait(10)
        return number, threading.get_ident()

    with ThreadPoolExecutor(1) as executor:
        calls = shared(executor, lambda: 9, work, ((number,) for number in range(6)), here=work)
        found = [next(calls) for _ in range(5)]
        is_done.set()
        found += calls
    assert sorted((number, result[0]) for number, result in found) == [(number, number) for number in range(6)]
    assert [number for number, (_, thread) in found if thread != here] == [1]


class Killed(ThreadPoolExecutor):
    """An executor whose processes are killed."""

    def submit(self, *_: Any) -> Future[Any]:  # type: ignore[override]
        future: Future[Any] = Future()
        future.set_exception(BrokenExecutor("A process was terminated abruptly"))
        return future


def test_a_reading_process_that_is_killed_is_an_error_for_people(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In bulk, the chunk is not read again in halves, as it is if a file crashes the reader."""
    monkeypatch.setattr(parallel, "_WORTH", 1e-9)
    monkeypatch.setattr(parallel, "_LOT", 1)
    with Killed(1) as executor:
        with pytest.raises(InputError, match="a process ended unexpectedly"):
            fsb.read(logs, executor=executor, cache=False)
        with pytest.raises(BrokenExecutor):
            read_chunk([Entry(str(logs), named=False)], [], executor)
