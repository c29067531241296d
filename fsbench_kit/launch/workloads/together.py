"""A load that several hosts make at the same time, in a directory that all of them see under one path.

The program is `fsbench_kit.launch.together`: it reaches the hosts by ``ssh``, has each make a
directory of its own in the run's, and gives all of them the word to begin when the last one is ready.
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
    """Return what has hosts do something together: ``fio JOB SOCKETS``, or ``command FIGURES LOG WORDS...``."""
    program = (sys.executable, "-P", "-m", _PROGRAM, _HOSTS, str(context.directory))
    return Work(measured=(*program, *words), files={_HOSTS: json.dumps(dict(hosts), indent=1) + "\n", **files})
