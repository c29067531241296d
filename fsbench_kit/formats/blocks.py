"""Divides long arrays into blocks.

What is computed on the way of a block stays in the processor's caches. Of a whole column it would be new memory,
which often takes longer to get than the computation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK: Final = 2**13
"""The number of rows of a block."""


def blocks(length: int, size: int = BLOCK) -> Iterator[slice]:
    """Yield the blocks of an array.

    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    return (slice(start, start + size) for start in range(0, length, size))
