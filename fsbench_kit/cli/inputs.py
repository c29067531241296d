"""From the paths of a command line to a dataset."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

import fsbench_kit as fsb


def read(paths: list[str], names: list[str] | None, jobs: int | None = None) -> fsb.Dataset:
    """Read logs, many of them in processes, which start when they are handed the first."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    number = jobs or os.cpu_count() or 1
    if number == 1:
        return fsb.read(inputs(paths), names=names)
    with ProcessPoolExecutor(number, mp_context=get_context("forkserver")) as executor:
        return fsb.read(inputs(paths), names=names, executor=executor)


def inputs(paths: list[str]) -> list[Path | str | BinaryIO]:
    """Return what a command line names, ``-`` being what is piped in."""
    return [sys.stdin.buffer if path == "-" else found_path(path) for path in paths]


def found_path(path: str) -> Path | str:
    """Return a path or pattern; where it leads nowhere, what comes with the package under that name."""
    from fsbench_kit.data.project import found

    own = found(path)
    return own if own != Path(path) else path
