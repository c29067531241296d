"""Options that fio is not given because they could reach beyond the target.

A job file can name a device as its file, which fio then overwrites. It can run programs, open files that it finds,
and change the machine. Therefore only engines that work on files are allowed, no value may contain a path, and
some options are refused. This guards against job files written for another place, not against malice: whoever
means harm has a shell.
"""

from __future__ import annotations

import re
from typing import Final

FILE_ENGINES: Final = (
    *("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring", "mmap", "splice"),
    *("falloc", "ftruncate", "filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"),
)

_PROGRAM: Final = "it runs a program"
_REPLAY: Final = "a replay writes to where it was recorded"

_REFUSED: Final = {
    "cgroup": "it leaves a control group on the machine",
    "exec_postrun": _PROGRAM,
    "exec_prerun": _PROGRAM,
    "include": "it reads another file, whose text would not be recorded",
    "ioscheduler": "it changes the scheduler of a disk permanently",
    "merge_blktrace_file": _REPLAY,
    "opendir": "it writes to all files that it finds",
    "read_iolog": _REPLAY,
    "replay_redirect": _REPLAY,
}

_WITH_SLASHES: Final = ("bssplit", "cmdprio_bssplit", "description", "directory", "random_distribution")
"""Options in which a slash is not part of a path, and one whose value is not used."""

# fio substitutes environment variables for ${NAME}.
_VARIABLE: Final = re.compile(r"\$(?!(?:jobname|jobnum|filenum|clientuid|mb_memory|ncpus|pagesize)\b)")


def refusal(key: str, value: str) -> str | None:
    """Return why an option is not passed to fio, or ``None`` if it is.

    >>> refusal("filename", "/dev/sda")
    'a path could lead outside the target'
    >>> refusal("bssplit", "4k/60:64k/40")
    """
    if key in _REFUSED:
        return _REFUSED[key]
    if key == "ioengine" and value not in FILE_ENGINES:
        return f"only engines that work on files are run: {', '.join(FILE_ENGINES)}"
    if _VARIABLE.search(value):
        return "the value of a variable would not be recorded"
    if "/" in value and key not in _WITH_SLASHES:
        return "a path could lead outside the target"
    return None
