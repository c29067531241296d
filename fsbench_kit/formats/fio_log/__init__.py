"""Log files of fio 2.x and 3.x, as written by ``write_bw_log`` and its counterparts for IOPS and latencies.

A run writes a file for each kind and job, ``<prefix>_<kind>.<job number>.log``. They can be far larger than
memory, and are therefore read lazily by path, never as a text. Each row is (``log_sample`` in fio's ``iolog.c``,
and "Log file formats" in its manual)::

    time (ms), value, [largest value,] direction, block size[, offset][, priority][, issue time (ns)]

- Direction is 0 for read, 1 for write, 2 for trim.
- With ``log_avg_msec``, a row is the mean of a window (with ``log_max_value`` its largest value, with
  ``log_window_value=both`` the two), and its block size and offset are 0.
- Latencies are in ns since fio 3.0, and in µs before. `layout.latency_unit` determines which.
- The bandwidth of a window is in KiB/s. That of a single request is in kB/s of 1000, whatever the manual says: fio
  computes bytes x 10^6 / ns (``add_bw_sample`` in ``stat.c``). It is the rate of that request alone, bytes over
  its completion latency, so that the mean over many requests is not a bandwidth of the run. Nevertheless fio's
  report prints this mean as ``bw ... avg=``, and labels it KiB/s.
- Without windows, each row of an IOPS log is a request with the value 1.
- The priority was added in fio 3.x; a fifth column in an older log is the offset. Columns are identified by the
  values at the beginning of the file; see `layout.recognise`.

A row of ``<prefix>_clat_hist.<number>.log`` is the histogram of one window (``flush_hist_samples``)::

    time (ms), direction, block size, count of bin 0, count of bin 1, ...

There are 1216 bins in µs in fio 2.x, and 1856 bins in ns since 3.0; see `fsbench_kit.formats.fio` for their
bounds. Each step of ``log_hist_coarseness`` merges pairs of neighbouring bins. fio does not log the last,
incomplete window of a run.
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
