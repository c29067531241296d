"""Measures what fsbench_kit costs beside doing little more than finding the numbers, for docs/benchmarks.md.

    python -m benchmarks.bench [ROW ...] [--quick | --large] [--repeats 3] [--write]

Machines differ, and are faster at one moment than at another, so read the ratios: each repeat takes the time of
the work over that of its baseline right before, on the same files in the same process; a row has the median of its
repeats. Each row has a process of its own, each repeat fresh files; short rows are repeated more often.
``--quick`` makes a tenth of the files, ``--large`` ten times as many. ``--write`` appends the rows to
``benchmarks/history.jsonl`` and writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from benchmarks.inputs import LARGE, QUICK, ROOT, Inputs
from benchmarks.rows import ROWS, NotHereError, Row

if TYPE_CHECKING:
    from collections.abc import Callable

HISTORY: Final = Path(__file__).parent / "history.jsonl"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
ENOUGH: Final = 120
"""A row that took so many seconds is not repeated."""
BRIEF: Final = 6.0
OFTEN: Final = 20
"""A row that took fewer than `BRIEF` seconds so far is repeated `OFTEN` times: short times vary most."""

Result = dict[str, Any]
"""A row as a line of the history has it; keys with nothing to say are left out."""


def measure(name: str, share: float, repeats: int) -> Result:
    """Measure one row with a share of its files, in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_measure, name, share, repeats).result()


def _measure(name: str, share: float, repeats: int) -> Result:
    row = next(row for row in ROWS if row.name == name)
    result: Result = {"row": name, "work": row.work, "baseline": row.baseline, "ceiling": row.ceiling}
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_CACHE_HOME"] = str(
            Path(scratch) / "cache"
        )  # nothing that was read before this is found there
        try:
            return result | _measured(row, Path(scratch), share, repeats)
        except NotHereError as error:
            return result | {"skipped": str(error)}
        except Exception as error:  # the other rows have to be measured all the same
            return result | {"failed": f"{type(error).__name__}: {error}"}


def _measured(row: Row, scratch: Path, share: float, repeats: int) -> Result:
    def sides(number: int, share: float) -> tuple[Callable[[], object], Callable[[], object]]:
        (folder := scratch / str(number)).mkdir()
        return row.sides(Inputs(folder, seed=number, share=share))

    for first in sides(0, share / 50):  # loads modules
        first()
    _, work = sides(1, share)
    with Peak() as peak:
        returned = work()
    memory: Result = {"memory": peak.bytes}
    if row.memory is not None:
        memory["memory_ceiling"] = round(row.memory(returned))
    del returned
    clock = _processor if row.clock == "processor" else perf_counter
    times: list[list[float]] = []
    while (spent := sum(map(sum, times))) < ENOUGH:
        if len(times) >= (OFTEN if spent < BRIEF else repeats):
            break
        times.append([_took(side, clock) for side in sides(2 + len(times), share)])
    ratios = [of_work / of_baseline for of_baseline, of_work in times]
    found = {"ratio": median(ratios), "lowest": min(ratios), "highest": max(ratios)}
    of_baseline, of_work = map(median, zip(*times, strict=True))
    return found | {"baseline_seconds": of_baseline, "seconds": of_work} | memory


def _processor() -> float:
    """Return the processor's seconds for this process and those that it has waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _took(work: Callable[[], object], clock: Callable[[], float]) -> float:
    os.sync()  # so that the kernel does not write what came before, such as the inputs, at the same time
    start = clock()
    work()
    return clock() - start


class Peak:
    """Watches by how much the memory of this process, and of those that it starts, grows while its block runs.

    Counted is anonymous memory: pages of the files that are read belong to the kernel, which takes them back at
    will.
    """

    def __enter__(self) -> Peak:
        self.bytes, self._before = 0, _anonymous(os.getpid())
        self._done = Event()
        self._thread = Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        last, looks = 0, 2  # of which each sees what is there at the end, however seldom this thread had its turn
        while looks:
            looks -= self._done.wait(0.005)
            found = _anonymous(os.getpid()) - self._before
            # Of a process that forks or ends under one look, some counts twice.
            self.bytes = max(self.bytes, min(last, found))
            last = found


def _anonymous(process: int) -> int:
    """Return the anonymous memory of a process and of all below it; what a fork shares counts once."""
    folder = Path(f"/proc/{process}")
    try:
        words = (folder / "smaps_rollup").read_text().split()
        children = [child for path in folder.glob("task/*/children") for child in path.read_text().split()]
        own = int(words[words.index("Pss_Anon:") + 1]) * 1024
    except (OSError, ValueError):  # it has ended
        return 0
    return own + sum(_anonymous(int(child)) for child in children)


def passes(result: Result) -> bool | None:
    """Return whether a row keeps below its ceilings; ``None`` where it has none or was not measured."""
    if "ratio" not in result or result["ceiling"] is None:
        return None
    return bool(
        result["ratio"] <= result["ceiling"] and result["memory"] <= result.get("memory_ceiling", result["memory"])
    )


def circumstances() -> Result:
    """Return when, of what and where the rows are measured."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()

    lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
    known = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    model = known.get("model name", platform.machine())
    if {"cpu family", "model"} <= known.keys():  # one name can stand for processors of many years
        model += f" ({known['cpu family']}.{known['model']})"
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": git("rev-parse", "--short", "HEAD")
        + ("+" if git("status", "--porcelain", "fsbench_kit") else ""),
        "python": platform.python_version(),
        "polars": version("polars"),
        "machine": f"{model}, {os.cpu_count()} cores",
    }


