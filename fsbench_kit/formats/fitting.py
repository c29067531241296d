"""Whether a run can be what a command line started: what both tell, sizes and tests above all, may not differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from fsbench_kit import formats
from fsbench_kit.model.records import Run, Setting


def misfit(command: Sequence[Setting], run: Run) -> str | None:
    """Return what of a command is not as in a run of its tool; ``None`` where nothing is.

    Of the run its own figures and settings count, and no command that it has.
    """
    tool = formats.TOOLS[run.tool]
    return next(_told_otherwise(tool.told, command, run), None) or next(tool.misfits(command, run), None)


_ROUNDED: Final = 0.01
"""By how much a size can differ that the log rounds."""


def _told_otherwise(keys: Iterable[str], command: Sequence[Setting], run: Run) -> Iterator[str]:
    given, logged = _values(command), _values(item for item in run.settings if item.origin == "log")
    for key in keys:
        if given[key] and logged[key] and not any(_is_same(*pair) for pair in product(given[key], logged[key])):
            yield f"{key} is {', '.join(logged[key])} in the log, and {', '.join(given[key])} in the command"


def _values(settings: Iterable[Setting]) -> Mapping[str, Sequence[str]]:
    """Return what each setting is, which several jobs can have several values of."""
    found: dict[str, list[str]] = defaultdict(list)
    for item in settings:
        if item.value not in found[item.key]:
            found[item.key].append(item.value)
    return found


def _is_same(one: str, other: str) -> bool:
    """Whether two values can be one; what is a list, or not a number beside one, is not compared."""
    if one.isdecimal() and other.isdecimal():
        return abs(int(one) - int(other)) <= _ROUNDED * int(one)
    if one.isdecimal() or other.isdecimal() or not (one.isalnum() and other.isalnum()):
        return True
    return _SAME_PATTERN.get(one, one) == _SAME_PATTERN.get(other, other)


_SAME_PATTERN: Final = {"readwrite": "rw"}
