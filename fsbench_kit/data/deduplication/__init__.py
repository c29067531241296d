"""Finds the records that belong to the same run, and merges them.

A run can appear in several places: fio prints it as text, JSON and terse into one file; an article quotes a log
that is also there as a file; a file was copied. That is one run, never a replicate. Records belong to one run if
they are of the same tool, and

- *are in one place*: the same bytes of the same file, or of the file with the same name in the same study;
- *have the same bytes*, or values that the tool prints for one run only, such as the ids of its processes;
- *are in several formats*: one inside the other in a file, as fio prints them (right after it, if both failed), or
  anywhere with the same start or end, or the same counts and times that each format prints identically
  (`rules.PRINTED_ALIKE`);
- *begin or end with the same measurements*, digit by digit: a log and its article, cut off or not.

The first rule is sufficient. For the others, all measurements that both records have must agree within the
precision of their prints, and no known fact may differ (study, host, round, filesystem, ...). Nor may they agree
by chance: runs of one workload share the first two digits of a rate or a time anyway, so the digits beyond must
add up to `agreement.ENOUGH` or more; only formats inside each other need none, and those right after each other
fewer. If two records bear the same date, one measurement in ten may differ.

Each rule proposes pairs of records, and all pairs are compared at once. Many records can share a mark; each is
therefore only paired with a few of the most similar ones, so that the time grows with the number of records and
not with that of their pairs. Of records that are already joined, the most complete one represents all.
"""

from fsbench_kit.data.deduplication.found import Found, Remark
from fsbench_kit.data.deduplication.merging import merged
from fsbench_kit.data.deduplication.rules import Marks, marks, same_runs

__all__ = ["Found", "Marks", "Remark", "marks", "merged", "same_runs"]
