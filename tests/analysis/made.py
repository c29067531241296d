"""Logs made for comparisons: runs of two filesystems that take turns, with the figures that a test asks for."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import polars as pl

import fsbench_kit as fsb
from fsbench_kit.data.assembly import assemble
from fsbench_kit.data.log import Log
from fsbench_kit.model.records import Measurement, Run

START = datetime(2026, 1, 1)
SECONDS = {"latency", "completion_latency", "elapsed"}


def figure(
    value: float | None, half: float = 0.0, *, metric: str = "iops", state: str = "measured", **facts: object
) -> Measurement:
    """A figure that lies anywhere within half of its last digit; of a bound, ``low`` or ``high`` is given."""
    ends = {} if value is None else {"low": value - half, "high": value + half}
    columns = {"operation": "read", "unit": "s" if metric in SECONDS else "1/s"} | ends | facts
    return Measurement(metric=metric, value=value, state=state, text=str(value), line=1, **columns)  # type: ignore[arg-type]


def runs(
    filesystem: str,
    of_runs: Iterable[Measurement | Sequence[Measurement]],
    *,
    rounds: bool = False,
    tool: str = "fio",
) -> list[Log]:
    """One log for each run, with its figure or figures; who comes first in a turn changes from turn to turn."""
    logs = []
    for number, figures in enumerate(of_runs, 1):
        found = (figures,) if isinstance(figures, Measurement) else tuple(figures)
        at = START + timedelta(minutes=4 * number + 2 * ((filesystem == "xfs") ^ (number % 2)))
        logs.append(
            Log(
                source=f"{tool}-{filesystem}-{number}",
                data=f"{tool}{filesystem}{number}{found}".encode(),
                records=[Run(tool=tool, start=0, end=8, line=1, filesystem=filesystem, measurements=found)],
                study="s",
                round=number if rounds else None,
                host="h",
                started_at=at,
                ended_at=at + timedelta(minutes=1),
            )
        )
    return logs


def compared(*sides: list[Log], **options: object) -> pl.DataFrame:
    """Compare the runs of some logs."""
    return fsb.compare(assemble([log for side in sides for log in side]), **options)  # type: ignore[arg-type]


def rates(
    ext4: Sequence[float], xfs: Sequence[float], half: float = 0.0, *, rounds: bool = False, **facts: object
) -> list[Log]:
    """Runs of both filesystems with one figure each."""
    return [
        log
        for name, values in (("ext4", ext4), ("xfs", xfs))
        for log in runs(name, [figure(value, half, **facts) for value in values], rounds=rounds)  # type: ignore[arg-type]
    ]


def cells(ext4: Sequence[Sequence[float]], xfs: Sequence[Sequence[float]], **facts: object) -> list[Log]:
    """Runs of both filesystems with a figure for each block size: ``ext4[run][size]``."""
    return [
        log
        for name, table in (("ext4", ext4), ("xfs", xfs))
        for log in runs(
            name,
            [
                [figure(value, block_size=4096 * size, **facts) for size, value in enumerate(row, 1)]
                for row in table
            ],  # type: ignore[arg-type]
        )
    ]
