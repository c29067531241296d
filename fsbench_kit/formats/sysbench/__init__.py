"""Reports of sysbench's ``fileio`` test: versions 0.4.12, 0.5, 1.0 and 1.1, as printed or as mangled by a copy.

Sources: sysbench's ``sb_fileio.c``, ``sb_logger.c``, ``sb_options.c``, ``sb_histogram.c`` and ``sysbench.c``.

*0.4.12 and 0.5* print whole counts, and sizes and the bandwidth with ``%.5g``, so that ``152Gb`` is 152.00.
``Kb``, ``Mb`` and ``Gb`` are powers of 1024. ``Other`` are fsyncs; neither ``Requests/sec``, nor the number of
events, nor the response time has them in it.

*1.0* prints rates over the time until the report is made, which is a little longer than the ``total time``, so
these rates are not held against counts. An fsync is an event there, and is in the latency; the fsyncs at the end
of the run are in ``fsyncs/s`` and are no events.

*1.1* has the rates of a direction on one line, ``read: IOPS=12.00 0.19 MiB/s (0.20 MB/s)``, where MB are 10^6
bytes and a second print. It prints neither a total time, nor events, nor the threads' fairness. Its first
builds still print the report of 1.0.

All print milliseconds with two decimals and seconds with four; the oldest print latencies in seconds.
Percentiles come from histograms, whose buckets are 0.03 % wide before 1.0, and 1.8 % since, which widens their
interval. Threads fairness is the spread between the threads (of a population, not of a sample), and no measure of
noise. Where nothing was done, the latencies that are printed are those of no request, and are missing.

What the figures are called here, in all versions:

- The rates of a test that only reads are those of ``read``, of one that only writes those of ``write``. ``mixed``
  is both in one figure, which 0.4.12 and 0.5 print for ``rndrw``. ``all`` has the fsyncs in it.
- Where a test does not read, ``0 reads`` and ``reads/s: 0.00`` are both a count of 0. Where it does, a rate that
  prints as 0.00 is below its last digit, and is censored; so is a latency.
- The events of a test in one direction are its reads or writes once more: a second print.

``--report-interval`` gives series of bandwidth, of fsyncs and of the latency's percentile. At each of
``--report-checkpoints`` sysbench prints a whole report and starts its counters again: these reports are points of
series (part ``checkpoints``), and the last report of the run is of what was done since the last of them.

``--histogram`` prints the middles of its buckets with three decimals, so that neighbours print alike below
0.03 ms; those are one bin.

What ``prepare`` and ``cleanup`` print is named and is no run, and neither is a report of sysbench's other tests.
"""

from fsbench_kit.formats.sysbench.command import TOOL
from fsbench_kit.formats.sysbench.reader import CLEAN, SIGN, parse, signatures

__all__ = ["CLEAN", "SIGN", "TOOL", "parse", "signatures"]
