"""Prints remarks about input that was not understood."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

import fsbench_kit as fsb
from fsbench_kit.cli.console import err

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


def print_diagnostics(dataset: fsb.Dataset | fsb.LazyDataset, folder: Path | None = None) -> None:
    """Print what was not understood, and how many other diagnostics there are; `folder` has all of them.

    Of the notes, only those on what a log lacks are printed, and only if its run is partial.
    """
    import polars as pl

    from fsbench_kit import tables

    shown = 0
    diagnostics, runs = dataset.diagnostics.lazy(), dataset.runs.lazy()
    lacking = diagnostics.filter(pl.col("code") == "INCOMPLETE_LOG")
    partial = runs.filter(pl.col("status") == "partial")
    lacking = lacking.join(partial, on="source", how="semi", maintain_order="left")
    for line in tables.remarks(pl.concat([diagnostics.filter(pl.col("severity") != "note"), lacking])):
        err.print(line)
        shown += not line.startswith(" ")
    others = diagnostics.select(pl.len()).collect().item() - shown
    if others:
        number = tables.counted(others, "more remark" if shown else "remark")
        way = "fsbench read PATH --to FOLDER writes" if folder is None else f'fsb.read("{folder}").diagnostics has'
        err.print(f"{number}; {way} all of them.")


def print_unusable(diagnostics: pl.DataFrame) -> None:
    """Print which input could not be used or has a name that says nothing."""
    import polars as pl

    from fsbench_kit import tables

    serious = (pl.col("severity") == "error") | (pl.col("code") == "NAME_DOES_NOT_FIT")
    for line in tables.remarks(diagnostics.filter(serious)):
        err.print(line)


def exit_if_some_input_was_unusable(diagnostics: pl.DataFrame) -> None:
    """Exit with status 2 if there was an error; everything readable has been used."""
    if (diagnostics["severity"] == "error").any():
        raise typer.Exit(2)
