"""Reports that differ in nothing but their numbers, which are read by what is known from the first of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from datetime import datetime

    from fsbench_kit.formats.findings import Finding
    from fsbench_kit.formats.fio_columns.columns import Log
    from fsbench_kit.formats.fio_columns.figures import Figures
    from fsbench_kit.formats.fio_columns.numbers import Bools, Ints, Numbers
    from fsbench_kit.model.records import Diagnostic, Measurement, Setting


@dataclass(frozen=True, slots=True)
class Printed:
    """A text that may be a report and nothing else.

    Attributes
    ----------
    at
        Its index among all texts.
    end
        The end of the report in the text.
    ended_at
        The time at which it was printed, if it shows it.
    hidden
        The part of its text that does not belong to its layout, such as this time.
    """

    at: int
    end: int
    ended_at: datetime | None
    hidden: slice


P = TypeVar("P", bound=Printed)


class Kind(ABC, Generic[P]):
    """Reports that differ in nothing but their numbers.

    Attributes
    ----------
    figures
        Their figures.
    facts
        Version and status.
    checked
        What `checks` depends on, apart from the figures themselves.
    conditions
        Groups of numbers that determine which figures exist, and whether any number of each is not 0.
    """

    figures: Figures
    facts: tuple[str | None, str]
    checked: Hashable
    conditions: Sequence[tuple[Ints, bool]]

    def are_of(self, _: Sequence[P], numbers: Numbers, firsts: Ints) -> Bools:
        """Return whether reports that differ in their numbers alone are of this kind."""
        are_of = np.ones(len(firsts), bool)
        for places, answer in self.conditions:
            are_of &= numbers.is_any[firsts[:, None] + places].any(axis=1) == answer
        return are_of

    @abstractmethod
    def log(self, report: P, first: int) -> Log:
        """Return a report, given the index of its first number."""

    @abstractmethod
    def line_ends(self, report: P) -> int:
        """Return how many line ends a report has."""

    @abstractmethod
    def are_odd(self, numbers: Numbers, firsts: Ints) -> Bools:
        """Return whether reports have to be read separately."""

    @abstractmethod
    def settings(self, numbers: Numbers, firsts: Ints) -> Iterable[list[Setting]]:
        """Return the settings of reports; those that have the same share one list."""

    @abstractmethod
    def checks(self, measurements: Sequence[Measurement]) -> Iterator[Finding]:
        """Check columns of figures of several reports against each other."""

    @abstractmethod
    def remarks(self, report: P) -> Iterable[Diagnostic]:
        """Return the diagnostics of a report that do not depend on its figures."""

    def identities(self, _: Numbers, firsts: Ints) -> Sequence[str | None]:
        """Return what identifies each run: alternating keys and values, separated by blanks."""
        return [None] * len(firsts)

    def leftovers(self, _numbers: Numbers, _logs: Sequence[Log]) -> Iterable[tuple[int, tuple[str, int, str]]]:
        """Return messages on unknown numbers, with their lines and excerpts, and the index of the log of each."""
        return ()
