r"""Lines in which logs of one kind may differ: in their units, or in whether they are present.

The unit of a figure depends on its size, as do the buckets of a distribution that are not empty, so that hardly
any two reports have exactly the same layout. But each line of a report shows by itself how its figures are
printed: what was learned from a line of one log (see `KnownLines`) applies to the same line in all others.

Lines are taken from the kind of a log (see `fsbench_kit.formats.clean`), in which each number is a ``\0``.
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
    """What a format declares about its lines.

    Attributes
    ----------
    sign
        Text that all of its logs contain.
    unit
        Matches the parts of a line that may differ.
    goes_on
        Matches the beginning of lines whose units are shown by an earlier line.
    bins
        Matches optional lines. Their numbers are alternately labels of bins and shares.
    """

    sign: str
    unit: re.Pattern[str]
    goes_on: re.Pattern[str]
    bins: re.Pattern[str]


class LabelledBin(NamedTuple):
    """A bin on an optional line.

    Attributes
    ----------
    gap
        The index of the common line that it precedes.
    line
        The number of its line in the log.
    name
        What distinguishes it from others besides its label.
    number
        The ordinal of its label among the log's numbers; its share follows.
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
        All common lines, without the parts that may differ.
    heads
        For each of these, the line that shows its units, or nothing.
    numbers
        The index of the common line of each number, in order.
    kept
        The ordinals of these numbers among the log's numbers.
    lines
        The line number of each common line in the log.
    cells
        The bins on the optional lines.
    labels
        The ordinals of their labels among the log's numbers.
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
        """Return the lines of a kind."""
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
    """Return a line's count of numbers, its bins if it is optional, itself without units, and if it continues."""
    if lines.bins.fullmatch(line):
        head, *pieces = line.split("\0")
        befores = [head, *pieces[1::2]][: len(pieces) // 2]
        names = [f"{head.rstrip('>= ')} {'>=' if before.endswith('>=') else ''}" for before in befores]
        return len(pieces), names, "", False
    return line.count("\0"), None, lines.unit.sub("", line), lines.goes_on.match(line) is not None


class Printed(NamedTuple):
    """How a figure is printed, and the suffix of its number."""

    how: How
    suffix: str = ""


@dataclass
class KnownLines:
    """What was learned from some logs.

    Attributes
    ----------
    printed
        How a figure is printed, by its place and the line that shows the units.
    bins
        By the name of a bin and the code of its label: its metric and its ends.
    places
        By the index of a common line: what the bins before it measure.
    """

    printed: dict[tuple[int, str], Printed] = field(default_factory=dict)
    bins: dict[Hashable, tuple[str, float | None, float | None] | None] = field(default_factory=dict)
    places: dict[int, tuple[str, str, str | None]] = field(default_factory=dict)
    heads: set[tuple[int, str]] = field(default_factory=set)

    def learn_bins(self, layout: Layout, labels: Sequence[int], bins: Sequence[Bin]) -> bool:
        """Learn from bins on optional lines; return whether everything learned so far agrees."""
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
        """Whether everything on the lines of a log is known."""
        return self.heads.issuperset(enumerate(layout.heads)) and all(
            cell.gap in self.places and (cell.name, label) in self.bins
            for cell, label in zip(layout.cells, labels, strict=True)
        )

    def bins_of(self, layout: Layout, labels: Sequence[int]) -> Iterator[tuple[tuple[object, ...], int, int]]:
        """Yield the bins of a log on optional lines: what they are, their lines, and the numbers of shares."""
        for cell, label in zip(layout.cells, labels, strict=True):
            known = self.bins[cell.name, label]
            yield (*self.places[cell.gap], *(known or ())), cell.line, cell.number + 1
