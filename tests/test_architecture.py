"""The floors of the house: each module imports only floors below it; the door costs nothing to open."""

import pkgutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import fsbench_kit

ROOT = Path(__file__).parents[1]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [LINT_IMPORTS, "--no-cache", "--config", str(folder / "pyproject.toml")]
    environment = {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_floors_hold() -> None:
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout


def test_a_module_that_reaches_up_is_found(tmp_path: Path) -> None:
    for path in [*ROOT.glob("fsbench_kit/**/*.py"), ROOT / "pyproject.toml"]:
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    units = tmp_path / "fsbench_kit" / "model" / "units.py"
    units.write_text(units.read_text() + "\nimport fsbench_kit.data.dataset\n")
    result = _lint(tmp_path)
    assert result.returncode == 1
    assert "fsbench_kit.model.units" in result.stdout


@pytest.mark.parametrize("module", ["fsbench_kit", "fsbench_kit.cli"])
def test_importing_the_package_or_its_command_imports_nothing_that_takes_its_time(module: str) -> None:
    heavy = ["altair", "IPython", "numpy", "papermill", "polars", "pydantic", "scipy"]
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "[]\n"


def test_processes_that_read_in_bulk_import_nothing_else() -> None:
    """Each of them starts anew, and most logs have no study."""
    heavy = ["altair", "pydantic", "rich", "scipy"]
    code = f"import sys, fsbench_kit.data.bulk.parts; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "[]\n"


def test_processes_that_make_runs_hold_no_frames() -> None:
    """The memory that they take is not the page cache's."""
    heavy = ["numpy", "polars", "scipy"]
    code = f"import sys, fsbench_kit.launch.runner; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "[]\n"


def test_comparisons_load_scipy_when_they_are_made() -> None:
    code = "import sys, fsbench_kit.analysis.comparison; print('scipy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "False\n"


def test_public_names_are_those_of_no_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(fsbench_kit.__path__)}
    public = set(fsbench_kit.__all__)
    assert public & modules == {"charts", "tables"}
    assert all(callable(getattr(fsbench_kit, name)) for name in public - modules - {"__version__"})
    assert fsbench_kit.charts.__name__ == "fsbench_kit.charts"
    assert fsbench_kit.__version__ == version("fsbench-kit")
    assert public - {"__version__"} <= set(dir(fsbench_kit))
