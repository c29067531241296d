from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fsbench_kit.cli.devices import devices_command
from fsbench_kit.launch import tools
from fsbench_kit.launch.locks import shared_directory
from fsbench_kit.launch.processes import MARK
from fsbench_kit.launch.scratch import scratch, sweep_machine
from fsbench_kit.launch.tuning.kernel import changed
from fsbench_kit.model.errors import LaunchError

HOLD = """
import sys
from pathlib import Path
from fsbench_kit.launch.scratch import scratch
with scratch(Path(sys.argv[1]), mark="theirs") as folder:
    (folder / "image").write_text("x")
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(place: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.root
def test_folders_of_others_are_nobody_elses(tmp_path: Path) -> None:
    """Root launches in a directory that all share; so does somebody who may not look into root's folder."""
    tmp_path.chmod(0o777)
    shared_directory().chmod(0o1777)
    for folder in list(tmp_path.parents)[:-2]:
        folder.chmod(folder.stat().st_mode | 0o055)
    with scratch(tmp_path, mark="theirs") as theirs:
        os.seteuid(65534)
        try:
            with scratch(tmp_path, mark="mine") as folder:
                assert folder.stat().st_uid == 65534
        finally:
            os.seteuid(0)
        assert theirs.is_dir()


def test_folder_is_there_and_goes_away(tmp_path: Path) -> None:
    with scratch(tmp_path, mark="mine") as folder:
        assert folder.parent == tmp_path
        (folder / "image").write_text("x")
    assert list(tmp_path.iterdir()) == []


def test_folder_of_another_launch_stays(tmp_path: Path) -> None:
    with hold(tmp_path) as first:
        with scratch(tmp_path, mark="mine"):
            (left,) = (path for path in tmp_path.iterdir() if (path / "image").exists())
        assert list(tmp_path.iterdir()) == [left]
        first.communicate("")
    assert list(tmp_path.iterdir()) == []


def test_what_was_killed_before_it_was_locked_is_swept_after_a_while(tmp_path: Path) -> None:
    old, new = tmp_path / ".fsbench-unborn-a", tmp_path / ".fsbench-unborn-b"
    for folder in (old, new):
        folder.mkdir()
        (folder / "launch.lock").touch()
    os.utime(old, (time.time() - 100,) * 2)
    with scratch(tmp_path, mark="mine"):
        pass
    assert list(tmp_path.iterdir()) == [new]


def test_what_a_killed_launch_left_is_swept(tmp_path: Path) -> None:
    with hold(tmp_path) as first:
        first.kill()
        first.communicate()
    (left,) = tmp_path.iterdir()
    assert (left / "image").exists()
    with scratch(tmp_path, mark="mine"):
        assert not left.exists()


@pytest.mark.root
@pytest.mark.usefixtures("own_kernel")
@pytest.mark.skipif(not tools.is_administrator(), reason="only root can set settings of the kernel")
def test_settings_that_a_killed_launch_has_changed_are_set_back_by_whatever_is_run_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = Path("/proc/sys/vm/dirty_expire_centisecs")
    before = setting.read_text(encoding="ascii")
    with hold(tmp_path) as first:
        (left,) = tmp_path.iterdir()
        assert list(sweep_machine()) == []  # it is alive
        with changed({"dirty_expire_centisecs": 779}, [], left):
            journal = (left / "tuning.json").read_bytes()
        first.kill()
        first.communicate()
    (left / "tuning.json").write_bytes(journal)
    setting.write_text("779\n", encoding="ascii")
    devices_command()
    assert setting.read_text(encoding="ascii") == before
    said = capsys.readouterr().out.splitlines()[0]
    assert said == f"Restored kernel settings that an earlier launch had changed: {setting}."
    assert list(tmp_path.iterdir()) == []
    assert list(sweep_machine()) == []


