"""How much damage to a log is noticed: the share of changed figures that come with a diagnostic, per format.

Each log is read intact, and again with two of its lines swapped, a digit changed, or a byte. A
figure that the intact log does not have counts as caught if the damaged log has a diagnostic that the intact one
has not. Figures that a log prints once cannot be caught by any reader; the rest should be, as far as the change
is larger than what rounding allows.

    python -m benchmarks.robustness [REPETITIONS]
"""

from __future__ import annotations

import csv
import random
import re
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fsbench_kit.documents import read_document
from fsbench_kit.model.records import Diagnostic, Measurement, Run

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "docs" / "formats" / "robustness.csv"

Kind = tuple[str, str, str, str]
"""Tool, operation, metric and statistic of a figure."""
Key = tuple[object, ...]


class Reading(NamedTuple):
    """What was read of a log.

    Attributes
    ----------
    figures
        Whatever part they stand for.
    diagnostics
        How many there are, by their codes.
    formats
        Of its runs, in their order.
    twice
        The kinds of figures of which the log prints each more than once.
    """

    figures: frozenset[tuple[object, ...]]
    diagnostics: Counter[str]
    formats: tuple[str, ...] = ()
    twice: frozenset[Kind] = frozenset()


def logs() -> dict[str, Path]:
    """Return the logs of the project by format and name: the tests' fixtures, and the published ones."""
    fixtures = {
        f"{path.parent.name}/{path.name}": path
        for path in (ROOT / "tests" / "data").glob("*[!_]/*.*")
        if path.parent.name not in {"fio_log", "other"}
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
    runs = [record for record in records if isinstance(record, Run)]
    figures = {
        (*kind(run, item), item.state, item.value, item.low if item.value is None else None)
        for run in runs
        for item in run.measurements
    }
    known = []
    for run in runs:
        twice = told_twice(run)
        known += [(kind(run, item), key(item) in twice) for item in run.measurements]
    return Reading(
        frozenset(figures),
        Counter(record.code for record in records if isinstance(record, Diagnostic)),
        tuple(run.format or "" for run in runs),
        frozenset(name for name, _ in known) - {name for name, is_twice in known if not is_twice},
    )


def kind(run: Run, item: Measurement) -> Kind:
    """Return what a figure is of, whatever part it stands for."""
    return run.tool, item.operation, item.metric, item.statistic


def key(item: Measurement) -> Key:
    """Return what a figure stands for."""
    sizes = item.file_size, item.block_size, item.threads
    return item.scope, item.part, item.operation, item.metric, item.statistic, *sizes


_TIES = tuple(
    frozenset((metric, "value") if isinstance(metric, str) else metric for metric in tie)
    for tie in (
        ("bandwidth", "bytes", "runtime"),
        ("bandwidth", "bytes", ("runtime", "max")),
        ("iops", "operations", "runtime"),
        (("latency", "mean"), "operations", "event_time"),
        ("file_rate", "elapsed"),
    )
)
"""Metrics and statistics of one part that determine each other."""


_ADDED_UP = {"bandwidth", "iops", "thread_events", "thread_time"}
"""Metrics of single processes or threads whose sum is printed as well."""


def told_twice(run: Run) -> set[Key]:
    """Return the figures that a log prints twice, or that others of it determine."""
    known = [item for item in run.measurements if item.low is not None and item.high is not None]
    primary = [item for item in known if item.primary]
    twice = {key(item) for item in known if not item.primary} & set(map(key, primary))
    parts: dict[Key, dict[tuple[str, str], Measurement]] = defaultdict(dict)
    processes: dict[Key, list[Measurement]] = defaultdict(list)
    for item in primary:
        parts[item.scope, item.part, item.operation][item.metric, item.statistic] = item
        if item.scope == "thread" and item.part is not None and item.metric in _ADDED_UP:
            processes[item.operation, item.metric, item.threads].append(item)
    for figures in parts.values():
        for tie in _TIES:
            if tie <= figures.keys():
                twice |= {key(figures[member]) for member in tie}
    for (*_, threads), items in processes.items():
        if len(items) == threads:
            twice |= set(map(key, items))
    return twice


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


def measure(repetitions: int) -> dict[tuple[str, str, str], Counter[str]]:
    """Count changed figures, and those that were caught, by format, damage, and how often they are printed."""
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for name, path in logs().items():
        data = path.read_bytes()
        intact = reading(data)
        if not intact.figures:
            continue
        for damage, apply in DAMAGES.items():
            chance = random.Random(name)
            for _ in range(repetitions):
                damaged = reading(apply(data, chance))
                new = damaged.figures - intact.figures
                caught = bool(damaged.diagnostics - intact.diagnostics)
                for printed in {"twice" if figure[:4] in intact.twice else "once" for figure in new}:
                    counts[intact.formats[0], damage, printed] += Counter(changed=1, caught=caught)
    return counts


def main(repetitions: int = 50) -> None:
    """Measure, and keep the result for the formats' page."""
    date = datetime.now(UTC).date().isoformat()
    counts = sorted(measure(repetitions).items())
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("format", "damage", "printed", "changed", "caught", "repetitions", "date"))
        for row, count in counts:
            table.writerow((*row, count["changed"], count["caught"], repetitions, date))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
