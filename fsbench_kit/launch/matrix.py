"""Lists in a plan: each key with a list is varied, and the plan becomes the product of all lists.

::

    [[target]]
    kind = "loop"
    filesystem = ["ext4", "xfs"]
    mount_options = ["", "noatime"]
    size = "512M"

    [[workload]]
    tool = "fio"
    rw = ["randread", "randwrite"]
    iodepth = [1, 4, 16]
    ...

    [[exclude]]             # a target and a workload with all of these values do not run together
    filesystem = "xfs"
    iodepth = [4, 16]

This makes four targets and six workloads, with names like ``ext4-noatime`` and ``randread-iodepth4``. A key whose
value is a list already, such as ``mkfs_options``, is varied by a list of lists. A list for a key in `OF_WORKLOADS`
or `OF_TARGETS` at the top of a plan applies to each workload or target that does not set the key itself.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from fsbench_kit.launch.plan_errors import Place, PlanError, tagged
from fsbench_kit.launch.schema import PlanTable, named, program
from fsbench_kit.launch.targets import Target
from fsbench_kit.launch.tuning import OF_DEVICES
from fsbench_kit.launch.workloads import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


Table = dict[str, Any]

MODELS: Final = {
    "target": tagged(Target, "kind"),
    "otherwise": tagged(Target, "kind"),
    "workload": tagged(Workload, "tool"),
    "precondition": tagged(Workload, "tool"),
}
"""List of tables -> the key that determines the kind of each table, and the model for each value of that key."""

OF_WORKLOADS: Final = ("drop_caches", "trim")
"""Keys of the plan that may be varied and that a workload may set itself."""
OF_TARGETS: Final = ("filesystems",)
"""Keys of the plan that may be varied and that a target may set itself."""

_LONGEST: Final = 24
"""The longest text that becomes part of a name."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """A plan with its lists expanded.

    Attributes
    ----------
    tables
        The plan: each combination is a table with a name and the values that were `varied` for it.
    origins
        List of tables -> for each table, the number of the table in the file that it came from.
    """

    tables: Table
    origins: dict[str, list[int]]


def expand(plan: Mapping[str, Any]) -> Expanded:
    """Expand each list into one table per value. Anything invalid is passed on for later checks to refuse.

    Raises
    ------
    PlanError
        If ``[[exclude]]`` names something that no target and no workload has.
    """
    tables = dict(plan)
    for keys, lists in ((OF_WORKLOADS, ("workload",)), (OF_TARGETS, ("target", "otherwise"))):
        for key in keys:
            if isinstance(tables.get(key), list):
                values = tables.pop(key)
                for name in lists:
                    tables[name] = [{key: values, **table} for table in _tables(tables, name)]
    _spread_tuning(tables)
    origins = {}
    for name, (tag, models) in MODELS.items():
        if not isinstance(tables.get(name), list):
            continue
        found = [
            (number, one)
            for number, table in enumerate(tables[name])
            for one in (_combined(table, tag, models, Place(name, number)) if isinstance(table, dict) else [table])
        ]
        tables[name] = [table for _, table in found]
        origins[name] = [number for number, _ in found]
    if isinstance(tables.get("exclude"), list):
        _exclude(tables, origins)
    return Expanded(tables, origins)


def _spread_tuning(plan: Table) -> None:
    """Move lists among the plan's kernel settings to the tables that they vary."""
    tuning = plan.get("tuning")
    if not isinstance(tuning, dict):
        return
    plan["tuning"] = {key: value for key, value in tuning.items() if not isinstance(value, list)}
    for key in tuning.keys() - plan["tuning"].keys():
        for name in ("target", "otherwise") if key in OF_DEVICES else ("workload",):
            if isinstance(plan.get(name), list):
                plan[name] = [
                    {**table, "tuning": {key: tuning[key], **table.get("tuning", {})}}
                    for table in _tables(plan, name)
                ]


