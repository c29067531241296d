"""What `make bench` measures: one function for each row of its table, which states all about it.

A row has the work, the baseline that it is held against on the same files, and its ceiling: how many times the
baseline the work may cost. To add one is to write one function here.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
import polars as pl

import fsbench_kit as fsb
from benchmarks.designs import two_filesystems
from benchmarks.inputs import (
    BONNIE,
    FIO_IN_THREE_FORMATS,
    FIO_TEXT,
    IOZONE_WITH_CPU,
    PUBLISHED,
    QUICK,
    ROOT,
    SYSBENCH,
    Inputs,
    json_plus,
)
from benchmarks.runs import another_run

if TYPE_CHECKING:
    from collections.abc import Callable


class NotHereError(Exception):
    """Why a row cannot be measured."""


class Sides(NamedTuple):
    """What is done with the same inputs, first the one and then the other."""

    baseline: Callable[[], object]
    work: Callable[[], object]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the table.

    Attributes
    ----------
    work, baseline
        What is held against what, in words.
    ceiling
        How many times the baseline the work may cost; ``None`` if that is only for information.
    sides
        Makes the inputs, and returns what to do with them.
    memory
        Tells from what the work returned how many bytes it may have needed.
    clock
        Time of the processor, in this process and those that it started, or time that passed.
    """

    work: str
    baseline: str
    ceiling: float | None
    sides: Callable[[Inputs], Sides]
    memory: Callable[[Any], float] | None = None
    clock: Literal["processor", "wall"] = "processor"

    @property
    def name(self) -> str:
        """What the row is called on the command line and in the history."""
        return self.sides.__name__


ROWS: Final[list[Row]] = []


def row(
    work: str, baseline: str, ceiling: float | None, **others: Any
) -> Callable[..., Callable[[Inputs], Sides]]:
    """Enter a function as a row."""

    def enter(sides: Callable[[Inputs], Sides]) -> Callable[[Inputs], Sides]:
        ROWS.append(Row(work=work, baseline=baseline, ceiling=ceiling, sides=sides, **others))
        return sides

    return enter


def scan(folder: Path) -> None:
    """Find all numbers in all files of a folder: what reading them costs at least."""
    for path in sorted(folder.iterdir()):
        with path.open() as file:
            text = file.read()
        [float(x) for x in re.findall(r"\d+(?:\.\d+)?", text)]


def decode(folder: Path) -> None:
    """Decode the JSON in all files of a folder."""
    for path in sorted(folder.iterdir()):
        text = path.read_text()
        json.loads(text[text.index("{\n") : text.rindex("}") + 1])


def against(baseline: Callable[[Path], object], path: Path) -> Sides:
    """Hold reading a path against something else that is done with it."""
    return Sides(lambda: baseline(path), lambda: fsb.read(path))


@row("sysbench, 500 logs of 1.6 kB", "scan", 3)
def sysbench(inputs: Inputs) -> Sides:
    return against(scan, inputs.logs(SYSBENCH, 500, change=another_run))


@row("bonnie++ text + CSV, 500 logs of 1 kB", "scan", 3)
def bonnie(inputs: Inputs) -> Sides:
    return against(scan, inputs.logs(BONNIE, 500, change=another_run))


@row("fio text, 500 logs of 2.7 kB", "scan", 3)
def fio_text(inputs: Inputs) -> Sides:
    return against(scan, inputs.logs(FIO_TEXT, 500, change=another_run))


@row("iozone tables with CPU, 300 logs of 4 kB", "scan", 3)
def iozone(inputs: Inputs) -> Sides:
    return against(scan, inputs.logs(IOZONE_WITH_CPU, 300, change=another_run))


@row("sysbench, damaged: 500 logs with digits changed at random", "scan", 3)
def sysbench_damaged(inputs: Inputs) -> Sides:
    return against(scan, inputs.logs(SYSBENCH, 500))


@row("bonnie++, damaged: 500 logs with digits changed at random", "scan", 3)
def bonnie_damaged(inputs: Inputs) -> Sides:
    return against(scan, inputs.logs(BONNIE, 500))


@row("fio text, damaged: 500 logs with digits changed at random", "scan", 3)
def fio_text_damaged(inputs: Inputs) -> Sides:
    return against(scan, inputs.logs(FIO_TEXT, 500))


