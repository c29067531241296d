"""Reads the pieces of a text, and puts together what one run printed in several formats at once.

``fio --output-format=normal,json`` prints its header, the JSON document, and only then its report. So a piece can
begin what another one ends, with pieces of other formats between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise, zip_longest
from typing import TYPE_CHECKING

from fsbench_kit.documents.repair import repair_log
from fsbench_kit.formats import name
from fsbench_kit.formats.text import Edit
from fsbench_kit.model.records import Diagnostic, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fsbench_kit.documents.pieces import Piece
    from fsbench_kit.documents.repair import Repair
    from fsbench_kit.formats import Format
    from fsbench_kit.formats.text import Text
    from fsbench_kit.model.records import Record


@dataclass(frozen=True)
class Reading:
    """What a format makes of a piece of a text, or of several pieces without what stands between them."""

    text: Text
    log_format: Format
    spans: tuple[tuple[int, int], ...]

    @cached_property
    def records(self) -> list[Record]:
        """What the format says."""
        return list(self.log_format.parse(self._read[0]))

    @property
    def repairs(self) -> list[Repair]:
        """What was repaired for the format."""
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
        """Whether a log in it is not all that its tool prints."""
        return any(isinstance(record, Diagnostic) and record.code == "INCOMPLETE_LOG" for record in self.records)

    @cached_property
    def is_all_log(self) -> bool:
        """Whether nothing stands in it but runs, and the progress of a run."""
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


def readings(text: Text, pieces: Iterable[Piece]) -> Iterator[Reading]:
    """Yield what the pieces of a text say, each piece once."""
    for _, group in groupby(pieces, key=lambda piece: piece.log_format.TOOL.name):
        alone = [Reading(text, piece.log_format, ((piece.start, piece.end),)) for piece in group]
        yield from _without_loose_beginnings(_joined(alone)) if len(alone) > 1 else alone


def _joined(alone: Sequence[Reading]) -> list[Reading]:
    """Put pieces of one format together that have nothing but logs of other formats between them.

    What has a beginning of its own does not end what began before.
    """
    joined: dict[int, Reading] = {}
    latest: dict[str, tuple[int, int]] = {}
    for index, reading in enumerate(alone):
        first, last = latest.get(name(reading.log_format), (index, index))
        if first != index and (
            not all(other.is_all_log for other in alone[last + 1 : index])
            or (alone[last].lacks_parts and not reading.lacks_parts)
        ):
            first = index
        joined[first] = replace(reading, spans=(*(joined[first].spans if first != index else ()), *reading.spans))
        latest[name(reading.log_format)] = first, index
    return list(joined.values())


def _without_loose_beginnings(found: Sequence[Reading]) -> Iterator[Reading]:
    """Leave what begins a log and has no end to the log of another format that follows.

    With ``--output-format=json`` behind a job on its command line, fio prints the header of that job nevertheless.
    """
    start: int | None = None
    for reading, follower in zip_longest(found, found[1:]):
        (first, end), *others = reading.spans
        whole = reading if start is None else replace(reading, spans=((start, end), *others))
        is_loose = follower is not None and not others and not whole.runs and whole.lacks_parts
        start = (first if start is None else start) if is_loose else None
        if not is_loose:
            yield whole
