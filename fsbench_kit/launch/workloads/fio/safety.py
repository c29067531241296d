"""What fio is not asked for: whatever could reach beyond the target.

A job file can name a device as its file, and fio then overwrites it. It can run programs, open what it finds, and
change the machine. So engines are those that work on files, no value holds a path, and some options are refused.
This guards against job files that were written for another place; whoever means harm has a shell.
"""

from __future__ import annotations

import re
from typing import Final

FILE_ENGINES: Final = (
    *("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring", "mmap", "splice"),
    *("falloc", "ftruncate", "filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"),
)

_PROGRAM: Final = "it runs a program"
_REPLAY: Final = "a replay writes where it was recorded"

_REFUSED: Final = {
    "cgroup": "it leaves a control group on the machine",
    "exec_postrun": _PROGRAM,
    "exec_prerun": _PROGRAM,
    "include": "it reads another file, whose text would not be recorded",
    "ioscheduler": "it changes the scheduler of a disk for good",
    "merge_blktrace_file": _REPLAY,
    "opendir": "it writes to all files that it finds",
    "read_iolog": _REPLAY,
    "replay_redirect": _REPLAY,
}

_WITH_SLASHES: Final = ("bssplit", "cmdprio_bssplit", "description", "directory", "random_distribution")
"""Options where a slash is no part of a path, and the one whose value is not used."""

# fio puts the environment's variables in the place of ${NAME}.
_VARIABLE: Final = re.compile(r"\$(?!(?:jobname|jobnum|filenum|clientuid|mb_memory|ncpus|pagesize)\b)")


def refusal(key: str, value: str) -> str | None:
    """Say why an option is not given to fio; ``None`` where it may be.

    >>> refusal("filename", "/dev/sda")
    'a path could lead away from the target'
    >>> refusal("bssplit", "4k/60:64k/40")
    """
    if key in _REFUSED:
        return _REFUSED[key]
    if key == "ioengine" and value not in FILE_ENGINES:
        return f"only engines that work on files are run: {', '.join(FILE_ENGINES)}"
    if _VARIABLE.search(value):
        return "the value of a variable would not be recorded"
    if "/" in value and key not in _WITH_SLASHES:
        return "a path could lead away from the target"
    return None