@row("iozone, 800 near-equal logs (linear is 4)", "200 of them", 5)
def iozone_growth(inputs: Inputs) -> Sides:
    folder = inputs.logs(IOZONE_WITH_CPU, 1000, change=another_run)
    paths = sorted(folder.iterdir())
    few = len(paths) // 5 or 1
    return Sides(lambda: fsb.read(paths[:few]), lambda: fsb.read(paths[few:]))


def three_frames(data: fsb.Dataset) -> float:
    """Return three times the bytes of the frames."""
    return 3 * sum(getattr(data, name).estimated_size() for name in data.__dataclass_fields__)


@row("fio JSON+ with bins, 300 logs of 25 and 50 kB", "json.loads", 4, memory=three_frames)
def fio_json_bins(inputs: Inputs) -> Sides:
    return against(decode, inputs.fio_json(300, (1, 2), with_bins=True))


@row("fio JSON without bins, 300 logs of 8 and 15 kB", "json.loads", 2.5, memory=three_frames)
def fio_json(inputs: Inputs) -> Sides:
    return against(decode, inputs.fio_json(300, (1, 2), with_bins=False))


@row("fio JSON without bins, 300 logs of 27 and 61 kB", "json.loads", 2.5, memory=three_frames)
def fio_json_of_many_jobs(inputs: Inputs) -> Sides:
    return against(decode, inputs.fio_json(300, (4, 9), with_bins=False))


@row("fio JSON+ with bins, damaged: 300 logs with digits changed at random", "json.loads", 4)
def fio_json_damaged(inputs: Inputs) -> Sides:
    return against(decode, inputs.logs([json_plus(1), json_plus(2)], 300, ".json"))


@row("averaged fio logs, 600 files of 600 lines", "pl.read_csv one by one", 1)
def averaged(inputs: Inputs) -> Sides:
    return against(
        lambda folder: [pl.read_csv(path, has_header=False) for path in folder.iterdir()],
        inputs.averaged_logs(600, 600),
    )


def lazy_percentiles(path: Path) -> None:
    """Return the 99th percentile by direction of a log of single requests, as one would with Polars alone."""
    columns = ["time", "value", "direction", "block_size", "offset", "priority"]
    frame = pl.scan_csv(path, has_header=False, schema=dict.fromkeys(columns, pl.String))
    trimmed = frame.select(pl.all().str.strip_chars().cast(pl.Int64))
    trimmed.group_by("direction").agg(pl.col("value").quantile(0.99)).collect(engine="streaming")


def of_400_mb(_: object) -> float:
    """Return what may be needed whatever the length of a log, or the number of logs."""
    return 400e6


@row("per-I/O fio log, 3 million lines", "pl.scan_csv, p99 by direction", 2, memory=of_400_mb)
def requests_3m(inputs: Inputs) -> Sides:
    return against(lazy_percentiles, inputs.requests_log(3_000_000))


@row("per-I/O fio log, 10 million lines", "pl.scan_csv, p99 by direction", 2, memory=of_400_mb)
def requests_10m(inputs: Inputs) -> Sides:
    return against(lazy_percentiles, inputs.requests_log(10_000_000))


@row("fio text + terse + JSON+ in one file, 500 files of 80 kB", "json.loads of the JSON part", 10)
def fio_in_three_formats(inputs: Inputs) -> Sides:
    return against(decode, inputs.logs([FIO_IN_THREE_FORMATS], 500))


@row("three formats in one article page of 1 MB", "scan", 10)
def article(inputs: Inputs) -> Sides:
    return against(scan, inputs.page(1_000_000))


@row("10,000 comparisons with verdicts", "scipy's ttest_ind + interval, vectorised", 5)
def comparisons(inputs: Inputs) -> Sides:
    from scipy import stats as scipy_stats  # noqa: PLC0415  # which processes of other rows need not import

    rng = np.random.default_rng(inputs.seed)
    a, b = rng.lognormal(0, 0.05, (2, inputs.count(10_000), 10))
    data = two_filesystems(a, b)
    return Sides(
        lambda: scipy_stats.ttest_ind(np.log(b), np.log(a), axis=-1, equal_var=False).confidence_interval(),
        lambda: fsb.compare(data),
    )


MIXED: Final = (*SYSBENCH, *BONNIE, *FIO_TEXT, *IOZONE_WITH_CPU)


