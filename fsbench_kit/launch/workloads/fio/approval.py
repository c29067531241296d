"""Asks fio, if it is installed, whether it accepts a workload. Nothing is run."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.tools import asked

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIMEOUT: Final = 20.0
_CONSEQUENCE: Final = re.compile(r"fio: job .* dropped$")
_FRACTION: Final = re.compile(r"(\d+)\.\d+[a-zA-Z]*")
_TYPE: Final = re.compile(r"^\s*type: (.*)$", re.MULTILINE)
_TAKES_FRACTIONS: Final = re.compile(r"list of floating|string \(")
_OPTION: Final = re.compile(r"(?:failed parsing |unrecognized option '--|Bad option <)(\w+)")


def complaint(flags: Sequence[str], job: str | None) -> tuple[str, ...]:
    """Return fio's complaints about options or a job file; empty if there are none.

    Parameters
    ----------
    flags
        The options, as passed to fio.
    job
        The text of a job file.
    """
    answer = _ask(["--parse-only", *flags, *(["-"] if job is not None else [])], job or "")
    if answer is None or answer.returncode == 0:
        return ()
    errors = dict.fromkeys(
        line.strip().removeprefix("fio: ") for line in answer.stderr.splitlines() if line.strip()
    )
    return tuple(line for line in errors if not _CONSEQUENCE.match(f"fio: {line}")) or (
        f"it ends with exit code {answer.returncode}",
    )


def whole_part(key: str, value: str) -> str | None:
    """Return what fio makes of a number whose fraction it would silently drop, or ``None``.

    Only lists and strings take fractions; of 1.5m, other options read just the 1, without the unit.
    """
    number = _FRACTION.fullmatch(value)
    if number is None or (answer := _ask([f"--cmdhelp={key}"])) is None:
        return None
    kind = _TYPE.search(answer.stdout)
    return number[1] if kind is not None and not _TAKES_FRACTIONS.match(kind[1]) else None


def _ask(flags: Sequence[str], text: str = "") -> subprocess.CompletedProcess[str] | None:
    """Run fio with the given standard input; return ``None`` if it is not installed or does not answer."""
    try:
        return asked("fio", *flags, timeout=_TIMEOUT, stdin=text)
    except (OSError, subprocess.TimeoutExpired):
        return None  # the run will show the error


def option(line: str) -> str | None:
    """Return the option that a complaint is about.

    >>> option("Bad option <bsz=4>"), option("engine io_urin not loadable")
    ('bsz', None)
    """
    match = _OPTION.match(line)
    return match[1] if match is not None else None
