"""fio's report for programs in one line: ``--minimal``, ``--output-format=terse``, of fio 1.x to 3.x.

A job is a line of fields with semicolons between them, in the layout that its first field names::

    3;fio-3.33;load;0;0;132160;13209;3302;10005;0;0;0.000000;0.000000;105;30823;301.964763;...;93.61%

    layout; fio's version (from layout 3 on); job; group; error
    per direction: KiB; KiB/s; requests/s; ms;
        slat; clat; 20 percentiles "99.500000%=6520"; lat; bandwidth over intervals
        (in layout 5: number of its samples; requests/s over intervals)
    user CPU; system CPU; context switches; major and minor page faults
    7 depths; 10 buckets of latency in µs; 12 in ms
    per disk (from layout 3 on): name; 2 ios; 2 merges; 2 ticks; queue time; utilisation
    number of errors; the first one             where errors are passed over (continue_on_error)
    description                                 in layout 2 on a line of its own

Latencies are min;max;mean;deviation in µs, statistics of bandwidth min;max;share of the group;mean;deviation.

The directions are reads, writes, and in layouts 2, 4 and 5 trims. With ``unified_rw_reporting=mixed`` there is
one, of all requests, and with ``both`` that one follows the others. (Older versions leave the others in place
with ``mixed``, all zeros, so that mixed requests cannot be told from reads.) The oldest layout 2 has reads and
writes only, no percentiles, no requests/s, and its bandwidth is in bytes per ms.

fio escapes nothing: names and descriptions can hold anything. Therefore no field is known by its number alone.
Each has a kind (whole number, fraction, share, percentile), a line is read where the kinds of its fields are those
of its layout, and a job's name is what stands before them. A description that looks like fields is taken for
fields.

Rules of its printing, from fio's ``stat.c``: KiB, rates, and latencies without a fraction are cut; what has a
fraction is rounded. Percentiles are middles of bins (see `fsbench_kit.formats.fio`), cut to µs. They are of the
completion latency, or with ``lat_percentiles`` of the total one, which the line does not say: where its other
figures do not tell either, they have a metric of their own until another format of the same run names them.
``0%=0`` stands for none, and zeros everywhere for a direction in which nothing was done, or for statistics over
no samples.

Where a run ends
----------------
Lines that follow each other are jobs of one run, unless something shows that a new report begins: other text
between them, another layout or version, a smaller number of the group, other figures for the disks (they are the
run's, and the same on each of its lines), or a job's name that comes again after another's. Reports whose counts
all grow from one to the next are of one run (``--status-interval``): the last one is its result, the others are
its series. Lines without figures of disks do not show whether they are jobs of one run, and a note says so.

A line that a copy broke into several is put together again, without what the copy put before its pieces (``> ``,
``+``, ``# ``) and behind them in parentheses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fsbench_kit.formats.fio import beside, undescribed
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_terse.lines import MARKS, lines
from fsbench_kit.formats.fio_terse.reader import TerseReader
from fsbench_kit.formats.fio_terse.reports import runs_of
from fsbench_kit.formats.fio_terse.together import together
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Record

__all__ = ["SIGN", "TOOL", "parse", "signatures", "together"]

SIGN: Final = r"[3-5];\W*fio|2;[^\n]{1,100};\s*\d+;\s*\d+;"


def signatures(chars: str) -> Iterator[int]:
    """Yield where in a text something stands that only a log of this format has."""
    return undescribed(MARKS, chars)


def parse(text: Text) -> Iterator[Record]:
    """Yield the runs of a text, and diagnostics for what is odd in it or was not understood."""
    end = 0
    for reports in runs_of(text, lines(text)):
        for line in (line for report in reports for line in report):
            yield from beside(text, end, line.start)
            end = line.end
        yield from TerseReader(text, reports).records()
    yield from beside(text, end, len(text.chars))
