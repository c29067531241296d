"""Times how clean logs are taken out of documents, beside plain decoding of their bytes.

    python benchmarks/documents.py [--megabytes 10] [--repeats 3]

Machines differ, so read the ratios: each is a best time over that of ``bytes.decode`` in the same process. A clean
log needs no repair, and should not pay for those of others.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from fsbench_kit.documents.encoding import decode
from fsbench_kit.documents.pieces import commands
from fsbench_kit.documents.repair import repair
from fsbench_kit.formats import sniff
from fsbench_kit.formats.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[1] / "tests" / "data"
LOGS = (
    "fio_normal/3.33-grouped.txt",
    "fio_json/3.33-grouped.json",
    "fio_terse/3.33-v3-two-jobs.txt",
    "sysbench/1.0.20-seqwr.txt",
    "iozone/3.489-throughput.txt",
    "bonnie/2.00a-report.txt",
)


def best(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest of several times, in seconds."""
    times = []
    for _ in range(repeats):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def main() -> None:
    """Print a row of ratios for each log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=10.0)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{'log':<32}{'decode':>9}{'Text':>8}{'repair':>8}{'commands':>10}{'sniff':>8}")
    for name in LOGS:
        log = (DATA / name).read_bytes()
        data = log * (int(options.megabytes * 1e6) // len(log))
        chars = data.decode()
        text = Text(chars)
        unit = best(lambda data=data: data.decode(), options.repeats)  # type: ignore[misc]
        steps: tuple[Callable[[], object], ...] = (
            lambda data=data: decode(data, "log"),
            lambda text=text: repair(text),
            lambda text=text: list(commands(text)),
            lambda chars=chars: sniff(chars),
        )
        ratios = [best(step, options.repeats) / unit for step in steps]
        widths = (8, 8, 10, 8)
        cells = "".join(f"{ratio:>{width}.0f}" for ratio, width in zip(ratios, widths, strict=True))
        print(f"{name:<32}{unit * 1e3:>6.1f} ms{cells}")


if __name__ == "__main__":
    main()
