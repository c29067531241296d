"""Logs of sysbench with other figures, which agree with each other as those of the tool do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

DATA: Final = Path(__file__).parents[1] / "data" / "sysbench"
BLOCK: Final = 16384

LAYOUTS: Final = {
    version: (DATA / name).read_text(encoding="utf-8")
    for version, name in {
        "0.4.12": "0.4.12-seqrewr-merged.txt",
        "0.5": "0.5-rndrw-intervals.txt",
        "1.0": "1.0.20-seqwr.txt",
        "1.1": "1.1.0-rndrw.txt",
    }.items()
}


def _size(amount: float) -> str:
    """Print an amount of bytes as 0.4.12 and 0.5 do: ``sb_print_value_size``."""
    for prefix, unit in (("Gb", 2**30), ("Mb", 2**20), ("Kb", 2**10)):
        if amount >= unit:
            return f"{amount / unit:.5g}{prefix}"
    return f"{amount:.5g}b"


def log(version: str, reads: int, writes: int, time: float, latency: float, *, fsyncs: int = 0) -> str:
    """Return what a version prints of a run of 4 threads: requests of 16 KiB, and their mean latency in ms."""
    unit = "Kb" if version < "1" else "KiB"
    text = re.sub(r"Block size \S+", f"Block size 16{unit}", LAYOUTS[version])
    text = re.sub(r"Number of threads: \d+", "Number of threads: 4", text)
    text = re.sub(r"Doing .* test", "Doing random r/w test", text)
    text = re.sub(r"Merging requests.*\n", "", text)
    events = reads + writes + (fsyncs if version >= "1" else 0)
    spent = events * latency / 1e3
    values: Mapping[str, str] = {
        "reads/s:": f"{reads / time:.2f}",
        "writes/s:": f"{writes / time:.2f}",
        "fsyncs/s:": f"{fsyncs / time:.2f}",
        "read, MiB/s:": f"{reads / time * BLOCK / 2**20:.2f}",
        "written, MiB/s:": f"{writes / time * BLOCK / 2**20:.2f}",
        "total time:": f"{time:.4f}s",
        "total number of events:": f"{events}",
        "total time taken by event execution:": f"{spent:.4f}{'s' * (version == '0.5')}",
        "min:": f"{latency / 3:.2f}{'ms' * (version < '1')}",
        "avg:": f"{latency:.2f}{'ms' * (version < '1')}",
        "max:": f"{latency * 7:.2f}{'ms' * (version < '1')}",
        "approx.  95 percentile:": f"{latency * 2:.2f}ms",
        "95th percentile:": f"{latency * 2:.2f}",
        "sum:": f"{spent * 1e3:.2f}",
        "events (avg/stddev):": f"{events / 4:.4f}/{1.25:.2f}",
        "execution time (avg/stddev):": f"{spent / 4:.4f}/{0:.2f}",
    }
    for label, value in values.items():
        text = re.sub(rf"(?m)^(\s*{re.escape(label)}\s*)\S+$", lambda m, value=value: f"{m[1]}{value}", text)
    for word, done in (("read: ", reads), ("write:", writes)):
        rate = done / time
        figures = f"IOPS={rate:.2f} {rate * BLOCK / 2**20:.2f} MiB/s ({rate * BLOCK / 1e6:.2f} MB/s)"
        text = re.sub(rf"{word} IOPS=.*", f"{word} {figures}", text)
    text = re.sub(r"fsync: IOPS=.*", f"fsync: IOPS={fsyncs / time:.2f}", text)
    word = "eads" if version == "0.5" else "ead"
    text = re.sub(
        r"Operations performed:.*",
        f"Operations performed:  {reads} {'r' if version == '0.5' else 'R'}{word}, "
        f"{writes} {'writes' if version == '0.5' else 'Write'}, {fsyncs} Other = {reads + writes + fsyncs} Total",
        text,
    )
    moved, of_reads, of_writes = (_size(done * BLOCK) for done in (reads + writes, reads, writes))
    rate = _size((reads + writes) * BLOCK / time)
    text = re.sub(
        r"Read \S+  Written .*",
        f"Read {of_reads}  Written {of_writes}  Total transferred {moved}  ({rate}/sec)",
        text,
    )
    return re.sub(r"\S+ Requests/sec executed", f"{(reads + writes) / time:.2f} Requests/sec executed", text)
