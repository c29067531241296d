"""The columns of the frames and of the tables that are made from them, each with a value from a real study."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import polars as pl

import fsbench_kit as fsb
from benchmarks.robustness import ROOT
from docs.generator.markdown import code, table
from fsbench_kit.analysis.latency import curves
from fsbench_kit.analysis.steady_state import steady_state
from fsbench_kit.analysis.variance_components import variance_components
from fsbench_kit.launch.replicate import side_by_side
from fsbench_kit.model.columns import meaning
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_LONGEST: Final = 48
"""The most letters of an example."""


def frames() -> str:
    """Return the columns of the six frames of a dataset."""
    return "\n\n".join(f"### `{name}`\n\n{_columns(name, [getattr(_studies(), name)])}" for name in SCHEMAS)


def tables() -> str:
    """Return the columns of what is made from a dataset."""
    return "\n\n".join(f"### {title}\n\n{_columns(name, made())}" for name, (title, made) in _MADE.items())


@cache
def _studies() -> fsb.Dataset:
    return fsb.read([ROOT / "raw_results" / kind for kind in ("recorded", "published", "replicated")])


@cache
def _study(name: str) -> fsb.Dataset:
    return _studies().filter(study=name)


def _comparisons() -> list[pl.DataFrame]:
    return [fsb.compare(_study("ext4-xfs-loop-2026")), fsb.compare(_study("fileserver-debian-2006"))]


_MADE: Final[dict[str, tuple[str, Callable[[], Iterable[pl.DataFrame]]]]] = {
    "comparison": ("`fsb.compare`", _comparisons),
    "geometric_mean": ("`fsb.geometric_mean`", lambda: [fsb.geometric_mean(_study("raid1-hdd-2020"))]),
    "audit": ("`fsb.audit`", lambda: [fsb.audit(ROOT / "raw_results" / "published" / "sysbench-rhel72")]),
    "sample_size": ("`fsb.sample_size`", lambda: [fsb.sample_size(_study("ext4-xfs-loop-2026"))]),
    "latency": (
        "`fsbench_kit.analysis.latency.curves`",
        lambda: [curves(_study("latency-loop-2026"))],
    ),
    "variance_components": (
        "`fsbench_kit.analysis.variance_components.variance_components`",
        lambda: [variance_components(_study("ext4-xfs-loop-2026"))],
    ),
    "steady_state": (
        "`fsbench_kit.analysis.steady_state.steady_state`",
        lambda: [steady_state(_study("ext4-xfs-loop-2026"))],
    ),
    "replication": (
        "`fsbench_kit.launch.replicate.side_by_side`",
        lambda: [
            side_by_side(_study("sysbench-rhel72"), _study("sysbench-rhel72-again")),
        ],
    ),
}
"""The tables by the name that `fsbench_kit.model.columns` has for them: title, and some that have rows."""


def _columns(name: str, made: Iterable[pl.DataFrame]) -> str:
    frames = list(made)
    return table(
        ("column", "type", "meaning", "example"),
        (
            (f"`{column}`", _type(kind), meaning(name, column), _example(frames, column))
            for column, kind in frames[0].schema.items()
        ),
    )


_TYPES: Final = {
    pl.String: "text",
    pl.Enum: "word",
    pl.Int64: "whole number",
    pl.Float64: "number",
    pl.Boolean: "truth",
    pl.Datetime: "date and time",
}


def _type(kind: pl.DataType) -> str:
    if isinstance(kind, pl.List):
        return "list of structs" if isinstance(kind.inner, pl.Struct) else f"list of {_type(kind.inner)}s"
    return _TYPES[type(kind)]


def _example(frames: Iterable[pl.DataFrame], column: str) -> str:
    """Return the first value that there is, and that says something."""
    for frame in frames:
        values = frame[column].drop_nulls()
        if isinstance(values.dtype, pl.List):
            values = values.list.first().drop_nulls()
            values = values.struct.field("words") if isinstance(values.dtype, pl.Struct) else values
        if len(values):
            first = values[0]
            text = (
                f"{first:.4g}"
                if isinstance(first, float)
                else " ".join(str(first).removeprefix(f"{ROOT}/").split())
            )
            return code(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ...")
    return ""
