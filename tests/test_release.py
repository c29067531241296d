"""What a release is made of: its description, its workflows, and what it depends on."""

import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rattler_build import Stage0Recipe

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _asked() -> set[str]:
    """Return the names of all packages that the project asks for, in whatever part of it."""
    parts = (
        PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"].values(),
        *PROJECT["dependency-groups"].values(),
    )
    names = {canonicalize_name(Requirement(text).name) for text in chain(*parts)}
    return names - {"fsbench-kit"}


def test_each_dependency_has_a_reason() -> None:
    used, _ = (ROOT / "docs/dependencies.md").read_text().split("## Looked at, and left")
    rows = re.findall(r"^\| (`.+?`(?:, `.+?`)*) \| (\S.*?) \|", used, re.MULTILINE)
    told = {canonicalize_name(name) for names, _ in rows for name in re.findall("`(.+?)`", names)}
    assert told == _asked()


def test_the_conda_recipe_asks_for_what_the_core_does() -> None:
    recipe = Stage0Recipe.from_file(str(ROOT / "recipe/recipe.yaml"))
    (variant,) = recipe.render()
    rendered = variant.recipe.to_dict()
    assert rendered["package"]["name"] == "fsbench-kit"
    project = PROJECT["project"]
    core = (Requirement(text) for text in project["dependencies"])
    expected = {f"{one.name} {one.specifier}" for one in core} | {f"python {project['requires-python']}"}
    assert set(rendered["requirements"]["run"]) == expected
    assert rendered["about"]["license"] == project["license"]
    assert rendered["about"]["summary"] == project["description"]


@pytest.mark.slow
def test_workflows_are_what_their_host_understands() -> None:
    workflows = [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("docs/recipes/*.yml")]
    assert len(workflows) > 4
    tool = Path(sys.executable).with_name("check-jsonschema")
    command = [tool, "--builtin-schema", "vendor.github-workflows", *workflows]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
    rules = re.findall(r"^([a-z][a-z -]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for workflow in workflows:
        for words in re.findall(r"run: make ([a-z -]+)$", workflow.read_text(), re.MULTILINE):
            assert set(words.split()) <= set(" ".join(rules).split()), workflow


@pytest.mark.slow
def test_the_list_of_packages_has_each_pin(tmp_path: Path) -> None:
    made = tmp_path / "sbom.json"
    tool = Path(sys.executable).with_name("cyclonedx-py")
    command = [
        tool,
        "requirements",
        "--pyproject",
        "pyproject.toml",
        "--output-reproducible",
        "--output-file",
        made,
    ]
    subprocess.run([*command, "requirements.lock"], cwd=ROOT, check=True, capture_output=True)
    listed = json.loads(made.read_text())["components"]
    pins = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert {(canonicalize_name(one["name"]), one["version"]) for one in listed} == {
        (canonicalize_name(name), version) for name, version in pins
    }
