"""What is read of fixtures, studies and the corpus is what was read before modules were moved and rewritten."""

import os

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.frames import BEFORE, NAMES, digests, inputs, read


@pytest.fixture(scope="module")
def frames() -> dict[str, pl.DataFrame]:
    return read(inputs())


@pytest.mark.parametrize("name", NAMES)
def test_fixtures_and_studies_give_the_same_frames(name: str, frames: dict[str, pl.DataFrame]) -> None:
    before = pl.read_parquet(BEFORE / f"{name}.parquet")
    now = frames[name].join(before.select("input").unique(), on="input", how="semi")  # fixtures may be added
    for each in before["input"].unique(maintain_order=True):
        assert_frame_equal(now.filter(input=each), before.filter(input=each), rel_tol=1e-12, abs_tol=0)


@pytest.mark.slow
@pytest.mark.skipif("FSBENCH_CORPUS" not in os.environ, reason="FSBENCH_CORPUS does not name the corpus")
def test_the_corpus_gives_the_same_frames() -> None:
    keys = ["input", "frame"]
    before = pl.read_csv(BEFORE / "corpus.csv")
    changed = (
        digests()
        .join(before, on=keys, how="full", suffix="_before")
        .filter(pl.col("sha256").ne_missing(pl.col("sha256_before")))
    )
    assert changed.select(keys).rows() == []
