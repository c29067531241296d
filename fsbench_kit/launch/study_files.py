"""The files in the folder of a launched study, for all who only look there: it loads nothing else of launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path


STUDY: Final = "study.toml"
PLAN: Final = "plan.toml"
CAMPAIGN: Final = "campaign.toml"
"""The plan of a campaign, in the folder that contains its launches."""
HOSTS: Final = "hosts.toml"
"""The plan of a launch on several hosts, in the folder that contains the hosts' parts."""
SHARED: Final = ".shared"
"""A file on each of these hosts that names the study to which the launches beside it belong."""
DECISION: Final = "rounds.json"
"""The number of rounds to make, once the plan's stopping rule has decided it."""
DEVICES: Final = "devices.json"
"""What the launch has created on block devices, and may overwrite when it is resumed."""
NOTES: Final = "notes.txt"
"""The launch's remarks about its plan before the first run, such as what it left out and why; one per line."""


def launch_notes(folder: Path) -> list[str]:
    """Return the launch's remarks about its plan before the first run."""
    try:
        return (folder / NOTES).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
