r"""Logs of iozone 3.x: auto mode with its Excel report, and throughput mode.

Read against logs of 3.308 to 3.507 and the source of 3.4xx (``iozone.c``: ``main``, ``print_header``, ``begin``,
``write_perf_test`` and its like, ``dump_excel``, ``throughput_test``, ``dump_throughput``).

- The table has a row for each file size and record size, in kB of 1024 bytes (up to 3.408 it says KB). Its
  columns have fixed widths, narrower ones up to 3.424, wider ones in 3.506. The tests that ``-i`` leaves out are
  blanks in the middle of a row, so a figure's column is known by its place alone. The names of the fifth to ninth
  column take two lines. A row that has lost its spacing is read by order where it fills all columns, or all that
  ``-i`` asked for, and not otherwise.
- A figure is kB/s, cut off to a whole number twice over (a cast, then ``>>= 10``); with ``-O`` operations per
  second; with ``-N`` the mean time of an operation in whole microseconds, cut off too. Where neither a line nor a
  command tells which, kB/s are assumed, as without options, and ``UNIT_ASSUMED`` says so.
- A 0 stands for a test that did not run (a retest under ``-+n``; in reports also every other gap), or else for
  a figure below 1.
- The Excel report prints the table's figures again, one matrix for each test: file size by record size. What
  ``-b`` writes to a file is a binary spreadsheet (BIFF), and no text.
- The CPU report gives 100 x CPU time / wall time with two decimals, never above 100. "Zero values should be
  ignored": they stand for less time than the clock can tell.
- Throughput mode runs each test with several processes or threads. ``Children see`` is the sum of their rates
  until the first of them is ready; ``Parent sees`` is all bytes over the parent's time (part ``parent``; not in a
  cluster); minimum, maximum and mean are over processes (scope ``thread``), and so are the lines of ``-C``. A
  minimum of 0 means that a process did nothing before the first was ready (``NO_OVERLAP``). iozone forgets
  such a process where another one follows it, so that the minimum can be above the mean; it is missing then.
  ``-R`` prints the sums again, with a column for each number of processes.
- ``O_DIRECT feature enabled``, or ``F_NOCACHE=1`` on macOS, stands among the options when ``-I`` was given. The
  tests through the C library (fwrite, frewrite, fread, freread) open the file without it all the same.
- Lines that only say that an option was given become that option: ``iozone.-e``, as in a command.
- Lines of several hosts that pdsh has mixed (``host: ...``) are one run for each host.
"""

from fsbench_kit.formats.iozone.command import TOOL
from fsbench_kit.formats.iozone.phrases import SIGN, signatures
from fsbench_kit.formats.iozone.reader import CLEAN, parse

__all__ = ["CLEAN", "SIGN", "TOOL", "parse", "signatures"]