def settled(folder: Path) -> Path:
    """Wait until files can be kept: what is read within a tick of its clock may still change unseen."""
    sleep(0.1)
    return folder


@row("reading again what was read, 500 mixed logs", "reading it first", 0.1)
def again(inputs: Inputs) -> Sides:
    folder = settled(inputs.logs(MIXED, 500, change=another_run))
    return Sides(lambda: fsb.read(folder), lambda: fsb.read(folder))


@row("reading again after one of 500 logs changed", "reading again, and that log alone", 1.25)
def again_after_a_change(inputs: Inputs) -> Sides:
    folder = settled(inputs.logs(MIXED, 500, change=another_run))
    path = sorted(folder.iterdir())[0]
    changed = another_run(path.read_text(), random.Random(inputs.seed + 1000))
    fsb.read(folder)  # so that both sides find it in the cache

    def work() -> object:
        path.write_text(changed)
        return fsb.read(folder)

    return Sides(lambda: (fsb.read(folder), fsb.read(path, cache=False)), work)


def by_two(inputs: Inputs, number: int, change: Callable[[str, random.Random], str] = another_run) -> Sides:
    """Hold reading in bulk by two processes against doing so by one."""
    if inputs.share == QUICK:
        raise NotHereError("so few files are read by one process alone")
    folder = inputs.logs(MIXED, number, change=change)
    return Sides(
        lambda: fsb.ingest(folder, to=inputs.folder / "by one", jobs=1),
        lambda: fsb.ingest(folder, to=inputs.folder / "by two", jobs=2),
    )


@row("two processes, 5,000 mixed logs in bulk", "one", 1.25, clock="wall")
def few_in_two_processes(inputs: Inputs) -> Sides:
    return by_two(inputs, 5000)


@row("two processes, 20,000 mixed logs in bulk", "one", 0.8, clock="wall")
def more_in_two_processes(inputs: Inputs) -> Sides:
    return by_two(inputs, 20_000)


@row("two processes, 100,000 mixed logs in bulk", "one", 0.6, clock="wall", memory=of_400_mb)
def bulk_in_two_processes(inputs: Inputs) -> Sides:
    return by_two(inputs, 100_000)


@row("two processes, 1,000 mixed logs between other lines in bulk", "one", 0.8, clock="wall")
def other_text_in_two_processes(inputs: Inputs) -> Sides:
    return by_two(inputs, 1000, lambda text, rng: f"$ ./run.sh\n\n{another_run(text, rng)}\n$ exit\n")


@row("two processes, 20,000 mixed logs in memory", "one", None, clock="wall")
def two_processes(inputs: Inputs) -> Sides:
    if inputs.share == QUICK:
        raise NotHereError("so few files are read by one process alone")
    folder = inputs.logs(MIXED, 20_000, change=another_run)

    def work() -> object:
        with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as executor:
            return fsb.read(folder, executor=executor, cache=False)

    return Sides(lambda: fsb.read(folder, cache=False), work)


