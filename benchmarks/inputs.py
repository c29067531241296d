"""Fresh logs for benchmarks, made from real ones, so that no two are alike and nothing was read before.

They are logs of more runs of the same workloads (see `benchmarks.runs`); or damaged ones, with other digits.
"""

from __future__ import annotations

import html
import random
import re
from dataclasses import dataclass
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from benchmarks.fio_json import another_document
from benchmarks.runs import another_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT: Final = Path(__file__).parents[1]
DATA: Final = ROOT / "tests" / "data"
PUBLISHED: Final = ROOT / "raw_results" / "published"
FIO_IN_THREE_FORMATS: Final = Path(__file__).parent / "data" / "fio-3.33-normal-terse-json-plus.txt"
"""What fio 3.33 printed with ``--output-format=normal,terse,json+`` for three jobs."""

SYSBENCH: Final = (
    *sorted(PUBLISHED.glob("sysbench-rhel72/*.txt")),
    DATA / "sysbench" / "1.0.20-seqrd.txt",
    DATA / "sysbench" / "1.0.20-seqwr.txt",
    DATA / "sysbench" / "1.1.0-rndrw.txt",
)
BONNIE: Final = tuple(
    DATA / "bonnie" / name
    for name in ("1.03e-report.txt", "1.97-report.txt", "1.98-report.txt", "2.00a-report.txt")
)
FIO_TEXT: Final = tuple(
    DATA / "fio_normal" / name for name in ("3.33-grouped.txt", "3.33-bits.txt", "3.33-reads-writes-and-both.txt")
)
IOZONE_WITH_CPU: Final = (DATA / "iozone" / "3.489-mmap-cpu.txt",)

QUICK: Final = 0.1
LARGE: Final = 10.0
"""Shares of what a benchmark makes, for a quick one and a large one."""

_FIGURE: Final = re.compile(
    r"(?P<kept>Revision: \d\.\d+|Version\s+\d\.\d\d|^\d\.\d\d,\d\.\d\d"
    r'|\d+(?:\.\d+)?(?:%=|th=\[ *|" : )\d+|\b(?:100|0)\.0+\b)'
    r"|(?<![\w.:/-])(?:\d+\.\d+|\d{5,})(?![\w.:/])",
    re.MULTILINE,
)
_JOB: Final = re.compile(r"^    \{\n.*?^    \},?\n", re.MULTILINE | re.DOTALL)
_BINS: Final = re.compile(r',\n *"bins" : \{[^}]*\}')


