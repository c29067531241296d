"""The changes that the manual shows apply to this tree, and their tests pass."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DIFFS = sorted((Path(__file__).parents[1] / "docs" / "adding").glob("*.diff"))


@pytest.mark.slow
@pytest.mark.parametrize("diff", DIFFS, ids=lambda diff: diff.stem)
def test_a_thing_is_added_by_its_diff_alone(diff: Path, root: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "archive", "--output", tmp_path / "tree.tar", "HEAD"], cwd=root, check=True)
    subprocess.run(["tar", "-xf", "tree.tar"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", diff], cwd=tmp_path, check=True)
    text = diff.read_text(encoding="utf-8")
    tests = re.findall(r"^\+\+\+ b/(tests/\S+\.py)$", text, re.MULTILINE)
    names = re.findall(r"^\+def (test_\w+)", text, re.MULTILINE) or ["similar"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", " or ".join(names)]
    # The package is installed from another folder; here it is to come from this one.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert " passed" in result.stdout


def test_every_diff_is_shown(root: Path) -> None:
    shown = (root / "docs" / "extending.md").read_text(encoding="utf-8")
    assert {f"adding/{diff.name}" for diff in DIFFS} == set(re.findall(r"adding/\w+\.diff", shown))
    assert len(DIFFS) == 6
