r"""fio's normal output (``--output-format=normal``), of fio 1.x, 2.x and 3.x.

It is read as a stream of phrases, so that line breaks lost in copying make no difference::

    randrw: (g=0): rw=randrw, bs=(R) 16.0KiB-16.0KiB, (W) ..., ioengine=libaio, iodepth=1
    fio-3.7
    Starting 8 processes
    randrw: (groupid=0, jobs=8): err= 0: pid=11169: Mon Mar 23 00:29:37 2020
       read: IOPS=115, BW=14.5MiB/s (15.2MB/s)(8671MiB/600062msec)
        slat (usec): min=554, max=610323, avg=68985.35, stdev=55557.33
        clat percentiles (nsec):
         |  1.00th=[ 2448],  5.00th=[ 3312], ...
    Run status group 0 (all jobs):
       READ: bw=14.5MiB/s (15.2MB/s), 14.5MiB/s-14.5MiB/s (...), io=8671MiB (9093MB), run=600062-600062msec
    Disk stats (read/write):
        md0: ios=69368/30275, merge=0/0, ticks=0/0, in_queue=0, util=0.00%, aggrios=34685/30086, ...

The old layout, up to fio 2.16, has ``read : io=8671MB, bw=14796KB/s, iops=115, runt=600062msec`` and
``READ: io=8671MB, aggrb=14796KB/s, minb=..., maxb=..., mint=600062msec, maxt=600062msec``.

The rules of its output, from fio's ``stat.c``, ``client.c`` and ``lib/num2str.c``:

- The unit in a heading applies only to the figures under it. A suffix (``max=2430.4k``) multiplies by a power of
  1000. ``KiB/s`` is 1024, ``kB/s`` in parentheses is 1000 (with ``kb_base=1000`` it is the other way round);
  ``Mibit/s`` (``unit_base=1``) is an eighth. In the old layout ``KB`` and ``Kbit`` are 1024, and there is no T: P
  follows G.
- A figure with a suffix or prefix is rounded to its last digit. Up to fio 3.25 a fraction of .95 and above is
  printed as ``.0`` without the carry, so that ``27.0MiB/s`` may have been 27.99: its interval is 27 to 28, unless
  its second print rules that out. In the old layout the fraction is not decimal (1305.02 is printed as
  ``1305.2``): only the integer part is reliable.
- IOPS without a suffix are truncated, not rounded; minimum and maximum of latencies are truncated to the unit of
  the heading, means and deviations rounded. Minimum and maximum of ``bw`` and ``iops`` lines are truncated.
- A percentile is the middle of a bin, rounded up to whole µs or ms; see `fsbench_kit.formats.fio`.
- ``bw`` and ``iops`` lines are statistics over intervals (of 0.5 s), unless single requests were logged; see
  `fsbench_kit.formats.fio_requests`. The rate of a job is ``BW=`` and ``IOPS=``.
  A ``bw`` line is in KiB/s even if ``kb_base=1000`` makes its heading ``kB/s``; what it calls ``MiB/s`` is then
  1000 KiB/s.
- ``minb`` and ``maxb`` are bytes per ms in fio 1.x (their ``KB/s`` is 1000) and KiB/s in fio 2.1; in versions
  between them, both are possible. If 1.x prints ``KiB/s``, all its rates are bytes per ms.
- The buckets ``lat (usec)   : 2=28.10%`` are of completion latencies, over all directions.
- The date on the line of a job is that of the report, at the end of the run.
- The ``aggr...`` figures of a disk are means over its members (the utilisation: their maximum). Their part is
  ``<disk>/members``; similarly, latencies of one priority have the part ``<job>/prio 1/0/0`` or
  ``<job>/high prio``.
- With ``unified_rw_reporting=both`` fio 3.33 prints no sum of bytes in ``mixed: IOPS=0, BW=0 (0)``: it is missing.
- The figures in parentheses on a ``steadystate`` line are scaled twice, and are ignored.

Counts of directions without requests are omitted, as fio omits their other lines. Neither job lines nor status
groups are required: excerpts are read, too, and a diagnostic says what is missing.

With ``--status-interval`` fio prints reports during a run: same jobs, same pids, more bytes. The last complete
report is that of the run. The growth of bytes and operations is a series, as are rates and latencies, which are
statistics over the run up to each report (``cumulative_mean``, ``cumulative_p99``, ...).

In client mode the figures of a job are those of a client (``<host>/<job>``), and ``All clients`` is their sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fsbench_kit.formats.clean import Clean, Free
from fsbench_kit.formats.dates import ctime
from fsbench_kit.formats.fio import undescribed
from fsbench_kit.formats.fio_command import COMMAND, TOOL
from fsbench_kit.formats.fio_normal.figures import ANY
from fsbench_kit.formats.fio_normal.jobs import latency_percentile
from fsbench_kit.formats.fio_normal.phrases import LEXER, LINES, MARKS
from fsbench_kit.formats.fio_normal.reader import checks, is_as_it_seems, records, settle
from fsbench_kit.formats.fio_normal.reports import reports, runs_of
from fsbench_kit.formats.lexer import UNREAD, Token
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Record

__all__ = ["CLEAN", "SIGN", "TOOL", "parse", "signatures"]

SIGN: Final = r"groupid=|iops=|status\W+group|io=|(?:read|write|trim|mixed)\W+bw=|\(g=|be=\d"


def signatures(chars: str) -> Iterator[int]:
    """Yield the positions of text that only a log of this format contains."""
    return undescribed(MARKS, chars)


def parse(text: Text) -> Iterator[Record]:
    """Yield each run in a text, and diagnostics for irregularities and for figures that were not understood."""
    for of_run in runs_of(reports(map(_without_sentences, LEXER.tokens(text)))):
        yield from records(of_run)


CLEAN: Final = Clean(
    checks=checks,
    remarks=frozenset({"FIGURES_DISAGREE", "INCOMPLETE_LOG", "WRONG_HEADING"}),
    same_runs=is_as_it_seems,
    free={"fio.latency_percentile": Free(latency_percentile)},
    zeros=frozenset({ANY}),
    settle=settle,
    are_settings_apart=True,
    lines=LINES,
    duration="runtime",
    date=ctime,
    is_date_of_end=True,
)


def _without_sentences(token: Token) -> Token:
    """Treat what merely looks like the beginning of a command line as other text."""
    if token.name == "command" and not COMMAND.parses(token.text.chars[token.start : token.end]):
        return replace(token, name=UNREAD, match=None)
    return token
