"""Reads notebooks and the parameters that they declare, without running them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import nbformat

from fsbench_kit.data.absent import said_of_absent
from fsbench_kit.model.errors import ReportError
from fsbench_kit.notebooks.parameters import Parameter, checked, declared

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


PARAMETERS_TAG: Final = "parameters"


def read_parameters(notebook: Path) -> dict[str, Parameter]:
    """Read the parameters of a notebook from its cell with the tag ``parameters``.

    Raises
    ------
    ReportError
        If the notebook cannot be read or has no such cell, or the cell does more than assign literals.

    Examples
    --------
    >>> from pathlib import Path
    >>> read_parameters(Path("notebooks/04_audit.ipynb"))["studies"].default
    ['raw_results/published']
    """
    return declared(_parameters_source(notebook), notebook)


def load(notebook: Path) -> nbformat.NotebookNode:
    """Read a notebook.

    Raises
    ------
    ReportError
        If it cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> load(Path("notebooks/04_audit.ipynb")).cells[0].source.splitlines()[0]
    "# Check an article's claims"
    """
    try:
        return nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call, no-any-return]
    except OSError as error:
        what = said_of_absent(notebook) or f"cannot read the notebook: {error.strerror}"
        raise ReportError(what, file=notebook) from error
    except ValueError as error:
        raise ReportError(f"cannot read the notebook: {error}", file=notebook) from error


def _parameters_source(notebook: Path) -> str:
    for cell in load(notebook).cells:
        if PARAMETERS_TAG in cell.metadata.get("tags", []):
            return str(cell.source)
    raise ReportError(
        "the notebook has no cell with the tag parameters",
        file=notebook,
        hint="Give the tag to the cell that assigns the defaults, even if it is empty.",
    )


def check_parameters(notebook: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check given parameters against those of a notebook, and add its defaults.

    Raises
    ------
    RequestError
        If a name is unknown or a value has the wrong type.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_parameters(Path("notebooks/04_audit.ipynb"), {"studies": ["my-study"]})
    {'studies': ['my-study']}
    """
    return checked(read_parameters(notebook), given, notebook)
