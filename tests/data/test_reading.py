"""Files are found, and what keeps one from being read stops no other."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import fsbench_kit as fsb
from fsbench_kit.data.reading import read
from fsbench_kit.model.errors import InputError, RequestError

STUDY = """\
[study]
id = "mine"
title = "A study"
averaged_over = 3

[system]
memory = "64 GB"

[filesystems.ext4]
mount_options = "noatime"

[[log]]
file = "a.txt"
tool = "smallfiles"
stated_command = "fio --bs=8k"
"""


@pytest.fixture
def study(tmp_path: Path, smallfiles_log: Callable[..., str]) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "a.txt").write_text(smallfiles_log() + smallfiles_log("xfs"))
    (tmp_path / "notes.txt").write_text("seen 3 times")
    return tmp_path


def test_equal_runs_have_ids_of_their_own(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(smallfiles_log())
    first, second = read(tmp_path).runs["run_id"]
    assert first.removesuffix("-1") == second.removesuffix("-2")


def test_one_bad_file_stops_no_other(study: Path, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\0\1\2")
    data = read(tmp_path / "vanished", binary, study)
    assert data.runs.height == 2
    errors = data.diagnostics.filter(pl.col("severity") == "error")
    assert errors["code"].to_list() == ["UNREADABLE", "NOT_TEXT"]


def test_nothing_to_read_is_an_error_that_names_each_path(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError) as caught:
        read(tmp_path / "empty", tmp_path / "folder", tmp_path / "vanished")
    message = str(caught.value)
    assert f"{tmp_path}/empty: The file is empty." in message
    assert f"{tmp_path}/folder: There is no log in this folder or below it." in message
    assert f"{tmp_path}/vanished: No such file or directory. {tmp_path} has empty, folder." in message


def test_a_text_is_read(smallfiles_log: Callable[..., str]) -> None:
    data = fsb.read_text(f"I ran this:\n\n{smallfiles_log()}")
    assert data.runs.select("tool", "filesystem", "source").rows() == [("smallfiles", "ext4", "<text>")]
    with pytest.raises(InputError, match="<text>: No log of bonnie"):
        fsb.read_text("Nothing ran 3 times.")
    with pytest.raises(RequestError, match="bytes is not text"):
        fsb.read_text(b"")  # type: ignore[arg-type]


def test_nothing_is_nothing_to_read() -> None:
    for nothing in ((), ([],)):
        with pytest.raises(InputError, match="no path was given"):
            fsb.read(*nothing)
