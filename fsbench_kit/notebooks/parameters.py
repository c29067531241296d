"""The parameters of a notebook: the names that a cell assigns literals to, and the values that they accept.

They are checked before a kernel starts, and by `display.setup` inside the kernel: papermill itself only warns of
unknown names, and never checks types.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from fsbench_kit.model.errors import ReportError, RequestError
from fsbench_kit.model.suggestions import known_instead

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a notebook, with its default and the type of its values."""

    name: str
    default: Any
    kind: Any


def declared(source: str, file: Path | None = None) -> dict[str, Parameter]:
    """Read the parameters that a cell declares.

    The cell assigns a literal to each name. The type is that of the annotation (``data: list[str] = [...]``), or
    else that of the default.

    Parameters
    ----------
    source
        The cell's code.
    file
        The notebook, for messages.

    Raises
    ------
    ReportError
        If the cell contains anything else.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise ReportError(
            f"the parameters cell is not Python: {error.msg}", file=file, excerpt=error.text or source
        ) from error
    parameters = {}
    for statement in tree.body:
        try:
            parameter = _parameter(statement)
        except ValueError as error:
            raise ReportError(
                f"the parameters cell may only assign literals to names: {error}",
                file=file,
                excerpt=ast.unparse(statement),
                hint='Write for example: confidence: float = 0.95, or: data = ["raw_results/recorded"]',
            ) from error
        parameters[parameter.name] = parameter
    return parameters


_TYPE_NAMES: Final = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict}


def _parameter(statement: ast.stmt) -> Parameter:
    """Read an assignment of a literal; raise ValueError for anything else."""
    match statement:
        case ast.AnnAssign(target=ast.Name(name), annotation=annotation, value=ast.expr() as value):
            return Parameter(name, ast.literal_eval(value), _annotated(annotation))
        case ast.Assign(targets=[ast.Name(name)], value=value):
            default = ast.literal_eval(value)
            return Parameter(name, default, _kind_of(default))
    raise ValueError("this does something else")


def _annotated(node: ast.expr) -> Any:
    match node:
        case ast.Name(name) if name in _TYPE_NAMES:
            return _TYPE_NAMES[name]
        case ast.Constant(None):
            return None
        case ast.BinOp(left, ast.BitOr(), right):
            return _annotated(left) | _annotated(right)
        case ast.Subscript(ast.Name("list"), item):
            return _list_of(_annotated(item))
        case ast.Subscript(ast.Name("dict"), ast.Tuple([key, value])):
            return dict[_annotated(key), _annotated(value)]  # type: ignore[misc]
    raise ValueError(f"{ast.unparse(node)} is not a type that a parameter can have")


def _kind_of(default: object) -> Any:
    if isinstance(default, list) and default and len({type(item) for item in default}) == 1:
        return _list_of(type(default[0]))
    if type(default) in _TYPE_NAMES.values():
        return type(default)
    raise ValueError(f"the type of {default!r} does not say which values are allowed")


def _list_of(item: Any) -> Any:
    """Return the type of a list that also accepts a single item: ``papermill -p`` cannot pass lists."""
    return Annotated[list[item], BeforeValidator(lambda given: given if isinstance(given, list) else [given])]


def checked(known: Mapping[str, Parameter], given: Mapping[str, Any], file: Path | None = None) -> dict[str, Any]:
    """Check given parameters against those of a notebook, and add its defaults.

    If a parameter is a list, a single item becomes a list of one.

    Parameters
    ----------
    known
        The parameters that the notebook declares.
    given
        Name -> value.
    file
        The notebook, for messages.

    Raises
    ------
    RequestError
        If a name is unknown or a value has the wrong type.
    """
    for name in given:
        if name not in known:
            hint = known_instead(name, known)
            raise RequestError(f"this notebook has no parameter {name!r}", file=file, hint=hint)
    values = {}
    for name, parameter in known.items():
        value = given.get(name, parameter.default)
        try:
            values[name] = TypeAdapter(parameter.kind).validate_python(value, strict=True)
        except ValidationError as error:
            problem = error.errors()[0]
            meant = problem["msg"].replace("Input should be", "it must be")
            hint = f"Its default is {parameter.default!r}."
            if problem["type"] == "string_type":
                hint += " papermill -r passes text as it is."
            raise RequestError(
                f"the parameter {name!r} cannot be {value!r}: {meant}", file=file, hint=hint
            ) from error
    return values


def of_kernel(inputs: Sequence[str]) -> tuple[dict[str, Parameter], list[str]]:
    """Return the parameters of the notebook in a kernel, and the names of those that papermill passed.

    A kernel does not know its notebook, but keeps the code that it has run. A cell declares parameters if it has
    type annotations, or if the next cell is the one that papermill adds. Without such a cell, nothing is known.

    Parameters
    ----------
    inputs
        The code of the cells that were run, in order.
    """
    known: dict[str, Parameter] = {}
    given: list[str] = []
    for source, following in zip(inputs, [*inputs[1:], ""], strict=True):
        injected = following if following.startswith(_INJECTED) else ""
        with suppress(ReportError):
            cell = declared(source)
            typed = any(isinstance(node, ast.AnnAssign) for node in ast.parse(source).body)
            if cell and (injected or (typed and not given)):
                known, given = cell, _assigned(injected)
    return known, given


_INJECTED: Final = "# Parameters\n"
"""The beginning of the cell that papermill adds below the one with the tag ``parameters``."""


def _assigned(source: str) -> list[str]:
    statements = ast.parse(source).body
    return [ast.unparse(target) for one in statements if isinstance(one, ast.Assign) for target in one.targets]
