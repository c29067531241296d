"""What a machine can launch, and what to do where it cannot."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

import fsbench_kit as fsb
from fsbench_kit.cli import app
from fsbench_kit.launch import Capability, capabilities, list_capabilities
from fsbench_kit.model.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, Capability]]:
    """Look at a machine with ext4 alone, no md, and one empty disk; what else it lacks is for a test to say."""
    monkeypatch.setattr("fsbench_kit.launch.targets.filesystems.kernel_filesystems", lambda: ("ext4",))
    monkeypatch.setattr("fsbench_kit.launch.targets.mirror.has_md", lambda: False)
    for module in ("capabilities", "targets.loop", "targets.members"):
        monkeypatch.setattr(f"fsbench_kit.launch.{module}.has_loop_devices", lambda: True)
    monkeypatch.setattr(capabilities, "block_devices", lambda: ("/dev/empty",))
    monkeypatch.setattr(capabilities, "device_problem", lambda _: None)
    monkeypatch.setattr(capabilities, "isolation_problem", lambda: None)
    return lambda: {found.name: found for found in list_capabilities(tmp_path)}


def lack_programs(monkeypatch: pytest.MonkeyPatch, *lacking: str) -> None:
    monkeypatch.setattr("shutil.which", lambda name, **_: None if name in lacking else f"/bin/{name}")


def test_what_can_be_launched(found: Callable[[], dict[str, Capability]], monkeypatch: pytest.MonkeyPatch) -> None:
    lack_programs(monkeypatch)
    can = {name for name, one in found().items() if one.problem is None}
    assert can >= {"directory", "ext4 in an image", "/dev/empty", "fio", "iozone", "smallfiles"}
    assert found()["/dev/empty"].remedy == (
        "a launch would destroy all data on it: name it in the plan, and again with --device /dev/empty"
    )
    assert found()["ext4 in an image"].remedy is None


def test_what_the_kernel_lacks_is_not_mended_by_a_package(
    found: Callable[[], dict[str, Capability]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lack_programs(monkeypatch, "mkfs.xfs", "mdadm")
    for name in ("xfs in an image", "btrfs mirror", "md mirror (ext4)"):
        one = found()[name]
        assert str(one.problem).startswith("the kernel has no ")
        assert str(one.remedy).startswith("use a kernel that has it")


def test_missing_programs_are_named_with_their_packages(
    found: Callable[[], dict[str, Capability]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lack_programs(monkeypatch, "mkfs.ext4", "iozone", "cp")
    assert found()["ext4 in an image"].remedy == "apt-get install e2fsprogs"
    assert found()["iozone"].remedy == "apt-get install iozone3"
    assert found()["filetree"].problem == "cp not found"


def test_without_a_compiler_smallfiles_is_slower(
    found: Callable[[], dict[str, Capability]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lack_programs(monkeypatch)
    assert found()["smallfiles"].remedy is None
    lack_programs(monkeypatch, "cc")
    here = found()["smallfiles"]
    assert here.problem is None
    assert str(here.remedy).startswith("cc is not installed (Debian: gcc, libc6-dev), so its loops run in Python")


def test_without_rights_there_are_directories(
    found: Callable[[], dict[str, Capability]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lack_programs(monkeypatch)
    monkeypatch.setattr(capabilities, "isolation_problem", lambda: "this needs root")
    monkeypatch.setattr(capabilities, "is_administrator", lambda: False)
    here = found()
    assert here["directory"].problem is None
    for name in ("ext4 in an image", "/dev/empty"):
        assert here[name].problem == "this needs root"
        assert here[name].remedy == "launch as root; a directory needs no rights"
    # Root alone would not help.
    assert here["xfs in an image"].problem == "the kernel has no xfs"


@pytest.mark.parametrize(
    "command", [["doctor"], ["launch", "first-steps.toml"], ["launch", "first-steps.toml", "--dry-run"]]
)
def test_another_system_says_what_it_lacks_and_reads_all_the_same(
    command: list[str], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.chdir(shutil.copytree(root / "plans", tmp_path / "plans"))
    result = CliRunner().invoke(app, command)
    assert isinstance(result.exception, LaunchError)
    assert "launched on Linux; this is Darwin" in str(result.exception)
    assert "copy its raw_results/runs/ here" in str(result.exception)
    assert not (tmp_path / "plans" / "raw_results").exists()
    assert fsb.read(root / "raw_results" / "published" / "sysbench-rhel72").runs.height


@pytest.mark.root
@pytest.mark.slow
def test_without_proc_launches_say_so_and_logs_are_read(root: Path, tmp_path: Path) -> None:
    fsbench = Path(sys.executable).with_name("fsbench")
    script = 'mount -t tmpfs none /proc && exec "$@"'
    commands = (
        ["devices"],
        ["launch", "quick", "--dry-run"],
        ["read", root / "raw_results/published/fio-nvme-2021"],
    )
    for command in commands:
        result = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "-", fsbench, *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        is_read = command[0] == "read"
        assert result.returncode == (0 if is_read else 1), result.stderr
        assert ("needs /proc, which is not mounted here" in result.stderr) is not is_read
        assert "Traceback" not in result.stderr
