"""The memory of freed arrays stays with the process, in which alone its page faults can be counted."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from fsbench_kit.analysis.memory import keep_freed_memory

{prepare}
[np.ones(2**18) for _ in range(8)]
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    [np.ones(2**18) for _ in range(8)]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries decide otherwise")
def test_arrays_use_the_pages_of_those_that_were_freed() -> None:
    pages = 8 * 2**18 * 8 // 4096
    assert _faults("") >= 5 * pages
    assert _faults("keep_freed_memory()") < pages / 5


def _faults(prepare: str) -> int:
    """Return the page faults of ten times eight arrays of 2 MB, freed each time."""
    program = PROGRAM.format(prepare=prepare)
    return int(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
