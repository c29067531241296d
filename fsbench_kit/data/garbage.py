"""Lets Python search for garbage less often while files are read.

Python searches for unreachable cycles of objects whenever some hundred objects have been added. What is read of
files is thousands of objects that stay, none of them in a cycle: searching these again and again takes a tenth of
the time.
"""

from __future__ import annotations

import gc
from contextlib import ContextDecorator
from threading import Lock
from typing import Final

OBJECTS: Final = 50_000
"""The number of new objects after which Python searches for garbage."""


class _SeldomCollected(ContextDecorator):
    """Raises Python's threshold for the time of a block or a function; several threads may be inside at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._usual = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._usual = gc.get_threshold()
                objects, *others = self._usual
                if 0 < objects < OBJECTS:  # 0 turns the search off
                    gc.set_threshold(OBJECTS, *others)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                gc.set_threshold(*self._usual)


seldom_collected: Final = _SeldomCollected()
