r"""Lines in which logs may differ and yet be of one kind: in units, or in that they are there at all.

Which unit suits a figure depends on its size, and so does which buckets of a distribution hold anything: no two
reports are printed quite alike. But each line of such a report tells by itself how its figures are printed. So
what was seen on a line of one log (see `Lore`) is known of the same line in all others.

Lines are taken from a log's kind (see `fsbench_kit.formats.clean`), in which each number is a ``\0``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fsbench_kit.formats.clean.numbers import Indexes
from fsbench_kit.model.records import Bin, How


@dataclass(frozen=True)
class Lines:
    """What a format says of its lines.

    Attributes
    ----------
    sign
        What stands in all of its logs.
    unit
        What may differ within a line.
    goes_on
        Matches the beginning of a line whose units are told by one before it.
    bins
        Matches a line that may be there or not. Its numbers are labels of bins and their shares, in turns.
    """

    sign: str
    unit: re.Pattern[str]
    goes_on: re.Pattern[str]
    bins: re.Pattern[str]


class LabelledBin(NamedTuple):
    """A bin on a line that may be there or not.

    Attributes
    ----------
    gap
        Before which of the other lines it stands.
    line
        The number of its line in the log.
    name
        What tells it from others but for its label.
    number
        Which of the log's numbers its label is, before its share.
    """

    gap: int
    line: int
    name: str
    number: int


@dataclass(frozen=True, eq=False)
class Layout:
    """The lines of a kind of logs.

    Attributes
    ----------
    plain
        All lines that have to be there, without what may differ in them.
    heads
        For each of those the line that tells its units, or nothing.
    numbers
        Of which of those each number is, in their order.
    kept
        Which of the log's numbers these are.
    lines
        The number of each of those in the log.
    cells
        The bins on the other lines.
    labels
        Which of the log's numbers the labels of these are.
    """

    plain: str
    heads: tuple[str, ...]
    numbers: tuple[int, ...]
    kept: Indexes
    lines: tuple[int, ...]
    cells: tuple[LabelledBin, ...]
    labels: Indexes

    @classmethod
    def of(cls, kind: str, lines: Lines) -> Layout:
        """Tell the lines of a kind."""
        plain: list[str] = []
        heads: list[str] = []
        numbers: list[int] = []
        kept: list[int] = []
        places: list[int] = []
        cells: list[LabelledBin] = []
        number = 0
        for place, line in enumerate(kind.split("\n"), 1):
            count, names, rest, goes_on = _line(line, lines)
            if names is not None:
                cells += [LabelledBin(len(plain), place, name, number + 2 * at) for at, name in enumerate(names)]
            else:
                numbers += [len(plain)] * count
                kept += range(number, number + count)
                heads.append((heads[-1] if heads else "") if goes_on else line if rest != line else "")
                plain.append(rest)
                places.append(place)
            number += count
        return cls(
            "\n".join(plain),
            tuple(heads),
            tuple(numbers),
            np.array(kept, np.int64),
            tuple(places),
            tuple(cells),
            np.array([cell.number for cell in cells], np.int64),
        )


@lru_cache(maxsize=2**12)
def _line(line: str, lines: Lines) -> tuple[int, list[str] | None, str, bool]:
    """Return how many numbers a line has, its bins' names if it may lack, itself without units, if it goes on."""
    if lines.bins.fullmatch(line):
        head, *pieces = line.split("\0")
        befores = [head, *pieces[1::2]][: len(pieces) // 2]
        names = [f"{head.rstrip('>= ')} {'>=' if before.endswith('>=') else ''}" for before in befores]
        return len(pieces), names, "", False
    return line.count("\0"), None, lines.unit.sub("", line), lines.goes_on.match(line) is not None


class Printed(NamedTuple):
    """How a figure is printed, and what stands behind its number."""

    how: How
    suffix: str = ""


@dataclass
class Lore:
    """What was seen in some logs.

    Attributes
    ----------
    printed
        How a figure is printed, by its place and the line that tells the units.
    bins
        By a bin's name and the code of its label: its metric and its ends.
    places
        Before each line that has to be there: what bins are of.
    """

    printed: dict[tuple[int, str], Printed] = field(default_factory=dict)
    bins: dict[Hashable, tuple[str, float | None, float | None] | None] = field(default_factory=dict)
    places: dict[int, tuple[str, str, str | None]] = field(default_factory=dict)
    heads: set[tuple[int, str]] = field(default_factory=set)

    def learn_bins(self, layout: Layout, labels: Sequence[int], bins: Sequence[Bin]) -> bool:
        """Learn from bins on lines that may be there or not; return whether all that was seen agrees."""
        of_line: dict[int, list[Bin]] = defaultdict(list)
        for item in bins:
            of_line[item.line or 0].append(item)
        cells: dict[int, list[tuple[LabelledBin, int]]] = defaultdict(list)
        for cell, label in zip(layout.cells, labels, strict=True):
            cells[cell.line].append((cell, label))
        if any(len(of_line[line]) != len(each) for line, each in cells.items()):
            return False
        for line, each in cells.items():
            for (cell, label), item in zip(each, of_line[line], strict=True):
                known = item.metric, item.low, item.high
                place = item.operation, item.scope, item.part
                is_new = self.bins.setdefault((cell.name, label), known) == known
                if not is_new or self.places.setdefault(cell.gap, place) != place:
                    return False
        return True

    def knows(self, layout: Layout, labels: Sequence[int]) -> bool:
        """Whether everything on the lines of a log was seen before."""
        return self.heads.issuperset(enumerate(layout.heads)) and all(
            cell.gap in self.places and (cell.name, label) in self.bins
            for cell, label in zip(layout.cells, labels, strict=True)
        )

    def bins_of(self, layout: Layout, labels: Sequence[int]) -> Iterator[tuple[tuple[object, ...], int, int]]:
        """Yield the bins of a log on such lines: what they are, on which line, and which number is their share."""
        for cell, label in zip(layout.cells, labels, strict=True):
            known = self.bins[cell.name, label]
            yield (*self.places[cell.gap], *(known or ())), cell.line, cell.number + 1
