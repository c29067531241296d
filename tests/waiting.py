"""Waits in tests for what other processes do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def wait_for(what: Callable[[], Any]) -> Any:
    """Return what a function returns as soon as that is true, within a minute."""
    until = time.monotonic() + 60
    while not (found := what()):
        assert time.monotonic() < until
        time.sleep(0.05)
    return found
