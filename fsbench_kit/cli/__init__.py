"""The command ``fsbench``: one thin module per command, a few lines over the package.

Each command imports only what it uses, so that ``fsbench --help`` answers at once.

`fsbench_kit.cli.exits` has the exit statuses.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

import fsbench_kit as fsb
from fsbench_kit.cli.audit import audit_command
from fsbench_kit.cli.compare import compare_command
from fsbench_kit.cli.console import err
from fsbench_kit.cli.devices import devices_command
from fsbench_kit.cli.doctor import doctor_command
from fsbench_kit.cli.exits import STATUSES
from fsbench_kit.cli.explore import explore_command
from fsbench_kit.cli.init import init_command
from fsbench_kit.cli.launch import launch_command
from fsbench_kit.cli.read import read_command
from fsbench_kit.cli.repeats import repeats_command
from fsbench_kit.cli.replicate import replicate_command
from fsbench_kit.cli.report import report_command
from fsbench_kit.model.errors import FsbenchError, InputError, RequestError

__all__ = ["app"]


class _Commands(TyperGroup):
    """The group of commands; an interrupt reports what was kept."""

    def invoke(self, ctx: Any) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            command = ctx.invoked_subcommand or ""
            err.print(
                f"Interrupted. {_KEPT.get(command, 'Nothing was written; run the same command to start again.')}"
            )
            raise typer.Exit(130) from None


_KEPT: Final = {
    "report": "The finished pages are kept; the same command makes the rest.",
    "init": "What was written is kept; start again in an empty folder.",
}


def _version(wanted: bool) -> None:  # as typer calls it
    if wanted:
        typer.echo(f"fsbench {fsb.__version__}")
        raise typer.Exit


def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Read filesystem benchmark logs, compare them with honest intervals, publish re-executable reports."""


app = typer.Typer(
    cls=_Commands,
    callback=_options,
    epilog="\n\n".join(["Exit status", *(f"{status}: {meaning}" for status, meaning in STATUSES.items())]),
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

# In the order of the help.
app.command("doctor")(doctor_command)
app.command("devices")(devices_command)
app.command("read")(read_command)
app.command("compare")(compare_command)
app.command("explore")(explore_command)
app.command("repeats")(repeats_command)
app.command("audit")(audit_command)
app.command("launch")(launch_command)
app.command("replicate")(replicate_command)
app.command("init")(init_command)
app.command("report")(report_command)


def _refuse_empty(words: list[str]) -> None:
    """Refuse an empty argument, which an unset shell variable leaves and which would mean the current folder."""
    if "" in words:
        raise RequestError("one of the arguments is empty", hint="Perhaps a variable in the command is not set.")


_NAMELESS: Final = {errno.ENOENT: "the current folder", errno.ENOSPC: "the output"}
"""What to call the file of a system error that names none."""


def main() -> None:
    """Run the command line, turning errors into a message and an exit status."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # in a locale that lacks some letters
                stream.reconfigure(errors="replace")
        _refuse_empty(sys.argv)
        app()
    except (InputError, RequestError) as error:
        err.print(f"fsbench: {error}")
        sys.exit(2)
    except FsbenchError as error:
        err.print(f"fsbench: {error}")
        sys.exit(1)
    except OSError as error:
        where = error.filename or _NAMELESS.get(error.errno or 0, "the system")
        err.print(f"fsbench: {where}: {error.strerror or error}")
        sys.exit(2)
    except SystemExit:
        raise
    except BaseException as error:  # a panic of Polars is no Exception
        if "KeyboardInterrupt" in repr(error):  # pydantic and Polars wrap it if it meets them at their work
            sys.exit(130)
        if os.environ.get("FSBENCH_TRACEBACK"):
            raise
        err.print(f"fsbench: a bug in fsbench: {type(error).__name__}: {error}")
        err.print("Set FSBENCH_TRACEBACK=1 to see where it is, and please report it with the traceback.")
        sys.exit(1)
