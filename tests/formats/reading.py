"""What one format reads of a text, sorted: the first step of most tests of formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Run

if TYPE_CHECKING:
    from fsbench_kit.formats import Format
    from fsbench_kit.model.records import Record


@dataclass(frozen=True)
class Reading:
    """Reads texts with one format.

    Examples
    --------
    >>> from fsbench_kit.formats import bonnie
    >>> Reading(bonnie).runs("no log")
    []
    """

    log_format: Format

    def records(self, chars: str) -> list[Record]:
        return list(self.log_format.parse(Text(chars)))

    def runs(self, chars: str) -> list[Run]:
        return [record for record in self.records(chars) if isinstance(record, Run)]

    def run_of(self, chars: str) -> Run:
        """Return the only run."""
        (run,) = self.runs(chars)
        return run

    def diagnostics(self, chars: str) -> list[Diagnostic]:
        return [record for record in self.records(chars) if isinstance(record, Diagnostic)]

    def codes(self, chars: str) -> list[str]:
        return [item.code for item in self.diagnostics(chars)]

    def parsed(self, chars: str) -> tuple[list[Run], list[Diagnostic]]:
        """Return the runs, and what is said of them."""
        return self.runs(chars), self.diagnostics(chars)
