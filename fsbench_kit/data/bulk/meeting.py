"""Settles runs that appear in several chunks, such as those of a file and its copy in another folder.

Chunks are read separately. Files with runs of equal bytes are read once more, together, which shows whether they
are the same run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from fsbench_kit.data.bulk.parts import Part, frame_of, read_chunk, write_part
from fsbench_kit.data.bulk.plan import FILES, Chunk, Entry
from fsbench_kit.data.dataset import Dataset
from fsbench_kit.model.schema import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fsbench_kit.data.bulk.workers import Workers

_PART: Final = "part"
"""The column with the number of the part that a run is in."""

_RUN: Final = ("run_id", "sha256", "source", "start", "study")


def settle(
    parts: Sequence[Part],
    chunks: Sequence[Chunk],
    names: Sequence[str],
    folder: Path,
    each: Workers,
) -> list[Part]:
    """Make each run count once, with an id of its own.

    Parameters
    ----------
    parts, chunks
        The parts that were read, and the chunk of each.
    names
        What the names of logs mean.
    folder
        The folder with the files of the parts; changed parts get new files.
    each
        Calls a function for several chunks.
    """
    runs = pl.concat(
        frame_of("runs", part, folder, _RUN).with_columns(pl.lit(number).alias(_PART))
        for number, part in enumerate(parts)
    )
    met = runs.filter(pl.col(_PART).n_unique().over("sha256") > 1)
    if met.is_empty():
        return list(parts)
    numbers: list[int] = met[_PART].unique().sort().to_list()
    again = [
        found for _, found in each(_read_again, ((entries, names) for entries in _read_together(met, chunks)))
    ]
    sizes = pl.concat(
        _sizes(parts[number], folder).with_columns(pl.lit(number).alias(_PART)) for number in numbers
    )
    ids: dict[int, dict[str, str | None]] = {number: {} for number in numbers}
    for number, run_id, new in _ids(met.join(sizes, on=[_PART, "run_id"]), pl.concat(found for found, _ in again)):
        ids[number][run_id] = new
    settled = list(parts)
    for index, part in each(_with_ids, ((parts[number], ids[number], folder) for number in numbers)):
        settled[numbers[index]] = part
    known = pl.concat(_of_met_runs(frame_of("diagnostics", parts[number], folder)) for number in numbers)
    diagnostics = pl.concat(diagnostics for _, diagnostics in again)
    diagnostics = diagnostics.join(
        known, on=diagnostics.columns, how="anti", nulls_equal=True, maintain_order="left"
    )
    empty = {name: pl.DataFrame(schema=schema) for name, schema in SCHEMAS.items()}
    return [*settled, write_part(Dataset(**{**empty, "diagnostics": diagnostics}), f"{len(parts):06}-met", folder)]


def _read_again(entries: Sequence[Entry], names: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the runs in files, and the diagnostics about runs in several places."""
    data = read_chunk(entries, names)
    return data.runs.select(_RUN), _of_met_runs(data.diagnostics)


def _of_met_runs(diagnostics: pl.DataFrame) -> pl.DataFrame:
    return diagnostics.filter(pl.col("code").is_in(["SAME_RUN", "SAME_FIGURES"]))


def _read_together(met: pl.DataFrame, chunks: Sequence[Chunk]) -> Iterator[list[Entry]]:
    """Yield the entries that must be read together; small groups are combined."""
    by_path = {number: {entry.path: entry for entry in chunks[number].entries} for number in met[_PART].unique()}
    groups: dict[Entry, dict[Entry, None]] = {}
    for _, rows in met.group_by("sha256", maintain_order=True):
        joined: dict[Entry, None] = {}
        for number, source in rows.select(_PART, "source").rows():
            path = Path(source)
            found = (entry for at in (path, *path.parents) if (entry := by_path[number].get(str(at))) is not None)
            # A source that is not a path, such as several fio log files, stands for everything read with it.
            for entry in [*found][:1] or chunks[number].entries:
                if entry not in joined:
                    joined |= groups.get(entry, {entry: None})
        groups |= dict.fromkeys(joined, joined)
    lot: list[Entry] = []
    for group in {id(group): group for group in groups.values()}.values():
        if lot and len(lot) + len(group) > FILES:
            yield lot
            lot = []
        lot += group
    yield lot


def _sizes(part: Part, folder: Path) -> pl.DataFrame:
    """Return how many rows each run of a part has."""
    rows = (frame_of(name, part, folder, ["run_id"]) for name in ("runs", "settings", "measurements", "series"))
    return pl.concat(rows).group_by("run_id").len("size")


def _ids(met: pl.DataFrame, together: pl.DataFrame) -> Iterator[tuple[int, str, str | None]]:
    """Yield the part, id and new id of each run; the new id is ``None`` if it duplicates another of these runs.

    Of several prints of one run, the one with the most data is kept; prints in a study come before single files.
    """
    places = {
        sha256: set(zip(sources, starts, strict=True))
        for sha256, sources, starts in together.group_by("sha256").agg("source", "start").rows()
    }
    ordered = met.sort(pl.col("study").is_null(), -pl.col("size").cast(pl.Int64), _PART, maintain_order=True)
    for (sha256,), rows in ordered.group_by("sha256", maintain_order=True):
        found = [
            (number, run_id, (source, start))
            for number, run_id, source, start in rows.select(_PART, "run_id", "source", "start").rows()
        ]
        apart = places.get(sha256, set())  # empty if the run is a copy of a more complete one
        kept = found[:1] if len(apart) < 2 else [run for run in found if run[2] in apart]
        if len(kept) < len(apart):
            kept = found
        for number, run_id, _ in found:
            stem = run_id.rpartition("-")[0]
            ordinal = next((k for k, run in enumerate(kept, 1) if run[:2] == (number, run_id)), None)
            yield number, run_id, None if ordinal is None else f"{stem}-{ordinal}"


def _with_ids(part: Part, ids: Mapping[str, str | None], folder: Path) -> Part:
    """Replace the ids of runs in a part, and drop the runs without a new id."""
    out = [run_id for run_id, new in ids.items() if new is None]
    names = {run_id: new for run_id, new in ids.items() if new is not None}
    frames = {name: frame_of(name, part, folder) for name in SCHEMAS}
    changed = {
        name: frame.filter(~pl.col("run_id").is_in(out)).with_columns(pl.col("run_id").replace(names))
        for name, frame in frames.items()
        if "run_id" in frame.columns
    }
    return write_part(Dataset(**{**frames, **changed}), f"{part.name}-met", folder)
