"""The columns of a dataset's six frames, declared in one place, and their version on disk.

`fsbench_kit.data.Dataset` checks every frame that it is given against them.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from fsbench_kit.model.errors import RequestError
from fsbench_kit.model.vocabulary import ORIGINS, SCOPES, SEVERITIES, STAGES, STATES, STATUSES, STUDY_ORIGINS

LARGEST: Final = 2**63 - 1
"""The largest integer that a column holds."""

VERSION: Final = 1
"""The version of the frames, stored in the files of a dataset."""

SCHEMAS: Final[dict[str, pl.Schema]] = {
    "runs": pl.Schema(
        {
            "run_id": pl.String(),
            "study": pl.String(),
            "origin": pl.Enum(STUDY_ORIGINS),
            "stage": pl.Enum(STAGES),
            "round": pl.Int64(),
            "order": pl.Int64(),
            "target": pl.String(),
            "workload": pl.String(),
            "tool": pl.String(),
            "tool_version": pl.String(),
            "filesystem": pl.String(),
            "host": pl.String(),
            "started_at": pl.Datetime("us"),
            "ended_at": pl.Datetime("us"),
            "duration": pl.Float64(),
            "status": pl.Enum(STATUSES),
            "exit_code": pl.Int64(),
            "averaged_over": pl.Int64(),
            "source": pl.String(),
            "start": pl.Int64(),
            "end": pl.Int64(),
            "line": pl.Int64(),
            "sha256": pl.String(),
        }
    ),
    "settings": pl.Schema(
        {
            "run_id": pl.String(),
            "scope": pl.Enum(SCOPES),
            "part": pl.String(),
            "key": pl.String(),
            "value": pl.String(),
            "origin": pl.Enum(ORIGINS),
            "line": pl.Int64(),
        }
    ),
    "measurements": pl.Schema(
        {
            "run_id": pl.String(),
            "scope": pl.Enum(SCOPES),
            "part": pl.String(),
            "operation": pl.String(),
            "block_size": pl.Int64(),
            "file_size": pl.Int64(),
            "threads": pl.Int64(),
            "metric": pl.String(),
            "statistic": pl.String(),
            "value": pl.Float64(),
            "unit": pl.String(),
            "state": pl.Enum(STATES),
            "low": pl.Float64(),
            "high": pl.Float64(),
            "samples": pl.Int64(),
            "text": pl.String(),
            "line": pl.Int64(),
            "primary": pl.Boolean(),
        }
    ),
    "distributions": pl.Schema(
        {
            "run_id": pl.String(),
            "scope": pl.Enum(SCOPES),
            "part": pl.String(),
            "operation": pl.String(),
            "metric": pl.String(),
            "low": pl.Float64(),
            "high": pl.Float64(),
            "count": pl.Int64(),
            "share": pl.Float64(),
            "line": pl.Int64(),
        }
    ),
    "series": pl.Schema(
        {
            "run_id": pl.String(),
            "part": pl.String(),
            "operation": pl.String(),
            "metric": pl.String(),
            "statistic": pl.String(),
            "time": pl.Float64(),
            "value": pl.Float64(),
        }
    ),
    "diagnostics": pl.Schema(
        {
            "source": pl.String(),
            "line": pl.Int64(),
            "start": pl.Int64(),
            "end": pl.Int64(),
            "severity": pl.Enum(SEVERITIES),
            "code": pl.String(),
            "message": pl.String(),
            "excerpt": pl.String(),
        }
    ),
}
"""The columns of each frame. Unknown is null."""

MEASUREMENT_KEY: Final = (
    "scope",
    "part",
    "operation",
    "metric",
    "statistic",
    "block_size",
    "file_size",
    "threads",
)
"""The columns that identify a measurement; unique among the primary measurements of a run."""


def checked(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the columns of its schema, in schema order.

    Values of other types are cast where possible: whole numbers to fractions, strings to an Enum.

    Parameters
    ----------
    name
        A key of `SCHEMAS`.
    frame
        The frame.

    Raises
    ------
    RequestError
        If a column is missing, unexpected, or holds values that its type does not allow; the message names it.

    Examples
    --------
    >>> import polars as pl
    >>> checked("runs", pl.DataFrame({"run_id": ["a"]}))
    Traceback (most recent call last):
        ...
    fsbench_kit.model.errors.RequestError: the frame "runs" lacks the column "study"
    """
    schema = SCHEMAS[name]
    if not isinstance(frame, pl.DataFrame):
        raise RequestError(f'the frame "{name}" is a {type(frame).__name__}, not a Polars DataFrame')
    if _has(frame, name):
        return frame
    for column in schema:
        if column not in frame.columns:
            raise RequestError(f'the frame "{name}" lacks the column "{column}"')
    for column, kind in frame.schema.items():
        if column not in schema:
            raise RequestError(
                f'the frame "{name}" has a column "{column}", which its schema does not have',
                hint="Drop it, or keep it in a frame of your own and join that on run_id.",
            )
        if kind != schema[column]:
            frame = frame.with_columns(_cast(name, frame[column], schema[column]))
    return frame.select(schema.names())


def _has(frame: pl.DataFrame, name: str) -> bool:
    """Whether a frame has a schema: Polars compares types without the Python objects that stand for them."""
    try:
        frame.clear().vstack(_EMPTY[name])
    except pl.exceptions.PolarsError:
        return False
    return True


_EMPTY: Final = {name: pl.DataFrame(schema=schema) for name, schema in SCHEMAS.items()}


def _cast(name: str, column: pl.Series, kind: pl.DataType) -> pl.Series:
    try:
        if not _fits(column.dtype, kind):
            raise pl.exceptions.InvalidOperationError(f"it is {column.dtype}")
        return column.cast(kind)
    except pl.exceptions.PolarsError as error:
        what = str(error).partition("\n")[0]
        raise RequestError(f'the column "{column.name}" of the frame "{name}" has to be {kind}: {what}') from error


def _fits(given: pl.DataType, kind: pl.DataType) -> bool:
    words = (pl.String, pl.Enum, pl.Categorical)
    return (
        given == pl.Null
        or (isinstance(given, words) and isinstance(kind, words))
        or (given.is_integer() and kind.is_numeric())
        or (given.is_float() and kind.is_float())
        or (given.is_temporal() and kind.is_temporal())
    )
