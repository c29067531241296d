"""A fuzz of the readers, guided by the coverage of their code: 10 minutes for each tool, outside of the tests.

    make fuzz TOOL=fio

What breaks an invariant is kept in ``tests/data/fuzz``, where the tests replay it.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris

with atheris.instrument_imports(include=["fsbench_kit"]):
    from tests.invariants import LONGEST, seeds, violations

KEPT = Path(__file__).parents[1] / "tests" / "data" / "fuzz"
SECONDS = 600
SLOWEST = 10
"""Seconds that one text may take on a busy machine."""


def main(tool: str, seconds: int = SECONDS) -> None:
    """Mutate the logs of a tool until one of them violates an invariant, and keep that one."""
    KEPT.mkdir(exist_ok=True)

    def check(data: bytes) -> None:
        try:
            problems = violations(data)
        except Exception as error:
            problems = [repr(error)]
        if problems:
            kept = KEPT / f"{tool}-{hashlib.sha256(data).hexdigest()[:12]}"
            kept.write_bytes(data)
            raise RuntimeError(f"{kept}: {problems[0]}")

    with TemporaryDirectory() as corpus:
        for name, data in seeds(tool).items():
            (Path(corpus) / name.replace("/", "-")).write_bytes(data)
        limits = (f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={SLOWEST}")
        atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={corpus}/", "-print_final_stats=1", corpus], check)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
