"""fio's log files, of fio 2.x and 3.x: what ``write_bw_log`` and its like for IOPS and latencies write.

A run writes a file for each kind and job, ``<prefix>_<kind>.<job's number>.log``. They can be far larger than
memory, so that they are read by path, lazily, and never as a text. Each row is (``log_sample`` in fio's
``iolog.c``, and "Log file formats" in its manual)::

    time (ms), value, [largest value,] direction, block size[, offset][, priority][, issue time (ns)]

- Direction is 0 for read, 1 for write, 2 for trim.
- ``log_avg_msec`` makes windows: a row is then the mean of a window (or, with ``log_max_value``, its largest
  value; with ``log_window_value=both`` the two), and its block size and offset are 0.
- Latencies are in ns since fio 3.0, and in µs before. See `layout.latency_unit` for how the two are told apart.
- A window's bandwidth is in KiB/s. That of a single request is in kB/s of 1000, whatever the manual says: fio
  computes bytes x 10^6 / ns (``add_bw_sample`` in ``stat.c``). It is the rate of that request alone, bytes over
  its completion latency, so that its mean over many requests is no bandwidth of the run. fio's report prints
  this mean as ``bw ... avg=`` all the same, and calls it KiB/s.
- Without windows, each row of an IOPS log is one request, and its value is 1.
- The priority came in fio 3.x; a fifth column of an older log is the offset. Columns are recognised by what the
  rows at the file's head hold; see `layout.recognise`.

A row of ``<prefix>_clat_hist.<number>.log`` is the histogram of one window (``flush_hist_samples``)::

    time (ms), direction, block size, count of bin 0, count of bin 1, ...

There are 1216 bins of µs in fio 2.x, and 1856 bins of ns since 3.0; see `fsbench_kit.formats.fio` for their
bounds. Each step of ``log_hist_coarseness`` joins two neighbours into one. fio does not log the last window of a
run, which is not full.
"""

from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_log.files import LogFile, log_of
from fsbench_kit.formats.fio_log.histograms import merged_histogram
from fsbench_kit.formats.fio_log.layout import HEAD_SIZE, Kind
from fsbench_kit.formats.fio_log.runs import run_of_logs, with_logs, wrote

__all__ = [
    "HEAD_SIZE",
    "TOOL",
    "Kind",
    "LogFile",
    "log_of",
    "merged_histogram",
    "run_of_logs",
    "with_logs",
    "wrote",
]
