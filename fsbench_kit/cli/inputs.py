"""From the paths of a command line to a dataset."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

import fsbench_kit as fsb
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.suggestions import known_instead


def read(
    paths: list[str], names: list[str] | None, jobs: int | None = None, assume: dict[str, str] | None = None
) -> fsb.Dataset:
    """Read logs, many of them in processes, which start when they are handed the first."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    number = jobs or os.cpu_count() or 1
    if number == 1:
        return fsb.read(inputs(paths), names=names, assume=assume)
    with ProcessPoolExecutor(number, mp_context=get_context("forkserver")) as executor:
        return fsb.read(inputs(paths), names=names, assume=assume, executor=executor)


def inputs(paths: list[str]) -> list[Path | str | BinaryIO]:
    """Return what a command line names, ``-`` being what is piped in."""
    return [sys.stdin.buffer if path == "-" else found_path(path) for path in paths]


def found_plan(name: str) -> Path:
    """Return the plan with a name, that of a file or the bare one of a plan in ``plans/``."""
    from fsbench_kit.data.project import STARTER

    candidates = [name, f"{name}.toml", f"plans/{name}", f"plans/{name}.toml"]
    found = next((path for each in candidates if (path := Path(found_path(each))).exists()), None)
    if found is not None:
        return found
    plans = {path.stem for folder in (STARTER / "plans", Path("plans")) for path in folder.glob("*.toml")}
    raise InputError("there is no such plan", file=name, hint=known_instead(Path(name).stem, sorted(plans)))


def found_path(path: str) -> Path | str:
    """Return a path or pattern; where it leads nowhere, what comes with the package under that name."""
    from fsbench_kit.data.project import found

    own = found(path)
    return own if own != Path(path) else path
