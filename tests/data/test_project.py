"""Where a project is, and what a new one starts with."""

from pathlib import Path

import pytest

from fsbench_kit.data import project
from fsbench_kit.model.errors import RequestError


def _project(folder: Path) -> Path:
    (folder / "notebooks" / "deep").mkdir(parents=True)
    (folder / "raw_results").mkdir()
    return folder


def test_the_root_is_found_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _project(tmp_path / "project")
    monkeypatch.chdir(folder / "notebooks" / "deep")
    assert project.project_root() == folder


def test_outside_a_project_the_root_is_that_of_the_package(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert project.project_root() == root


def test_without_any_project_the_error_says_what_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(project, "STARTER", tmp_path / "site-packages" / "fsbench_kit" / "starter")
    with pytest.raises(RequestError, match="raw_results"):
        project.project_root()


def test_what_is_not_here_comes_with_the_package(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert project.found("plans/quick.toml") == root / "plans" / "quick.toml"
    assert project.found("plans/mine.toml") == Path("plans/mine.toml")
    assert project.found("pyproject.toml") == Path("pyproject.toml")
    assert project.found("plans/../pyproject.toml") == Path("plans/../pyproject.toml")
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "quick.toml").touch()
    assert project.found("plans/quick.toml") == Path("plans/quick.toml")


def test_a_new_project_has_all_and_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project.start(tmp_path / "new")
    monkeypatch.chdir(tmp_path / "new" / "notebooks")
    assert project.project_root() == tmp_path / "new"
    assert (tmp_path / "new" / "raw_results" / "published" / "sysbench-rhel72" / "study.toml").is_file()
    assert not (tmp_path / "new" / "raw_results" / "runs").exists()
    own = tmp_path / "new" / "notebooks" / "03_compare.ipynb"
    own.write_text("mine")
    with pytest.raises(RequestError, match="notebooks"):
        project.start(tmp_path / "new")
    assert own.read_text() == "mine"
