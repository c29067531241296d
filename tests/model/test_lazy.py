"""Rooms that are imported when they are used: all names are there, and none costs what it does not need."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

ROOMS = ("charts", "explore", "notebooks", "report", "tables")


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_is_there_and_is_that_of_no_module(room: str) -> None:
    package = importlib.import_module(f"fsbench_kit.{room}")
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert modules.isdisjoint(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)
    assert {name for name in dir(package) if not name.startswith("__")} == set(package.__all__)
    assert not hasattr(package, "no_such_name")


@pytest.mark.parametrize(
    ("imports", "heavy"),
    [
        (
            "from fsbench_kit import charts, explore, notebooks, report, tables",
            ["altair", "polars", "pydantic", "nbformat"],
        ),
        # what every kernel imports; jsonschema compiles the grammar of IRIs for more than a second
        (
            "import fsbench_kit.notebooks.display",
            ["papermill", "nbformat", "nbconvert", "scipy", "lark", "ipywidgets"],
        ),
    ],
)
def test_an_import_loads_nothing_that_it_does_not_need(imports: str, heavy: list[str]) -> None:
    code = f"{imports}; import sys; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "[]\n"
