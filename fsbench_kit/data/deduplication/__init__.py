"""Finds the records that are of one and the same run, and makes one run of them.

A run can stand in several places: fio prints one run as text, JSON and terse into one file; a log stands in an
article and beside it as a file; a file was copied. That is one run, never a replicate. Records are of one run if
they are of one tool, and

- *stand in one place*: the same bytes of the same file, or of the file of the same name in the same study;
- *have the same bytes*, or what the tool prints of one run alone, such as its processes' numbers;
- *are in several formats*: one inside the other in a file, as fio prints them (right after it, if both failed), or
  anywhere with the same start or end, or the same counts and times that each format prints alike
  (`rules.PRINTED_ALIKE`);
- *begin or end with the same measurements*, digit by digit: a log beside its article, cut off or not.

The first rule suffices. By the others all measurements that both records have must agree within what their prints
allow, and nothing known of the two may differ (study, host, round, filesystem, ...). Nor may they agree by chance:
runs of one workload have the first two digits of a rate or a time in common anyway, so the digits beyond must
be `agreement.ENOUGH` or more in all; only formats inside each other need none, and those right after each other
fewer. Of two records that bear the same date, one measurement in ten may differ.

Each rule names pairs of records, which are compared all at once. Those that share a mark are many; so each is
paired with some that are most like it, and the time grows with their number, and not with that of their pairs. Of
those that are together already the most complete one stands for all.
"""

from fsbench_kit.data.deduplication.found import Found, Remark
from fsbench_kit.data.deduplication.merging import merged
from fsbench_kit.data.deduplication.rules import Marks, marks, same_runs

__all__ = ["Found", "Marks", "Remark", "marks", "merged", "same_runs"]
