"""Finds the command lines of the tools in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fsbench_kit.formats.command_line import GOES_ON
from fsbench_kit.formats.commands import command_line, command_settings, programs, tool_called
from fsbench_kit.formats.literals import literals
from fsbench_kit.formats.signatures import Signatures
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Origin, Setting


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of one of the tools, and its position.

    Attributes
    ----------
    position
        Where the line begins, as a position in the text; `start` and `end` are byte offsets in the file.
    has_prompt
        Whether it follows a shell prompt, which means that it is what ran.
    """

    tool: str
    words: str
    position: int
    start: int
    end: int
    line: int
    has_prompt: bool

    def settings(self, origin: Origin) -> Iterator[Setting]:
        """Yield the settings that the command specifies."""
        return command_settings(self.words, origin=origin, line=self.line)


# The words of a command. Quoted words can contain anything.
_WORDS: Final = rf"""(?:"[^"\n]*"|'[^'\n]*'|{GOES_ON}|(?!&&|\|\|)[^\n;`])*"""
_COMMAND: Final = re.compile(
    rf"""(?:
        ^(?P<prompt>[^\n`]{{0,100}}?[\#$%>❯»]\s?)?[^\S\n]*
        | (?:[;&|(]|\b(?:do|then|else|with|run|ran|command)\b:?)\s{{0,20}}
        | `[^\S\n]?(?:[\#$%]\s)?
    )
    (?:(?:sudo|time|nice|ionice|numactl|taskset|env|nohup|docker|podman|kubectl|ssh|chrt|systemd-run|[A-Z_]{{1,40}}=)
        (?![^\n]{{0,200}}[;|])[^\n`]{{0,200}}?\s)?
    (?P<words>(?:"[A-Z]:\\[^"\n]{{0,200}}\\|(?:[\w.~-]{{0,200}}[/\\])*)
        (?P<tool>{"|".join(programs())})(?:\.exe)?"?\s+
        {_WORDS})""",
    re.MULTILINE | re.VERBOSE,
)
_PROGRAMS: Final = Signatures({word: each for each in programs() for word in literals(each)[0]})
_NEXT_LINE: Final = re.compile(r"(?<!\\)\n(?!\s*--[a-z])")
# These create and remove the files of a test, and print no report.
_NO_RUN: Final = re.compile(r"\b(?:prepare|cleanup)\s*$")


def commands(text: Text) -> Iterator[Command]:
    """Yield the command lines of the tools: at a prompt, on their own lines, or marked as code."""
    if next(_PROGRAMS(text.chars), None) is None:
        return
    for match in _COMMAND.finditer(text.chars):
        words = command_line(match["words"].rstrip())
        if words is None or _NO_RUN.search(words):
            continue
        start = match.start("words")
        yield Command(
            tool=tool_called(match["tool"]),
            words=words,
            position=match.start(),
            start=text.byte(start),
            end=text.byte(start + len(words)),
            line=text.line(start),
            has_prompt=match["prompt"] is not None,
        )


def is_command(chars: str) -> bool:
    """Whether a text is nothing but a command line of one of the tools, which may span several lines."""
    return next(_PROGRAMS(chars), None) is not None and _NEXT_LINE.search(chars) is None
