"""A load that several hosts generate at the same time, in a directory that they share under one path.

The program is `fsbench_kit.launch.together`. It reaches the hosts by ``ssh``, has each create a directory of its
own in that of the run, and starts them all once the last one is ready.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from fsbench_kit.launch.workloads.base import RunContext, Work

if TYPE_CHECKING:
    from collections.abc import Mapping

_HOSTS: Final = "hosts.json"
_PROGRAM: Final = "fsbench_kit.launch.together"


def together(context: RunContext, hosts: Mapping[str, str], files: Mapping[str, str], *words: str) -> Work:
    """Return the commands that run ``fio JOB SOCKETS`` or ``command FIGURES LOG WORDS...`` on several hosts."""
    program = (sys.executable, "-P", "-m", _PROGRAM, _HOSTS, str(context.directory))
    return Work(measured=(*program, *words), files={_HOSTS: json.dumps(dict(hosts), indent=1) + "\n", **files})
