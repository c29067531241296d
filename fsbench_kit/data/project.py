"""Locates a project, and starts a new one with the notebooks, plans and studies of the package.

A project is a folder with ``notebooks/`` and ``raw_results/``; paths in notebooks and reports are relative to it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from fsbench_kit.model.errors import RequestError

_PACKAGE: Final = Path(__file__).parents[1]

STARTER: Final = installed if (installed := _PACKAGE / "starter").is_dir() else _PACKAGE.parent
"""The project that comes with the package: part of the wheel, or the checkout itself."""

LAUNCHED: Final = Path("raw_results", "runs")
"""The folder for launched studies, relative to the project's root, unless another one is given."""

PARTS: Final = ("notebooks", "plans", "raw_results/published", "raw_results/recorded", "raw_results/replicated")
"""The folders of a new project."""


def project_root() -> Path:
    """Return the folder to which all paths in a notebook or a report are relative.

    It is the nearest project, from the working directory upwards. If there is none, it is the one that comes with
    the package, so that a notebook works from any directory.

    Raises
    ------
    RequestError
        If there is no project at all.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, STARTER):
        if is_project(folder):
            return folder
    raise RequestError(
        f"{here} is not in a project",
        hint="Work in a folder that has notebooks/ and raw_results/, or below it.",
    )


def is_project(folder: Path) -> bool:
    """Whether a folder is a project."""
    return (folder / "notebooks").is_dir() and (folder / "raw_results").is_dir()


def found(path: str | Path, root: Path = Path()) -> Path:
    """Return a path below a folder, or the package's own file of that name if it does not exist.

    This lets ``plans/quick.toml`` and ``raw_results/published`` work in any folder.
    """
    own = STARTER / path
    return own if not (root / path).exists() and _is_part(Path(path)) and own.exists() else root / path


def _is_part(path: Path) -> bool:
    return ".." not in path.parts and any(path.is_relative_to(part) for part in PARTS)


def start(folder: Path) -> None:
    """Copy the content of a new project into a folder.

    Raises
    ------
    RequestError
        If one of the folders already exists or cannot be written.
    """
    taken = [part for part in PARTS if (folder / part).exists()]
    if taken:
        raise RequestError(
            f"the folder has {', '.join(taken)} already", file=folder, hint="Start a project in an empty folder."
        )
    try:
        for part in PARTS:
            shutil.copytree(STARTER / part, folder / part, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    except OSError as error:
        raise RequestError(f"cannot start a project: {error.strerror or error}", file=folder) from error
