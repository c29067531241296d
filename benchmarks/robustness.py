"""How much damage to a log is noticed: the share of changed figures that come with a diagnostic, per format.

Each log is read intact, and again with two of its lines swapped, a digit changed, or a byte. A
figure that the intact log does not have counts as caught if the damaged log has a warning that the intact one
has not. Figures that a log prints once cannot be caught by any reader; the rest should be.

    python benchmarks/robustness.py [REPETITIONS]
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table

from fsbench_kit.documents import read_document
from fsbench_kit.records import Diagnostic, Run

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]


class Reading(NamedTuple):
    """What was read of a log: its figures, whatever part they stand for, and its diagnostics with their codes."""

    figures: frozenset[tuple[object, ...]]
    diagnostics: Counter[str]


def logs() -> dict[str, Path]:
    """Return the logs of the project by format and name: the tests' fixtures, and the published ones."""
    fixtures = {
        f"{path.parent.name}/{path.name}": path
        for path in (ROOT / "tests" / "data").glob("*/*.*")
        if path.parent.name != "other"
    }
    published = {
        f"published/{path.relative_to(ROOT / 'raw_results' / 'published')}": path
        for path in (ROOT / "raw_results" / "published").glob("*/*")
        if path.suffix in {".txt", ".csv"} and not path.stem.startswith(("provision", "command"))
    }
    return dict(sorted((fixtures | published).items()))


def reading(data: bytes) -> Reading:
    """Read a log, and say of each figure what it is of and how large."""
    records = list(read_document(data, "log"))
    figures = {
        (run.tool, m.operation, m.metric, m.statistic, m.state, m.value, m.low if m.value is None else None)
        for run in records
        if isinstance(run, Run)
        for m in run.measurements
    }
    return Reading(frozenset(figures), Counter(d.code for d in records if isinstance(d, Diagnostic)))


# Damage


def doubled(data: bytes) -> bytes:
    """Print each line twice."""
    return b"".join(line + line for line in lines(data))


def collapsed(data: bytes) -> bytes:
    """Turn line breaks into spaces."""
    return re.sub(rb"\s*\n", b" ", data)


def unindented(data: bytes) -> bytes:
    """Take away the indents."""
    return re.sub(rb"(?m)^[ \t]+", b"", data)


def shuffled(data: bytes, chance: random.Random) -> bytes:
    """Swap two lines."""
    rows = lines(data)
    one, other = chance.randrange(len(rows)), chance.randrange(len(rows))
    rows[one], rows[other] = rows[other], rows[one]
    return b"".join(rows)


def flipped(data: bytes, chance: random.Random) -> bytes:
    """Change one digit to another, as a slip of the pen does."""
    digits = [match.start() for match in re.finditer(rb"\d", data)]
    at = chance.choice(digits)
    new = chance.choice([d for d in b"0123456789" if d != data[at]])
    return data[:at] + bytes([new]) + data[at + 1 :]


def garbled(data: bytes, chance: random.Random) -> bytes:
    """Change one byte to any other."""
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ chance.randrange(1, 256)]) + data[at + 1 :]


def lines(data: bytes) -> list[bytes]:
    """Return the lines of a log, each with its end."""
    return data.splitlines(keepends=True)


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "lines swapped": shuffled,
    "digit changed": flipped,
    "byte changed": garbled,
}


def main(repetitions: int = 200) -> None:
    """Measure and print."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for name, path in logs().items():
        data = path.read_bytes()
        intact = reading(data)
        if not intact.figures:
            continue
        for damage, apply in DAMAGES.items():
            chance = random.Random(name)
            count = counts[name.split("/")[0], damage]
            for _ in range(repetitions):
                damaged = reading(apply(data, chance))
                if damaged.figures - intact.figures:
                    count["changed"] += 1
                    count["caught"] += bool(damaged.diagnostics - intact.diagnostics)
                count["damaged"] += 1
    table = Table("format", "damage", "logs damaged", "with a changed figure", "of these caught")
    for (name, damage), count in sorted(counts.items()):
        share = count["caught"] / count["changed"] if count["changed"] else None
        table.add_row(
            name,
            damage,
            str(count["damaged"]),
            f"{count['changed'] / count['damaged']:.0%}",
            "~" if share is None else f"{share:.0%}",
        )
    Console().print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
