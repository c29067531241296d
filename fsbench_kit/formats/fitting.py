"""Checks whether a run can be the result of a command line: settings that both state must not differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from fsbench_kit import formats
from fsbench_kit.model.records import Run, Setting


def misfit(command: Sequence[Setting], run: Run) -> str | None:
    """Return what contradicts a command in a run of its tool; ``None`` if nothing does.

    Only the run's own figures and settings count, not commands that are attributed to it.
    """
    tool = formats.TOOLS[run.tool]
    return next(_logged_otherwise(tool.logged, command, run), None) or next(tool.misfits(command, run), None)


_ROUNDED: Final = 0.01
"""The relative tolerance for sizes, which logs round."""


def _logged_otherwise(keys: Iterable[str], command: Sequence[Setting], run: Run) -> Iterator[str]:
    given, logged = _values(command), _values(item for item in run.settings if item.origin == "log")
    for key in keys:
        if given[key] and logged[key] and not any(_is_same(*pair) for pair in product(given[key], logged[key])):
            yield f"{key} is {', '.join(logged[key])} in the log, and {', '.join(given[key])} in the command"


def _values(settings: Iterable[Setting]) -> Mapping[str, Sequence[str]]:
    """Return the values of each setting; jobs can have different ones."""
    found: dict[str, list[str]] = defaultdict(list)
    for item in settings:
        if item.value not in found[item.key]:
            found[item.key].append(item.value)
    return found


def _is_same(one: str, other: str) -> bool:
    """Whether two values can be equal; lists, and numbers with other values, are not compared."""
    if one.isdecimal() and other.isdecimal():
        return abs(int(one) - int(other)) <= _ROUNDED * int(one)
    if one.isdecimal() or other.isdecimal() or not (one.isalnum() and other.isalnum()):
        return True
    return _SAME_PATTERN.get(one, one) == _SAME_PATTERN.get(other, other)


_SAME_PATTERN: Final = {"readwrite": "rw"}
