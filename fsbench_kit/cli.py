"""The command ``fsbench``: thin, every command is a few lines over the package.

Exit status: 0 for success; 2 where some input could not be used (what could be is still done) or the request was
wrong; 1 where a report or a launch failed.
"""

from __future__ import annotations

import sys
from pathlib import Path  # typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer
from rich.console import Console
from rich.table import Table

from fsbench_kit import archive
from fsbench_kit.errors import FsbenchError, InputError, RequestError

if TYPE_CHECKING:
    from fsbench_kit.dataset import Dataset

app = typer.Typer(
    help="Read filesystem benchmark logs, compare them with honest intervals, publish re-executable reports.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
out = Console()
err = Console(stderr=True, soft_wrap=True, highlight=False)

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Logs, studies, or folders of them.")]
To = Annotated[
    Path | None,
    typer.Option(help="Write here: a .parquet, .csv or .json file gets one flat table, a folder the six frames."),
]


def main() -> None:
    """Run the command, and turn what goes wrong into a message and an exit status."""
    try:
        app()
    except (InputError, RequestError) as error:
        _complain(error)
        sys.exit(2)
    except FsbenchError as error:
        _complain(error)
        sys.exit(1)


def _complain(error: FsbenchError) -> None:
    err.print(f"fsbench: {error}", markup=False)


@app.command()
def read(paths: Paths, to: To = None) -> None:
    """Read logs, say what is in them, and write it as a table if asked to."""
    dataset = archive.read(*paths)
    if to is not None:
        dataset.write(to)
    _print_runs(dataset)
    _print_diagnostics(dataset)
    if (dataset.diagnostics["severity"] == "error").any():
        raise typer.Exit(2)


def _print_runs(dataset: Dataset) -> None:
    figures = dataset.measurements.filter("primary").group_by("run_id").len("figures")
    runs = dataset.runs.join(figures, on="run_id", how="left")
    table = Table(title=f"{dataset.runs.height} runs, {figures['figures'].sum()} figures", title_justify="left")
    for column, justify in (("study", "left"), ("tool", "left"), ("filesystem", "left")):
        table.add_column(column, justify=justify)
    for column in ("runs", "figures"):
        table.add_column(column, justify="right")
    groups = runs.group_by("study", "tool", "filesystem", maintain_order=True)
    for row in groups.agg(pl.len(), pl.col("figures").sum()).rows():
        table.add_row(*("–" if value is None else str(value) for value in row))
    out.print(table)


def _print_diagnostics(dataset: Dataset) -> None:
    for row in dataset.diagnostics.filter(pl.col("severity") != "note").iter_rows(named=True):
        place = row["source"] if row["line"] is None else f"{row['source']}:{row['line']}"
        err.print(f"{row['severity']}: {place}: {row['message']} [{row['code']}]", markup=False)
        if row["excerpt"]:
            err.print(f"    {row['excerpt']}", markup=False)
    notes = dataset.diagnostics.filter(pl.col("severity") == "note").height
    if notes:
        err.print(f"{notes} notes; --to FOLDER writes them all.", markup=False)
