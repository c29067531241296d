"""The tool iozone and its command line options; see ``iozone -h``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from fsbench_kit.formats.command_line import (
    CommandLine,
    OptionNames,
    all_own,
    getopt_words,
    own,
    plain,
    setting_of,
    truth,
)
from fsbench_kit.formats.iozone.measures import TESTS_BY_NUMBER
from fsbench_kit.formats.tool import Tool
from fsbench_kit.model.records import Run, Setting
from fsbench_kit.model.units import size


def _in_kib(value: str) -> str:
    """Convert a size of iozone, whose default unit is kB of 1024 bytes."""
    return str(size(value if value[-1:].isalpha() else f"{value}k"))


_OPTIONS: Final[OptionNames] = {
    "-I": ("direct", truth),
    "-b": ("output", plain),
    "-f": ("directory", plain),
    "-j": ("stride", plain),
    "-o": ("sync", truth),
    "-r": ("block_size", _in_kib),
    "-s": ("file_size", _in_kib),
    "-t": ("threads", plain),
    **{flag: (f"iozone.{flag}", _in_kib) for flag in ("-g", "-n", "-q", "-y", "-S")},
}
_FLAGS: Final = "aABb:cCd:DeEf:F:g:GhH:i:Ij:J:k:Kl:L:mMn:NoOpP:q:Qr:Rs:S:t:Tu:U:vV:wWxX:y:Y:zZ+:"
# The next word belongs to these options: -+p 30. They all consist of -+ and a letter.
_OPERAND: Final = re.compile(r"(?<!\S)(-\+[abchimpqwxyACHKOPQRSW])\s+(?=[^\s-])")
_NUMBERS: Final = frozenset({"-g", "-i", "-j", "-l", "-n", "-q", "-r", "-s", "-t", "-u", "-y", "-S"})
_NUMBER: Final = re.compile(r"\d+[kmgtKMGT]?|.*\$.*")


def _words(arguments: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options with their values, and the words that do not belong to any."""
    return getopt_words(_OPERAND.sub(r"\1", arguments), _FLAGS)


def _settings(arguments: str) -> Iterator[tuple[str, str]]:
    values: dict[str, list[str]] = {}  # -i, -r and -s can be repeated, in which case all of them apply
    for flag, value in _words(own(arguments))[0]:
        if flag == "-+":
            key, known = f"iozone.-+{value[:1]}", value[1:] or "true"
        else:
            key, known = setting_of("iozone", _OPTIONS, flag, value or "true")
        values.setdefault(key, []).append(known)
    for key, known_values in values.items():
        yield key, ",".join(dict.fromkeys(known_values))


def _takes(arguments: str) -> bool:
    pairs, stray = _words(all_own(arguments))
    return (
        bool(pairs)
        and (not stray or "-F" in dict(pairs))
        and all(_NUMBER.fullmatch(value) for flag, value in pairs if flag in _NUMBERS)
    )


def has_stray_words(command: str) -> bool:
    """Whether an iozone command has words that belong to no option, as if a copy had broken it inside a word.

    >>> has_stray_words("iozone -a -s 10 24 -i 0"), has_stray_words("iozone -t 2 -F one two")
    (True, False)
    """
    pairs, stray = _words(command.partition("iozone")[2])
    return not pairs or (bool(stray) and "-F" not in dict(pairs))


COMMAND: Final = CommandLine(program="iozone3?", settings=_settings, takes=_takes)


def _misfits(command: Sequence[Setting], run: Run) -> Iterator[str]:
    """Check the sizes, tests and threads of a command against those of a run's figures."""
    given = {item.key: item.value for item in command}
    figures = [item for item in run.measurements if item.primary and item.file_size is not None]
    for key, (least, most), (from_flag, to_flag) in _SIZES:
        found = {size for item in figures if (size := getattr(item, key)) is not None}
        if key in given:
            strange = found - _numbers_of(given[key], found)
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
    if all(test.isdecimal() and int(test) < len(TESTS_BY_NUMBER) and TESTS_BY_NUMBER[int(test)] for test in tests):
        asked = {name for test in tests for name in TESTS_BY_NUMBER[int(test)]}
        others = {item.operation for item in figures} - asked
        if others:
            yield f"the log has {', '.join(sorted(others))}, for which the command does not ask"
    threads = {item.threads for item in figures if item.threads is not None}
    if "threads" in given and not threads <= _numbers_of(given["threads"], threads):
        logged = ", ".join(map(str, sorted(threads)))
        yield f"threads is {logged} in the log, and {given['threads']} in the command"


def _numbers_of(text: str, otherwise: set[int]) -> set[int]:
    """Return the numbers in a list; anything else could be any number."""
    words = text.split(",")
    return set(map(int, words)) if all(map(str.isdecimal, words)) else otherwise


_SIZES: Final = (
    ("file_size", (str(64 * 2**10), str(512 * 2**20)), ("-n", "-g")),
    ("block_size", (str(4 * 2**10), str(16 * 2**20)), ("-y", "-q")),
)
"""The smallest and largest size in auto mode, and the options that override them."""

TOOL: Final = Tool(
    name="iozone",
    command=COMMAND,
    buffered=frozenset({"fwrite", "frewrite", "fread", "freread"}),
    misfits=_misfits,
)
