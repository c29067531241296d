"""Files that commands write on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fsbench_kit.cli.console import err

if TYPE_CHECKING:
    import polars as pl

    from fsbench_kit import Dataset
    from fsbench_kit.tables import Table

To = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Write all columns to a .csv, .json or .parquet file, or the table shown to .md or .tex. "
        "Can be repeated.",
    ),
]


def check_endings(targets: list[Path] | None, *also: str) -> None:
    """Refuse files that cannot be written, before anything is read."""
    if targets:
        from fsbench_kit.data.tabular import check_ending
        from fsbench_kit.tables.saving import WRITERS

        for target in targets:
            check_ending(target, [*WRITERS, *also])


def masked(frame: pl.DataFrame, dataset: Dataset | None = None, *, mask: bool) -> pl.DataFrame:
    """Mask homes, users and hosts in a frame on request, including those that its runs name."""
    if not mask:
        return frame
    from fsbench_kit.data.masking import Mask

    names = Mask()
    if dataset is not None:
        names.learn_runs(dataset.runs, dataset.settings)
    return names.frames({"": frame})[""]


def saved(targets: list[Path] | None, frame: pl.DataFrame, *tables: Table) -> None:
    """Write a frame, or the tables made from it, and report the files."""
    from fsbench_kit import tables as made

    for target in targets or ():
        made.save(target, frame, *tables)
        err.print(f"Wrote {target}: {made.counted(frame.height, 'row')}.")
