"""Lets the arrays of a comparison use the memory of earlier ones."""

from functools import cache
from typing import Final

import numpy as np


@cache
def keep_freed_memory() -> None:
    """Make glibc keep up to 62 MB of freed memory for later arrays; other C libraries are not affected.

    By default, it returns almost all of it to the kernel, which clears each page before an array can use it again.
    That took a tenth of the time of a comparison. glibc decides by the largest block that it has mapped and freed
    so far: it keeps twice as much, and blocks of more than 32 MB do not count (``man 3 mallopt``,
    ``M_MMAP_THRESHOLD``).
    """
    np.empty(_BLOCK, dtype=np.uint8)  # never written, so that it takes no memory itself


_BLOCK: Final = 31 * 2**20
