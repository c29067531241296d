"""Finds out which run records are printings of one and the same run, and makes one record of them.

A run can be printed several times: fio prints one run as text, JSON and terse into one file; a log stands in an
article and beside it as a file; a page is made of bonnie++'s CSV. Such printings are one run, never replicates.

Two records are taken for one run if all figures that both have agree within what their prints allow, if nothing
that is known of them sets them apart, and if the agreement could not have come about by chance. That is counted
in bits. Two runs of one workload whose figures have a standard deviation of `NOISE` print a figure of relative
resolution `r` alike with probability ``r / (2 * sqrt(pi) * NOISE)``; the figures tell ``-log2`` of it. Only what
is independent adds up: IOPS, bandwidth and the mean latency of a job are one piece of information, which tells
no more than the time and the amount of work that it was made of; the maxima of its latencies, which vary more,
are another one. Times, counts and sizes by themselves tell nothing, since they may have been asked for.
"""

from fsbench_kit.data.deduplication.folding import fold
from fsbench_kit.data.deduplication.printing import Printing, Remark, figure_key
from fsbench_kit.data.deduplication.sorting import same_runs

__all__ = ["Printing", "Remark", "figure_key", "fold", "same_runs"]
