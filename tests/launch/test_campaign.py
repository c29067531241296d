"""Launches that take turns under what cannot change within a launch."""

from __future__ import annotations

import json
import platform
import shutil
from pathlib import Path

import pytest

import fsbench_kit as fsb
from fsbench_kit.launch import Campaign
from tests.command import fsbench
from tests.launch.traces import RUNS

PLAN = """
id = "upgrade"
repeats = 2
drop_caches = false
campaign.kernel = ["6.8", "6.12"]
[[target]]
kind = "directory"
directory = "."
[[workload]]
tool = "smallfiles"
files = 5
size = "4k"
"""
BEGIN = ("launch", "plan.toml", "--campaign", "upgrade")
CONTINUE = ("launch", "--campaign", "upgrade")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def starts(kernel: str, patch: pytest.MonkeyPatch) -> None:
    """Let this process take the machine for one that was started with a kernel."""
    patch.setattr(platform, "release", lambda: f"{kernel}.0-stand-in")


def stand_in(block: Path, kernel: str, boot: str) -> None:
    """Write into the records of a block that it was made under a kernel, after a start of the machine."""
    for path in block.glob("*/run.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        record["settings"] |= {"kernel": f"{kernel}.0-stand-in", "boot": boot}
        path.write_text(json.dumps(record), encoding="utf-8")


def next_kernel(said: str) -> str:
    return said.partition("Next: kernel=")[2].partition(".\n")[0]


@pytest.mark.slow
def test_six_blocks_of_two_kernels(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels are stand-ins: one machine says that it has them, and its records are given a boot each."""
    campaign, made = root / RUNS / "upgrade", []
    said = fsbench(*BEGIN, "--dry-run", cwd=root).stdout
    assert said.startswith("Campaign upgrade: 0 blocks. Next: kernel=6.")
    for number in range(1, 7):
        kernel = next_kernel(said)
        other = {"6.8": "6.12", "6.12": "6.8"}[kernel]
        words = BEGIN if number == 1 else CONTINUE
        starts(other, monkeypatch)
        out_of_turn = fsbench(*words, "--as", f"kernel={other}", cwd=root)
        assert f"the next block is one of kernel={kernel}, not of kernel={other}" in out_of_turn.stderr
        contradicted = fsbench(*words, "--as", f"kernel={kernel}", cwd=root)
        assert f"this block needs kernel={kernel}, but this machine has {other}.0-stand-in" in contradicted.stderr
        starts(kernel, monkeypatch)
        result = fsbench(*words, "--as", f"kernel={kernel}", cwd=root)
        assert result.returncode == 0, result.stderr
        stand_in(campaign / f"{number:03d}-{kernel}", kernel, f"boot-{number}")
        made.append(kernel)
        said = fsbench(*CONTINUE, "--dry-run", cwd=root).stdout
    assert said.startswith("Campaign upgrade: 6 blocks in 6 boots on ")
    assert "3 of kernel=6.12, 3 of kernel=6.8. Next: " in said
    assert made == ["6.8", "6.12", "6.12", "6.8", "6.12", "6.8"]

    found = fsb.compare(fsb.read(campaign), "kernel", metrics=["file_rate"])
    assert found.select("baseline", "level", "n_baseline", "n_candidate").unique().rows() == [
        ("6.8", "6.12", 6, 6)
    ]
    assert set(found["over"]) == {"boots"}
    assert set(found["study"]) == {"upgrade"}
    assert fsbench("compare", "upgrade", "--factor", "kernel", cwd=root).returncode == 0

    shutil.rmtree(next((campaign / f"006-{made[-1]}").glob("002-*")))  # as if it had been killed
    refused = fsbench(*CONTINUE, "--as", f"kernel={made[0]}", cwd=root)
    assert f"block 006-{made[-1]} is unfinished" in refused.stderr
    command = refused.stderr.split("Resume it: fsbench ")[1].splitlines()[0].split()
    starts({"6.8": "6.12", "6.12": "6.8"}[made[-1]], monkeypatch)
    assert f"this block needs kernel={made[-1]}" in fsbench(*command, cwd=root).stderr
    starts(made[-1], monkeypatch)
    previewed = fsbench(*CONTINUE, "--resume", "--dry-run", cwd=root)
    assert "Finished earlier and kept: 1 of 2 runs." in previewed.stdout
    resumed = fsbench("launch", "--resume", cwd=root)
    assert "The machine was restarted since the last run" in resumed.stdout + resumed.stderr
    assert resumed.returncode == 0, resumed.stderr
    assert f"Next: kernel={made[0]}.\nfsbench launch --campaign upgrade --as kernel={made[0]}\n" in resumed.stdout
    assert "nothing to resume" in fsbench(*CONTINUE, "--resume", cwd=root).stderr
    assert fsbench(*CONTINUE, "--dry-run", cwd=root).stdout.startswith("Campaign upgrade: 6 blocks in 7 boots on ")


def test_what_a_campaign_does_not_know_is_refused(root: Path) -> None:
    for words, what in (
        (("--as", "kernel=6.21"), "6.21 is not a level of kernel in this campaign\nDid you mean"),
        (("--as", "bios=fast"), "the campaign does not vary bios"),
        ((), "the next block is one of kernel=6.8\nConfirm it: fsbench launch --campaign upgrade --as kernel=6.8"),
    ):
        refused = fsbench(*BEGIN, *words, cwd=root)
        assert refused.returncode != 0
        assert what in refused.stderr
    assert "there is no campaign" in fsbench("launch", "--campaign", "absent", cwd=root).stderr
    assert "Name the campaign" in fsbench("launch", "plan.toml", cwd=root).stderr
    assert not (root / RUNS).exists()


def test_another_plan_is_another_campaign(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts("6.8", monkeypatch)
    first = fsbench(*BEGIN, "--as", "kernel=6.8", cwd=root)
    assert first.returncode == 0, first.stderr
    again = fsbench(*BEGIN, "--dry-run", cwd=root)  # the same plan may be named again
    assert again.stdout.startswith(
        "Campaign upgrade: 1 block in 1 boot on 1 day: 1 of kernel=6.8. Next: kernel=6.12."
    )
    (root / "plan.toml").write_text(PLAN.replace("files = 5", "files = 6"), encoding="utf-8")
    assert "was begun with another plan" in fsbench(*BEGIN, "--dry-run", cwd=root).stderr


def test_a_thousand_blocks_are_followed_by_another(root: Path) -> None:
    plan = PLAN.replace('["6.8", "6.12"]', '["6.8"]')
    campaign = root / RUNS / "upgrade"
    for number in range(1, 1001):
        (campaign / f"{number:03d}-6.8").mkdir(parents=True)
        (campaign / f"{number:03d}-6.8" / "plan.toml").touch()
    (campaign / "campaign.toml").write_text(plan, encoding="utf-8")
    found = Campaign(campaign)
    assert (len(found.made), found.next.name) == (1000, "1001-6.8")


def test_another_folder_in_a_campaign_is_refused(root: Path) -> None:
    campaign = root / RUNS / "upgrade"
    for folder in (campaign, campaign / "copy"):
        folder.mkdir(parents=True)
    for copy in (campaign / "campaign.toml", campaign / "copy" / "plan.toml"):
        shutil.copy(root / "plan.toml", copy)
    assert "its plan has no block copy" in fsbench(*CONTINUE, "--dry-run", cwd=root).stderr
