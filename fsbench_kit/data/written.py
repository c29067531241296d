"""Datasets on disk: one Parquet file for each frame, with the version of the schema in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.data.columns import diagnostics_of
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.records import Diagnostic
from fsbench_kit.model.schema import SCHEMAS, VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_VERSION_KEY: Final = "fsbench_kit.schema"


def write_frames(frames: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write the six frames of a dataset to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        frame.write_parquet(_file(folder, name), metadata={_VERSION_KEY: str(VERSION)})


def is_written(folder: Path) -> bool:
    """Whether a folder holds a dataset."""
    return all(_file(folder, name).is_file() for name in ("runs", "measurements"))


def read_frames(folder: Path) -> dict[str, pl.DataFrame]:
    """Read the frames of a dataset.

    Raises
    ------
    InputError
        If a file is missing, damaged, or lacks what its frame has to have.
    """
    frames: dict[str, pl.DataFrame] = {}
    for name, frame in scan_frames(folder).items():
        try:
            frames[name] = frame.collect()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _unreadable(error, _file(folder, name)) from error
    return frames


def scan_frames(folder: Path) -> dict[str, pl.LazyFrame]:
    """Return the frames of a dataset, of which nothing is read before it is asked for.

    Raises
    ------
    InputError
        If a file is missing, is no Parquet file, or lacks a column.
    """
    if not is_written(folder):
        raise InputError("there is no dataset in it", file=folder, hint="Dataset.write(folder) writes one.")
    frames = {name: _scanned(name, _file(folder, name)) for name in SCHEMAS}
    version = pl.read_parquet_metadata(_file(folder, "runs")).get(_VERSION_KEY, "")
    if version.isdecimal() and int(version) > VERSION:
        message = f"A newer version of fsbench_kit wrote the dataset (schema {version}, not {VERSION})."
        newer = diagnostics_of([(str(folder), Diagnostic(code="NEWER_RECORD", message=message))])
        frames["diagnostics"] = pl.concat([newer.lazy(), frames["diagnostics"]])
    return frames


def _scanned(name: str, path: Path) -> pl.LazyFrame:
    if not path.is_file():
        raise InputError("the file does not exist", file=path)
    try:
        frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        known = frame.collect_schema()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unreadable(error, path) from error
    for column in SCHEMAS[name]:
        if column not in known:
            raise InputError(f'it lacks the column "{column}"', file=path)
    return frame.select(pl.col(column).cast(kind) for column, kind in SCHEMAS[name].items())


def _unreadable(error: Exception, path: Path) -> InputError:
    return InputError(str(error).partition("\n")[0], file=path)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"
