"""Explains errors in a plan: what is wrong, on which line, and what is allowed there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from fsbench_kit.model.errors import InputError
from fsbench_kit.model.suggestions import did_you_mean
from fsbench_kit.model.toml_lines import lines_of_keys
from fsbench_kit.model.vocabulary import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from fsbench_kit.launch.schema import PlanTable


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a plan: a key of the plan itself, of a table, or of a table in a list."""

    table: str | None = None
    number: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        if self.table is None:
            return "the plan"
        return f"[{self.table}]" if self.number is None else f"[[{self.table}]]"

    def line(self, text: str) -> int | None:
        """Return the line of the key, or else of its table; ``None`` if neither is found."""
        lines = lines_of_keys(text)
        keys = self.key.split(".") if self.key else []
        path = [part for part in (self.table, self.number, *keys) if part is not None]
        return lines.get(tuple(path)) or lines.get(tuple(path[:-1]))


class PlanError(ValueError):
    """Parts of a plan that are valid by themselves contradict each other; raised by the validators of tables.

    In a validator of a table, the place is a key of that table.
    """

    def __init__(self, what: str, at: Place, *, hint: str) -> None:
        super().__init__(what)
        self.at = at
        self.hint = hint


class MissingKeyError(ValueError):
    """A table lacks a key that its other keys make necessary; raised by its validators."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True, slots=True)
class Shape:
    """The models of a plan's tables.

    Attributes
    ----------
    plan
        The model of the plan itself.
    tables
        Single tables: name -> model.
    lists
        List of tables -> the key that determines the kind of each table, and the model for each value of that key.
    origins
        List of tables -> for each table, the number of the table in the file that it came from.
    """

    plan: type[PlanTable]
    tables: Mapping[str, type[PlanTable]]
    lists: Mapping[str, tuple[str, Mapping[str, type[PlanTable]]]]
    origins: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def written(self, place: Place) -> Place:
        """Return the place in the file, if a list was expanded into several tables."""
        numbers = self.origins.get(place.table or "", ())
        if place.number is None or place.number >= len(numbers):
            return place
        return replace(place, number=numbers[place.number])

    def place(self, loc: tuple[str | int, ...]) -> tuple[Place, type[PlanTable]]:
        """Return the place of a pydantic error and the model of the table there."""
        match loc:
            case (str(table), int(number), str(kind), str(key), str(inner), *_) if key in self.tables:
                return Place(table, number, f"{key}.{inner}"), self.tables[key]
            case (str(table), int(number), str(kind), str(key), *_):
                return Place(table, number, key), self.lists[table][1][kind]
            case (str(table), int(number), str(kind)):
                return Place(table, number), self.lists[table][1][kind]
            case (str(table), int(number), *_) if table in self.lists:
                return Place(table, number), self.plan
            case (str(table), str(key), *_) if table in self.tables:
                return Place(table, key=key), self.tables[table]
            case _:
                return Place(key=str(loc[0])), self.plan


def tagged(union: Any, tag: str) -> tuple[str, dict[str, type[PlanTable]]]:
    """Return the entry of `Shape.lists` for a discriminated union of models."""
    models = get_args(get_args(union)[0])
    return tag, {get_args(model.model_fields[tag].annotation)[0]: model for model in models}


@dataclass(frozen=True, slots=True)
class _Explanation:
    what: str
    line: int | None
    hint: str | None


def as_input_error(errors: ValidationError, text: str, path: Path, shape: Shape) -> InputError:
    """Explain the first error in full and the others in one line each."""
    # A list is expanded into one table per value, each of which repeats the same mistake.
    explained = dict.fromkeys(
        _explain(error, text, shape)
        for error in errors.errors()
        if not (error["type"] == "too_short" and error["input"])  # its entries exist but are invalid
        and error["type"] != "default_factory_not_called"  # caused by another error
    )
    first, *others = sorted(explained, key=lambda one: (one.line is None, one.line))
    hints = [first.hint] if first.hint else []
    if others:
        hints.append("Also:")
        hints += [str(InputError(other.what, file=path, line=other.line)) for other in others]
    shown = excerpt(text, first.line) if first.line else None
    return InputError(first.what, file=path, line=first.line, excerpt=shown, hint="\n".join(hints) or None)


def _explain(error: ErrorDetails, text: str, shape: Shape) -> _Explanation:
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, PlanError):
        place = cause.at
        if error["loc"]:  # a table does not know its own position
            found = shape.place(error["loc"])[0]
            place = replace(found, key=place.key or found.key)
        return _Explanation(str(cause), shape.written(place).line(text), cause.hint)
    at, model = shape.place(error["loc"])
    if isinstance(cause, MissingKeyError):
        at = replace(at, key=cause.key)
    at = shape.written(at)
    line = at.line(text)
    if error["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return _explain_kind(at, text, error["input"], shape)
    if at.key is None:
        what = f"{at} must be a table, not {_shown(error['input'])}"
        return _Explanation(what, line, f"Write {at} on a line of its own, with its keys below.")
    if error["type"] == "extra_forbidden":
        return _Explanation(f'"{at.key}" is not a key of {at}', line, _known(at, model, shape))
    allowed, example = _help(model.model_fields[at.key.rpartition(".")[2]])
    hint = f"Write for example: {at.key} = {json.dumps(example)}" if example is not None else None
    words = re.findall(r'"([a-z][\w+]+)"', allowed)
    if error["type"] in {"literal_error", "string_pattern_mismatch"}:
        hint = did_you_mean(str(error["input"]), words) or hint
    if error["type"] == "missing" or isinstance(cause, MissingKeyError):
        return _Explanation(f'"{at.key}" is missing from {at}: {allowed}', line, hint)
    return _Explanation(f'"{at.key}" must be {allowed}, not {_shown(error["input"])}', line, hint)


def _explain_kind(at: Place, text: str, table: Mapping[str, object], shape: Shape) -> _Explanation:
    """Explain a missing or unknown ``kind`` or ``tool``."""
    key, kinds = shape.lists[at.table or ""]
    line = replace(at, key=key).line(text)
    allowed = " or ".join(f'"{kind}"' for kind in kinds)
    if key not in table:
        return _Explanation(f'"{key}" is missing from {at}: {allowed}', line, None)
    close = did_you_mean(str(table[key]), kinds) or None
    return _Explanation(f'"{key}" must be {allowed}, not {_shown(table[key])}', line, close)


def _known(at: Place, model: type[PlanTable], shape: Shape) -> str:
    if at.table is not None and at.key in shape.plan.model_fields:
        return "It is a key of the whole plan: write it above the first table."
    # Keys of the whole plan that a table may also set come last; only the launch itself writes `varied`.
    keys = sorted(
        (key for key in model.model_fields if key != "varied"), key=lambda key: key in shape.plan.model_fields
    )
    word = str(at.key).rpartition(".")[2]
    meant = next((option for option, setting in OPTIONS.items() if setting == word and option in keys), None)
    close = f"Did you mean {meant}?" if meant else did_you_mean(word, keys)
    return f"{close} Known keys: {', '.join(keys)}.".strip()


def _help(field: FieldInfo) -> tuple[str, object]:
    """Return what a field must be, and an example."""
    hints = [field]
    for option in get_args(field.annotation):  # an optional field is a union with None
        hints += [extra for extra in getattr(option, "__metadata__", ()) if isinstance(extra, FieldInfo)]
    if words := _words(field.annotation):
        return f"one of {', '.join(map(_shown, words))}", next(iter(field.examples or words))
    described = next(hint for hint in hints if hint.description)
    return str(described.description), next(iter(described.examples or ()), None)


def _words(annotation: Any) -> tuple[str, ...]:
    """Return the words that a field is restricted to, if it is."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next(filter(None, map(_words, get_args(annotation))), ())


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def excerpt(text: str, line: int) -> str:
    """Return a line as it is quoted in an error."""
    return text.splitlines()[line - 1].strip()
