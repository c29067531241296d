r"""Logs of iozone 3.x: auto mode with its Excel report, and throughput mode.

Based on logs of 3.308 to 3.507 and the source of 3.4xx (``iozone.c``: ``main``, ``print_header``, ``begin``,
``write_perf_test`` and related functions, ``dump_excel``, ``throughput_test``, ``dump_throughput``).

- The table has a row for each file size and record size, in kB of 1024 bytes (KB up to 3.408). Its columns have
  fixed widths, narrower up to 3.424, wider in 3.506. Tests that ``-i`` excludes leave blanks in the middle of a
  row, so that only its position identifies the column of a figure. The names of the fifth to ninth column take two
  lines. A row that has lost its spacing is read in order if it fills all columns, or all those that ``-i``
  requested, and not otherwise.
- A figure is in kB/s, truncated to an integer twice (a cast, then ``>>= 10``); with ``-O`` in operations per
  second; with ``-N`` it is the mean time of an operation in whole microseconds, also truncated. If neither a line
  nor a command shows which, kB/s are assumed, the default, and ``UNIT_ASSUMED`` is reported.
- A 0 means that a test did not run (a retest under ``-+n``; in reports also any other gap), or else that the
  figure is below 1.
- The Excel report repeats the figures of the table, as one matrix per test: file size by record size. The file
  written by ``-b`` is a binary spreadsheet (BIFF), not text.
- The CPU report gives 100 x CPU time / wall time with two decimals, at most 100. "Zero values should be ignored":
  they mean less time than the clock can resolve.
- Throughput mode runs each test with several processes or threads. ``Children see`` is the sum of their rates
  until the first of them is done; ``Parent sees`` is all bytes over the parent's time (part ``parent``; not in a
  cluster); minimum, maximum and mean are over processes (scope ``thread``), as are the lines of ``-C``. A minimum
  of 0 means that a process did nothing before the first was done (``NO_OVERLAP``). iozone forgets such a process
  if another one follows it, so that the minimum can be above the mean; it is missing then. ``-R`` repeats the
  sums, with a column for each number of processes.
- ``O_DIRECT feature enabled``, or ``F_NOCACHE=1`` on macOS, is listed among the options if ``-I`` was given. Tests
  that use the C library (fwrite, frewrite, fread, freread) open the file without it nevertheless.
- Lines that only report an option become that option: ``iozone.-e``, as in a command.
- Lines of several hosts, interleaved by pdsh (``host: ...``), are one run per host.
"""

from fsbench_kit.formats.iozone.command import TOOL
from fsbench_kit.formats.iozone.phrases import SIGN, signatures
from fsbench_kit.formats.iozone.reader import CLEAN, parse

__all__ = ["CLEAN", "SIGN", "TOOL", "parse", "signatures"]
