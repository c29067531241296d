"""Logs of bonnie++: text tables, CSV lines, and the HTML tables of ``bon_csv2html``, of versions 1.03 to 2.00a.

Sources: ``bon_time.cpp``, ``bonnie++.cpp``, ``bonnie.h``, ``bon_csv2html``, ``bon_csv2txt`` and the manuals of
bonnie++ 1.03 to 2.00a.

One run is printed as text and as CSV, and may be converted to HTML and to text again. These are prints of one
run, and are put together where they agree: the figure of the CSV line counts, then that of the text, then that of
the HTML table, and the others are held against it. What the figures are:

- Bandwidths are cut off to whole KiB/s, rates of files to whole files per second, CPU shares to whole per cent of
  one processor (so that several make more than 100), latencies to whole µs, ms or s. Seeks are rounded, to one
  decimal below 1000; in the CSV line of 1.03 always.
- ``+++++``: the phase took under 0.5 s. Its rate is censored: above the phase's work over 0.5 s, where that work
  is known. Its CPU share, ``+++``, is missing.
- An empty cell is of a phase that did not run; a ``0`` is a rate below the last digit. ``nan``, and the number
  that a machine makes of it, is no figure.

*Size* is that of the file, with the size of a chunk where that is not the default: ``16G``, ``2G:256k``. Since
1.98 concurrency, seeks and seeking processes follow: ``64G:4k:2:65536:7``. *Num Files* is in units of 1024 files,
with their sizes and directories: ``16:1024:512/10``. *Read*, among the file operations, is a ``stat()``. *Latency*
is the longest single operation of a phase.

A run that broke off with an error is failed; one whose progress is shown without a result is partial.
"""

from fsbench_kit.formats.bonnie.command import TOOL
from fsbench_kit.formats.bonnie.reader import CLEAN, SIGN, parse, signatures

__all__ = ["CLEAN", "SIGN", "TOOL", "parse", "signatures"]
