"""Groups reports by the text between their numbers, which is all that many of them have in common.

The text between the numbers is the layout of a report. Reports with the same layout and the same numbers in their
strings (a block size, the name of a job) are of one kind if they also agree in what determines which figures
exist.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple

from fsbench_kit.formats.fio_columns.columns import ints
from fsbench_kit.formats.fio_columns.kind import Kind, P

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fsbench_kit.formats.fio_columns.numbers import Ints, Numbers

_MOST_LAYOUTS: Final = 32
_MOST_KINDS: Final = 64
"""The maximum number of kinds that are remembered, including for reports that are read later."""
_MOST_FAILURES: Final = 8
"""The maximum number of reports without a kind that are tried for each layout."""


class Learned(NamedTuple):
    """What the first report of a kind shows: the kind, and which of its numbers are the same in all reports."""

    kind: Kind[Any]
    same: list[int]


class Alike(Generic[P]):
    """The kinds of reports of a format.

    Parameters
    ----------
    name
        The name of the format.
    learn
        A function that returns what can be learned from the first report of a kind, or ``None`` if its numbers do
        not determine everything.
    """

    def __init__(self, name: str, learn: Callable[[P], Learned | None]) -> None:
        self.name = name
        self._layout = lru_cache(maxsize=_MOST_LAYOUTS)(lambda _: _Layout(learn))

    def kinds_of(self, reports: Sequence[P], numbers: Numbers) -> list[Kind[P] | None]:
        """Return the kind of each report, or ``None``, given the numbers of all of them."""
        found: list[Kind[P] | None] = [None] * len(reports)
        alike: dict[bytes, list[int]] = defaultdict(list)
        for index, layout in enumerate(numbers.layouts):
            if index not in numbers.odd_texts:
                alike[layout].append(index)
        for layout, indexes in alike.items():
            self._layout(layout).find(indexes, reports, numbers, found)
        return found


class _Known(NamedTuple):
    """A kind of reports, and the numbers that are the same in all of them."""

    kind: Kind[Any]
    same: Ints
    exact: Ints


class _Layout(Generic[P]):
    """The text between the numbers of reports."""

    def __init__(self, learn: Callable[[P], Learned | None]) -> None:
        self._learn = learn
        self._tries = _MOST_FAILURES
        self._known: list[_Known] = []

    def find(
        self, which: Sequence[int], reports: Sequence[P], numbers: Numbers, found: list[Kind[P] | None]
    ) -> None:
        """Enter the kinds of some reports, which have this layout."""

        def without_those_of(known: _Known, left: Sequence[int]) -> Sequence[int]:
            firsts = ints(numbers.first[index] for index in left)
            is_of = numbers.are_same(firsts[:, None] + known.same, known.exact)
            is_of &= known.kind.are_of([reports[index] for index in left], numbers, firsts)
            for index, is_one in zip(left, is_of.tolist(), strict=True):
                if is_one:
                    found[index] = known.kind
            return [index for index, is_one in zip(left, is_of.tolist(), strict=True) if not is_one]

        left = which
        for known in self._known:
            left = without_those_of(known, left)
        while left and self._tries:
            index, *left = left
            learned = self._learn(reports[index])
            if learned is None:
                self._tries -= 1
                continue
            if len(self._known) == _MOST_KINDS:
                self._known.clear()
            same = ints(learned.same)
            known = _Known(learned.kind, same, numbers.exact(numbers.first[index] + same))
            self._known.append(known)
            found[index] = known.kind
            left = without_those_of(known, left)
