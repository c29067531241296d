from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from fsbench_kit.launch import shown
from fsbench_kit.launch.disks import Disk
from fsbench_kit.launch.events import (
    Event,
    Finished,
    Note,
    Planned,
    Refused,
    RunEnded,
    RunStarted,
    from_line,
    to_line,
)
from fsbench_kit.launch.progress import describe

FIRST = RunStarted(
    order=1, runs=2, stage="measured", round=1, target="xfs", workload="small", elapsed=0.0, remaining=None
)
SECOND = RunStarted(
    order=2, runs=2, stage="measured", round=1, target="ext4", workload="small", elapsed=3.2, remaining=3.2
)
EVENTS: list[Event] = [
    Planned(study="first", folder="/p/first", runs=2, done=0),
    Note("[bold] is no markup here"),
    FIRST,
    RunEnded(order=1, runs=2, folder="/p/first/001-xfs-small", status="ok", failure=None),
    SECOND,
    RunEnded(
        order=2, runs=2, folder="/p/first/002-ext4-small", status="failed", failure="fio ended with exit code 3"
    ),
    Finished(stopped=None),
]
WARNED = RunEnded(
    order=1, runs=2, folder="/p", status="ok", failure=None, warning="small on xfs: The disk is shared."
)


@pytest.mark.parametrize("event", [*EVENTS, WARNED, Refused("what", None, "hint"), Finished("why")])
def test_events_travel_as_lines(event: Event) -> None:
    line = to_line(event)
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert from_line(line) == event


@pytest.mark.parametrize("terminal", [None, "dumb"])
def test_lines_where_no_terminal_draws(terminal: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", terminal or "xterm")
    out = io.StringIO()
    with shown(Console(file=out, force_terminal=terminal is not None, width=40)) as show:
        for event in EVENTS:
            show(event)
    assert out.getvalue().splitlines() == [
        "2 runs in /p/first",
        "[bold] is no markup here",
        "run 1/2, round 1: small on xfs",
        "run 2/2, round 1: small on ext4 (3 s elapsed, about 3 s left)",
        "run 2/2 failed: fio ended with exit code 3",
    ]


def test_notebook_gets_one_plain_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class ZMQInteractiveShell:
        """What a kernel has in ``get_ipython``, by which rich knows it."""

    monkeypatch.setattr("builtins.get_ipython", ZMQInteractiveShell, raising=False)
    monkeypatch.setattr("IPython.display.display", lambda *_, **__: pytest.fail("this is no text"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    with shown() as show:
        for event in EVENTS:
            show(event)
    assert "run 2/2, round 1: small on ext4 (3 s elapsed, about 3 s left)\n" in capsys.readouterr().out


def test_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out = io.StringIO()
    with shown(Console(file=out, force_terminal=True, color_system=None, width=100)) as show:
        for event in EVENTS:
            show(event)
    assert "━ 2/2 " in out.getvalue()
    assert "run 2/2 failed: fio ended with exit code 3" in out.getvalue()
    assert "[bold] is no markup here" in out.getvalue()


def test_warnings_are_told_once_a_run_has_ended() -> None:
    assert describe(WARNED) == "small on xfs: The disk is shared."
    assert (
        describe(replace(WARNED, failure="it broke"))
        == "run 1/2 failed: it broke\nsmall on xfs: The disk is shared."
    )


def test_long_times_are_in_minutes_and_hours() -> None:
    said = describe(replace(SECOND, elapsed=1121.4, remaining=2e4))
    assert said == "run 2/2, round 1: small on ext4 (18.7 min elapsed, about 5.56 h left)"


def test_size_of_a_device_that_the_kernel_does_not_tell() -> None:
    disk = Disk("/dev/nowhere", Path("/dev/nowhere"), None, None, "it is in use")
    assert str(disk).splitlines()[0] == "/dev/nowhere  of unknown size  cannot be read"
