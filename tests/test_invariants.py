"""What a fuzz once found is read by now, and so is every log of the project."""

from pathlib import Path

import pytest

from benchmarks.robustness import logs
from fsbench_kit.formats import FORMATS
from tests.invariants import seeds, violations

FOUND = sorted((Path(__file__).parent / "data" / "fuzz").glob("*"))


@pytest.mark.parametrize("path", [*logs().values(), *FOUND], ids=lambda path: path.name)
def test_no_invariant_is_violated(path: Path) -> None:
    assert violations(path.read_bytes()) == []


@pytest.mark.parametrize("tool", sorted({log_format.TOOL for log_format in FORMATS}))
def test_the_fuzz_has_logs_to_start_from(tool: str) -> None:
    assert seeds(tool)
