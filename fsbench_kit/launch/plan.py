"""What is to be launched: a TOML file, read and checked. Nothing here does any of it.

::

    id = "quick"
    title = "ext4 and XFS in loop images"
    rounds = 6           # passes over all targets and workloads, each in a random order of its own
    seed = 20240501      # decides these orders and the data

    [budget]             # no run starts once either is used up
    seconds = 180
    bytes = "2G"

    [[target]]           # needs root
    kind = "loop"
    name = "xfs"
    filesystem = "xfs"
    size = "512M"

    [[otherwise]]        # stands in where a target above cannot be had on this machine
    kind = "directory"
    name = "project"
    directory = "."

    [[workload]]
    tool = "fio"
    name = "randwrite"
    optional = true      # left out where fio is not installed
    rw = "randwrite"
    ...
"""

from __future__ import annotations

import difflib
import json
import random
import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

from pydantic import Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from fsbench_kit.errors import InputError
from fsbench_kit.launch.schema import Count, Name, Seconds, Size, Table, Truth
from fsbench_kit.launch.workloads import Workload
from fsbench_kit.units import humanise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

LoopFilesystem = Literal["ext2", "ext3", "ext4", "xfs", "btrfs"]

_Directory = Annotated[
    str,
    Field(
        min_length=1, description="a directory, relative to the project's root or absolute", examples=["scratch"]
    ),
]
# No slash in these: a path could name a device, and mkfs or mount would write to it.
_MkfsWords = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[^/]+$")], ...],
    Field(strict=False, description='a list of words without "/"', examples=[["-m", "reflink=0"]]),
]
_MountWords = Annotated[
    str,
    Field(
        pattern=r"^[\w=.:-]+(,[\w=.:-]+)*$",
        description='mount options with commas between them, without "/"',
        examples=["noatime"],
    ),
]
IMAGE_SHARE: Final = 0.75
"""The share of an image that a workload may fill: filesystems need room for themselves."""


class Budget(Table):
    """What a launch may use up. A run that has begun is finished."""

    seconds: Seconds
    bytes: Size


class DirectoryTarget(Table):
    """A directory on a filesystem that is mounted already. Needs no privileges.

    Runs write in fresh subdirectories of it, which are removed afterwards.

    Attributes
    ----------
    distinct
        Leave this target out where it lies on the same filesystem as one before it.
    """

    kind: Literal["directory"]
    name: Name
    directory: _Directory
    distinct: Truth = False


class LoopTarget(Table):
    """An image file that is formatted and mounted afresh for each run. Needs root.

    Attributes
    ----------
    directory
        Where the image lies; without it, where the results go.
    mkfs_options, mount_options
        Words for mkfs, and what follows mount's ``-o``.
    """

    kind: Literal["loop"]
    name: Name
    filesystem: Annotated[
        LoopFilesystem,
        Field(description="one of " + ", ".join(f'"{f}"' for f in get_args(LoopFilesystem)), examples=["xfs"]),
    ]
    size: Size
    directory: _Directory | None = None
    mkfs_options: _MkfsWords = ()
    mount_options: _MountWords | None = None


