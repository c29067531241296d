"""Logs of bonnie++: text tables, CSV lines, and the HTML tables of ``bon_csv2html``, of versions 1.03 to 2.00a.

Sources: ``bon_time.cpp``, ``bonnie++.cpp``, ``bonnie.h``, ``bon_csv2html``, ``bon_csv2txt`` and the manuals of
bonnie++ 1.03 to 2.00a.

A run is printed as text and as CSV, and may have been converted to HTML and back to text. Prints of one run are
merged where they agree: the figure of the CSV line takes precedence, then that of the text, then that of the HTML
table; the others are checked against it. The figures are:

- Bandwidths are truncated to whole KiB/s, rates of files to whole files per second, CPU shares to whole percent of
  one processor (several processors can exceed 100), latencies to whole µs, ms or s. Seeks are rounded, to one
  decimal below 1000; in the CSV line of 1.03 always.
- ``+++++``: the phase took under 0.5 s. Its rate is censored: above the work of the phase over 0.5 s, if the work
  is known. Its CPU share, ``+++``, is missing.
- An empty cell means that the phase did not run; ``0`` is a rate below the last digit. ``nan``, and the integer
  that some machines convert it to, is not a figure.

*Size* is the size of the file, followed by the chunk size if that is not the default: ``16G``, ``2G:256k``. Since
1.98, concurrency, seeks and seeking processes follow: ``64G:4k:2:65536:7``. *Num Files* is in units of 1024 files,
followed by their sizes and directories: ``16:1024:512/10``. *Read*, among the file operations, is a ``stat()``.
*Latency* is the longest single operation of a phase.

A run that ended with an error is failed; one that shows progress but no result is partial.
"""

from fsbench_kit.formats.bonnie.command import TOOL
from fsbench_kit.formats.bonnie.reader import CLEAN, SIGN, parse, signatures

__all__ = ["CLEAN", "SIGN", "TOOL", "parse", "signatures"]
