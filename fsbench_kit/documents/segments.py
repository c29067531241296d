"""Cuts a text into segments that contain logs of one format each, and reads them.

``fio --output-format=normal,json`` prints the header of its report, then the JSON document, then the rest of the
report. A segment can therefore continue after segments of other formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise, zip_longest

from fsbench_kit.documents.commands import Command
from fsbench_kit.documents.repair import Repair, repair_log
from fsbench_kit.formats import Format, name, sniff
from fsbench_kit.formats.text import Edit, Text
from fsbench_kit.model.records import Diagnostic, Record, Run


@dataclass(frozen=True)
class Segment:
    """A part of a text that contains logs of one format, and the text around them.

    It can have several spans; the text between them is left out.
    """

    text: Text
    log_format: Format
    spans: tuple[tuple[int, int], ...]

    @cached_property
    def records(self) -> list[Record]:
        """The records that the format yields."""
        return list(self.log_format.parse(self._read[0]))

    @property
    def repairs(self) -> list[Repair]:
        """The repairs that were made for the format."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[Text, list[Repair]]:
        start = self.spans[0][0]
        between = [Edit(end - start, next_start - start, "") for (_, end), (next_start, _) in pairwise(self.spans)]
        return repair_log(self.text.cut(start, self.spans[-1][1]).edited(between))

    @property
    def runs(self) -> list[Run]:
        """The runs among the records."""
        return [record for record in self.records if isinstance(record, Run)]

    @property
    def lacks_parts(self) -> bool:
        """Whether a log in it is incomplete."""
        return any(isinstance(record, Diagnostic) and record.code == "INCOMPLETE_LOG" for record in self.records)

    @cached_property
    def is_all_log(self) -> bool:
        """Whether it contains nothing but runs and their progress."""
        position = self.spans[0][0]
        for start, end in sorted(self._logs()):
            if self.text.chars[position : max(start, position)].strip():
                return False
            position = max(position, end)
        return not self.text.chars[position : self.spans[-1][1]].strip()

    def _logs(self) -> Iterator[tuple[int, int]]:
        for record in self.records:
            match record:
                case Run(start=start, end=end) | Diagnostic(code="PROGRESS", start=int(start), end=int(end)):
                    yield self.text.position(start), self.text.position(end)


def segments(text: Text, given: Sequence[Command]) -> Iterator[Segment]:
    """Yield the segments of a text whose command lines are given."""
    for _, group in groupby(_cut(text, given), key=lambda segment: segment.log_format.TOOL.name):
        alone = list(group)
        yield from _without_loose_beginnings(_joined(alone)) if len(alone) > 1 else alone


def _cut(text: Text, given: Sequence[Command]) -> Iterator[Segment]:
    """Yield a segment for each part of a text that has signatures of one format.

    The text between two formats is cut at the start of the line with the second format's first signature, or
    before the command line of its tool. Nothing is left out.
    """
    found = sniff(text.chars)
    streaks = [list(group) for _, group in groupby(found, key=lambda mark: mark[1])]
    starts = [0]
    for (last, _), (first, log_format) in zip(
        (streak[-1] for streak in streaks), (streak[0] for streak in streaks[1:]), strict=False
    ):
        line = text.chars.rfind("\n", last, first) + 1
        named = [c.position for c in given if last < c.position < first and c.tool == log_format.TOOL.name]
        starts.append(named[-1] if named else line or first)
    for streak, start, end in zip(streaks, starts, [*starts[1:], len(text.chars)], strict=False):
        yield Segment(text, streak[0][1], ((start, end),))


def _joined(alone: Sequence[Segment]) -> list[Segment]:
    """Join segments of one format that have only logs of other formats between them.

    A segment that begins a log of its own does not complete an earlier one.
    """
    joined: dict[int, Segment] = {}
    latest: dict[str, tuple[int, int]] = {}
    for index, segment in enumerate(alone):
        first, last = latest.get(name(segment.log_format), (index, index))
        if first != index and (
            not all(other.is_all_log for other in alone[last + 1 : index])
            or (alone[last].lacks_parts and not segment.lacks_parts)
        ):
            first = index
        whole = segment if first == index else replace(segment, spans=(*joined[first].spans, *segment.spans))
        joined[first] = whole
        latest[name(segment.log_format)] = first, index
    return list(joined.values())


def _without_loose_beginnings(found: Sequence[Segment]) -> Iterator[Segment]:
    """Merge an incomplete segment without runs into the following segment, which is of another format.

    With ``--output-format=json`` after a job on its command line, fio prints the header of that job nevertheless.
    """
    start: int | None = None
    for segment, follower in zip_longest(found, found[1:]):
        (first, end), *others = segment.spans
        whole = segment if start is None else replace(segment, spans=((start, end), *others))
        is_loose = follower is not None and not others and not whole.runs and whole.lacks_parts
        start = (first if start is None else start) if is_loose else None
        if not is_loose:
            yield whole
