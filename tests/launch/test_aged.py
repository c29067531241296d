"""Filesystems in memory, overlays, and filesystems that are filled and churned before the runs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from fsbench_kit.launch import dry_run, launch, tools
from tests.launch.traces import assert_no_traces

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsbench_kit.launch import Plan

ISOLATED = tools.isolation_problem() is None
SMALL = {"tool": "smallfiles", "name": "small", "files": 20, "size": "4k"}


def records(result: Any) -> list[dict[str, Any]]:
    return [json.loads((run / "run.json").read_text(encoding="utf-8")) for run in result.runs]


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(not ISOLATED, reason="needs root")
class TestTargets:
    def test_memory_and_overlays(self, make_plan: Callable[..., Plan], tmp_path: Path) -> None:
        targets = [
            {"kind": "tmpfs", "size": "64M", "mount_options": "noatime"},
            {"kind": "overlay", "filesystem": ["ext4", "xfs"], "size": "400M", "overlay_options": "metacopy=on"},
        ]
        result = launch(make_plan(target=targets, workload=[SMALL], repeats=1), root=tmp_path)
        assert list(result.failures.values()) == []
        assert_no_traces(tmp_path)
        found = {record["target"]: record for record in records(result)}
        assert {name: record["filesystem"] for name, record in found.items()} == {
            "tmpfs": "tmpfs",
            "ext4": "overlay on ext4",
            "xfs": "overlay on xfs",
        }
        mounts = {name: record["environment"]["before"]["mount"] for name, record in found.items()}
        assert re.search(r"[ ,]noatime.* - tmpfs tmpfs rw,size=65536k", mounts["tmpfs"])
        assert "metacopy=on" in mounts["xfs"]
        assert int(found["xfs"]["settings"]["device_written"]) > 0
        assert str(tmp_path) not in json.dumps([record["settings"] for record in found.values()])

    @pytest.mark.parametrize("filesystem", ["ext4", "xfs", "btrfs"])
    def test_level_is_reached_recorded_and_the_same_again(
        self, make_plan: Callable[..., Plan], tmp_path: Path, filesystem: str
    ) -> None:
        aged = {"fill": [0, 0.7], "churn": 1}
        target = {"kind": "loop", "filesystem": filesystem, "size": "384M", "aged": aged}
        result = launch(make_plan(target=[target], workload=[SMALL], repeats=2, budget={}), root=tmp_path)
        assert list(result.failures.values()) == []
        full = [record for record in records(result) if record["settings"]["asked.fill"] == "0.7"]
        said = [step["output"] for record in full for step in record["provision"] if "full" in step["output"]]
        assert len(said) == 2
        assert [float(one.partition("%")[0]) for one in said] == [pytest.approx(70, abs=1)] * 2
        if filesystem != "btrfs":  # whose space depends on when it commits
            assert len(set(said)) == 1
        for record in full:
            assert record["settings"]["churn"] == "1"
            before = record["environment"]["before"]
            # What only root may use, and btrfs keeps for what it notes besides data, cannot be had.
            assert before["free_bytes"] / before["size_bytes"] == pytest.approx(0.3, abs=0.06)


def test_no_more_is_filled_than_leaves_room(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    target = {"kind": "loop", "filesystem": "ext4", "size": "1G", "aged": {"fill": 0.9}}
    fio = {"tool": "fio", "rw": "write", "bs": "1M", "size": "100M"}
    with pytest.raises(ValidationError, match="an image of 1 GiB that is filled to 90% before"):
        make_plan(target=[target], workload=[fio])
    plan = make_plan(target=[target], budget={})
    assert plan.least_written >= 2 * 2 * 0.9 * 2**30
    if ISOLATED:
        commands = dry_run(plan, tmp_path).steps[0].commands
        assert any(command[2:] == ("mount", "0.9", "1", "1") for command in commands)


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(not ISOLATED, reason="needs root")
def test_each_run_begins_on_a_copy_of_what_was_made_and_aged_once(
    make_plan: Callable[..., Plan], tmp_path: Path
) -> None:
    files = "(cd ../aged && find . -type f | sort | xargs md5sum) | md5sum"
    change = "rm -r ../aged; dd if=/dev/zero of=left bs=1M count=5"
    script = f"findmnt --noheadings --output UUID --target .; {files}; df --output=used .; {change}"
    target = {"kind": "loop", "filesystem": ["ext4", "xfs"], "size": "320M", "aged": {"fill": 0.5, "churn": 1}}
    plan = make_plan(
        target=[target],
        workload=[{"tool": "command", "command": ["sh", "-c", script]}],
        repeats=3,
        filesystems="restored",
        budget={},
    )
    result = launch(plan, root=tmp_path)
    assert list(result.failures.values()) == []
    assert_no_traces(tmp_path)
    for filesystem in ("ext4", "xfs"):
        runs = [run for run in result.runs if f"-{filesystem}-" in run.name]
        printed = {(run / "stdout.txt").read_text(encoding="utf-8").split("fsbench command")[0] for run in runs}
        assert len(runs) == 3
        assert re.match(r"[0-9a-f-]{36}\n[0-9a-f]{32}  -\n", min(printed))
        assert len(printed) == 1
        found = [record for record in records(result) if record["target"] == filesystem]
        made = [[step["argv"][0] for step in record["provision"]].count(f"mkfs.{filesystem}") for record in found]
        assert made == [1, 0, 0]
        assert {record["settings"]["fill"] for record in found} == {"0.5"}
        assert all(f"mkfs.{filesystem}" in record["settings"]["provision"] for record in found)
        assert {record["settings"]["image_allocation"] for record in found} == {"unwritten"}
    commands = [step.commands for step in dry_run(plan, tmp_path).steps]
    assert sum(words[0].startswith("mkfs") for step in commands for words in step) == 2
    with pytest.raises(ValidationError, match='target "here" cannot be restored: it is no image of kind = "loop"'):
        make_plan(filesystems="restored")
