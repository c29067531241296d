"""The tool sysbench and the options of its ``fileio`` test; see ``sysbench fileio help``."""

from __future__ import annotations

from collections.abc import Iterator
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
    truth,
    words_of,
)
from fsbench_kit.formats.tool import Tool

_OPTIONS: Final[OptionNames] = {
    "events": ("request_limit", plain),
    "file-block-size": ("block_size", in_bytes),
    "file-fsync-end": ("final_fsync", truth),
    "file-fsync-freq": ("fsync", plain),
    "file-io-mode": ("engine", plain),
    "file-num": ("files", plain),
    "file-test-mode": ("pattern", plain),
    "file-total-size": ("total_size", in_bytes),
    "max-requests": ("request_limit", plain),
    "max-time": ("time_limit", in_seconds),
    "num-threads": ("threads", plain),
    "rand-seed": ("seed", plain),
    "threads": ("threads", plain),
    "time": ("time_limit", in_seconds),
}

_TESTS: Final = frozenset({"cpu", "fileio", "memory", "mutex", "oltp", "threads"})
_VERBS: Final = frozenset({"run", "prepare", "cleanup", "help", "version"})


def _settings(arguments: str) -> Iterator[tuple[str, str]]:
    for key, value in long_options("sysbench", _OPTIONS, arguments):
        if key == "sysbench.file-extra-flags":
            given = set(value.split(","))
            yield "direct", "true" if "direct" in given else "false"
            yield "sync", "true" if given & {"sync", "dsync"} else "false"
        elif key != "sysbench.test":  # 0.4 and 0.5 specify the test by an option: --test=fileio
            yield key, value


def _takes(arguments: str) -> bool:
    words = words_of(all_own(arguments))
    has_verb = False
    for word in words:
        if word.startswith("-"):
            continue
        if has_verb:
            return True
        has_verb = word.rstrip(PUNCTUATION) in _VERBS
        if not has_verb and word not in _TESTS and not word.endswith(".lua"):
            return False
    return has_verb or any(word.startswith("-") for word in words)


COMMAND: Final = CommandLine(
    program="sysbench",
    begins=r"fileio\b",
    settings=_settings,
    takes=_takes,
    ends=r"(?:\S*/)?sysbench\b.*?\s(?:run|prepare|cleanup)\b(?:[\s\\]+--?\w\S*)*",  # the verb is the last word
)

TOOL: Final = Tool(
    name="sysbench",
    title="sysbench fileio",
    command=COMMAND,
    concurrent=True,
    logged=("pattern", "block_size", "total_size", "files", "threads"),
)
