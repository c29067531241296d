"""Worker processes end with the block that uses them, and no other process does."""

import multiprocessing
import os
import time

import pytest

from fsbench_kit.data.processes import processes


def _fail_while_working(found: list[int]) -> None:
    with processes(1) as pool:
        found.append(pool.submit(os.getpid).result())
        pool.submit(time.sleep, 600)
        raise ValueError("in the middle")


def test_a_failure_ends_the_processes_of_its_pool_but_no_other() -> None:
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    other.start()
    ended: list[int] = []
    try:
        with pytest.raises(ValueError, match="in the middle"):
            _fail_while_working(ended)
        with pytest.raises(ProcessLookupError):
            os.kill(ended[0], 0)
        assert other.is_alive()
    finally:
        other.kill()
        other.join()
