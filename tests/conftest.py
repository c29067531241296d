"""What several tests need: the project's folders, and small studies written on the spot."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fsbench_kit.compare import COLUMNS

SMALLFILES_LOG = """\
# datasize: 4k
-------------------------
# {filesystem}
file_create 1000
write: {rate}/sec, write/{elapsed} secs, write_sync/0.100 secs
"""


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def published(root: Path) -> Path:
    return root / "raw_results" / "published"


@pytest.fixture
def smallfiles_log() -> Callable[..., str]:
    """Return a function that writes the log of one small run with a given rate."""

    def write(filesystem: str = "ext4", rate: float = 2000.0) -> str:
        return SMALLFILES_LOG.format(filesystem=filesystem, rate=f"{rate:.3f}", elapsed=f"{1000 / rate:.3f}")

    return write


@pytest.fixture(scope="session")
def comparison() -> Callable[..., pl.DataFrame]:
    """Return a function that makes a comparison of rows given by the columns that matter to a test."""

    def make(*rows: dict[str, Any]) -> pl.DataFrame:
        return pl.DataFrame([COMPARISON_ROW | row for row in rows], schema=COLUMNS, orient="row")

    return make


COMPARISON_ROW: dict[str, Any] = {
    "study": "quick",
    "tool": "fio",
    "pattern": "randwrite",
    "scope": "all",
    "part": None,
    "operation": "write",
    "block_size": 4096,
    "file_size": 2**30,
    "threads": 1,
    "iodepth": "8",
    "metric": "bandwidth",
    "statistic": "value",
    "unit": "B/s",
    "better": "higher",
    "factor": "filesystem",
    "baseline": "ext4",
    "level": "xfs",
    "value_baseline": 100 * 2.0**20,
    "value_candidate": 184 * 2.0**20,
    "n_baseline": 5,
    "n_candidate": 5,
    "n_pairs": 5,
    "ratio": 1.84,
    "rounding_low": None,
    "rounding_high": None,
    "ci_low": 1.71,
    "ci_high": 1.98,
    "confidence": 0.95,
    "prediction_low": None,
    "prediction_high": None,
    "break_even_cv": None,
    "estimand": "ratio of geometric means",
    "method": "paired t on logs",
    "p": 0.0001,
    "p_adjusted": 0.001,
    "verdict": "better",
    "reasons": [],
    "footnotes": [],
}
"""One row of a comparison in which everything is as it should be."""
