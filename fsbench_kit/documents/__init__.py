"""Finds logs inside anything: decodes a file, cuts out each log with its command, hands on to its format."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fsbench_kit.documents.encoding import decode, unpack
from fsbench_kit.documents.pieces import Command, commands, pieces
from fsbench_kit.documents.readings import readings
from fsbench_kit.documents.repair import repair
from fsbench_kit.formats import name
from fsbench_kit.records import Diagnostic, Run
from fsbench_kit.vocabulary import DIAGNOSTICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsbench_kit.documents.readings import Reading
    from fsbench_kit.documents.repair import Repair
    from fsbench_kit.formats.text import Text
    from fsbench_kit.records import Record

__all__ = ["read_document", "unpack"]


def read_document(data: bytes, source: str) -> Iterator[Record]:
    """Yield the runs of the logs in a file, with their figures, and what is to be said about the file.

    Parameters
    ----------
    data
        The file's bytes, as `unpack` gives them.
    source
        Its name, for messages.
    """
    if not data.strip():
        yield Diagnostic(code="EMPTY", message="The file is empty.")
        return
    decoded = decode(data, source)
    if decoded is None:
        yield Diagnostic(code="NOT_TEXT", message="The file holds binary data, not a log.")
        return
    text, repairs = repair(decoded)
    given = list(commands(text))
    found = list(readings(text, pieces(text, given)))
    all_runs: list[Run] = []
    for reading in found:
        all_runs += reading.runs
        repairs += reading.repairs
        for record in reading.records:
            match record:
                case Run():
                    log_format = name(reading.log_format)
                    yield replace(_with_command(record, given, all_runs, text), format=log_format)
                case Diagnostic(code="UNREAD_FIGURE"):
                    yield _beside(record, reading, text)
                case _:
                    yield record
    yield from _said(repairs, all_runs, text)
    if not found:
        yield Diagnostic(
            code="NO_LOG",
            message="No log of fio, bonnie++, sysbench fileio, iozone, smallfiles or filetree was found in it.",
            line=1,
            excerpt=text.excerpt(0, len(text.chars)) or decoded.excerpt(0, len(decoded.chars)),
        )


def _with_command(run: Run, given: Sequence[Command], others: Sequence[Run], text: Text) -> Run:
    """Add to a run the command line that stands before it, unless the log itself has one.

    Right before the log, or after a shell's prompt, it is the command that ran. With other text between them, or
    another run, it is what the text says of the run.
    """
    if any(setting.key == "command" for setting in run.settings):
        return run
    before = [command for command in given if command.tool == run.tool and command.end <= run.start]
    if not before:
        return run
    command = before[-1]
    between = text.chars[text.position(command.end) : text.position(run.start)]
    is_taken = any(
        other.tool == run.tool and command.end <= other.start and other.end <= run.start for other in others
    )
    ran = not is_taken and (command.has_prompt or not between.strip("` \t\n"))
    return replace(run, settings=(*run.settings, *command.settings("command" if ran else "stated")))


def _beside(diagnostic: Diagnostic, reading: Reading, text: Text) -> Diagnostic:
    """Tell an unread part of a log from other text that stands beside the logs.

    What touches a log, without an empty line between them, may be a part of it that was damaged; so may what is
    made of more digits than letters. Logs of another test alone have no figures to lose.
    """
    start, end, runs = diagnostic.start, diagnostic.end, reading.runs
    other = replace(diagnostic, code="OTHER_TEXT", message="This text holds a figure and is no part of a log.")
    if not runs and any(isinstance(other, Diagnostic) and other.code == "NOT_FILEIO" for other in reading.records):
        return other
    if start is None or end is None or not runs or any(run.start < end and start < run.end for run in runs):
        return diagnostic
    before = max((run.end for run in runs if run.end <= start), default=None)
    after = min((run.start for run in runs if run.start >= end), default=None)
    touches = (before is not None and not _has_empty_line(text, before, start)) or (
        after is not None and not _has_empty_line(text, end, after)
    )
    chars = text.chars[text.position(start) : text.position(end)]
    is_figures = sum(map(str.isdigit, chars)) > sum(map(str.isalpha, chars))
    return diagnostic if touches or is_figures else other


def _has_empty_line(text: Text, start: int, end: int) -> bool:
    return text.chars.count("\n", text.position(start), text.position(end)) > 1


def _said(repairs: Sequence[Repair], runs: Sequence[Run], text: Text) -> Iterator[Diagnostic]:
    """Say for each kind of repair where it was made in the logs; what stands beside them does not matter.

    Lost bytes are said wherever they were: a log may have stood there.
    """
    places: dict[str, list[int]] = {}
    for code, stretches in repairs:
        places.setdefault(code, []).extend(
            start
            for start, end in stretches
            if code == "ZERO_BYTES" or any(run.start <= end and start <= run.end for run in runs)
        )
    for code, starts in places.items():
        if starts:
            first = min(starts)
            message = f"{DIAGNOSTICS[code][1]} Places: {len(starts)}, the first of them here."
            yield Diagnostic(code=code, message=message, line=text.line(text.position(first)), start=first)
