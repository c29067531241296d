"""The parts of the manual that are made from the package, so that they say what it does today.

A page of `docs/` has a generated part between two comments::

    <!-- generated: relations; edit fsbench_kit/claims/relations/, then `make reference` -->
    <!-- end -->

To add one, write a function that returns its Markdown, name it in `PARTS`, and put the comments into a page.
The pages of the log formats, one for each module, are made whole.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from docs.generator import api, claims, commands, formats, frames, tables, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS: Final = Path(__file__).parents[1]

PARTS: Final[dict[str, Callable[[], str]]] = {
    "api": api.described,
    "commands": commands.commands,
    "exit statuses": commands.exit_statuses,
    "frames": frames.frames,
    "tables": frames.tables,
    "study keys": tables.study_keys,
    "plan keys": tables.plan_keys,
    "relations": claims.relations,
    "metrics": vocabulary.metrics,
    "operations": vocabulary.operations,
    "settings": vocabulary.settings,
    "diagnostics": vocabulary.diagnostics,
    "reasons": vocabulary.reasons,
}
"""What each generated part says, by the name in its comment."""

PART: Final = re.compile(
    r"(?P<begin><!-- generated: (?P<name>[\w ]+);[^>]*-->\n).*?(?P<end><!-- end -->\n)", re.DOTALL
)


def made() -> dict[Path, str]:
    """Return the text that each page with generated parts should have, by its path."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
    filled = {path: PART.sub(_filled, text) for path, text in texts.items() if PART.search(text)}
    return filled | {DOCS / "formats" / name: text for name, text in formats.pages().items()}


def _filled(part: re.Match[str]) -> str:
    return f"{part['begin']}\n{PARTS[part['name']]().strip()}\n\n{part['end']}"
