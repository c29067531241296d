"""What is said of input that was not understood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import err

if TYPE_CHECKING:
    import polars as pl

_MANY: Final = 100
"""More warnings than these are not printed one by one."""


def print_diagnostics(dataset: fsb.Dataset | fsb.LazyDataset) -> None:
    """Print what was not understood, and how much else there is to know."""
    import polars as pl

    from fsbench_kit import tables

    is_note = pl.col("severity") == "note"
    diagnostics = dataset.diagnostics.lazy()
    if diagnostics.filter(~is_note).select(pl.len()).collect().item() > _MANY:
        for line in tables.remarks(dataset):
            err.print(line)
        return
    for row in diagnostics.filter(~is_note).collect().iter_rows(named=True):
        place = row["source"] if row["line"] is None else f"{row['source']}:{row['line']}"
        err.print(f"{row['severity']}: {place}: {row['message']} [{row['code']}]")
        if row["excerpt"]:
            err.print(f"    {row['excerpt']}")
    notes = diagnostics.filter(is_note).select(pl.len()).collect().item()
    if notes:
        err.print(f"There are {notes} notes besides; fsbench read PATH --to FOLDER writes all diagnostics.")


def exit_if_some_input_was_unusable(diagnostics: pl.DataFrame) -> None:
    """Exit with 2 if there was an error; what could be read has been used."""
    if (diagnostics["severity"] == "error").any():
        raise typer.Exit(2)
