"""Files and folders that appear whole or not at all, even after a power failure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def publish(made: Path, place: Path) -> Path:
    """Move a finished file or folder to its place on the same filesystem, and return the place.

    The content is on disk before it gets its name, and the name is on disk when this returns.
    """
    for path in (*made.rglob("*"), made):
        if path.is_file() or path.is_dir():
            _flush(path)
    made.rename(place)
    _flush(place.parent)
    return place


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