def test_what_cannot_be_set_back_is_told_and_tried_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting, other = tmp_path / "setting", tmp_path / "other"
    setting.symlink_to("/proc/sys/kernel/osrelease")  # which nobody may write
    other.write_text("5\n", encoding="ascii")
    with hold(tmp_path) as first:
        first.kill()
        first.communicate()
    (left,) = tmp_path.glob(".fsbench-scratch-*")
    journal = [{"path": str(path), "text": "7", "sequence": None} for path in (setting, other)]
    (left / "tuning.json").write_text(json.dumps(journal), encoding="utf-8")
    for set_back in (f"Restored kernel settings that an earlier launch had changed: {other}.", None):
        devices_command()
        said = capsys.readouterr().out.splitlines()
        assert (set_back in said) == (set_back is not None)
        assert (
            f"Changes of an earlier launch cannot be undone yet: {setting} was 7: Permission denied. "
            in "".join(said)
        )
        assert (left / "tuning.json").exists()
        assert not (left / "image").exists()
    setting.unlink()
    setting.write_text("6\n", encoding="ascii")
    with scratch(tmp_path, mark="mine"):
        assert setting.read_text(encoding="ascii") == "7"
        assert not left.exists()


def test_what_a_restart_has_set_back_is_left_alone(tmp_path: Path) -> None:
    setting = tmp_path / "setting"
    setting.write_text("6\n", encoding="ascii")
    with hold(tmp_path) as first:
        first.kill()
        first.communicate()
    (left,) = tmp_path.glob(".fsbench-scratch-*")
    journal = [{"path": str(setting), "text": "7", "sequence": None, "boot": "another"}]
    (left / "tuning.json").write_text(json.dumps(journal), encoding="utf-8")
    with scratch(tmp_path, mark="mine"):
        assert setting.read_text(encoding="ascii") == "6\n"
        assert not left.exists()


def test_processes_of_a_killed_launch_are_ended(tmp_path: Path) -> None:
    with hold(tmp_path) as first:
        first.kill()
        first.communicate()
    with (
        subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: "theirs"}) as orphan,
        subprocess.Popen(["sleep", "600"], env={**os.environ, MARK: "others"}) as stranger,
    ):
        with scratch(tmp_path, mark="mine"):
            assert orphan.wait(5) == -signal.SIGKILL
            assert stranger.poll() is None
        stranger.kill()


@pytest.mark.parametrize("torn", ["", "{", '"', "[]", "{}", '{"mark": null}', "\xff"])
def test_what_a_crash_left_is_swept(tmp_path: Path, torn: str) -> None:
    left = tmp_path / ".fsbench-scratch-left"
    left.mkdir()
    (left / "launch.lock").touch()
    (left / "launch.json").write_text(torn, encoding="latin-1")
    with scratch(tmp_path, mark="mine"):
        assert not left.exists()


@pytest.mark.parametrize("missing", ["launch.lock", "launch.json"])
def test_what_is_not_provably_ours_stays(tmp_path: Path, missing: str) -> None:
    with hold(tmp_path) as first:
        first.kill()
        first.communicate()
    (left,) = tmp_path.iterdir()
    (left / missing).unlink()
    with scratch(tmp_path, mark="mine"):
        pass
    assert (left / "image").exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    place, elsewhere = tmp_path / "place", tmp_path / "elsewhere"
    place.mkdir()
    with hold(place) as first:
        first.kill()
        first.communicate()
    (left,) = place.iterdir()
    left.rename(elsewhere)
    left.symlink_to(elsewhere)
    with scratch(place, mark="mine"):
        pass
    assert (elsewhere / "image").exists()


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_folders_of_others_stay(tmp_path: Path) -> None:
    with hold(tmp_path) as first:
        first.kill()
        first.communicate()
    (left,) = tmp_path.iterdir()
    shutil.chown(left, user=65534)
    with scratch(tmp_path, mark="mine"):
        pass
    assert (left / "image").exists()


def test_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    with (
        pytest.raises(LaunchError, match="absent: cannot write here"),
        scratch(absent, mark="mine"),
    ):
        pass
