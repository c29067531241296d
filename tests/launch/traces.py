"""What a launch leaves: records of its runs. What not: processes, mounts, loop devices, pools, scratch folders."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = Path("raw_results", "runs")


def record(run: Path) -> dict[str, Any]:
    """Return what is written down of a run."""
    found: dict[str, Any] = json.loads((run / "run.json").read_text(encoding="utf-8"))
    return found


def assert_whole(run: Path) -> None:
    """All files of a run are those that its record describes."""
    files = {str(path.relative_to(run)): path for path in run.rglob("*")}
    hashes = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    del hashes["run.json"]
    assert hashes == record(run)["sha256"]


def traces(root: Path) -> list[str]:
    """Return what ``/proc``, ``findmnt``, ``losetup`` and ``zpool`` know of launches in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            command += " in " + str((process / "cwd").readlink())
            mounts = (process / "mountinfo").read_text(encoding="utf-8")
        except OSError:
            continue  # it has just ended
        if process.name != str(os.getpid()) and str(root) in command:
            found.append(f"process {process.name}: {command}")
        found += [f"mount for {process.name}: {line}" for line in mounts.splitlines() if str(root) in line]
    for command in (
        ["findmnt", "--raw", "--noheadings"],
        ["losetup", "--list", "--noheadings", "--raw", "--output", "NAME,BACK-FILE"],
        ["zpool", "status"],  # which names the images that a pool lies on
    ):
        found += [line for line in _said(command).splitlines() if str(root) in line]
    return found


def _said(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""


def scratch_folders(root: Path) -> list[str]:
    """Return the names of scratch folders of launches."""
    return [path.name for path in (*root.glob(".fsbench-*"), *(root / RUNS).glob(".fsbench-*"))]


def assert_no_traces(root: Path) -> None:
    """The kernel takes away mounts and loop devices in its own time, which is short."""
    eventually(lambda: traces(root) == [], lambda: f"left behind: {traces(root)}")


def eventually(holds: Callable[[], bool], otherwise: Callable[[], str], *, seconds: float = 60) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, otherwise()
        time.sleep(0.05)
