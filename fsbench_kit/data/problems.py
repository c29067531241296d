"""Explains in plain words what is wrong in a description of a study, a report or a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import BaseModel, ValidationError

from fsbench_kit.model.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic_core import ErrorDetails


def problems(error: ValidationError, model: type[BaseModel]) -> Iterator[str]:
    r"""Yield what is wrong with a description, and with which of its keys, given the model of the description.

    Examples
    --------
    >>> from pydantic import ValidationError
    >>> from fsbench_kit.data.study import StudyDescription
    >>> try:
    ...     StudyDescription.model_validate({"study": {"id": "a", "titel": "A", "year": "new"}})
    ... except ValidationError as error:
    ...     print("\n".join(problems(error, StudyDescription)))
    "title" in [study] is missing
    "year" in [study] must be a whole number, not 'new'
    "titel" in [study] is not a known key. Did you mean title?
    """
    for problem in error.errors():
        yield _place(problem["loc"]) + _what(problem, _keys_at(problem["loc"], model))


def _what(problem: ErrorDetails, keys: Iterable[str]) -> str:
    kind = problem["type"]
    if kind == "missing":
        return " is missing"
    if kind == "extra_forbidden":
        return f" is not a known key. {did_you_mean(str(problem['loc'][-1]), keys)}".rstrip()
    if kind in _MUST_BE:
        return f" must be {_MUST_BE[kind]}, not {problem['input']!r}"
    message = problem["msg"]
    must = message.partition(" should ")[2]
    return f" must {must}" if must and message.startswith(("Input", "String", "List")) else f": {message}"


_MUST_BE: Final = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a table"),
    "string_type": "text in quotes",
}


def _place(loc: tuple[int | str, ...]) -> str:
    """Return a key as written in TOML, with its table."""
    *tables, key = [step for step in loc if isinstance(step, str)] or [""]
    name = ".".join(tables)
    where = f"[[{name}]]" if any(isinstance(step, int) for step in loc[:-1]) else f"[{name}]"
    return f'"{key}" in {where}' if name else f'"{key}"'


def _keys_at(loc: tuple[int | str, ...], model: type[BaseModel]) -> Iterable[str]:
    """Return the keys that the table at a place can have."""
    table: type[BaseModel] | None = model
    for step in loc[:-1]:
        if isinstance(step, str):
            field = table.model_fields.get(step) if table else None
            table = _model_in(field.annotation) if field else None
    return table.model_fields if table else ()


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)
