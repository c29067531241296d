"""The Dockerfile, as far as it can be tried without Docker: its steps in a folder of their own."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STEPS = [
    line.split(maxsplit=1)
    for line in re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.M)
    .replace("\\\n", " ")
    .splitlines()
    if line
]


def _tracked() -> list[str]:
    """Return the files that Docker is given: those of the checkout, without what .dockerignore names."""
    ignored = (ROOT / ".dockerignore").read_text().split()
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [
        file
        for file in files.splitlines()
        if not any(
            fnmatch(file, f"{each.removeprefix('**/')}*") for each in ignored if "/" in each or each[0] == "."
        )
    ]


def test_it_stands_on_a_python_that_the_package_takes() -> None:
    (image,) = [words for command, words in STEPS if command == "FROM"]
    version = re.fullmatch(r"python:(\d+)\.(\d+)-slim-\w+", image)
    least = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert version is not None
    assert tuple(map(int, version.groups())) >= tuple(map(int, least.removeprefix(">=").split(".")))


def test_it_has_the_programs_that_are_measured() -> None:
    (install,) = [words for command, words in STEPS if "apt-get install" in words]
    packages = set(install.split("&&")[1].split()[2:])
    assert packages >= {
        "fio",
        "bonnie++",
        "sysbench",
        "e2fsprogs",
        "xfsprogs",
        "btrfs-progs",
        "time",
        "gcc",
        "make",
        "git",
    }
    if shutil.which("apt-cache"):
        names = sorted(package for package in packages if not package.startswith("-"))
        told = subprocess.run(["apt-cache", "show", *names], check=True, capture_output=True, text=True).stdout
        assert set(re.findall(r"^Package: (.*)$", told, flags=re.M)) == set(names)


def test_what_it_calls_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(), flags=re.M)) | {".venv/.ready"}
    said = [(ROOT / name).read_text() for name in ("Dockerfile", ".devcontainer/devcontainer.json")]
    said += re.findall(r"^docker run .*", (ROOT / "docs/install.md").read_text(), flags=re.M)
    called = {
        target
        for text in said
        for target in re.findall(r'(?:^RUN |fsbench |[\["])make"?,? "?([\w./-]+)', text, flags=re.M)
    }
    assert {"test", "report", ".venv/.ready"} <= called <= targets


ORDINARY = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] * (os.getuid() == 0)
"""What runs a command as a user who is not root, and still owns these files."""
REPORT = """
title = "Small"
[[notebook]]
name = "claims"
file = "notebooks/04_audit.ipynb"
"""


@pytest.mark.slow
def test_its_steps_make_an_environment_in_which_an_ordinary_user_reports(tmp_path: Path) -> None:
    """What is copied before the packages are installed is enough to install them."""
    assert STEPS.index(["USER", "kit"]) == 2  # right after the packages, which need root
    assert {words.split()[0] for command, words in STEPS if command == "COPY"} == {"--chown=kit:kit"}
    for command, words in STEPS:
        if command == "COPY":
            *sources, _target = words.split()
            for file in _tracked():
                if any(source in (".", file) or file.startswith(f"{source}/") for source in sources):
                    own = tmp_path / file
                    own.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / file, own)
        elif command == "RUN" and "apt-get" not in words:
            # As there, python3 is a Python, not what chooses one. Few modules are ever imported here: compiling
            # all takes longer.
            path = f"{sys.base_prefix}/bin:{os.environ['PATH']}"
            environment = os.environ | {"PATH": path, "MAKEFLAGS": "-- UV_COMPILE_BYTECODE=0"}
            step = [*ORDINARY, "sh", "-c", words]
            done = subprocess.run(step, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "small.toml").write_text(REPORT)
    command = [*ORDINARY, tmp_path / ".venv/bin/fsbench", "report", "small.toml"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert "reproduces" in (tmp_path / "reports" / "claims.html").read_text()