def tenfold(inputs: Inputs, number: int, jobs: int | None = None) -> Sides:
    """Hold reading many logs in bulk against reading a tenth as many."""
    if inputs.share == QUICK:
        raise NotHereError("so few files are one chunk")
    paths = sorted(inputs.logs(MIXED, number + number // 10, change=another_run).iterdir())
    few = len(paths) // 11 or 1
    return Sides(
        lambda: fsb.ingest(paths[:few], to=inputs.folder / "few", jobs=jobs),
        lambda: fsb.ingest(paths[few:], to=inputs.folder / "many", jobs=jobs),
    )


@row("reading in bulk by one process, 10,000 mixed logs (linear is 10)", "1,000 of them", 11, memory=of_400_mb)
def bulk_by_one(inputs: Inputs) -> Sides:
    return tenfold(inputs, 10_000, jobs=1)


@row("reading in bulk, 100,000 mixed logs (linear is 10)", "10,000 of them", 11, memory=of_400_mb)
def bulk(inputs: Inputs) -> Sides:
    return tenfold(inputs, 100_000)


def program(*words: str) -> Callable[[], object]:
    """Return what runs a program of this environment."""
    name, *others = words
    path = Path(sys.executable).with_name(name)
    return lambda: subprocess.run([path, *others], check=True, capture_output=True)


@row("import fsbench_kit", "import polars", 1.5)
def imports(_: Inputs) -> Sides:
    return Sides(program("python", "-c", "import polars"), program("python", "-c", "import fsbench_kit"))


@row("fsbench --help", "import polars", 2.5)
def command_line(_: Inputs) -> Sides:
    return Sides(program("python", "-c", "import polars"), program("fsbench", "--help"))


@row("fsbench read, 4,000 mixed logs", "fsb.read in a program of its own", 2)
def reading_by_command(inputs: Inputs) -> Sides:
    folder = str(inputs.logs(MIXED, 4000, change=another_run))
    alone = f"import fsbench_kit as fsb; fsb.read({folder!r}, cache=False)"
    return Sides(program("python", "-c", alone), program("fsbench", "read", folder, "--jobs", "1"))


BUNDLED: Final[list[tuple[str, dict[str, Any]]]] = [
    ("02_ingest", {}),
    ("03_compare", {}),
    ("04_audit", {}),
    ("06_latency", {}),
    ("08_scaling", {}),
    *(("03_compare", {"data": [str(folder.relative_to(ROOT))]}) for folder in sorted(PUBLISHED.iterdir())),
]
"""Notebooks of data that come with the package, and their parameters; none of them launches anything."""


@row("fsbench report on 20 notebooks of bundled data", "papermill, two at a time", 0.5, clock="wall")
def report(inputs: Inputs) -> Sides:
    if inputs.share == QUICK:
        raise NotHereError("of so few notebooks, most is the start")
    wanted = [BUNDLED[index % len(BUNDLED)] for index in range(inputs.count(20))]
    spec = inputs.folder / "report.toml"
    tables = (
        f'[[notebook]]\nname = "n{index}"\nfile = "notebooks/{name}.ipynb"\nparameters.data = {data}\n'
        if (data := parameters.get("data"))
        else f'[[notebook]]\nname = "n{index}"\nfile = "notebooks/{name}.ipynb"\n'
        for index, (name, parameters) in enumerate(wanted)
    )
    spec.write_text('title = "Benchmark"\n' + "\n".join(tables))

    def baseline() -> None:
        runs = [
            program(
                "papermill",
                *(f"{ROOT}/notebooks/{name}.ipynb", f"{inputs.folder}/{index}.ipynb"),
                *("--cwd", str(ROOT), "--no-progress-bar", "--parameters_yaml", json.dumps(parameters)),
            )
            for index, (name, parameters) in enumerate(wanted)
        ]
        with ThreadPoolExecutor(2) as threads:
            for done in [threads.submit(run) for run in runs]:
                done.result()

    return Sides(baseline, program("fsbench", "report", str(spec), "--to", str(inputs.folder / "pages")))


@row("fio-plot's reader on the averaged logs", "pl.read_csv one by one", None)
def fio_plot_averaged(inputs: Inputs) -> Sides:
    try:
        from fio_plot.fiolib.dataimport import readLogDataFromFiles  # noqa: PLC0415
    except ImportError as error:
        raise NotHereError(f"{error}; `make bench` installs it") from error
    folder = inputs.averaged_logs(600, 600)
    files: list[dict[str, Any]] = [
        {"filename": {"filename": str(path)}, "hostname": None} for path in folder.iterdir()
    ]
    return Sides(
        lambda: [pl.read_csv(path, has_header=False) for path in folder.iterdir()],
        lambda: readLogDataFromFiles({}, files),
    )


@row("fio-plot's reader on the JSON+ logs", "json.loads", None)
def fio_plot_json(inputs: Inputs) -> Sides:
    try:
        from fio_plot.fiolib import jsonimport, jsonparsing  # noqa: PLC0415
    except ImportError as error:
        raise NotHereError(f"{error}; `make bench` installs it") from error
    options = '"job options" : {\n        "iodepth" : "1",\n        "numjobs" : "3",'  # which it needs
    logs = [json_plus(jobs).replace('"job options" : {', options) for jobs in (1, 2)]
    folder = inputs.logs(logs, 300, ".json")
    dataset = [{"directory": str(folder), "files": sorted(map(str, folder.iterdir()))}]
    settings = {"rw": "randrw", "filter": ["read", "write"], "iodepth": [1], "numjobs": [1]}
    return Sides(
        lambda: decode(folder),
        lambda: jsonparsing.parse_json_data(settings, jsonimport.import_json_dataset(settings, dataset)),
    )