def _tables(plan: Table, name: str) -> list[Table]:
    tables = plan.get(name)
    return [table for table in tables if isinstance(table, dict)] if isinstance(tables, list) else []


def _combined(table: Table, tag: str, models: Mapping[str, type[PlanTable]], at: Place) -> list[Table]:
    """Return a table for each combination of the values in a table's lists."""
    model = models.get(str(table.get(tag)))
    axes = list(_axes(table, model)) if model is not None else []
    if not axes:
        return [table]
    for key, values in axes:
        if twice := next((value for number, value in enumerate(values) if value in values[:number]), None):
            what = f'"{key[-1]}" lists {twice} twice'
            raise PlanError(what, Place(at.table, at.number, key[0]), hint="Write each value once.")
    combinations = list(product(*(values for _, values in axes)))
    names = _names(table, tag, axes, combinations)
    found = []
    for name, combination in zip(names, combinations, strict=True):
        one: Table = {**table, "name": name}
        for (key, _), value in zip(axes, combination, strict=True):
            if len(key) > 1:
                one[key[0]] = {**one[key[0]], key[1]: value}
            else:
                one[key[0]] = value
        varied = {key[-1]: _text(value) for (key, _), value in zip(axes, combination, strict=True)}
        found.append({**one, "varied": varied})
    return found


def _axes(table: Table, model: type[PlanTable]) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Yield each varied key with its values; the key of an option in a table of options is a pair."""
    for key, value in table.items():
        field = model.model_fields.get(key)
        if field is None or key in {"name", "varied"}:
            continue
        if isinstance(value, dict):
            inner = ((option, values) for option, values in value.items() if isinstance(values, list) and values)
            yield from (((key, option), values) for option, values in inner)
        elif isinstance(value, list) and value:
            # Hosts are a table and may be written as a list.
            example = next(iter(field.examples or ()), None)
            if _depth(value) > max(_lists_in(field.annotation), _depth(example)):
                yield (key,), value


def _lists_in(annotation: Any) -> int:
    """Return how deeply lists are nested in the type of a key."""
    within = max(map(_lists_in, get_args(annotation)), default=0)
    return within + (get_origin(annotation) is tuple)


def _depth(value: Any) -> float:
    """Return how deeply lists are nested in a value; an empty list fits any depth."""
    return 1 + min(map(_depth, value), default=math.inf) if isinstance(value, list) else 0


def _text(value: Any) -> str:
    """Return a value as a setting has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return (" ".join(map(_text, value)) if isinstance(value, list) else str(value)) or "none"


def _names(
    table: Table,
    tag: str,
    axes: Sequence[tuple[tuple[str, ...], list[Any]]],
    combinations: Sequence[Sequence[Any]],
) -> list[str]:
    """Name the combinations, by their values alone if these are distinct."""
    keys = [key[-1] for key, _ in axes]
    telling = any(
        key[-1] == "command" or all(isinstance(value, str) and value[:1].isalpha() for value in values)
        for key, values in axes
    )
    own = table.get("name") or (None if "filesystem" in keys else table.get("filesystem"))
    base = own or ("" if telling else table.get(tag))
    base = _clean(base) if isinstance(base, str) else ""
    short = [[_part(key, value) for key, value in zip(keys, values, strict=True)] for values in combinations]
    whole = [
        [_clean(f"{key}-{_text(value)}") for key, value in zip(keys, values, strict=True)]
        for values in combinations
    ]
    for parts in (short, whole):
        names = ["-".join(filter(None, (base, *some))) or _clean(str(table.get(tag))) for some in parts]
        if len(set(names)) == len(names) and max(map(len, names)) <= _LONGEST * len(axes) + len(base):
            return names
    return [f"{base or table.get(tag)}-{number}" for number in range(1, len(combinations) + 1)]


