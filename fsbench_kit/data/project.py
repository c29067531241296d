"""Where a project is, and what a new one starts with: the notebooks, plans and studies that come with the package.

A project is a folder with ``notebooks/`` and ``raw_results/``; paths in notebooks and reports start there.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from fsbench_kit.model.errors import RequestError

_PACKAGE: Final = Path(__file__).parents[1]

STARTER: Final = installed if (installed := _PACKAGE / "starter").is_dir() else _PACKAGE.parent
"""The project that comes with the package: in a wheel within it, in a checkout the checkout itself."""

LAUNCHED: Final = Path("raw_results", "runs")
"""Where studies that are launched go, below the project's root, unless another folder is named."""

PARTS: Final = ("notebooks", "plans", "raw_results/published", "raw_results/recorded", "raw_results/replicated")
"""The folders with which a new project starts."""


def project_root() -> Path:
    """Return the folder from which every path in a notebook or a report is resolved.

    It is the nearest one, from the working directory upwards, that is a project. Where there is none it is the one
    that comes with the package, so that a notebook works from any directory.

    Raises
    ------
    RequestError
        If there is none at all.
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
    """Whether a folder has what a project has."""
    return (folder / "notebooks").is_dir() and (folder / "raw_results").is_dir()


def found(path: str | Path, root: Path = Path()) -> Path:
    """Return a path below a folder, or what the package has under the same name where it leads nowhere.

    So ``plans/quick.toml`` and ``raw_results/published`` work in any folder.
    """
    own = STARTER / path
    return own if not (root / path).exists() and _is_part(Path(path)) and own.exists() else root / path


def _is_part(path: Path) -> bool:
    return ".." not in path.parts and any(path.is_relative_to(part) for part in PARTS)


def start(folder: Path) -> None:
    """Copy what a project starts with into a folder.

    Raises
    ------
    RequestError
        If one of the folders is there already, or cannot be written.
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
