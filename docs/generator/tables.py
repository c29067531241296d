"""The tables of study.toml and of plans, from the models that read them."""

from __future__ import annotations

import inspect
import json
import re
import types
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from docs.generator.markdown import attributes, code, markdown, table
from fsbench_kit.data import study
from fsbench_kit.launch.ageing import Ageing
from fsbench_kit.launch.plan import Budget, Plan
from fsbench_kit.launch.plan_errors import tagged
from fsbench_kit.launch.targets import Target
from fsbench_kit.launch.tuning import Tuning
from fsbench_kit.launch.workloads import Workload

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def study_keys() -> str:
    """Return the keys of each table of a study's description."""
    tables = {
        "[study]": study.StudyFacts,
        "[[log]]": study.LogFacts,
        "[[log.run]]": study.RunOfLog,
        "[[claim]]": study.ClaimFacts,
    }
    parts = ["### The file", _keys(study.StudyDescription)]
    for name, model in tables.items():
        parts += [f"### `{name}`", _summary(model), _keys(model)]
    return "\n\n".join(parts)


def plan_keys() -> str:
    """Return the keys of a plan, and of each kind of target and workload."""
    parts = ["### The plan itself", _keys(Plan)]
    for name, model in (("[budget]", Budget), ("[tuning]", Tuning), ("aged", Ageing)):
        parts += [f"### `{name}`", _summary(model), _keys(model)]
    for name, union, tag in (("target", Target, "kind"), ("workload", Workload, "tool")):
        for value, model in tagged(union, tag)[1].items():
            parts += [f'### `[[{name}]]` with `{tag} = "{value}"`', _described(model), _keys(model)]
    return "\n\n".join(parts)


def _described(model: type[BaseModel]) -> str:
    """Return what the module of a target or workload says first, and its example."""
    doc = markdown(inspect.getdoc(inspect.getmodule(model)) or "").replace("```text", "```toml")
    summary, example = doc.partition("\n")[0], re.search(r"```toml\n.*?\n```", doc, re.DOTALL)
    return "\n\n".join([summary, example[0]] if example else [summary])


def _summary(model: type[BaseModel]) -> str:
    _, _, text = (model.__doc__ or "").partition("\n")[0].rpartition(": ")
    return markdown(text[:1].upper() + text[1:])


def _keys(model: type[BaseModel]) -> str:
    said = attributes(model)
    rows = (
        (f"`{key}`", said.get(key, ""), _allowed(field), _default(field, said.get(key, "")))
        for key, field in model.model_fields.items()
        if key not in _OF_LAUNCHES and (key not in ("kind", "tool") or not _is_tag(field))
    )
    return table(("key", "meaning", "value", "default"), rows)


_OF_LAUNCHES: Final = ("varied",)
"""Keys that only the launch itself writes."""


def _allowed(field: FieldInfo) -> str:
    """Say what a field may be, in the words of error messages where it has some."""
    return field.description or _description(field.annotation) or _type(field.annotation)


def _is_tag(field: FieldInfo) -> bool:
    return len(get_args(field.annotation)) == 1


def _description(annotation: Any) -> str | None:
    """Return the description that a type carries, which may stand in a union."""
    for option in (annotation, *get_args(annotation)):
        for extra in getattr(option, "__metadata__", ()):
            if getattr(extra, "description", None):
                return str(extra.description)
    return None


_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "`true` or `false`"}


def _type(annotation: Any) -> str:
    """Say a type in words."""
    origin, of = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(of[0])
    if origin is Literal:
        return " or ".join(code(json.dumps(value)) for value in of)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(option) for option in of if option is not type(None)))
    if origin is dict:
        return "a table"
    if origin in (tuple, list):
        inner = of[0]
        return "tables" if hasattr(inner, "model_fields") else f"a list of: {_type(inner)}"
    if hasattr(annotation, "model_fields"):
        return "a table"
    return _WORDS.get(annotation, str(annotation))


def _default(field: FieldInfo, said: str) -> str:
    if field.is_required():
        return "" if re.search("without it|by default", said) else "required"
    if field.default_factory is not None or field.default in (None, (), {}):
        return ""
    default = field.default
    return "" if isinstance(default, BaseModel) else code(json.dumps(default))
