from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.launch import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BASE = {
    "id": "test",
    "title": "A test",
    "repeats": 2,
    "seed": 1,
    "timeout": 30,
    "drop_caches": False,
    "budget": {"seconds": 100, "bytes": "1G"},
    "target": [{"kind": "directory", "name": "here", "directory": "."}],
    "workload": [{"tool": "smallfiles", "name": "small", "files": 20, "size": "4k"}],
}

LOG = Path(__file__).parents[1] / "data" / "fio_json" / "3.33-single-requests.json"

FIO = {"tool": "fio", "name": "random", "rw": "randwrite", "bs": "4k", "size": "4M"}


@pytest.fixture
def fio() -> dict[str, object]:
    """One fio workload, as a plan's table."""
    return dict(FIO)


@pytest.fixture(scope="session")
def make_plan() -> Callable[..., Plan]:
    """A small plan on a directory, with changes to its top-level keys."""
    return lambda **changes: Plan.model_validate({**BASE, **changes})


@pytest.fixture
def stable_kernel() -> Iterator[None]:
    """Let no other test change the kernel's settings meanwhile: runs record them, and are compared by them."""
    with _locked(fcntl.LOCK_SH):
        yield


@pytest.fixture
def own_kernel() -> Iterator[None]:
    """Change the kernel's settings only while no other test changes them or needs them stable."""
    with _locked(fcntl.LOCK_EX):
        yield


@contextmanager
def _locked(how: int) -> Iterator[None]:
    with (Path(gettempdir()) / "kernel-settings-of-tests.lock").open("a") as file:
        fcntl.flock(file, how)
        yield


@pytest.fixture
def fake_fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Put a shell script in fio's place, in which `report` writes a whole report."""

    def put(script: str) -> Path:
        programs = tmp_path / "programs"
        programs.mkdir(exist_ok=True)
        program = programs / "fio"
        version = '[ "$1" = --version ] && echo fio-0.0 && exit\n[ "$1" = --parse-only ] && exit'
        report = f"report() {{ cp {LOG} fio.json; }}"
        program.write_text(f"#!/bin/sh\n{version}\n{report}\n{script}\n", encoding="ascii")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        return program

    return put
