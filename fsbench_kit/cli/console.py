"""The consoles that commands print to."""

import sys

from rich.console import Console

# A pipe has no width; tables that wrap are for a terminal's.
out = Console(highlight=False, emoji=False, width=None if sys.stdout and sys.stdout.isatty() else 200)
err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)
