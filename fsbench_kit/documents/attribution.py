"""Determines which of the command lines near a log is that of its run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from fsbench_kit.documents.commands import Command
from fsbench_kit.formats.fitting import misfit
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Origin, Run, Setting


def with_command(
    run: Run, given: Sequence[Command], others: Sequence[Run], text: Text
) -> tuple[Run, list[Diagnostic]]:
    """Add the settings of the command line that precedes a run, unless its tool printed one itself.

    A command right before the log or after a shell prompt is the command that ran (origin ``command``). If other
    text or another run is in between, it is what the text states about the run (origin ``stated``). Commands that
    do not fit the run are left out; of several that are given together, the one that fits is used.
    """
    lines = {setting.line for setting in run.settings if setting.key == "command"}
    before = [
        command
        for command in given
        if command.tool == run.tool and (command.end <= run.start or command.line in lines)
    ]
    if not before or (lines and before[-1].line not in lines):
        return run, []
    bare = replace(run, settings=tuple(item for item in run.settings if not _is_made_by(item, lines)))
    statement = _statement(before, run, others, text)
    own = own_commands(statement, bare)
    if len({command.words for command in own}) != 1:
        return bare, [_left_out(statement, own, bare)]
    command = own[-1]
    origins = [item.origin for item in run.settings if item.key == "command" and item.line == command.line]
    made = command.settings(origins[0] if origins else _origin(command, run, others, text))
    return replace(bare, settings=(*bare.settings, *made)), []


def own_commands(given: Sequence[Command], run: Run) -> list[Command]:
    """Return the commands that fit a run. If some of them name one of its jobs, return only those."""
    settings = {command: list(command.settings("stated")) for command in given if command.tool == run.tool}
    fitting = [command for command, made in settings.items() if misfit(made, run) is None]
    jobs = {item.part for item in run.measurements}
    naming = [
        command
        for command in fitting
        if any(item.key == "job_name" and item.value in jobs for item in settings[command])
    ]
    return naming or fitting


def _is_made_by(setting: Setting, lines: set[int | None]) -> bool:
    """Whether a setting was read from a command line on one of the given lines."""
    return setting.origin in {"command", "stated"} and setting.line in lines


def _statement(before: Sequence[Command], run: Run, others: Sequence[Run], text: Text) -> list[Command]:
    """Return the nearest command and those given together with it: in one paragraph, at one prompt."""
    statement = [before[-1]]
    for command, follower in reversed(list(pairwise(before))):
        between = text.chars[text.position(command.end) : text.position(follower.start)]
        has_run = any(command.end <= other.start < follower.start for other in others if other is not run)
        if has_run or follower.has_prompt or "\n\n" in between:
            break
        statement.insert(0, command)
    return statement


def _origin(command: Command, run: Run, others: Sequence[Run], text: Text) -> Origin:
    """Return whether a command is what ran, or what the text states about a run."""
    between = text.chars[text.position(command.end) : text.position(run.start)]
    is_taken = any(
        other.tool == run.tool and command.end <= other.start and other.end <= run.start for other in others
    )
    return "command" if not is_taken and (command.has_prompt or not between.strip("` \t\n")) else "stated"


def _left_out(statement: Sequence[Command], own: Sequence[Command], run: Run) -> Diagnostic:
    """Explain why none of the commands is attributed to a run."""
    where = " and ".join(dict.fromkeys(f"line {command.line}" for command in statement))
    if own:
        message = f"More than one of the commands on {where} fits this run, so none of them was used."
    elif len(statement) == 1:
        why = misfit(list(statement[0].settings("stated")), run)
        message = f"The command on {where} is not that of this run: {why}."
    else:
        message = f"None of the commands on {where} fits this run."
    return Diagnostic(code="COMMAND_LEFT_OUT", message=message, line=run.line, start=run.start, end=run.end)
