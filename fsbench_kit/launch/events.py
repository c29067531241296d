"""What a launch tells while it goes on: small facts, one after the other.

They travel from the runner's process as lines of JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fsbench_kit.launch.schedule import Stage
    from fsbench_kit.model.records import Status


@dataclass(frozen=True, slots=True)
class Planned:
    """The launch begins: how many runs there will be, where they go, and how many are done already."""

    study: str
    folder: str
    runs: int
    done: int


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a person should know: what was left out, or why the launch ends early."""

    text: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins.

    `elapsed` and `remaining` are seconds; `remaining` is ``None`` as long as no run is there to judge by.
    """

    order: int
    runs: int
    stage: Stage
    round: int | None
    target: str
    workload: str
    elapsed: float
    remaining: float | None


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run has ended, and its folder is there.

    `failure` says why its figures do not count, if they do not, and `status` whether it has any; `warning`, in a
    line each, what may have spoilt them and was not said before of its target and workload.
    """

    order: int
    runs: int
    folder: str
    status: Status
    failure: str | None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The launch cannot start or go on; the parts of a `fsbench_kit.model.errors.LaunchError`."""

    what: str
    file: str | None
    hint: str | None


@dataclass(frozen=True, slots=True)
class Finished:
    """The launch has ended by itself. `stopped` says why, where that was before its plan was done."""

    stopped: str | None


Event = Planned | Note | RunStarted | RunEnded | Refused | Finished

_KINDS: Final = {kind.__name__: kind for kind in (Planned, Note, RunStarted, RunEnded, Refused, Finished)}


def to_line(event: Event) -> str:
    """Write an event as a line of JSON."""
    return json.dumps({"event": type(event).__name__, **asdict(event)}) + "\n"


def from_line(line: str | bytes) -> Event:
    """Read an event back."""
    fields = json.loads(line)
    return _KINDS[fields.pop("event")](**fields)
