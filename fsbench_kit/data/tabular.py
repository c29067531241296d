"""One table of data as a file: the formats, by the endings of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
    """Write a list of words with semicolons, and any other nest as JSON: CSV has neither."""
    if kind == pl.List(pl.String):
        return pl.col(name).list.join("; ")
    return pl.struct(name).struct.json_encode().alias(name)


WRITERS: Final[dict[str, Callable[[pl.DataFrame, Path], None]]] = {
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".csv": _csv,
    ".json": lambda frame, path: frame.write_json(path),
}
"""Ending -> what writes a frame as such a file."""


def check_ending(target: Path, endings: Iterable[str]) -> None:
    """Refuse a file with another ending than some.

    Raises
    ------
    RequestError
        If it has another one.
    """
    if target.suffix not in endings:
        *most, last = endings
        raise RequestError(
            f"cannot write a table as {target.suffix or target.name!r}",
            file=target,
            hint=f"Give a file that ends in {', '.join(most)} or {last}.",
        )


def keep_logs(runs: pl.DataFrame, target: Path) -> None:
    """Refuse to write over a log that some runs were read from.

    Raises
    ------
    RequestError
        If the file is one.
    """
    if not target.exists():
        return
    for source in map(Path, runs["source"].drop_nulls().unique()):
        if source.exists() and source.samefile(target):
            raise RequestError("it is one of the logs", file=target, hint="Give the file another name.")


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Make the folder of a file that is written, and say what goes wrong.

    Raises
    ------
    RequestError
        If it cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        why = error.strerror or str(error).partition(" (os error")[0]  # as Polars says it
        raise RequestError(f"cannot write it: {why}", file=target) from error


def write(frame: pl.DataFrame, target: Path) -> None:
    """Write a frame to a file; its ending says how."""
    check_ending(target, WRITERS)
    with writing(target):
        WRITERS[target.suffix](frame, target)