Target = Annotated[DirectoryTarget | LoopTarget, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Cell:
    """One run to make: which round, and which workload on which target."""

    round: int
    target: DirectoryTarget | LoopTarget
    workload: Workload


def _tables(name: str, *, at_least: int = 0) -> Any:
    description = f"a list of tables, each under a [[{name}]] of its own" + (
        ", and at least one" if at_least else ""
    )
    return Field(strict=False, min_length=at_least, description=description)


class Plan(Table):
    """What to launch.

    Attributes
    ----------
    id, title
        Names of the study.
    rounds
        How often each workload runs on each target. Runs of one round are a block.
    seed
        Decides the order of the runs, and the data that they write.
    timeout
        Seconds after which a run is ended and counts as failed.
    drop_caches
        Whether the kernel's caches are dropped before each run, where that is permitted. Say ``false`` on a
        machine that others use.
    target, otherwise, workload
        What to run, and on what. `otherwise` stands in for all of `target` where one of these cannot be had.
    """

    id: Name
    title: Annotated[str, Field(min_length=1, description="a line of text", examples=["ext4 and XFS"])]
    rounds: Count
    seed: Annotated[int, Field(ge=0, description="a whole number of at least 0", examples=[20240501])]
    timeout: Seconds = 300
    drop_caches: Truth = True
    budget: Annotated[Budget, Field(description='a table with "seconds" and "bytes"')]
    target: Annotated[tuple[Target, ...], _tables("target", at_least=1)]
    otherwise: Annotated[tuple[Target, ...], _tables("otherwise")] = ()
    workload: Annotated[tuple[Workload, ...], _tables("workload", at_least=1)]

    @model_validator(mode="after")
    def _fits_together(self) -> Plan:
        for key in ("target", "otherwise", "workload"):
            _refuse_equal_names(key, [table.name for table in getattr(self, key)])
        for key in ("target", "otherwise"):
            for number, target in enumerate(getattr(self, key)):
                for workload in self.workload if isinstance(target, LoopTarget) else ():
                    _refuse_overfull(_Place(key, number, "size"), target, workload)
        self._refuse_over_budget()
        return self

    def _refuse_over_budget(self) -> None:
        runs = self.rounds * len(self.target)
        seconds = runs * sum(w.least_seconds for w in self.workload)
        if seconds > self.budget.seconds:
            what = f"the runs take {seconds:g} s at least, and the budget is {self.budget.seconds:g} s"
            at = _Place("budget", key="seconds")
            raise _MistakeError(what, at, hint="Raise it, or plan fewer rounds or shorter runs.")
        written = runs * sum(w.least_written for w in self.workload)
        if written > self.budget.bytes:
            what = f"the runs write {_bytes(written)} at least, and the budget is {_bytes(self.budget.bytes)}"
            at = _Place("budget", key="bytes")
            raise _MistakeError(what, at, hint="Raise it, or plan fewer rounds or smaller files.")


def schedule(plan: Plan) -> tuple[Cell, ...]:
    """Return all runs in the order in which they are to be made.

    Each round has every workload on every target once, in a random order of its own: then a drift of the machine
    hits all targets alike, and runs of one round can be compared as pairs. The order depends on the seed alone.
    """
    chance = random.Random(plan.seed)  # noqa: S311
    order = []
    for number in range(1, plan.rounds + 1):
        cells = [Cell(number, target, workload) for target in plan.target for workload in plan.workload]
        # Of all methods of Random, only random() is promised to give the same in every version of Python.
        order += sorted(cells, key=lambda _: chance.random())
    return tuple(order)


def read_plan(path: Path) -> Plan:
    """Read and check a plan.

    Raises
    ------
    InputError
        If the file cannot be read, or is no plan. It names the file and line, what is wrong there, and what may
        stand there.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the plan cannot be read: {error}", file=path) from None
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        number = int(line[1]) if line else len(text.splitlines())
        raise InputError(
            f"this is not TOML: {error}",
            file=path,
            line=number,
            excerpt=_excerpt(text, number),
            hint="Text needs quotes, a table starts with [name], an entry of a list of tables with [[name]].",
        ) from None
    try:
        return Plan.model_validate(tables)
    except ValidationError as error:
        raise _as_input_error(error, text, path) from None


def plan_text(plan: Plan) -> str:
    """Write a plan as TOML that `read_plan` reads back: all defaults explicit, all sizes in bytes."""
    values = plan.model_dump(mode="json", exclude_none=True)
    return "".join(_toml(values))


def _toml(values: Mapping[str, Any], header: str = "") -> Iterator[str]:
    if header:
        yield f"\n{header}\n"
    for key, value in values.items():
        if not isinstance(value, dict) and not _is_tables(value):
            # JSON's text, numbers, truth and lists of these are TOML's
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _toml(value, f"[{key}]")
        elif _is_tables(value):
            for table in value:
                yield from _toml(table, f"[[{key}]]")


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


# ---- what is wrong, and where


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in a plan: a key of the plan itself, of a table, or of one in a list of tables."""

    table: str | None = None
    number: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        if self.table is None:
            return "the plan"
        return f"[{self.table}]" if self.number is None else f"[[{self.table}]]"

    def line(self, text: str) -> int | None:
        """Return the line where the key stands, else that of its table's header, else ``None``.

        Texts over several lines and tables written within a line are not looked into.
        """
        key = re.compile(rf"""\s*["']?{re.escape(self.key or "")}["']?\s*=""")
        table, number, headers, header_line = None, None, 0, None
        for line, content in enumerate(text.splitlines(), 1):
            if header := re.match(r"\s*(\[\[?)\s*([\w-]+)\s*\]", content):
                headers += header[2] == self.table
                table, number = header[2], headers - 1 if header[1] == "[[" else None
                if (table, number) == (self.table, self.number) or (self.table is None and table == self.key):
                    header_line = header_line or line
            elif (table, number) == (self.table, self.number) and key.match(content):
                return line
        return header_line


class _MistakeError(ValueError):
    """Parts of a plan that are right by themselves do not fit together."""

    def __init__(self, what: str, at: _Place, *, hint: str) -> None:
        super().__init__(what)
        self.at = at
        self.hint = hint


def _refuse_equal_names(key: str, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            what = f'two [[{key}]] are called "{name}"'
            raise _MistakeError(what, _Place(key, number, "name"), hint="Give each a name of its own.")


def _refuse_overfull(at: _Place, target: LoopTarget, workload: Workload) -> None:
    if workload.space > IMAGE_SHARE * target.size:
        what = (
            f'workload "{workload.name}" needs {_bytes(workload.space)}, '
            f"which is too much for an image of {_bytes(target.size)}"
        )
        need = int(workload.space / IMAGE_SHARE / 2**20) + 1
        raise _MistakeError(what, at, hint=f'Write for example: size = "{need}M"')


def _bytes(number: int) -> str:
    return humanise(number, "B")


@dataclass(frozen=True, slots=True)
class _Explanation:
    what: str
    line: int | None
    hint: str | None


def _as_input_error(errors: ValidationError, text: str, path: Path) -> InputError:
    """Say the first mistake in full, and the others in a line each."""
    mistakes = [
        _explain(error, text)
        for error in errors.errors()
        if not (error["type"] == "too_short" and error["input"])  # its entries are there, and have mistakes
    ]
    first, *others = sorted(mistakes, key=lambda mistake: (mistake.line is None, mistake.line))
    hints = [first.hint] if first.hint else []
    if others:
        hints.append("Also:")
        hints += [str(InputError(other.what, file=path, line=other.line)) for other in others]
    excerpt = _excerpt(text, first.line) if first.line else None
    return InputError(first.what, file=path, line=first.line, excerpt=excerpt, hint="\n".join(hints) or None)


def _explain(error: ErrorDetails, text: str) -> _Explanation:
    mistake = error.get("ctx", {}).get("error")
    if isinstance(mistake, _MistakeError):
        return _Explanation(str(mistake), mistake.at.line(text), mistake.hint)
    at, model = _place(error["loc"])
    line = at.line(text)
    if error["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return _explain_kind(at, text, error["input"])
    if at.key is None:
        return _Explanation(f"{at} must be a table", line, f"Write {at} on a line of its own.")
    if error["type"] == "extra_forbidden":
        return _Explanation(f'"{at.key}" is not a key of {at}', line, _known(at, model))
    allowed, example = _help(model.model_fields[at.key])
    hint = f"Write for example: {at.key} = {json.dumps(example)}" if example is not None else None
    if error["type"] == "literal_error" and (close := _close(error["input"], re.findall(r'"(\w+)"', allowed))):
        hint = close
    if error["type"] == "missing":
        return _Explanation(f'"{at.key}" is missing from {at}: {allowed}', line, hint)
    return _Explanation(f'"{at.key}" must be {allowed}, not {_shown(error["input"])}', line, hint)


def _place(loc: tuple[str | int, ...]) -> tuple[_Place, type[Table]]:
    """Return where pydantic found a mistake, and the model of the table there."""
    match loc:
        case ("budget", str(key), *_):
            return _Place("budget", key=key), Budget
        case (str(table), int(number), str(kind), str(key), *_):
            return _Place(table, number, key), _KINDS[table][1][kind]
        case (str(table), int(number), *_):
            return _Place(table, number), Plan
        case _:
            return _Place(key=str(loc[0])), Plan


def _explain_kind(at: _Place, text: str, table: Mapping[str, object]) -> _Explanation:
    """Explain a ``kind`` or ``tool`` that is missing or unknown."""
    key, kinds = _KINDS[at.table or ""]
    line = replace(at, key=key).line(text)
    allowed = " or ".join(f'"{kind}"' for kind in kinds)
    if key not in table:
        return _Explanation(f'"{key}" is missing from {at}: {allowed}', line, None)
    return _Explanation(f'"{key}" must be {allowed}, not {_shown(table[key])}', line, _close(table[key], kinds))


def _known(at: _Place, model: type[Table]) -> str:
    if at.table is not None and at.key in Plan.model_fields:
        return "It is a key of the whole plan: write it above the first table."
    known = "Known are: " + ", ".join(model.model_fields) + "."
    close = _close(at.key, model.model_fields)
    return f"{close} {known}" if close else known


def _close(word: object, known: Iterable[str]) -> str | None:
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f'Did you mean "{close[0]}"?' if close else None


def _help(field: FieldInfo) -> tuple[str, object]:
    """Return what a field must be, and an example."""
    hints = [field]
    for option in get_args(field.annotation):  # a field that may be absent is a union with None
        hints += [extra for extra in getattr(option, "__metadata__", ()) if isinstance(extra, FieldInfo)]
    described = next(hint for hint in hints if hint.description)
    return str(described.description), next(iter(described.examples or ()), None)


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _excerpt(text: str, line: int) -> str:
    return text.splitlines()[line - 1].strip()


def _tagged(union: Any, tag: str) -> tuple[str, dict[str, type[Table]]]:
    models = get_args(get_args(union)[0])
    return tag, {get_args(model.model_fields[tag].annotation)[0]: model for model in models}


_KINDS: Final = {
    "target": _tagged(Target, "kind"),
    "otherwise": _tagged(Target, "kind"),
    "workload": _tagged(Workload, "tool"),
}
"""List of tables -> the key that says what a table is, and the model for each of its values."""