def markdown(results: list[Result]) -> str:
    """Return the results as a table."""
    heads = ("work", "baseline", "ratio", "range", "ceiling", "peak memory", "", "commit")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for item in results:
        mark = {True: "✓", False: "✗", None: ""}[passes(item)]
        ceiling = "" if item["ceiling"] is None else f"{item['ceiling']:g}"
        if "ratio" in item:
            memory = f"{item['memory'] / 1e6:.0f} MB" if item["memory"] > 1e6 else ""
            memory += f" of {item['memory_ceiling'] / 1e6:.0f}" if "memory_ceiling" in item else ""
            found, spread = f"{item['ratio']:.3g}", ""
            if "lowest" in item:
                spread = f"{item['lowest']:.3g} to {item['highest']:.3g}"
        else:
            memory, found, spread, mark = "", "", "", item.get("skipped") or item["failed"]
        cells = (item["work"], item["baseline"], found, spread, ceiling, memory, mark, item["commit"])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def latest(where: Result) -> list[Result]:
    """Return the last measurement of each row in such circumstances, at any commit."""
    alike = [name for name in where if name not in {"date", "commit"}]
    lines = map(json.loads, HISTORY.read_text().splitlines())
    found = {item["row"]: item for item in lines if all(item.get(name) == where[name] for name in alike)}
    return [found[row.name] for row in ROWS if row.name in found]


def page(results: list[Result], where: Result) -> str:
    """Return the page of the manual."""
    versions = f"Python {where['python']}, Polars {where['polars']}, {where['machine']}"
    return f"""<!-- Generated by `make bench`. -->

# What reading and comparing cost

Machines differ, so the costs are ratios: processor time of the work over that of a baseline on the same files,
in one process. The ratio is the median of several repeats, and the range shows how quiet the machine was: if
others share its caches and memory, the work slows down more than its baseline, which needs little of either.
*scan* opens each file and does `[float(x) for x in re.findall(r"\\d+(?:\\.\\d+)?", text)]`: it finds the numbers
in a text and nothing else. The files are made from real logs, anew for each measurement. Logs of text formats
are those of more runs of the same workloads: how long a run took, how much it did and how long its requests took
is drawn at random, and what the tool computes of this is computed and printed as it does; so is fio's JSON.
Where several formats stand in one file, and in rows that are called damaged, single digits are changed, so that
most logs contradict themselves and some look like copies of others. Memory is what the work needs at its peak,
in all its processes, beyond that of the process with its packages loaded. A row passes (✓) if it keeps below its
ceilings.

{markdown(results)}
Last measured on {where["date"][:10]}, with {100 * where["share"]:.0f} % of the files: {versions}.
`make bench` measures anew, and appends to `benchmarks/history.jsonl`, which `benchmarks/history.ipynb` draws. Its
rows stand in `benchmarks/rows.py`.
"""


def main() -> None:
    """Measure the rows, print their table, and write it down if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(row.name for row in ROWS))
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="with a tenth of the files")
    size.add_argument("--large", action="store_true", help="with ten times the files")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="append to the history, and write the page")
    options = parser.parse_args()
    names = [row.name for row in ROWS if not options.rows or row.name in options.rows]
    if unknown := set(options.rows) - set(names):
        parser.error(f"there is no row {', '.join(sorted(unknown))}")
    share = QUICK if options.quick else LARGE if options.large else 1.0
    where = circumstances() | {"share": share}
    results = []
    for name in names:
        results.append(where | measure(name, share, options.repeats))
        print(f"{name}: {results[-1].get('ratio', 'not measured')}", file=sys.stderr, flush=True)
    print(markdown(results), end="")
    if options.write:
        with HISTORY.open("a") as file:
            file.writelines(json.dumps(item) + "\n" for item in results)
        PAGE.write_text(page(latest(where), where))


if __name__ == "__main__":
    main()
