"""The exit statuses of ``fsbench`` and their meanings."""

from __future__ import annotations

from typing import Final

STATUSES: Final = {
    0: "Success; with --gate, nothing is worse and everything is decided.",
    1: "A launch or a report failed; with --gate, something is worse by more than the tolerance.",
    2: "The request was invalid, or some input could not be used; all usable input was used.",
    3: "With --gate: nothing is worse, but something is undecided.",
    4: "With --gate: nothing is worse, but something is not comparable.",
    5: "With --against: a finding changed, appeared or disappeared.",
    130: "Interrupted by Ctrl-C; the message says what is kept.",
}
"""Exit status -> its meaning; the source of the table in ``docs/commands.md``."""

AGAINST: Final = 5

GATE: Final = {"worse": 1, "not comparable": 4, "undecided": 3}
"""Why a comparison does not pass the gate -> the exit status."""
