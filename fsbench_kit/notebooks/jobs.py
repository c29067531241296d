"""What is run, all that decides its result, and the record that a run leaves."""

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
        Its name among the jobs that are run together, and that of its files.
    notebook, out
        The notebook, from the root or else from what comes with the package; the folder in which the run is
        written down.
    parameters
        Those that are not to have their default.
    after
        The names of jobs that have to succeed first.
    makes
        Files and folders, from the project's root, that the notebook writes.
    alone
        Whether no other may run at the same time: it measures this machine.

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
        """Where the notebook is."""
        return found(self.notebook, root)

    @property
    def executed(self) -> Path:
        """Where the executed notebook is, if the run succeeded."""
        return self.out / "notebooks" / f"{self.name}.ipynb"

    @property
    def failed(self) -> Path:
        """Where the notebook is, as far as it got, if the run failed."""
        return self.out / "failed" / f"{self.name}.ipynb"

    @property
    def manifest(self) -> Path:
        """Where the record of the run is."""
        return self.out / "manifests" / f"{self.name}.json"


class Basis(BaseModel):
    """All that decides what a notebook says. Where it is the same as before, the notebook need not run again.

    Attributes
    ----------
    notebook
        SHA-256 of the notebook's cells, without outputs.
    package
        SHA-256 of fsbench_kit.
    versions
        Of Python and of the packages whose results end up in a report.
    parameters
        All parameters with their values.
    files
        SHA-256 of each file that a parameter names, also through a folder that it is in, before the run.
    made
        The same of what the notebook makes, after the run; ``None`` for what is not there.

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
        ``skipped`` where a job that has to come first did not succeed.
    error
        What went wrong, for people.
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
    """Take stock of all that decides what a notebook says."""
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
    """Return the SHA-256 of each file that a job makes, and ``None`` for what it was to make and is not there."""
    return dict.fromkeys(path for path in job.makes if not (root / path).exists()) | inventory(root, job.makes)


def inventory(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file that is named, or is in a folder that is named, in the order of their names.

    Hidden files, reports and what Python compiles are no data.
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
        return  # a text that cannot be the name of a file


def _may_have_data(folder: Path) -> bool:
    return folder.name != "__pycache__" and not folder.name.startswith(".") and not is_report(folder)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _paths_in(values: Iterable[Any]) -> Iterator[str]:
    """Yield the strings in parameters that can be paths: those with a slash."""
    for value in values:
        if isinstance(value, str) and "/" in value:
            yield value
        elif isinstance(value, list | tuple):
            yield from _paths_in(value)
        elif isinstance(value, dict):
            yield from _paths_in(value.values())
