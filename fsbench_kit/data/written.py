"""Datasets on disk: Parquet files for each frame, which contain the version of the schema.

`Dataset.write` writes one file per frame. Data read in bulk is in parts, ``FRAME/study=NAME/*.parquet``, and a
manifest lists those that make up the dataset; other files are ignored.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from time import time_ns
from typing import Any, Final

import polars as pl

from fsbench_kit.data.tabular import writing
from fsbench_kit.model.errors import InputError
from fsbench_kit.model.schema import SCHEMAS, VERSION

MANIFEST: Final = "dataset.json"
UNFINISHED: Final = "unfinished"
"""The folder, within that of the dataset, for unfinished work."""
REQUEST: Final = "request.json"
"""The file in the folder of an unfinished dataset that says what to read."""
DONE: Final = ".done"
"""The ending of files that mark a part of an unfinished dataset as finished."""

_VERSION_KEY: Final = "fsbench_kit.schema"


@dataclass(frozen=True, slots=True)
class Request:
    """What a dataset is read from.

    Attributes
    ----------
    paths
        The paths as given.
    files
        The number of files at these paths.
    names
        What file names mean.
    append
        Whether to add the runs to the existing ones.
    """

    paths: Sequence[str]
    files: int
    names: Sequence[str] = ()
    append: bool = False


def write_frames(frames: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write the six frames of a dataset to a folder."""
    with writing(folder):
        folder.mkdir(exist_ok=True)
        for name, frame in frames.items():
            write_frame(frame, _file(folder, name))
    before = _parts_there(folder)
    (folder / MANIFEST).unlink(missing_ok=True)
    _remove_parts(folder, before)


def write_frame(frame: pl.DataFrame, path: Path, *, row_group: int | None = None) -> None:
    """Write a frame, including the version of the schema; the number of rows in a row group is optional."""
    frame.write_parquet(path, metadata={_VERSION_KEY: str(VERSION)}, row_group_size=row_group)


def is_written(folder: Path) -> bool:
    """Whether a folder contains a dataset, even an unfinished one."""
    return is_in_parts(folder) or _is_in_frames(folder)


def is_whole(folder: Path) -> bool:
    """Whether a folder contains a readable dataset, even while runs are being added to it."""
    return (folder / MANIFEST).is_file() or _is_in_frames(folder)


def _is_in_frames(folder: Path) -> bool:
    return all(_file(folder, name).is_file() for name in ("runs", "measurements"))


def is_in_parts(folder: Path) -> bool:
    """Whether a folder contains a dataset in parts, and nothing else."""
    return (folder / MANIFEST).is_file() or (folder / UNFINISHED / REQUEST).is_file()


def publish(parts: Mapping[str, Sequence[str]], folder: Path, paths: Sequence[str]) -> None:
    """Make the given files the dataset of a folder in one step, and remove its other files."""
    before = _parts_there(folder)
    write_json(folder / MANIFEST, {"schema": VERSION, "paths": paths, "parts": parts})
    _remove_parts(folder, before - {*chain.from_iterable(parts.values())})
    for name in SCHEMAS:
        _file(folder, name).unlink(missing_ok=True)


def stamped() -> str:
    """Return a prefix for the names of parts that no other part of the dataset has."""
    return f"{time_ns():016x}-"


def _parts_there(folder: Path) -> set[str]:
    """Return the parts in a folder, including those that no manifest lists."""
    there = chain.from_iterable(folder.glob(f"{name}/study=*/*.parquet") for name in SCHEMAS)
    return {str(path.relative_to(folder)) for path in there if _PART.match(path.name)}


_PART: Final = re.compile(r"([0-9a-f]{16}|\d{6})-")
"""The prefix of the names of parts: a time stamp, or a number in older datasets."""


def _remove_parts(folder: Path, parts: Iterable[str]) -> None:
    """Remove parts of a dataset, and the folders that are empty afterwards."""
    for path in (folder / name for name in parts):
        path.unlink(missing_ok=True)
        for parent in (path.parent, path.parent.parent):
            with suppress(OSError):  # it is not empty
                parent.rmdir()


