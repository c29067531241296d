"""What to run, what determines its result, and the record of a run."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from fsbench_kit.data.files import is_report
from fsbench_kit.data.project import found
from fsbench_kit.notebooks.files import check_parameters, load
from fsbench_kit.tables import versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PACKAGE: Final = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A notebook to run.

    Attributes
    ----------
    name
        Its name, unique among the jobs that are run together; its files have it too.
    notebook, out
        The path of the notebook, relative to the root, or the name of one that comes with the package; and the
        folder for its files.
    parameters
        The parameters that differ from their defaults.
    after
        The names of the jobs that have to succeed first.
    makes
        The files and folders that the notebook writes, relative to the project's root.
    alone
        Whether no other job may run at the same time, because it measures this machine.

    Examples
    --------
    >>> from pathlib import Path
    >>> Job(name="audit", notebook="notebooks/04_audit.ipynb", out=Path("reports")).alone
    False
    """

    name: str
    notebook: str
    out: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    alone: bool = False

    def source(self, root: Path) -> Path:
        """Return the path of the notebook."""
        return found(self.notebook, root)

    @property
    def executed(self) -> Path:
        """The path of the executed notebook, if the run succeeded."""
        return self.out / "notebooks" / f"{self.name}.ipynb"

    @property
    def failed(self) -> Path:
        """The path of the partly executed notebook, if the run failed."""
        return self.out / "failed" / f"{self.name}.ipynb"

    @property
    def manifest(self) -> Path:
        """The path of the record of the run."""
        return self.out / "manifests" / f"{self.name}.json"


class Basis(BaseModel):
    """Everything that determines the result of a notebook. If it is unchanged, the notebook need not run again.

    Attributes
    ----------
    notebook
        SHA-256 of the notebook's cells, without outputs.
    package
        SHA-256 of fsbench_kit.
    versions
        The versions of Python and of the packages that affect a report.
    parameters
        All parameters with their values.
    files
        Path -> SHA-256 of each file that a parameter names, directly or by its folder, before the run.
    made
        Path -> SHA-256 of each file that the notebook makes, after the run; ``None`` if it does not exist.

    Examples
    --------
    >>> before = Basis(notebook="a1", package="b2", versions={}, parameters={"n": 1}, files={}, made={})
    >>> before == before.model_copy(update={"parameters": {"n": 2}})
    False
    """

    model_config = ConfigDict(frozen=True)

    notebook: str
    package: str
    versions: dict[str, str]
    parameters: dict[str, Any]
    files: dict[str, str]
    made: dict[str, str | None]


class Manifest(BaseModel):
    """The record of a run.

    Attributes
    ----------
    status
        ``skipped`` if a job that has to precede it did not succeed.
    error
        What went wrong, as a sentence for readers.
    duration
        Seconds.

    Examples
    --------
    >>> from datetime import UTC
    >>> basis = Basis(notebook="a1", package="b2", versions={}, parameters={}, files={}, made={})
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> facts = {"source": "04_audit.ipynb", "status": "ok", "started_at": at, "duration": 3}
    >>> Manifest(name="audit", basis=basis, **facts).error is None
    True
    """

    model_config = ConfigDict(frozen=True)

    name: str
    source: str
    basis: Basis
    status: Literal["ok", "failed", "skipped"]
    error: str | None = None
    started_at: datetime
    duration: float


def basis(job: Job, root: Path) -> Basis:
    """Return everything that determines the result of a notebook."""
    parameters = check_parameters(job.source(root), job.parameters)
    cells = json.dumps([[cell.cell_type, cell.source] for cell in load(job.source(root)).cells])
    made = made_by(job, root)
    files = inventory(root, _paths_in(parameters.values()))
    return Basis(
        notebook=hashlib.sha256(cells.encode()).hexdigest(),
        package=_package(),
        versions=versions(),
        parameters=parameters,
        files={path: digest for path, digest in files.items() if path not in made},
        made=made,
    )


@cache
def _package() -> str:
    return hashlib.sha256(json.dumps(inventory(PACKAGE, ["."])).encode()).hexdigest()


def made_by(job: Job, root: Path) -> dict[str, str | None]:
    """Return the SHA-256 of each file that a job makes, and ``None`` for those that do not exist."""
    return dict.fromkeys(path for path in job.makes if not (root / path).exists()) | inventory(root, job.makes)


def inventory(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each of the given files, and of each file in the given folders, ordered by name.

    Hidden files, reports and Python's bytecode are left out.
    """
    return {
        str(Path(path) / file.relative_to(root / path)): _sha256(file)
        for path in paths
        for file in sorted(_files(root / path))
    }


def _files(path: Path) -> Iterator[Path]:
    try:
        if path.is_file():
            yield path
        for folder, folders, files in os.walk(path):
            folders[:] = [name for name in folders if _may_have_data(Path(folder, name))]
            named = (Path(folder, name) for name in files if not name.startswith("."))
            yield from (file for file in named if file.is_file())
    except (OSError, ValueError):
        return  # the text cannot be the name of a file


def _may_have_data(folder: Path) -> bool:
    return folder.name != "__pycache__" and not folder.name.startswith(".") and not is_report(folder)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _paths_in(values: Iterable[Any]) -> Iterator[str]:
    """Yield the strings in parameters that may be paths because they contain a slash."""
    for value in values:
        if isinstance(value, str) and "/" in value:
            yield value
        elif isinstance(value, list | tuple):
            yield from _paths_in(value)
        elif isinstance(value, dict):
            yield from _paths_in(value.values())
