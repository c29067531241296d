"""Logs of commands: every figure of one log by eye, and what a log lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from fsbench_kit.formats import timed_command
from tests.formats.reading import Reading

LOG = (Path(__file__).parents[1] / "data" / "timed_command" / "1-dbench.log").read_text(encoding="utf-8")
_parse = Reading(timed_command).parsed


def test_every_figure_by_eye() -> None:
    (run,), diagnostics = _parse(LOG)
    assert diagnostics == []
    assert (run.tool, run.status, run.exit_code) == ("command", "ok", 0)
    assert [(m.operation, m.metric, m.unit, m.value) for m in run.measurements] == [
        ("throughput", "bandwidth", "B/s", 161_924_000),
        ("worst", "latency", "s", pytest.approx(0.062088)),
        ("command", "elapsed", "s", 2.155004),
        ("command_sync", "elapsed", "s", 0.014212),
        ("command", "cpu_time_user", "s", 0.0522),
        ("command", "cpu_time_system", "s", 0.358873),
        ("command", "memory_peak", "B", 12568 * 1024),
        ("read", "bytes", "B", 158912374),
        ("write", "bytes", "B", 146906432),
    ]
    assert [(s.key, s.value) for s in run.settings] == [("command", "dbench -t 2 2")]


@pytest.mark.parametrize(
    ("old", "new", "status", "code"),
    [
        ("exit code: 0\n", "", "partial", "INCOMPLETE_LOG"),
        ("exit code: 0", "exit code: 3", "failed", "RUN_FAILED"),
        ("bandwidth 161.924 MB/s", "not found", "partial", "INCOMPLETE_LOG"),
        ("161.924 MB/s", "161.924 parsecs", "ok", "UNREAD_FIGURE"),
        ("bandwidth 161.924 MB/s", "bandwidth 161.924 s", "ok", "UNREAD_FIGURE"),
    ],
)
def test_what_is_missing_is_said(old: str, new: str, status: str, code: str) -> None:
    (run,), diagnostics = _parse(LOG.replace(old, new))
    assert (run.status, [found.code for found in diagnostics]) == (status, [code])
