"""What is read of every fixture and study, as six frames; and of every log of the corpus, as digests.

``python -m tests.frames`` writes them to ``tests/before``, with the version of the kit that it finds: run it
on a commit that reads right, and read with another one.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import fsbench_kit as fsb
from fsbench_kit.model.errors import InputError

ROOT = Path(__file__).parents[1]
BEFORE = ROOT / "tests" / "before"
NAMES = ("runs", "settings", "measurements", "distributions", "series", "diagnostics")
_WORDS = {"diagnostics": ["message", "source"], "runs": ["source"]}
"""Columns whose text may be worded anew, and the path that depends on the place."""


def inputs() -> Iterator[tuple[str, Path]]:
    """Yield fixtures and studies, by their paths in the project. Replications may be recorded anew at any time."""
    studies = [path.parent for path in sorted(ROOT.glob("raw_results/[!r]*/*/study.toml"))]
    studies += sorted(path for path in ROOT.glob("raw_results/recorded/*") if path.is_dir())
    fixtures = [path for path in sorted((ROOT / "tests" / "data").rglob("*")) if path.is_file()]
    for path in [*studies, *(path for path in fixtures if path.suffix not in {".py", ".pyc"})]:
        yield path.relative_to(ROOT).as_posix(), path


def corpus() -> Iterator[tuple[str, Path]]:
    """Yield the logs of the corpus, by their paths in it."""
    folder = Path(os.environ["FSBENCH_CORPUS"])
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "MANIFEST.csv":
            yield path.relative_to(folder).as_posix(), path


def frames_of(path: Path) -> dict[str, pl.DataFrame] | None:
    """Return what is read of a path, with its rows in order; ``None`` where it holds no run."""
    try:
        data = fsb.read(path)
    except InputError:
        return None
    frames = {name: getattr(data, name).drop(_WORDS.get(name, [])) for name in NAMES}
    texts = {name: frame.with_columns(pl.col(pl.Enum).cast(pl.String)) for name, frame in frames.items()}
    return {name: frame.sort(frame.columns, nulls_last=True) for name, frame in texts.items()}


def read(given: Iterator[tuple[str, Path]]) -> dict[str, pl.DataFrame]:
    """Return the frames of all that was given, each row with the input it is from."""
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in NAMES}
    for key, path in given:
        for name, frame in (frames_of(path) or {}).items():
            parts[name].append(frame.select(pl.lit(key).alias("input"), pl.all()))
    return {name: pl.concat(frames) for name, frames in parts.items()}


def digests() -> pl.DataFrame:
    """Return a digest of each frame of each log of the corpus, in which floats have twelve digits."""
    rows = []
    for key, path in corpus():
        for name, frame in (frames_of(path) or {}).items():
            short = frame.with_columns(pl.col(pl.Float64).map_elements(lambda x: f"{x:.12g}", pl.String))
            digest = hashlib.sha256(short.write_csv().encode()).hexdigest()
            rows.append((key, name, frame.height, digest))
    return pl.DataFrame(rows, schema=["input", "frame", "rows", "sha256"], orient="row")


if __name__ == "__main__":
    BEFORE.mkdir(exist_ok=True)
    for name, frame in read(inputs()).items():
        frame.write_parquet(BEFORE / f"{name}.parquet", compression_level=22)
    if "FSBENCH_CORPUS" in os.environ:
        digests().write_csv(BEFORE / "corpus.csv")
