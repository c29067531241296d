"""Parts of a dataset: what was read of a chunk, as files. A part exists with all its files or not at all."""

from __future__ import annotations

import json
from concurrent.futures import BrokenExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.bulk.storage import read_rows, write_rows
from fsbench_kit.data.joining import joined
from fsbench_kit.data.log import log_with
from fsbench_kit.data.reading import read_entries
from fsbench_kit.data.written import DONE, write_json
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    import polars as pl

    from fsbench_kit.data.bulk.plan import Chunk, Entry
    from fsbench_kit.data.dataset import Dataset

NO_STUDY: Final = "__HIVE_DEFAULT_PARTITION__"
"""The Hive convention for the name of a partition whose key is null."""


@dataclass(frozen=True, slots=True)
class Part:
    """A finished part.

    Attributes
    ----------
    name
        The name of its files.
    runs
        The number of its runs.
    files
        The files of each frame, relative to the dataset's folder; none if a frame has no rows.
    read
        The number of files that were read for it.
    """

    name: str
    runs: int
    files: Mapping[str, Sequence[str]]
    read: int = 0


def read_part(
    key: str, name: str, chunk: Chunk, names: Sequence[str], folder: Path, *, executor: Executor | None = None
) -> Part:
    """Read a chunk and write its part into a folder; mark it as done at the very end.

    Parameters
    ----------
    key, chunk
        The chunk and its key.
    name
        The name of the part's files.
    names
        What the names of logs mean.
    executor
        An executor that can read some of the files.
    """
    dataset = read_chunk(chunk.entries, names, executor)
    part = replace(write_part(dataset, name, folder), read=chunk.files)
    write_json(folder / f"{key}{DONE}", asdict(part))
    return part


def read_chunk(entries: Sequence[Entry], names: Sequence[str], executor: Executor | None = None) -> Dataset:
    """Read files and folders. An input that crashes the reader gets a diagnostic; the others are still read."""
    try:
        return read_entries(entries, names, executor)
    except BrokenExecutor:
        raise
    except Exception as error:
        if len(entries) == 1:
            message = f"It could not be read ({type(error).__name__}: {error}). This is a defect of fsbench_kit."
            return assemble([log_with(Path(entries[0].path), "UNREADABLE", message)])
        half = len(entries) // 2
        return joined([read_chunk(some, names, executor) for some in (entries[:half], entries[half:])])


def write_part(dataset: Dataset, name: str, folder: Path) -> Part:
    """Write a dataset as a part into a folder."""
    files: dict[str, list[str]] = {name: [] for name in SCHEMAS}
    for frame_name, frame in dataset.frames.items():
        for study, of_study in _by_study(frame, dataset.runs):
            place = f"study={NO_STUDY if study is None else quote(str(study), safe=' ')}"
            path = folder / frame_name / place / f"{name}.parquet"
            write_rows(frame_name, of_study, path)
            files[frame_name].append(str(path.relative_to(folder)))
    return Part(name, dataset.runs.height, files)


def _by_study(frame: pl.DataFrame, runs: pl.DataFrame) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """Yield the rows of a frame by study."""
    if frame.is_empty():
        return
    if runs["study"].n_unique() == 1 and "run_id" in frame.columns:
        yield runs["study"][0], frame
        return
    rows = frame
    if "study" not in frame.columns:
        key = "run_id" if "run_id" in frame.columns else "source"
        studies = runs.select(key, "study").unique(key, keep="first")
        rows = frame.join(studies, on=key, how="left", maintain_order="left")
    for (study,), of_study in rows.group_by("study", maintain_order=True):
        yield study, of_study.select(frame.columns)


def finished(key: str, folder: Path) -> Part | None:
    """Return the part of a chunk if it was finished before, otherwise ``None``."""
    try:
        part = Part(**json.loads((folder / f"{key}{DONE}").read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    return part if all((folder / path).is_file() for paths in part.files.values() for path in paths) else None


def frame_of(name: str, part: Part, folder: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a frame of a part, or some columns of it."""
    return read_rows(name, part.files[name], folder, columns)
