"""The plans that come with the kit: what they say of themselves is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fsbench_kit.launch.plan import plan_text, read_plan
from fsbench_kit.launch.schedule import schedule
from fsbench_kit.model.units import humanise

PLANS = sorted((Path(__file__).parents[2] / "plans").glob("*.toml"))


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_plan_is_read_and_survives_writing(tmp_path: Path, path: Path) -> None:
    plan = read_plan(path)
    assert plan.id == path.stem
    written = tmp_path / "plan.toml"
    written.write_text(plan_text(plan), encoding="utf-8")
    assert read_plan(written) == plan


@pytest.mark.parametrize(
    "path", [path for path in PLANS if path.stem not in {"quick", "first-steps"}], ids=lambda path: path.stem
)
def test_plan_says_what_it_answers_and_takes(path: Path) -> None:
    comment = path.read_text(encoding="utf-8").split("\n\n")[0]
    assert all(line.startswith("# ") for line in comment.splitlines())
    assert "?" in comment.splitlines()[0]
    plan = read_plan(path)
    written = sum(planned.workload.least_written or 0 for planned in schedule(plan))
    assert f"Writes at least {humanise(written, 'B')}" in comment
    minutes = re.search(r"Allow (\d+) minutes", comment)
    assert minutes is not None
    # What the plan itself tells is less than what it is said to take: mkfs and work without a limit come on top.
    assert sum(planned.workload.stated_seconds for planned in schedule(plan)) < 60 * int(minutes[1])
    assert {"loop", "zfs", "mirror"} >= {target.kind for target in plan.target}
    for planned in schedule(plan):
        assert planned.workload.keeps_finished_steps or planned.workload.tool in comment
