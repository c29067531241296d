"""Writes a table to a file, in the format given by its ending."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import polars as pl

from fsbench_kit.model.errors import RequestError


def _csv(frame: pl.DataFrame, path: Path) -> None:
    frame.with_columns(_as_text(name, kind) for name, kind in frame.schema.items() if kind.is_nested()).write_csv(
        path
    )


def _as_text(name: str, kind: pl.DataType) -> pl.Expr:
    """Convert a list of words to text with semicolons, and other nested values to JSON, for CSV."""
    if kind == pl.List(pl.String):
        return pl.col(name).list.join("; ")
    return pl.struct(name).struct.json_encode().alias(name)


WRITERS: Final[dict[str, Callable[[pl.DataFrame, Path], None]]] = {
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".csv": _csv,
    ".json": lambda frame, path: frame.write_json(path),
}
"""The function that writes a frame to a file, by the ending of its name."""


def check_ending(target: Path, endings: Iterable[str]) -> None:
    """Raise unless a file has one of the given endings.

    Raises
    ------
    RequestError
        If it has another ending.
    """
    if target.suffix not in endings:
        *most, last = endings
        raise RequestError(
            f"cannot write a table as {target.suffix or target.name!r}",
            file=target,
            hint=f"Give a file that ends in {', '.join(most)} or {last}.",
        )


def sources(frames: Mapping[str, pl.DataFrame]) -> set[str]:
    """Return the files of a dataset: those of its runs and those with diagnostics, such as copies."""
    return {name for frame in ("runs", "diagnostics") for name in frames[frame]["source"].drop_nulls()}


def keep_logs(files: Iterable[str | Path], target: Path) -> None:
    """Raise if a log would be overwritten.

    Raises
    ------
    RequestError
        If the target is one of the files.
    """
    if target.exists() and any(file.exists() and file.samefile(target) for file in map(Path, files)):
        raise RequestError("it is one of the logs", file=target, hint="Give the file another name.")


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Create the folder of a file to be written, and turn errors while writing into `RequestError`.

    Raises
    ------
    RequestError
        If the file cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        why = error.strerror or str(error).partition(" (os error")[0]  # the form of Polars' errors
        hint = "Name a place that you can write to."
        raise RequestError(f"cannot write it: {why}", file=target, hint=hint) from error


def write(frame: pl.DataFrame, target: Path) -> None:
    """Write a frame to a file, in the format given by its ending."""
    check_ending(target, WRITERS)
    with writing(target):
        WRITERS[target.suffix](frame, target)
