"""Asks fio, where it is installed, whether it understands what it is to do. Nothing is run."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.tools import find_program, program_environment

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIMEOUT: Final = 20.0
_CONSEQUENCE: Final = re.compile(r"fio: job .* dropped$")
_OPTION: Final = re.compile(r"(?:failed parsing |unrecognized option '--|Bad option <)(\w+)")


def complaint(flags: Sequence[str], job: str | None) -> tuple[str, ...]:
    """Return the lines that fio says against options or a job file; none where it is content.

    Parameters
    ----------
    flags
        As fio gets them.
    job
        The text of a job file.
    """
    if find_program("fio") is None:
        return ()
    command = ["fio", "--parse-only", *flags, *(["-"] if job is not None else [])]
    try:
        asked = subprocess.run(
            command,
            env=program_environment(),
            input=job or "",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()  # a run will show it
    if asked.returncode == 0:
        return ()
    said = dict.fromkeys(line.strip().removeprefix("fio: ") for line in asked.stderr.splitlines() if line.strip())
    return tuple(line for line in said if not _CONSEQUENCE.match(f"fio: {line}")) or (
        f"it ends with exit code {asked.returncode}",
    )


def option(line: str) -> str | None:
    """Return the option that fio complains of.

    >>> option("Bad option <bsz=4>"), option("engine io_urin not loadable")
    ('bsz', None)
    """
    match = _OPTION.match(line)
    return match[1] if match is not None else None
