r"""fio's report for people (``--output-format=normal``), of fio 1.x, 2.x and 3.x.

Read as a stream of phrases, so that it makes no difference whether a copy kept its line breaks::

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

Rules of its printing, from fio's ``stat.c``, ``client.c`` and ``lib/num2str.c``:

- A heading names the unit of its own figures, and of no others. A suffix (``max=2430.4k``) multiplies by a power
  of 1000. ``KiB/s`` is 1024, ``kB/s`` in parentheses is 1000 (with ``kb_base=1000`` it is the other way round);
  ``Mibit/s`` (``unit_base=1``) is an eighth. In the old layout ``KB`` and ``Kbit`` are 1024, and there is no T:
  after G comes P.
- A figure with a suffix or prefix is rounded to its last digit. Up to fio 3.25 a fraction of .95 and above prints
  as ``.0`` without the carry, so that ``27.0MiB/s`` may have been 27.99: it is given as 27 to 28, unless its
  second printing shows that it was not. In the old
  layout the fraction is no decimal fraction at all (1305.02 prints as ``1305.2``): only the whole number holds.
- IOPS without a suffix are cut, not rounded; minimum and maximum of latencies are cut to the heading's unit, means
  and deviations rounded. Minimum and maximum of ``bw`` and ``iops`` lines are cut.
- A percentile is the middle of a bin, rounded up to whole µs or ms; see `fsbench_kit.formats.fio`.
- ``bw`` and ``iops`` lines are statistics over intervals (of 0.5 s), unless single requests were logged; see
  `fsbench_kit.formats.fio_requests`. The rate of a job is ``BW=`` and ``IOPS=``.
  A ``bw`` line is in KiB/s even where ``kb_base=1000`` makes its heading ``kB/s``; what it calls ``MiB/s`` then
  is 1000 KiB/s.
- ``minb`` and ``maxb`` are bytes per ms in fio 1.x (their ``KB/s`` is 1000) and KiB/s in fio 2.1; between the two,
  both are possible. Where 1.x prints ``KiB/s``, all its rates are bytes per ms.
- The buckets ``lat (usec)   : 2=28.10%`` are of completion latencies, of all directions together.
- The date on a job's line is when the report was made: the end of the run.
- ``aggr...`` figures of a disk are means over the disk's members (the utilisation: their maximum). They are given
  to the part ``<disk>/members``, as latencies of one priority are to ``<job>/prio 1/0/0`` or ``<job>/high prio``.
- With ``unified_rw_reporting=both`` fio 3.33 sums no bytes for ``mixed: IOPS=0, BW=0 (0)``: they are missing.
- What a ``steadystate`` line has in parentheses is scaled twice, and is left out.

Counts of a direction in which nothing was done are left out, as fio's other lines leave that direction out.
Neither a job's line nor a status group's is needed: excerpts are read too, and a note says what they lack.

With ``--status-interval`` fio reports over and over on one run: same jobs, same pids, more bytes. The last
complete report is the run's; how the bytes and operations grew is a series, and so are rates and latencies, which
are taken over all of the run until then (``cumulative_mean``, ``cumulative_p99``, ...).

In client mode a job's figures are those of a client (``<host>/<job>``), and ``All clients`` is their sum.
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
    """Yield where in a text something stands that only a log of this format has."""
    return undescribed(MARKS, chars)


def parse(text: Text) -> Iterator[Record]:
    """Yield each run of a text, and diagnostics for what is odd in it or was not understood."""
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
    """Take what only begins like a command line for other text."""
    if token.name == "command" and not COMMAND.parses(token.text.chars[token.start : token.end]):
        return replace(token, name=UNREAD, match=None)
    return token
