"""Worker processes end with the block that uses them, and no other process does."""

import multiprocessing
import os
import time

import pytest

from fsbench_kit.data.processes import processes


def test_a_failure_ends_the_processes_of_its_pool_but_no_other() -> None:
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    other.start()
    try:
        with pytest.raises(ValueError, match="in the middle"), processes(1) as pool:
            worker = pool.submit(os.getpid).result()
            pool.submit(time.sleep, 600)
            raise ValueError("in the middle")
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
        assert other.is_alive()
    finally:
        other.kill()
        other.join()
