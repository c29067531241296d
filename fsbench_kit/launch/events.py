"""The events that a launch reports while it is running.

The runner process sends them as lines of JSON.
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
    """The launch starts: the number of runs, their folder, and how many exist already."""

    study: str
    folder: str
    runs: int
    done: int


@dataclass(frozen=True, slots=True)
class Note:
    """A remark for people, such as what was left out or why the launch ends early."""

    text: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run starts.

    `elapsed` and `remaining` are seconds; `remaining` is ``None`` until a run has finished.
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
    """A run has ended, and its folder exists.

    `failure` says why its figures do not count, and `status` whether it has any figures. `warning` has a line for
    each condition that may have spoilt them and was not yet reported for its target and workload.
    """

    order: int
    runs: int
    folder: str
    status: Status
    failure: str | None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The launch cannot start or continue; holds the parts of a `fsbench_kit.model.errors.LaunchError`."""

    what: str
    file: str | None
    hint: str | None


@dataclass(frozen=True, slots=True)
class Finished:
    """The launch has ended by itself; `stopped` says why, if it ended before its plan was complete."""

    stopped: str | None


Event = Planned | Note | RunStarted | RunEnded | Refused | Finished

_KINDS: Final = {kind.__name__: kind for kind in (Planned, Note, RunStarted, RunEnded, Refused, Finished)}


def to_line(event: Event) -> str:
    """Return an event as a line of JSON."""
    return json.dumps({"event": type(event).__name__, **asdict(event)}) + "\n"


def from_line(line: str | bytes) -> Event:
    """Return the event in a line of JSON."""
    fields = json.loads(line)
    return _KINDS[fields.pop("event")](**fields)
