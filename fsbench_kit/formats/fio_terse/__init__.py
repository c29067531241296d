"""fio's terse output, one line per job: ``--minimal``, ``--output-format=terse``, of fio 1.x to 3.x.

A job is a line of fields separated by semicolons, in the layout that its first field names::

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

Latencies are min;max;mean;deviation in µs, bandwidth statistics min;max;share of the group;mean;deviation.

The directions are reads, writes, and in layouts 2, 4 and 5 trims. With ``unified_rw_reporting=mixed`` there is a
single one, of all requests; with ``both`` it follows the others. (Older versions print the others as zeros with
``mixed``, so that mixed requests cannot be distinguished from reads.) The oldest layout 2 has reads and writes
only, no percentiles, no requests/s, and its bandwidth is in bytes per ms.

fio does not escape anything: names and descriptions can contain any text. Therefore fields cannot be identified by
their numbers alone. Each has a kind (integer, fraction, share, percentile); a line is read if the kinds of its
fields match its layout, and the name of the job is what precedes these fields. A description that looks like
fields is read as fields.

The rules of its output, from fio's ``stat.c``: KiB, rates, and latencies without a fraction are truncated; figures
with a fraction are rounded. Percentiles are the middles of bins (see `fsbench_kit.formats.fio`), truncated to µs.
They are of the completion latency or, with ``lat_percentiles``, of the total latency, which the line does not
show: if its other figures do not show it either, they have a separate metric until another format of the same run
names them. ``0%=0`` means no percentile; zeros everywhere mean a direction without requests, or statistics without
samples.

The end of a run
----------------
Adjacent lines are jobs of one run, unless something shows that a new report begins: other text between them,
another layout or version, a smaller group number, other figures of the disks (which belong to the run, and are the
same on all of its lines), or the name of a job that recurs after another's. Reports whose counts all grow from one
to the next are of one run (``--status-interval``): the last one is its result, the others are its series. Lines
without figures of disks do not show whether they are jobs of one run, which is reported.

A line that was broken by copying is joined again, without prefixes of its pieces (``> ``, ``+``, ``# ``) and
annotations in parentheses after them.
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
    """Yield the positions of text that only a log of this format contains."""
    return undescribed(MARKS, chars)


def parse(text: Text) -> Iterator[Record]:
    """Yield the runs of a text, and diagnostics for irregularities and for figures that were not understood."""
    end = 0
    for reports in runs_of(text, lines(text)):
        for line in (line for report in reports for line in report):
            yield from beside(text, end, line.start)
            end = line.end
        yield from TerseReader(text, reports).records()
    yield from beside(text, end, len(text.chars))
