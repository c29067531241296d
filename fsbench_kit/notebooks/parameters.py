"""What a notebook can be given: the parameters of its first tagged cell, read without running it."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import nbformat
from pydantic import TypeAdapter, ValidationError

from fsbench_kit.errors import ReportError, RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PARAMETERS_TAG: Final = "parameters"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a notebook: its default, and the type that its values have to have."""

    name: str
    default: Any
    kind: Any


def read_parameters(notebook: Path) -> dict[str, Parameter]:
    """Read the parameters of a notebook from the cell that is tagged ``parameters``.

    The cell assigns a literal to each name. The type is that of the annotation (``data: list[str] = [...]``), and
    without one that of the default.

    Raises
    ------
    ReportError
        If the notebook cannot be read, has no such cell, or the cell holds anything else.
    """
    source = _parameters_source(notebook)
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise ReportError(
            f"the parameters cell is not Python: {error.msg}", file=notebook, excerpt=error.text or source
        ) from error
    parameters = {}
    for statement in tree.body:
        try:
            parameter = _parameter(statement)
        except ValueError as error:
            raise ReportError(
                f"the parameters cell holds something that is no parameter: {error}",
                file=notebook,
                excerpt=ast.unparse(statement),
                hint='Write for example: confidence: float = 0.95, or: data = ["raw_results/recorded"]',
            ) from error
        parameters[parameter.name] = parameter
    return parameters


def load(notebook: Path) -> nbformat.NotebookNode:
    """Read a notebook.

    Raises
    ------
    ReportError
        If it cannot be read.
    """
    try:
        return nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call, no-any-return]
    except (OSError, ValueError) as error:
        raise ReportError(f"the notebook cannot be read: {error}", file=notebook) from error


def _parameters_source(notebook: Path) -> str:
    for cell in load(notebook).cells:
        if PARAMETERS_TAG in cell.metadata.get("tags", []):
            return str(cell.source)
    raise ReportError(
        "the notebook has no cell with the tag parameters",
        file=notebook,
        hint="Give the tag to the cell that assigns the defaults, even if it is empty.",
    )


_TYPE_NAMES: Final = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict}


def _parameter(statement: ast.stmt) -> Parameter:
    """Read an assignment of a literal; anything else is a ValueError."""
    match statement:
        case ast.AnnAssign(target=ast.Name(name), annotation=annotation, value=ast.expr() as value):
            return Parameter(name, ast.literal_eval(value), _annotated(annotation))
        case ast.Assign(targets=[ast.Name(name)], value=value):
            default = ast.literal_eval(value)
            return Parameter(name, default, _kind_of(default))
    raise ValueError("it does not assign a literal to a name")


def _annotated(node: ast.expr) -> Any:
    match node:
        case ast.Name(name) if name in _TYPE_NAMES:
            return _TYPE_NAMES[name]
        case ast.Constant(None):
            return None
        case ast.BinOp(left, ast.BitOr(), right):
            return _annotated(left) | _annotated(right)
        case ast.Subscript(ast.Name("list"), item):
            return list[_annotated(item)]  # type: ignore[misc]
        case ast.Subscript(ast.Name("dict"), ast.Tuple([key, value])):
            return dict[_annotated(key), _annotated(value)]  # type: ignore[misc]
    raise ValueError(f"{ast.unparse(node)} is not a type that a parameter can have")


def _kind_of(default: object) -> Any:
    if isinstance(default, list) and default and len({type(item) for item in default}) == 1:
        return list[type(default[0])]  # type: ignore[misc]
    if type(default) in _TYPE_NAMES.values():
        return type(default)
    raise ValueError(f"the type of {default!r} does not tell which values are allowed")


def check_parameters(notebook: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Hold given parameters against those that a notebook has, and complete them with its defaults.

    Raises
    ------
    RequestError
        If a name is unknown or a value has another type. papermill would warn, and run with the defaults.
    """
    known = read_parameters(notebook)
    for name, value in given.items():
        if name not in known:
            raise RequestError(
                f"{name!r} is not a parameter of this notebook", file=notebook, hint=did_you_mean(name, known)
            )
        try:
            TypeAdapter(known[name].kind).validate_python(value, strict=True)
        except ValidationError as error:
            raise RequestError(
                f"the parameter {name!r} cannot be {value!r}: {error.errors()[0]['msg']}",
                file=notebook,
                hint=f"Its default is {known[name].default!r}.",
            ) from error
    return {name: parameter.default for name, parameter in known.items()} | dict(given)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint for a name that is not there: the one that is most like it, or all that are."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known) or 'none'}."
