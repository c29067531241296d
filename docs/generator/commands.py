"""The command line, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, Final

import typer

from docs.generator.markdown import code, table
from fsbench_kit.cli import app
from fsbench_kit.cli.exits import STATUSES

if TYPE_CHECKING:
    from typer.core import TyperCommand, TyperGroup


def commands() -> str:
    """Return each command: how it is called, what it does, its arguments and options."""
    group: TyperGroup = typer.main.get_command(app)  # type: ignore[assignment]
    context = group.make_context("fsbench", [], resilient_parsing=True)
    parts = [_options(group, context)] if len(group.get_params(context)) > 1 else []
    for name, command in group.commands.items():
        of_command = command.make_context(name, [], parent=context, resilient_parsing=True)
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        usage = " ".join(["fsbench", name, *map(_placeholder, arguments), "[OPTIONS]"])
        parts += [
            f"## `fsbench {name}`",
            f"```text\n{usage}\n```",
            _text(command.help or ""),
            _options(command, of_command),
            _text(command.epilog or ""),
        ]
    return "\n\n".join(part for part in parts if part)


def exit_statuses() -> str:
    """Return what each exit status means."""
    return table(("exit status", "meaning"), ((str(status), said) for status, said in STATUSES.items()))


def _text(text: str) -> str:
    """Return what a help says as Markdown: its examples as code."""
    blocks = inspect.cleandoc(text).replace("\b\n", "").split("\n\n")
    return "\n\n".join(
        f"```sh\n{block}\n```" if all(line.startswith("fsbench ") for line in block.splitlines()) else block
        for block in blocks
        if block
    )


def _options(command: TyperCommand | TyperGroup, context: typer.Context) -> str:
    rows = [row for parameter in command.get_params(context) if (row := _row(parameter, context))]
    return table(("argument or option", "meaning"), rows) if rows else ""


def _row(parameter: Any, context: typer.Context) -> tuple[str, str] | None:
    record = parameter.get_help_record(context)
    if record is None or "--help" in record[0]:
        return None
    is_argument = parameter.param_type_name == "argument"
    name = _placeholder(parameter) if is_argument else _TYPE.sub(_in_capitals, record[0])
    return code(name), " ".join(record[1].split()).replace("<", "\\<").replace("*", "\\*")


def _placeholder(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()).replace("[PATH]", "PATH")
    return name if argument.required else f"[{name}]"


_TYPE: Final = re.compile(r"<(?:list\[)?(\w+)[^>]*>")
_CAPITALS: Final = {"path": "PATH", "str": "TEXT", "int": "NUMBER", "float": "NUMBER"}


def _in_capitals(type_: re.Match[str]) -> str:
    return _CAPITALS.get(type_[1].lower(), type_[1].upper())
