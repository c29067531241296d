"""fio's JSON output: ``--output-format=json`` and ``json+``, of fio 2.x and 3.x.

A document is an object with ``"jobs"`` (or, in client mode, ``"client_stats"``). A file can contain several, with
text before, between and after them, and each can be nested in an unrelated object; jobs without a document around
them, separated by commas, belong to one run. Figures have the same names as in `fsbench_kit.formats.fio_normal`,
so that the two can be checked against each other, and are less often rounded:

- Counts, bytes, milliseconds and the minimum and maximum of latencies are exact. ``iops``, means and deviations
  are rounded to their last digit.
- Other rates are truncated integers: ``bw_bytes`` in B/s; ``bw``, which repeats it, ``bw_min`` and ``bw_max`` in
  KiB/s.
- Percentiles and ``bins`` (of ``json+``) are the middles of bins, which fio up to 3.0 identifies by index; see
  `fsbench_kit.formats.fio`. Percentiles are also computed from the bins, as second prints if they are printed,
  too.
- fio 2.x has latencies in µs (``clat`` for ``clat_ns``), bandwidth as ``bw`` only, and ``io_bytes`` in KiB. In 2.1
  ``bw_agg`` is not the share of the group, but repeats ``bw_mean``.

Blocks of directions without requests are filled with zeros, and are omitted here, as are statistics without
samples. Unknown numbers are listed in one diagnostic per run.

Each document is a run. But documents of the same jobs are reports of one run (``--status-interval``) if their
counts grow from one to the next, by as much as the time between them: the last one is its result, and all of them
are its series. Amounts are those up to each report, and rates and latencies are statistics over the run up to then
(``cumulative_mean``, ``cumulative_p99``, ...).

A document that is cut off, or lacks lines, is read up to that point: a number counts if the comma or bracket after
it has been seen. Lines of fio, the kernel or a shell inside a document are skipped.

The ``threads`` of a job are its option ``numjobs`` if its name occurs once, since its figures are then those of
all its processes, and 1 if it occurs several times. (Sections of a job file that are reported as one group cannot
be distinguished from a single one.)
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from fsbench_kit.formats.fio import beside
from fsbench_kit.formats.fio_command import TOOL
from fsbench_kit.formats.fio_json.alike import together
from fsbench_kit.formats.fio_json.contents import Report
from fsbench_kit.formats.fio_json.documents import MARKS, reports, runs_of
from fsbench_kit.formats.fio_json.reader import records
from fsbench_kit.formats.json_text import strictly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsbench_kit.formats.text import Text
    from fsbench_kit.model.records import Diagnostic, Record

__all__ = ["SIGN", "TOOL", "parse", "signatures", "together", "undamaged"]

SIGN: Final = "fio version|client_stats|jobname"


def signatures(chars: str) -> Iterator[int]:
    """Yield the positions of text that only a log of this format contains."""
    position, brace = 0, 0 if chars.startswith(("{", "[")) else None
    for mark in MARKS(chars):
        # A document starts at the brace around the mark, which need not be the last one before it.
        last = max(chars.rfind("\n{", position, mark), chars.rfind("\n[", position, mark))
        position, brace = mark, last + 1 if last >= 0 else brace
        yield mark if brace is None else brace


def parse(text: Text) -> Iterator[Record]:
    """Yield the run of each document in a text, and diagnostics for unknown figures."""
    end = 0
    for of_run in runs_of(reports(text)):
        for report in of_run:
            yield from _beside(text, end, report.document.start)
            end = report.document.end
        yield from records([(text, of_run)])[0]
    yield from _beside(text, end, len(text.chars))


def undamaged(text: Text) -> list[Record] | None:
    """Return the records of a text that consists of nothing but documents of fio.

    Return ``None`` if it may contain more: damage, a command line, a log of another tool.
    """
    documents = _documents(text.chars)
    if documents is None:
        return None
    return [*chain.from_iterable(records([(text, of_run) for of_run in runs_of(documents)]))]


def _documents(chars: str) -> list[Report] | None:
    if not chars.startswith("{") or not chars.isascii() or any(sign in chars for sign in _SIGNS_OF_MORE):
        return None
    if "fio " in chars.replace('"fio version"', ""):
        return None
    found: list[Report] = []
    end = 0
    while end < len(chars):
        document = strictly(chars, end)
        if document is None or not (report := Report(document)).is_of_fio:
            return None
        found.append(report)
        end = _SPACE.match(chars, document.end).end()  # type: ignore[union-attr]
    return found


_SIGNS_OF_MORE: Final = ("\\", "&", "<", "\r", "bonnie", "iozone", "sysbench")
"""Escapes, and the names of other tools."""
_SPACE: Final = re.compile(r"\s*")

_WRAPPING: Final = re.compile(
    r"""(?:"(?!(?:fio version|jobs|jobname|io_\w+|bw\w*|iops\w*|runtime|total_ios|min|max|mean|percentile|ctx)")"""
    r"""[^"\n]{0,200}"|[\s{}\[\]:,]|-?\d[\d.eE+-]*+|true|false|null)*+"""
)
"""Keys and values of an object that contains a document; none of them are fio's."""


def _beside(text: Text, start: int, end: int) -> Iterator[Diagnostic]:
    """Yield diagnostics about the text around documents, which can be an object that contains them."""
    is_wrapping = re.search("[{}]", text.chars[start:end]) and _WRAPPING.fullmatch(text.chars, start, end)
    for diagnostic in beside(text, start, end):
        yield replace(diagnostic, code="OTHER_TEXT") if is_wrapping else diagnostic
