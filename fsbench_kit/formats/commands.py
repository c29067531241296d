"""Finds the command lines of all tools, and parses the settings that they specify."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from fsbench_kit import formats
from fsbench_kit.formats.command_line import CommandLine, one_line
from fsbench_kit.formats.tool import Tool
from fsbench_kit.model.records import Origin, Setting


@cache
def programs() -> list[str]:
    """Return a pattern for the program name of each tool, where it is followed by arguments."""
    return [rf"{known.program}(?={_begin(known)})" for _, known in _command_lines()]


def _begin(known: CommandLine) -> str:
    """Return a pattern for what follows a program name, up to the beginning of its arguments."""
    first = ["-", r"\\[^\S\n]*(?:\n|\Z)", *([known.begins] if known.begins is not None else [])]
    return rf"(?:\.exe)?\x22?\s+(?:{'|'.join(first)})"


def tool_called(name: str) -> str:
    """Return the tool with the given program name.

    >>> tool_called("iozone3")
    'iozone'
    """
    return next(tool.name for tool, command in _command_lines() if re.fullmatch(command.program, name))


def command_settings(command: str, *, origin: Origin, line: int | None = None) -> Iterator[Setting]:
    """Yield the command itself and the settings that it specifies, given a command line of one of the tools.

    See `fsbench_kit.formats.command_line.CommandLine.read`.

    Examples
    --------
    >>> [f"{s.key}={s.value}" for s in command_settings("$ fio --bs=4k -group_reporting --rw=read", origin="log")]
    ['command=fio --bs=4k -group_reporting --rw=read', 'block_size=4096', 'grouped=true', 'pattern=read']
    """
    known = _command_of(command)
    if known is None:
        yield Setting(key="command", value=one_line(command), origin=origin, line=line)
    else:
        yield from known.read(command, origin=origin, line=line)


def command_line(text: str) -> str | None:
    """Return the command line at the beginning of a text; ``None`` if it is a sentence about the tool.

    >>> command_line("sysbench fileio --threads=4 run and saw this:"), command_line("iozone -a runs all tests")
    ('sysbench fileio --threads=4 run', None)
    """
    known = _command_of(text)
    if known is None or not known.parses(text):
        return None
    ended = re.match(known.ends, text, re.DOTALL) if known.ends is not None else None
    return ended[0] if ended is not None else text


def _command_of(command: str) -> CommandLine | None:
    """Return the syntax of the first tool in a command."""
    words = one_line(command)
    found = [(match.start(), known) for _, known in _command_lines() if (match := known.search(words)) is not None]
    return min(found, key=lambda each: each[0])[1] if found else None


def _command_lines() -> list[tuple[Tool, CommandLine]]:
    return [(tool, tool.command) for tool in formats.TOOLS.values() if tool.command is not None]
