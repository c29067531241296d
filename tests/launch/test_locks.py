"""One benchmark at a time on each device, whoever starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fsbench_kit.launch import locks, tools
from fsbench_kit.launch.locks import LOCKS, Owner, device_names, locked
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OWNER = Owner(1, "fsbench launch mine.toml", "me")

HOLD = """
import sys
from fsbench_kit.launch.locks import Owner, locked
with locked("sda", Owner(4711, "fsbench launch theirs.toml", "them")):
    print("held", flush=True)
    sys.stdin.read()
"""

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for locks that all users share. To pytest's own folders others cannot come."""
    with tempfile.TemporaryDirectory(prefix="fsbench-locks-") as directory:
        Path(directory).chmod(0o1777)
        monkeypatch.setenv(LOCKS, directory)
        yield Path(directory)


@pytest.fixture
def hold(shared: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that lets another process hold a lock."""
    assert os.environ[LOCKS] == str(shared)
    started = []

    def start(*prefix: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def refusal() -> str:
    with pytest.raises(LaunchError) as raised, locked("sda", OWNER):
        pass
    return raised.value.what


THEIRS = "another launch is using sda (process 4711 of them: fsbench launch theirs.toml)"


def test_second_is_refused_with_the_first_named(hold: Callable[..., subprocess.Popen[str]]) -> None:
    first = hold()
    assert refusal() == THEIRS
    with locked("sdb", OWNER):
        pass
    first.communicate("")
    with locked("sda", OWNER):
        assert refusal() == f"another launch is using sda ({OWNER})"
    with locked("sda", OWNER):
        pass


def test_lock_of_a_dead_process_is_none(hold: Callable[..., subprocess.Popen[str]]) -> None:
    first = hold()
    first.kill()
    first.communicate()
    with locked("sda", OWNER):
        pass


@pytest.mark.root
@pytest.mark.skipif(not tools.is_administrator(), reason="only root can become another user")
@pytest.mark.parametrize("first", ["root", "nobody"])
def test_users_share_locks(hold: Callable[..., subprocess.Popen[str]], first: str) -> None:
    order = [(), NOBODY] if first == "root" else [NOBODY, ()]
    for prefix in (*order, *order):  # the files belong to the first of them
        process = hold(*prefix)
        assert refusal() == THEIRS
        process.communicate("")


def test_owner_that_cannot_be_read(hold: Callable[..., subprocess.Popen[str]], shared: Path) -> None:
    hold()
    (path,) = shared.glob("*.json")
    path.write_text("{", encoding="utf-8")
    assert refusal() == "another launch is using sda (process unknown)"


def test_directory_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(LOCKS, str(tmp_path / "file"))
    with pytest.raises(LaunchError, match=re.escape(f"{tmp_path}/file")), locked("sda", OWNER):
        pass


def test_the_directory_is_one_for_all_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(LOCKS)
    mine, shared = tmp_path / "mine", tmp_path / "shared"
    mine.mkdir()
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setattr(locks, "_SHARED", (tmp_path / "absent", mine, shared))
    with locked("sda", OWNER):
        assert len(list(shared.iterdir())) == 2
        assert list(mine.iterdir()) == []
    monkeypatch.setattr(locks, "_SHARED", (mine,))
    with pytest.raises(LaunchError, match="cannot make locks"), locked("sda", OWNER):
        pass


def test_names_of_devices(tmp_path: Path) -> None:
    source = subprocess.run(
        ["findmnt", "--noheadings", "--output", "SOURCE", "--target", tmp_path],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    tree = subprocess.run(
        ["lsblk", "--noheadings", "--inverse", "--list", "--output", "NAME,TYPE", source],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    disks = {name for name, kind in zip(tree[::2], tree[1::2], strict=True) if kind == "disk"}
    if not disks:
        pytest.skip("the temporary directory lies on no disk")
    assert disks <= set(device_names(tmp_path))
    assert device_names(tmp_path) == device_names(tmp_path.parent)


def test_what_lies_on_no_device_is_named_by_its_filesystem() -> None:
    number = Path("/proc").stat().st_dev
    assert device_names(Path("/proc")) == (f"filesystem {os.major(number)}:{os.minor(number)}",)
