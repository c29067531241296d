"""Reads a large log of fio and shows that memory stays bounded: time, and peak of memory over the log's size.

    python benchmarks/fio_log.py [--megabytes 200]

Counted is anonymous memory, above what the process has after its imports: pages of the file itself belong to the
kernel, which takes them back at will.
"""

from __future__ import annotations

import argparse
import tempfile
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

import numpy as np
import polars as pl

import fsbench_kit as fsb

BYTES_PER_ROW = 38


def write_log(path: Path, rows: int) -> None:
    """Write a log of completion latencies with offsets, in parts, so that this needs no memory itself."""
    rng = np.random.default_rng(1)
    part = 500_000
    with path.open("wb") as file:
        for start in range(0, rows, part):
            number = min(part, rows - start)
            frame = pl.DataFrame(
                {
                    "time": np.arange(start, start + number) // 10,
                    "value": rng.lognormal(11, 1, number).astype(np.int64),
                    "direction": rng.integers(0, 2, number),
                    "block_size": np.full(number, 4096),
                    "offset": rng.integers(0, 2**20, number) * 4096,
                    "priority": np.zeros(number, np.int64),
                }
            )
            text = frame.select(pl.concat_str(pl.all(), separator=", "))
            text.write_csv(file, include_header=False, quote_style="never")


def anonymous() -> int:
    """Return the bytes of memory of this process that belong to no file."""
    words = Path("/proc/self/smaps_rollup").read_text().split()
    return int(words[words.index("Anonymous:") + 1]) * 1024


class Peak:
    """Watches the memory of this process while its block runs."""

    def __enter__(self) -> Peak:
        self.bytes = self._before = anonymous()
        self._done = Event()
        self._thread = Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.bytes -= self._before

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self.bytes = max(self.bytes, anonymous())


def main() -> None:
    """Print the time and the peak of memory of reading a log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big_clat.1.log"
        with get_context("spawn").Pool(1) as writer:  # whose memory does not count
            writer.apply(write_log, (path, options.megabytes * 10**6 // BYTES_PER_ROW))
        size = path.stat().st_size
        start = perf_counter()
        with Peak() as peak:
            data = fsb.read(path)
        seconds = perf_counter() - start
    print(f"log       {size / 1e6:8.1f} MB, {data.measurements.height} figures")
    print(f"time      {seconds:8.2f} s, {size / 1e6 / seconds:.0f} MB/s")
    print(f"memory    {peak.bytes / 1e6:8.1f} MB, {peak.bytes / size:.2f} of the log")


if __name__ == "__main__":
    main()
