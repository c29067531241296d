"""The consoles that commands print to. Markup is off, because file names may look like it."""

import sys

from rich.console import Console

# A pipe has no width; only a terminal needs wrapped tables.
_width = None if sys.stdout and sys.stdout.isatty() else 200
out = Console(highlight=False, markup=False, emoji=False, width=_width)
err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)
