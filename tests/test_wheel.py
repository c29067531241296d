"""The wheel, in an environment that has nothing else, in a folder that is empty: what its users get."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fsbench_kit.launch.locks import LOCKS

pytestmark = pytest.mark.slow

Fsbench = Callable[..., subprocess.CompletedProcess[str]]


def _uv(root: Path) -> str:
    found = shutil.which("uv") or str(root / ".tools" / "bin" / "uv")
    if not Path(found).exists():
        pytest.skip("uv is not here: it makes the empty environments")
    return found


def _newest() -> str | None:
    """Return the newest Python on this machine that is newer than the one that runs the tests."""
    minors = range(20, sys.version_info.minor, -1)
    found = [*(f"python3.{minor}" for minor in minors)]
    found += [
        str(path) for minor in minors for path in Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")
    ]
    return next(filter(_works, found), None)


def _works(python: str) -> bool:
    try:
        return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _build(source: Path, folder: Path, *kinds: str) -> list[Path]:
    """Build distributions of some kinds, and return their files."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    command += [word for kind in kinds for word in ("-t", kind)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def distributions(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return _build(root, tmp_path_factory.mktemp("dist"), "sdist", "wheel")


@pytest.fixture(scope="module")
def wheel(distributions: list[Path]) -> Path:
    return next(path for path in distributions if path.suffix == ".whl")


def test_a_build_can_be_repeated_and_the_sdist_has_all_that_it_takes(
    distributions: list[Path], wheel: Path, root: Path, tmp_path: Path
) -> None:
    again = _build(root, tmp_path / "again", "sdist", "wheel")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in distributions]
    (sdist,) = set(distributions) - {wheel}
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    source = tmp_path / sdist.name.removesuffix(".tar.gz")
    (from_sdist,) = _build(source, tmp_path / "from-sdist", "wheel")
    assert (from_sdist.name, _contents(from_sdist)) == (wheel.name, _contents(wheel))


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def installed(root: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Fsbench]:
    """Return what installs the wheel with extras, for a Python, and gives its command ``fsbench``."""

    def install(extras: str = "", python: str = sys.executable) -> Fsbench:
        home = tmp_path_factory.mktemp("environment")
        subprocess.run([_uv(root), "venv", "--quiet", "--python", python, home], check=True)
        options = ["--constraint", "requirements.lock", "--python", home / "bin" / "python"]
        command = [_uv(root), "pip", "install", "--quiet", *options, f"fsbench-kit{extras} @ {wheel.as_uri()}"]
        # Few modules are ever imported here: compiling all takes longer.
        subprocess.run(command, cwd=root, env=os.environ | {"UV_COMPILE_BYTECODE": "0"}, check=True)

        def fsbench(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
            path = f"{home / 'bin'}:{os.environ['PATH']}"
            kept = {name: os.environ[name] for name in ("HOME", LOCKS)}
            environment = {"PATH": path, "FSBENCH_NO_INSTALL": "1"} | kept
            command = [home / "bin" / "fsbench", *words]
            return subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, check=False
            )

        return fsbench

    return install


def test_it_has_what_a_project_starts_with(root: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "notebooks", "plans", "raw_results"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len(tracked) > 100
    assert {f"fsbench_kit/starter/{name}" for name in tracked} <= names
    assert "fsbench_kit/py.typed" in names
    assert not [name for name in names if "raw_results/runs" in name or "__pycache__" in name]


@pytest.mark.parametrize("choose", [lambda: sys.executable, _newest], ids=["this", "newest"])
def test_the_core_reads_compares_and_audits(
    installed: Callable[..., Fsbench], choose: Callable[[], str | None], tmp_path: Path
) -> None:
    if (python := choose()) is None:
        pytest.skip("there is no newer Python here")
    fsbench = installed(python=python)
    study = "raw_results/published/sysbench-rhel72"
    for words, said in (
        (("read", study), "sysbench"),
        (("compare", study), "2.42"),
        (("audit", "raw_results/published"), "reproduces"),
    ):
        result = fsbench(*words, folder=tmp_path)
        assert result.returncode == 0, result.stderr
        assert said in result.stdout
    for words, extra in ((("launch", "plans/quick.toml"), "launch"), (("report",), "notebooks")):
        result = fsbench(*words, folder=tmp_path)
        assert result.returncode == 2
        assert f'pip install "fsbench-kit[{extra}]"' in result.stderr
        assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


PLAN = """
id = "tiny"
repeats = 1
[[target]]
kind = "directory"
directory = "."
[[workload]]
tool = "smallfiles"
files = 20
size = "4k"
"""
SPEC = """
title = "Small"
[[notebook]]
name = "claims"
file = "notebooks/04_audit.ipynb"
"""


def test_all_of_it_launches_and_reports(installed: Callable[..., Fsbench], tmp_path: Path) -> None:
    fsbench = installed("[all]")
    dry = fsbench("launch", "--dry-run", "plans/first-steps.toml", folder=tmp_path)
    assert dry.returncode == 0, dry.stderr
    (tmp_path / "tiny.toml").write_text(PLAN)
    launched = fsbench("launch", "tiny.toml", "--study", "mine", folder=tmp_path)
    assert launched.returncode == 0, launched.stderr
    assert "smallfiles" in fsbench("read", "raw_results/runs/mine", folder=tmp_path).stdout
    project = tmp_path / "project"
    assert fsbench("init", str(project), folder=tmp_path).returncode == 0
    (project / "small.toml").write_text(SPEC)
    reported = fsbench("report", "small.toml", folder=project)
    assert reported.returncode == 0, reported.stderr
    assert "reproduces" in (project / "reports" / "claims.html").read_text()