def write_json(path: Path, content: Any) -> None:
    """Write a file atomically, so that it is either complete or missing even after a loss of power."""
    new = path.with_name(f".{path.name}.new")  # with another ending, so that no pattern for the file finds it
    with new.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def write_request(request: Request, folder: Path) -> None:
    """Record what the unfinished dataset of a folder is read from."""
    write_json(folder / UNFINISHED / REQUEST, asdict(request))


def parts_of(folder: Path) -> dict[str, list[str]]:
    """Return the files of each frame of a dataset in parts, relative to its folder; empty if there is none.

    Raises
    ------
    InputError
        If the manifest is damaged, or was written by a newer version.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        manifest = json.loads(path.read_bytes())
        _refuse_newer(int(manifest["schema"]), folder)
        return {name: [str(part) for part in manifest["parts"][name]] for name in SCHEMAS}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(
            "the manifest of the dataset is damaged", file=path, hint="Read the logs again."
        ) from error


def _refuse_newer(version: int, folder: Path) -> None:
    """Raise if a newer version wrote the dataset, since its columns may mean something else."""
    if version > VERSION:
        raise InputError(
            f"a newer version of fsbench_kit wrote the dataset (schema {version}, and this one reads {VERSION})",
            file=folder,
            hint='Update it: pip install --upgrade "fsbench-kit"',
        )


def read_frames(folder: Path) -> dict[str, pl.DataFrame]:
    """Read the frames of a dataset.

    Raises
    ------
    InputError
        If a file is missing or damaged, or lacks a column.
    """
    frames: dict[str, pl.DataFrame] = {}
    for name, frame in scan_frames(folder).items():
        try:
            frames[name] = frame.collect()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _unreadable(
                error, folder / name if (folder / MANIFEST).is_file() else _file(folder, name)
            ) from error
    return frames


def scan_frames(folder: Path) -> dict[str, pl.LazyFrame]:
    """Return the frames of a dataset as LazyFrames.

    Raises
    ------
    InputError
        If a file is missing, is not a Parquet file, or lacks a column; or if the dataset is unfinished.
    """
    if not is_written(folder):
        raise InputError("there is no dataset in it", file=folder, hint="Dataset.write(folder) writes one.")
    return {name: _scanned(name, files) for name, files in _files(folder).items()}


def _files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each frame."""
    if parts := parts_of(folder):
        return {name: [folder / part for part in of] for name, of in parts.items()}
    if _is_in_frames(folder):
        _refuse_newer(_version(_file(folder, "runs")), folder)
        return {name: [_file(folder, name)] for name in SCHEMAS}
    raise _unfinished(folder)


def _version(path: Path) -> int:
    """Return the version of the schema in a file; 0 if another program wrote it."""
    try:
        version = pl.read_parquet_metadata(path).get(_VERSION_KEY, "")
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unreadable(error, path) from error
    return int(version) if version.isdecimal() else 0


def _unfinished(folder: Path) -> InputError:
    work = folder / UNFINISHED
    try:
        request = Request(**json.loads((work / REQUEST).read_bytes()))
        names = [word for name in request.names for word in ("--names", name)]
        append = ["--append"] if request.append else []
        read = sum(json.loads(path.read_bytes())["read"] for path in work.glob(f"*{DONE}"))
        command = shlex.join(["fsbench", "read", *request.paths, *names, "--to", str(folder), *append])
    except (OSError, ValueError, LookupError, TypeError) as error:
        return InputError(f"the dataset is unfinished, and its request cannot be read: {error}", file=folder)
    return InputError(
        f"the dataset is unfinished: {read:,} of {request.files:,} files were read; to continue, run {command}",
        file=folder,
    )


def _scanned(name: str, files: list[Path]) -> pl.LazyFrame:
    if not files:
        return pl.LazyFrame(schema=SCHEMAS[name])
    for path in files:
        if not path.is_file():
            raise InputError("the file does not exist", file=path)
    try:
        frame = pl.scan_parquet(files, glob=False, hive_partitioning=False)
        known = frame.collect_schema()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unreadable(error, files[0]) from error
    for column in SCHEMAS[name]:
        if column not in known:
            raise InputError(f'it lacks the column "{column}"', file=files[0])
    return frame.select(pl.col(column).cast(kind) for column, kind in SCHEMAS[name].items())


def _unreadable(error: Exception, path: Path) -> InputError:
    return InputError(str(error).partition("\n")[0], file=path)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"
