"""What several tests need: the project's folders, and small studies written on the spot."""

from collections.abc import Callable
from pathlib import Path

import pytest

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
