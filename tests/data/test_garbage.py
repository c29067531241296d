"""Python's garbage collector runs less often while files are read, and as before afterwards."""

import gc
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import fsbench_kit as fsb
from fsbench_kit.data import batches, reading
from fsbench_kit.data.bulk import plan
from fsbench_kit.data.garbage import OBJECTS, less_garbage_collection
from fsbench_kit.model.errors import InputError


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


@pytest.fixture
def within(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The thresholds while files are found or chunks planned, and while a file is read."""
    thresholds: list[int] = []

    def noting(module: ModuleType, name: str) -> None:
        work = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given: thresholds.append(gc.get_threshold()[0]) or work(*given))

    noting(reading, "found_at")
    noting(plan, "_families")
    noting(batches, "read_file")
    return thresholds


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (log := tmp_path / "time.txt").write_text("real\t0m1.500s\nuser\t0m0.250s\nsys\t0m0.100s\n")
    return log


def test_reading_raises_the_threshold_and_restores_it(log: Path, within: list[int]) -> None:
    fsb.read(log)
    assert within == [OBJECTS, OBJECTS]
    assert gc.get_threshold() == (700, 10, 10)
    reading.read_entries([(str(log), True)])
    assert within == [OBJECTS] * 4
    assert gc.get_threshold() == (700, 10, 10)
    with pytest.raises(InputError):
        fsb.read(log.with_name("nothing"))
    assert gc.get_threshold() == (700, 10, 10)


def test_so_does_a_process_that_is_handed_a_batch(log: Path, within: list[int]) -> None:
    batches.read_batch([batches.File(str(log))])
    assert within == [OBJECTS]
    assert gc.get_threshold() == (700, 10, 10)


def test_so_does_planning_what_to_read_in_bulk(log: Path, tmp_path: Path, within: list[int]) -> None:
    plan.Plan.of([str(log)], tmp_path / "dataset")
    assert within == [OBJECTS]
    assert gc.get_threshold() == (700, 10, 10)


def test_the_last_one_to_leave_restores_the_threshold() -> None:
    with less_garbage_collection:
        with less_garbage_collection:
            assert gc.get_threshold()[0] == OBJECTS
        assert gc.get_threshold()[0] == OBJECTS
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("objects", [0, 2 * OBJECTS])
def test_a_collector_that_is_off_or_runs_more_rarely_is_left_alone(objects: int) -> None:
    gc.set_threshold(objects, 10, 10)
    with less_garbage_collection:
        assert gc.get_threshold()[0] == objects
    assert gc.get_threshold()[0] == objects
