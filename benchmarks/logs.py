"""Logs of fio with drawn figures, written to files, read and compared: the whole way that a user's go."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import fsbench_kit as fsb

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

_LOG: Final = """\
made: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8
fio-3.36
Starting 1 process

made: (groupid=0, jobs=1): err= 0: pid={pid}: {end:%a %b %d %H:%M:%S %Y}
  read: IOPS={iops}, BW={rate}({mib}MiB/60000msec)
    lat (usec): min=90, max=21000, avg={lat:.2f}, stdev=80.00
   iops        : min={least}, max={most}, avg={iops:.2f}, stdev=20.00, samples=120
  cpu          : usr=1.00%, sys=4.00%, ctx={ios}, majf=0, minf=20
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=100.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     issued rwts: total={ios},0,0,0 short=0,0,0,0 dropped=0,0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth=8

Run status group 0 (all jobs):
   READ: bw={rate}, {rate}-{rate}, io={mib}MiB ({mb}MB), run=60000-60000msec
"""

_STUDY: Final = """\
[study]
id = "s{0}"
title = "Study {0}"
names = "{{filesystem}}-{{}}.txt"
[system]
host = "h"
"""

_START: Final = datetime(2026, 1, 5, 8)


def compared(folder: Path, a: NDArray[np.float64], b: NDArray[np.float64]) -> pl.DataFrame:
    """Write a log for each of the rates of two filesystems, which took turns; compare them study by study.

    Parameters
    ----------
    folder
        Where the logs go.
    a, b
        Requests per second of ext4 and of XFS, shapes ``(studies, runs)``; the runs may be of unequal number.
    """
    for study, sides in enumerate(zip(a, b, strict=True)):
        (folder / f"s{study}").mkdir()
        (folder / f"s{study}" / "study.toml").write_text(_STUDY.format(study))
        for side, (name, rates) in enumerate(zip(("ext4", "xfs"), sides, strict=True)):
            for run, rate in enumerate(rates):
                turn = 2 * run + (side ^ run % 2)
                path = folder / f"s{study}" / f"{name}-{run}.txt"
                path.write_text(
                    _log(float(rate), 1000 * study + turn, _START + timedelta(days=study, minutes=3 * turn))
                )
    return fsb.compare(fsb.read(folder, cache=False), metrics=["iops"])


def _log(rate: float, pid: int, end: datetime) -> str:
    iops = round(rate)
    size = iops * 4096
    ios = iops * 60
    return _LOG.format(
        pid=pid,
        end=end,
        iops=iops,
        rate=f"{size // 1024}KiB/s ({size // 1000}kB/s)",
        mib=round(ios * 4096 / 2**20),
        mb=round(ios * 4096 / 1e6),
        lat=8e6 / iops,
        least=iops - 50,
        most=iops + 50,
        ios=ios,
    )
