"""The command ``fsbench``: thin, every command is one module and a few lines over the package.

Each command imports what it uses, and no other: ``fsbench --help`` answers at once.

`fsbench_kit.cli.exits` has the exit statuses.
"""

from __future__ import annotations

import sys

import typer

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
from fsbench_kit.cli.report import report_command
from fsbench_kit.model.errors import FsbenchError, InputError, RequestError

__all__ = ["app", "main"]

app = typer.Typer(
    help="Read filesystem benchmark logs, compare them with honest intervals, publish re-executable reports.",
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
app.command("init")(init_command)
app.command("report")(report_command)


def main() -> None:
    """Run the command, and turn what goes wrong into a message and an exit status."""
    try:
        app()
    except (InputError, RequestError) as error:
        err.print(f"fsbench: {error}")
        sys.exit(2)
    except FsbenchError as error:
        err.print(f"fsbench: {error}")
        sys.exit(1)
