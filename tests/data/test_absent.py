"""A path or pattern that leads nowhere: what is said of it names what is near."""

import errno
from pathlib import Path

import pytest

from fsbench_kit.data.absent import said_of_absent

NO_MATCH = "No file matches this pattern."
NO_FILE = "No such file or directory."
SAID = {
    "logs/*.jsno": f"{NO_MATCH} logs has a.json, b.json, c.json, d.json, e.json and 2 more.",
    "logs/[xy]*/q": f"{NO_MATCH} logs/[xy]* has only.txt.",
    "lgos/*.json": f"{NO_MATCH} The current folder has no lgos. Did you mean logs?",
    "*/xsf/run?.json": f"{NO_MATCH} * has no xsf. Did you mean xfs?",
    "*/xfs/*.json": f"{NO_MATCH} */xfs has only.txt.",
    "**/*.log": f"{NO_MATCH} ** has a.json, b.json, c.json, d.json, e.json and 3 more.",
    "empty/*": f"{NO_MATCH} empty is empty.",
    "quite different": f"{NO_FILE} The current folder has empty, logs.",
    "logs/a.jso": f"{NO_FILE} Did you mean a.json?",
    "logs/xfs/../a.jso": f"{NO_FILE} Did you mean a.json?",
    "logs/a.json": None,
    "dangling": None,
    "logs/a.json/b": None,
    "a\0b": None,
}
"""Path -> what is said of it; ``None`` where opening it says what is wrong."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "logs" / "xfs").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    for name in (*"abcdef", ".hidden"):
        (tmp_path / "logs" / f"{name}.json").touch()
    (tmp_path / "logs" / "xfs" / "only.txt").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", SAID)
def test_what_is_near_is_said(folder: Path, path: str) -> None:
    if path == "dangling":
        (folder / path).symlink_to("nothing")
    assert said_of_absent(Path(path)) == SAID[path]


def test_an_absolute_path_is_followed_from_the_root(folder: Path) -> None:
    assert said_of_absent(folder / "lgos" / "x.json") == f"{NO_FILE} {folder} has no lgos. Did you mean logs?"


@pytest.mark.usefixtures("folder")
def test_a_closed_folder_is_said_to_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(_: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", closed)  # root may read every folder
    assert said_of_absent(Path("logs/*.json")) == f"{NO_MATCH} logs cannot be read: Permission denied."
