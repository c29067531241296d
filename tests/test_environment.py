"""environment.yml is what pyproject.toml says, and conda understands each of its lines."""

import subprocess
import sys
from pathlib import Path

import pytest
from rattler import MatchSpec

ROOT = Path(__file__).parents[1]


def test_environment_is_generated_from_pyproject(tmp_path: Path) -> None:
    made = tmp_path / "environment.yml"
    recipe = (ROOT / "Makefile").read_text().split("environment.yml: ")[1].split("\n\n")[0]
    options = recipe.split("pyproject2conda yaml")[1].replace("\\\n", " ").replace("$@", str(made))
    tool = Path(sys.executable).with_name("pyproject2conda")
    subprocess.run(f"{tool} yaml {options}", shell=True, check=True, cwd=ROOT, capture_output=True)  # noqa: S602
    assert made.read_text() == (ROOT / "environment.yml").read_text(), "run: make environment.yml"


def _dependencies() -> list[str]:
    lines = (ROOT / "environment.yml").read_text().split("dependencies:\n")[1].splitlines()
    return [line.removeprefix("  - ") for line in lines if line.startswith("  - ") and line != "  - pip:"]


@pytest.mark.parametrize("dependency", _dependencies())
def test_conda_understands(dependency: str) -> None:
    assert MatchSpec(dependency).name is not None


def test_packages_of_the_project_are_in_it() -> None:
    named = {str(MatchSpec(line).name.normalized) for line in _dependencies()}
    assert {"jupyterlab", "papermill", "polars", "altair", "scipy", "nbval", "ipywidgets"} <= named
