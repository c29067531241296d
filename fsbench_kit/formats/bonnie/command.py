"""The tool bonnie++ and its command line options; see ``bonnie++(8)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fsbench_kit.formats.command_line import (
    CommandLine,
    OptionNames,
    getopt_words,
    in_bytes,
    plain,
    setting_of,
    truth,
)
from fsbench_kit.formats.tool import Tool

_OPTIONS: Final[OptionNames] = {
    "-D": ("direct", truth),
    "-c": ("threads", plain),
    "-d": ("directory", plain),
    "-m": ("description", plain),
    "-z": ("seed", plain),
}
_FLAGS: Final = "bc:d:fg:l:m:n:p:qr:s:u:x:y:z:Z:D"
# The file size of the per-character tests follows -f directly; getopt would read it as options.
_FAST: Final = re.compile(r"(?<!\S)(-[bqD]*f)(\d+)(?!\S)")
# The output of a command substitution is not known.
_SUBSTITUTION: Final = re.compile(r"`[^`]*`|\$\([^()]*\)")
_UNKNOWN: Final = "\0"


def _words(arguments: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options with their values, up to any redirection, and the other words."""
    known = _SUBSTITUTION.sub(_UNKNOWN, _SUBSTITUTION.sub(_UNKNOWN, arguments))
    words = re.split(r"\s\d?[|<>;&]|;", f" {known} ")[0]
    return getopt_words(_FAST.sub(r"\1", words), _FLAGS)


def _settings(arguments: str) -> Iterator[tuple[str, str]]:
    for flag, value in _words(arguments)[0]:
        if _UNKNOWN in value or "$" in value:
            continue
        match flag:
            case "-s":
                yield from _sizes(value)
            case "-n":
                yield from _files(value)
            case "-b":
                yield "fsync", "1"
            case "-f":
                size_by_char = _FAST.search(arguments)
                yield "bonnie++.-f", size_by_char[2] if size_by_char else "true"
            case _:
                yield setting_of("bonnie++", _OPTIONS, flag, value or "true")


def _sizes(value: str) -> Iterator[tuple[str, str]]:
    """Parse ``-s``: size in MiB, chunk size in bytes, seeks, seeking processes."""
    keys = ("file_size", "block_size", "bonnie++.seeks", "bonnie++.seekers")
    for key, part in zip(keys, value.split(":"), strict=False):
        if part:
            number = f"{part}m" if key == "file_size" and part.isdecimal() else part
            yield setting_of("bonnie++", {key: (key, in_bytes)}, key, number)


def _files(value: str) -> Iterator[tuple[str, str]]:
    """Parse ``-n``: files in units of 1024, largest and smallest size, directories, chunk size."""
    keys = ("files", "largest-file", "smallest-file", "directories", "file-chunk")
    for key, part in zip(keys, value.split(":"), strict=False):
        if part and key == "files":
            yield key, str(int(part) * 1024) if part.isdecimal() else part
        elif part:
            yield f"bonnie++.{key}", setting_of("bonnie++", {key: (key, in_bytes)}, key, part)[1]


def _takes(arguments: str) -> bool:
    pairs, stray = _words(arguments)
    numbers = (value for flag, value in pairs if flag in {"-c", "-n", "-r", "-s", "-x"})
    return bool(pairs) and not stray and all(re.match(rf"\d|.*[${_UNKNOWN}]", value) for value in numbers)


COMMAND: Final = CommandLine(program=r"bonnie\+\+", settings=_settings, takes=_takes)

TOOL: Final = Tool(
    name="bonnie++",
    command=COMMAND,
    logged=("file_size", "block_size", "threads"),
)
