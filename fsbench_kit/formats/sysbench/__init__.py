"""Reports of sysbench's ``fileio`` test: versions 0.4.12, 0.5, 1.0 and 1.1, as printed or damaged by copying.

Sources: sysbench's ``sb_fileio.c``, ``sb_logger.c``, ``sb_options.c``, ``sb_histogram.c`` and ``sysbench.c``.

*0.4.12 and 0.5* print integer counts, and sizes and the bandwidth with ``%.5g``, so that ``152Gb`` is 152.00.
``Kb``, ``Mb`` and ``Gb`` are powers of 1024. ``Other`` are fsyncs; ``Requests/sec``, the number of events and the
response time do not include them.

*1.0* prints rates over the time until the report is printed, which is slightly longer than the ``total time``, so
that these rates are not checked against counts. An fsync is an event, and included in the latency; the fsyncs at
the end of the run are included in ``fsyncs/s``, but are not events.

*1.1* prints the rates of each direction on one line, ``read: IOPS=12.00 0.19 MiB/s (0.20 MB/s)``, where MB are
10^6 bytes and a second print. It prints neither a total time, nor events, nor the threads' fairness. Its first
builds still print the report of 1.0.

All versions print milliseconds with two decimals and seconds with four; the oldest print latencies in seconds.
Percentiles come from histograms, whose buckets are 0.03 % wide before 1.0, and 1.8 % since, which widens their
interval. Threads fairness is the standard deviation over the threads (of a population, not of a sample), and not a
measure of noise. If there were no requests, the printed latencies are meaningless, and are missing.

The figures of all versions are named as follows:

- The rates of a test that only reads are those of ``read``, of one that only writes those of ``write``. ``mixed``
  is both in one figure, which 0.4.12 and 0.5 print for ``rndrw``. ``all`` includes the fsyncs.
- If a test does not read, ``0 reads`` and ``reads/s: 0.00`` are both a count of 0. If it does, a rate printed as
  0.00 is below its last digit, and therefore censored, as is a latency.
- The events of a test in one direction repeat its reads or writes: a second print.

``--report-interval`` gives series of bandwidth, fsyncs and the latency percentile. At each of
``--report-checkpoints`` sysbench prints a whole report and resets its counters: these reports are points of series
(part ``checkpoints``), and the last report of the run covers the time since the last of them.

``--histogram`` prints the middles of its buckets with three decimals, so that neighbours look equal below 0.03 ms;
these are merged into one bin.

The output of ``prepare`` and ``cleanup``, and reports of sysbench's other tests, are reported but are not runs.
"""

from fsbench_kit.formats.sysbench.command import TOOL
from fsbench_kit.formats.sysbench.reader import CLEAN, SIGN, parse, signatures

__all__ = ["CLEAN", "SIGN", "TOOL", "parse", "signatures"]
