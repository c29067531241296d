"""Files and folders that appear whole or not at all, also where the power fails."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def publish(made: Path, place: Path) -> Path:
    """Move a file or folder that is finished to its place on the same filesystem, and return that.

    All of it is on the disk before it has its name, and the name is on the disk when this returns.
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
