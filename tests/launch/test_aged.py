"""Filesystems in memory, overlays, and filesystems that are filled and churned before the runs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from fsbench_kit.launch import dry_run, launch, tools, zfs
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
        written = [int(re.findall(r"\d+", one)[-1]) for one in said]
        # xfs frees in the background what was deleted, and the space of btrfs depends on when it commits.
        assert max(written) <= min(written) * {"ext4": 1, "xfs": 1.001, "btrfs": 1.05}[filesystem]
        for record in full:
            assert record["settings"]["churn"] == "1"
            before = record["environment"]["before"]
            # What only root may use, and btrfs keeps for what it notes besides data, cannot be had.
            assert before["free_bytes"] / before["size_bytes"] == pytest.approx(0.3, abs=0.06)


def test_no_more_is_filled_than_leaves_room(make_plan: Callable[..., Plan], tmp_path: Path) -> None:
    target = {"kind": "loop", "filesystem": "ext4", "size": "1G", "aged": {"fill": 0.9}}
    fio = {"tool": "fio", "rw": "write", "bs": "1M", "size": "100M"}
    with pytest.raises(ValidationError, match="an image of 1 GiB that is already filled to 90 %"):
        make_plan(target=[target], workload=[fio])
    plan = make_plan(target=[target], budget={})
    assert plan.least_written >= 2 * 2 * 0.9 * 2**30
    if ISOLATED:
        commands = dry_run(plan, tmp_path).steps[0].commands
        assert any(command[2:] == ("mount", "0.9", "1", "1") for command in commands)


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(not ISOLATED, reason="needs root")
@pytest.mark.parametrize(
    ("target", "made_by", "restored_by"),
    [
        ({"kind": "loop", "filesystem": "ext4", "size": "96M"}, "mkfs.ext4", "dd"),
        ({"kind": "loop", "filesystem": "btrfs", "size": "160M"}, "mkfs.btrfs", "btrfs subvolume snapshot"),
        pytest.param(
            {"kind": "zfs", "size": "128M"},
            "zpool create",
            "zfs rollback",
            marks=pytest.mark.skipif(zfs.implementation() is None, reason="needs ZFS"),
        ),
    ],
)
def test_each_run_begins_in_the_state_that_was_made_and_aged_once(
    make_plan: Callable[..., Plan], tmp_path: Path, target: dict[str, Any], made_by: str, restored_by: str
) -> None:
    files = "(cd ../aged && find . -type f | sort | xargs md5sum) | md5sum"
    change = "rm -r ../aged; dd if=/dev/zero of=left bs=1M count=5"
    used = "df --output=used . | tail -1"
    if restored_by.startswith("btrfs"):  # how many blocks its trees take depends on when it commits
        used = "btrfs filesystem df --raw . | sed -n 's/^Data.*used=//p'; btrfs subvolume list . | wc -l"
    script = f"{files}; {used}; echo .; {change}"
    plan = make_plan(
        target=[{**target, "name": "aged", "aged": {"fill": 0.4, "churn": 0.5}}],
        workload=[{"tool": "command", "command": ["sh", "-c", script]}],
        repeats=3,
        filesystems="restored",
        budget={},
    )
    result = launch(plan, root=tmp_path)
    assert list(result.failures.values()) == []
    assert_no_traces(tmp_path)
    ((digest, _, size, *subvolumes),) = {
        tuple((run / "stdout.txt").read_text(encoding="utf-8").partition(".")[0].split()) for run in result.runs
    }
    assert re.fullmatch("[0-9a-f]{32}", digest)
    assert all(int(number) > 0 for number in (size, *subvolumes))
    found = records(result)
    # What zfs-fuse refuses because it still holds the run before is tried again, and each attempt is recorded.
    # Only one that fails says anything.
    ran = [
        [" ".join(step["argv"]) for step in record["provision"] if step["argv"][0] != "zfs" or not step["output"]]
        for record in found
    ]
    assert [sum(words.startswith(made_by) for words in step) for step in ran] == [1, 0, 0]
    assert [sum(words.startswith(restored_by) for words in step) for step in ran] == [1, 1, 1]
    assert {record["settings"]["fill"] for record in found} == {"0.4"}
    assert all(made_by in record["settings"]["provision"] for record in found)
    assert {record["settings"]["image_allocation"] for record in found} == {"unwritten"}
    shown = [" ".join(command) for step in dry_run(plan, tmp_path).steps for command in step.commands]
    for words, times in ((made_by, 1), (restored_by, 3)):
        assert sum(line.startswith(words) for line in shown) == times


def test_what_has_no_snapshots_and_is_no_image_is_not_restored(make_plan: Callable[..., Plan]) -> None:
    overlay = {"kind": "overlay", "filesystem": "btrfs", "size": "400M", "filesystems": "restored"}
    for changes in ({"filesystems": "restored"}, {"target": [overlay]}):
        with pytest.raises(
            ValidationError, match="cannot be restored: its filesystem has no snapshots, and it is no"
        ):
            make_plan(**changes)
