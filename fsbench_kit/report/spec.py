"""What a report consists of: a TOML file with a title, and a table for each notebook."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fsbench_kit.data.absent import said_of_absent
from fsbench_kit.data.problems import problems
from fsbench_kit.model.errors import ReportError

if TYPE_CHECKING:
    from pathlib import Path


class NotebookSpec(BaseModel):
    """``[[notebook]]``: a notebook of a report.

    Attributes
    ----------
    name
        The name of its page, without ending: letters, digits, ``_`` and ``-``.
    file
        The notebook, from the project's root.
    title
        Stands in the index, where the notebook's own title does not do.
    after
        The names of notebooks that have to succeed first.
    makes
        Files and folders that it writes; where they are missing or changed, it is run again.
    alone
        Whether no other may run at the same time: it measures this machine.

    Examples
    --------
    >>> NotebookSpec(name="audit", file="notebooks/04_audit.ipynb").parameters
    {}
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w-]*$")]
    file: str
    title: str | None = None
    parameters: dict[str, Any] = {}
    after: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    alone: bool = False


class ReportSpec(BaseModel):
    """A report: its title, an introduction of a sentence or two, and its notebooks.

    Examples
    --------
    >>> spec = ReportSpec(title="Claims", notebook=[{"name": "audit", "file": "notebooks/04_audit.ipynb"}])
    >>> spec.notebook[0].name
    'audit'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    intro: str = ""
    notebook: tuple[NotebookSpec, ...]


def read_spec(path: Path) -> ReportSpec:
    """Read what a report consists of.

    Raises
    ------
    ReportError
        If the file cannot be read, or says what cannot be.

    Examples
    --------
    >>> from pathlib import Path
    >>> read_spec(Path("notebooks/report.toml")).title
    'Filesystem benchmarks'
    """
    try:
        return ReportSpec.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        what = said_of_absent(path) or f"cannot read the report's description: {error.strerror}"
        raise ReportError(what, file=path) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ReportError(f"the report's description is not TOML: {error}", file=path) from error
    except ValidationError as error:
        raise ReportError("\n".join(problems(error, ReportSpec)), file=path) from error
