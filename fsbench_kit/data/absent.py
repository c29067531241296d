"""Suggests alternatives for a path or pattern that matches nothing."""

from __future__ import annotations

import glob
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

from fsbench_kit.data.files import is_folder, matches
from fsbench_kit.model.suggestions import did_you_mean

_MOST: Final = 5
"""The maximum number of names to list."""


def said_of_absent(path: Path) -> str | None:
    """Return a message for a path or pattern that matches nothing, with similar names; ``None`` if it exists.

    Examples
    --------
    >>> from pathlib import Path
    >>> print(said_of_absent(Path("raw_results/publishd/*.log")))
    No file matches this pattern. raw_results has no publishd. Did you mean published?
    >>> print(said_of_absent(Path("raw_results/published/*/*.docx")).partition(",")[0])
    No file matches this pattern. raw_results/published/* has bonnie-ext4.txt
    """
    try:
        path.lstat()
    except FileNotFoundError:
        what = "No file matches this pattern." if glob.has_magic(str(path)) else "No such file or directory."
        return f"{what} {_near(path)}"
    except (OSError, ValueError):
        pass  # opening it reports the error
    return None


def _near(path: Path) -> str:
    """Suggest a similar name at the point where a path breaks off, or list the names there."""
    steps = pairwise([*reversed(path.parents), path])
    folder, step = next((folder, step) for folder, step in steps if step == path or not _folders(step))
    where = "The current folder" if folder == Path() else str(folder)
    try:
        entries = chain.from_iterable(each.iterdir() for each in _folders(folder))
        names = sorted({entry.name for entry in entries if not entry.name.startswith(".")})
    except OSError as error:
        return f"{where} cannot be read: {error.strerror}."
    asked = "" if glob.has_magic(step.name) else did_you_mean(step.name, names)
    if asked:
        return asked if step == path else f"{where} has no {step.name}. {asked}"
    if not names:
        return f"{where} is empty."
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{where} has {', '.join(names[:_MOST])}{more}."


def _folders(path: Path) -> list[Path]:
    """Return the folders that match a path or pattern."""
    return [found for found in map(Path, matches(str(path))) if is_folder(found)]
