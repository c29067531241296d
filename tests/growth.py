"""How the time that a text takes grows with its length."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT: Final = 8_000
TIMES: Final = 4
MARGIN: Final = 2.5
"""How much more than in proportion a text may take on a busy machine; by its square, it would be 4 times more."""
ATTEMPTS: Final = 3
NOISE: Final = 0.5
"""Seconds within which nothing is measured."""


def is_linear(work: Callable[[str], object], scrap: str) -> bool:
    """Whether a scrap that is repeated takes time in proportion to how often."""

    def seconds(length: int) -> float:
        chars = (scrap * length)[:length]
        started = time.process_time()
        work(chars)
        return time.process_time() - started

    short, long = (seconds(length) for length in (SHORT, TIMES * SHORT))
    for _ in range(ATTEMPTS - 1):  # other processes can slow down any of them: the least is what it takes
        if long >= NOISE + MARGIN * TIMES * short:
            short, long = min(short, seconds(SHORT)), min(long, seconds(TIMES * SHORT))
    return long < NOISE + MARGIN * TIMES * short