def _part(key: str, value: Any) -> str:
    """Return a value as part of a name.

    >>> _part("iodepth", 4), _part("bs", "4k"), _part("direct", False), _part("mount_options", "noatime,nobarrier")
    ('iodepth4', 'bs4k', 'no-direct', 'noatime-nobarrier')
    >>> _part("scheduler", "none"), _part("command", ["git", "clone", "/srv/linux"])
    ('no-scheduler', 'git')
    """
    if key == "command":
        return _clean(program(value))
    if isinstance(value, bool) or value == "none":
        return key if value is True else f"no-{key}"
    text = _clean(_text(value)) if value not in ("", []) else ""
    return f"{key}{text}" if text[:1].isdigit() else text


def _clean(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text.replace("+", "")).strip("-._")


def _exclude(plan: Table, origins: dict[str, list[int]]) -> None:
    """Apply ``[[exclude]]``: drop what never runs, and record which workloads skip which targets."""
    targets = [*_tables(plan, "target"), *_tables(plan, "otherwise")]
    workloads = _tables(plan, "workload")
    without: dict[str, set[str]] = {}
    for number, rule in enumerate(plan["exclude"]):
        if not isinstance(rule, dict):
            return
        of_target, of_workload = _sides(rule, targets, workloads, number)
        pairs = [
            (_name(target), _name(workload))
            for target, workload in product(targets, workloads)
            if _matches(target, of_target) and _matches(workload, of_workload)
        ]
        if not pairs:
            what = "this excludes nothing: no workload and target have these values"
            raise PlanError(what, Place("exclude", number), hint="Write the values exactly as in the plan.")
        for target, workload in pairs:
            without.setdefault(target, set()).add(workload)
    names = [_name(workload) for workload in workloads]
    nowhere = {name for name in names if all(name in without.get(_name(target), ()) for target in targets)}
    for key, gone in (
        ("workload", nowhere),
        *(
            (key, {name for name, some in without.items() if some >= set(names)})
            for key in ("target", "otherwise")
        ),
    ):
        if key in origins:
            left = [one for one in zip(plan[key], origins[key], strict=True) if _name(one[0]) not in gone]
            plan[key], origins[key] = [table for table, _ in left], [number for _, number in left]
    plan["exclude"] = [
        {"target": target, "workload": [name for name in names if name in some - nowhere]}
        for target, some in without.items()
        if not some >= set(names) and some - nowhere
    ]


def _sides(
    rule: Table, targets: Sequence[Table], workloads: Sequence[Table], number: int
) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """Return the conditions that a rule sets for targets and for workloads, as keys and values."""
    sides: dict[str, list[tuple[str, Any]]] = {"target": [], "workload": []}
    tables = {"target": targets, "workload": workloads}
    for key, value in rule.items():
        if key in sides and isinstance(value, dict):
            sides[key] += value.items()
        elif key in sides:
            sides[key].append(("name", value))
        else:
            having = [side for side in sides if any(_of(table, key) is not _NONE for table in tables[side])]
            at = Place("exclude", number, key)
            if not having:
                hint = "Use a key that they have, or a name: target = ..., workload = ..."
                raise PlanError(f'no target and no workload has the key "{key}"', at, hint=hint)
            if len(having) > 1:
                what = f'both targets and workloads have the key "{key}"'
                raise PlanError(what, at, hint=f"Say which is meant: target.{key} or workload.{key}")
            sides[having[0]].append((key, value))
    return sides["target"], sides["workload"]


_NONE: Final = object()


def _of(table: Table, key: str) -> object:
    """Return a table's value for a key, or for a key of a nested table."""
    inner = (options for name in ("options", "tuning", "aged") if isinstance(options := table.get(name), dict))
    return table.get(key, next((options[key] for options in inner if key in options), _NONE))


def _matches(table: Table, wanted: Sequence[tuple[str, Any]]) -> bool:
    return all(
        (_name(table) if key == "name" else _of(table, key)) in (value if isinstance(value, list) else [value])
        for key, value in wanted
    )


def _name(table: object) -> str:
    """Return the name of a table, including the default that its model will give it."""
    return str(named(table).get("name", "")) if isinstance(table, dict) else ""
