"""Python's garbage collector runs less often while files are read, and as before afterwards."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

import fsbench_kit as fsb
from fsbench_kit.data import batches
from fsbench_kit.data.garbage import OBJECTS, less_garbage_collection
from fsbench_kit.model.errors import InputError


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_reading_raises_the_threshold_and_restores_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    within: list[tuple[int, ...]] = []
    read_file = batches.read_file
    monkeypatch.setattr(
        batches, "read_file", lambda *given: within.append(gc.get_threshold()) or read_file(*given)
    )
    (tmp_path / "time.txt").write_text("real\t0m1.500s\nuser\t0m0.250s\nsys\t0m0.100s\n")
    fsb.read(tmp_path)
    assert within == [(OBJECTS, 10, 10)]
    assert gc.get_threshold() == (700, 10, 10)
    with pytest.raises(InputError):
        fsb.read(tmp_path / "nothing")
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
