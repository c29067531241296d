"""The changes that the manual shows apply to this tree, and their tests pass."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

DIFFS = sorted((Path(__file__).parents[1] / "docs" / "adding").glob("*.diff"))


@pytest.fixture(scope="module")
def tree(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of this tree: what Python compiles there for one change serves the next."""
    folder = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "archive", "--output", folder / "tree.tar", "HEAD"], cwd=root, check=True)
    subprocess.run(["tar", "-xf", "tree.tar"], cwd=folder, check=True)
    return folder


@pytest.fixture(params=DIFFS, ids=lambda diff: diff.stem)
def diff(request: pytest.FixtureRequest, tree: Path) -> Iterator[Path]:
    """Apply a change for the time of a test."""
    subprocess.run(["git", "apply", request.param], cwd=tree, check=True)
    yield request.param
    subprocess.run(["git", "apply", "--reverse", request.param], cwd=tree, check=True)


@pytest.mark.slow
def test_a_thing_is_added_by_its_diff_alone(diff: Path, tree: Path) -> None:
    text = diff.read_text(encoding="utf-8")
    tests = re.findall(r"^\+\+\+ b/(tests/\S+\.py)$", text, re.MULTILINE)
    names = re.findall(r"^\+def (test_\w+)", text, re.MULTILINE) or ["similar"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", " or ".join(names)]
    # The package is installed from another folder; here it is to come from this one.
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    result = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert " passed" in result.stdout


def test_every_diff_is_shown(root: Path) -> None:
    shown = (root / "docs" / "extending.md").read_text(encoding="utf-8")
    assert {f"adding/{diff.name}" for diff in DIFFS} == set(re.findall(r"adding/\w+\.diff", shown))
    assert len(DIFFS) == 6
