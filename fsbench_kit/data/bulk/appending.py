"""Adds parts to an existing dataset; runs that it already has count once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fsbench_kit.data.bulk.parts import Part, frame_of, write_part
from fsbench_kit.data.dataset import Dataset, LazyDataset
from fsbench_kit.data.joining import added
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def new_parts(parts: Sequence[Part], there: LazyDataset, folder: Path) -> list[Part]:
    """Return the parts without what the dataset already has, and with ids that are free in it.

    Parameters
    ----------
    parts
        The parts that were read, without duplicate runs.
    there
        The dataset.
    folder
        The folder with the files of the parts; changed parts get new files.
    """
    ids: set[str] = set()
    return [_new(part, there, folder, ids) for part in parts]


def _new(part: Part, there: LazyDataset, folder: Path, ids: set[str]) -> Part:
    own = Dataset(**{name: frame_of(name, part, folder) for name in SCHEMAS})
    # Ids are derived from the bytes, so only runs with equal bytes can be the same run or share an id.
    runs = there.runs.filter(pl.col("sha256").is_in(own.runs["sha256"].unique().implode())).collect()
    diagnostics = there.diagnostics.filter(
        pl.col("source").is_in(own.diagnostics["source"].unique().implode())
    ).collect()
    ids.update(runs["run_id"])
    new = added(runs, diagnostics, own, ids)
    if all(new.frames[name].equals(frame) for name, frame in own.frames.items()):
        return part
    return write_part(new, f"{part.name}-new", folder)