@dataclass(frozen=True)
class Inputs:
    """Makes what a row reads.

    Attributes
    ----------
    folder
        An empty one.
    seed
        Of the digits.
    share
        How much of it to make, so that a benchmark can be a quick one.
    """

    folder: Path
    seed: int
    share: float = 1.0

    def count(self, number: int, least: int = 1) -> int:
        """Return how many there are to be of what there would be so many of."""
        return max(round(number * self.share), least)

    def logs(
        self,
        originals: Sequence[Path | str],
        number: int,
        suffix: str = ".txt",
        change: Callable[[str, random.Random], str] | None = None,
    ) -> Path:
        """Write logs like some files or texts, in turns, and return their folder; other digits are the default."""
        change = change or other_digits
        rng = random.Random(self.seed)
        texts = [item if isinstance(item, str) else item.read_text() for item in originals]
        folder = self.folder / "logs"
        folder.mkdir()
        for index in range(self.count(number)):
            (folder / f"{index:06}{suffix}").write_text(change(texts[index % len(texts)], rng))
        return folder

    def fio_json(self, number: int, jobs: Sequence[int], *, with_bins: bool) -> Path:
        """Write fio's JSON of further runs of so many jobs, in turns, and return their folder."""
        chance = np.random.default_rng(self.seed)
        folder = self.folder / "logs"
        folder.mkdir()
        for index in range(self.count(number)):
            text = another_document(json_plus(jobs[index % len(jobs)]), chance)
            (folder / f"{index:06}.json").write_text(text if with_bins else without_bins(text))
        return folder

    def page(self, size: int) -> Path:
        """Write an article as a page of HTML, with a log of each of three formats, and return its folder."""
        rng = random.Random(self.seed)
        words = (ROOT / "LICENSE").read_text().split()
        logs = [html.escape(another_run(some[0].read_text(), rng)) for some in (SYSBENCH, FIO_TEXT, BONNIE)]
        parts = []
        for log in logs:
            prose = 0
            while prose < self.count(size) / len(logs):
                sentence = " ".join(rng.choices([*words, str(rng.randrange(1000)), f"{rng.random():.2f}"], k=80))
                parts.append(f"<p>{html.escape(sentence)}.</p>")
                prose += len(parts[-1])
            parts.append(f"<pre>{log}</pre>")
        (folder := self.folder / "page").mkdir()
        (folder / "index.html").write_text(
            f"<!DOCTYPE html>\n<html><body>\n{chr(10).join(parts)}\n</body></html>\n"
        )
        return folder

    def averaged_logs(self, number: int, rows: int) -> Path:
        """Write log files as fio does with ``--log_avg_msec --log_offset=1``, and return their folder."""
        rng = np.random.default_rng(self.seed)
        (folder := self.folder / "logs").mkdir()
        kinds = {"bw": 15_000, "iops": 3_700, "clat": 260_000, "lat": 261_000}
        names = [
            (run, kind, job) for run in range(self.count(number) // 12 + 1) for kind in kinds for job in (1, 2, 3)
        ]
        time = np.repeat(np.arange(1, rows // 2 + 1) * 500, 2)
        for run, kind, job in names[: self.count(number)]:
            value = (kinds[kind] * rng.lognormal(0, 0.1, time.size)).astype(int)
            lines = (
                f"{at}, {what}, {row % 2}, 0, 0, 0" for row, (at, what) in enumerate(zip(time, value, strict=True))
            )
            (folder / f"run{run:03}_{kind}.{job}.log").write_text("\n".join(lines) + "\n")
        return folder

    def requests_log(self, rows: int) -> Path:
        """Write a log of single requests as fio does with ``--write_lat_log --log_offset``, part by part."""
        rng = np.random.default_rng(self.seed)
        path = self.folder / "big_clat.1.log"
        rows, part = self.count(rows), 500_000
        with path.open("wb") as file:
            for start in range(0, rows, part):
                number = min(part, rows - start)
                columns = {
                    "time": np.arange(start, start + number) // 10,
                    "value": rng.lognormal(11, 1, number).astype(np.int64),
                    "direction": rng.integers(0, 2, number),
                    "block_size": np.full(number, 4096),
                    "offset": rng.integers(0, 2**20, number) * 4096,
                    "priority": np.zeros(number, np.int64),
                }
                text = pl.DataFrame(columns).select(pl.concat_str(pl.all(), separator=", "))
                text.write_csv(file, include_header=False, quote_style="never")
        return path


def other_digits(text: str, rng: random.Random) -> str:
    """Return a log with other last digits, of which some contradict others.

    What is printed twice is so again. Small and even numbers stay, which are sizes, counts and versions: what they
    say must go on fitting the rest. So do percentiles and bins of fio, which has few values for these, zeros and
    shares of 100 %.
    """
    others: dict[str, str] = {}

    def changed(match: re.Match[str]) -> str:
        figure = match[0]
        if match["kept"] or ("." not in figure and int(figure) % 64 == 0):
            return figure
        return others.setdefault(figure, figure[:-1] + str(rng.randrange(10)))

    return _FIGURE.sub(changed, text)


@cache
def json_plus(jobs: int) -> str:
    """Return fio's JSON+ of so many jobs, each of which is like one of three."""
    whole = FIO_IN_THREE_FORMATS.read_text()
    text = whole[whole.index("{\n") : whole.rindex("}") + 1] + "\n"
    found = [match.span() for match in _JOB.finditer(text)][:3]
    kept = ",\n".join(text[start:end].rstrip(",\n") for start, end in islice(cycle(found), jobs))
    return f"{text[: found[0][0]]}{kept}\n{text[found[-1][1] :]}"


def without_bins(text: str) -> str:
    """Return fio's JSON, as ``--output-format=json`` prints it."""
    return _BINS.sub("", text)
