"""What a fuzz once found is read by now, and so is every log of the project."""

from pathlib import Path

from benchmarks.robustness import logs
from fsbench_kit.formats import TOOLS
from tests.invariants import seeds, violations

FOUND = sorted((Path(__file__).parent / "data" / "fuzz").glob("*"))


def test_no_invariant_is_violated() -> None:
    found = {path: violations(path.read_bytes()) for path in (*logs().values(), *FOUND)}
    assert len(found) > 100
    assert {path: problems for path, problems in found.items() if problems} == {}


def test_the_fuzz_has_logs_to_start_from() -> None:
    assert [name for name in TOOLS if not seeds(name)] == []
