"""Any program can be a workload: what it takes is measured, and figures are found in what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

import fsbench_kit as fsb
from fsbench_kit.launch import launch, resume

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Plan

SCRIPT = """\
dd if=/dev/zero of=file bs=1M count=3 2>&1
echo 'progress 1 tps'; echo 'progress 2,500.5 tps'; echo '{"depth": [{"lost": 7}]}' >&2
"""
FIGURES = {
    "tps": {"pattern": r"progress ([\d.,]+) tps", "unit": "1/s"},
    "lost": {"json_path": "depth.0.lost", "better": "lower"},
}


@pytest.mark.slow
def test_time_bytes_and_figures_are_measured(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    command = {"tool": "command", "name": "script", "command": ["sh", "-c", SCRIPT], "figures": FIGURES}
    result = launch(make_plan(workload=[command], repeats=1), root=tmp_path)
    assert result.failures == {}
    data = fsb.read(result.folder)
    found = {(row["operation"], row["metric"]): row["value"] for row in data.measurements.iter_rows(named=True)}
    assert found["tps", "rate"] == 2500.5
    assert found["lost", "cost"] == 7
    assert 3 * 2**20 <= found["write", "bytes"] < 3 * 2**20 + 10_000
    assert 0 < found["command", "elapsed"] < 30
    assert (
        found["command", "cpu_time_user"] + found["command", "cpu_time_system"] < 2 * found["command", "elapsed"]
    )
    assert [path.name for path in tmp_path.iterdir()] == ["raw_results"]


@pytest.mark.slow
def test_figure_that_is_not_printed_makes_a_run_partial(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    figures = {"tps": {"pattern": r"(\d+) tps", "unit": "1/s"}}
    command = {"tool": "command", "command": ["true"], "figures": figures}
    missing = {"tool": "command", "name": "none", "command": ["no-such-program"], "optional": True}
    result = launch(make_plan(workload=[command, missing], repeats=1), root=tmp_path)
    assert [why.partition(": ")[2] for why in result.failures.values()] == ["The command printed no tps."]
    assert 'Workload "none" is left out: no-such-program is not installed.' in result.notes
    assert fsb.read(result.folder).runs["status"].to_list() == ["partial"]
    assert resume(result.study, root=tmp_path, retry_failed=True).done == 0


def test_commands_that_differ_are_cells_or_the_factor(make_plan: Callable[..., Plan]) -> None:
    words = [["sleep", "1"], ["sleep", "2"]]
    plan = make_plan(workload=[{"tool": "command", "command": words}])
    assert [workload.asked for workload in plan.workload] == [
        {"asked.command": "sleep 1"},
        {"asked.command": "sleep 2"},
    ]


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "a device": ({"command": ["dd", "of=x", "/dev/sda"]}, 'the word "/dev/sda" names a device'),
    "an option with a device": ({"command": ["dd", "of=/dev/sda"]}, 'the word "of=/dev/sda" names a device'),
    "no group": ({"figures": {"x": {"pattern": "abc"}}}, "its pattern needs one group"),
    "a broken pattern": ({"figures": {"x": {"pattern": "(abc"}}}, "its pattern is not a regular expression"),
    "neither": ({"figures": {"x": {"unit": "s"}}}, "it needs either a pattern or a path"),
    "an unknown unit": ({"figures": {"x": {"pattern": "(a)", "unit": "furlong"}}}, "'furlong' is not a unit"),
    "the wrong way": (
        {"figures": {"x": {"pattern": "(a)", "unit": "B/s", "better": "lower"}}},
        "no metric in B/s is better when lower",
    ),
    "another metric's unit": (
        {"figures": {"x": {"pattern": "(a)", "unit": "s", "metric": "bandwidth"}}},
        '"bandwidth" is not a metric with this unit',
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_refused_before_anything_runs(
    make_plan: Callable[..., Plan], changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValidationError) as error:
        make_plan(workload=[{"tool": "command", "command": ["true"], **changes}])
    assert sentence in str(error.value)
