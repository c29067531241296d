"""The tool fio, and the options of its command line and job files; see ``fio(1)``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from fsbench_kit.formats.command_line import (
    PUNCTUATION,
    CommandLine,
    OptionNames,
    all_own,
    in_bytes,
    in_seconds,
    long_options,
    plain,
    setting_of,
    share,
    truth,
    words_of,
)
from fsbench_kit.formats.tool import Tool
from fsbench_kit.model.records import Run, Setting

_OPTIONS: Final[OptionNames] = {
    "bs": ("block_size", in_bytes),
    "blocksize": ("block_size", in_bytes),
    "description": ("description", plain),
    "direct": ("direct", truth),
    "directory": ("directory", plain),
    "end_fsync": ("final_fsync", truth),
    "fsync": ("fsync", plain),
    "group_reporting": ("grouped", truth),
    "iodepth": ("iodepth", plain),
    "ioengine": ("engine", plain),
    "name": ("job_name", plain),
    "numjobs": ("threads", plain),
    "output": ("output", plain),
    "output-format": ("output", plain),
    "randseed": ("seed", plain),
    "readwrite": ("pattern", plain),
    "runtime": ("time_limit", in_seconds),
    "rw": ("pattern", plain),
    "rwmixread": ("read_share", share),
    "size": ("file_size", in_bytes),
    "sync": ("sync", truth),
    "time_based": ("time_based", truth),
}

_FLAGS: Final = frozenset(
    {
        "exitall",
        "exitall_on_error",
        "group_reporting",
        "minimal",
        "new_group",
        "norandommap",
        "readonly",
        "refill_buffers",
        "stonewall",
        "thread",
        "time_based",
        "zero_buffers",
    }
)
"""Options without a value, which do not consume the next word."""


@lru_cache(maxsize=2**12)
def job_option(name: str, value: str) -> tuple[str, str]:
    """Return the key and the canonical value of a job option, as written in job files and fio's JSON.

    >>> job_option("bs", "4k"), job_option("group_reporting", "")
    (('block_size', '4096'), ('grouped', 'true'))
    """
    return setting_of("fio", _OPTIONS, name, value or "true")


def _takes(arguments: str) -> bool:
    """Whether all words are options of fio with their values, or names of job files."""
    words = words_of(all_own(arguments))
    before = ""
    for place, word in enumerate(words):
        takes_next = before.startswith("-") and "=" not in before and before.lstrip("-") not in _FLAGS
        is_file = re.search(r"[./_\d]", word) is not None and word[-1] not in PUNCTUATION
        is_only_one = place == len(words) - 1 and "=" in before and word[-1] not in PUNCTUATION
        if not (word.startswith("-") or takes_next or is_file or is_only_one):
            return False
        before = "" if takes_next and not word.startswith("-") else word
    return bool(words)


COMMAND: Final = CommandLine(
    program="fio",
    begins=r"[\w./-]{1,200}\.(?:fio|job|ini|cfg)\b",
    settings=lambda arguments: long_options("fio", _OPTIONS, arguments, _FLAGS.__contains__),
    takes=_takes,
)

_OTHER_DIRECTIONS: Final = {"read": {"write", "trim"}, "write": {"read", "trim"}, "trim": {"read", "write"}}
"""Pattern, without “rand” -> operations that such a run does not perform."""


def _misfits(command: Sequence[Setting], run: Run) -> Iterator[str]:
    """Check the pattern of a command against what the run did, unless it verified, which adds reads."""
    patterns = {item.value for item in command if item.key == "pattern"}
    if len(patterns) == 1 and not any(item.key == "fio.verify" for item in command):
        (pattern,) = patterns
        done = {item.operation for item in run.measurements if item.metric == "bandwidth" and item.value}
        if others := done & _OTHER_DIRECTIONS.get(pattern.removeprefix("rand"), set()):
            yield f"the log has a {min(others)}, and pattern is {pattern} in the command"


TOOL: Final = Tool(
    name="fio",
    command=COMMAND,
    concurrent=True,
    logged=("pattern", "block_size", "engine", "iodepth"),
    misfits=_misfits,
)
