"""Whether a run can be what a command line started: what both tell, sizes and tests above all, may not differ."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.iozone_tables import TESTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fsbench_kit.model.records import Run, Setting


def misfit(command: Sequence[Setting], run: Run) -> str | None:
    """Return what of a command is not as in a run; ``None`` where nothing is.

    Parameters
    ----------
    command
        Its settings.
    run
        A run of the command's tool, of which its own figures and settings count, and no command that it has.
    """
    found = _iozone if run.tool == "iozone" else _by_settings
    return next(found(command, run), None)


_TOLD: Final = {
    "bonnie++": ("file_size", "block_size", "threads"),
    "fio": ("pattern", "block_size", "engine", "iodepth"),
    "sysbench": ("pattern", "block_size", "total_size", "files", "threads"),
}
"""The settings that a log tells as its command has them."""

_ROUNDED: Final = 0.01
"""By how much a size can differ that the log rounds."""

_OTHER_DIRECTIONS: Final = {"read": {"write", "trim"}, "write": {"read", "trim"}, "trim": {"read", "write"}}
"""What a run of fio does not do, by its pattern, random or not."""


def _by_settings(command: Sequence[Setting], run: Run) -> Iterator[str]:
    given, logged = _values(command), _values(item for item in run.settings if item.origin == "log")
    for key in _TOLD.get(run.tool, ()):
        if given[key] and logged[key] and not any(_is_same(*pair) for pair in product(given[key], logged[key])):
            yield f"{key} is {', '.join(logged[key])} in the log, and {', '.join(given[key])} in the command"
    if (
        run.tool == "fio" and len(given["pattern"]) == 1 and not given["fio.verify"]
    ):  # which reads what was written
        (pattern,) = given["pattern"]
        done = {item.operation for item in run.measurements if item.metric == "bandwidth" and item.value}
        if others := done & _OTHER_DIRECTIONS.get(pattern.removeprefix("rand"), set()):
            yield f"the log has a {min(others)}, and pattern is {pattern} in the command"


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


def _iozone(command: Sequence[Setting], run: Run) -> Iterator[str]:
    given = {item.key: item.value for item in command}
    figures = [item for item in run.measurements if item.primary and item.file_size is not None]
    for key, (least, most), (from_flag, to_flag) in _SIZES:
        found = {size for item in figures if (size := getattr(item, key)) is not None}
        if key in given:
            strange = found - _numbers(given[key], found)
            wanted = given[key]
        elif "iozone.-a" in given:
            low, high = given.get(f"iozone.{from_flag}", least), given.get(f"iozone.{to_flag}", most)
            strange = {
                size
                for size in found
                if low.isdecimal() and high.isdecimal() and not int(low) <= size <= int(high)
            }
            wanted = f"{low} to {high}"
        else:
            continue
        if strange:
            yield f"{key} is {', '.join(map(str, sorted(strange)))} in the log, and {wanted} in the command"
    tests = given.get("iozone.-i", "").split(",")
    if all(test.isdecimal() and int(test) < len(TESTS) and TESTS[int(test)] for test in tests):
        others = {item.operation for item in figures} - {name for test in tests for name in TESTS[int(test)]}
        if others:
            yield f"the log has {', '.join(sorted(others))}, for which the command does not ask"
    threads = {item.threads for item in figures if item.threads is not None}
    if "threads" in given and not threads <= _numbers(given["threads"], threads):
        told = ", ".join(map(str, sorted(threads)))
        yield f"threads is {told} in the log, and {given['threads']} in the command"


def _numbers(text: str, otherwise: set[int]) -> set[int]:
    """Return the numbers of a list; what is no list of numbers can be anything."""
    words = text.split(",")
    return set(map(int, words)) if all(map(str.isdecimal, words)) else otherwise


_SIZES: Final = (
    ("file_size", (str(64 * 2**10), str(512 * 2**20)), ("-n", "-g")),
    ("block_size", (str(4 * 2**10), str(16 * 2**20)), ("-y", "-q")),
)
"""Of a size the least and the greatest of auto mode, and the options that set others."""
